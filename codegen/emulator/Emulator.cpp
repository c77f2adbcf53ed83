//===- Emulator.cpp - running GPU kernels on the CPU ----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/emulator/Emulator.h"
#include "codegen/emulator/Jit.h"
#include "codegen/emulator/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using llvm::createStringError;
using llvm::Expected;

namespace drawloom::emulator {

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
  if (auto bytes =
          function->getAttrOfType<IntegerAttr>("drawloom.shared_bytes"))
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

/// The pass has checked that the numbers are there.
static Element elementOf(DictionaryAttr meant) {
  auto numbers = [&](StringRef name) -> ArrayRef<int64_t> {
    auto found = meant.getAs<DenseI64ArrayAttr>(name);
    return found ? found.asArrayRef() : ArrayRef<int64_t>();
  };
  auto digits = [&](StringRef name) {
    std::vector<Element::Digit> found;
    for (ArrayRef<int64_t> rest = numbers(name); rest.size() >= 2;
         rest = rest.drop_front(2))
      found.push_back({rest[0], rest[1]});
    return found;
  };
  Element element;
  element.at = numbers("at");
  element.sizes = numbers("sizes");
  element.strides = numbers("strides");
  element.threads = digits("threads");
  element.registers = digits("registers");
  if (ArrayRef<int64_t> buffer = numbers("buffer"); buffer.size() == 2) {
    element.start = buffer[0];
    element.bytes = buffer[1];
  }
  if (ArrayRef<int64_t> moves = numbers("moves"); moves.size() == 3) {
    element.fixed = moves[0];
    element.step = moves[1];
    element.limit = moves[2];
  }
  return element;
}

Expected<std::unique_ptr<Module>> Module::load(ModuleOp module) {
  std::unique_ptr<Module> result(new Module());
  DataLayout layout(module);
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    if (!function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
      continue;
    Expected<KernelInfo> info = describeKernel(function, layout);
    if (!info)
      return info.takeError();
    result->infos.push_back(std::move(*info));
  }

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
  PassManager pm(module.getContext());
  pm.addPass(createEmulatorInterceptNvvm());
  if (failed(pm.run(*clone)))
    return createStringError("the module cannot be emulated: " + problems);
  for (Attribute text : (*clone)->getAttrOfType<ArrayAttr>(sitesAttr))
    result->sites.push_back(cast<StringAttr>(text).str());
  (*clone)->removeAttr(sitesAttr);
  if (auto meant = (*clone)->getAttrOfType<ArrayAttr>(elementsAttr))
    for (Attribute one : meant)
      result->elements.push_back(elementOf(cast<DictionaryAttr>(one)));
  (*clone)->removeAttr(elementsAttr);

  Expected<std::unique_ptr<Jit>> jit = Jit::create(*clone);
  if (!jit)
    return problems.empty()
               ? jit.takeError()
               : llvm::joinErrors(jit.takeError(), createStringError(problems));
  result->jit = std::move(*jit);
  std::vector<GlobalMemory::Range> constants;
  for (auto global : clone->getOps<LLVM::GlobalOp>()) {
    Expected<void *> address = result->jit->lookup(global.getSymName());
    if (!address)
      return address.takeError();
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

} // namespace drawloom::emulator
