//===- Staging.cpp - from a device to a store and back --------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Staging.h"
#include "Device.h"
#include <algorithm>

namespace drawloom::runtime::cuda {

using offload::Outcome, offload::RecordId;

/// What a thread waits for the store before it looks at the device again.
static constexpr int64_t sliceNanoseconds = 1'000'000;

//===----------------------------------------------------------------------===//
// Staging
//===----------------------------------------------------------------------===//

Result<std::unique_ptr<Staging>> Staging::make(std::shared_ptr<Device> device) {
  std::unique_ptr<Staging> staging(new Staging(device));
  if (int code = staging->setUp(); code != success)
    return Status::error(
        device->name() + " gives no memory of " + std::to_string(bytes) +
        " bytes that values can leave it by, or no streams for that: " +
        device->driver->describe(code));
  return staging;
}

int Staging::setUp() {
  const Api &api = device->driver->api();
  CurrentContext current(api, device->context);
  int code = current.code;
  if (code == success)
    code = api.hostAllocate(&pinned, bytes, hostAllocatePortable);
  auto *memory = static_cast<char *>(pinned);
  for (Lane *lane : {&out, &in}) {
    // Else each launch on the legacy stream would wait for all copies.
    if (code == success)
      code = api.streamCreate(&lane->stream, streamNonBlocking);
    for (size_t i = 0; code == success && i < slotsOfLane; ++i) {
      Slot &slot = lane->slots.emplace_back();
      slot.memory = memory;
      memory += partBytes;
      code = api.eventCreate(&slot.event, eventDisableTiming);
    }
  }
  return code;
}

Staging::~Staging() {
  const Api &api = device->driver->api();
  CurrentContext current(api, device->context);
  for (Lane *lane : {&out, &in}) {
    if (lane->stream) {
      api.streamSynchronize(lane->stream);
      api.streamDestroy(lane->stream);
    }
    for (Slot &slot : lane->slots)
      if (slot.event)
        api.eventDestroy(slot.event);
  }
  if (pinned)
    api.hostFree(pinned);
}

//===----------------------------------------------------------------------===//
// One call
//===----------------------------------------------------------------------===//

StagedRecords::StagedRecords(
    std::unique_ptr<Staging> given, offload::Store &store,
    const Signature &signature, void *stream,
    std::function<void(std::unique_ptr<Staging>)> giveBack)
    : staging(std::move(given)), store_(store), signature(signature),
      stream(stream), giveBack(std::move(giveBack)),
      api(staging->device->driver->api()),
      current(api, staging->device->context),
      values(static_cast<size_t>(signature.records)) {
  check(current.code);
}

StagedRecords::~StagedRecords() {
  // Also behind an error: memory of the call may be another one's next.
  for (Staging::Lane *lane : {&staging->out, &staging->in}) {
    void *event = nullptr;
    if (api.eventCreate(&event, eventDisableTiming) != success)
      continue;
    if (api.eventRecord(event, lane->stream) == success)
      api.streamWaitEvent(stream, event, 0);
    api.eventDestroy(event);
  }
  for (auto &[job, slot] : copying)
    slot->isInUse = true;
  std::string why;
  for (Value &value : values) {
    for (void **event :
         {&value.ready, &value.freed, &value.copied, &value.arrived})
      forget(*event);
    for (Part &part : value.parts)
      if (part.id.generation != 0)
        store_.drop(part.id, why);
  }
  giveBack(std::move(staging));
}

bool StagedRecords::check(int code) {
  if (code != success && failure.ok())
    failure = Status::error("values of @" + signature.name + " cannot leave " +
                            staging->device->name() + " or come back: " +
                            staging->device->driver->describe(code) + ". " +
                            staging->device->state->lastLaunch());
  return failure.ok();
}

bool StagedRecords::check(Outcome outcome, const std::string &why) {
  if (outcome != Outcome::Ready && outcome != Outcome::Wait && failure.ok())
    failure = Status::storageError(why);
  return failure.ok();
}

bool StagedRecords::checkPlan(bool isRight) {
  if (!isRight && failure.ok())
    failure = Status::error("the plan of '" + signature.name +
                            "' has transfers that do not go together");
  return failure.ok();
}

bool StagedRecords::record(void *&event, void *on) {
  forget(event);
  return check(api.eventCreate(&event, eventDisableTiming)) &&
         check(api.eventRecord(event, on));
}

bool StagedRecords::waitFor(void *event, void *on) {
  return check(api.streamWaitEvent(on, event, 0));
}

void StagedRecords::forget(void *&event) {
  if (event)
    api.eventDestroy(event);
  event = nullptr;
}

bool StagedRecords::hasHappened(void *event) {
  int code = api.eventQuery(event);
  return code != notReady && check(code);
}

bool StagedRecords::issueOut() {
  Staging::Lane &lane = staging->out;
  Staging::Slot &slot = lane.slots[lane.next];
  // Of an earlier call that has failed, or of this one.
  if (waiting.empty() || copying.size() == lane.slots.size() ||
      (slot.isInUse && !hasHappened(slot.event)))
    return false;
  slot.isInUse = false;
  Job job = waiting.front();
  Value &value = values[job.value];
  Part &part = value.parts[job.part];
  if ((job.part == 0 && !waitFor(value.ready, lane.stream)) ||
      !check(api.copyToHost(
          slot.memory, reinterpret_cast<DevicePointer>(value.from + part.begin),
          part.bytes, lane.stream)) ||
      !check(api.eventRecord(slot.event, lane.stream)))
    return false;
  lane.next = (lane.next + 1) % lane.slots.size();
  waiting.pop_front();
  copying.emplace_back(job, &slot);
  return job.part + 1 < value.parts.size() || record(value.copied, lane.stream);
}

bool StagedRecords::stepOut(bool waits) {
  bool changed = false;
  while (failure.ok() && issueOut())
    changed = true;
  if (!failure.ok() || copying.empty())
    return changed;
  auto &[job, slot] = copying.front();
  if (!hasHappened(slot->event)) {
    if (!waits || changed || !failure.ok() ||
        !check(api.eventSynchronize(slot->event)))
      return changed;
  }
  Part &part = values[job.value].parts[job.part];
  std::string why,
      site = "value " + std::to_string(job.value) + " of @" + signature.name;
  Outcome outcome =
      store_.put(slot->memory, part.bytes, site.c_str(), job.value,
                 /*persistent=*/false, waits && !changed ? sliceNanoseconds : 0,
                 part.id, why);
  if (!check(outcome, why) || outcome == Outcome::Wait)
    return changed;
  part.isPut = true;
  size_t number = job.value;
  copying.pop_front();
  if (std::find(loaded.begin(), loaded.end(), number) != loaded.end())
    expect();
  return failure.ok();
}

bool StagedRecords::stepIn(bool waits) {
  if (!failure.ok() || wanted.empty())
    return false;
  Job job = wanted.front();
  Value &value = values[job.value];
  Part &part = value.parts[job.part];
  if (!part.isPut)
    return stepOut(waits);
  Staging::Lane &lane = staging->in;
  Staging::Slot &slot = lane.slots[lane.next];
  if (slot.isInUse && !hasHappened(slot.event) &&
      (!waits || !failure.ok() || !check(api.eventSynchronize(slot.event))))
    return false;
  slot.isInUse = false;
  std::string why;
  Outcome outcome =
      store_.get(part.id, slot.memory, waits ? sliceNanoseconds : 0, read, why);
  if (!check(outcome, why) || outcome == Outcome::Wait)
    return false;
  read = 0;
  wanted.pop_front();
  if ((job.part == 0 && !waitFor(value.freed, lane.stream)) ||
      !check(api.copyToDevice(
          reinterpret_cast<DevicePointer>(value.to + part.begin), slot.memory,
          part.bytes, lane.stream)) ||
      !check(api.eventRecord(slot.event, lane.stream)))
    return false;
  slot.isInUse = true;
  lane.next = (lane.next + 1) % lane.slots.size();
  return job.part + 1 < value.parts.size() ||
         record(value.arrived, lane.stream);
}

Status StagedRecords::progress() {
  while (stepOut(/*waits=*/false) || stepIn(/*waits=*/false))
    ;
  return failure;
}

void StagedRecords::store(size_t number, void *memory, uint64_t bytes) {
  Value &value = values[number];
  if (!checkPlan(value.parts.empty()))
    return;
  value.from = static_cast<char *>(memory);
  value.bytes = bytes;
  for (uint64_t begin = 0; begin < bytes; begin += Staging::partBytes) {
    waiting.push_back({number, value.parts.size()});
    value.parts.push_back({begin, std::min(Staging::partBytes, bytes - begin)});
  }
  record(value.ready, stream);
}

void StagedRecords::expect() {
  std::vector<RecordId> ids;
  for (size_t number : loaded)
    for (const Part &part : values[number].parts)
      if (part.isPut)
        ids.push_back(part.id);
  std::string why;
  if (!ids.empty())
    check(store_.expect(ids.data(), ids.size(), why), why);
}

void StagedRecords::load(size_t number) {
  loaded.push_back(number);
  expect();
}

void StagedRecords::fetch(size_t number, void *memory, uint64_t bytes) {
  Value &value = values[number];
  if (!checkPlan(value.bytes == bytes))
    return;
  value.to = static_cast<char *>(memory);
  forget(value.arrived);
  if (!record(value.freed, stream))
    return;
  for (size_t part = 0; part < value.parts.size(); ++part)
    wanted.push_back({number, part});
}

void StagedRecords::await(size_t number) {
  Value &value = values[number];
  if (!checkPlan(value.parts.empty() == (value.bytes == 0) &&
                 (value.to || value.bytes == 0)))
    return;
  while (failure.ok() && !value.parts.empty() && !value.arrived)
    if (!stepOut(/*waits=*/false))
      stepIn(/*waits=*/true);
  if (value.arrived && failure.ok())
    waitFor(value.arrived, stream);
  // Another time, it has to be fetched again.
  value.to = nullptr;
  forget(value.arrived);
  loaded.erase(std::remove(loaded.begin(), loaded.end(), number), loaded.end());
}

void StagedRecords::release(size_t number) {
  Value &value = values[number];
  while (failure.ok() && !value.parts.empty() && !value.copied)
    if (!stepIn(/*waits=*/false))
      stepOut(/*waits=*/true);
  if (value.copied && failure.ok())
    waitFor(value.copied, stream);
}

void StagedRecords::drop(size_t number) {
  Value &value = values[number];
  auto isUnderWay = [&] {
    return std::any_of(value.parts.begin(), value.parts.end(),
                       [](const Part &part) { return !part.isPut; });
  };
  while (failure.ok() && isUnderWay())
    stepOut(/*waits=*/true);
  for (void **event :
       {&value.ready, &value.freed, &value.copied, &value.arrived})
    forget(*event);
  std::string why;
  for (Part &part : value.parts)
    if (part.isPut)
      check(store_.drop(part.id, why), why);
  if (failure.ok())
    value = {};
}

Status StagedRecords::transfer(const LaunchTransfer &transfer, void *memory,
                               int64_t bytes) {
  if (!failure.ok())
    return failure;
  auto number = static_cast<size_t>(transfer.record);
  switch (transfer.kind) {
  case LaunchTransfer::Store:
    store(number, memory, static_cast<uint64_t>(bytes));
    break;
  case LaunchTransfer::Fetch:
    fetch(number, memory, static_cast<uint64_t>(bytes));
    break;
  case LaunchTransfer::Await:
    await(number);
    break;
  case LaunchTransfer::Release:
    release(number);
    break;
  case LaunchTransfer::Load:
    load(number);
    break;
  case LaunchTransfer::Drop:
    drop(number);
    break;
  }
  return failure.ok() ? progress() : failure;
}

} // namespace drawloom::runtime::cuda
