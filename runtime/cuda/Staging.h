//===- Staging.h - from a device to a store and back ------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value goes by parts: on a stream for copies from the device into pinned
// memory of the host, from there into the store; and the other way by another
// stream. The caller's stream waits for these by events, only where it would
// use what is not there, or change what is not copied yet. The calling thread
// does the host's work, between its launches and while it waits.
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

/// Pinned memory, and the streams of the copies: what one call at a time uses.
class Staging {
public:
  /// Of a part, bytes: enough for the bus, and a unit of the store.
  static constexpr uint64_t partBytes = uint64_t(1) << 20;

  static Result<std::unique_ptr<Staging>> make(std::shared_ptr<Device> device);
  ~Staging();
  Staging(const Staging &) = delete;
  Staging &operator=(const Staging &) = delete;

  static constexpr size_t slotsOfLane = 16;
  /// Of both ways.
  static constexpr uint64_t bytes = 2 * slotsOfLane * partBytes;

private:
  friend class StagedRecords;
  /// Memory for a part. Where it is in use, until its event has happened.
  struct Slot {
    char *memory = nullptr;
    void *event = nullptr;
    bool isInUse = false;
  };
  /// One way, with its slots, which take turns.
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

/// What one call on a stream keeps in a store. After the first error it does
/// nothing any more, and every call gives that error.
class StagedRecords final : public DeviceRecords {
public:
  /// `giveBack` gets the staging when the call has ended.
  StagedRecords(std::unique_ptr<Staging> staging, offload::Store &store,
                const Signature &signature, void *stream,
                std::function<void(std::unique_ptr<Staging>)> giveBack);
  /// What comes on the stream behind it waits for all copies.
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
    /// Of the device: where it is stored from, and fetched to.
    char *from = nullptr, *to = nullptr;
    /// Recorded on the caller's stream: `from` has the value; `to` is free.
    void *ready = nullptr, *freed = nullptr;
    /// Recorded on the streams of copies; null until the last part is there.
    void *copied = nullptr, *arrived = nullptr;
  };
  struct Job {
    size_t value = 0, part = 0;
  };

  // Each is false behind an error.
  bool check(int code);
  bool check(offload::Outcome outcome, const std::string &why);
  bool checkPlan(bool isRight);
  bool record(void *&event, void *stream);
  bool waitFor(void *event, void *stream);
  void forget(void *&event);
  /// Whether an event has happened, or what is wrong.
  bool hasHappened(void *event);

  void store(size_t number, void *memory, uint64_t bytes);
  void load(size_t number);
  void fetch(size_t number, void *memory, uint64_t bytes);
  void await(size_t number);
  void release(size_t number);
  void drop(size_t number);
  void expect();

  /// Does what can be done, or waits until something can: copies parts out, and
  /// puts those that have come. False where nothing changed.
  bool stepOut(bool waits);
  bool issueOut();
  /// The same of parts that are read and copied in.
  bool stepIn(bool waits);

  std::unique_ptr<Staging> staging;
  offload::Store &store_;
  const Signature &signature;
  void *const stream;
  std::function<void(std::unique_ptr<Staging>)> giveBack;
  const Api &api;
  CurrentContext current;
  std::vector<Value> values;
  /// Parts that wait for a slot, and those that are being copied, with theirs.
  std::deque<Job> waiting;
  std::deque<std::pair<Job, Staging::Slot *>> copying;
  /// Parts that are wanted, in their order, and how far the first one is.
  std::deque<Job> wanted;
  uint64_t read = 0;
  /// Loaded and not fetched yet.
  std::vector<size_t> loaded;
  Status failure;
};

} // namespace drawloom::runtime::cuda

#endif // DRAWLOOM_RUNTIME_CUDA_STAGING_H
