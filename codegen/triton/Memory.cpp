//===- Memory.cpp - slices, loads and stores of a Triton kernel -----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory is read where a value is used and written where a slice is inserted
// into it. Text is printed in the order in which it runs, so that a counter for
// each buffer tells whether a value still names what memory holds.
//
//===----------------------------------------------------------------------===//

#include "codegen/triton/KernelBuilder.h"

using namespace mlir;
using namespace drawloom;
using namespace drawloom::triton;

SmallVector<int64_t> View::sizes() const {
  return llvm::map_to_vector(dimensions, [](const ViewDimension &dimension) {
    return dimension.size;
  });
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

FailureOr<View>
KernelBuilder::sliceOfView(OffsetSizeAndStrideOpInterface op,
                           const View &source,
                           const llvm::SmallBitVector &dropped) {
  View view = source;
  view.slice = op;
  view.sliceDepth = source.sliceDepth + 1;
  view.dimensions.clear();
  for (auto [i, offset, size, stride] : llvm::enumerate(
           op.getMixedOffsets(), op.getMixedSizes(), op.getMixedStrides())) {
    const ViewDimension &from = source.dimensions[i];
    std::optional<int64_t> step = getConstantIntValue(stride);
    if (!step)
      return refuse(op, "a stride that is not constant");
    if (std::optional<int64_t> constant = getConstantIntValue(offset)) {
      view.offset += *constant * from.stride;
    } else {
      FailureOr<Ssa> value = scalarOf(offset, op);
      if (failed(value))
        return failure();
      Ssa scaled = *value;
      if (from.stride != 1)
        scaled = print.same("arith.muli",
                            {scaled, print.constant(print.i64(), from.stride)});
      view.dynamicOffset =
          view.dynamicOffset
              ? print.same("arith.addi", {view.dynamicOffset, scaled})
              : scaled;
    }
    if (dropped[i])
      continue;
    ViewDimension dimension;
    dimension.stride = from.stride * *step;
    if (std::optional<int64_t> constant = getConstantIntValue(size)) {
      dimension.size = *constant;
    } else {
      FailureOr<Ssa> value = scalarOf(size, op);
      if (failed(value))
        return failure();
      dimension.size = ShapedType::kDynamic;
      dimension.dynamicSize = *value;
    }
    view.dimensions.push_back(dimension);
  }
  return view;
}

FailureOr<Ssa> KernelBuilder::readPointer(const View &view, Operation *user) {
  Root &root = *view.root;
  if (!root.writable)
    return root.readPointer;
  if (view.version != root.version)
    return refuse(user, "it reads a state of a tensor that was overwritten in "
                        "memory since");
  root.wasRead = true;
  if (view.version == 0)
    return root.readPointer;
  if (root.host.kind != HostView::Kind::Undefined &&
      root.readPointer.name != root.writePointer.name)
    return refuse(user, "it reads a result of which a part was written");
  print.barrier();
  return root.writePointer;
}

FailureOr<View> KernelBuilder::write(const View &dest, Operation *user) {
  Root &root = *dest.root;
  if (!root.writable)
    return refuse(user, "it writes into an argument");
  if (dest.version != root.version)
    return refuse(user, "it writes into a state of a tensor that was "
                        "overwritten in memory since");
  if (dest.loopDepth != loopDepth)
    return refuse(user, "each iteration writes into a tensor from outside of "
                        "the loop that is not carried");
  // What was stored or read before may lie at the same place, and other
  // threads may have done it.
  if (root.version > 0 || root.wasRead)
    print.barrier();
  View result = dest;
  result.version = ++root.version;
  return result;
}

Ssa KernelBuilder::baseOf(const View &view, const Ssa &rootPointer) {
  Ssa base = rootPointer;
  if (view.dynamicOffset)
    base = print.addPointer(base, view.dynamicOffset);
  if (view.offset != 0)
    base = print.addPointer(base, print.constant(print.i64(), view.offset));
  return base;
}

Ssa KernelBuilder::elementPointers(const Ssa &base,
                                   ArrayRef<ViewDimension> dimensions,
                                   ArrayRef<int64_t> shape, const Ssa &rows) {
  if (shape.empty())
    return base;
  // Offsets inside of a tile need 64 bits only where its size says so.
  bool wide = false;
  int64_t largest = 0;
  for (auto [i, dimension] : llvm::enumerate(dimensions)) {
    int64_t extent = i == 0 && rows ? dimension.size : shape[i];
    if (extent == ShapedType::kDynamic)
      wide = true;
    else
      largest += extent * dimension.stride;
  }
  wide |= largest > std::numeric_limits<int32_t>::max();
  Type type = wide ? print.i64() : print.i32();
  int64_t rank = shape.size();
  Ssa offsets;
  for (auto [i, dimension] : llvm::enumerate(dimensions)) {
    Ssa index;
    if (i == 0 && rows) {
      index = print.convertInteger(rows, type);
      for (int64_t axis = 1; axis < rank; ++axis)
        index = print.expandDims(index, axis);
    } else if (shape[i] == 1) {
      continue;
    } else {
      index = print.convertInteger(print.iota(shape[i], i, rank), type);
    }
    if (dimension.stride != 1)
      index = print.same(
          "arith.muli",
          {index, print.constant(type, dimension.stride, index.shape)});
    if (!offsets) {
      offsets = index;
      continue;
    }
    SmallVector<Ssa> pair = {offsets, index};
    unify(pair);
    offsets = print.same("arith.addi", pair);
  }
  Ssa pointers = print.splat(base, shape);
  if (offsets)
    pointers = print.addPointer(pointers, print.broadcast(offsets, shape));
  return pointers;
}

/// What a load of memory that nothing was stored to gives.
static std::optional<Tile>
tileOfUnstored(const View &view, TtirPrinter &print,
               llvm::function_ref<Ssa(Value)> scalar) {
  const Root &root = *view.root;
  if (view.version != 0 || root.host.kind == HostView::Kind::Buffer)
    return std::nullopt;
  SmallVector<int64_t> extents = view.sizes();
  SmallVector<int64_t> shape = paddedShape(extents);
  if (root.host.kind == HostView::Kind::Undefined)
    return Tile{print.constant(root.readPointer.element, 0, shape), extents,
                true};
  if (root.host.splatAttribute)
    return Tile{print.constant(root.host.splatAttribute, shape), extents};
  return Tile{print.broadcast(scalar(root.host.splat), shape), extents};
}

FailureOr<Tile> KernelBuilder::load(const View &view, Operation *user) {
  SmallVector<int64_t> extents = view.sizes();
  if (llvm::is_contained(extents, ShapedType::kDynamic))
    return refuse(user, "it reads a tensor of dynamic shape as a whole");
  if (llvm::is_contained(extents, 0))
    return refuse(user, "it reads a tensor without elements");
  bool failedInside = false;
  if (std::optional<Tile> tile = tileOfUnstored(view, print, [&](Value value) {
        FailureOr<Ssa> scalar = scalarOf(value, user);
        failedInside = failed(scalar);
        return failedInside ? Ssa{} : *scalar;
      })) {
    if (failedInside)
      return failure();
    return *tile;
  }
  FailureOr<Ssa> pointer = readPointer(view, user);
  if (failed(pointer))
    return failure();
  SmallVector<int64_t> shape = paddedShape(extents);
  Ssa pointers =
      elementPointers(baseOf(view, *pointer), view.dimensions, shape, {});
  Ssa mask = insideMask(extents, shape,
                        llvm::to_vector(llvm::seq<int64_t>(shape.size())));
  if (mask)
    mask = print.broadcast(mask, shape);
  Ssa other = mask ? print.constant(pointer->element, 0, shape) : Ssa{};
  Ssa value = print.load(pointers, mask, other);
  bool barrierAfter = view.root->writable && view.version > 0;
  if (barrierAfter)
    print.barrier();
  return Tile{fromMemory(value, view), extents, /*zeroPadding=*/true};
}

Ssa KernelBuilder::fromMemory(const Ssa &value, const View &view) {
  if (!view.isBit)
    return value;
  return print.compare("arith.cmpi", "ne", value,
                       print.constant(value.element, 0, value.shape));
}

LogicalResult KernelBuilder::store(const View &view, const Tile &tile,
                                   const Ssa &extraMask, Operation *user) {
  SmallVector<int64_t> extents = view.sizes();
  for (auto [extent, own] : llvm::zip(extents, tile.extents))
    extent = extent == ShapedType::kDynamic ? own : extent;
  if (extents != tile.extents)
    return refuse(user, "what is stored has another shape than its place");
  ArrayRef<int64_t> shape = tile.value.shape;
  Ssa pointers = elementPointers(baseOf(view, view.root->writePointer),
                                 view.dimensions, shape, {});
  Ssa mask = insideMask(extents, shape,
                        llvm::to_vector(llvm::seq<int64_t>(shape.size())));
  mask = print.both(mask, extraMask);
  if (mask)
    mask = print.broadcast(mask, shape);
  Ssa value = tile.value;
  if (view.isBit)
    value = print.convertInteger(value, view.root->writePointer.element,
                                 /*isSigned=*/false);
  print.store(pointers, value, mask);
  return success();
}

FailureOr<Ssa> KernelBuilder::loadElements(const View &view,
                                           ArrayRef<Ssa> indices,
                                           const Ssa &mask, Operation *user) {
  if (view.root->host.kind != HostView::Kind::Buffer && view.version == 0) {
    View one = view;
    one.dimensions.clear();
    FailureOr<Tile> tile = load(one, user);
    if (failed(tile))
      return failure();
    return tile->value;
  }
  FailureOr<Ssa> pointer = readPointer(view, user);
  if (failed(pointer))
    return failure();
  Ssa base = baseOf(view, *pointer);
  Ssa offset;
  for (auto [index, dimension] : llvm::zip(indices, view.dimensions)) {
    Ssa term = print.convertInteger(index, print.i64());
    if (dimension.stride != 1)
      term = print.same(
          "arith.muli",
          {term, print.constant(print.i64(), dimension.stride, term.shape)});
    if (!offset) {
      offset = term;
      continue;
    }
    SmallVector<Ssa> pair = {offset, term};
    unify(pair);
    offset = print.same("arith.addi", pair);
  }
  if (!offset)
    return fromMemory(print.load(base, {}, {}), view);
  if (offset.isScalar())
    return fromMemory(print.load(print.addPointer(base, offset), {}, {}), view);
  SmallVector<Ssa> pair = {offset};
  Ssa inside = mask;
  if (inside) {
    pair.push_back(inside);
    unify(pair);
    inside = pair[1];
  }
  Ssa pointers = print.addPointer(print.splat(base, pair[0].shape), pair[0]);
  Ssa other =
      inside ? print.constant(pointer->element, 0, pair[0].shape) : Ssa{};
  return fromMemory(print.load(pointers, inside, other), view);
}

//===----------------------------------------------------------------------===//
// Slices of tiles
//===----------------------------------------------------------------------===//

Ssa KernelBuilder::take(const Ssa &value, const Ssa &indices, int64_t axis) {
  int64_t rank = value.shape.size();
  SmallVector<int64_t> shape(value.shape);
  shape[axis] = indices.shape[0];
  Ssa spread = indices;
  for (int64_t i = 0; i < axis; ++i)
    spread = print.expandDims(spread, 0);
  for (int64_t i = axis + 1; i < rank; ++i)
    spread = print.expandDims(spread, i);
  spread = print.broadcast(spread, shape);
  // Bits are gathered as bytes.
  if (value.element.isInteger(1)) {
    Type byte = IntegerType::get(value.element.getContext(), 8);
    Ssa bytes =
        print.gather(print.convertInteger(value, byte, false), spread, axis);
    return print.compare("arith.cmpi", "ne", bytes,
                         print.constant(byte, 0, bytes.shape));
  }
  return print.gather(value, spread, axis);
}

/// A number between 0 and extent - 1.
static Ssa clamp(TtirPrinter &print, const Ssa &indices, int64_t extent) {
  Ssa low =
      print.same("arith.maxsi",
                 {indices, print.constant(indices.element, 0, indices.shape)});
  return print.same(
      "arith.minsi",
      {low, print.constant(indices.element, extent - 1, indices.shape)});
}

FailureOr<Tile> KernelBuilder::sliceOfTile(tensor::ExtractSliceOp op,
                                           const Tile &source) {
  if (!op.getType().hasStaticShape())
    return refuse(op, "a slice of dynamic shape of a tile");
  Ssa value = source.value;
  SmallVector<int64_t> extents;
  bool zeroPadding = source.zeroPadding;
  for (auto [i, offset, size, stride] : llvm::enumerate(
           op.getMixedOffsets(), op.getMixedSizes(), op.getMixedStrides())) {
    std::optional<int64_t> extent = getConstantIntValue(size);
    std::optional<int64_t> step = getConstantIntValue(stride);
    if (!extent || !step)
      return refuse(op, "a size or stride that is not constant");
    extents.push_back(*extent);
    if (getConstantIntValue(offset) == 0 && *extent == source.extents[i] &&
        *step == 1)
      continue;
    int64_t padded = powerOfTwoAbove(*extent);
    Ssa indices = print.iota(padded, 0, 1);
    if (*step != 1)
      indices =
          print.same("arith.muli",
                     {indices, print.constant(print.i32(), *step, {padded})});
    FailureOr<Ssa> start = scalarOf(offset, op);
    if (failed(start))
      return failure();
    indices = print.same(
        "arith.addi",
        {indices,
         print.splat(print.convertInteger(*start, print.i32()), {padded})});
    value = take(value, clamp(print, indices, source.extents[i]), i);
    zeroPadding = false;
  }
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<int64_t> kept, shape;
  for (auto [i, extent] : llvm::enumerate(extents)) {
    if (dropped[i])
      continue;
    kept.push_back(extent);
    shape.push_back(value.shape[i]);
  }
  return Tile{print.reshape(value, shape), kept, zeroPadding};
}

FailureOr<Tile> KernelBuilder::insertIntoTile(tensor::InsertSliceOp op,
                                              const Tile &source,
                                              const Tile &dest) {
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<int64_t> shape;
  unsigned next = 0;
  int64_t rank = dest.extents.size();
  for (int64_t i = 0; i < rank; ++i)
    shape.push_back(dropped[i] ? 1 : source.value.shape[next++]);
  Ssa value = print.reshape(source.value, shape), inside;
  for (auto [i, offset, size, stride] : llvm::enumerate(
           op.getMixedOffsets(), op.getMixedSizes(), op.getMixedStrides())) {
    std::optional<int64_t> extent = getConstantIntValue(size);
    if (!extent || getConstantIntValue(stride) != 1)
      return refuse(op, "a size that is not constant or a stride");
    if (getConstantIntValue(offset) == 0 && *extent == dest.extents[i])
      continue;
    FailureOr<Ssa> start = scalarOf(offset, op);
    if (failed(start))
      return failure();
    int64_t padded = dest.value.shape[i];
    Ssa from = print.same(
        "arith.subi",
        {print.iota(padded, 0, 1),
         print.splat(print.convertInteger(*start, print.i32()), {padded})});
    Ssa within = print.both(
        print.compare("arith.cmpi", "sge", from,
                      print.constant(print.i32(), 0, {padded})),
        print.compare("arith.cmpi", "slt", from,
                      print.constant(print.i32(), *extent, {padded})));
    value = *extent == 1 ? value : take(value, clamp(print, from, *extent), i);
    for (int64_t axis = 0; axis < static_cast<int64_t>(i); ++axis)
      within = print.expandDims(within, 0);
    for (int64_t axis = i + 1; axis < rank; ++axis)
      within = print.expandDims(within, axis);
    if (inside) {
      SmallVector<Ssa> pair = {inside, within};
      unify(pair);
      inside = print.both(pair[0], pair[1]);
    } else {
      inside = within;
    }
  }
  value = print.broadcast(value, dest.value.shape);
  if (!inside)
    return Tile{value, dest.extents, source.zeroPadding};
  return Tile{print.select(print.broadcast(inside, dest.value.shape), value,
                           dest.value),
              dest.extents};
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult KernelBuilder::emitExtractSlice(tensor::ExtractSliceOp op) {
  FailureOr<Entry> source = entryOf(op.getSource(), op);
  if (failed(source))
    return failure();
  if (auto *view = std::get_if<View>(&*source)) {
    FailureOr<View> slice =
        sliceOfView(cast<OffsetSizeAndStrideOpInterface>(op.getOperation()),
                    *view, op.getDroppedDims());
    if (failed(slice))
      return failure();
    bind(op, *slice);
    return success();
  }
  FailureOr<Tile> slice = sliceOfTile(op, std::get<Tile>(*source));
  if (failed(slice))
    return failure();
  bind(op, *slice);
  return success();
}

LogicalResult KernelBuilder::emitInsertSlice(tensor::InsertSliceOp op) {
  FailureOr<Entry> dest = entryOf(op.getDest(), op);
  FailureOr<Entry> source = entryOf(op.getSource(), op);
  if (failed(dest) || failed(source))
    return failure();
  auto *view = std::get_if<View>(&*dest);
  if (!view || !view->root->writable) {
    FailureOr<Tile> from = tileOf(op.getSource(), op);
    FailureOr<Tile> into = tileOf(op.getDest(), op);
    if (failed(from) || failed(into))
      return failure();
    FailureOr<Tile> result = insertIntoTile(op, *from, *into);
    if (failed(result))
      return failure();
    bind(op, *result);
    return success();
  }
  if (auto *from = std::get_if<View>(&*source);
      from && from->root == view->root && from->version > view->version)
    return refuse(op, "a slice that is kept in memory is inserted into "
                      "another slice");
  FailureOr<Tile> tile = tileOf(op.getSource(), op);
  if (failed(tile))
    return failure();
  FailureOr<View> result = write(*view, op);
  if (failed(result))
    return failure();
  FailureOr<View> slot =
      sliceOfView(cast<OffsetSizeAndStrideOpInterface>(op.getOperation()),
                  *result, op.getDroppedDims());
  if (failed(slot) || failed(store(*slot, *tile, {}, op)))
    return failure();
  bind(op, *result);
  return success();
}

LogicalResult KernelBuilder::emitExtract(tensor::ExtractOp op) {
  FailureOr<Entry> source = entryOf(op.getTensor(), op);
  if (failed(source))
    return failure();
  SmallVector<Ssa> indices;
  for (Value index : op.getIndices()) {
    FailureOr<Ssa> scalar = scalarOf(index, op);
    if (failed(scalar))
      return failure();
    indices.push_back(*scalar);
  }
  if (auto *view = std::get_if<View>(&*source)) {
    FailureOr<Ssa> element = loadElements(*view, indices, {}, op);
    if (failed(element))
      return failure();
    bind(op, *element);
    return success();
  }
  Ssa value = std::holds_alternative<Tile>(*source)
                  ? std::get<Tile>(*source).value
                  : std::get<Ssa>(*source);
  for (auto [i, index] : llvm::enumerate(indices))
    value = take(value,
                 print.splat(print.convertInteger(index, print.i32()), {1}), i);
  bind(op, print.reshape(value, {}));
  return success();
}

/// Whether the padding of a group of dimensions stays behind its elements in
/// the flat order: only the first extent that is not 1 may be no power of two.
static bool isPaddedBehind(ArrayRef<int64_t> extents, ArrayRef<int64_t> group) {
  bool first = true;
  for (int64_t i : group) {
    if (extents[i] == 1)
      continue;
    if (!first && !llvm::isPowerOf2_64(extents[i]))
      return false;
    first = false;
  }
  return true;
}

/// sum of ((index / divisor) % extent) * factor over the dimensions of a group:
/// numbers places of one flat order in another.
static Ssa places(TtirPrinter &print, int64_t count, ArrayRef<int64_t> divisors,
                  ArrayRef<int64_t> extents, ArrayRef<int64_t> factors) {
  Ssa index = print.iota(count, 0, 1), sum;
  auto number = [&](int64_t value) {
    return print.constant(print.i32(), value, {count});
  };
  for (auto [divisor, extent, factor] : llvm::zip(divisors, extents, factors)) {
    Ssa term = index;
    if (divisor != 1)
      term = print.same("arith.divsi", {term, number(divisor)});
    term = print.same("arith.remsi", {term, number(extent)});
    term = print.same("arith.muli", {term, number(factor)});
    sum = sum ? print.same("arith.addi", {sum, term}) : term;
  }
  return sum;
}

Ssa KernelBuilder::paddedPlaces(ArrayRef<int64_t> extents,
                                ArrayRef<int64_t> group, int64_t count) {
  SmallVector<int64_t> divisors, own, factors;
  int64_t divisor = 1, factor = 1;
  for (int64_t i : llvm::reverse(group)) {
    divisors.push_back(divisor);
    own.push_back(extents[i]);
    factors.push_back(factor);
    divisor *= extents[i];
    factor *= powerOfTwoAbove(extents[i]);
  }
  return places(print, count, divisors, own, factors);
}

Ssa KernelBuilder::flatPlaces(ArrayRef<int64_t> extents,
                              ArrayRef<int64_t> group) {
  SmallVector<int64_t> divisors, own, factors;
  int64_t divisor = 1, factor = 1;
  for (int64_t i : llvm::reverse(group)) {
    divisors.push_back(divisor);
    own.push_back(powerOfTwoAbove(extents[i]));
    factors.push_back(factor);
    divisor *= powerOfTwoAbove(extents[i]);
    factor *= extents[i];
  }
  return places(print, divisor, divisors, own, factors);
}

LogicalResult KernelBuilder::emitReshape(Operation *op) {
  FailureOr<Entry> source = entryOf(op->getOperand(0), op);
  if (failed(source))
    return failure();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<int64_t> extents(type.getShape());
  if (isa<tensor::CastOp>(op)) {
    if (auto *view = std::get_if<View>(&*source))
      for (auto [dimension, extent] : llvm::zip(view->dimensions, extents))
        if (extent != ShapedType::kDynamic)
          dimension.size = extent;
    bind(op->getResult(0), *source);
    return success();
  }
  auto collapse = dyn_cast<tensor::CollapseShapeOp>(op);
  SmallVector<ReassociationIndices> groups =
      collapse ? collapse.getReassociationIndices()
               : cast<tensor::ExpandShapeOp>(op).getReassociationIndices();
  if (auto *view = std::get_if<View>(&*source)) {
    bool isStatic = type.hasStaticShape();
    SmallVector<int64_t> strides;
    for (const ViewDimension &dimension : view->dimensions) {
      strides.push_back(dimension.stride);
      isStatic &= dimension.size != ShapedType::kDynamic;
    }
    if (!isStatic)
      return refuse(op, "a dynamic shape");
    std::optional<SmallVector<int64_t>> next;
    if (view->root->host.kind == HostView::Kind::Undefined &&
        !view->root->writable)
      next = SmallVector<int64_t>(extents.size(), 0);
    else if (collapse)
      next = collapsedStrides(view->sizes(), strides, groups);
    else
      next = expandedStrides(strides, extents, groups);
    if (next) {
      View result = *view;
      result.dimensions.clear();
      result.slice = nullptr;
      result.sliceDepth = view->sliceDepth + 2;
      for (auto [extent, stride] : llvm::zip(extents, *next))
        result.dimensions.push_back({extent, stride, {}});
      bind(op->getResult(0), result);
      return success();
    }
  }
  FailureOr<Tile> tile = tileOf(op->getOperand(0), op);
  if (failed(tile))
    return failure();
  Ssa value = tile->value;
  bool zeroPadding = tile->zeroPadding;
  ArrayRef<int64_t> fine =
      collapse ? ArrayRef<int64_t>(tile->extents) : ArrayRef<int64_t>(extents);
  // One dimension for each group, its padding behind everything else.
  for (auto [axis, group] : llvm::enumerate(groups)) {
    int64_t elements = 1, padded = 1, axisExtent = 1;
    for (int64_t i : group) {
      axisExtent *= fine[i];
      padded *= powerOfTwoAbove(fine[i]);
    }
    elements = powerOfTwoAbove(axisExtent);
    // Where padding lies between elements these are moved, one dimension of
    // the tile at a time.
    bool inOrder = isPaddedBehind(fine, group);
    if (collapse) {
      SmallVector<int64_t> shape(value.shape.begin(),
                                 value.shape.begin() + axis);
      shape.push_back(padded);
      for (int64_t i = axis + group.size(); i < int64_t(value.shape.size());
           ++i)
        shape.push_back(value.shape[i]);
      value = print.reshape(value, shape);
      if (!inOrder)
        value = take(value,
                     clamp(print, paddedPlaces(fine, group, elements), padded),
                     axis);
    } else {
      // The axis of the group in the shape that is partly expanded so far.
      int64_t at = group.front();
      if (!inOrder)
        value =
            take(value, clamp(print, flatPlaces(fine, group), axisExtent), at);
      SmallVector<int64_t> shape(value.shape.begin(), value.shape.begin() + at);
      for (int64_t i : group)
        shape.push_back(powerOfTwoAbove(fine[i]));
      shape.append(value.shape.begin() + at + 1, value.shape.end());
      value = print.reshape(value, shape);
    }
    zeroPadding &= inOrder;
  }
  bind(op->getResult(0),
       Tile{print.reshape(value, paddedShape(extents)), extents, zeroPadding});
  return success();
}

LogicalResult KernelBuilder::emitGather(block::GatherOp op) {
  FailureOr<Tile> indices = tileOf(op.getIndices(), op);
  FailureOr<Entry> source = entryOf(op.getSource(), op);
  if (failed(indices) || failed(source))
    return failure();
  auto type = cast<RankedTensorType>(op.getResult().getType());
  if (!type.hasStaticShape())
    return refuse(op, "a dynamic shape");
  SmallVector<int64_t> extents(type.getShape());
  SmallVector<int64_t> shape = paddedShape(extents);
  Ssa rows = indices->value;
  // A negative number names no row; padding holds any number.
  Ssa named = print.compare("arith.cmpi", "sge", rows,
                            print.constant(rows.element, 0, rows.shape));
  named = print.both(named, insideMask({extents[0]}, rows.shape, {0}));
  for (size_t axis = 1; axis < shape.size(); ++axis)
    named = print.expandDims(named, axis);
  SmallVector<int64_t> others;
  for (size_t i = 1; i < shape.size(); ++i)
    others.push_back(i);
  Ssa inside = insideMask(extents, shape, others);
  if (inside) {
    SmallVector<Ssa> pair = {named, inside};
    unify(pair);
    named = print.both(pair[0], pair[1]);
  }
  named = print.broadcast(named, shape);
  if (auto *view = std::get_if<View>(&*source)) {
    FailureOr<Ssa> pointer = readPointer(*view, op);
    if (failed(pointer))
      return failure();
    if (!*pointer)
      return refuse(op, "rows of a tensor that nothing was stored to");
    Ssa pointers =
        elementPointers(baseOf(*view, *pointer), view->dimensions, shape, rows);
    Ssa value =
        print.load(pointers, named, print.constant(pointer->element, 0, shape));
    bind(op.getResult(), Tile{fromMemory(value, *view), extents, true});
    return success();
  }
  const Tile &table = std::get<Tile>(*source);
  Ssa taken = take(
      table.value,
      clamp(print, print.convertInteger(rows, print.i32()), table.extents[0]),
      0);
  bind(op.getResult(),
       Tile{print.select(named, taken, print.constant(taken.element, 0, shape)),
            extents, true});
  return success();
}

LogicalResult KernelBuilder::emitScatter(block::ScatterOp op) {
  if (op.getAccumulate())
    return refuse(op, "rows that may have equal numbers are added in order, "
                      "which one program of Triton's cannot promise");
  FailureOr<Tile> indices = tileOf(op.getIndices(), op);
  FailureOr<Tile> tile = tileOf(op.getRows(), op);
  FailureOr<Entry> dest = entryOf(op.getDest(), op);
  if (failed(indices) || failed(tile) || failed(dest))
    return failure();
  auto *view = std::get_if<View>(&*dest);
  if (!view)
    return refuse(op, "rows are stored into a tile");
  FailureOr<View> result = write(*view, op);
  if (failed(result))
    return failure();
  ArrayRef<int64_t> shape = tile->value.shape;
  Ssa rows = indices->value;
  Ssa named = print.compare("arith.cmpi", "sge", rows,
                            print.constant(rows.element, 0, rows.shape));
  named = print.both(named, insideMask({tile->extents[0]}, rows.shape, {0}));
  for (size_t axis = 1; axis < shape.size(); ++axis)
    named = print.expandDims(named, axis);
  SmallVector<int64_t> others;
  for (size_t i = 1; i < shape.size(); ++i)
    others.push_back(i);
  if (Ssa inside = insideMask(tile->extents, shape, others)) {
    SmallVector<Ssa> pair = {named, inside};
    unify(pair);
    named = print.both(pair[0], pair[1]);
  }
  Ssa pointers = elementPointers(baseOf(*view, view->root->writePointer),
                                 view->dimensions, shape, rows);
  print.store(pointers, tile->value, print.broadcast(named, shape));
  bind(op.getResult(), *result);
  return success();
}
