//===- CudaTarget.cpp - NVIDIA GPUs through the CUDA driver ---------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LoadedProgram.h"
#include "codegen/nvptx/GpuTarget.h"
#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/emit/Bundle.h"
#include "codegen/nvptx/emit/Machine.h"
#include "codegen/nvptx/launch/LaunchPlan.h"
#include "drawloom/runtime/Cuda.h"
#include "drawloom/runtime/CudaProducts.h"
#include "drawloom/runtime/CudaProgram.h"
#include "passes/Block/Rows/FusedRows.h"
#include <map>
#include <mutex>

using namespace mlir;
namespace cuda = drawloom::runtime::cuda;

namespace drawloom::nvptx {
namespace {

template <typename T> llvm::Expected<T> toExpected(cuda::Result<T> result) {
  if (!result.ok())
    return llvm::createStringError(result.message());
  return std::move(*result);
}

class CudaTarget final : public GpuTarget {
public:
  explicit CudaTarget(int number) : number(number) {}

  StringRef name() const override { return cuda::targetName; }
  std::vector<std::string> instructionSets() const override {
    std::vector<std::string> names{"native"};
    for (const Architecture &arch : llvm::reverse(architectures()))
      names.push_back(arch.name.str());
    return names;
  }
  void registerPasses() const override {
    registerNvptxPasses();
    registerApplySchedule();
    registerLower();
  }

  void prepareBlocks(OpPassManager &pm,
                     const CodegenOptions &options) const override {
    if (!usesLibrary(options))
      return;
    llvm::Expected<const Architecture *> arch = firstArchitecture(options);
    if (!arch)
      // It is reported when code is to be made for it.
      return llvm::consumeError(arch.takeError());
    NvptxChooseProductsOptions products;
    products.arch = (*arch)->name.str();
    products.all = options.denseProducts == DenseProducts::Library;
    products.rows = toText(blockBudget().rows);
    pm.addPass(createNvptxChooseProducts(products));
  }

  llvm::Expected<Artifact::Variant>
  emit(ModuleOp module, const CodegenOptions &options) const override {
    llvm::Expected<const Architecture *> arch = architectureOf(options.isa);
    if (!arch)
      return arch.takeError();
    llvm::Expected<LaunchPlan> plan = planOf(module);
    if (!plan)
      return plan.takeError();
    llvm::Expected<CompiledKernels> kernels =
        compileKernels(module, **arch, KernelOptions());
    if (!kernels)
      return kernels.takeError();
    kernels->plan = toJson(*plan);
    Artifact::Variant variant;
    variant.isa = options.isa;
    variant.fingerprint = fingerprintOf(options.isa);
    for (const LaunchEntry &entry : plan->entries)
      variant.entries.push_back({entry.signature, 0});
    for (const LaunchKernel &kernel : plan->kernels)
      variant.kernels.push_back(kernel.name);
    BundleOptions bundle;
    bundle.forTriton = false;
    variant.code = packBundle(makeBundle({std::move(*kernels)}, bundle));
    return variant;
  }

protected:
  std::string fingerprintOf(StringRef isa) const override {
    llvm::Expected<const Architecture *> arch = architectureOf(isa);
    if (arch)
      return (*arch)->name.str();
    llvm::consumeError(arch.takeError());
    return "none";
  }
  std::string choicesOf(const CodegenOptions &options) const override {
    if (!usesLibrary(options))
      return "";
    return options.denseProducts == DenseProducts::Library ? "library\n"
                                                           : "estimates\n";
  }
  int64_t productWorkspace(StringRef isa) const override {
    llvm::Expected<const Architecture *> arch = architectureOf(isa);
    if (arch)
      return static_cast<int64_t>(
          cuda::productWorkspaceBytes((*arch)->capability));
    llvm::consumeError(arch.takeError());
    return GpuTarget::productWorkspace(isa);
  }
  std::optional<std::string> lacksFor(StringRef isa) const override {
    auto device = openDevice();
    if (!device)
      return llvm::toString(device.takeError());
    llvm::Expected<const Architecture *> arch = architectureOf(isa);
    if (!arch)
      return llvm::toString(arch.takeError());
    bool runs = (*arch)->specific
                    ? (*arch)->capability == (*device)->capability()
                    : (*arch)->capability <= (*device)->capability();
    if (runs)
      return std::nullopt;
    return "the device, " + (*device)->name() + ", has compute capability " +
           std::to_string((*device)->capability() / 10) + "." +
           std::to_string((*device)->capability() % 10);
  }
  MachineFacts machineOf(StringRef isa) const override {
    MachineFacts facts = GpuTarget::machineOf(isa);
    llvm::Expected<const Architecture *> arch = architectureOf(isa);
    if (arch) {
      facts.processors = nvptx::machineOf(**arch).multiprocessors;
      facts.blockBytes = (*arch)->sharedBytes;
      return facts;
    }
    llvm::consumeError(arch.takeError());
    return facts;
  }
  int64_t sharedLimit(StringRef isa) const override {
    llvm::Expected<const Architecture *> arch = architectureOf(isa);
    if (arch)
      return (*arch)->sharedBytes;
    llvm::consumeError(arch.takeError());
    return architectures().front().sharedBytes;
  }

  llvm::Expected<std::unique_ptr<Program>>
  loadVariant(const Artifact::Variant &variant) const override {
    return toProgram(cuda::loadCudaProgram(variant, number));
  }

private:
  llvm::Expected<std::shared_ptr<cuda::Device>> openDevice() const {
    return toExpected(cuda::Device::openNumber(number));
  }

  bool usesLibrary(const CodegenOptions &options) const {
    // Asked once: the answer takes time, and would hardly change.
    auto isHere = [this] {
      auto device = openDevice();
      if (!device) {
        llvm::consumeError(device.takeError());
        return false;
      }
      return cuda::ProductLibrary::open(*device).ok();
    };
    if (options.denseProducts != DenseProducts::Auto)
      return options.denseProducts != DenseProducts::Own;
    static const bool here = isHere();
    return here;
  }

  /// That whose rates are looked at where the options name several.
  llvm::Expected<const Architecture *>
  firstArchitecture(const CodegenOptions &options) const {
    llvm::Expected<std::vector<std::string>> sets = selectSets(options.isa);
    if (!sets)
      return sets.takeError();
    return architectureOf(sets->front());
  }

  /// "native" is the best for the device.
  llvm::Expected<const Architecture *> architectureOf(StringRef isa) const {
    if (isa != "native")
      return findArchitecture(isa);
    auto device = openDevice();
    if (!device)
      return device.takeError();
    const Architecture *best = nullptr;
    for (const Architecture &arch : architectures())
      if (arch.specific ? arch.capability == (*device)->capability()
                        : arch.capability <= (*device)->capability())
        best = &arch;
    if (best)
      return best;
    return llvm::createStringError(
        "the device, " + (*device)->name() + ", has compute capability " +
        Twine((*device)->capability() / 10) + "." +
        Twine((*device)->capability() % 10) +
        ", for which no code can be made; known are " + architectureNames());
  }

  /// Of the device; below 0 the calling thread's.
  const int number;
};

} // namespace

const CompileTarget &cudaTarget(int device) {
  static std::mutex mutex;
  static auto &targets = *new std::map<int, CudaTarget>;
  std::lock_guard<std::mutex> lock(mutex);
  return targets.try_emplace(device, device).first->second;
}

} // namespace drawloom::nvptx
