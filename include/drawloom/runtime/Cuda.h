//===- Cuda.h - kernels of a bundle on an NVIDIA GPU ------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Opens the CUDA driver on request, loads a bundle of kernels, and launches
// them on the caller's stream. Builds without CUDA and LLVM. Errors are values;
// the only exception thrown is for lack of host memory. docs/gpu-runtime.md
// explains more.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_CUDA_H
#define DRAWLOOM_RUNTIME_CUDA_H

#include "drawloom/runtime/Status.h"
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace drawloom::runtime::cuda {

using runtime::Result;
using runtime::Status;

enum class Kind { Pointer, I1, I8, I16, I32, I64, F16, BF16, F32, F64 };

struct Parameter {
  std::string name;
  Kind kind = Kind::Pointer;
  uint64_t alignment = 1; ///< Of a pointer.
  bool nonnull = false;
  uint64_t bytes = 0;   ///< Accessible bytes behind a pointer; 0: unknown.
  bool written = false; ///< The kernel writes through this pointer, which must
                        ///< overlap no other.
};

/// A kernel as its bundle describes it.
struct KernelInfo {
  std::string name;
  std::vector<Parameter> parameters;
  unsigned threads = 0;    ///< Per block.
  int64_t sharedBytes = 0; ///< Dynamic shared memory.
  int64_t registers = -1;  ///< Per thread; once loaded, the driver's figure.
  int64_t spillBytes = -1; ///< Spilled bytes per thread; -1: unknown.
  std::string cubin, ptx; ///< Names of files in the bundle; cubin may be empty.
};

/// The kernels for one architecture.
struct ArchitectureInfo {
  std::string name;        ///< sm_90a
  unsigned capability = 0; ///< 90
  bool specific = false;   ///< Runs on exactly this capability.
  std::vector<KernelInfo> kernels;
  std::string plan; ///< How entries become launches, as JSON; not parsed here.
};

/// A bundle in memory. Reading one checks its version, sizes and checksums.
class Bundle {
public:
  static Result<std::shared_ptr<Bundle>> fromFolder(const std::string &folder);
  /// Reads a packed bundle; the bytes are copied.
  static Result<std::shared_ptr<Bundle>> fromMemory(const void *data,
                                                    size_t size);

  const std::vector<ArchitectureInfo> &architectures() const { return list; }
  /// Returns the checked contents of a file. If the bundle is a folder, the
  /// file is read from disk now.
  Result<std::string> read(const std::string &path) const;

private:
  struct File {
    std::string path, digest;
    size_t bytes = 0, offset = 0;
  };
  Status parse(const std::string &manifest);

  std::vector<ArchitectureInfo> list;
  std::vector<File> files;
  std::string folder, packed;
};

struct Api; // The driver's functions.

/// The opened driver. Any number of threads may use it.
class Driver {
public:
  /// Opens libcuda.so.1, or the library that DRAWLOOM_LIBCUDA names. Fails if
  /// there is no driver, if it is too old, or if it finds no device.
  static Result<std::shared_ptr<Driver>> open();
  ~Driver();

  int deviceCount() const { return devices; }
  /// Returns the newest CUDA version that the driver supports, as 1000 * major
  /// + 10 * minor.
  int version() const { return newest; }
  const Api &api() const { return *functions; }
  /// Returns the driver's name for an error code, together with the code.
  std::string describe(int code) const;

private:
  Driver() = default;
  void *library = nullptr;
  std::unique_ptr<Api> functions;
  int devices = 0, newest = 0;
};

/// One GPU, with the primary context, which the CUDA runtime, torch and Triton
/// also use.
class Device {
public:
  static Result<std::shared_ptr<Device>> open(std::shared_ptr<Driver> driver,
                                              int ordinal = 0);
  /// Opens the device of the calling thread's context, which torch and the CUDA
  /// runtime set; if there is none, the first device.
  static Result<std::shared_ptr<Device>>
  openCurrent(std::shared_ptr<Driver> driver);
  /// Opens the driver, and the device with the given number, or the current
  /// device if the number is negative.
  static Result<std::shared_ptr<Device>> openNumber(int number);
  ~Device();

  const std::string &name() const { return productName; }
  int number() const { return ordinal; } ///< As numbered by the driver.
  unsigned capability() const { return version; } ///< 10 * major + minor.
  int64_t sharedLimit() const { return shared; }  ///< Bytes per block.
  int multiprocessors() const { return processors; }
  /// Waits for all work of the device. If it failed, the error names the last
  /// kernel.
  Status synchronize();

  /// Copy memory in stream order. `device` pointers point to device memory,
  /// others to host memory. Copies to and from the host are complete on return.
  Status upload(void *device, const void *host, size_t bytes,
                void *stream = nullptr);
  Status download(void *host, const void *device, size_t bytes,
                  void *stream = nullptr);
  Status copy(void *toDevice, const void *fromDevice, size_t bytes,
              void *stream = nullptr);
  /// Stores a number of a few bytes without waiting; a graph capture records
  /// its value.
  Status store(void *toDevice, const void *number, size_t bytes,
               void *stream = nullptr);
  /// Makes work enqueued on `after` from now on wait for the work now on
  /// `before`.
  Status order(void *before, void *after);
  /// Returns whether a stream is being captured into a graph.
  bool isCaptured(void *stream);

private:
  Status afterCopy(int code, size_t bytes);
  /// Explains why kernels cannot read at the address; empty if they can.
  /// Queries the driver the first time. If earlier work has failed, it returns
  /// empty: the launch will report that.
  std::string whyNotReadable(uint64_t address);
  friend class Module;
  friend class CachingAllocator;
  friend class ProductLibrary;
  friend class StagedRecords;
  friend class Staging;
  struct State; // State that the launches share.

  Device() = default;
  std::shared_ptr<Driver> driver;
  void *context = nullptr;
  int ordinal = 0, processors = 0;
  unsigned version = 0;
  int64_t shared = 0;
  int64_t gridLimit[3] = {};
  bool anyMemory = false; ///< Kernels may read any host memory.
  std::string productName;
  std::unique_ptr<State> state;
};

/// One argument of a launch.
struct Argument {
  Kind kind = Kind::Pointer;
  uint64_t bits = 0;           ///< The value, in the low bits.
  const char *shape = nullptr; ///< "64x2xf32", for messages; may be null.

  static Argument pointer(const void *address, const char *shape = nullptr) {
    return {Kind::Pointer, reinterpret_cast<uint64_t>(address), shape};
  }
  static Argument i1(bool value) { return {Kind::I1, value, nullptr}; }
  static Argument i8(int8_t value) { return bitsOf(Kind::I8, value); }
  static Argument i16(int16_t value) { return bitsOf(Kind::I16, value); }
  static Argument i32(int32_t value) { return bitsOf(Kind::I32, value); }
  static Argument i64(int64_t value) { return bitsOf(Kind::I64, value); }
  static Argument f32(float value) { return bitsOf(Kind::F32, value); }
  static Argument f64(double value) { return bitsOf(Kind::F64, value); }
  /// Makes an argument from the 16 bits of a half-precision number.
  static Argument f16(uint16_t bits) { return bitsOf(Kind::F16, bits); }
  static Argument bf16(uint16_t bits) { return bitsOf(Kind::BF16, bits); }

private:
  template <typename T> static Argument bitsOf(Kind kind, T value) {
    Argument argument;
    argument.kind = kind;
    static_assert(sizeof(T) <= sizeof(uint64_t));
    __builtin_memcpy(&argument.bits, &value, sizeof(T));
    return argument;
  }
};

struct Grid {
  int64_t x = 1, y = 1, z = 1; ///< Number of blocks.
};

/// The kernels of a bundle, loaded onto a device.
class Module {
public:
  /// Loads the best code for the device: code for its own architecture, else a
  /// cubin of the same generation, else PTX, which the driver assembles. If the
  /// driver refuses a cubin, as drivers older than the assembler do, the PTX
  /// beside it is loaded instead, and note() reports that. All kernels are
  /// loaded eagerly, so that a launch does nothing but launch.
  static Result<std::shared_ptr<Module>> load(std::shared_ptr<Device> device,
                                              const Bundle &bundle);
  ~Module();

  const ArchitectureInfo &architecture() const { return chosen; }
  /// Returns what the caller should know about the loading; empty if all went
  /// as expected.
  const std::string &note() const { return said; }
  /// Returns the index of a kernel for launch(); on failure the error lists the
  /// kernels that exist.
  Result<size_t> find(const std::string &kernel) const;

  /// Enqueues a kernel on `stream` (a CUstream; null is the default stream) and
  /// returns. Checks the arguments against the kernel's parameters, including
  /// pointers: memory that the kernel writes must not overlap any other
  /// argument. The first check of a pointer costs a driver call. Neither
  /// allocates device memory nor waits, so that the launch can be captured into
  /// a CUDA graph. A grid of 0 blocks launches nothing. If an earlier kernel
  /// has failed meanwhile, the error says so.
  Status launch(size_t kernel, const Grid &grid,
                const std::vector<Argument> &arguments, void *stream) const;

private:
  Module() = default;
  Status check(const KernelInfo &kernel, const Grid &grid,
               const std::vector<Argument> &arguments) const;

  std::shared_ptr<Device> device;
  ArchitectureInfo chosen;
  std::vector<void *> modules, functions;
  std::string said;
};

/// Index of the architecture that Module::load uses, and whether it uses PTX.
struct Choice {
  size_t index = 0;
  bool ptx = false;
};
Result<Choice> chooseArchitecture(const std::vector<ArchitectureInfo> &list,
                                  unsigned capability);

/// Caches released device memory in size classes, at most a quarter larger than
/// requested. Memory released on a stream is reused immediately, but only on
/// the same stream: stream order makes that safe without waiting. If the device
/// runs out of memory, cached memory is freed first, which waits for the
/// device. Memory requested while a stream is being captured into a graph
/// belongs to that capture and is reused only within it, since the graph uses
/// it at every launch. Destroying the allocator returns all memory to the
/// device.
class CachingAllocator {
public:
  explicit CachingAllocator(std::shared_ptr<Device> device);
  ~CachingAllocator();
  CachingAllocator(const CachingAllocator &) = delete;
  CachingAllocator &operator=(const CachingAllocator &) = delete;

  /// Allocates memory, aligned to 256 bytes; null if `bytes` is 0.
  Result<void *> allocate(size_t bytes, void *stream);
  void release(void *memory, void *stream);
  /// Frees the memory that nobody uses; waits for the device.
  Status trim();

  size_t bytesInUse() const;
  size_t bytesKept() const;

private:
  Status giveBack(bool graphsToo);

  struct State;
  std::shared_ptr<Device> device;
  std::unique_ptr<State> state;
};

} // namespace drawloom::runtime::cuda

#endif // DRAWLOOM_RUNTIME_CUDA_H
