//===- Driver.h - the state behind an emulated libcuda ----------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The CUDA driver's functions as the API reference describes them, for programs
// that open libcuda.so.1: contexts, memory, streams, events, graphs, modules
// and launches. Launches run on the emulator. docs/gpu-emulator.md lists the
// environment variables.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_TEST_EMULATED_DRIVER_DRIVER_H
#define DRAWLOOM_TEST_EMULATED_DRIVER_DRIVER_H

#include "codegen/emulator/Emulator.h"
#include "mlir/IR/MLIRContext.h"
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace drawloom::driver {

/// The values of CUresult that occur here.
enum Result : int {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NotInitialized = 3,
  NoDevice = 100,
  InvalidDevice = 101,
  InvalidImage = 200,
  InvalidContext = 201,
  NoBinaryForGpu = 209,
  FileNotFound = 301,
  InvalidHandle = 400,
  NotFound = 500,
  NotReady = 600,
  LaunchFailed = 719,
  NotSupported = 801,
  CaptureUnsupported = 900,
  CaptureInvalidated = 901,
  CaptureUnmatched = 903,
};

using DevicePointer = uint64_t;
using Operation = std::function<void()>;

/// What a capture forbids, and to whom.
enum class CaptureMode : int { Global = 0, ThreadLocal = 1, Relaxed = 2 };

struct Graph {
  std::vector<Operation> operations;
  /// Of the capture that made it: its number, who may not do what, and whether
  /// something forbidden was done, which ends it.
  uint64_t number = 0;
  CaptureMode mode = CaptureMode::Global;
  std::thread::id thread;
  bool invalid = false;
};

struct Stream {
  int device = 0;
  /// The default stream and this one do not wait for each other.
  bool nonBlocking = false;
  /// What has been asked for and not done.
  std::deque<Operation> pending;
  /// Operations ever asked for, and ever done.
  uint64_t asked = 0, done = 0;
  Graph *capture = nullptr;
};

struct Event {
  Stream *stream = nullptr;
  /// It has happened when this many operations of the stream are done.
  uint64_t after = 0;
  Graph *capture = nullptr;
  std::shared_ptr<std::chrono::steady_clock::time_point> time;
  /// How often a query has been told that it has not happened, although it has.
  int late = 0;
};

/// A loaded image; images with the same bytes share the code.
struct LoadedCode {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  std::unique_ptr<emulator::Module> module;
};

struct Module;

struct Function {
  Module *module = nullptr;
  const emulator::KernelInfo *kernel = nullptr;
  /// Above this, launches are refused until the program asks for more.
  int64_t mostSharedBytes = 48 << 10;
  int carveout = -1;
};

struct Module {
  int device = 0;
  std::shared_ptr<LoadedCode> code;
  std::map<std::string, std::unique_ptr<Function>> functions;
};

struct Context {
  int device = 0;
  int uses = 0;
  std::map<int, size_t> limits;
};

/// Of one device: its primary context, its memory, and the default stream.
struct DeviceState {
  Context primary;
  emulator::GlobalMemory memory;
  Stream defaultStream;
};

struct Allocation {
  /// Of the host's memory, and of what the program got of it.
  void *start = nullptr;
  DevicePointer data = 0;
  uint64_t bytes = 0;
  int device = 0;

  bool holds(DevicePointer pointer, uint64_t count) const {
    return pointer >= data && count <= bytes && pointer - data <= bytes - count;
  }
};

/// All state. Every function of the API holds the mutex.
struct Driver {
  static Driver &get();

  std::recursive_mutex mutex;
  bool initialized = false;
  /// As many as DRAWLOOM_EMULATED_DEVICES says.
  std::vector<DeviceState> devices;
  std::set<Context *> contexts;
  std::map<uintptr_t, Allocation> allocations;
  std::set<Stream *> streams;
  std::set<Event *> events;
  std::set<Graph *> graphs;
  std::set<Module *> modules;
  std::map<std::string, std::weak_ptr<LoadedCode>> codes;
  std::set<Function *> functions;
  /// Of a kernel; stays until the primary context is reset.
  Result failure = Success;
  int launches = 0, allocationsMade = 0, copiesMade = 0;
  uint64_t captures = 0;

  Driver();
  /// The device of the calling thread's context; the first one without.
  DeviceState &current();

  Stream *stream(void *handle);
  /// Puts the operation behind what the stream has; does it at once unless
  /// DRAWLOOM_EMULATED_DEFER says otherwise: "side" of streams that the default
  /// one does not wait for, "main" of the others, 1 of all.
  Result enqueue(Stream &stream, Operation operation);
  void runUntil(Stream &stream, uint64_t done);
  void runAll();
  /// Waits for everything, as the functions without a stream do.
  Result synchronize();
  bool anyCapture() const;
  /// Whether a call that may wait for the device is forbidden to this thread,
  /// which ends the captures that forbid it.
  bool isForbiddenInCapture();
  bool holds(DevicePointer pointer, size_t bytes) const;
  /// The allocation that holds the address; null where none does.
  const Allocation *find(DevicePointer pointer) const;
};

/// Whether a comma-separated variable names the word; its number behind a
/// colon, else 0.
std::optional<int> variableNames(const char *variable, llvm::StringRef word);
bool isSet(const char *variable);
int number(const char *variable, int otherwise);
void logLine(const std::string &text);

/// The calling thread's contexts, the current one last.
std::vector<Context *> &contextStack();
/// What the calling thread has exchanged its mode of captures for.
CaptureMode &captureMode();

/// What a call needs before anything else.
struct Call {
  Call() : driver(Driver::get()), lock(driver.mutex) {}
  Driver &driver;
  std::lock_guard<std::recursive_mutex> lock;
};

} // namespace drawloom::driver

#define DRAWLOOM_CUDA_API extern "C" __attribute__((visibility("default"))) int

#endif // DRAWLOOM_TEST_EMULATED_DRIVER_DRIVER_H
