//===- ChooseProducts.cpp - which products a library computes -------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/products/MatchProduct.h"
#include "codegen/nvptx/products/ProductCost.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/Block/Rows/FusedRows.h"

namespace drawloom::nvptx {
#define GEN_PASS_DEF_NVPTXCHOOSEPRODUCTS
#include "codegen/nvptx/Passes.h.inc"
} // namespace drawloom::nvptx

using namespace mlir;

namespace drawloom::nvptx {
namespace {

constexpr remark::RemarkOpts remarkOptions(StringRef name) {
  return remark::RemarkOpts::name(name).category("nvptx-choose-products");
}

/// The same numbers in another type of float.
Value convert(OpBuilder &b, Location loc, Value value, Type element) {
  auto type = cast<RankedTensorType>(value.getType());
  Value empty = tensor::EmptyOp::create(b, loc, type.getShape(), element);
  AffineMap map = b.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> loops(type.getRank(),
                                         utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, loc, empty.getType(), value, empty, {map, map}, loops,
             [&](OpBuilder &b, Location loc, ValueRange args) {
               Value converted;
               if (element.isF32())
                 converted = arith::ExtFOp::create(b, loc, element, args[0]);
               else
                 converted = arith::TruncFOp::create(b, loc, element, args[0]);
               linalg::YieldOp::create(b, loc, converted);
             })
      .getResult(0);
}

Type typeOf(MLIRContext *context, runtime::cuda::Kind kind) {
  if (kind == runtime::cuda::Kind::BF16)
    return BFloat16Type::get(context);
  if (kind == runtime::cuda::Kind::F16)
    return Float16Type::get(context);
  return Float32Type::get(context);
}

struct NvptxChooseProducts
    : impl::NvptxChooseProductsBase<NvptxChooseProducts> {
  using NvptxChooseProductsBase::NvptxChooseProductsBase;

  void runOnOperation() override {
    llvm::Expected<const Architecture *> found = findArchitecture(arch);
    if (!found) {
      getOperation().emitError(llvm::toString(found.takeError()));
      return signalPassFailure();
    }
    SymbolTable symbols(getOperation());
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions) {
      if (function.isExternal() || isOpaque(function) ||
          !function.getBody().hasOneBlock())
        continue;
      unsigned count = 0;
      FailureOr<SmallVector<linalg::LinalgOp>> chosen =
          choose(function, machineOf(**found));
      if (failed(chosen))
        return signalPassFailure();
      for (linalg::LinalgOp op : *chosen)
        // Anew: what it reads may be the result of an earlier call by now.
        if (std::optional<MatchedProduct> match = matchProduct(op))
          outline(function, *match, count++, symbols);
      if (count == 0)
        continue;
      for (Operation &op : llvm::make_early_inc_range(
               llvm::reverse(function.getBody().front())))
        if (isOpTriviallyDead(&op))
          op.erase();
    }
  }

  FailureOr<SmallVector<linalg::LinalgOp>> choose(func::FuncOp function,
                                                  const Machine &machine) {
    std::vector<MatchedProduct> matches;
    for (auto op : function.getBody().front().getOps<linalg::LinalgOp>())
      if (std::optional<MatchedProduct> match = matchProduct(op))
        matches.push_back(std::move(*match));
    // Of open rows nobody knows which is faster: then each number of them may
    // have a program of its own.
    SmallVector<linalg::LinalgOp> open;
    for (auto op : function.getBody().front().getOps<linalg::LinalgOp>())
      if (linalg::isaContractionOpInterface(op) &&
          llvm::any_of(op.getStaticLoopRanges(), ShapedType::isDynamic))
        open.push_back(op);
    if (matches.empty() && open.empty())
      return SmallVector<linalg::LinalgOp>();
    FailureOr<FuseRowsOptions> options =
        parseFuseRowsOptions(rows, function.getLoc());
    if (failed(options))
      return failure();
    SmallVector<SmallVector<Operation *>> groups;
    if (!all) {
      FailureOr<SmallVector<SmallVector<Operation *>>> fused =
          findFusedRows(function, *options);
      if (failed(fused))
        return failure();
      groups = std::move(*fused);
    }
    for (linalg::LinalgOp op : open)
      if (llvm::none_of(groups, [&](ArrayRef<Operation *> group) {
            return llvm::is_contained(group, op.getOperation()) &&
                   llvm::any_of(group, [&](Operation *other) {
                     auto linalgOp = dyn_cast_or_null<linalg::LinalgOp>(other);
                     return linalgOp && linalgOp != op &&
                            (linalg::isaContractionOpInterface(linalgOp) ||
                             linalgOp.getNumReductionLoops() > 0);
                   });
          }))
        return op->emitOpError(
                   "may be left to a library, which takes numbers of rows that "
                   "are known: give them with --shape, or compile with "
                   "--dense-products=own"),
               failure();
    SmallVector<linalg::LinalgOp> chosen;
    for (MatchedProduct &match : matches) {
      Location loc = match.op.getLoc();
      bool fuses = llvm::any_of(groups, [&](ArrayRef<Operation *> group) {
        return llvm::is_contained(group, match.op.getOperation()) &&
               llvm::any_of(group, [&](Operation *op) {
                 return !llvm::is_contained(match.ops, op);
               });
      });
      if (fuses) {
        remark::missed(loc, remarkOptions("Own"))
            << remark::reason("a block program fuses it with other ops");
        continue;
      }
      ProductCost cost = costOf(match.product, match.passes, machine);
      bool taken = all || cost.libraryIsFaster();
      auto told = taken ? remark::passed(loc, remarkOptions("Library"))
                        : remark::missed(loc, remarkOptions("Own"));
      told << remark::metric("product", productText(match.product))
           << remark::metric("libraryMicroseconds", 1e6 * cost.librarySeconds)
           << remark::metric("ownMicroseconds", 1e6 * cost.ownSeconds);
      if (!taken)
        continue;
      chosen.push_back(match.op);
    }
    return chosen;
  }

  /// Makes a function of the product and calls it.
  void outline(func::FuncOp function, MatchedProduct &match, unsigned number,
               SymbolTable &symbols) {
    MLIRContext *context = &getContext();
    Location loc = match.op.getLoc();
    SmallVector<Value> arguments;
    for (Value value : {match.left, match.right, match.addend, match.bias})
      if (value)
        arguments.push_back(value);
    Operation *last = match.result.getDefiningOp();
    OpBuilder b(last);
    Type element = typeOf(context, match.product.result);
    auto resultType =
        cast<RankedTensorType>(match.result.getType()).clone(element);
    auto made = func::FuncOp::create(
        loc, (function.getName() + "_product_" + Twine(number)).str(),
        FunctionType::get(context, ValueRange(arguments).getTypes(),
                          resultType));
    made.setPrivate();
    made.setNoInline(true);
    made->setAttr(productAttr, toAttribute(context, match.product));
    symbols.insert(made, Block::iterator(function));
    Block *block = made.addEntryBlock();
    OpBuilder inside = OpBuilder::atBlockEnd(block);
    IRMapping mapping;
    mapping.map(arguments, block->getArguments());
    std::function<void(Value)> bring = [&](Value value) {
      if (mapping.contains(value))
        return;
      Operation *def = value.getDefiningOp();
      llvm::SetVector<Value> reads(def->getOperands().begin(),
                                   def->getOperands().end());
      getUsedValuesDefinedAbove(def->getRegions(), reads);
      for (Value read : reads)
        bring(read);
      inside.clone(*def, mapping);
    };
    bring(match.result);
    Value result = mapping.lookup(match.result);
    if (match.widened)
      result = convert(inside, loc, result, element);
    func::ReturnOp::create(inside, loc, result);

    auto call = func::CallOp::create(b, loc, made, arguments);
    auto results = static_cast<int64_t>(arguments.size());
    SmallVector<int64_t> same(match.sameDimensions);
    for (size_t i = 0; i < same.size(); i += 2)
      if (same[i] == 2)
        same[i] = results;
    if (match.addend)
      for (int64_t i = 0; i < resultType.getRank(); ++i)
        same.append({2, i, results, i});
    if (match.bias)
      same.append({results - 1, 0, results, resultType.getRank() - 1});
    call->setAttr(sameDimensionsAttr, b.getDenseI64ArrayAttr(same));
    Value value = call.getResult(0);
    if (match.widened)
      value = convert(b, loc, value, Float32Type::get(context));
    Value replaced = match.result;
    replaced.replaceAllUsesWith(value);
  }
};

} // namespace
} // namespace drawloom::nvptx
