//===- CudaProgram.cpp - compiled programs on an NVIDIA GPU ---------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "drawloom/runtime/CudaProgram.h"
#include "Staging.h"
#include "drawloom/runtime/CallersStore.h"
#include "drawloom/runtime/Cuda.h"
#include "drawloom/runtime/PlanProgram.h"
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <mutex>

namespace drawloom::runtime::cuda {

namespace {

/// A program that was loaded onto a device.
class CudaProgram final : public PlanProgram, public DeviceCalls {
public:
  CudaProgram(LaunchPlan plan, const Artifact::Variant &variant,
              std::string set, std::shared_ptr<Device> device,
              std::shared_ptr<Module> module,
              std::shared_ptr<ProductLibrary> products)
      : PlanProgram(std::move(plan), variant.entries), set(std::move(set)),
        gpu(std::move(device)), module(std::move(module)),
        products(std::move(products)),
        bytes(static_cast<int64_t>(variant.code.size())), allocator(gpu) {}

  const std::string &isa() const override { return set; }
  /// Of all architectures' files: what the driver keeps of them, it does not
  /// say.
  int64_t codeBytes() const override { return bytes; }
  int64_t keptBytes() const override {
    std::lock_guard<std::mutex> lock(mutex);
    return static_cast<int64_t>(allocator.bytesKept() +
                                idle.size() * Staging::bytes);
  }
  void trim() const override {
    (void)allocator.trim().ok();
    std::vector<std::unique_ptr<Staging>> dropped; // Freed without the lock.
    std::lock_guard<std::mutex> lock(mutex);
    dropped.swap(idle);
  }
  const DeviceCalls *onDevice() const override { return this; }

  int device() const override { return gpu->number(); }
  bool takesNumber(size_t entry, size_t argument) const override {
    return isNumber(entry, argument);
  }
  using PlanProgram::run;
  Status run(size_t entry, const void *const *arguments, void *const *results,
             void *stream, const int64_t *extents,
             const DeviceAllocator *given) const override;
  Result<void *> allocate(size_t count, void *stream) const override {
    return allocator.allocate(count, stream);
  }
  void release(void *memory, void *stream) const override {
    allocator.release(memory, stream);
  }
  Status upload(void *to, const void *from, size_t count,
                void *stream) const override {
    return gpu->upload(to, from, count, stream);
  }
  Status download(void *to, const void *from, size_t count,
                  void *stream) const override {
    return gpu->download(to, from, count, stream);
  }
  Status order(void *before, void *after) const override {
    return gpu->order(before, after);
  }

protected:
  Result<std::unique_ptr<DeviceSession>> open(unsigned) const override;

private:
  class Session;

  std::string set;
  std::shared_ptr<Device> gpu;
  std::shared_ptr<Module> module;
  /// Where the plan has products for it.
  std::shared_ptr<ProductLibrary> products;
  int64_t bytes;
  mutable CachingAllocator allocator;
  /// What no call is using of the memory between devices and stores.
  mutable std::mutex mutex;
  mutable std::vector<std::unique_ptr<Staging>> idle;
};

class CudaProgram::Session final : public DeviceSession {
public:
  Session(const CudaProgram &program, void *stream,
          const DeviceAllocator *given = nullptr)
      : program(program), stream(stream), given(given) {}
  ~Session() override {
    for (void *memory : memories)
      if (given)
        given->release(given->context, memory, stream);
      else
        program.allocator.release(memory, stream);
  }

  Result<void *> allocate(int64_t count) override {
    size_t bytes = static_cast<size_t>(std::max<int64_t>(count, 1));
    if (given) {
      void *memory = given->allocate(given->context, bytes, stream);
      if (!memory)
        return Status::error(std::to_string(bytes) + " bytes of memory on " +
                             program.gpu->name() +
                             " cannot be had: the caller's allocator has none");
      memories.push_back(memory);
      return memory;
    }
    Result<void *> memory = program.allocator.allocate(bytes, stream);
    if (memory.ok())
      memories.push_back(*memory);
    return memory;
  }
  Status upload(void *to, const void *from, int64_t count) override {
    return program.gpu->upload(to, from, static_cast<size_t>(count), stream);
  }
  Status download(void *to, const void *from, int64_t count) override {
    return program.gpu->download(to, from, static_cast<size_t>(count), stream);
  }
  Status store(void *to, const void *number, int64_t count) override {
    return program.gpu->store(to, number, static_cast<size_t>(count), stream);
  }
  Status copy(void *to, const void *from, int64_t count) override {
    return program.gpu->copy(to, from, static_cast<size_t>(count), stream);
  }
  Status launch(const LaunchKernel &kernel,
                const std::vector<Argument> &given) override {
    Result<size_t> index = program.module->find(kernel.name);
    if (!index.ok())
      return index.status();
    std::vector<cuda::Argument> arguments;
    for (const Argument &argument : given)
      arguments.push_back(argument.number
                              ? number(argument.element, argument.number)
                              : cuda::Argument::pointer(argument.memory));
    Grid grid;
    grid.x = kernel.grid;
    return program.module->launch(*index, grid, arguments, stream);
  }
  Status multiply(const Product &product,
                  const ProductOperands &operands) override {
    return program.products->multiply(product, operands, stream);
  }
  Result<std::unique_ptr<DeviceRecords>>
  records(const Signature &signature) override;

private:
  static cuda::Argument number(ElementType element, const void *at) {
    auto read = [&](auto value) {
      std::memcpy(&value, at, sizeof(value));
      return value;
    };
    switch (element) {
    case ElementType::F64:
      return cuda::Argument::f64(read(0.0));
    case ElementType::F32:
      return cuda::Argument::f32(read(0.0f));
    case ElementType::BF16:
      return cuda::Argument::bf16(read(uint16_t()));
    case ElementType::F16:
      return cuda::Argument::f16(read(uint16_t()));
    case ElementType::I64:
      return cuda::Argument::i64(read(int64_t()));
    case ElementType::I32:
      return cuda::Argument::i32(read(int32_t()));
    case ElementType::I8:
    case ElementType::I1:
      return cuda::Argument::i8(read(int8_t()));
    }
    return {}; // All types are listed.
  }

  const CudaProgram &program;
  void *stream;
  /// The caller's; null for the program's own.
  const DeviceAllocator *given;
  std::vector<void *> memories;
};

Result<std::unique_ptr<DeviceRecords>>
CudaProgram::Session::records(const Signature &signature) {
  Result<offload::Store *> store = storeFor(signature);
  if (!store.ok())
    return store.status();
  if (program.gpu->isCaptured(stream))
    return Status::error("@" + signature.name +
                         " keeps values outside memory for some time: a call "
                         "of it cannot be captured into a CUDA graph");
  std::unique_ptr<Staging> staging;
  {
    std::lock_guard<std::mutex> lock(program.mutex);
    if (!program.idle.empty()) {
      staging = std::move(program.idle.back());
      program.idle.pop_back();
    }
  }
  if (!staging) {
    Result<std::unique_ptr<Staging>> made = Staging::make(program.gpu);
    if (!made.ok())
      return made.status();
    staging = std::move(*made);
  }
  const CudaProgram &owner = program;
  return std::unique_ptr<DeviceRecords>(std::make_unique<StagedRecords>(
      std::move(staging), **store, signature, stream,
      [&owner](std::unique_ptr<Staging> used) {
        std::lock_guard<std::mutex> lock(owner.mutex);
        // Calls at once have one each; what more than two leave is freed.
        if (owner.idle.size() < 2)
          owner.idle.push_back(std::move(used));
      }));
}

Result<std::unique_ptr<DeviceSession>> CudaProgram::open(unsigned) const {
  return std::unique_ptr<DeviceSession>(
      std::make_unique<Session>(*this, /*stream=*/nullptr));
}

Status CudaProgram::run(size_t entry, const void *const *arguments,
                        void *const *results, void *stream,
                        const int64_t *extents,
                        const DeviceAllocator *given) const {
  Session session(*this, stream, given);
  return follow(session, entry, arguments, results, /*profile=*/nullptr,
                extents);
}

} // namespace

/// Whether the plan is that of the variant's functions, and gives each kernel
/// what it takes.
static Status checkPlan(const LaunchPlan &plan,
                        const Artifact::Variant &variant,
                        const ArchitectureInfo &info) {
  auto same = [](const LaunchEntry &a, const Artifact::Entry &b) {
    return a.signature.name == b.signature.name &&
           a.signature.arguments == b.signature.arguments &&
           a.signature.results == b.signature.results &&
           a.signature.openExtents == b.signature.openExtents;
  };
  if (!std::equal(plan.entries.begin(), plan.entries.end(),
                  variant.entries.begin(), variant.entries.end(), same))
    return Status::error("its launch plan is that of other functions");
  for (const LaunchKernel &kernel : plan.kernels) {
    auto known = std::find_if(
        info.kernels.begin(), info.kernels.end(),
        [&](const KernelInfo &other) { return other.name == kernel.name; });
    if (known == info.kernels.end())
      return Status::error("it has no code of kernel '" + kernel.name + "'");
    for (const LaunchEntry &entry : plan.entries)
      for (const LaunchStep &step : entry.steps) {
        if (step.kernel != kernel.name)
          continue;
        bool fits = step.operands.size() == known->parameters.size();
        for (size_t i = 0; fits && i < step.operands.size(); ++i) {
          bool isNumber = step.operands[i].kind == LaunchOperand::Scalar ||
                          step.operands[i].kind == LaunchOperand::Extent ||
                          step.operands[i].kind == LaunchOperand::Number;
          // Of what grows with extents, a kernel says no bytes.
          int64_t bytes =
              std::max<int64_t>(0, bytesBehind(entry, step.operands[i]));
          fits = isNumber ||
                 known->parameters[i].bytes <= static_cast<uint64_t>(bytes);
        }
        if (!fits)
          return Status::error("the plan of '" + entry.signature.name +
                               "' gives kernel '" + kernel.name +
                               "' other arguments than it takes");
      }
  }
  return {};
}

/// Loads the best of some variants.
static Result<std::unique_ptr<Executable>>
load(const std::vector<const Artifact::Variant *> &variants, int number) {
  Result<std::shared_ptr<Device>> device = Device::openNumber(number);
  if (!device.ok())
    return device.status();
  // A bundle may have code for several architectures.
  std::vector<std::shared_ptr<Bundle>> bundles;
  std::vector<ArchitectureInfo> all;
  std::vector<size_t> owners;
  for (size_t i = 0; i < variants.size(); ++i) {
    Result<std::shared_ptr<Bundle>> bundle =
        Bundle::fromMemory(variants[i]->code.data(), variants[i]->code.size());
    if (!bundle.ok())
      return bundle.status();
    for (const ArchitectureInfo &info : (*bundle)->architectures()) {
      all.push_back(info);
      owners.push_back(i);
    }
    bundles.push_back(std::move(*bundle));
  }
  Result<Choice> choice = chooseArchitecture(all, (*device)->capability());
  if (!choice.ok())
    return Status::error((*device)->name() + ": " + choice.message());
  const ArchitectureInfo &info = all[choice->index];
  size_t owner = owners[choice->index];
  auto failed = [&](const Status &status) {
    return Status::error("its code for " + info.name +
                         " is not loaded: " + status.message());
  };
  Result<LaunchPlan> plan = parsePlan(info.plan);
  if (!plan.ok())
    return failed(plan.status());
  if (Status status = checkPlan(*plan, *variants[owner], info); !status.ok())
    return failed(status);
  std::shared_ptr<ProductLibrary> products;
  if (plan->hasProducts()) {
    Result<std::shared_ptr<ProductLibrary>> opened =
        ProductLibrary::open(*device);
    if (!opened.ok())
      return failed(opened.status());
    products = *opened;
  }
  Result<std::shared_ptr<Module>> module =
      Module::load(*device, *bundles[owner]);
  if (!module.ok())
    return module.status();
  if (!(*module)->note().empty())
    std::fprintf(stderr, "drawloom: %s\n", (*module)->note().c_str());
  return std::unique_ptr<Executable>(
      std::make_unique<CudaProgram>(std::move(*plan), *variants[owner],
                                    info.name, *device, *module, products));
}

Result<std::unique_ptr<Executable>>
loadCudaProgram(const Artifact::Variant &variant, int device) {
  return load({&variant}, device);
}

Result<std::unique_ptr<Executable>>
loadCudaProgram(const Artifact &artifact, const std::string &isa, int device) {
  std::vector<const Artifact::Variant *> variants;
  std::string known;
  for (const Artifact::Variant &variant : artifact.variants) {
    if (variant.target != targetName)
      continue;
    known += (known.empty() ? "'" : ", '") + variant.isa + "'";
    if (isa.empty() || isa == variant.isa)
      variants.push_back(&variant);
  }
  if (known.empty())
    return Status::error("the program holds no code for GPUs");
  if (variants.empty())
    return Status::error("the program holds no code for architecture '" + isa +
                         "'; it has " + known);
  return load(variants, device);
}

} // namespace drawloom::runtime::cuda
