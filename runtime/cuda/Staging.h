//===- Staging.h - from a device to a store and back ------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values are transferred in parts: on one stream from the device to pinned host
// memory, and from there to the store; in the other direction on another
// stream. The caller's stream waits for these copies by events, only where it
// would use data that has not arrived, or overwrite data that is not copied
// yet. The calling thread does the host's work, between its launches and while
// it waits.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_CUDA_STAGING_H
#define DRAWLOOM_RUNTIME_CUDA_STAGING_H

#include "Api.h"
#include "drawloom/runtime/PlanProgram.h"
#include "runtime/offload/Store.h"
#include <deque>
#include <functional>

namespace drawloom::runtime::cuda {

/// Pinned memory and copy streams, used by one call at a time.
class Staging {
public:
  /// Bytes of a part: large enough for the bus, and the unit of the store.
  static constexpr uint64_t partBytes = uint64_t(1) << 20;

  static Result<std::unique_ptr<Staging>> make(std::shared_ptr<Device> device);
  ~Staging();
  Staging(const Staging &) = delete;
  Staging &operator=(const Staging &) = delete;

  static constexpr size_t slotsOfLane = 16;
  /// Bytes of both lanes.
  static constexpr uint64_t bytes = 2 * slotsOfLane * partBytes;

private:
  friend class StagedRecords;
  /// Memory for a part. If it is in use, it is so until its event has occurred.
  struct Slot {
    char *memory = nullptr;
    void *event = nullptr;
    bool isInUse = false;
  };
  /// One direction of transfer, with its slots, which are used in turn.
  struct Lane {
    void *stream = nullptr;
    std::vector<Slot> slots;
    size_t next = 0;
  };

  explicit Staging(std::shared_ptr<Device> device)
      : device(std::move(device)) {}
  int setUp();

  std::shared_ptr<Device> device;
  void *pinned = nullptr;
  Lane out, in;
};

/// Values that one call on a stream keeps in a store. After the first error,
/// nothing is done any more, and every call returns that error.
class StagedRecords final : public DeviceRecords {
public:
  /// `giveBack` receives the staging when the call has ended.
  StagedRecords(std::unique_ptr<Staging> staging, offload::Store &store,
                const Signature &signature, void *stream,
                std::function<void(std::unique_ptr<Staging>)> giveBack);
  /// Makes subsequent work on the stream wait for all copies.
  ~StagedRecords() override;

  Status transfer(const LaunchTransfer &transfer, void *memory,
                  int64_t bytes) override;
  Status progress() override;

private:
  struct Part {
    uint64_t begin = 0, bytes = 0;
    offload::RecordId id = {};
    bool isPut = false;
  };
  struct Value {
    std::vector<Part> parts;
    uint64_t bytes = 0;
    /// Device memory that the value is stored from, and fetched to.
    char *from = nullptr, *to = nullptr;
    /// Recorded on the caller's stream: `from` holds the value; `to` is free.
    void *ready = nullptr, *freed = nullptr;
    /// Recorded on the copy streams; null until the last part is there.
    void *copied = nullptr, *arrived = nullptr;
  };
  struct Job {
    size_t value = 0, part = 0;
  };

  // Each returns false after an error.
  bool check(int code);
  bool check(offload::Outcome outcome, const std::string &why);
  bool checkPlan(bool isRight);
  bool record(void *&event, void *stream);
  bool waitFor(void *event, void *stream);
  void forget(void *&event);
  /// Returns whether an event has occurred, or records the error.
  bool hasHappened(void *event);

  void store(size_t number, void *memory, uint64_t bytes);
  void load(size_t number);
  void fetch(size_t number, void *memory, uint64_t bytes);
  void await(size_t number);
  void release(size_t number);
  void drop(size_t number);
  void expect();

  /// Advances the transfers to the store: copies parts out and puts the parts
  /// that have arrived, or waits until one of these is possible. Returns false
  /// if nothing changed.
  bool stepOut(bool waits);
  bool issueOut();
  /// Advances the transfers from the store: reads parts and copies them in.
  /// Returns false if nothing changed.
  bool stepIn(bool waits);

  std::unique_ptr<Staging> staging;
  offload::Store &store_;
  const Signature &signature;
  void *const stream;
  std::function<void(std::unique_ptr<Staging>)> giveBack;
  const Api &api;
  CurrentContext current;
  std::vector<Value> values;
  /// Parts that wait for a slot; and parts being copied, with their slots.
  std::deque<Job> waiting;
  std::deque<std::pair<Job, Staging::Slot *>> copying;
  /// Requested parts in order, and the progress of the first.
  std::deque<Job> wanted;
  uint64_t read = 0;
  /// Loaded but not yet fetched.
  std::vector<size_t> loaded;
  Status failure;
};

} // namespace drawloom::runtime::cuda

#endif // DRAWLOOM_RUNTIME_CUDA_STAGING_H
