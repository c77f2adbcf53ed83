//===- Shapes.cpp - reductions, products and reshapes of tiles ------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/triton/KernelExport.h"

using namespace mlir;
using namespace drawloom;
using namespace drawloom::triton;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

void KernelExport::unify(SmallVectorImpl<Ssa> &values) {
  SmallVector<int64_t> shape;
  for (const Ssa &value : values) {
    if (value.isScalar())
      continue;
    if (shape.empty())
      shape.assign(value.shape.size(), 1);
    for (auto [extent, own] : llvm::zip(shape, value.shape))
      extent = std::max(extent, own);
  }
  for (Ssa &value : values)
    value = print.broadcast(value, shape);
}

Ssa KernelExport::arithmetic(StringRef name, Ssa a, Ssa b) {
  SmallVector<Ssa> pair = {a, b};
  unify(pair);
  return print.same(name, pair);
}

Ssa KernelExport::arithmetic(StringRef name, const Ssa &a, int64_t b) {
  if ((name == "arith.muli" && b == 1) || (name == "arith.addi" && b == 0))
    return a;
  return print.same(name, {a, print.constant(a.element, b, a.shape)});
}

Ssa KernelExport::both(const Ssa &a, const Ssa &b) {
  return a && b ? arithmetic("arith.andi", a, b) : a ? a : b;
}

Ssa KernelExport::along(Ssa line, int64_t axis, int64_t rank) {
  for (int64_t i = 0; i < rank; ++i)
    if (i != axis)
      line = print.expandDims(line, i);
  return line;
}

Ssa KernelExport::below(const Ssa &limit, int64_t dimension,
                        ArrayRef<int64_t> shape) {
  Ssa index = print.iota(shape[dimension], dimension, shape.size());
  return print.compare("arith.cmpi", "slt", index,
                       print.broadcast(limit, index.shape));
}

Ssa KernelExport::insideMask(ArrayRef<int64_t> extents, ArrayRef<int64_t> shape,
                             ArrayRef<int64_t> dimensions) {
  Ssa mask;
  for (int64_t i : dimensions) {
    if (extents[i] == shape[i])
      continue;
    Ssa index = print.iota(shape[i], i, shape.size());
    mask = both(
        print.compare("arith.cmpi", "slt", index,
                      print.constant(print.i32(), extents[i], index.shape)),
        mask);
  }
  return mask;
}

Ssa KernelExport::fillPadding(const Tile &tile, ArrayRef<int64_t> dimensions,
                              const Ssa &number) {
  ArrayRef<int64_t> shape = tile.value.shape;
  Ssa mask = insideMask(tile.extents, shape, dimensions);
  return mask ? print.select(print.broadcast(mask, shape), tile.value, number)
              : tile.value;
}

Ssa KernelExport::clamp(const Ssa &indices, int64_t extent) {
  return arithmetic("arith.minsi", arithmetic("arith.maxsi", indices, 0),
                    extent - 1);
}

Ssa KernelExport::take(const Ssa &value, const Ssa &indices, int64_t axis) {
  SmallVector<int64_t> shape(value.shape);
  shape[axis] = indices.shape[0];
  Ssa spread = print.broadcast(along(indices, axis, shape.size()), shape);
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

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

void KernelExport::emitBroadcast(tile::BroadcastOp op) {
  Tile source = tileOf(op.getSource());
  SmallVector<int64_t> extents(
      cast<RankedTensorType>(op.getResult().getType()).getShape());
  ArrayRef<int64_t> dims = op.getDims();
  SmallVector<int64_t> order =
      llvm::to_vector(llvm::seq<int64_t>(0, dims.size()));
  llvm::sort(order, [&](int64_t a, int64_t b) { return dims[a] < dims[b]; });
  Ssa value = print.transpose(source.value, order);
  if (!value.isScalar())
    for (int64_t i = 0; i < static_cast<int64_t>(extents.size()); ++i)
      if (!llvm::is_contained(dims, i))
        value = print.expandDims(value, i);
  entries[op.getResult()] =
      Tile{print.broadcast(value, paddedShape(extents)), extents,
           source.zeroPadding && dims.size() == extents.size()};
}

/// Whether padding stays behind the elements in the flat order: only the first
/// extent that is not 1 may be no power of two.
static bool isPaddedBehind(ArrayRef<int64_t> extents) {
  extents = extents.drop_while([](int64_t extent) { return extent == 1; });
  return llvm::all_of(
      extents.drop_front(extents.empty() ? 0 : 1),
      [](int64_t extent) { return llvm::isPowerOf2_64(extent); });
}

Tile KernelExport::reshape(const Tile &tile, ArrayRef<int64_t> extents) {
  // Dimensions in front and behind that stay as they are.
  ArrayRef<int64_t> from = tile.extents, to = extents;
  size_t front = 0, back = 0;
  while (front < std::min(from.size(), to.size()) && from[front] == to[front])
    ++front;
  while (back + front < std::min(from.size(), to.size()) &&
         from[from.size() - 1 - back] == to[to.size() - 1 - back])
    ++back;
  from = from.slice(front, from.size() - front - back);
  to = to.slice(front, to.size() - front - back);
  SmallVector<int64_t> shape = paddedShape(extents);
  int64_t count = ShapedType::getNumElements(paddedShape(from));
  int64_t wanted = ShapedType::getNumElements(paddedShape(to));
  if (count == wanted && isPaddedBehind(from) && isPaddedBehind(to))
    return {print.reshape(tile.value, shape), SmallVector<int64_t>(extents),
            tile.zeroPadding};
  // What lies between as one dimension, where each element of the result is
  // looked up: its number among all elements, and the place of that.
  SmallVector<int64_t> flat =
      paddedShape(ArrayRef(tile.extents).take_front(front));
  flat.push_back(count);
  flat.append(tile.value.shape.end() - back, tile.value.shape.end());
  Ssa places = print.iota(wanted, 0, 1);
  auto renumber = [&](ArrayRef<int64_t> divided, ArrayRef<int64_t> scaled) {
    Ssa sum;
    int64_t divisor = 1, factor = 1;
    for (auto [own, other] :
         llvm::zip(llvm::reverse(divided), llvm::reverse(scaled))) {
      Ssa term = arithmetic("arith.divsi", places, divisor);
      term = arithmetic("arith.muli", arithmetic("arith.remsi", term, own),
                        factor);
      sum = sum ? arithmetic("arith.addi", sum, term) : term;
      divisor *= own;
      factor *= other;
    }
    places = sum ? sum : places;
  };
  renumber(paddedShape(to), to);
  renumber(from, paddedShape(from));
  Ssa moved =
      take(print.reshape(tile.value, flat), clamp(places, count), front);
  return {print.reshape(moved, shape), SmallVector<int64_t>(extents)};
}

Ssa KernelExport::grow(const Ssa &value, int64_t dimension, int64_t extent) {
  int64_t own = value.shape[dimension];
  if (own >= extent)
    return value;
  // [.., own, ..] -> [.., copies, own, ..], all but the first copy zero.
  Ssa copies = print.expandDims(value, dimension);
  SmallVector<int64_t> shape(copies.shape), merged(value.shape);
  merged[dimension] = extent;
  shape[dimension] = extent / own;
  Ssa isFirst = below(print.constant(print.i32(), 1), dimension, shape);
  copies = print.select(print.broadcast(isFirst, shape),
                        print.broadcast(copies, shape),
                        print.constant(value.element, 0, shape));
  return print.reshape(copies, merged);
}

Ssa KernelExport::shrink(const Ssa &value, int64_t dimension, int64_t extent) {
  if (value.shape[dimension] <= extent)
    return value;
  return take(value, print.iota(extent, 0, 1), dimension);
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

static StringRef combinerOf(tile::Combiner kind, Type element) {
  bool isFloat = isa<FloatType>(element);
  switch (kind) {
  case tile::Combiner::Add:
    return isFloat ? "arith.addf" : "arith.addi";
  case tile::Combiner::Mul:
    return isFloat ? "arith.mulf" : "arith.muli";
  case tile::Combiner::Max:
    return isFloat ? "arith.maximumf" : "arith.maxsi";
  case tile::Combiner::Min:
    return isFloat ? "arith.minimumf" : "arith.minsi";
  case tile::Combiner::And:
    return "arith.andi";
  case tile::Combiner::Or:
    return "arith.ori";
  case tile::Combiner::MaxNum:
    return "arith.maxnumf";
  case tile::Combiner::MinNum:
    return "arith.minnumf";
  }
  llvm_unreachable("all kinds are known");
}

void KernelExport::emitReduce(tile::ReduceOp op) {
  Tile tile = tileOf(op.getSource());
  StringRef combiner = combinerOf(op.getKind(), tile.value.element);
  SmallVector<int64_t> dims(op.getDims());
  llvm::sort(dims, std::greater<>());
  Ssa sum = fillPadding(
      tile, dims,
      print.neutral(combiner, tile.value.element, tile.value.shape));
  for (int64_t axis : dims)
    sum = print.reduce(sum, axis, combiner);
  auto type = cast<RankedTensorType>(op.getResult().getType());
  entries[op.getResult()] = Tile{sum, SmallVector<int64_t>(type.getShape())};
}

void KernelExport::emitScan(tile::ScanOp op) {
  Tile tile = tileOf(op.getSource());
  StringRef combiner = combinerOf(op.getKind(), tile.value.element);
  int64_t axis = op.getDimension(), extent = tile.extents[axis];
  SmallVector<int64_t> shape = tile.value.shape;
  Ssa neutral = print.neutral(combiner, tile.value.element, shape);
  // From the end, padding comes first.
  Ssa value = op.getReverse() ? fillPadding(tile, {axis}, neutral) : tile.value;
  value = print.scan(value, axis, op.getReverse(), combiner);
  if (op.getExclusive()) {
    Ssa moved = arithmetic("arith.addi", print.iota(shape[axis], 0, 1),
                           op.getReverse() ? 1 : -1);
    Ssa at = print.iota(shape[axis], axis, shape.size());
    Ssa first = print.compare("arith.cmpi", "eq", at,
                              print.constant(print.i32(),
                                             op.getReverse() ? extent - 1 : 0,
                                             at.shape));
    value = print.select(print.broadcast(first, shape), neutral,
                         take(value, clamp(moved, extent), axis));
  }
  entries[op.getResult()] = Tile{value, tile.extents};
}

//===----------------------------------------------------------------------===//
// Products and systems
//===----------------------------------------------------------------------===//

void KernelExport::emitDot(tile::DotOp op) {
  int64_t batches = op.batches();
  Tile sum = tileOf(op.getAccumulator());
  Type element = sum.value.element;
  auto matrix = [&](Value value, bool transposed, int64_t summed) {
    Tile tile = tileOf(value);
    if (batches > 1)
      tile =
          reshape(tile, {batches, tile.extents[0] / batches, tile.extents[1]});
    int64_t last = tile.extents.size() - 1;
    Ssa out = tile.zeroPadding
                  ? tile.value
                  : fillPadding(tile, {last - summed},
                                print.constant(tile.value.element, 0,
                                               tile.value.shape));
    if (transposed)
      out = print.transpose(out, batches > 1 ? ArrayRef<int64_t>{0, 2, 1}
                                             : ArrayRef<int64_t>{1, 0});
    if (element.isF64())
      out = print.convertFloat(out, element);
    // Tensor cores need 16 of K, and f64 ones whole fragments; products of f32
    // run on ordinary cores in any size.
    int64_t least = out.element.isF32() ? 1 : 16;
    return grow(grow(out, last - 1, least), last, least);
  };
  // The dimension that is summed up, from the end.
  Ssa a = matrix(op.getA(), op.getTransposeA(), op.getTransposeA() ? 1 : 0);
  Ssa b = matrix(op.getB(), op.getTransposeB(), op.getTransposeB() ? 0 : 1);
  Tile start = sum;
  if (batches > 1)
    start = reshape(sum, {batches, sum.extents[0] / batches, sum.extents[1]});
  int64_t last = start.extents.size() - 1;
  SmallVector<int64_t> shape = start.value.shape;
  Ssa c =
      grow(grow(start.value, last - 1, a.shape[last - 1]), last, b.shape[last]);
  Ssa product = print.dot(a, b, c);
  product = shrink(product, last - 1, shape[last - 1]);
  product = shrink(product, last, shape[last]);
  entries[op.getResult()] = reshape({product, start.extents}, sum.extents);
}

void KernelExport::emitSolve(tile::SolveOp op) {
  Tile matrix = tileOf(op.getMatrix());
  Tile rhs = tileOf(op.getRhs());
  int64_t n = matrix.extents[0], rows = matrix.value.shape[0];
  Type element = matrix.value.element;
  ArrayRef<int64_t> shape = rhs.value.shape;
  bool forward = !op.getReverse();
  // Row i of the system along dimension 1; rows of unknowns along dimension 0.
  Ssa a =
      op.getTranspose() ? print.transpose(matrix.value, {1, 0}) : matrix.value;
  Ssa numbers = print.iota(rows, 0, 1);
  std::string made = print.fresh(), counter = print.fresh(),
              carried = print.fresh();
  auto i32 = [&](int64_t value) { return print.constant(print.i32(), value); };
  std::string type = typeText(rhs.value);
  print.open(made + " = scf.for " + counter + " = " + i32(0).name + " to " +
             i32(n).name + " step " + i32(1).name + " iter_args(" + carried +
             " = " + rhs.value.name + ") -> (" + type + ") : i32 {");
  Ssa x{carried, element, SmallVector<int64_t>(shape)};
  Ssa row{counter, print.i32(), {}};
  if (!forward)
    row = print.same("arith.subi", {i32(n - 1), row});
  Ssa here = print.splat(row, {rows});
  Ssa isRow = print.compare("arith.cmpi", "eq", numbers, here);
  Ssa isSolved =
      both(print.compare("arith.cmpi", forward ? "slt" : "sgt", numbers, here),
           insideMask({n}, {rows}, {0}));
  auto pick = [&](Ssa mask, const Ssa &value, bool sum) {
    mask = print.broadcast(along(mask, 0, value.shape.size()), value.shape);
    Ssa kept =
        print.select(mask, value, print.constant(element, 0, value.shape));
    return sum ? print.reduce(kept, 0, "arith.addf") : kept;
  };
  Ssa coefficients = pick(isRow, a, true);
  Ssa old = pick(isRow, x, true);
  Ssa weights = print.expandDims(pick(isSolved, coefficients, false), 1);
  Ssa terms = arithmetic("arith.mulf", weights, pick(isSolved, x, false));
  Ssa next =
      print.same("arith.subf", {old, print.reduce(terms, 0, "arith.addf")});
  if (!op.getUnit())
    next = arithmetic("arith.divf", next, pick(isRow, coefficients, true));
  Ssa updated =
      print.select(print.broadcast(print.expandDims(isRow, 1), shape),
                   print.broadcast(print.expandDims(next, 0), shape), x);
  print.line("scf.yield " + updated.name + " : " + type);
  print.close();
  entries[op.getResult()] =
      Tile{Ssa{made, element, SmallVector<int64_t>(shape)}, rhs.extents};
}
