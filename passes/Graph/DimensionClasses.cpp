//===- DimensionClasses.cpp - dimensions that are one and the same --------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Graph/DimensionClasses.h"
#include "dialects/Interfaces/Interfaces.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "passes/Graph/OpenExtents.h"

using namespace mlir;

namespace drawloom {

bool isInit(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return isa<SplatElementsAttr>(constant.getValue());
  return isa<tensor::EmptyOp, linalg::FillOp>(op);
}

bool isStructural(Operation *op) {
  return isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ConcatOp,
             tensor::ExpandShapeOp, tensor::ExtractSliceOp,
             tensor::InsertSliceOp>(op);
}

bool isRowwise(Operation *op) {
  return isa<RowwiseOpInterface>(op) && isa<TilingInterface>(op);
}

static SmallVector<ReassociationIndices> groupsOf(Operation *reshape) {
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(reshape))
    return collapse.getReassociationIndices();
  return cast<tensor::ExpandShapeOp>(reshape).getReassociationIndices();
}

std::pair<Value, unsigned> joinedSide(Operation *op) {
  auto dim = op->getAttrOfType<IntegerAttr>(joinedRowsAttr);
  if (!dim || !isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
    return {};
  Value side = isa<tensor::CollapseShapeOp>(op) ? Value(op->getResult(0))
                                                : op->getOperand(0);
  return {side, static_cast<unsigned>(dim.getInt())};
}

std::pair<Value, unsigned> partedSide(Operation *op) {
  auto [joined, dim] = joinedSide(op);
  if (!joined)
    return {};
  Value side = isa<tensor::CollapseShapeOp>(op) ? op->getOperand(0)
                                                : Value(op->getResult(0));
  return {side, static_cast<unsigned>(groupsOf(op)[dim].front())};
}

DimensionClasses::DimensionClasses(Block &block) {
  DenseMap<int64_t, Class> ofNumber;
  if (auto function = dyn_cast<FunctionOpInterface>(block.getParentOp()))
    for (BlockArgument argument : block.getArguments()) {
      // Calls are checked for these.
      if (auto numbers = function.getArgAttrOfType<DenseI64ArrayAttr>(
              argument.getArgNumber(), extentsAttr))
        for (auto [dim, number] : llvm::enumerate(numbers.asArrayRef()))
          if (number >= 0 && tensorType(argument) &&
              dim < static_cast<size_t>(tensorType(argument).getRank())) {
            auto [first, isNew] =
                ofNumber.try_emplace(number, of(argument, dim));
            if (!isNew)
              unite(first->second, of(argument, dim));
          }
      if (!function->hasAttr(cutAsOpenAttr))
        continue;
      if (auto dims = function.getArgAttrOfType<DenseI64ArrayAttr>(
              argument.getArgNumber(), givenDimsAttr))
        for (int64_t dim : dims.asArrayRef())
          if (tensorType(argument) && dim < tensorType(argument).getRank())
            given.push_back(of(argument, dim));
    }
  for (Operation &op : block)
    relate(&op);
  relateDifferences();
}

/// What is less than one dimension by the same, or more, is one dimension.
void DimensionClasses::relateDifferences() {
  bool again = true;
  auto uniteNew = [&](Class a, Class b) {
    again |= find(a) != find(b);
    unite(a, b);
  };
  while (std::exchange(again, false))
    for (auto [i, one] : llvm::enumerate(differences))
      for (const Larger &other : ArrayRef(differences).drop_front(i + 1)) {
        if (one.by != other.by)
          continue;
        if (find(one.larger) == find(other.larger))
          uniteNew(one.than, other.than);
        if (find(one.than) == find(other.than))
          uniteNew(one.larger, other.larger);
      }
}

DimensionClasses::Class DimensionClasses::node(void *key, unsigned index) {
  auto [it, isNew] = ids.try_emplace({key, index}, parent.size());
  if (isNew)
    parent.push_back(parent.size());
  return it->second;
}

DimensionClasses::Class DimensionClasses::of(Value value, unsigned dim) {
  return node(value.getAsOpaquePointer(), dim);
}

DimensionClasses::Class DimensionClasses::ofLoop(Operation *op, unsigned loop) {
  return node(op, loop);
}

void DimensionClasses::forget(Operation *op) {
  for (Value result : op->getResults())
    if (RankedTensorType type = tensorType(result))
      for (int64_t dim = 0; dim < type.getRank(); ++dim)
        ids.erase({result.getAsOpaquePointer(), dim});
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    for (unsigned loop = 0; loop < linalgOp.getNumLoops(); ++loop)
      ids.erase({op, loop});
}

DimensionClasses::Class DimensionClasses::find(Class n) {
  while (parent[n] != n)
    n = parent[n] = parent[parent[n]];
  return n;
}

void DimensionClasses::unite(Class a, Class b) { parent[find(b)] = find(a); }

/// Whether a slice along a dimension is all of it.
bool DimensionClasses::isAll(OpFoldResult offset, OpFoldResult size,
                             Value tensor, unsigned dim) {
  if (!isZeroInteger(offset))
    return false;
  int64_t extent = tensorType(tensor).getDimSize(dim);
  if (!ShapedType::isDynamic(extent))
    return getConstantIntValue(size) == extent;
  auto asked = dyn_cast<Value>(size);
  auto of = asked ? asked.getDefiningOp<tensor::DimOp>() : tensor::DimOp();
  std::optional<int64_t> at = of ? of.getConstantIndex() : std::nullopt;
  return at && tensorType(of.getSource()) &&
         find(this->of(of.getSource(), *at)) == find(this->of(tensor, dim));
}

void DimensionClasses::same(Value a, unsigned i, Value b, unsigned j) {
  unite(of(a, i), of(b, j));
}

void DimensionClasses::relateLoops(linalg::LinalgOp linalgOp) {
  Operation *op = linalgOp;
  if (isa<linalg::FillOp>(op))
    return;
  llvm::SmallBitVector told(linalgOp.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    if (!tensorType(operand.get()))
      continue;
    AffineMap map = linalgOp.getMatchingIndexingMap(&operand);
    bool isOutput = linalgOp.isDpsInit(&operand);
    auto made = isOutput ? operand.get().getDefiningOp<tensor::EmptyOp>()
                         : tensor::EmptyOp();
    for (auto [i, expr] : llvm::enumerate(map.getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim)
        continue;
      Class loop = ofLoop(op, dim.getPosition());
      if (!isInit(operand.get())) {
        unite(loop, of(operand.get(), i));
        told.set(dim.getPosition());
      }
      if (isOutput)
        unite(loop, of(linalgOp.getTiedOpResult(&operand), i));
      // What reads nothing has the extent of what it is made in.
      if (made && made.getType().isDynamicDim(i) && !told[dim.getPosition()])
        if (std::optional<Asked> asked = askedBy(made.getDynamicSize(i)))
          relateAsked(loop, *asked);
    }
  }
}

/// By sameDimensionsAttr.
void DimensionClasses::relatePairs(Operation *op, DenseI64ArrayAttr pairs) {
  auto value = [&](int64_t i) -> Value {
    auto operands = static_cast<int64_t>(op->getNumOperands());
    return i < operands ? op->getOperand(i) : op->getResult(i - operands);
  };
  for (size_t i = 0; i + 3 < static_cast<size_t>(pairs.size()); i += 4)
    if (!isInit(value(pairs[i])) && !isInit(value(pairs[i + 2])))
      same(value(pairs[i]), pairs[i + 1], value(pairs[i + 2]), pairs[i + 3]);
}

/// An assertion says that two extents are the same.
void DimensionClasses::relateAsserted(cf::AssertOp assertion) {
  auto compared = assertion.getArg().getDefiningOp<arith::CmpIOp>();
  if (!compared || compared.getPredicate() != arith::CmpIPredicate::eq)
    return;
  std::optional<Asked> x = askedBy(compared.getLhs()),
                       y = askedBy(compared.getRhs());
  if (!x || !y)
    return;
  y->more -= x->more;
  relateAsked(of(x->tensor, x->dim), *y);
}

std::optional<DimensionClasses::Asked> DimensionClasses::askedBy(Value extent) {
  int64_t more = 0;
  while (Operation *sum = extent.getDefiningOp()) {
    if (!isa<arith::AddIOp, arith::SubIOp>(sum))
      break;
    std::optional<int64_t> by = getConstantIntValue(sum->getOperand(1));
    if (!by)
      return std::nullopt;
    more += isa<arith::AddIOp>(sum) ? *by : -*by;
    extent = sum->getOperand(0);
  }
  auto asked = extent.getDefiningOp<tensor::DimOp>();
  std::optional<int64_t> at = asked ? asked.getConstantIndex() : std::nullopt;
  if (!at || !tensorType(asked.getSource()))
    return std::nullopt;
  return Asked{asked.getSource(), static_cast<unsigned>(*at), more};
}

/// A dimension has the extent that is asked for.
void DimensionClasses::relateAsked(Class id, const Asked &asked) {
  Class other = of(asked.tensor, asked.dim);
  if (asked.more == 0)
    unite(other, id);
  else if (asked.more > 0)
    differences.push_back({id, other, asked.more});
  else
    differences.push_back({other, id, -asked.more});
}

/// Results have the extents of what they are made in.
void DimensionClasses::relateResults(scf::ForallOp forall) {
  for (auto [out, result] :
       llvm::zip_equal(forall.getOutputs(), forall.getResults())) {
    auto made = out.getDefiningOp<tensor::EmptyOp>();
    for (int64_t dim = 0; dim < tensorType(result).getRank(); ++dim) {
      if (!made) {
        same(out, dim, result, dim);
        continue;
      }
      if (!tensorType(result).isDynamicDim(dim))
        continue;
      if (std::optional<Asked> asked = askedBy(made.getDynamicSize(dim)))
        relateAsked(of(result, dim), *asked);
    }
  }
}

bool DimensionClasses::isGiven(Class id) {
  return llvm::any_of(given, [&](Class one) { return find(one) == find(id); });
}

/// Where the extents of a call are known, no op asks for them any more. But
/// what blocks read and write in the same place of one dimension is the same
/// part of it.
void DimensionClasses::relateGiven(scf::ForallOp forall) {
  if (given.empty())
    return;
  SmallVector<tensor::ExtractSliceOp> reads;
  for (auto slice : forall.getBody()->getOps<tensor::ExtractSliceOp>())
    if (slice.getSource().getParentBlock() == forall->getBlock() &&
        !isInit(slice.getSource()))
      reads.push_back(slice);
  auto isSamePlace = [](auto a, auto b, RankedTensorType of,
                        RankedTensorType other, int64_t dim) {
    return of.getDimSize(dim) == other.getDimSize(dim) &&
           a.getMixedOffsets()[dim] == b.getMixedOffsets()[dim] &&
           a.getMixedSizes()[dim] == b.getMixedSizes()[dim];
  };
  for (tensor::ExtractSliceOp read : reads) {
    RankedTensorType from = read.getSourceType();
    for (int64_t dim = 0; dim < from.getRank(); ++dim) {
      if (!isGiven(of(read.getSource(), dim)))
        continue;
      for (tensor::ExtractSliceOp other : reads)
        if (dim < other.getSourceType().getRank() &&
            isSamePlace(read, other, from, other.getSourceType(), dim))
          same(read.getSource(), dim, other.getSource(), dim);
      for (auto [argument, result] :
           llvm::zip_equal(forall.getRegionIterArgs(), forall.getResults()))
        for (Operation *writer : forall.getCombiningOps(argument))
          if (auto write = dyn_cast<tensor::ParallelInsertSliceOp>(writer);
              write && dim < tensorType(result).getRank() &&
              isSamePlace(read, write, from, tensorType(result), dim))
            same(read.getSource(), dim, result, dim);
    }
  }
}

void DimensionClasses::relateRows(Operation *op) {
  auto rowwise = cast<RowwiseOpInterface>(op);
  for (OpOperand &operand : op->getOpOperands())
    if (tensorType(operand.get()) && !isInit(operand.get()) &&
        rowwise.isRowOperand(operand.getOperandNumber()))
      unite(ofLoop(op, 0), of(operand.get(), 0));
  for (Value result : op->getResults())
    unite(ofLoop(op, 0), of(result, 0));
}

void DimensionClasses::relateShapes(Operation *op) {
  Value result = op->getResult(0);
  if (auto castOp = dyn_cast<tensor::CastOp>(op)) {
    if (tensorType(result) && tensorType(castOp.getSource()))
      for (int64_t i = 0; i < tensorType(result).getRank(); ++i)
        same(castOp.getSource(), i, result, i);
  } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    unsigned j = 0;
    for (int64_t i = 0; i < slice.getSourceType().getRank(); ++i) {
      if (dropped.test(i))
        continue;
      if (isAll(slice.getMixedOffsets()[i], slice.getMixedSizes()[i],
                slice.getSource(), i))
        same(slice.getSource(), i, result, j);
      ++j;
    }
  } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    llvm::SmallBitVector dropped = insert.getDroppedDims();
    unsigned j = 0;
    for (int64_t i = 0; i < insert.getDestType().getRank(); ++i) {
      if (!isInit(insert.getDest()))
        same(insert.getDest(), i, result, i);
      if (dropped.test(i))
        continue;
      if (isAll(insert.getMixedOffsets()[i], insert.getMixedSizes()[i],
                insert.getDest(), i))
        same(insert.getSource(), j, result, i);
      ++j;
    }
  } else if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
    for (Value input : concat.getInputs())
      for (int64_t i = 0; i < tensorType(result).getRank(); ++i)
        if (i != static_cast<int64_t>(concat.getDim()))
          same(input, i, result, i);
  } else {
    bool collapses = isa<tensor::CollapseShapeOp>(op);
    if (auto [joined, dim] = joinedSide(op); joined) {
      if (joinedRows)
        unite(*joinedRows, of(joined, dim));
      else
        joinedRows = of(joined, dim);
    }
    // An extent that is made as large as another one.
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
      for (auto [dim, size] : llvm::enumerate(expand.getMixedOutputShape()))
        if (auto value = dyn_cast<Value>(size))
          if (std::optional<Asked> asked = askedBy(value);
              asked && !isInit(asked->tensor))
            relateAsked(of(result, dim), *asked);
    Value joined = collapses ? result : op->getOperand(0),
          apart = collapses ? op->getOperand(0) : result;
    for (auto [i, group] : llvm::enumerate(groupsOf(op))) {
      SmallVector<int64_t> dims(group.begin(), group.end());
      // Beside an open extent, single entries are nothing.
      if (tensorType(joined).isDynamicDim(i))
        llvm::erase_if(dims, [&](int64_t dim) {
          return tensorType(apart).getDimSize(dim) == 1;
        });
      if (dims.size() != 1)
        continue;
      if (collapses)
        same(apart, dims[0], joined, i);
      else
        same(joined, i, apart, dims[0]);
    }
  }
}

void DimensionClasses::relate(Operation *op) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    relateLoops(linalgOp);
  else if (auto pairs =
               op->getAttrOfType<DenseI64ArrayAttr>(sameDimensionsAttr))
    relatePairs(op, pairs);
  else if (auto assertion = dyn_cast<cf::AssertOp>(op))
    relateAsserted(assertion);
  else if (auto forall = dyn_cast<scf::ForallOp>(op)) {
    relateResults(forall);
    relateGiven(forall);
  } else if (isRowwise(op))
    relateRows(op);
  else if (isStructural(op))
    relateShapes(op);
}

} // namespace drawloom
