//===- KernelInfo.cpp - the kernels of a kernel module --------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/emit/KernelInfo.h"
#include "dialects/Drawloom/Attributes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using mlir::LLVM::LLVMFuncOp;

namespace drawloom::nvptx {

static constexpr StringLiteral kernelAttribute = "nvvm.kernel";
static constexpr StringLiteral threadsAttribute = "nvvm.reqntid";
// Triton cuts the names of its files here, and a cut name is found no more.
static constexpr size_t longestName = 150;
static constexpr unsigned globalSpace = 1, sharedSpace = 3;

static std::string print(mlir::Type type) {
  std::string text;
  raw_string_ostream(text) << type;
  return text;
}

/// What the manifest calls a type of a parameter; nothing where a kernel cannot
/// have one.
static std::optional<std::string> parameterKind(mlir::Type type) {
  if (auto pointer = dyn_cast<mlir::LLVM::LLVMPointerType>(type))
    return pointer.getAddressSpace() == globalSpace
               ? std::optional<std::string>("ptr")
               : std::nullopt;
  if (type.isSignlessInteger(1) || type.isSignlessInteger(8) ||
      type.isSignlessInteger(16) || type.isSignlessInteger(32) ||
      type.isSignlessInteger(64) || type.isF16() || type.isBF16() ||
      type.isF32() || type.isF64())
    return print(type);
  return std::nullopt;
}

static int64_t parameterBytes(StringRef kind) {
  if (kind == "ptr" || kind == "i64" || kind == "f64")
    return 8;
  if (kind == "i32" || kind == "f32")
    return 4;
  return kind == "i1" || kind == "i8" ? 1 : 2;
}

static bool isGlobalPointer(mlir::Type type) {
  auto pointer = dyn_cast<mlir::LLVM::LLVMPointerType>(type);
  return pointer && pointer.getAddressSpace() == globalSpace;
}

static Error readParameters(LLVMFuncOp kernel, KernelInfo &info) {
  ArrayRef<mlir::Type> types = kernel.getArgumentTypes();
  if (types.size() < 2 || !all_of(types.take_back(2), isGlobalPointer))
    return createStringError(
        "kernel '" + info.name +
        "' does not end with the two scratch pointers of a kernel "
        "(!llvm.ptr<1>, !llvm.ptr<1>)");
  int64_t bytes = 0;
  StringSet<> names;
  for (auto [index, type] : enumerate(types.drop_back(2))) {
    std::optional<std::string> kind = parameterKind(type);
    if (!kind)
      return createStringError(
          formatv("parameter {0} of kernel '{1}' has type {2}; a kernel takes "
                  "!llvm.ptr<1>, i1 to i64, f16, bf16, f32 and f64",
                  index, info.name, print(type)));
    auto name = kernel.getArgAttrOfType<mlir::StringAttr>(index, nameAttr);
    KernelParameter parameter;
    parameter.name = name ? name.str() : "arg" + utostr(index);
    parameter.kind = *kind;
    if (auto align = kernel.getArgAttrOfType<mlir::IntegerAttr>(
            index, mlir::LLVM::LLVMDialect::getAlignAttrName()))
      parameter.alignment = align.getInt();
    parameter.nonnull = bool(kernel.getArgAttr(
        index, mlir::LLVM::LLVMDialect::getNonNullAttrName()));
    if (auto reaches =
            kernel.getArgAttrOfType<mlir::IntegerAttr>(index, bytesAttr)) {
      parameter.bytes = reaches.getInt();
      parameter.written = !kernel.getArgAttr(
          index, mlir::LLVM::LLVMDialect::getReadonlyAttrName());
    }
    info.parameters.push_back(std::move(parameter));
    if (!names.insert(info.parameters.back().name).second)
      return createStringError("kernel '" + info.name +
                               "' has two parameters of the name '" +
                               info.parameters.back().name + "'");
    int64_t size = parameterBytes(*kind);
    bytes = alignTo(bytes, size) + size;
  }
  bytes = alignTo(bytes, 8) + 16;
  if (bytes > mostParameterBytes)
    return createStringError(formatv(
        "the parameters of kernel '{0}' take {1} bytes; a kernel has {2}",
        info.name, bytes, mostParameterBytes));
  return Error::success();
}

static Error readThreads(LLVMFuncOp kernel, KernelInfo &info) {
  auto threads =
      kernel->getAttrOfType<mlir::DenseI32ArrayAttr>(threadsAttribute);
  int64_t count = threads && threads.size() == 1 ? threads[0] : 0;
  if (count <= 0 || count % 32 != 0 || count > mostThreads)
    return createStringError(
        formatv("kernel '{0}' asks for {1} threads; {2} = array<i32: n> must "
                "hold one multiple of 32, at most {3}",
                info.name, count, threadsAttribute, mostThreads));
  info.threads = static_cast<unsigned>(count);
  return Error::success();
}

static Error readShared(LLVMFuncOp kernel, const Architecture &architecture,
                        KernelInfo &info) {
  if (auto shared = kernel->getAttrOfType<mlir::IntegerAttr>(sharedBytesAttr))
    info.sharedBytes = shared.getInt();
  int64_t bytes = info.sharedBytes + info.staticSharedBytes;
  if (info.sharedBytes < 0 || bytes > architecture.sharedBytes)
    return createStringError(formatv(
        "kernel '{0}' asks for {1} bytes of shared memory; a block has {2} on "
        "{3}",
        info.name, bytes, architecture.sharedBytes, architecture.name));
  return Error::success();
}

static Error checkName(StringRef name) {
  if (name.size() > longestName)
    return createStringError(
        formatv("the name of kernel '{0}' has {1} characters, at most {2} fit",
                name, name.size(), longestName));
  if (name.empty() || isDigit(name.front()) ||
      !all_of(name, [](char c) { return isAlnum(c) || c == '_'; }))
    return createStringError("'" + name +
                             "' is no name for a kernel: letters, digits and "
                             "underscores are");
  return Error::success();
}

Expected<std::vector<KernelInfo>>
describeKernels(mlir::ModuleOp module, const Architecture &architecture) {
  // What is left of other dialects tells that the module is not lowered.
  mlir::Operation *stranger = nullptr;
  module->walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation *op) {
    mlir::Dialect *dialect = op->getDialect();
    if (op == module ||
        isa_and_nonnull<mlir::LLVM::LLVMDialect, mlir::NVVM::NVVMDialect>(
            dialect))
      return mlir::WalkResult::advance();
    stranger = op;
    return mlir::WalkResult::interrupt();
  });
  if (stranger)
    return createStringError(
        "this is no kernel module: it holds '" +
        stranger->getName().getStringRef() +
        "', and only the llvm and nvvm dialects have machine code");

  int64_t staticShared = 0;
  mlir::DataLayout layout(module);
  for (auto global : module.getOps<mlir::LLVM::GlobalOp>())
    if (global.getAddrSpace() == sharedSpace)
      staticShared += layout.getTypeSize(global.getType()).getFixedValue();

  std::vector<KernelInfo> kernels;
  for (auto kernel : module.getOps<LLVMFuncOp>()) {
    if (!kernel->hasAttr(kernelAttribute))
      continue;
    KernelInfo info;
    info.name = kernel.getName().str();
    info.staticSharedBytes = staticShared;
    if (Error error = checkName(info.name))
      return error;
    if (kernel.isExternal())
      return createStringError("kernel '" + info.name + "' has no body");
    if (Error error = readParameters(kernel, info))
      return error;
    if (Error error = readThreads(kernel, info))
      return error;
    if (Error error = readShared(kernel, architecture, info))
      return error;
    kernels.push_back(std::move(info));
  }
  if (kernels.empty())
    return createStringError("the module holds no kernel: no llvm.func has the "
                             "attribute " +
                             kernelAttribute);
  return kernels;
}

mlir::OwningOpRef<mlir::ModuleOp> extractKernel(mlir::ModuleOp module,
                                                StringRef kernel) {
  mlir::OwningOpRef<mlir::ModuleOp> copy = module.clone();
  for (auto function : make_early_inc_range(copy->getOps<LLVMFuncOp>()))
    if (function->hasAttr(kernelAttribute) && function.getName() != kernel)
      function->erase();
  return copy;
}

} // namespace drawloom::nvptx
