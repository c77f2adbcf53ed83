//===- Tables.cpp - the C interface to tables in files --------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "drawloom-c/table.h"
#include "drawloom/runtime/RowTable.h"
#include "runtime/program/Handles.h"
#include <algorithm>
#include <cstring>

using namespace drawloom::runtime;

struct DrawloomTable {
  std::unique_ptr<RowTable> rows;
};

struct DrawloomFetch {
  RowTable *table;
  std::shared_ptr<RowFetch> rows;
};

DrawloomError *drawloomTableOpen(const DrawloomTableFile *file,
                                 DrawloomTable **table) {
  *table = nullptr;
  DrawloomTableFile given = {};
  std::memcpy(&given, file, std::min(file->size, sizeof(given)));
  TableFile known = {given.path, given.offset, given.rows, given.rowBytes};
  if (given.memory != 0)
    known.memory = given.memory;
  if (given.readers != 0)
    known.readers = given.readers;
  Result<std::unique_ptr<RowTable>> rows = RowTable::open(known);
  if (!rows.ok())
    return makeError(DRAWLOOM_ERROR_FILE, rows.message());
  *table = new DrawloomTable{std::move(*rows)};
  return nullptr;
}

void drawloomTableClose(DrawloomTable *table) {
  if (!table)
    return;
  RowTable::close(std::move(table->rows));
  delete table;
}

DrawloomError *drawloomTableFetch(DrawloomTable *table, const void *numbers,
                                  DrawloomElement element, int64_t count,
                                  DrawloomFetch **fetch) {
  *fetch = nullptr;
  if (element != DRAWLOOM_I32 && element != DRAWLOOM_I64)
    return makeError(DRAWLOOM_ERROR_CALL,
                     "numbers of rows are integers of 32 or 64 bits");
  if (count < 0)
    return makeError(DRAWLOOM_ERROR_CALL,
                     std::to_string(count) + " rows cannot be fetched");
  Result<std::shared_ptr<RowFetch>> started =
      table->rows->start(numbers, element == DRAWLOOM_I64, count);
  if (!started.ok())
    return makeError(DRAWLOOM_ERROR_CALL, started.message());
  *fetch = new DrawloomFetch{table->rows.get(), std::move(*started)};
  return nullptr;
}

DrawloomError *drawloomFetchWait(DrawloomFetch *fetch, int64_t nanoseconds,
                                 void **rows) {
  *rows = nullptr;
  std::string failure;
  switch (fetch->table->wait(*fetch->rows, nanoseconds, failure)) {
  case RowTable::Outcome::late:
    return nullptr;
  case RowTable::Outcome::failed:
    return makeError(DRAWLOOM_ERROR_FILE, std::move(failure));
  case RowTable::Outcome::lacksMemory:
    return makeError(DRAWLOOM_ERROR_MEMORY, std::move(failure));
  case RowTable::Outcome::rows:
    break;
  }
  *rows = fetch->rows->memory.data();
  return nullptr;
}

void drawloomFetchDestroy(DrawloomFetch *fetch) {
  if (!fetch)
    return;
  fetch->table->drop(fetch->rows);
  delete fetch;
}

void drawloomTableCount(const DrawloomTable *table,
                        DrawloomTableCounts *counts) {
  TableCounts known = table->rows->counts();
  DrawloomTableCounts all = {counts->size,   known.fetches,  known.rows,
                             known.rowsRead, known.reads,    known.bytes,
                             known.held,     known.mostHeld, known.waited};
  std::memcpy(counts, &all, std::min(counts->size, sizeof(all)));
}
