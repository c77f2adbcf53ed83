//===- CallRecords.h - what one call keeps in a store ----------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_CPU_CALLRECORDS_H
#define DRAWLOOM_RUNTIME_CPU_CALLRECORDS_H

#include "drawloom/runtime/Abi.h"
#include "drawloom/runtime/Status.h"
#include "runtime/offload/Store.h"
#include <mutex>
#include <string>
#include <vector>

namespace drawloom::runtime {

/// Values that one call keeps in a store, by the numbers that its program gives
/// them. A large value is split into several records, which the host's threads
/// copy. After the first failure, nothing more is put or got. Remaining records
/// are dropped at the end.
class CallRecords {
public:
  CallRecords(offload::Store &store, const std::string &program, size_t count,
              const DrawloomHost &host)
      : store(store), program(program), host(host), values(count) {}
  ~CallRecords();
  CallRecords(const CallRecords &) = delete;
  CallRecords &operator=(const CallRecords &) = delete;

  /// Implements DrawloomHost::transfer.
  void transfer(int64_t kind, size_t value, void *memory, uint64_t bytes);
  const Status &status() const { return failure; }

private:
  struct Part {
    uint64_t begin, bytes;
    offload::RecordId id = {};
  };
  void put(size_t value, const char *memory, uint64_t bytes);
  void expect(size_t value);
  void get(size_t value, char *memory, uint64_t bytes);
  void drop(size_t value);
  void putPart(size_t value, Part &part, const char *memory);
  void getPart(const Part &part, char *memory);
  template <typename Work> void forEachPart(size_t value, Work work);
  void check(offload::Outcome outcome, const std::string &why);

  offload::Store &store;
  const std::string &program;
  const DrawloomHost &host;
  std::vector<std::vector<Part>> values;
  /// Values requested but not yet read, in order.
  std::vector<size_t> wanted;
  std::mutex mutex; ///< Guards the failure.
  Status failure;
};

} // namespace drawloom::runtime

#endif // DRAWLOOM_RUNTIME_CPU_CALLRECORDS_H
