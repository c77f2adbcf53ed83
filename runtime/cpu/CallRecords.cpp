//===- CallRecords.cpp - what one call keeps in a store -------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cpu/CallRecords.h"
#include "drawloom/runtime/Abi.h"
#include <algorithm>
#include <cstring>

namespace drawloom::runtime {

using offload::Outcome, offload::RecordId;

static bool isRecord(RecordId id) {
  return id.index != 0 || id.generation != 0;
}

CallRecords::~CallRecords() {
  for (size_t record = 0; record < ids.size(); ++record)
    drop(record);
}

void CallRecords::check(Outcome outcome, const std::string &why) {
  if (outcome != Outcome::Ready && failure.ok())
    failure = Status::storageError(why);
}

void CallRecords::put(size_t record, const void *memory, uint64_t bytes) {
  std::string why, site = "value " + std::to_string(record) + " of @" + program;
  // Programs number records as they get them.
  check(store.put(memory, bytes, site.c_str(), record, /*persistent=*/false,
                  /*nanoseconds=*/-1, ids[record], why),
        why);
}

void CallRecords::expect(size_t record) {
  wanted.push_back(record);
  std::vector<RecordId> list;
  for (size_t number : wanted)
    list.push_back(ids[number]);
  std::string why;
  check(store.expect(list.data(), list.size(), why), why);
}

void CallRecords::get(size_t record, void *memory, uint64_t bytes) {
  wanted.erase(std::remove(wanted.begin(), wanted.end(), record), wanted.end());
  std::string why;
  uint64_t progress = 0;
  check(store.get(ids[record], memory, -1, progress, why), why);
  if (!failure.ok())
    std::memset(memory, 0, bytes);
}

void CallRecords::drop(size_t record) {
  RecordId id = std::exchange(ids[record], RecordId());
  std::string why;
  if (isRecord(id))
    store.drop(id, why);
}

void CallRecords::transfer(int64_t kind, size_t record, void *memory,
                           uint64_t bytes) {
  switch (static_cast<DrawloomTransfer>(kind)) {
  case DRAWLOOM_TRANSFER_STORE:
    if (failure.ok())
      put(record, memory, bytes);
    return;
  case DRAWLOOM_TRANSFER_LOAD:
    if (failure.ok())
      expect(record);
    return;
  case DRAWLOOM_TRANSFER_AWAIT:
    if (failure.ok())
      get(record, memory, bytes);
    else
      std::memset(memory, 0, bytes);
    return;
  case DRAWLOOM_TRANSFER_DROP:
    return drop(record);
  }
}

} // namespace drawloom::runtime
