//===- StoreThread.cpp - the thread between records and a device ----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/offload/Checksum.h"
#include "runtime/offload/Devices.h"
#include "runtime/offload/FaultDevice.h"
#include "runtime/offload/Store.h"
#include <algorithm>
#include <csignal>
#include <cstring>
#include <sys/mman.h>
#include <system_error>

namespace drawloom::runtime::offload {

static constexpr uint64_t mebibyte = uint64_t(1) << 20;
static constexpr uint64_t leastMemory = 8 * mebibyte;
/// More than this would not make disks faster.
static constexpr uint64_t mostStaging = 64 * mebibyte;

/// Memory that neither a child nor a dump of the process has: a disk may write
/// to it, and it holds what the files are nameless for.
static void *mapMemory(uint64_t bytes) {
  void *memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return nullptr;
  ::madvise(memory, bytes, MADV_DONTFORK);
  ::madvise(memory, bytes, MADV_DONTDUMP);
  // A transfer looks up each page of it: with few of them a read costs a fifth
  // of the time of a processor.
  ::madvise(memory, bytes, MADV_HUGEPAGE);
  return memory;
}

//===----------------------------------------------------------------------===//
// Opening and closing
//===----------------------------------------------------------------------===//

Status Store::check(const StoreOptions &options) {
  auto number = [](uint64_t value) { return std::to_string(value); };
  uint64_t folders = options.folders.size();
  if (folders == 0)
    return Status::error("a store needs a folder on the disk that it is to "
                         "use; there is no default");
  if (options.capacity / folders < mebibyte)
    return Status::error("a store of " + number(options.capacity) +
                         " bytes in " + number(folders) +
                         " folders cannot be: each needs 1 MiB or more");
  if (options.memory < leastMemory)
    return Status::error("a store cannot work with " + number(options.memory) +
                         " bytes of memory: it needs " + number(leastMemory));
  if (Status known = checkDevice(options.device); !known.ok())
    return known;
  return parseFaultRules(options.faults).status();
}

Result<std::unique_ptr<Store>> Store::open(const StoreOptions &options) {
  std::unique_ptr<Store> store(new Store(options));
  try {
    store->thread = std::thread([self = store.get()] { self->run(); });
  } catch (const std::system_error &error) {
    return Status::error(std::string("no thread can be made for a store: ") +
                         error.what());
  }
  std::unique_lock<std::mutex> lock(store->mutex);
  store->news.wait(lock, [&] { return store->isSetUp; });
  if (store->opened.ok())
    return store;
  lock.unlock();
  store->thread.join();
  return store->opened;
}

Status Store::close(std::unique_ptr<Store> store, int64_t time) {
  std::string why;
  if (store->isForked(why)) {
    // The thread and the locks are the parent's.
    static_cast<void>(store.release());
    return Status();
  }
  {
    // The device is gone as soon as the thread has seen this: it is woken
    // before the thread can.
    std::lock_guard<std::mutex> lock(store->mutex);
    store->closing = true;
    store->closeBy = store->endOf(time);
    store->core->shut();
    store->core->dirty = true;
    store->asleep = false;
    store->device->wake();
  }
  store->thread.join();
  CoreCounts counts = store->core->counts();
  size_t left = store->core->underWay();
  if (left == 0) {
    ::munmap(store->staging, store->stagingBytes);
    return Status();
  }
  return Status::error(
      "the store's folders have not answered " + std::to_string(left) +
      " transfers: its memory, " + std::to_string(counts.memory) +
      " bytes, cannot be given back, since a disk may still use it");
}

/// Makes the device and all that it has, on the thread that will use it.
Status Store::setUp() {
  std::string lacks;
  Result<std::unique_ptr<Device>> made = makeDevice(options.device, &lacks);
  if (!made.ok())
    return made.status();
  device = std::move(*made);
  if (!options.faults.empty())
    device = std::make_unique<FaultDevice>(
        std::move(device), std::move(*parseFaultRules(options.faults)));
  CoreOptions known;
  uint64_t share = options.capacity / options.folders.size();
  share -= share % known.unit;
  std::vector<FileFacts> facts;
  for (const std::string &folder : options.folders) {
    Result<FileFacts> file = device->open(folder, share);
    if (!file.ok())
      return file.status();
    known.page = std::max<uint64_t>(known.page, file->alignment);
    lanes.push_back(folder);
    facts.push_back(std::move(*file));
  }
  known.slots = static_cast<unsigned>(
      std::min(mostStaging, options.memory / 2) / known.unit);
  known.readSlots = known.slots / 4;
  stagingBytes = known.slots * known.unit;
  known.loadMemory = options.memory - stagingBytes;
  known.timeout = options.timeout;
  staging = mapMemory(stagingBytes);
  if (!staging)
    return Status::error("there are no " + std::to_string(stagingBytes) +
                         " bytes of memory for a store");
  device->registerMemory(staging, stagingBytes);
  // Now the kernel is told of it, and what it does not take is known.
  Completion nothing;
  device->reap(&nothing, 1, 0);
  describe(facts, lacks);
  core = std::make_unique<Core>(
      known, std::move(facts),
      std::vector<uint64_t>(options.folders.size(), share),
      static_cast<char *>(staging), &events);
  return Status();
}

void Store::describe(const std::vector<FileFacts> &facts,
                     const std::string &lacks) {
  auto line = [&](const std::string &what) { text += what + "\n"; };
  line(std::string("device: ") + device->name());
  if (!lacks.empty())
    line("  " + lacks);
  if (std::string missing = device->limitations(); !missing.empty())
    line("  " + missing);
  if (!options.faults.empty())
    line("faults: " + options.faults);
  line("memory: " + std::to_string(stagingBytes / mebibyte) +
       " MiB for what is written, " +
       std::to_string((options.memory - stagingBytes) / mebibyte) +
       " MiB for what is read");
  for (size_t i = 0; i < facts.size(); ++i) {
    const FileFacts &file = facts[i];
    line("folder '" + file.folder +
         "': " + std::to_string(options.capacity / facts.size() / mebibyte) +
         " MiB on " + file.fileSystem + ", " +
         (file.direct ? "past the page cache" : "through the page cache") +
         ", " + (file.nameless ? "never named" : "named for a moment") + ", " +
         (file.reserved ? "its space reserved" : "its space not reserved") +
         ", alignment " + std::to_string(file.alignment));
    if (!file.limitations.empty())
      line("  " + file.limitations);
    for (size_t k = 0; k < i; ++k)
      if (facts[k].device == file.device) {
        line("  it is on the same device as '" + facts[k].folder +
             "': one of them alone is as fast");
        break;
      }
  }
}

//===----------------------------------------------------------------------===//
// The thread
//===----------------------------------------------------------------------===//

/// All that a turn of the core says. Without the lock.
void Store::act(const Core::Work &work) {
  for (auto [memory, bytes] : work.unmap)
    ::munmap(memory, bytes);
  std::vector<std::pair<uint32_t, void *>> made;
  for (auto [number, bytes] : work.map)
    made.push_back({number, mapMemory(bytes)});
  for (uint64_t id : work.cancel)
    device->cancel(id);
  if (!work.submit.empty())
    device->submit(work.submit.data(), work.submit.size());
  std::vector<bool> right;
  for (const Check &check : work.checks)
    right.push_back(std::all_of(
        check.parts.begin(), check.parts.end(), [&](const Check::Part &part) {
          return crc32c(check.data + part.offset, part.bytes) == part.sum;
        }));
  if (made.empty() && right.empty())
    return;
  Locked lock(*this);
  for (size_t i = 0; i < right.size(); ++i)
    core->checked(work.checks[i], right[i]);
  for (auto [number, memory] : made)
    core->mapped(number, memory);
}

/// Whether a store that is being closed has nothing more to wait for.
bool Store::isOver() const {
  size_t underWay = core->underWay();
  if (underWay == 0)
    return true;
  if (closeBy == UINT64_MAX)
    return underWay == core->abandoned();
  return nanoseconds() >= closeBy;
}

void Store::run() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
  opened = setUp();
  bool failed = !opened.ok();
  if (failed) {
    device.reset();
    if (staging)
      ::munmap(staging, stagingBytes);
  }
  {
    std::lock_guard<std::mutex> lock(mutex);
    isSetUp = true;
  }
  news.notify_all();
  if (failed)
    return;
  constexpr size_t most = 64;
  Completion completions[most];
  Core::Work work;
  for (bool over = false; !over;) {
    {
      Locked lock(*this);
      if (closing) {
        core->shut();
        over = isOver();
      }
      core->dirty = false;
      core->advance(device->now(), work);
    }
    if (over)
      work.map.clear();
    act(work);
    // It waits for what has begun, as long as that makes sense.
    if (over)
      return device.reset();
    uint64_t until = 0;
    {
      Locked lock(*this);
      // Something may have been asked for since then.
      if (!core->dirty) {
        asleep = true;
        until = closing ? std::min(work.next, closeBy) : work.next;
      }
    }
    size_t count = device->reap(completions, most, until);
    Locked lock(*this);
    asleep = false;
    uint64_t now = device->now();
    // Stopped by a signal or a debugger, say: that is not the disks' fault.
    constexpr uint64_t second = 1'000'000'000;
    if (until != 0 && until != UINT64_MAX && now > until + second)
      core->renew(now);
    for (size_t i = 0; i < count; ++i)
      core->complete(completions[i], now);
  }
}

} // namespace drawloom::runtime::offload
