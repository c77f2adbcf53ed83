//===- Store.h - records that wait on disks --------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements drawloom-c/offload.h as a class: a core, a device, and one thread
// that does everything with the device. Callers change the core under the lock,
// and copy bytes without it.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_OFFLOAD_STORE_H
#define DRAWLOOM_RUNTIME_OFFLOAD_STORE_H

#include "runtime/offload/Core.h"
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

namespace drawloom::runtime::offload {

struct StoreOptions {
  std::vector<std::string> folders;
  uint64_t capacity = 0;
  uint64_t memory = uint64_t(256) << 20;
  uint64_t timeout = 30'000'000'000;
  std::string device; ///< "" selects the best device.
  std::string faults;
};

struct StoreCounts : CoreCounts {
  uint64_t putStall = 0, getStall = 0; ///< Nanoseconds.
};

class Store {
public:
  /// Checks that options are valid, without inspecting the machine.
  static Status check(const StoreOptions &options);
  static Result<std::unique_ptr<Store>> open(const StoreOptions &options);
  /// Waits for transfers in progress, for up to `nanoseconds`; if negative, for
  /// as long as the options permit.
  static Status close(std::unique_ptr<Store> store, int64_t nanoseconds);

  // Outcome::Wait means that the time has run out.
  /// `id` is none at first; repeated calls continue from there.
  Outcome put(const void *data, uint64_t bytes, const char *site, uint64_t due,
              bool persistent, int64_t nanoseconds, RecordId &id,
              std::string &why);
  /// `progress` is 0 at first; repeated calls continue from there.
  Outcome get(RecordId id, void *to, int64_t nanoseconds, uint64_t &progress,
              std::string &why);
  Outcome borrow(RecordId id, int64_t nanoseconds, void *&data,
                 std::string &why);
  Status giveBack(void *data);
  Outcome drop(RecordId id, std::string &why);
  Outcome replace(RecordId old, RecordId by, std::string &why);
  /// If `ids` is null, expects all records in the order of their `due`.
  Outcome expect(const RecordId *ids, size_t count, std::string &why);
  Outcome finish(int64_t nanoseconds, std::string &why);

  StoreCounts counts() const;
  Status trace(std::string &json) const;
  /// Returns what the store uses, and why it does not use something better.
  const std::string &report() const { return text; }

private:
  explicit Store(const StoreOptions &options) : options(options) {}
  ~Store() = default;
  friend struct std::default_delete<Store>;

  /// Holds the lock, and notifies others as needed when it is released.
  class Locked {
  public:
    explicit Locked(Store &store) : store(store), lock(store.mutex) {}
    ~Locked() { giveUp(); }
    void giveUp();
    void take() { lock.lock(); }
    /// Waits until something has changed. Returns false if the time `end` is
    /// reached first.
    bool wait(uint64_t end, uint64_t &stall);

  private:
    Store &store;
    std::unique_lock<std::mutex> lock;
  };

  bool isForked(std::string &why) const;
  uint64_t endOf(int64_t nanoseconds) const;
  Status setUp();
  void describe(const std::vector<FileFacts> &facts, const std::string &lacks);
  void run();
  void act(const Core::Work &work);
  bool isOver() const;

  const StoreOptions options;
  const int process = ownProcess();
  static int ownProcess();

  mutable std::mutex mutex;
  std::condition_variable news;
  std::thread thread;
  std::unique_ptr<Device> device;
  std::unique_ptr<Core> core;
  Trace events{65536};
  std::vector<std::string> lanes;
  void *staging = nullptr;
  uint64_t stagingBytes = 0;
  std::string text;
  Status opened;
  bool isSetUp = false, asleep = false, closing = false;
  unsigned waiters = 0;
  uint64_t closeBy = 0;
  uint64_t putStall = 0, getStall = 0;
};

} // namespace drawloom::runtime::offload

#endif // DRAWLOOM_RUNTIME_OFFLOAD_STORE_H
