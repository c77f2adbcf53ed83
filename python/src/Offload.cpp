//===- Offload.cpp - stores of records on disks ---------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Offload.h"
#include "Objects.h"
#include "drawloom-c/offload.h"
#include <atomic>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace drawloom::python {

namespace {
using Bytes = nb::ndarray<nb::numpy, uint8_t, nb::ndim<1>>;

/// Python may look at signals after so many nanoseconds.
constexpr int64_t moment = 50'000'000;

/// What a store that nobody closed is waited for, in nanoseconds.
constexpr int64_t patience = 1'000'000'000;

/// What is lent keeps its store, so that the memory is there for as long as an
/// array of it is: where there is one, the store is closed with the last.
struct Store {
  explicit Store(DrawloomStore *handle) : handle(handle) {}
  Store(const Store &) = delete;
  ~Store() {
    try {
      end(patience);
    } catch (nb::python_error &error) {
      // Nobody called anything that could raise it.
      error.discard_as_unraisable("the end of a store that was not closed");
    }
  }
  void close() {
    isClosed = true;
    if (lent == 0)
      end(-1);
  }
  void end(int64_t nanoseconds) {
    DrawloomError *error = nullptr;
    {
      Unlocked unlocked;
      error = drawloomStoreClose(std::exchange(handle, nullptr), nanoseconds);
    }
    if (error)
      raise(error);
  }
  DrawloomStore *use() const {
    if (!isClosed)
      return handle;
    nb::object error = nb::module_::import_("drawloom._errors")
                           .attr("CallError")("the store is closed: open "
                                              "another one");
    PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(error.ptr())),
                    error.ptr());
    throw nb::python_error();
  }

  DrawloomStore *handle;
  std::atomic<int> lent{0};
  bool isClosed = false;
};

struct Lent {
  Lent(std::shared_ptr<Store> store, void *data)
      : store(std::move(store)), data(data) {
    ++this->store->lent;
  }
  Lent(const Lent &) = delete;
  ~Lent() {
    drawloomErrorDestroy(drawloomStoreReturn(store->handle, data));
    --store->lent;
  }
  std::shared_ptr<Store> store;
  void *data;
};

/// A record is one number in Python.
DrawloomRecord recordOf(uint64_t number) {
  return {static_cast<uint32_t>(number), static_cast<uint32_t>(number >> 32)};
}
uint64_t numberOf(DrawloomRecord record) {
  return uint64_t(record.generation) << 32 | record.index;
}

/// Options with the strings that they point to.
struct Options {
  Options(const std::vector<std::string> &folders, uint64_t capacity,
          uint64_t memory, uint64_t timeout,
          const std::optional<std::string> &device,
          const std::optional<std::string> &faults) {
    for (const std::string &folder : folders)
      names.push_back(folder.c_str());
    options.size = sizeof(options);
    options.folders = names.data();
    options.folderCount = names.size();
    options.capacity = capacity;
    options.memory = memory;
    options.timeout = timeout;
    options.device = device ? device->c_str() : nullptr;
    options.faults = faults ? faults->c_str() : nullptr;
  }
  std::vector<const char *> names;
  DrawloomStoreOptions options = {};
};

/// Calls without the interpreter's lock until `isDone`, and looks at signals
/// in between.
template <typename Call, typename IsDone>
void waitFor(Call call, IsDone isDone) {
  for (;;) {
    DrawloomError *error = nullptr;
    {
      Unlocked unlocked;
      error = call();
    }
    if (error)
      raise(error);
    if (isDone())
      return;
    // Ctrl-C.
    if (PyErr_CheckSignals() != 0)
      throw nb::python_error();
  }
}

/// A text that a function gives to a callback.
template <typename Call> std::string textOf(Call call) {
  std::string text;
  DrawloomError *error = nullptr;
  {
    Unlocked unlocked;
    error = call(
        [](void *context, const char *given) {
          *static_cast<std::string *>(context) = given;
        },
        &text);
  }
  if (error)
    raise(error);
  return text;
}
} // namespace

static std::shared_ptr<Store> open(const std::vector<std::string> &folders,
                                   uint64_t capacity, uint64_t memory,
                                   uint64_t timeout,
                                   const std::optional<std::string> &device,
                                   const std::optional<std::string> &faults) {
  Options given(folders, capacity, memory, timeout, device, faults);
  DrawloomStore *store = nullptr;
  DrawloomError *error = nullptr;
  {
    Unlocked unlocked;
    error = drawloomStoreOpen(&given.options, &store);
  }
  if (error)
    raise(error);
  return std::make_shared<Store>(store);
}

static std::string probe(const std::vector<std::string> &folders,
                         uint64_t capacity, uint64_t memory,
                         const std::optional<std::string> &device) {
  Options given(folders, capacity, memory, 0, device, std::nullopt);
  return textOf([&](auto write, void *context) {
    return drawloomStoreProbe(&given.options, write, context);
  });
}

static uint64_t put(const Store &store, uint64_t address, uint64_t size,
                    const std::string &site, uint64_t due, bool persistent) {
  DrawloomRecord record = {};
  int done = 0;
  DrawloomStore *handle = store.use();
  try {
    waitFor(
        [&] {
          return drawloomStorePut(
              handle, reinterpret_cast<const void *>(address), size,
              site.c_str(), due, persistent ? DRAWLOOM_PUT_PERSISTENT : 0,
              moment, &record, &done);
        },
        [&] { return done != 0; });
  } catch (const nb::python_error &) {
    // What was begun is of no use.
    if (record.generation != 0)
      drawloomErrorDestroy(drawloomStoreDrop(handle, record));
    throw;
  }
  return numberOf(record);
}

static void expect(const Store &store, const std::vector<uint64_t> &numbers) {
  DrawloomStore *handle = store.use();
  std::vector<DrawloomRecord> records;
  records.reserve(numbers.size());
  for (uint64_t number : numbers)
    records.push_back(recordOf(number));
  // No records is none to come, and no order is another thing.
  static const DrawloomRecord none = {};
  DrawloomError *error = nullptr;
  {
    Unlocked unlocked;
    error = drawloomStoreExpect(
        handle, records.empty() ? &none : records.data(), records.size());
  }
  if (error)
    raise(error);
}

static void get(const Store &store, uint64_t record, uint64_t address) {
  DrawloomStore *handle = store.use();
  uint64_t progress = 0;
  int done = 0;
  waitFor(
      [&] {
        return drawloomStoreGet(handle, recordOf(record),
                                reinterpret_cast<void *>(address), moment,
                                &progress, &done);
      },
      [&] { return done != 0; });
}

/// The record's bytes; nothing where the store has no memory for them.
static std::optional<Bytes> borrow(const std::shared_ptr<Store> &store,
                                   uint64_t record, uint64_t size) {
  DrawloomStore *handle = store->use();
  void *data = nullptr;
  bool full = false;
  waitFor(
      [&]() -> DrawloomError * {
        DrawloomError *error =
            drawloomStoreBorrow(handle, recordOf(record), moment, &data);
        if (!error || drawloomErrorCode(error) != DRAWLOOM_ERROR_MEMORY)
          return error;
        drawloomErrorDestroy(error);
        full = true;
        return nullptr;
      },
      [&] { return data || full; });
  if (full)
    return std::nullopt;
  nb::capsule owner(new Lent{store, data}, [](void *owned) noexcept {
    delete static_cast<Lent *>(owned);
  });
  size_t shape[] = {static_cast<size_t>(size)};
  return Bytes(data, 1, shape, owner);
}

static void close(Store &store) { store.close(); }

static void drop(const Store &store, uint64_t record) {
  if (DrawloomError *error = drawloomStoreDrop(store.use(), recordOf(record)))
    raise(error);
}

static void replace(const Store &store, uint64_t old, uint64_t by) {
  if (DrawloomError *error =
          drawloomStoreReplace(store.use(), recordOf(old), recordOf(by)))
    raise(error);
}

static void finish(const Store &store) {
  DrawloomStore *handle = store.use();
  int done = 0;
  waitFor([&] { return drawloomStoreFinish(handle, moment, &done); },
          [&] { return done != 0; });
}

static nb::dict statistics(const Store &store) {
  DrawloomStoreCounts known = {};
  known.size = sizeof(known);
  drawloomStoreStatistics(store.use(), &known);
  nb::dict result;
  result["records"] = known.records;
  result["bytes"] = known.bytes;
  result["puts"] = known.puts;
  result["bytes_put"] = known.bytesPut;
  result["gets"] = known.gets;
  result["bytes_got"] = known.bytesGot;
  result["written"] = known.written;
  result["read"] = known.read;
  result["forwarded"] = known.forwarded;
  result["cancelled"] = known.cancelled;
  result["put_stall"] = static_cast<double>(known.putStall) * 1e-9;
  result["get_stall"] = static_cast<double>(known.getStall) * 1e-9;
  result["retries"] = known.retries;
  result["mismatches"] = known.mismatches;
  result["failures"] = known.failures;
  result["quarantined"] = known.quarantined;
  result["dead_folders"] = known.deadFolders;
  result["memory"] = known.memory;
  result["most_memory"] = known.mostMemory;
  result["lent"] = known.lent;
  result["leaked"] = known.leaked;
  result["verified"] = known.verified;
  return result;
}

static std::string trace(const Store &store) {
  DrawloomStore *handle = store.use();
  return textOf([&](auto write, void *context) {
    return drawloomStoreTrace(handle, write, context);
  });
}

void addOffload(nb::module_ &m) {
  nb::class_<Store>(m, "Store", "Records that wait on disks.")
      .def_static("open", &open, "folders"_a, "capacity"_a, "memory"_a,
                  "timeout"_a, "device"_a.none(), "faults"_a.none(),
                  "Makes the files, and a thread that writes and reads them.")
      .def_static("probe", &probe, "folders"_a, "capacity"_a, "memory"_a,
                  "device"_a.none(),
                  "What a store would use, and why not something better.")
      .def(
          "put", &put, "address"_a, "size"_a, "site"_a, "due"_a,
          "persistent"_a = false,
          "A record of the bytes, which are copied. Of a persistent one memory "
          "keeps the bytes until they were read back from the disk.")
      .def("expect", &expect, "records"_a, "The order of the gets to come.")
      .def("get", &get, "record"_a, "address"_a, "Copies a record's bytes.")
      .def("borrow", &borrow, "record"_a, "size"_a,
           "A record's bytes, for as long as the array lives; None where there "
           "is no memory for them.")
      .def("drop", &drop, "record"_a, "Ends a record.")
      .def("replace", &replace, "old"_a, "by"_a,
           "Ends `old` once `by`, which is persistent, has been read back.")
      .def("finish", &finish, "Waits until everything is written.")
      .def(
          "close", &close,
          "Ends all records and waits for what is under way; where an array of "
          "its memory is left, it ends with that.")
      .def("statistics", &statistics, "What it has done since it was opened.")
      .def("trace", &trace, "The last events, in Chrome's trace format.");
}

} // namespace drawloom::python
