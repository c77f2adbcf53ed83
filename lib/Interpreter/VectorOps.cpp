//===- VectorOps.cpp - vectors as values ----------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "lib/Interpreter/Access.h"
#include "lib/Interpreter/Slices.h"

using namespace mlir;

// Vectors of any rank are values like tensors. They stand below the block
// level, but the passes that make them are worth comparing before and after.

namespace drawloom::interpreter {

//===----------------------------------------------------------------------===//
// Reductions and contractions.
//===----------------------------------------------------------------------===//

/// The arith op that combines two elements.
static StringRef combinerName(vector::CombiningKind kind, bool isFloat) {
  switch (kind) {
  case vector::CombiningKind::ADD:
    return isFloat ? "arith.addf" : "arith.addi";
  case vector::CombiningKind::MUL:
    return isFloat ? "arith.mulf" : "arith.muli";
  case vector::CombiningKind::MINUI:
    return "arith.minui";
  case vector::CombiningKind::MINSI:
    return "arith.minsi";
  case vector::CombiningKind::MINNUMF:
    return "arith.minnumf";
  case vector::CombiningKind::MAXUI:
    return "arith.maxui";
  case vector::CombiningKind::MAXSI:
    return "arith.maxsi";
  case vector::CombiningKind::MAXNUMF:
    return "arith.maxnumf";
  case vector::CombiningKind::AND:
    return "arith.andi";
  case vector::CombiningKind::OR:
    return "arith.ori";
  case vector::CombiningKind::XOR:
    return "arith.xori";
  case vector::CombiningKind::MINIMUMF:
    return "arith.minimumf";
  case vector::CombiningKind::MAXIMUMF:
    return "arith.maximumf";
  }
  llvm_unreachable("unknown combining kind");
}

/// A binary op on registers 0 and 1 with its result in 0.
static ScalarOp combiner(vector::CombiningKind kind, Type type) {
  ScalarOp op = scalarOpNamed(combinerName(kind, isFloat(type)), type);
  op.in = {0, 1, 0};
  op.out = {0, 0};
  return op;
}

static Scalar combine(const ScalarOp &op, Scalar a, Scalar b) {
  Scalar registers[] = {a, b};
  // None of the combining ops can fail.
  op.run(registers);
  return registers[0];
}

/// Combines every element of `source` into the element of `into` that `map`
/// names, in row-major order.
static void reduceInto(HostTensor &into, const HostTensor &source,
                       AffineMap map, const ScalarOp &op) {
  if (source.size() == 0)
    return;
  AffineMap identity =
      AffineMap::getMultiDimIdentityMap(source.rank(), map.getContext());
  Access from = Access::create(identity, source.shape(), source.shape());
  Access to = Access::create(map, into.shape(), source.shape());
  from.bind(source);
  to.bindMutable(into);
  SmallVector<int64_t, 4> point(source.rank(), 0);
  do {
    from.moveTo(point);
    to.moveTo(point);
    to.store(point, combine(op, to.load(point), from.load(point)));
  } while (advance(point, source.shape()));
}

static LogicalResult runMultiReduction(Call &call) {
  auto op = call.as<vector::MultiDimReductionOp>();
  SmallVector<AffineExpr> kept;
  for (int64_t dim = 0; dim < call.args[0].rank(); ++dim)
    if (!op.isReducedDim(dim))
      kept.push_back(getAffineDimExpr(dim, op.getContext()));
  HostTensor result = std::move(call.args[1]);
  reduceInto(result, call.args[0],
             AffineMap::get(call.args[0].rank(), 0, kept, op.getContext()),
             combiner(op.getKind(), op.getSource().getType()));
  call.yield(std::move(result));
  return success();
}

static LogicalResult runReduction(Call &call) {
  auto op = call.as<vector::ReductionOp>();
  ScalarOp scalar = combiner(op.getKind(), op.getVector().getType());
  const HostTensor &source = call.args[0];
  auto element = [&](const HostTensor &from, int64_t i) {
    Scalar value;
    if (from.isFloat())
      value.f = from.f()[i];
    else
      value.i = from.i()[i];
    return value;
  };
  // Vectors have at least one element.
  bool hasStart = call.args.size() == 2;
  Scalar value = hasStart ? element(call.args[1], 0) : element(source, 0);
  for (int64_t i = hasStart ? 0 : 1; i < source.size(); ++i)
    value = combine(scalar, value, element(source, i));
  call.yield(source.isFloat() ? HostTensor::scalar(value.f)
                              : HostTensor::scalar(value.i));
  return success();
}

static LogicalResult runContract(Call &call) {
  auto op = call.as<vector::ContractionOp>();
  if (call.args.size() != 3)
    return call.error() << "is executed without masks only";
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<int64_t, 4> extents(maps[0].getNumDims(), 0);
  for (unsigned i = 0; i < 3; ++i)
    for (auto [dim, expr] : llvm::enumerate(maps[i].getResults()))
      extents[cast<AffineDimExpr>(expr).getPosition()] = call.args[i].dim(dim);
  HostTensor result = std::move(call.args[2]);
  ScalarOp product =
      combiner(vector::CombiningKind::MUL, op.getLhs().getType());
  ScalarOp sum = combiner(op.getKind(), op.getResultType());
  Access a = Access::create(maps[0], call.args[0].shape(), extents);
  Access b = Access::create(maps[1], call.args[1].shape(), extents);
  Access c = Access::create(maps[2], result.shape(), extents);
  a.bind(call.args[0]);
  b.bind(call.args[1]);
  c.bindMutable(result);
  SmallVector<int64_t, 4> point(extents.size(), 0);
  do {
    a.moveTo(point);
    b.moveTo(point);
    c.moveTo(point);
    Scalar term = combine(product, a.load(point), b.load(point));
    c.store(point, combine(sum, c.load(point), term));
  } while (advance(point, extents));
  call.yield(std::move(result));
  return success();
}

//===----------------------------------------------------------------------===//
// Moving elements inside and between vectors.
//===----------------------------------------------------------------------===//

static ArrayRef<int64_t> resultShape(Call &call) {
  auto type = dyn_cast<VectorType>(call.op()->getResult(0).getType());
  return type ? type.getShape() : ArrayRef<int64_t>();
}

/// Yields a value of the result's shape whose element at each index is the one
/// of operand 0 that `map` names.
static void yieldMapped(Call &call, AffineMap map) {
  HostTensor result(call.args[0].isFloat(), resultShape(call));
  AffineMap identity =
      AffineMap::getMultiDimIdentityMap(result.rank(), call.op()->getContext());
  Access from = Access::create(map, call.args[0].shape(), result.shape());
  Access to = Access::create(identity, result.shape(), result.shape());
  from.bind(call.args[0]);
  to.bindMutable(result);
  SmallVector<int64_t, 4> point(result.rank(), 0);
  do {
    from.moveTo(point);
    to.moveTo(point);
    to.store(point, from.load(point));
  } while (advance(point, result.shape()));
  call.yield(std::move(result));
}

static LogicalResult runBroadcast(Call &call) {
  MLIRContext *context = call.op()->getContext();
  const HostTensor &source = call.args[0];
  int64_t rank = resultShape(call).size();
  SmallVector<AffineExpr> exprs;
  for (int64_t dim = 0; dim < source.rank(); ++dim)
    exprs.push_back(
        source.dim(dim) == 1
            ? getAffineConstantExpr(0, context)
            : getAffineDimExpr(rank - source.rank() + dim, context));
  yieldMapped(call, AffineMap::get(rank, 0, exprs, context));
  return success();
}

static LogicalResult runTranspose(Call &call) {
  ArrayRef<int64_t> permutation =
      call.as<vector::TransposeOp>().getPermutation();
  yieldMapped(call, inversePermutation(AffineMap::getPermutationMap(
                        permutation, call.op()->getContext())));
  return success();
}

static LogicalResult runShapeCast(Call &call) {
  call.yield(call.args[0].reshaped(resultShape(call)));
  return success();
}

/// The part of a vector of the shape given that a position of lower rank names.
static FailureOr<Slice> partAt(Call &call, ArrayRef<int64_t> shape,
                               ArrayRef<int64_t> position) {
  Slice slice;
  slice.offsets.assign(shape.size(), 0);
  slice.sizes.assign(shape.begin(), shape.end());
  slice.strides.assign(shape.size(), 1);
  for (auto [dim, index] : llvm::enumerate(position)) {
    if (index < 0 || index >= shape[dim])
      return call.error() << "has index " << index << " in dimension " << dim
                          << " of size " << shape[dim];
    slice.offsets[dim] = index;
    slice.sizes[dim] = 1;
  }
  return slice;
}

static LogicalResult runExtract(Call &call) {
  auto op = call.as<vector::ExtractOp>();
  FailureOr<Slice> slice =
      partAt(call, call.args[0].shape(), call.mixed(op.getStaticPosition(), 1));
  if (failed(slice))
    return failure();
  call.yield(readSlice(call.args[0], *slice, resultShape(call)));
  return success();
}

static LogicalResult runInsert(Call &call) {
  auto op = call.as<vector::InsertOp>();
  FailureOr<Slice> slice =
      partAt(call, call.args[1].shape(), call.mixed(op.getStaticPosition(), 2));
  if (failed(slice))
    return failure();
  HostTensor result = std::move(call.args[1]);
  writeSlice(result, *slice, call.args[0]);
  call.yield(std::move(result));
  return success();
}

static SmallVector<int64_t, 4> integers(ArrayAttr attribute) {
  SmallVector<int64_t, 4> values;
  for (Attribute value : attribute)
    values.push_back(cast<IntegerAttr>(value).getInt());
  return values;
}

static LogicalResult runExtractStridedSlice(Call &call) {
  auto op = call.as<vector::ExtractStridedSliceOp>();
  ArrayRef<int64_t> shape = call.args[0].shape();
  Slice slice{integers(op.getOffsets()), integers(op.getSizes()),
              integers(op.getStrides())};
  for (size_t dim = slice.sizes.size(); dim < shape.size(); ++dim) {
    slice.offsets.push_back(0);
    slice.sizes.push_back(shape[dim]);
    slice.strides.push_back(1);
  }
  call.yield(readSlice(call.args[0], slice, resultShape(call)));
  return success();
}

static LogicalResult runInsertStridedSlice(Call &call) {
  auto op = call.as<vector::InsertStridedSliceOp>();
  const HostTensor &value = call.args[0];
  HostTensor result = std::move(call.args[1]);
  int64_t leading = result.rank() - value.rank();
  Slice slice;
  slice.offsets = integers(op.getOffsets());
  slice.sizes.assign(leading, 1);
  llvm::append_range(slice.sizes, value.shape());
  slice.strides.assign(leading, 1);
  llvm::append_range(slice.strides, integers(op.getStrides()));
  writeSlice(result, slice, value);
  call.yield(std::move(result));
  return success();
}

static LogicalResult runFromElements(Call &call) {
  HostTensor value = HostTensor::zerosOf(call.op()->getResult(0).getType());
  for (auto [i, element] : llvm::enumerate(call.args)) {
    if (value.isFloat())
      value.mutableF()[i] = element.asFloat();
    else
      value.mutableI()[i] = element.asInt();
  }
  call.yield(std::move(value));
  return success();
}

static LogicalResult runToElements(Call &call) {
  const HostTensor &value = call.args[0];
  for (int64_t i = 0; i < value.size(); ++i)
    call.yield(value.isFloat() ? HostTensor::scalar(value.f()[i])
                               : HostTensor::scalar(value.i()[i]));
  return success();
}

static LogicalResult runStep(Call &call) {
  HostTensor value = HostTensor::zerosOf(call.op()->getResult(0).getType());
  for (auto [i, element] : llvm::enumerate(value.mutableI()))
    element = i;
  call.yield(std::move(value));
  return success();
}

/// A mask that is set where every index is below the bound of its dimension.
static void yieldMask(Call &call, ArrayRef<int64_t> bounds) {
  HostTensor mask(/*isFloat=*/false, resultShape(call));
  SmallVector<int64_t, 4> point(mask.rank(), 0);
  MutableArrayRef<int64_t> data = mask.mutableI();
  int64_t at = 0;
  do {
    bool inside = true;
    for (auto [index, bound] : llvm::zip_equal(point, bounds))
      inside &= index < bound;
    data[at++] = inside;
  } while (advance(point, mask.shape()));
  call.yield(std::move(mask));
}

static LogicalResult runCreateMask(Call &call) {
  SmallVector<int64_t, 4> bounds;
  for (const HostTensor &arg : call.args)
    bounds.push_back(arg.asInt());
  yieldMask(call, bounds);
  return success();
}

static LogicalResult runConstantMask(Call &call) {
  yieldMask(call, call.as<vector::ConstantMaskOp>().getMaskDimSizes());
  return success();
}

void addVectorOps(Registry &registry) {
  registry["vector.broadcast"] = {runBroadcast};
  registry["vector.constant_mask"] = {runConstantMask};
  registry["vector.contract"] = {runContract};
  registry["vector.create_mask"] = {runCreateMask};
  registry["vector.extract"] = {runExtract};
  registry["vector.extract_strided_slice"] = {runExtractStridedSlice};
  registry["vector.from_elements"] = {runFromElements};
  registry["vector.insert"] = {runInsert};
  registry["vector.insert_strided_slice"] = {runInsertStridedSlice};
  registry["vector.multi_reduction"] = {runMultiReduction};
  registry["vector.reduction"] = {runReduction};
  registry["vector.shape_cast"] = {runShapeCast};
  registry["vector.step"] = {runStep};
  registry["vector.to_elements"] = {runToElements};
  registry["vector.transpose"] = {runTranspose};
}

} // namespace drawloom::interpreter
