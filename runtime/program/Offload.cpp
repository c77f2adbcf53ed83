//===- Offload.cpp - the C interface to records on disks ------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "drawloom-c/offload.h"
#include "drawloom/runtime/CallersStore.h"
#include "drawloom/runtime/StoreShare.h"
#include "runtime/offload/Store.h"
#include "runtime/program/Handles.h"
#include <algorithm>
#include <cstring>

using namespace drawloom::runtime;
using namespace drawloom::runtime::offload;

struct DrawloomStore {
  std::unique_ptr<Store> records;
};

/// The error of a call that did not end as it should.
static DrawloomError *errorOf(Outcome outcome, std::string why) {
  switch (outcome) {
  case Outcome::Ready:
  case Outcome::Wait:
    return nullptr;
  case Outcome::Failed:
    return makeError(DRAWLOOM_ERROR_STORAGE, std::move(why));
  case Outcome::LacksMemory:
    return makeError(DRAWLOOM_ERROR_MEMORY, std::move(why));
  case Outcome::Misused:
    break;
  }
  return makeError(DRAWLOOM_ERROR_CALL, std::move(why));
}

static RecordId idOf(DrawloomRecord record) {
  return {record.index, record.generation};
}

DrawloomError *drawloomStoreOpen(const DrawloomStoreOptions *options,
                                 DrawloomStore **store) {
  *store = nullptr;
  DrawloomStoreOptions given = {};
  std::memcpy(&given, options, std::min(options->size, sizeof(given)));
  StoreOptions known;
  for (size_t i = 0; i < given.folderCount; ++i)
    known.folders.push_back(given.folders[i]);
  known.capacity = given.capacity;
  if (given.memory != 0)
    known.memory = given.memory;
  if (given.timeout != 0)
    known.timeout = given.timeout;
  if (given.device)
    known.device = given.device;
  if (given.faults)
    known.faults = given.faults;
  if (Status status = Store::check(known); !status.ok())
    return makeError(DRAWLOOM_ERROR_CALL, status.message());
  Result<std::unique_ptr<Store>> opened = Store::open(known);
  if (!opened.ok())
    return makeError(DRAWLOOM_ERROR_STORAGE, opened.message());
  *store = new DrawloomStore{std::move(*opened)};
  return nullptr;
}

DrawloomError *drawloomStoreClose(DrawloomStore *store, int64_t nanoseconds) {
  if (!store)
    return nullptr;
  Status closed = Store::close(std::move(store->records), nanoseconds);
  delete store;
  return closed.ok() ? nullptr
                     : makeError(DRAWLOOM_ERROR_STORAGE, closed.message());
}

DrawloomError *drawloomStoreProbe(const DrawloomStoreOptions *options,
                                  void (*write)(void *context,
                                                const char *text),
                                  void *context) {
  DrawloomStore *store = nullptr;
  if (DrawloomError *error = drawloomStoreOpen(options, &store))
    return error;
  write(context, store->records->report().c_str());
  return drawloomStoreClose(store, -1);
}

DrawloomError *drawloomStorePut(DrawloomStore *store, const void *data,
                                uint64_t bytes, const char *site, uint64_t due,
                                uint32_t flags, int64_t nanoseconds,
                                DrawloomRecord *record, int *done) {
  *done = 0;
  if ((flags & ~DRAWLOOM_PUT_PERSISTENT) != 0)
    return makeError(DRAWLOOM_ERROR_CALL,
                     "a put's flags are " + std::to_string(flags) +
                         ": there is none but DRAWLOOM_PUT_PERSISTENT, " +
                         std::to_string(DRAWLOOM_PUT_PERSISTENT));
  std::string why;
  RecordId id = idOf(*record);
  Outcome outcome = store->records->put(data, bytes, site ? site : "", due,
                                        (flags & DRAWLOOM_PUT_PERSISTENT) != 0,
                                        nanoseconds, id, why);
  *record = {id.index, id.generation};
  *done = outcome == Outcome::Ready;
  return errorOf(outcome, std::move(why));
}

DrawloomError *drawloomStoreExpect(DrawloomStore *store,
                                   const DrawloomRecord *records,
                                   size_t count) {
  std::vector<RecordId> ids;
  for (size_t i = 0; records && i < count; ++i)
    ids.push_back(idOf(records[i]));
  std::string why;
  // No records at all are a list, too.
  static const RecordId noRecord;
  Outcome outcome = store->records->expect(!records    ? nullptr
                                           : count > 0 ? ids.data()
                                                       : &noRecord,
                                           ids.size(), why);
  return errorOf(outcome, std::move(why));
}

DrawloomError *drawloomStoreGet(DrawloomStore *store, DrawloomRecord record,
                                void *to, int64_t nanoseconds,
                                uint64_t *progress, int *done) {
  std::string why;
  uint64_t begun = 0;
  Outcome outcome = store->records->get(idOf(record), to, nanoseconds,
                                        progress ? *progress : begun, why);
  *done = outcome == Outcome::Ready;
  return errorOf(outcome, std::move(why));
}

DrawloomError *drawloomStoreBorrow(DrawloomStore *store, DrawloomRecord record,
                                   int64_t nanoseconds, void **data) {
  std::string why;
  Outcome outcome =
      store->records->borrow(idOf(record), nanoseconds, *data, why);
  return errorOf(outcome, std::move(why));
}

DrawloomError *drawloomStoreReturn(DrawloomStore *store, void *data) {
  Status returned = store->records->giveBack(data);
  return returned.ok() ? nullptr
                       : makeError(DRAWLOOM_ERROR_CALL, returned.message());
}

DrawloomError *drawloomStoreDrop(DrawloomStore *store, DrawloomRecord record) {
  std::string why;
  Outcome outcome = store->records->drop(idOf(record), why);
  return errorOf(outcome, std::move(why));
}

DrawloomError *drawloomStoreReplace(DrawloomStore *store, DrawloomRecord old,
                                    DrawloomRecord by) {
  std::string why;
  Outcome outcome = store->records->replace(idOf(old), idOf(by), why);
  return errorOf(outcome, std::move(why));
}

DrawloomError *drawloomStoreFinish(DrawloomStore *store, int64_t nanoseconds,
                                   int *done) {
  std::string why;
  Outcome outcome = store->records->finish(nanoseconds, why);
  *done = outcome == Outcome::Ready;
  return errorOf(outcome, std::move(why));
}

void drawloomUseStore(DrawloomStore *store) {
  useStore(store ? store->records.get() : nullptr);
}

uint64_t drawloomStoreShare(uint64_t memory) {
  return static_cast<uint64_t>(
      storeShare(static_cast<int64_t>(std::min<uint64_t>(memory, INT64_MAX))));
}

void drawloomStoreStatistics(const DrawloomStore *store,
                             DrawloomStoreCounts *counts) {
  StoreCounts known = store->records->counts();
  DrawloomStoreCounts all = {
      counts->size,      known.records,     known.bytes,      known.puts,
      known.bytesPut,    known.gets,        known.bytesGot,   known.written,
      known.read,        known.forwarded,   known.cancelled,  known.putStall,
      known.getStall,    known.retries,     known.mismatches, known.failures,
      known.quarantined, known.deadFolders, known.memory,     known.mostMemory,
      known.lent,        known.leaked,      known.verified};
  std::memcpy(counts, &all, std::min(counts->size, sizeof(all)));
}

DrawloomError *drawloomStoreTrace(const DrawloomStore *store,
                                  void (*write)(void *context,
                                                const char *text),
                                  void *context) {
  std::string json;
  Status status = store->records->trace(json);
  if (!status.ok())
    return makeError(DRAWLOOM_ERROR_CALL, status.message());
  write(context, json.c_str());
  return nullptr;
}
