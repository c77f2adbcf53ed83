//===- EmulateKernels.cpp - lowered kernels as an oracle's other side -----===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/drawloom-opt/EmulateKernels.h"
#include "codegen/emulator/Emulator.h"
#include "codegen/nvptx/Passes.h"
#include "dialects/Drawloom/Attributes.h"
#include "lib/Interpreter/RawBuffer.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace drawloom {

namespace {
/// An argument in memory that is aligned as a device's is.
class Raw {
public:
  static constexpr size_t alignment = 256;

  Raw(const HostTensor &value, Type type)
      : element(getElementTypeOrSelf(type)),
        bytes(value.size() * rawElementBytes(element)),
        storage(bytes + alignment) {
    auto address = reinterpret_cast<uintptr_t>(storage.data());
    start = storage.data() + (alignment - address % alignment) % alignment;
    writeRaw(value, element, start);
  }
  HostTensor read(ArrayRef<int64_t> shape) const {
    return readRaw(shape, element, start);
  }
  void *data() { return start; }
  int64_t size() const { return bytes; }

private:
  Type element;
  int64_t bytes;
  std::vector<char> storage;
  char *start;
};
} // namespace

LogicalResult emulateKernel(func::FuncOp kernel, ModuleOp lowered,
                            MutableArrayRef<HostTensor> arguments) {
  auto error = [&](llvm::Error problem) -> LogicalResult {
    return kernel.emitError("@")
           << kernel.getName()
           << " cannot be emulated: " << llvm::toString(std::move(problem));
  };
  auto module = emulator::Module::load(lowered);
  if (!module)
    return error(module.takeError());
  emulator::GlobalMemory memory;
  std::vector<std::unique_ptr<Raw>> raw;
  SmallVector<void *> pointers(arguments.size());
  SmallVector<const void *> parameters;
  for (auto [i, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    raw.push_back(std::make_unique<Raw>(arguments[i], type));
    pointers[i] = raw.back()->data();
    if (isa<MemRefType>(type)) {
      memory.add(pointers[i], raw.back()->size());
      parameters.push_back(&pointers[i]);
    } else {
      parameters.push_back(pointers[i]);
    }
  }
  // Kernels of Triton take two pointers more, to scratch memory.
  static void *const noScratch = nullptr;
  parameters.append(2, &noScratch);
  auto number = [&](StringRef name, int64_t otherwise) {
    auto attribute = kernel->getAttrOfType<IntegerAttr>(name);
    return attribute ? attribute.getInt() : otherwise;
  };
  emulator::Grid grid;
  grid.x = number(gridAttr, 1);
  // Passes may have placed the buffers.
  const emulator::KernelInfo *info = (*module)->find(kernel.getName());
  int64_t sharedBytes = number(sharedBytesAttr, 0);
  if (info && info->sharedBytes > 0)
    sharedBytes = info->sharedBytes;
  emulator::LaunchOptions options;
  options.memory = &memory;
  auto report = (*module)->launch(kernel.getName(), grid, parameters,
                                  sharedBytes, options);
  if (!report)
    return error(report.takeError());
  for (auto [i, type] : llvm::enumerate(kernel.getArgumentTypes()))
    if (isa<MemRefType>(type)) {
      SmallVector<int64_t> shape(arguments[i].shape());
      arguments[i] = raw[i]->read(shape);
    }
  return success();
}

} // namespace drawloom
