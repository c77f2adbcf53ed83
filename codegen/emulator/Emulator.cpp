//===- Emulator.cpp - running GPU kernels on the CPU ----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/emulator/Emulator.h"
#include "codegen/emulator/Intercept.h"
#include "codegen/emulator/Jit.h"
#include "codegen/emulator/Places.h"
#include "codegen/nvptx/emit/EmitPtx.h"
#include "dialects/Drawloom/Attributes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace mlir;
using llvm::createStringError;
using llvm::Expected;

namespace drawloom::emulator {

static constexpr unsigned sharedSpace = 3;

Module::Module() = default;
Module::~Module() = default;

static Expected<KernelInfo> describeKernel(LLVM::LLVMFuncOp function,
                                           const DataLayout &layout) {
  KernelInfo info;
  info.name = function.getName().str();
  auto threads = function->getAttrOfType<DenseI32ArrayAttr>(
      NVVM::NVVMDialect::getReqntidAttrName());
  if (!threads || threads.empty())
    return createStringError("kernel @" + info.name +
                             " does not say how many threads its blocks have "
                             "(nvvm.reqntid)");
  info.threads = 1;
  for (int32_t extent : threads.asArrayRef())
    info.threads *= extent;
  if (info.threads != threads[0] || info.threads < 32 ||
      info.threads % 32 != 0 || info.threads > 1024)
    return createStringError(
        "kernel @" + info.name +
        " has blocks that are not emulated: they must have one dimension and "
        "32 to 1024 threads, a multiple of 32");
  if (auto bytes = function->getAttrOfType<IntegerAttr>(sharedBytesAttr))
    info.sharedBytes = bytes.getInt();
  for (Type type : function.getArgumentTypes()) {
    Parameter parameter;
    parameter.kind = isa<LLVM::LLVMPointerType>(type) ? Parameter::Pointer
                     : isa<FloatType>(type)           ? Parameter::Float
                                                      : Parameter::Integer;
    parameter.bytes = static_cast<unsigned>(layout.getTypeSize(type));
    info.parameters.push_back(parameter);
  }
  return info;
}

namespace {
/// What is emitted for a GPU, with calls of the emulator in it.
struct Intercepted {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  Places places;
};
} // namespace

static Expected<Intercepted> interceptKernels(ModuleOp module, StringRef arch,
                                              ArrayRef<std::string> kernels) {
  Expected<const nvptx::Architecture *> architecture =
      nvptx::findArchitecture(arch);
  if (!architecture)
    return architecture.takeError();
  OwningOpRef<ModuleOp> clone(module.clone());
  std::string problems;
  ScopedDiagnosticHandler handler(
      module.getContext(), [&](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
          return failure();
        llvm::raw_string_ostream stream(problems);
        stream << (problems.empty() ? "" : "\n") << diagnostic.getLocation()
               << ": " << diagnostic;
        return success();
      });
  auto cannot = [](const std::string &why) {
    return createStringError("the module cannot be emulated: " + why);
  };
  Intercepted result;
  if (failed(result.places.number(*clone)))
    return cannot(problems);
  result.context = std::make_unique<llvm::LLVMContext>();
  Expected<nvptx::DeviceIr> ir = nvptx::emitDeviceIr(
      *clone, **architecture, {}, *result.context, Places::keep);
  if (!ir)
    return cannot(llvm::toString(ir.takeError()));
  result.module = std::move(ir->module);
  if (llvm::Error error = intercept(*result.module, result.places, kernels))
    return cannot(llvm::toString(std::move(error)));
  return result;
}

Expected<std::unique_ptr<Module>> Module::load(ModuleOp module,
                                               StringRef arch) {
  std::unique_ptr<Module> result(new Module());
  DataLayout layout(module);
  std::vector<std::string> kernels;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    if (!function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
      continue;
    Expected<KernelInfo> info = describeKernel(function, layout);
    if (!info)
      return info.takeError();
    kernels.push_back(info->name);
    result->infos.push_back(std::move(*info));
  }
  Expected<Intercepted> intercepted = interceptKernels(module, arch, kernels);
  if (!intercepted)
    return intercepted.takeError();
  result->sites = std::move(intercepted->places.texts);
  result->elements = std::move(intercepted->places.elements);
  Expected<std::unique_ptr<Jit>> jit = Jit::create(
      std::move(intercepted->module), std::move(intercepted->context));
  if (!jit)
    return jit.takeError();
  result->jit = std::move(*jit);
  std::vector<GlobalMemory::Range> constants;
  for (auto global : module.getOps<LLVM::GlobalOp>()) {
    if (global.getAddrSpace() == sharedSpace)
      continue;
    // One that nothing reads is gone.
    Expected<void *> address = result->jit->lookup(global.getSymName());
    if (!address) {
      llvm::consumeError(address.takeError());
      continue;
    }
    auto start = reinterpret_cast<uintptr_t>(*address);
    constants.push_back(
        {start, start + layout.getTypeSize(global.getGlobalType())});
  }
  for (const KernelInfo &info : result->infos) {
    Expected<void *> address =
        result->jit->lookup((emulatePrefix + info.name).str());
    if (!address)
      return address.takeError();
    KernelCode code;
    code.name = info.name;
    code.entry =
        reinterpret_cast<void (*)(void *, const void *const *)>(*address);
    code.threads = info.threads;
    code.sites = &result->sites;
    code.elements = &result->elements;
    code.constants = constants;
    result->codes.push_back(std::move(code));
  }
  return result;
}

const KernelInfo *Module::find(llvm::StringRef name) const {
  auto found = llvm::find_if(
      infos, [&](const KernelInfo &info) { return info.name == name; });
  return found == infos.end() ? nullptr : &*found;
}

Expected<Report> Module::launch(llvm::StringRef kernel, Grid grid,
                                llvm::ArrayRef<const void *> parameters,
                                int64_t sharedBytes,
                                const LaunchOptions &options) const {
  const KernelInfo *info = find(kernel);
  if (!info) {
    std::string known;
    for (const KernelInfo &other : infos)
      known += (known.empty() ? "@" : ", @") + other.name;
    return createStringError("the module has no kernel @" + kernel +
                             "; it has " + (known.empty() ? "none" : known));
  }
  if (parameters.size() != info->parameters.size())
    return createStringError("@" + kernel + " takes " +
                             llvm::Twine(info->parameters.size()) +
                             " parameters with the two scratch pointers, not " +
                             llvm::Twine(parameters.size()));
  Report report;
  std::string findings =
      launchKernel(codes[static_cast<size_t>(info - infos.data())], grid,
                   parameters.data(), sharedBytes, options, report);
  if (!findings.empty())
    return createStringError(findings);
  return report;
}

Expected<std::string> printIntercepted(ModuleOp module, StringRef arch) {
  std::vector<std::string> kernels;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
      kernels.push_back(function.getName().str());
  Expected<Intercepted> intercepted = interceptKernels(module, arch, kernels);
  if (!intercepted)
    return intercepted.takeError();
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (auto [i, place] : llvm::enumerate(intercepted->places.texts))
    stream << "; place " << i << ": " << place << '\n';
  stream << *intercepted->module;
  return text;
}

} // namespace drawloom::emulator
