//===- BlockToTile.cpp - block programs become kernels over tiles ---------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/tiles/BlockToTile.h"
#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/launch/OpenKernels.h"
#include "codegen/nvptx/schedule/Schedule.h"
#include "drawloom/IndexMath.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/Graph/OpenExtents.h"

namespace drawloom::nvptx {
#define GEN_PASS_DEF_NVPTXBLOCKTOTILE
#include "codegen/nvptx/Passes.h.inc"
} // namespace drawloom::nvptx

using namespace mlir;

namespace drawloom::nvptx {

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

LogicalResult BlockToTile::convertBody(Block &block) {
  // An op may be replaced by its general form first.
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
    if (failed(convert(&op)))
      return failure();
  return success();
}

/// Blocks of a block program along each dimension, where that is known without
/// a call.
static std::optional<SmallVector<int64_t>> countBlocks(scf::ForallOp op) {
  SmallVector<int64_t> counts;
  for (auto [low, high, step] :
       llvm::zip(op.getMixedLowerBound(), op.getMixedUpperBound(),
                 op.getMixedStep())) {
    std::optional<int64_t> from = getConstantIntValue(low);
    std::optional<int64_t> to = getConstantIntValue(high);
    std::optional<int64_t> by = getConstantIntValue(step);
    if (!from || !to || !by)
      return std::nullopt;
    counts.push_back(std::max<int64_t>(0, llvm::divideCeil(*to - *from, *by)));
  }
  return counts;
}

/// How many blocks there are at most along a dimension: each has a part of some
/// result for itself. Nothing where nobody says so.
static std::optional<int64_t> mostBlocks(scf::ForallOp op, unsigned dim) {
  std::optional<int64_t> most;
  for (Operation &insert : op.getTerminator().getYieldingOps()) {
    auto slice = dyn_cast<tensor::ParallelInsertSliceOp>(insert);
    if (!slice)
      continue;
    auto type = cast<RankedTensorType>(slice.getDest().getType());
    for (auto [i, offset] : llvm::enumerate(slice.getMixedOffsets()))
      if (offset == OpFoldResult(op.getInductionVar(dim)) &&
          !type.isDynamicDim(i))
        most = std::min(most.value_or(type.getDimSize(i)), type.getDimSize(i));
  }
  return most;
}

Value BlockToTile::bringScalar(Value value) {
  if (Value known = homes.scalars.lookupOrNull(value))
    return known;
  Operation *def = value.getDefiningOp();
  for (Value operand : def->getOperands())
    bringScalar(operand);
  builder.clone(*def, homes.scalars);
  return homes.scalars.lookup(value);
}

LogicalResult BlockToTile::countOpenBlocks(scf::ForallOp op, int64_t &most,
                                           ExtentExpression &all) {
  Location loc = op.getLoc();
  IndexMath math(builder, loc);
  OpFoldResult blocks = math.number(1);
  ExtentExpression expression{ExtentExpression::Number, 1};
  int64_t bound = 1;
  for (unsigned dim = 0; dim < op.getRank(); ++dim) {
    if (!isConstantIntValue(op.getMixedLowerBound()[dim], 0) ||
        !isConstantIntValue(op.getMixedStep()[dim], 1))
      return op.emitError("the number of blocks is not known");
    OpFoldResult end = op.getMixedUpperBound()[dim];
    int64_t alone = maxGrid + 1;
    ExtentExpression count;
    if (auto value = dyn_cast<Value>(end)) {
      std::optional<ExtentExpression> made = expressionOf(program, value);
      if (!made)
        return op.emitError("the number of blocks is not known: it is made of "
                            "more than sums, products, quotients, minima and "
                            "maxima of open extents");
      count = std::move(*made);
      end = bringScalar(value);
      alone = mostBlocks(op, dim).value_or(alone);
    } else {
      alone = *getConstantIntValue(end);
      count = {ExtentExpression::Number, alone};
    }
    blocks = math.mul(blocks, end);
    expression = combined(ExtentExpression::Mul, std::move(expression),
                          std::move(count));
    if (llvm::MulOverflow(bound, alone, bound) || bound > maxGrid)
      bound = maxGrid + 1;
  }
  most = std::min(most + bound, maxGrid + 1);
  allBlocks = math.add(allBlocks, blocks);
  all = combined(ExtentExpression::Add, std::move(all), std::move(expression));
  return success();
}

LogicalResult BlockToTile::makeGrid() {
  Location loc = program.getLoc();
  int64_t most = 0;
  bool isOpen = false;
  ExtentExpression all;
  for (auto op : program.getBody().front().getOps<scf::ForallOp>()) {
    ++parts;
    std::optional<SmallVector<int64_t>> counts = countBlocks(op);
    if (!counts) {
      isOpen = true;
      if (failed(countOpenBlocks(op, most, all)))
        return failure();
      continue;
    }
    int64_t blocks = llvm::product_of(*counts);
    most = std::min(most + blocks, maxGrid + 1);
    IndexMath math(builder, loc);
    allBlocks = math.add(allBlocks, math.number(blocks));
    all = combined(ExtentExpression::Add, std::move(all),
                   {ExtentExpression::Number, blocks});
  }
  int64_t grid = std::min(std::max<int64_t>(most, 1), maxGrid);
  (*kernel)->setAttr(gridAttr, builder.getI64IntegerAttr(grid));
  if (isOpen) {
    std::string text;
    llvm::raw_string_ostream(text) << toJson(ExtentExpression{
        ExtentExpression::Min,
        0,
        {std::move(all), {ExtentExpression::Number, maxGrid}}});
    (*kernel)->setAttr(openGridAttr, builder.getStringAttr(text));
  }
  block = tile::BlockIdOp::create(builder, loc, builder.getIndexType());
  if (grid < most) {
    auto loop = scf::ForOp::create(
        builder, loc, block,
        getValueOrCreateConstantIndexOp(builder, loc, allBlocks),
        arith::ConstantIndexOp::create(builder, loc, grid));
    block = loop.getInductionVar();
    builder.setInsertionPointToStart(loop.getBody());
  }
  return success();
}

LogicalResult BlockToTile::convertGrid(scf::ForallOp op) {
  Location loc = op.getLoc();
  SmallVector<OpFoldResult> counts;
  SmallVector<int64_t> lows, steps;
  if (std::optional<SmallVector<int64_t>> known = countBlocks(op)) {
    counts = getAsIndexOpFoldResult(op.getContext(), *known);
  } else {
    for (OpFoldResult end : op.getMixedUpperBound()) {
      auto value = dyn_cast<Value>(end);
      counts.push_back(value ? OpFoldResult(homes.scalars.lookup(value)) : end);
    }
  }
  for (auto [low, step] :
       llvm::zip(op.getMixedLowerBound(), op.getMixedStep())) {
    lows.push_back(*getConstantIntValue(low));
    steps.push_back(*getConstantIntValue(step));
  }

  auto returned = cast<func::ReturnOp>(op->getBlock()->getTerminator());
  for (OpResult made : op.getResults()) {
    // Blocks beside these may write what they leave.
    Value last = made;
    while (last.hasOneUse()) {
      OpOperand &use = *last.use_begin();
      auto beside = dyn_cast<scf::ForallOp>(use.getOwner());
      if (!beside || beside->getParentOp() != program ||
          !llvm::is_contained(beside.getOutputs(), last))
        break;
      last = beside.getTiedOpResult(&use);
    }
    for (auto [i, value] : llvm::enumerate(returned.getOperands())) {
      if (value != last)
        continue;
      homes.setMemory(op.getTiedBlockArgument(op.getTiedOpOperand(made)),
                      resultMemory[i], /*writable=*/true);
      homes.setMemory(made, resultMemory[i], /*writable=*/true);
    }
  }

  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  // Of several block programs in a kernel, each has a range of the blocks.
  OpBuilder::InsertionGuard guard(builder);
  IndexMath math(builder, loc);
  auto number = [&](OpFoldResult value) {
    return getValueOrCreateConstantIndexOp(builder, loc, value);
  };
  OpFoldResult blocks = math.number(1);
  for (OpFoldResult count : counts)
    blocks = math.mul(blocks, count);
  Value own = block;
  if (parts > 1) {
    OpFoldResult end = math.add(firstBlock, blocks);
    Value behind = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ult, block, number(end));
    Value before = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::uge, block, number(firstBlock));
    Value mine = arith::AndIOp::create(builder, loc, before, behind);
    auto branch = scf::IfOp::create(builder, loc, mine,
                                    /*withElseRegion=*/false);
    OpFoldResult from = firstBlock;
    firstBlock = end;
    builder.setInsertionPointToStart(branch.thenBlock());
    own = arith::SubIOp::create(builder, loc, block, number(from));
  }
  // The last dimension counts fastest.
  Value rest = own;
  for (int64_t dim = counts.size() - 1; dim >= 0; --dim) {
    Value at = rest;
    if (dim > 0) {
      at = arith::RemUIOp::create(builder, loc, rest, number(counts[dim]));
      rest = arith::DivUIOp::create(builder, loc, rest, number(counts[dim]));
    }
    if (steps[dim] != 1)
      at = arith::MulIOp::create(builder, loc, at, constant(steps[dim]));
    if (lows[dim] != 0)
      at = arith::AddIOp::create(builder, loc, at, constant(lows[dim]));
    homes.scalars.map(op.getInductionVar(dim), at);
  }
  if (failed(convertBody(*op.getBody())))
    return failure();
  for (Operation &insert : op.getTerminator().getYieldingOps()) {
    auto slice = dyn_cast<tensor::ParallelInsertSliceOp>(insert);
    if (!slice)
      return insert.emitError("cannot end a block on a GPU");
    if (failed(convertParallelInsert(slice)))
      return failure();
  }
  return success();
}

LogicalResult BlockToTile::convertReturn(func::ReturnOp op) {
  for (auto [i, value] : llvm::enumerate(op.getOperands())) {
    if (homes[value].kind == Home::Memory &&
        homes[value].value == resultMemory[i])
      continue;
    FailureOr<Value> elements = homes.asTile(value);
    if (failed(elements))
      return failure();
    tile::StoreOp::create(builder, op.getLoc(), *elements, resultMemory[i]);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult BlockToTile::convert(Operation *op) {
  if (auto loop = dyn_cast<scf::ForallOp>(op)) {
    if (op->getParentOp() != program)
      return op->emitError("blocks inside of blocks have no form on a GPU");
    return convertGrid(loop);
  }
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return convertFor(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return convertIf(branch);
  if (auto loop = dyn_cast<scf::WhileOp>(op); loop && keepWhile)
    return convertWhile(loop);
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return convertLinalg(linalgOp);
  if (isa_and_nonnull<block::BlockDialect>(op->getDialect()))
    return convertBlockOp(op);
  if (isa_and_nonnull<tensor::TensorDialect>(op->getDialect()))
    return convertTensorOp(op);
  bool tensors =
      llvm::any_of(op->getResultTypes(), llvm::IsaPred<TensorType>) ||
      llvm::any_of(op->getOperandTypes(), llvm::IsaPred<TensorType>);
  if (tensors)
    return convertElementwise(op);
  if (op->getNumRegions() != 0)
    return op->emitOpError("has no form on a GPU yet");
  builder.clone(*op, homes.scalars);
  return success();
}

/// Each element chosen by its place: for the few numbers that a program has,
/// such as factors of octaves.
LogicalResult BlockToTile::convertTable(arith::ConstantOp op) {
  auto table = dyn_cast<DenseElementsAttr>(op.getValue());
  auto type = cast<RankedTensorType>(op.getType());
  constexpr int64_t most = 64;
  if (!table || type.getNumElements() > most)
    return op->emitError("tables of more than ")
           << most
           << " constants have no form on a GPU yet: "
              "pass them as arguments";
  Location loc = op.getLoc();
  int64_t count = type.getNumElements();
  auto line = RankedTensorType::get({count}, type.getElementType());
  auto places = RankedTensorType::get({count}, builder.getIndexType());
  Value place =
      tile::IotaOp::create(builder, loc, places, builder.getI64IntegerAttr(0));
  auto elements = llvm::to_vector(table.getValues<Attribute>());
  Value result;
  for (auto [i, element] : llvm::enumerate(elements)) {
    Value here = homes.splat(
        loc, arith::ConstantOp::create(builder, loc, cast<TypedAttr>(element)),
        line.getShape());
    if (!result) {
      result = here;
      continue;
    }
    Value from = homes.splat(
        loc, arith::ConstantIndexOp::create(builder, loc, i), line.getShape());
    Value chosen = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::sge, place, from);
    result = arith::SelectOp::create(builder, loc, chosen, here, result);
  }
  if (type.getRank() != 1)
    result = tile::ReshapeOp::create(builder, loc, type, result);
  homes.setTile(op.getResult(), result);
  return success();
}

LogicalResult BlockToTile::convertElementwise(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto splatted = dyn_cast<SplatElementsAttr>(constant.getValue());
    auto type = cast<RankedTensorType>(constant.getType());
    if (!splatted)
      return convertTable(constant);
    Value scalar = arith::ConstantOp::create(
        builder, op->getLoc(), splatted.getSplatValue<TypedAttr>());
    homes.setTile(op->getResult(0),
                  homes.splat(op->getLoc(), scalar, type.getShape()));
    return success();
  }
  if (!OpTrait::hasElementwiseMappableTraits(op) || op->getNumRegions() != 0)
    return op->emitOpError("has no form on a GPU yet");
  IRMapping operands;
  for (Value operand : op->getOperands()) {
    if (!isa<RankedTensorType>(operand.getType())) {
      operands.map(operand, homes.scalars.lookup(operand));
      continue;
    }
    FailureOr<Value> elements = homes.asTile(operand);
    if (failed(elements))
      return failure();
    operands.map(operand, *elements);
  }
  Operation *copy = builder.clone(*op, operands);
  for (auto [from, to] : llvm::zip(op->getResults(), copy->getResults()))
    homes.setTile(from, to);
  return success();
}

LogicalResult BlockToTile::convertBlockOp(Operation *op) {
  Location loc = op->getLoc();
  if (auto gather = dyn_cast<block::GatherOp>(op)) {
    FailureOr<Value> source = homes.asMemory(gather.getSource());
    FailureOr<Value> indices = homes.asTile(gather.getIndices());
    if (failed(source) || failed(indices))
      return failure();
    homes.setTile(gather.getResult(),
                  tile::GatherOp::create(builder, loc,
                                         gather.getResult().getType(), *source,
                                         *indices));
    return success();
  }
  if (auto scatter = dyn_cast<block::ScatterOp>(op)) {
    if (scatter.getAccumulate())
      return op->emitError("adding rows in order has no form on a GPU yet");
    FailureOr<Value> rows = homes.asTile(scatter.getRows());
    FailureOr<Value> indices = homes.asTile(scatter.getIndices());
    if (failed(rows) || failed(indices))
      return failure();
    Value dest = scatter.getDest();
    FailureOr<Value> memory = homes.memoryToChange(dest, op);
    if (failed(memory))
      return failure();
    tile::ScatterOp::create(builder, loc, *rows, *memory, *indices);
    homes.setMemory(scatter.getResult(), *memory, /*writable=*/true);
    return success();
  }
  if (auto scan = dyn_cast<block::ScanOp>(op)) {
    FailureOr<Value> input = homes.asTile(scan.getInput());
    if (failed(input))
      return failure();
    auto type = cast<RankedTensorType>(scan.getResult().getType());
    auto running = type.clone(block::runningType(type.getElementType()));
    if (input->getType() != running)
      *input = arith::ExtFOp::create(builder, loc, running, *input);
    tile::Combiner kind =
        scan.getKind() == block::ScanKind::Add   ? tile::Combiner::Add
        : scan.getKind() == block::ScanKind::Mul ? tile::Combiner::Mul
                                                 : tile::Combiner::Max;
    Value result =
        tile::ScanOp::create(builder, loc, running, kind, scan.getExclusive(),
                             scan.getReverse(), *input, scan.getDimension());
    if (running != type)
      result = arith::TruncFOp::create(builder, loc, type, result);
    homes.setTile(scan.getResult(), result);
    return success();
  }
  if (auto solve = dyn_cast<block::SolveTriangularOp>(op)) {
    FailureOr<Value> matrix = homes.asTile(solve.getMatrix());
    FailureOr<Value> rhs = homes.asTile(solve.getRhs());
    if (failed(matrix) || failed(rhs))
      return failure();
    Value memory =
        homes.allocate(loc, cast<RankedTensorType>(matrix->getType()));
    tile::StoreOp::create(builder, loc, *matrix, memory);
    bool lower = solve.getTriangle() == block::Triangle::Lower;
    homes.setTile(solve.getResult(),
                  tile::SolveOp::create(
                      builder, loc, rhs->getType(),
                      /*reverse=*/lower == solve.getTranspose(),
                      solve.getTranspose(), solve.getUnit(), memory, *rhs));
    return success();
  }
  return op->emitOpError("has no form on a GPU yet");
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

LogicalResult BlockToTile::run() {
  if (!program.getBody().hasOneBlock())
    return program.emitError("is no block program: it has branches");
  // Only a few ops of linalg are known by name.
  IRRewriter rewriter(program.getContext());
  SmallVector<linalg::LinalgOp> named;
  program.walk([&](linalg::LinalgOp op) {
    if (!isa<linalg::GenericOp, linalg::FillOp>(op.getOperation()) &&
        !linalg::isaContractionOpInterface(op))
      named.push_back(op);
  });
  for (linalg::LinalgOp op : named) {
    rewriter.setInsertionPoint(op);
    if (failed(linalg::generalizeNamedOp(rewriter, op)))
      return op->emitOpError("has no form on a GPU yet");
  }

  Location loc = program.getLoc();
  SmallVector<Type> types;
  auto memoryOf = [](RankedTensorType type) {
    return MemRefType::get(type.getShape(), type.getElementType());
  };
  auto signature = program.getFunctionType();
  for (Type type : signature.getInputs()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    types.push_back(tensor ? Type(memoryOf(tensor)) : type);
  }
  for (Type type : signature.getResults())
    types.push_back(memoryOf(cast<RankedTensorType>(type)));
  kernel = func::FuncOp::create(loc, program.getName(),
                                builder.getFunctionType(types, {}));
  (*kernel)->setAttr(kernelAttr, builder.getUnitAttr());
  if (auto function = program->getAttrOfType<StringAttr>(kernelOfAttr))
    (*kernel)->setAttr(kernelOfAttr, function);
  (*kernel)->setAttr(gridAttr, builder.getI64IntegerAttr(1));
  (*kernel)->setAttr(inputsAttr,
                     builder.getI64IntegerAttr(signature.getNumInputs()));
  // Which extents are open stays known.
  for (unsigned i = 0; i < signature.getNumInputs(); ++i)
    kernel->setArgAttrs(i, program.getArgAttrDict(i));
  for (unsigned i = 0; i < signature.getNumResults(); ++i)
    kernel->setArgAttrs(signature.getNumInputs() + i,
                        program.getResultAttrDict(i));
  Block *body = kernel->addEntryBlock();
  builder.setInsertionPointToEnd(body);
  for (BlockArgument argument : program.getArguments()) {
    Value given = body->getArgument(argument.getArgNumber());
    if (isa<RankedTensorType>(argument.getType()))
      homes.setMemory(argument, given, /*writable=*/false);
    else
      homes.scalars.map(argument, given);
  }
  for (unsigned i = signature.getNumInputs(); i < types.size(); ++i)
    resultMemory.push_back(body->getArgument(i));
  Block &entry = program.getBody().front();
  OpBuilder::InsertPoint end = builder.saveInsertionPoint();
  if (failed(makeGrid()) || failed(convertBody(entry)) ||
      failed(convertReturn(cast<func::ReturnOp>(entry.getTerminator()))))
    return failure();
  builder.setInsertionPointToEnd(end.getBlock());
  func::ReturnOp::create(builder, loc);
  program.getBody().takeBody(kernel->getBody());
  if (Attribute schedule = program->getAttr(scheduleAttr))
    (*kernel)->setAttr(scheduleAttr, schedule);
  program.removeResAttrsAttr();
  program->setAttrs((*kernel)->getAttrDictionary());
  program.setFunctionType(kernel->getFunctionType());
  return success();
}

namespace {

struct NvptxBlockToTile : impl::NvptxBlockToTileBase<NvptxBlockToTile> {
  using NvptxBlockToTileBase::NvptxBlockToTileBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || !function->hasAttr(kernelAttr))
      return;
    if (failed(cutOpenSums(function)) || failed(cutOpenRows(function)))
      return signalPassFailure();
    privatizeEmptyTensors(function);
    BlockToTile converter(function, maxGrid, keepWhile);
    if (failed(converter.run()))
      signalPassFailure();
  }
};

} // namespace
} // namespace drawloom::nvptx
