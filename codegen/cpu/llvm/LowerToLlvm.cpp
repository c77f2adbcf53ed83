//===- LowerToLlvm.cpp - the conversions to the llvm dialect, in order ----===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/InstructionSet.h"
#include "codegen/cpu/Passes.h"
#include "codegen/cpu/Signature.h"
#include "codegen/cpu/kernels/LowerOffload.h"
#include "codegen/cpu/llvm/StreamStores.h"
#include "codegen/cpu/vectors/Canonicalize.h"
#include "codegen/cpu/vectors/Transposes.h"
#include "dialects/Block/Block.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/Passes.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace drawloom::cpu {
#define GEN_PASS_DEF_CPULOWERTOLLVM
#include "codegen/cpu/Passes.h.inc"
} // namespace drawloom::cpu

using namespace mlir;

namespace drawloom::cpu {
namespace {

/// What is left of upstream's conversions once the vectors have gone: in one
/// walk, in place of one for each dialect. (Upstream's convert-to-llvm cannot
/// be told that pointers are passed bare.)
struct ConvertRest : PassWrapper<ConvertRest, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ConvertRest)
  StringRef getArgument() const override { return "cpu-convert-rest"; }

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    LowerToLLVMOptions options(context);
    options.useBarePtrCallConv = true;
    LLVMTypeConverter converter(context, options);
    RewritePatternSet patterns(context);
    arith::populateArithToLLVMConversionPatterns(converter, patterns);
    index::populateIndexToLLVMConversionPatterns(converter, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
    cf::populateAssertToLLVMConversionPattern(converter, patterns);
    populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
    populateFuncToLLVMConversionPatterns(converter, patterns);
    ub::populateUBToLLVMConversionPatterns(converter, patterns);
    LLVMConversionTarget target(*context);
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      signalPassFailure();
  }
};

struct CpuLowerToLlvm : impl::CpuLowerToLlvmBase<CpuLowerToLlvm> {
  using CpuLowerToLlvmBase::CpuLowerToLlvmBase;
  void runOnOperation() override;
};

/// Puts the prefix in front of the names of entries, before any call of the C
/// library is made.
LogicalResult renameEntries(ModuleOp module) {
  SymbolTable symbols(module);
  SmallVector<func::FuncOp> entries;
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(signatureAttr) &&
        !function.getName().starts_with(entryPrefix))
      entries.push_back(function);
  for (func::FuncOp entry : entries)
    if (failed(symbols.rename(entry, (entryPrefix + entry.getName()).str())))
      return entry.emitError("cannot be renamed for machine code: @")
             << entryPrefix << entry.getName() << " exists";
  return success();
}

/// Reads one number for a whole vector as a number: upstream does so only where
/// memory is dense along the last dimension, which says nothing about one
/// number.
void readNumbers(ModuleOp module) {
  SmallVector<vector::TransferReadOp> reads;
  module.walk([&](vector::TransferReadOp read) {
    auto memory = dyn_cast<MemRefType>(read.getShapedType());
    if (memory && !memory.isLastDimUnitStride() && !read.getMask() &&
        read.getTransferRank() > 0 && !read.hasOutOfBoundsDim() &&
        llvm::all_of(read.getPermutationMap().getResults(),
                     [](AffineExpr at) { return isa<AffineConstantExpr>(at); }))
      reads.push_back(read);
  });
  for (vector::TransferReadOp read : reads) {
    OpBuilder b(read);
    Value number = memref::LoadOp::create(b, read.getLoc(), read.getBase(),
                                          read.getIndices());
    read.replaceAllUsesWith(
        vector::BroadcastOp::create(b, read.getLoc(), read.getType(), number)
            .getResult());
    read.erase();
  }
}

/// Views the memory of transfers without its last dimensions if these have one
/// element each and the vector runs along the one in front of them: upstream
/// takes the elements of a column one by one, dense as it may be.
void dropLastOnes(ModuleOp module) {
  auto drop = [](auto op) {
    auto memory = dyn_cast<MemRefType>(op.getShapedType());
    ArrayRef<AffineExpr> along = op.getPermutationMap().getResults();
    if (!memory || !memory.hasStaticShape() || along.empty() ||
        !isa<AffineDimExpr>(along.back()))
      return;
    unsigned kept = cast<AffineDimExpr>(along.back()).getPosition() + 1;
    AffineMap map = AffineMap::get(kept, 0, along, op.getContext());
    if (kept == memory.getRank() ||
        llvm::any_of(memory.getShape().drop_front(kept),
                     [](int64_t extent) { return extent != 1; }) ||
        !llvm::all_of(along, [&](AffineExpr at) {
          auto dim = dyn_cast<AffineDimExpr>(at);
          return !dim || dim.getPosition() < kept;
        }))
      return;
    OpBuilder b(op);
    SmallVector<OpFoldResult> zeros(memory.getRank(), b.getIndexAttr(0)),
        ones(memory.getRank(), b.getIndexAttr(1)),
        sizes = getAsIndexOpFoldResult(b.getContext(), memory.getShape());
    MemRefType type = memref::SubViewOp::inferRankReducedResultType(
        memory.getShape().take_front(kept), memory, zeros, sizes, ones);
    SmallVector<Value> indices(op.getIndices().take_front(kept));
    op.getBaseMutable().assign(memref::SubViewOp::create(
        b, op.getLoc(), type, op.getBase(), zeros, sizes, ones));
    op.getIndicesMutable().assign(indices);
    op.setPermutationMap(map);
  };
  module.walk([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case<vector::TransferReadOp, vector::TransferWriteOp>(drop);
  });
}

/// Combines the elements of a row by a tree: upstream's lowering would take one
/// after the other. Shorter numbers are computed as f32, which is not done
/// inside of reductions.
void reduceWithinRows(ModuleOp module) {
  SmallVector<vector::MultiDimReductionOp> ops;
  module.walk([&](vector::MultiDimReductionOp op) {
    VectorType type = op.getSourceVectorType();
    if (op->hasAttr(block::withinRowsAttr) && type.getRank() <= 2 &&
        op.getReductionDims() == ArrayRef<int64_t>{type.getRank() - 1} &&
        type.getElementTypeBitWidth() >= 32)
      ops.push_back(op);
  });
  for (vector::MultiDimReductionOp op : ops) {
    OpBuilder b(op);
    Location loc = op.getLoc();
    auto reduced = [&](Value row, Value start) -> Value {
      return vector::ReductionOp::create(b, loc, op.getKind(), row, start);
    };
    Value sums = op.getAcc();
    if (op.getSourceVectorType().getRank() == 1)
      sums = reduced(op.getSource(), sums);
    else
      for (int64_t i : llvm::seq(op.getSourceVectorType().getDimSize(0)))
        sums = vector::InsertOp::create(
            b, loc,
            reduced(vector::ExtractOp::create(b, loc, op.getSource(), i),
                    vector::ExtractOp::create(b, loc, op.getAcc(), i)),
            sums, i);
    op.replaceAllUsesWith(sums);
    op.erase();
  }
}

/// Makes numbers of bf16 integers of 16 bits. Where the instruction set has no
/// arithmetic on bf16, `cpu-expand-math` has left nothing to do with them but
/// to move them, and LLVM would move some through f32, rounding by a function
/// that no C library has.
void moveAsIntegers(ModuleOp module) {
  Type integer = IntegerType::get(module.getContext(), 16);
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](BFloat16Type) { return integer; });
  replacer.addReplacement([&](FloatAttr number) -> std::optional<Attribute> {
    if (!number.getType().isBF16())
      return std::nullopt;
    return IntegerAttr::get(integer, number.getValue().bitcastToAPInt());
  });
  replacer.addReplacement(
      [&](DenseElementsAttr numbers)
          -> std::optional<std::pair<Attribute, WalkResult>> {
        if (!numbers.getElementType().isBF16())
          return std::nullopt;
        return std::make_pair(numbers.bitcast(integer), WalkResult::skip());
      });
  module.walk([&](Operation *op) {
    // What describes the function to callers keeps its types.
    DictionaryAttr described = op->getDiscardableAttrDictionary();
    replacer.replaceElementsIn(op, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                               /*replaceTypes=*/true);
    op->setDiscardableAttrs(described);
  });
}

void CpuLowerToLlvm::runOnOperation() {
  llvm::Expected<const InstructionSet *> set = findInstructionSet(isa);
  if (!set) {
    getOperation().emitError() << llvm::toString(set.takeError());
    return signalPassFailure();
  }
  if (failed(renameEntries(getOperation())))
    return signalPassFailure();
  if (failed(lowerTransfers(getOperation())))
    return signalPassFailure();
  readNumbers(getOperation());
  dropLastOnes(getOperation());
  if (failed(transposeByRows(getOperation())))
    return signalPassFailure();
  reduceWithinRows(getOperation());
  OpPassManager pm(ModuleOp::getOperationName());
  pm.addPass(createCpuLowerCopies());
  CpuLowerPairDotsOptions pairs;
  pairs.isa = isa;
  pm.addNestedPass<func::FuncOp>(createCpuLowerPairDots(pairs));
  pm.addNestedPass<func::FuncOp>(vector::createLowerVectorMultiReductionPass(
      vector::VectorMultiReductionLowering::InnerParallel));
  CpuExpandMathOptions math;
  math.isa = isa;
  pm.addPass(createCpuExpandMath(math));
  // To transfers of one dimension, before anything folds views into them.
  VectorTransferToSCFOptions toScf;
  toScf.unroll = true;
  toScf.targetRank = 1;
  pm.addNestedPass<func::FuncOp>(createConvertVectorToSCFPass(toScf));
  pm.addNestedPass<func::FuncOp>(createCpuStreamStores());
  // While there are few operations.
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(arith::createArithExpandOpsPass());
  pm.addPass(createSCFToControlFlowPass());
  // A matrix that is put together of rows stays so: taken apart into elements,
  // it would be hundreds of operations for each.
  pm.addPass(createCanonicalizer(
      {"(anonymous namespace)::InsertChainFullyInitialized"}));
  pm.addPass(createCSEPass());
  // Before the vectors go: calls for single elements take them apart.
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  ConvertVectorToLLVMPassOptions toLlvm;
  toLlvm.vectorContractLowering = vector::VectorContractLowering::OuterProduct;
  toLlvm.vectorTransposeLowering = vector::VectorTransposeLowering::Shuffle1D;
  // A horizontal sum has no order that a program could rely on; a tree of
  // shuffles is fixed too.
  toLlvm.reassociateFPReductions = true;
  toLlvm.x86Vector = true;
  pm.addPass(createConvertVectorToLLVMPass(toLlvm));
  pm.addPass(std::make_unique<ConvertRest>());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createCSEPass());
  pm.addPass(createCpuHostAbi());
  if (failed(runPipeline(pm, getOperation())))
    return signalPassFailure();
  if (!llvm::is_contained((*set)->features, "avx512bf16"))
    moveAsIntegers(getOperation());
  for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>())
    guardStreamedStores(function);
  // A fused multiply-add would be a call of the C library for each number where
  // the machine has none.
  SmallVector<LLVM::FMAOp> fused;
  getOperation()->walk([&](LLVM::FMAOp op) { fused.push_back(op); });
  for (LLVM::FMAOp op : fused) {
    OpBuilder b(op);
    op.replaceAllUsesWith(
        LLVM::FMulAddOp::create(b, op.getLoc(), op.getA(), op.getB(), op.getC())
            .getResult());
    op.erase();
  }
  WalkResult result = getOperation()->walk([&](Operation *op) -> WalkResult {
    if (llvm::isa<ModuleOp>(op) ||
        llvm::isa<LLVM::LLVMDialect>(op->getDialect()))
      return WalkResult::advance();
    op->emitOpError("has no lowering to LLVM for the CPU");
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    signalPassFailure();
}

} // namespace
} // namespace drawloom::cpu
