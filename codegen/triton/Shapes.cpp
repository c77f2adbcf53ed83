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
  Ssa sum = tiles.fillPadding(
      tile, dims,
      neutral(print, combiner, tile.value.element, tile.value.shape));
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
  Ssa identity = neutral(print, combiner, tile.value.element, shape);
  // From the end, padding comes first.
  Ssa value =
      op.getReverse() ? tiles.fillPadding(tile, {axis}, identity) : tile.value;
  value = print.scan(value, axis, op.getReverse(), combiner);
  if (op.getExclusive()) {
    Ssa moved = tiles.arithmetic("arith.addi", print.iota(shape[axis], 0, 1),
                                 op.getReverse() ? 1 : -1);
    Ssa at = print.iota(shape[axis], axis, shape.size());
    Ssa first = print.compare("arith.cmpi", "eq", at,
                              print.constant(print.i32(),
                                             op.getReverse() ? extent - 1 : 0,
                                             at.shape));
    value = print.select(print.broadcast(first, shape), identity,
                         tiles.take(value, tiles.clamp(moved, extent), axis));
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
      tile = tiles.reshape(
          tile, {batches, tile.extents[0] / batches, tile.extents[1]});
    int64_t last = tile.extents.size() - 1;
    Ssa out = tile.zeroPadding
                  ? tile.value
                  : tiles.fillPadding(tile, {last - summed},
                                      print.constant(tile.value.element, 0,
                                                     tile.value.shape));
    if (transposed)
      out = print.transpose(out, batches > 1 ? ArrayRef<int64_t>{0, 2, 1}
                                             : ArrayRef<int64_t>{1, 0});
    if (element.isF64())
      out = convertFloat(print, out, element);
    // Tensor cores need 16 of K, and f64 ones whole fragments; products of f32
    // run on ordinary cores in any size.
    int64_t least = out.element.isF32() ? 1 : 16;
    return tiles.grow(tiles.grow(out, last - 1, least), last, least);
  };
  // The dimension that is summed up, from the end.
  Ssa a = matrix(op.getA(), op.getTransposeA(), op.getTransposeA() ? 1 : 0);
  Ssa b = matrix(op.getB(), op.getTransposeB(), op.getTransposeB() ? 0 : 1);
  Tile start = sum;
  if (batches > 1)
    start =
        tiles.reshape(sum, {batches, sum.extents[0] / batches, sum.extents[1]});
  int64_t last = start.extents.size() - 1;
  SmallVector<int64_t> shape = start.value.shape;
  Ssa c = tiles.grow(tiles.grow(start.value, last - 1, a.shape[last - 1]), last,
                     b.shape[last]);
  Ssa product = print.dot(a, b, c);
  product = tiles.shrink(product, last - 1, shape[last - 1]);
  product = tiles.shrink(product, last, shape[last]);
  entries[op.getResult()] =
      tiles.reshape({product, start.extents}, sum.extents);
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
  Ssa isSolved = tiles.both(
      print.compare("arith.cmpi", forward ? "slt" : "sgt", numbers, here),
      tiles.insideMask({n}, {rows}, {0}));
  auto pick = [&](Ssa mask, const Ssa &value, bool sum) {
    mask =
        print.broadcast(tiles.along(mask, 0, value.shape.size()), value.shape);
    Ssa kept =
        print.select(mask, value, print.constant(element, 0, value.shape));
    return sum ? print.reduce(kept, 0, "arith.addf") : kept;
  };
  Ssa coefficients = pick(isRow, a, true);
  Ssa old = pick(isRow, x, true);
  Ssa weights = print.expandDims(pick(isSolved, coefficients, false), 1);
  Ssa terms = tiles.arithmetic("arith.mulf", weights, pick(isSolved, x, false));
  Ssa next =
      print.same("arith.subf", {old, print.reduce(terms, 0, "arith.addf")});
  if (!op.getUnit())
    next =
        tiles.arithmetic("arith.divf", next, pick(isRow, coefficients, true));
  Ssa updated =
      print.select(print.broadcast(print.expandDims(isRow, 1), shape),
                   print.broadcast(print.expandDims(next, 0), shape), x);
  print.line("scf.yield " + updated.name + " : " + type);
  print.close();
  entries[op.getResult()] =
      Tile{Ssa{made, element, SmallVector<int64_t>(shape)}, rhs.extents};
}
