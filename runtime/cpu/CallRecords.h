//===- CallRecords.h - what one call keeps in a store ----------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_CPU_CALLRECORDS_H
#define DRAWLOOM_RUNTIME_CPU_CALLRECORDS_H

#include "drawloom/runtime/Status.h"
#include "runtime/offload/Store.h"
#include <string>
#include <vector>

namespace drawloom::runtime {

/// The records of one call of a program, by number. After the first failure
/// nothing is put or got any more. What is left is dropped at the end.
class CallRecords {
public:
  CallRecords(offload::Store &store, const std::string &program, size_t count)
      : store(store), program(program), ids(count) {}
  ~CallRecords();
  CallRecords(const CallRecords &) = delete;
  CallRecords &operator=(const CallRecords &) = delete;

  /// As DrawloomHost::transfer.
  void transfer(int64_t kind, size_t record, void *memory, uint64_t bytes);
  const Status &status() const { return failure; }

private:
  void put(size_t record, const void *memory, uint64_t bytes);
  void expect(size_t record);
  void get(size_t record, void *memory, uint64_t bytes);
  void drop(size_t record);
  void check(offload::Outcome outcome, const std::string &why);

  offload::Store &store;
  const std::string &program;
  std::vector<offload::RecordId> ids;
  /// Wanted and not got yet, in their order.
  std::vector<size_t> wanted;
  Status failure;
};

} // namespace drawloom::runtime

#endif // DRAWLOOM_RUNTIME_CPU_CALLRECORDS_H
