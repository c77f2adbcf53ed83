//===- SliceChain.cpp - structured ops on a part of their values ---------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Block/Fusion/SliceChain.h"
#include "dialects/Block/Block.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using linalg::LinalgOp;

namespace drawloom {

/// The steps that do something.
static SliceChain trimmed(SliceChain cut) {
  llvm::erase_if(cut, [](const SliceStep &step) { return !step.touches(); });
  return cut;
}

/// Which of a slice's dimensions are gone in the part.
static llvm::SmallBitVector droppedBy(Operation *op) {
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return slice.getDroppedDims();
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return insert.getDroppedDims();
  return cast<tensor::ParallelInsertSliceOp>(op).getDroppedDims();
}

std::optional<SliceChain> cutOf(ArrayRef<Operation *> chain) {
  SliceChain cut;
  // The first op's tensor, and what is left of its dimensions.
  RankedTensorType type;
  SmallVector<unsigned> left;
  for (Operation *op : chain) {
    auto gather = dyn_cast<block::GatherOp>(op);
    auto scatter = dyn_cast<block::ScatterOp>(op);
    auto slice = dyn_cast<OffsetSizeAndStrideOpInterface>(op);
    Value of;
    if (gather)
      of = gather.getSource();
    else if (scatter)
      of = scatter.getDest();
    else if (auto extract = dyn_cast<tensor::ExtractSliceOp>(op))
      of = extract.getSource();
    else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
      of = insert.getDest();
    else
      of = cast<tensor::ParallelInsertSliceOp>(op).getDest();
    auto ofType = cast<RankedTensorType>(of.getType());
    if (!type) {
      type = ofType;
      left = llvm::to_vector(llvm::seq<unsigned>(0, type.getRank()));
    }
    SliceStep step = {SmallVector<DimCut>(type.getRank()), Value(), op};
    if (!slice) {
      step.rows = gather ? gather.getIndices() : scatter.getIndices();
      int64_t count = cast<RankedTensorType>(step.rows.getType()).getDimSize(0);
      step.dims[left.front()] = {DimCut::Rows, OpFoldResult(),
                                 OpBuilder(op).getIndexAttr(count)};
      cut.push_back(step);
      continue;
    }
    if (!slice.hasUnitStride())
      return std::nullopt;
    llvm::SmallBitVector dropped = droppedBy(op);
    SmallVector<unsigned> kept;
    for (auto [i, offset, size] :
         llvm::enumerate(slice.getMixedOffsets(), slice.getMixedSizes())) {
      bool whole = isZeroInteger(offset) &&
                   getConstantIntValue(size) == ofType.getDimSize(i);
      if (dropped[i])
        step.dims[left[i]] = {DimCut::Index, offset, size};
      else if (!whole)
        step.dims[left[i]] = {DimCut::Part, offset, size};
      if (!dropped[i])
        kept.push_back(left[i]);
    }
    left = kept;
    cut.push_back(step);
  }
  return trimmed(cut);
}

SliceChain onLoops(const SliceChain &cut, AffineMap map) {
  SliceChain found;
  for (const SliceStep &step : cut) {
    SliceStep loops = {SmallVector<DimCut>(map.getNumDims()), step.rows,
                       step.at};
    for (auto [i, dim] : llvm::enumerate(step.dims))
      loops.dims[map.getDimPosition(i)] = dim;
    found.push_back(loops);
  }
  return trimmed(found);
}

SliceChain onOperand(const SliceChain &loops, AffineMap map) {
  SliceChain found;
  for (const SliceStep &step : loops) {
    SliceStep dims = {SmallVector<DimCut>(map.getNumResults()), step.rows,
                      step.at};
    for (unsigned i = 0; i < map.getNumResults(); ++i)
      dims.dims[i] = step.dims[map.getDimPosition(i)];
    found.push_back(dims);
  }
  return trimmed(found);
}

/// Which dimensions a cut leaves.
static llvm::SmallBitVector leftBy(const SliceChain &cut, unsigned rank) {
  llvm::SmallBitVector left(rank, true);
  for (const SliceStep &step : cut)
    for (auto [i, dim] : llvm::enumerate(step.dims))
      if (dim.kind == DimCut::Index)
        left.reset(i);
  return left;
}

SmallVector<int64_t> shapeAfter(const SliceChain &cut, RankedTensorType type) {
  SmallVector<int64_t> extents(type.getShape());
  for (const SliceStep &step : cut)
    for (auto [extent, dim] : llvm::zip_equal(extents, step.dims))
      if (dim.kind == DimCut::Part || dim.kind == DimCut::Rows)
        extent = getConstantIntValue(dim.size).value_or(ShapedType::kDynamic);
  SmallVector<int64_t> shape;
  for (unsigned i : leftBy(cut, extents.size()).set_bits())
    shape.push_back(extents[i]);
  return shape;
}

bool canRead(const SliceChain &cut) {
  for (size_t steps = 0; steps < cut.size(); ++steps) {
    const SliceStep &step = cut[steps];
    llvm::SmallBitVector left =
        leftBy(SliceChain(cut.begin(), cut.begin() + steps), step.dims.size());
    for (auto [i, dim] : llvm::enumerate(step.dims))
      if (dim.kind == DimCut::Rows && left.find_first() != static_cast<int>(i))
        return false;
  }
  return true;
}

bool canBeCut(Operation *op) {
  auto linalgOp = dyn_cast<LinalgOp>(op);
  if (!linalgOp || !linalgOp.hasPureTensorSemantics() ||
      linalgOp.hasDynamicShape() ||
      linalg::isaContractionOpInterface(linalgOp) ||
      isa<linalg::ConvolutionOpInterface>(op))
    return false;
  // Rows that are absent are computed as zeros, which nothing may be divided
  // by, and which name no place to read at.
  for (Operation &inner : linalgOp.getBlock()->without_terminator())
    if (isa<tensor::ExtractOp>(inner) || inner.getNumRegions() > 0)
      return false;
    else if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
                 arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(
                 inner) &&
             !matchPattern(inner.getOperand(1), m_NonZero()))
      return false;
  return llvm::all_of(linalgOp.getIndexingMapsArray(), [](AffineMap map) {
    return map.isProjectedPermutation();
  });
}

/// The sum of two offsets, the first of them `times` as far apart.
static OpFoldResult offsetOf(OpBuilder &b, Location loc, OpFoldResult outer,
                             int64_t times, OpFoldResult inner) {
  std::optional<int64_t> a = getConstantIntValue(outer);
  std::optional<int64_t> c = getConstantIntValue(inner);
  if (a && c)
    return b.getIndexAttr(*a * times + *c);
  Value first = arith::MulIOp::create(
      b, loc, getValueOrCreateConstantIndexOp(b, loc, outer),
      arith::ConstantIndexOp::create(b, loc, times));
  return arith::AddIOp::create(b, loc, first,
                               getValueOrCreateConstantIndexOp(b, loc, inner))
      .getResult();
}

std::optional<SliceChain> cutOfSource(tensor::ExpandShapeOp op,
                                      const SliceChain &cut,
                                      OpBuilder *builder) {
  ArrayRef<int64_t> shape = op.getResultType().getShape();
  SmallVector<ReassociationIndices> groups = op.getReassociationIndices();
  // Of each group, whether all but the last dimension are at one entry.
  llvm::SmallBitVector single(groups.size());
  SliceChain found;
  for (const SliceStep &step : cut) {
    SliceStep own = {SmallVector<DimCut>(groups.size()), step.rows, step.at};
    for (auto [i, group] : llvm::enumerate(groups)) {
      DimCut last = step.dims[group.back()];
      ArrayRef<int64_t> outer = ArrayRef(group).drop_back();
      bool touches = llvm::any_of(outer, [&](int64_t dim) {
        return step.dims[dim].kind != DimCut::Whole;
      });
      if (outer.empty() || (single[i] && !touches)) {
        own.dims[i] = last;
        continue;
      }
      if (!touches && last.kind == DimCut::Whole)
        continue;
      if (single[i] || last.kind == DimCut::Rows ||
          llvm::any_of(outer, [&](int64_t dim) {
            return step.dims[dim].kind != DimCut::Index;
          }))
        return std::nullopt;
      single.set(i);
      bool whole = last.kind == DimCut::Whole;
      Builder attributes(op.getContext());
      OpFoldResult inner =
          whole ? OpFoldResult(attributes.getIndexAttr(0)) : last.offset;
      if (builder) {
        OpBuilder::InsertionGuard guard(*builder);
        builder->setInsertionPoint(step.at);
        OpFoldResult at = step.dims[outer.front()].offset;
        for (int64_t dim : outer.drop_front())
          at = offsetOf(*builder, op.getLoc(), at, shape[dim],
                        step.dims[dim].offset);
        inner = offsetOf(*builder, op.getLoc(), at, shape[group.back()], inner);
      }
      own.dims[i] = {
          whole ? DimCut::Part : last.kind, inner,
          whole ? OpFoldResult(attributes.getIndexAttr(shape[group.back()]))
                : last.size};
    }
    found.push_back(own);
  }
  // What stays whole has other dimensions in the source.
  for (auto [i, group] : llvm::enumerate(groups))
    if (group.size() > 1 && !single[i])
      return std::nullopt;
  return trimmed(found);
}

std::optional<GatherCut> cutOfGather(const SliceChain &cut) {
  GatherCut found;
  for (const SliceStep &step : cut) {
    if (step.dims.front().kind == DimCut::Index)
      return std::nullopt;
    SliceStep source = {step.dims, Value(), step.at};
    source.dims.front() = {};
    found.source.push_back(source);
    found.rows.push_back({{step.dims.front()}, step.rows, step.at});
  }
  found.source = trimmed(found.source);
  found.rows = trimmed(found.rows);
  return found;
}

double operationsOf(LinalgOp op) {
  double count = 0;
  for (Operation &inner : op.getBlock()->without_terminator()) {
    if (inner.hasTrait<OpTrait::ConstantLike>())
      continue;
    if (isa<arith::DivFOp, arith::RemFOp, math::SqrtOp, math::RsqrtOp>(inner))
      count += 8;
    else if (isa<math::AbsFOp, math::FmaOp, math::CopySignOp, math::FloorOp,
                 math::CeilOp, math::RoundEvenOp>(inner))
      count += 1;
    else if (isa<math::MathDialect>(inner.getDialect()))
      count += 24;
    else
      count += 1;
  }
  return count;
}

Value PartBuilder::part(Value value, const SliceChain &given) {
  SliceChain cut = trimmed(given);
  if (cut.empty())
    return value;
  auto same = [&](const SliceChain &other) {
    return llvm::equal(cut, other, [](const SliceStep &a, const SliceStep &b) {
      return a.at == b.at && llvm::equal(a.dims, b.dims);
    });
  };
  for (const Known &one : known)
    if (one.value == value && same(one.cut))
      return one.part;
  Operation *op = value.getDefiningOp();
  // What holds one number or nothing is made where it is needed.
  if (op && (computed.contains(op) || isa<linalg::FillOp>(op)))
    return computePart(cast<OpResult>(value), cut, /*masked=*/false);
  auto constant = dyn_cast_or_null<arith::ConstantOp>(op);
  auto splat = constant ? dyn_cast<SplatElementsAttr>(constant.getValue())
                        : SplatElementsAttr();
  if (splat || isa_and_nonnull<tensor::EmptyOp>(op)) {
    auto type = cast<RankedTensorType>(value.getType());
    type = type.clone(shapeAfter(cut, type));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(cut.back().at);
    if (splat)
      return arith::ConstantOp::create(b, op->getLoc(),
                                       splat.resizeSplat(type));
    return tensor::EmptyOp::create(b, op->getLoc(), type.getShape(),
                                   type.getElementType());
  }
  Value found = read(value, cut);
  know(value, cut, found);
  return found;
}

Value PartBuilder::maskedPart(OpResult value, const SliceChain &cut) {
  return computePart(value, trimmed(cut), /*masked=*/true);
}

Value PartBuilder::gatherPart(Operation *op, const SliceChain &cut) {
  auto gather = cast<block::GatherOp>(op);
  Location loc = op->getLoc();
  std::optional<GatherCut> own = cutOfGather(cut);
  assert(own && "asked for before");
  bool ofReader = std::exchange(packing, false);
  Value rows = part(gather.getIndices(), own->rows);
  Value source = part(gather.getSource(), own->source);
  packing = ofReader;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(cut.back().at);
  if (Value outer = own->rows.empty() ? Value() : own->rows.back().rows) {
    // What is absent stays so.
    auto type = cast<RankedTensorType>(rows.getType());
    Value empty =
        tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
    AffineMap each = b.getMultiDimIdentityMap(1);
    rows =
        linalg::GenericOp::create(
            b, loc, type, ValueRange{rows, outer}, empty,
            ArrayRef<AffineMap>{each, each, each},
            utils::IteratorType::parallel,
            [](OpBuilder &nested, Location at, ValueRange e) {
              auto number = [&](Type type, int64_t value) -> Value {
                return arith::ConstantOp::create(
                    nested, at, nested.getIntegerAttr(type, value));
              };
              Value there =
                  arith::CmpIOp::create(nested, at, arith::CmpIPredicate::sge,
                                        e[1], number(e[1].getType(), 0));
              Value row = arith::SelectOp::create(nested, at, there, e[0],
                                                  number(e[0].getType(), -1));
              linalg::YieldOp::create(nested, at, row);
            })
            .getResult(0);
  }
  auto type = cast<RankedTensorType>(source.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[0] = cast<RankedTensorType>(rows.getType()).getDimSize(0);
  Value empty = tensor::EmptyOp::create(b, loc, shape, type.getElementType());
  return block::GatherOp::create(b, loc, empty.getType(), source, rows, empty);
}

Value PartBuilder::computePart(OpResult value, const SliceChain &cut,
                               bool masked) {
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(value.getOwner())) {
    std::optional<SliceChain> own = cutOfSource(expand, cut, &b);
    assert(own && "asked for before");
    auto source = dyn_cast<OpResult>(expand.getSrc());
    Value found = masked && source && computed.contains(source.getOwner())
                      ? maskedPart(source, *own)
                      : part(expand.getSrc(), *own);
    if (!masked)
      know(value, cut, found);
    return found;
  }
  if (isa<block::GatherOp>(value.getOwner())) {
    Value found = gatherPart(value.getOwner(), cut);
    know(value, cut, found);
    return found;
  }
  auto op = cast<LinalgOp>(value.getOwner());
  SliceChain loops = onLoops(cut, op.getIndexingMapMatchingResult(value));
  SmallVector<Value> parts = compute(op, loops, masked);
  if (!masked)
    for (auto [result, part] : llvm::zip_equal(op->getResults(), parts))
      know(result, onOperand(loops, op.getIndexingMapMatchingResult(result)),
           part);
  return parts[value.getResultNumber()];
}

/// Whether rows that a cut leaves are apart in memory.
static bool leavesGaps(const SliceChain &cut) {
  llvm::SmallBitVector left = leftBy(cut, cut.back().dims.size());
  int first = left.find_first();
  return first >= 0 && llvm::any_of(cut, [&](const SliceStep &step) {
           return llvm::any_of(
               llvm::drop_begin(step.dims, first + 1),
               [](const DimCut &dim) { return dim.kind != DimCut::Whole; });
         });
}

Value PartBuilder::read(Value value, const SliceChain &cut) {
  llvm::SmallBitVector left(cast<RankedTensorType>(value.getType()).getRank(),
                            true);
  OpBuilder::InsertionGuard guard(b);
  for (const SliceStep &step : cut) {
    auto type = cast<RankedTensorType>(value.getType());
    b.setInsertionPoint(step.at);
    Location loc = step.at->getLoc();
    if (step.rows) {
      SmallVector<int64_t> shape(type.getShape());
      shape[0] = cast<RankedTensorType>(step.rows.getType()).getDimSize(0);
      Value empty =
          tensor::EmptyOp::create(b, loc, shape, type.getElementType());
      value = block::GatherOp::create(b, loc, empty.getType(), value, step.rows,
                                      empty);
      continue;
    }
    SmallVector<OpFoldResult> offsets, sizes;
    SmallVector<int64_t> shape;
    llvm::SmallBitVector next = left;
    for (auto [i, at] : llvm::enumerate(left.set_bits())) {
      const DimCut &dim = step.dims[at];
      bool whole = dim.kind == DimCut::Whole;
      offsets.push_back(whole ? OpFoldResult(b.getIndexAttr(0)) : dim.offset);
      if (dim.kind == DimCut::Index) {
        sizes.push_back(b.getIndexAttr(1));
        next.reset(at);
        continue;
      }
      sizes.push_back(whole ? tensor::getMixedSize(b, loc, value, i)
                            : dim.size);
      shape.push_back(
          getConstantIntValue(sizes.back()).value_or(ShapedType::kDynamic));
    }
    SmallVector<OpFoldResult> strides(offsets.size(), b.getIndexAttr(1));
    value = tensor::ExtractSliceOp::create(
        b, loc, RankedTensorType::get(shape, type.getElementType()), value,
        offsets, sizes, strides);
    left = next;
  }
  if (packing && !cut.back().rows && leavesGaps(cut)) {
    b.setInsertionPoint(cut.back().at);
    Location loc = cut.back().at->getLoc();
    auto type = cast<RankedTensorType>(value.getType());
    Value empty =
        tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
    value = linalg::CopyOp::create(b, loc, value, empty).getResult(0);
  }
  return value;
}

/// Lets a part's op that asks where it is know that in terms of the whole op.
/// The rows that the last step names are argument `rows` of its body.
static void movePlaces(RewriterBase &b, linalg::GenericOp op,
                       const SliceChain &loops,
                       const llvm::SmallBitVector &left, int rows) {
  for (auto index : llvm::to_vector(op.getBody()->getOps<linalg::IndexOp>())) {
    unsigned loop = index.getDim();
    Location loc = index.getLoc();
    b.setInsertionPoint(index);
    Value at;
    if (left[loop]) {
      unsigned own = llvm::count_if(
          left.set_bits(), [&](unsigned other) { return other < loop; });
      at = linalg::IndexOp::create(b, loc, own);
    }
    for (const SliceStep &step : llvm::reverse(loops)) {
      const DimCut &dim = step.dims[loop];
      if (dim.kind == DimCut::Index) {
        at = getValueOrCreateConstantIndexOp(b, loc, dim.offset);
      } else if (dim.kind == DimCut::Part) {
        at = arith::AddIOp::create(
            b, loc, at, getValueOrCreateConstantIndexOp(b, loc, dim.offset));
      } else if (dim.kind == DimCut::Rows) {
        assert(&step == &loops.back() && "rows of rows are named by a gather");
        at = op.getBody()->getArgument(rows);
        if (!at.getType().isIndex())
          at = arith::IndexCastOp::create(b, loc, b.getIndexType(), at);
        // One that is absent is computed as the first, and left.
        Value first = arith::ConstantIndexOp::create(b, loc, 0);
        at = arith::MaxSIOp::create(b, loc, at, first);
      }
    }
    b.replaceOp(index, at);
  }
}

SmallVector<Value> PartBuilder::compute(LinalgOp op, SliceChain loops,
                                        bool masked) {
  loops = trimmed(loops);
  assert(!loops.empty() && "a part of nothing is the whole");
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  llvm::SmallBitVector left = leftBy(loops, op.getNumLoops());
  Location loc = op.getLoc();
  OpBuilder::InsertionGuard guard(b);
  auto mapAfter = [&](AffineMap map) {
    SmallVector<AffineExpr> exprs;
    for (unsigned i = 0; i < map.getNumResults(); ++i) {
      unsigned loop = map.getDimPosition(i);
      if (left[loop])
        exprs.push_back(b.getAffineDimExpr(llvm::count_if(
            left.set_bits(), [&](unsigned other) { return other < loop; })));
    }
    return AffineMap::get(left.count(), 0, exprs, b.getContext());
  };
  SmallVector<Value> inputs, inits;
  SmallVector<AffineMap> newMaps;
  // What a division or more takes to compute.
  bool ofReader = std::exchange(packing, packs && operationsOf(op) >= 8);
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    bool scalar = !isa<RankedTensorType>(input->get().getType());
    inputs.push_back(scalar ? input->get()
                            : part(input->get(), onOperand(loops, map)));
    newMaps.push_back(mapAfter(map));
  }
  packing = ofReader;
  const SliceStep &last = loops.back();
  assert((last.rows || !masked) && "no row is missing");
  bool asksForRows = last.rows && op.hasIndexSemantics();
  if (masked || asksForRows) {
    inputs.push_back(last.rows);
    AffineExpr row;
    for (auto [i, loop] : llvm::enumerate(left.set_bits()))
      if (last.dims[loop].kind == DimCut::Rows)
        row = b.getAffineDimExpr(i);
    newMaps.push_back(AffineMap::get(left.count(), 0, row));
  }
  for (OpOperand &init : op.getDpsInitsMutable()) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    SliceChain cut = onOperand(loops, map);
    auto type = cast<RankedTensorType>(init.get().getType());
    b.setInsertionPoint(last.at);
    inits.push_back(
        op.payloadUsesValueFromOperand(&init)
            ? part(init.get(), cut)
            : Value(tensor::EmptyOp::create(b, loc, shapeAfter(cut, type),
                                            type.getElementType())));
    newMaps.push_back(mapAfter(map));
  }
  b.setInsertionPoint(last.at);
  if (isa<linalg::FillOp>(op) && !masked)
    return linalg::FillOp::create(b, loc, inputs, inits)->getResults();
  SmallVector<utils::IteratorType> iterators;
  for (auto [i, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
    if (left[i])
      iterators.push_back(iterator);
  auto generic = linalg::GenericOp::create(b, loc, ValueRange(inits).getTypes(),
                                           inputs, inits, newMaps, iterators);
  b.cloneRegionBefore(op->getRegion(0), generic.getRegion(),
                      generic.getRegion().end());
  Type number = last.rows ? getElementTypeOrSelf(last.rows.getType()) : Type();
  Block *body = generic.getBody();
  Value row;
  if (masked || asksForRows)
    row = body->insertArgument(op.getNumDpsInputs(), number, loc);
  if (op.hasIndexSemantics())
    movePlaces(b, generic, loops, left, op.getNumDpsInputs());
  if (masked) {
    Operation *yield = body->getTerminator();
    b.setInsertionPoint(yield);
    Value first =
        arith::ConstantOp::create(b, loc, b.getIntegerAttr(number, 0));
    Value there =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, row, first);
    for (OpOperand &value : yield->getOpOperands()) {
      Value zero = arith::ConstantOp::create(
          b, loc, b.getZeroAttr(value.get().getType()));
      value.set(arith::SelectOp::create(b, loc, there, value.get(), zero));
    }
  }
  return generic->getResults();
}

} // namespace drawloom
