//===- OpenKernels.cpp - kernels for extents that calls choose ------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/launch/OpenKernels.h"
#include "drawloom/OpenExtent.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "passes/Graph/OpenExtents.h"

using namespace mlir;
namespace json = llvm::json;

namespace drawloom::nvptx {

LogicalResult takeExtents(func::FuncOp function) {
  int64_t count = 0;
  auto check = [&](Type type, Attribute attribute) -> LogicalResult {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || tensor.hasStaticShape())
      return success();
    auto refuse = [&](StringRef why) {
      return function.emitError("cannot run on a GPU with the unknown extents "
                                "of ")
             << type << why << ": give them with --shape, or specialize the "
             << "function";
    };
    auto numbers = dyn_cast_or_null<DenseI64ArrayAttr>(attribute);
    if (!numbers || numbers.size() != tensor.getRank())
      return refuse(", which no argument tells");
    for (int64_t dim = 0; dim < tensor.getRank(); ++dim) {
      if (!tensor.isDynamicDim(dim))
        continue;
      // Steps along memory are numbers of the kernel's code.
      if (dim > 0)
        return refuse(", which may be open in the first dimension alone");
      count = std::max(count, OpenExtent::ofCode(numbers[dim]).number + 1);
    }
    return success();
  };
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
    if (failed(check(type, function.getArgAttr(i, extentsAttr))))
      return failure();
  for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
    if (failed(check(type, function.getResultAttr(i, extentsAttr))))
      return failure();
  if (count == 0)
    return success();
  Builder builder(function.getContext());
  unsigned given = function.getNumArguments();
  for (int64_t number = 0; number < count; ++number)
    if (failed(function.insertArgument(
            function.getNumArguments(), builder.getIndexType(),
            builder.getDictionaryAttr(builder.getNamedAttr(
                extentAttr, builder.getI64IntegerAttr(number))),
            function.getLoc())))
      return failure();
  SmallVector<tensor::DimOp> asked;
  function.walk([&](tensor::DimOp op) { asked.push_back(op); });
  for (tensor::DimOp op : asked) {
    auto argument = dyn_cast<BlockArgument>(op.getSource());
    std::optional<int64_t> dim = op.getConstantIndex();
    if (!argument || !dim || argument.getArgNumber() >= given ||
        argument.getOwner() != &function.getBody().front())
      continue;
    auto numbers = function.getArgAttrOfType<DenseI64ArrayAttr>(
        argument.getArgNumber(), extentsAttr);
    if (!numbers || *dim >= numbers.size() || numbers[*dim] < 0)
      continue;
    OpenExtent extent = OpenExtent::ofCode(numbers[*dim]);
    // As bind-extents writes what is less by a constant.
    for (Operation *reader : llvm::make_early_inc_range(op->getUsers()))
      if (auto less = dyn_cast<arith::SubIOp>(reader);
          less && getConstantIntValue(less.getRhs()) == extent.more) {
        less.replaceAllUsesWith(Value(extentArgument(function, extent.number)));
        less.erase();
      }
    OpBuilder b(op);
    op.replaceAllUsesWith(extentIn(b, op.getLoc(), function, extent.code()));
    op.erase();
  }
  return success();
}

BlockArgument extentArgument(func::FuncOp function, int64_t code) {
  int64_t number = OpenExtent::ofCode(code).number;
  for (BlockArgument argument : function.getArguments()) {
    auto attribute = function.getArgAttrOfType<IntegerAttr>(
        argument.getArgNumber(), extentAttr);
    if (attribute && attribute.getInt() == number)
      return argument;
  }
  return {};
}

Value extentIn(OpBuilder &builder, Location loc, func::FuncOp function,
               int64_t code) {
  Value extent = extentArgument(function, code);
  int64_t more = OpenExtent::ofCode(code).more;
  if (more == 0)
    return extent;
  return arith::AddIOp::create(
      builder, loc, extent, arith::ConstantIndexOp::create(builder, loc, more));
}

DenseI64ArrayAttr extentsOf(func::FuncOp function, Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.hasStaticShape())
    return {};
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() != &function.getBody().front())
      return {};
    return function.getArgAttrOfType<DenseI64ArrayAttr>(argument.getArgNumber(),
                                                        extentsAttr);
  }
  Operation *def = value.getDefiningOp();
  if (auto blocks = dyn_cast<scf::ForallOp>(def))
    return extentsOf(function,
                     blocks.getTiedOpOperand(cast<OpResult>(value))->get());
  auto empty = dyn_cast<tensor::EmptyOp>(def);
  if (!empty || type.getNumDynamicDims() != 1 || !type.isDynamicDim(0))
    return {};
  Value size = empty.getDynamicSizes()[0];
  int64_t more = 0;
  if (auto sum = size.getDefiningOp<arith::AddIOp>())
    if (std::optional<int64_t> constant = getConstantIntValue(sum.getRhs());
        constant && *constant > 0 && *constant <= OpenExtent::mostMore) {
      more = *constant;
      size = sum.getLhs();
    }
  auto extent = dyn_cast<BlockArgument>(size);
  auto number = extent && extent.getOwner() == &function.getBody().front()
                    ? function.getArgAttrOfType<IntegerAttr>(
                          extent.getArgNumber(), extentAttr)
                    : IntegerAttr();
  if (!number)
    return {};
  SmallVector<int64_t> numbers(type.getRank(), -1);
  numbers[0] = OpenExtent{number.getInt(), more}.code();
  return DenseI64ArrayAttr::get(value.getContext(), numbers);
}

std::optional<ExtentExpression> expressionOf(func::FuncOp function,
                                             Value value) {
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return ExtentExpression{ExtentExpression::Number, number.getSExtValue()};
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto extent = argument.getOwner() == &function.getBody().front()
                      ? function.getArgAttrOfType<IntegerAttr>(
                            argument.getArgNumber(), extentAttr)
                      : IntegerAttr();
    if (!extent)
      return std::nullopt;
    return ExtentExpression{ExtentExpression::Extent, extent.getInt()};
  }
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumOperands() != 2)
    return std::nullopt;
  ExtentExpression result;
  bool roundsUp = isa<arith::CeilDivUIOp>(op);
  if (isa<arith::AddIOp>(op))
    result.kind = ExtentExpression::Add;
  else if (isa<arith::SubIOp>(op))
    result.kind = ExtentExpression::Sub;
  else if (isa<arith::MulIOp>(op))
    result.kind = ExtentExpression::Mul;
  else if (isa<arith::DivUIOp>(op) || roundsUp)
    result.kind = ExtentExpression::Div;
  else if (isa<arith::RemUIOp>(op))
    result.kind = ExtentExpression::Rem;
  else if (isa<arith::MinSIOp, arith::MinUIOp>(op))
    result.kind = ExtentExpression::Min;
  else if (isa<arith::MaxSIOp, arith::MaxUIOp>(op))
    result.kind = ExtentExpression::Max;
  else
    return std::nullopt;
  for (Value operand : op->getOperands()) {
    std::optional<ExtentExpression> one = expressionOf(function, operand);
    if (!one)
      return std::nullopt;
    result.operands.push_back(std::move(*one));
  }
  if (roundsUp) {
    ExtentExpression less = {
        ExtentExpression::Sub,
        0,
        {result.operands[1], {ExtentExpression::Number, 1}}};
    result.operands[0] = combined(
        ExtentExpression::Add, std::move(result.operands[0]), std::move(less));
  }
  return result;
}

ExtentExpression combined(ExtentExpression::Kind kind, ExtentExpression x,
                          ExtentExpression y) {
  int64_t neutral = kind == ExtentExpression::Mul ? 1 : 0;
  for (auto [one, other] : {std::pair(&x, &y), {&y, &x}})
    if (one->kind == ExtentExpression::Number && one->value == neutral)
      return *other;
  return {kind, 0, {std::move(x), std::move(y)}};
}

json::Value toJson(const ExtentExpression &expression) {
  if (expression.kind == ExtentExpression::Number)
    return expression.value;
  if (expression.kind == ExtentExpression::Extent)
    return json::Array{"extent", expression.value};
  json::Array list{
      runtime::cuda::extentOperations[expression.kind - ExtentExpression::Add]};
  for (const ExtentExpression &operand : expression.operands)
    list.push_back(toJson(operand));
  return list;
}

/// Elements of a group of terms, which threads have in registers at once.
constexpr int64_t groupElements = 8192;

/// And of rows.
constexpr int64_t rowElements = 2048;

/// How many steps a loop has at most, where it goes over the first parts of an
/// array.
static int64_t mostTerms(linalg::LinalgOp op, unsigned loop) {
  for (OpOperand *input : op.getDpsInputOperands())
    for (auto [dim, index] :
         llvm::enumerate(op.getMatchingIndexingMap(input).getResults())) {
      if (index != getAffineDimExpr(loop, op.getContext()))
        continue;
      Value value = input->get();
      while (auto slice = value.getDefiningOp<tensor::ExtractSliceOp>()) {
        if (slice.getType().getRank() != slice.getSourceType().getRank())
          break;
        value = slice.getSource();
        if (!slice.getSourceType().isDynamicDim(dim))
          return slice.getSourceType().getDimSize(dim);
      }
    }
  return std::numeric_limits<int64_t>::max();
}

namespace {

/// An op with one loop of as many steps as there are, which is cut.
struct OpenLoop {
  explicit OpenLoop(linalg::LinalgOp op)
      : op(op), b(op), tiling(cast<TilingInterface>(op.getOperation())),
        open(*find(op)), value(op.getDpsInits()[0]) {
    for (int64_t range : op.getStaticLoopRanges())
      if (!ShapedType::isDynamic(range))
        elements *= std::max<int64_t>(range, 1);
    domain = tiling.getIterationDomain(b);
    count = getValueOrCreateConstantIndexOp(b, op.getLoc(), domain[open].size);
    done = index(0);
  }
  /// The only loop of unknown range of an op with one result.
  static std::optional<unsigned> find(linalg::LinalgOp op) {
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    if (llvm::count_if(ranges, ShapedType::isDynamic) != 1 ||
        op->getNumResults() != 1)
      return std::nullopt;
    return llvm::find_if(ranges, ShapedType::isDynamic) - ranges.begin();
  }
  Value index(int64_t number) {
    return arith::ConstantIndexOp::create(b, op.getLoc(), number);
  }
  void replace() {
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  }

  /// Does what is left, `steps` at a time; what remains after that is for the
  /// next call. step(offsets, sizes, carried) gives what the next one carries.
  LogicalResult
  cut(int64_t steps,
      function_ref<FailureOr<Value>(ArrayRef<OpFoldResult>,
                                    ArrayRef<OpFoldResult>, Value)>
          step) {
    Location loc = op.getLoc();
    Value end = count;
    if (steps > 1)
      end = arith::SubIOp::create(
          b, loc, count, arith::RemUIOp::create(b, loc, count, index(steps)));
    auto loop = scf::ForOp::create(b, loc, done, end, index(steps), value);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    SmallVector<OpFoldResult> offsets, sizes;
    for (const Range &range : domain) {
      offsets.push_back(range.offset);
      sizes.push_back(range.size);
    }
    offsets[open] = loop.getInductionVar();
    sizes[open] = b.getIndexAttr(steps);
    FailureOr<Value> carried = step(offsets, sizes, loop.getRegionIterArg(0));
    if (failed(carried))
      return failure();
    scf::YieldOp::create(b, loc, *carried);
    done = end;
    value = loop.getResult(0);
    return success();
  }

  linalg::LinalgOp op;
  OpBuilder b;
  TilingInterface tiling;
  unsigned open;
  /// Of the other loops.
  int64_t elements = 1;
  SmallVector<Range> domain;
  Value count, done, value;
};

} // namespace

/// Ops with one open loop, a reduction or not.
static SmallVector<linalg::LinalgOp> openLoops(func::FuncOp kernel,
                                               bool reduction) {
  SmallVector<linalg::LinalgOp> found;
  kernel.walk([&](linalg::LinalgOp op) {
    std::optional<unsigned> open = OpenLoop::find(op);
    if (!open)
      return;
    bool isReduction =
        linalg::isReductionIterator(op.getIteratorTypesArray()[*open]);
    // Rows of which each is a sum have no form that is cut.
    if (reduction ? isReduction : op.getNumParallelLoops() == op.getNumLoops())
      found.push_back(op);
  });
  return found;
}

LogicalResult cutOpenSums(func::FuncOp kernel) {
  for (linalg::LinalgOp op : openLoops(kernel, /*reduction=*/true)) {
    OpenLoop loop(op);
    auto addUp = [&](ArrayRef<OpFoldResult> offsets,
                     ArrayRef<OpFoldResult> sizes,
                     Value sum) -> FailureOr<Value> {
      FailureOr<TilingResult> made =
          loop.tiling.getTiledImplementation(loop.b, offsets, sizes);
      if (failed(made) || made->tiledOps.size() != 1)
        return op->emitOpError("adds up as many terms as there are, in a form "
                               "that cannot be cut");
      auto tiled = cast<DestinationStyleOpInterface>(made->tiledOps.front());
      Operation *before = tiled.getDpsInits()[0].getDefiningOp();
      tiled.getDpsInitsMutable()[0].set(sum);
      if (before && llvm::is_contained(made->generatedSlices, before) &&
          before->use_empty())
        before->erase();
      return Value(tiled->getResult(0));
    };
    int64_t most =
        std::min(mostTerms(op, loop.open), groupElements / loop.elements);
    for (int64_t terms : {64, 8, 1})
      if ((terms == 1 || terms <= most) && failed(loop.cut(terms, addUp)))
        return failure();
    loop.replace();
  }
  return success();
}

LogicalResult cutOpenRows(func::FuncOp kernel) {
  for (linalg::LinalgOp op : openLoops(kernel, /*reduction=*/false)) {
    OpenLoop loop(op);
    OpBuilder &b = loop.b;
    auto compute = [&](ArrayRef<OpFoldResult> offsets,
                       ArrayRef<OpFoldResult> sizes,
                       Value whole) -> FailureOr<Value> {
      SmallVector<OpFoldResult> at, extents;
      FailureOr<TilingResult> made =
          loop.tiling.getTiledImplementation(b, offsets, sizes);
      if (failed(made) || made->tiledOps.size() != 1 ||
          failed(loop.tiling.getResultTilePosition(b, 0, offsets, sizes, at,
                                                   extents)))
        return op->emitOpError("computes rows of which there are as many as "
                               "there are, in a form that cannot be cut");
      auto tiled = cast<DestinationStyleOpInterface>(made->tiledOps.front());
      // Each step changes its rows of what the others left.
      if (auto slice =
              tiled.getDpsInits()[0].getDefiningOp<tensor::ExtractSliceOp>())
        slice.getSourceMutable().set(whole);
      SmallVector<OpFoldResult> strides(at.size(), b.getIndexAttr(1));
      return tensor::InsertSliceOp::create(b, op.getLoc(), tiled->getResult(0),
                                           whole, at, extents, strides)
          .getResult();
    };
    int64_t many = llvm::bit_floor<uint64_t>(
        std::clamp<int64_t>(rowElements / loop.elements, 1, 64));
    if ((many > 1 && failed(loop.cut(many, compute))) ||
        failed(loop.cut(1, compute)))
      return failure();
    loop.replace();
  }
  return success();
}

} // namespace drawloom::nvptx
