//===- Spill.cpp - a store for values of programs -------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/drawloom-run/Spill.h"
#include "drawloom/runtime/AlignedBuffer.h"
#include "drawloom/runtime/StoreShare.h"
#include "drawloom/runtime/ThreadPool.h"
#include "lib/Report/Report.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/WithColor.h"
#include <chrono>
#include <cstring>

using namespace llvm;

namespace drawloom::run {

using runtime::offload::Outcome, runtime::offload::RecordId,
    runtime::offload::Store, runtime::offload::StoreOptions;

Expected<std::unique_ptr<Spill>> Spill::open(const Options &options,
                                             int64_t bytes) {
  StoreOptions given;
  given.folders = options.spill;
  int64_t memory = options.compile.codegen.memory.bytes;
  given.memory = static_cast<uint64_t>(
      runtime::storeShare(memory > 0 ? memory : int64_t(256) << 20));
  // What rounds records up, and each folder has a part of it.
  constexpr uint64_t slack = uint64_t(64) << 20;
  given.capacity = static_cast<uint64_t>(bytes) + slack * given.folders.size();
  if (const char *faults = std::getenv("DRAWLOOM_OFFLOAD_FAULTS"))
    given.faults = faults;
  if (runtime::Status status = Store::check(given); !status.ok())
    return createStringError("--spill: " + status.message());
  runtime::Result<std::unique_ptr<Store>> store = Store::open(given);
  if (!store.ok())
    return createStringError("--spill: " + store.message());
  return std::unique_ptr<Spill>(new Spill(std::move(*store)));
}

Spill::~Spill() {
  if (runtime::Status closed = Store::close(std::move(store), -1); !closed.ok())
    WithColor::warning(errs(), "drawloom-run") << closed.message() << '\n';
}

namespace {
class Stopwatch {
public:
  double seconds() const {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
};
} // namespace

/// Writes and reads so many records of 8 MiB, and gives the bytes a second of
/// both.
static Expected<std::pair<double, double>>
timeStore(Store &store, const void *data, size_t bytes, unsigned count) {
  std::vector<RecordId> records(count);
  std::string why;
  auto failed = [&] { return createStringError("--calibrate: " + why); };
  Stopwatch writing;
  for (RecordId &record : records)
    if (store.put(data, bytes, "calibration", 0, /*persistent=*/false,
                  /*nanoseconds=*/-1, record, why) != Outcome::Ready)
      return failed();
  if (store.finish(-1, why) != Outcome::Ready)
    return failed();
  double written = writing.seconds();
  std::vector<char> into(bytes);
  Stopwatch reading;
  if (store.expect(records.data(), count, why) != Outcome::Ready)
    return failed();
  for (RecordId record : records) {
    uint64_t progress = 0;
    if (store.get(record, into.data(), -1, progress, why) != Outcome::Ready ||
        store.drop(record, why) != Outcome::Ready)
      return failed();
  }
  double all = static_cast<double>(bytes) * count;
  return std::pair(all / written, all / reading.seconds());
}

Error calibrate(const Options &options) {
  constexpr size_t bytes = 8 << 20;
  constexpr unsigned count = 96;
  std::optional<report::Roofs> roofs =
      report::measureRoofs(options.threads, options.compile.codegen.isa);
  std::optional<runtime::AlignedBuffer> data =
      runtime::AlignedBuffer::allocate(bytes);
  if (!roofs || !data)
    return createStringError("--calibrate: this machine lacks the memory for "
                             "it, 200 MiB");
  std::memset(data->data(), 1, bytes);
  // As values are copied, by the threads that run programs; with a checksum,
  // which takes about as long as the copy itself.
  std::vector<char> copy(bytes);
  runtime::PoolHost pool{&runtime::ThreadPool::shared(), options.threads,
                         nullptr, 0};
  DrawloomHost host = pool.host();
  void *places[] = {copy.data(), data->data()};
  constexpr int copies = 32, parts = 8;
  Stopwatch copying;
  for (int i = 0; i < copies; ++i)
    host.parallelFor(
        host.context,
        [](void **arguments, int64_t lo, int64_t hi, void *) {
          size_t begin = static_cast<size_t>(lo) * (bytes / parts);
          std::memcpy(static_cast<char *>(arguments[0]) + begin,
                      static_cast<const char *>(arguments[1]) + begin,
                      static_cast<size_t>(hi - lo) * (bytes / parts));
        },
        places, parts);
  double copied = copies * static_cast<double>(bytes) / copying.seconds() / 2;
  std::string disk;
  if (!options.spill.empty()) {
    Expected<std::unique_ptr<Spill>> spill =
        Spill::open(options, static_cast<int64_t>(bytes) * count);
    if (!spill)
      return spill.takeError();
    Expected<std::pair<double, double>> rates =
        timeStore((*spill)->records(), data->data(), bytes, count);
    if (!rates)
      return rates.takeError();
    disk = formatv(",write={0:E2},read={1:E2}", rates->first, rates->second);
  }
  // Programs reach about half of what multiply-adds from registers do.
  outs() << formatv(
                "--memory-rates=operations={0:E2},memory={1:E2},copy={2:E2}",
                roofs->operationsPerSecond / 2, roofs->bytesPerSecond, copied)
         << disk << '\n';
  return Error::success();
}

} // namespace drawloom::run
