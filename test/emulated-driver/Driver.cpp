//===- Driver.cpp - the state behind an emulated libcuda -----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "llvm/ADT/StringRef.h"
#include <cstdlib>

namespace drawloom::driver {

Driver &Driver::get() {
  // Never destroyed: programs call while they exit.
  static Driver *driver = new Driver;
  return *driver;
}

bool isSet(const char *variable) {
  const char *value = std::getenv(variable);
  return value && *value && llvm::StringRef(value) != "0";
}

int number(const char *variable, int otherwise) {
  const char *value = std::getenv(variable);
  int result = 0;
  if (!value || llvm::StringRef(value).getAsInteger(10, result))
    return otherwise;
  return result;
}

std::optional<int> variableNames(const char *variable, llvm::StringRef word) {
  const char *value = std::getenv(variable);
  if (!value)
    return std::nullopt;
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(value).split(parts, ',');
  for (llvm::StringRef part : parts) {
    auto [name, count] = part.split(':');
    int result = 0;
    if (name != word || (!count.empty() && count.getAsInteger(10, result)))
      continue;
    return result;
  }
  return std::nullopt;
}

void logLine(const std::string &text) {
  if (const char *path = std::getenv("DRAWLOOM_EMULATOR_LOG"); path && *path)
    if (FILE *file = std::fopen(path, "a")) {
      std::fprintf(file, "%s\n", text.c_str());
      std::fclose(file);
      return;
    }
  std::fprintf(stderr, "%s\n", text.c_str());
}

Stream *Driver::stream(void *handle) {
  // The legacy and the per-thread default stream have small numbers.
  if (reinterpret_cast<uintptr_t>(handle) <= 2)
    return &current().defaultStream;
  auto *found = static_cast<Stream *>(handle);
  return streams.count(found) ? found : nullptr;
}

Driver::Driver()
    : devices(static_cast<size_t>(
          std::max(1, number("DRAWLOOM_EMULATED_DEVICES", 1)))) {
  for (size_t i = 0; i < devices.size(); ++i)
    devices[i].primary.device = devices[i].defaultStream.device =
        static_cast<int>(i);
}

std::vector<Context *> &contextStack() {
  static thread_local std::vector<Context *> stack;
  return stack;
}

CaptureMode &captureMode() {
  static thread_local CaptureMode mode = CaptureMode::Global;
  return mode;
}

DeviceState &Driver::current() {
  const std::vector<Context *> &stack = contextStack();
  return devices[stack.empty() ? 0 : static_cast<size_t>(stack.back()->device)];
}

Result Driver::enqueue(Stream &stream, Operation operation) {
  if (stream.capture) {
    if (stream.capture->invalid)
      return CaptureInvalidated;
    stream.capture->operations.push_back(std::move(operation));
    return Success;
  }
  // The default stream and the others of a device wait for each other.
  Stream &defaultStream =
      devices[static_cast<size_t>(stream.device)].defaultStream;
  if (&stream == &defaultStream) {
    for (Stream *other : streams)
      if (other->device == stream.device && !other->nonBlocking)
        runUntil(*other, other->asked);
  } else if (!stream.nonBlocking) {
    runUntil(defaultStream, defaultStream.asked);
  }
  stream.pending.push_back(std::move(operation));
  ++stream.asked;
  const char *variable = std::getenv("DRAWLOOM_EMULATED_DEFER");
  llvm::StringRef defer = variable ? variable : "";
  bool isDeferred = defer == "side"   ? stream.nonBlocking
                    : defer == "main" ? !stream.nonBlocking
                                      : isSet("DRAWLOOM_EMULATED_DEFER");
  if (!isDeferred)
    runUntil(stream, stream.asked);
  return Success;
}

void Driver::runUntil(Stream &stream, uint64_t done) {
  while (stream.done < done && !stream.pending.empty()) {
    Operation operation = std::move(stream.pending.front());
    stream.pending.pop_front();
    // Counted first: an operation may wait for an event of this stream.
    ++stream.done;
    operation();
  }
}

void Driver::runAll() {
  for (DeviceState &device : devices)
    runUntil(device.defaultStream, device.defaultStream.asked);
  for (Stream *stream : streams)
    runUntil(*stream, stream->asked);
}

bool Driver::anyCapture() const {
  for (const Stream *stream : streams)
    if (stream->capture)
      return true;
  return false;
}

bool Driver::isForbiddenInCapture() {
  bool forbidden = false;
  for (Stream *stream : streams) {
    Graph *graph = stream->capture;
    if (!graph || graph->mode == CaptureMode::Relaxed ||
        captureMode() == CaptureMode::Relaxed)
      continue;
    bool mine = graph->thread == std::this_thread::get_id();
    if (mine || (graph->mode == CaptureMode::Global &&
                 captureMode() == CaptureMode::Global))
      forbidden = graph->invalid = true;
  }
  return forbidden;
}

Result Driver::synchronize() {
  if (anyCapture())
    return CaptureUnsupported;
  runAll();
  return failure;
}

const Allocation *Driver::find(DevicePointer pointer) const {
  auto next = allocations.upper_bound(pointer);
  if (next == allocations.begin())
    return nullptr;
  const Allocation &found = std::prev(next)->second;
  return found.holds(pointer, 1) ? &found : nullptr;
}

bool Driver::holds(DevicePointer pointer, size_t bytes) const {
  const Allocation *found = find(pointer);
  return found && found->holds(pointer, bytes);
}

} // namespace drawloom::driver
