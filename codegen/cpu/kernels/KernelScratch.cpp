//===- KernelScratch.cpp - memory of block programs -----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/kernels/KernelScratch.h"
#include "codegen/cpu/buffers/Buffers.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Memory/Arena.h"

using namespace mlir;

namespace drawloom::cpu {
namespace {

/// A buffer of open size, and the ops that compute the size.
struct OpenBuffer {
  Operation *op;
  int64_t rowBytes;
  bool mayBeNegative;
  SmallVector<Operation *> sizeOps;
};

/// What a thread needs for one kernel.
struct ScratchBytes {
  int64_t known = 0;
  /// By the number of an open extent.
  SmallVector<int64_t> rows;
};

/// Adds `count` bytes times `times`, over `divisor`, rounded up.
bool addBytes(int64_t &bytes, int64_t count, int64_t times, int64_t divisor) {
  int64_t all = 0;
  return !llvm::MulOverflow(count, times, all) &&
         !llvm::AddOverflow(
             bytes, all > 0 ? llvm::divideCeilSigned(all, divisor) : 0, bytes);
}

/// Adds a buffer with an open extent to what its kernel needs.
FailureOr<OpenBuffer> measure(Operation *op,
                              llvm::function_ref<SizeSource(Value)> source,
                              ScratchBytes &scratch) {
  FailureOr<int64_t> bytes = bytesOfRow(op);
  if (failed(bytes))
    return failure();
  OpenBuffer buffer{op, *bytes, false, {}};
  std::optional<SizeBound> bound;
  if (op->getNumOperands() == 1)
    bound = boundOf(op->getOperand(0), source, &buffer.sizeOps);
  if (!bound)
    return op->emitOpError("allocates a buffer of type ")
           << op->getResult(0).getType()
           << " in a block program, which may have one open extent, made of "
              "those of the function's arguments by additions, and by "
              "multiplications with constants and divisions by them";
  int64_t known = 0;
  bool counted = addBytes(known, *bytes, bound->constant, bound->divisor);
  scratch.rows.resize(std::max(scratch.rows.size(), bound->times.size()), 0);
  for (auto [into, times] : llvm::zip(scratch.rows, bound->times))
    counted &= addBytes(into, *bytes, times, bound->divisor);
  // The next one is aligned; terms are, whatever the extents are.
  known = llvm::alignTo(known, arenaAlignment);
  counted &= !llvm::AddOverflow(scratch.known, known, scratch.known);
  if (!counted)
    return op->emitOpError("allocates a buffer of type ")
           << op->getResult(0).getType() << ", which exceeds the address space";
  buffer.mayBeNegative = bound->mayBeNegative;
  return buffer;
}

/// All kernels of the function use the same memory, one after the other.
void merge(const ScratchBytes &scratch, FunctionSignature &signature) {
  signature.scratchBytes = std::max(signature.scratchBytes, scratch.known);
  for (auto [number, bytes] : llvm::enumerate(scratch.rows)) {
    if (bytes == 0)
      continue;
    std::vector<int64_t> extents{static_cast<int64_t>(number)};
    auto found =
        llvm::find_if(signature.scratchTerms, [&](const MemoryTerm &term) {
          return term.extents == extents;
        });
    if (found == signature.scratchTerms.end())
      signature.scratchTerms.push_back({bytes, extents});
    else
      found->bytes = std::max(found->bytes, bytes);
  }
}

/// The kernel's new last argument.
Value addScratchArgument(func::FuncOp kernel, int64_t bytes) {
  Block &body = kernel.getBody().front();
  Builder builder(kernel.getContext());
  Value scratch = body.addArgument(bytesType(builder, bytes), kernel.getLoc());
  kernel.setType(builder.getFunctionType(body.getArgumentTypes(), {}));
  SmallVector<DictionaryAttr> attributes;
  kernel.getAllArgAttrs(attributes);
  attributes.resize(body.getNumArguments(), builder.getDictionaryAttr({}));
  kernel.setAllArgAttrs(attributes);
  kernel.setArgAttr(body.getNumArguments() - 1, "llvm.noalias",
                    builder.getUnitAttr());
  kernel->setAttr(kernelAttr, builder.getStringAttr("scratch"));
  return scratch;
}

void placeAt(OpBuilder &builder, Operation *op, Value scratch,
             OpFoldResult offset, ValueRange sizes) {
  Value at = getValueOrCreateConstantIndexOp(builder, op->getLoc(), offset);
  Value view = memref::ViewOp::create(
      builder, op->getLoc(), cast<MemRefType>(op->getResult(0).getType()),
      scratch, at, sizes);
  op->getResult(0).replaceAllUsesWith(view);
  op->erase();
}

/// Places buffers of open size one behind the other, from `begin` on. Their
/// sizes are computed before all blocks.
void placeOpenBuffers(Block &body, ArrayRef<OpenBuffer> buffers, Value scratch,
                      int64_t begin) {
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  OpFoldResult offset = builder.getIndexAttr(begin);
  for (const OpenBuffer &buffer : buffers) {
    IndexMath math(builder, buffer.op->getLoc());
    IRMapping mapping;
    for (Operation *op : buffer.sizeOps)
      builder.clone(*op, mapping);
    Value size = mapping.lookupOrDefault(buffer.op->getOperand(0));
    OpFoldResult count = size;
    // A size below 0 has no meaning, but must not reach another buffer.
    if (buffer.mayBeNegative)
      count = math.max(count, math.number(0));
    OpFoldResult next = math.add(
        offset, roundedUp(math, math.mul(count, math.number(buffer.rowBytes))));
    placeAt(builder, buffer.op, scratch, offset, size);
    offset = next;
  }
}

} // namespace

LogicalResult placeKernelBuffers(func::FuncOp kernel, int64_t stackBytes,
                                 llvm::function_ref<SizeSource(Value)> source,
                                 FunctionSignature &signature) {
  Block &body = kernel.getBody().front();
  ScratchBytes scratch;
  SmallVector<std::pair<int64_t, Operation *>> sized;
  SmallVector<OpenBuffer> open;
  for (Operation *op : allocationsIn(kernel)) {
    if (op->getNumOperands() > 0) {
      FailureOr<OpenBuffer> buffer = measure(op, source, scratch);
      if (failed(buffer))
        return failure();
      open.push_back(std::move(*buffer));
      continue;
    }
    FailureOr<int64_t> bytes = bytesOf(op);
    if (failed(bytes))
      return failure();
    sized.push_back({*bytes, op});
  }
  llvm::stable_sort(sized, llvm::less_first());
  int64_t stack = 0;
  SmallVector<Lifetime> lifetimes;
  SmallVector<Operation *> inScratch;
  OpBuilder builder(kernel.getContext());
  for (auto [bytes, op] : sized) {
    op->moveBefore(&body, body.begin());
    int64_t aligned = llvm::alignTo(bytes, arenaAlignment);
    if (stack + aligned > stackBytes) {
      // All of them live through the range: blocks reuse them as they are.
      lifetimes.push_back({bytes, 0, 0});
      inScratch.push_back(op);
      continue;
    }
    stack += aligned;
    builder.setInsertionPoint(op);
    auto alloca = memref::AllocaOp::create(
        builder, op->getLoc(), cast<MemRefType>(op->getResult(0).getType()),
        builder.getI64IntegerAttr(arenaAlignment));
    op->getResult(0).replaceAllUsesWith(alloca);
    op->erase();
  }
  if (inScratch.empty() && open.empty())
    return success();
  ArenaLayout layout = layOutArena(lifetimes);
  // Never none: that there are bytes says that there is an argument.
  scratch.known =
      std::max(scratch.known + layout.bytes, int64_t(arenaAlignment));
  merge(scratch, signature);
  Value memory = addScratchArgument(kernel, scratch.known);
  for (auto [op, offset] : llvm::zip_equal(inScratch, layout.offsets)) {
    builder.setInsertionPoint(op);
    placeAt(builder, op, memory, builder.getIndexAttr(offset), {});
  }
  placeOpenBuffers(body, open, memory, layout.bytes);
  return success();
}

} // namespace drawloom::cpu
