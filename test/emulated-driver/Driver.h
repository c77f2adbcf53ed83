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

struct Graph {
  std::vector<Operation> operations;
};

struct Stream {
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
  std::shared_ptr<LoadedCode> code;
  std::map<std::string, std::unique_ptr<Function>> functions;
};

struct Context {
  int uses = 0;
  std::map<int, size_t> limits;
};

/// All state. Every function of the API holds the mutex.
struct Driver {
  static Driver &get();

  std::recursive_mutex mutex;
  bool initialized = false;
  Context primary;
  std::set<Context *> contexts;
  std::map<uintptr_t, std::pair<void *, int64_t>> allocations;
  emulator::GlobalMemory memory;
  Stream defaultStream;
  std::set<Stream *> streams;
  std::set<Event *> events;
  std::set<Graph *> graphs;
  std::set<Module *> modules;
  std::map<std::string, std::weak_ptr<LoadedCode>> codes;
  std::set<Function *> functions;
  /// Of a kernel; stays until the primary context is reset.
  Result failure = Success;
  int launches = 0, allocationsMade = 0;

  Stream *stream(void *handle);
  /// Puts the operation behind what the stream has; does it at once unless
  /// DRAWLOOM_EMULATED_DEFER is set.
  Result enqueue(Stream &stream, Operation operation);
  void runUntil(Stream &stream, uint64_t done);
  void runAll();
  /// Waits for everything, as the functions without a stream do.
  Result synchronize();
  bool anyCapture() const;
  bool holds(DevicePointer pointer, size_t bytes) const;
};

/// Whether a comma-separated variable names the word; its number behind a
/// colon, else 0.
std::optional<int> variableNames(const char *variable, llvm::StringRef word);
bool isSet(const char *variable);
int number(const char *variable, int otherwise);
void logLine(const std::string &text);

/// What a call needs before anything else.
struct Call {
  Call() : driver(Driver::get()), lock(driver.mutex) {}
  Driver &driver;
  std::lock_guard<std::recursive_mutex> lock;
};

} // namespace drawloom::driver

#define DRAWLOOM_CUDA_API extern "C" __attribute__((visibility("default"))) int

#endif // DRAWLOOM_TEST_EMULATED_DRIVER_DRIVER_H
