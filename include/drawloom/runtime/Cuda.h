//===- Cuda.h - kernels of a bundle on an NVIDIA GPU ------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Opens CUDA's driver when it is asked to, loads a bundle of kernels, and
// launches them on the caller's stream. Needs neither CUDA nor LLVM to build.
// Errors are values; nothing throws, but for want of the host's own memory.
// docs/gpu-runtime.md explains.
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
  uint64_t bytes = 0;   ///< Behind a pointer; 0: not known.
  bool written = false; ///< The kernel writes there: no other one may overlap.
};

/// A kernel as its bundle describes it.
struct KernelInfo {
  std::string name;
  std::vector<Parameter> parameters;
  unsigned threads = 0;    ///< Of a block.
  int64_t sharedBytes = 0; ///< Dynamic.
  int64_t registers = -1;  ///< Of a thread; once loaded, the driver's figure.
  int64_t spillBytes = -1; ///< Stored and loaded by a thread; -1: not known.
  std::string cubin, ptx;  ///< Files of the bundle; cubin may be empty.
};

/// The kernels for one architecture.
struct ArchitectureInfo {
  std::string name;        ///< sm_90a
  unsigned capability = 0; ///< 90
  bool specific = false;   ///< Runs on this capability alone.
  std::vector<KernelInfo> kernels;
  std::string plan; ///< How entries become launches, as JSON; not read here.
};

/// A bundle in memory. Reading checks its version, sizes and checksums.
class Bundle {
public:
  static Result<std::shared_ptr<Bundle>> fromFolder(const std::string &folder);
  /// A packed bundle; the bytes are copied.
  static Result<std::shared_ptr<Bundle>> fromMemory(const void *data,
                                                    size_t size);

  const std::vector<ArchitectureInfo> &architectures() const { return list; }
  /// A file's contents, checked. From a folder it is read now.
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

/// The driver, opened. Any number of threads may use it.
class Driver {
public:
  /// Opens libcuda.so.1, or the library that DRAWLOOM_LIBCUDA names. Fails
  /// where there is none, it is too old, or it finds no device.
  static Result<std::shared_ptr<Driver>> open();
  ~Driver();

  int deviceCount() const { return devices; }
  /// 1000 * major + 10 * minor of the newest CUDA that it runs.
  int version() const { return newest; }
  const Api &api() const { return *functions; }
  /// The driver's name for an error code, with the code.
  std::string describe(int code) const;

private:
  Driver() = default;
  void *library = nullptr;
  std::unique_ptr<Api> functions;
  int devices = 0, newest = 0;
};

/// One GPU, with the context that CUDA's own runtime, torch and Triton use.
class Device {
public:
  static Result<std::shared_ptr<Device>> open(std::shared_ptr<Driver> driver,
                                              int ordinal = 0);
  /// That of the calling thread's context, which torch and CUDA's runtime set;
  /// the first one where it has none.
  static Result<std::shared_ptr<Device>>
  openCurrent(std::shared_ptr<Driver> driver);
  /// That of a number, or below 0 the current one, by a driver that is opened
  /// now.
  static Result<std::shared_ptr<Device>> openNumber(int number);
  ~Device();

  const std::string &name() const { return productName; }
  int number() const { return ordinal; }          ///< As the driver counts.
  unsigned capability() const { return version; } ///< 10 * major + minor.
  int64_t sharedLimit() const { return shared; }  ///< Of a block, bytes.
  int multiprocessors() const { return processors; }
  /// Waits for all work of the device. Names the last kernel where it failed.
  Status synchronize();

  /// Copies of memory: `device` pointers are the device's, the others the
  /// host's. In the order of the stream; those to and from the host are done
  /// when they return.
  Status upload(void *device, const void *host, size_t bytes,
                void *stream = nullptr);
  Status download(void *host, const void *device, size_t bytes,
                  void *stream = nullptr);
  Status copy(void *toDevice, const void *fromDevice, size_t bytes,
              void *stream = nullptr);
  /// Stores a number of few bytes, without waiting: a capture keeps its value.
  Status store(void *toDevice, const void *number, size_t bytes,
               void *stream = nullptr);
  /// What is put on `after` from now on waits for what is on `before` now.
  Status order(void *before, void *after);
  /// Whether a stream is being captured into a graph.
  bool isCaptured(void *stream);

private:
  Status afterCopy(int code, size_t bytes);
  /// Why kernels cannot read at the address, empty where they can; asks the
  /// driver the first time. They can where earlier work has failed: the launch
  /// will tell.
  std::string whyNotReadable(uint64_t address);
  friend class Module;
  friend class CachingAllocator;
  friend class ProductLibrary;
  friend class StagedRecords;
  friend class Staging;
  struct State; // What the launches share.

  Device() = default;
  std::shared_ptr<Driver> driver;
  void *context = nullptr;
  int ordinal = 0, processors = 0;
  unsigned version = 0;
  int64_t shared = 0;
  int64_t gridLimit[3] = {};
  bool anyMemory = false; ///< Kernels may read any memory of the host.
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
  /// The 16 bits of a number in half precision.
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
  int64_t x = 1, y = 1, z = 1; ///< Blocks.
};

/// The kernels of a bundle, loaded onto a device.
class Module {
public:
  /// Loads the best code for the device: that of its own architecture, else a
  /// cubin of the same generation, else PTX, which the driver assembles. Where
  /// the driver refuses a cubin, as one that is older than the assembler does,
  /// it gets the PTX beside it, and note() says so. All kernels are loaded now,
  /// so that a launch does nothing but launch.
  static Result<std::shared_ptr<Module>> load(std::shared_ptr<Device> device,
                                              const Bundle &bundle);
  ~Module();

  const ArchitectureInfo &architecture() const { return chosen; }
  /// What the caller should know of the loading; empty where all is as it
  /// should be.
  const std::string &note() const { return said; }
  /// The index of a kernel for launch(); names those there are in its error.
  Result<size_t> find(const std::string &kernel) const;

  /// Puts a kernel on `stream` (a CUstream; null is the default stream) and
  /// returns. Checks the arguments against the kernel's parameters, pointers
  /// included: what it writes must overlap nothing else that it is given; a
  /// pointer's check costs a call of the driver the first time.
  /// Neither allocates device memory nor waits, so that it can be captured into
  /// a CUDA graph. A grid of no blocks is no launch. Where an earlier kernel
  /// failed meanwhile, the error says so.
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

/// Index of the architecture that Module::load takes, and whether as PTX.
struct Choice {
  size_t index = 0;
  bool ptx = false;
};
Result<Choice> chooseArchitecture(const std::vector<ArchitectureInfo> &list,
                                  unsigned capability);

/// Device memory that is kept when it is released, in size classes of at most a
/// quarter more than was asked for. Memory released on a stream is given again
/// on that stream only, at once: the stream's order makes that safe, without
/// waiting. Where the device is out of memory, what is kept is given back
/// first, which waits for the device. What is asked for while a stream is
/// captured into a graph belongs to that capture: it is given again within it
/// alone, since the graph goes on using it whenever it is launched. All memory
/// goes back to the device with the allocator.
class CachingAllocator {
public:
  explicit CachingAllocator(std::shared_ptr<Device> device);
  ~CachingAllocator();
  CachingAllocator(const CachingAllocator &) = delete;
  CachingAllocator &operator=(const CachingAllocator &) = delete;

  /// A multiple of 256; null where `bytes` is 0.
  Result<void *> allocate(size_t bytes, void *stream);
  void release(void *memory, void *stream);
  /// Gives back what nobody uses; waits for the device.
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
