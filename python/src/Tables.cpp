//===- Tables.cpp - tables in files ---------------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tables.h"
#include "Objects.h"
#include "drawloom-c/table.h"
#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace drawloom::python {

namespace {
using Numbers = nb::ndarray<nb::ro, nb::c_contig, nb::ndim<1>, nb::device::cpu>;
using Bytes = nb::ndarray<nb::numpy, uint8_t, nb::ndim<1>>;

struct Table {
  explicit Table(DrawloomTable *handle) : handle(handle) {}
  Table(const Table &) = delete;
  ~Table() { drawloomTableClose(handle); }
  DrawloomTable *handle;
};

/// Keeps its table alive.
struct Fetch {
  Fetch(std::shared_ptr<Table> table, DrawloomFetch *handle, int64_t bytes)
      : table(std::move(table)), handle(handle), bytes(bytes) {}
  Fetch(const Fetch &) = delete;
  ~Fetch() { drawloomFetchDestroy(handle); }
  std::shared_ptr<Table> table;
  DrawloomFetch *handle;
  int64_t bytes;
};
} // namespace

static std::shared_ptr<Table> open(const std::string &path, int64_t offset,
                                   int64_t rows, int64_t rowBytes,
                                   int64_t memory, int64_t readers) {
  DrawloomTableFile file = {};
  file.size = sizeof(file);
  file.path = path.c_str();
  file.offset = offset;
  file.rows = rows;
  file.rowBytes = rowBytes;
  file.memory = memory;
  file.readers = readers;
  DrawloomTable *table = nullptr;
  if (DrawloomError *error = drawloomTableOpen(&file, &table))
    raise(error);
  return std::make_shared<Table>(table);
}

/// `numbers` have been checked in Python: integers of 32 or 64 bits.
static std::shared_ptr<Fetch> fetch(const std::shared_ptr<Table> &table,
                                    const Numbers &numbers, int64_t rowBytes) {
  bool wide = numbers.dtype() == nb::dtype<int64_t>();
  int64_t count = static_cast<int64_t>(numbers.shape(0));
  DrawloomFetch *started = nullptr;
  if (DrawloomError *error = drawloomTableFetch(
          table->handle, numbers.data(), wide ? DRAWLOOM_I64 : DRAWLOOM_I32,
          count, &started))
    raise(error);
  return std::make_shared<Fetch>(table, started, count * rowBytes);
}

/// The rows' bytes, which keep the fetch alive.
static Bytes wait(const std::shared_ptr<Fetch> &fetch) {
  constexpr int64_t moment = 50'000'000;
  void *rows = nullptr;
  for (;;) {
    DrawloomError *error = nullptr;
    {
      Unlocked unlocked;
      error = drawloomFetchWait(fetch->handle, moment, &rows);
    }
    if (error)
      raise(error);
    if (rows)
      break;
    // Ctrl-C.
    if (PyErr_CheckSignals() != 0)
      throw nb::python_error();
  }
  nb::capsule owner(new std::shared_ptr<Fetch>(fetch),
                    [](void *owned) noexcept {
                      delete static_cast<std::shared_ptr<Fetch> *>(owned);
                    });
  size_t shape[] = {static_cast<size_t>(fetch->bytes)};
  return Bytes(rows, 1, shape, owner);
}

static nb::dict counts(const Table &table) {
  DrawloomTableCounts known = {};
  known.size = sizeof(known);
  drawloomTableCount(table.handle, &known);
  nb::dict result;
  result["fetches"] = known.fetches;
  result["rows"] = known.rows;
  result["rows_read"] = known.rowsRead;
  result["reads"] = known.reads;
  result["bytes"] = known.bytes;
  result["held"] = known.held;
  result["most_held"] = known.mostHeld;
  result["seconds_waited"] = static_cast<double>(known.waited) * 1e-9;
  return result;
}

void addTables(nb::module_ &m) {
  nb::class_<Table>(m, "Table", "A file of rows, and threads that read it.")
      .def_static("open", &open, "path"_a, "offset"_a, "rows"_a, "row_bytes"_a,
                  "memory"_a, "readers"_a, "Opens the file for reading.")
      .def("counts", &counts, "What it has done since it was opened.");
  nb::class_<Fetch>(m, "Fetch", "Rows that are being read.")
      .def("wait", &wait, "Their bytes, once they are there.");
  m.def("fetch", &fetch, "table"_a, "numbers"_a, "row_bytes"_a,
        "Begins to read rows.");
}

} // namespace drawloom::python
