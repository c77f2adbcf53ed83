//===- TileOps.cpp - kernels over tiles -----------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/dialect/Tile.h"
#include "dialects/Drawloom/Attributes.h"
#include "lib/Interpreter/Machine.h"
#include "lib/Interpreter/ScalarOps.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

// A block of threads runs as one: a tile is a tensor, whichever threads hold
// it, and layouts count only where an op says what single threads do. That
// threads wait for each other is the emulator's to check.

namespace drawloom::interpreter {

static RankedTensorType resultTile(Call &call) {
  return cast<RankedTensorType>(call.op()->getResult(0).getType());
}

/// Copies one element between values of one kind.
static void copyElement(const HostTensor &from, int64_t source, HostTensor &to,
                        int64_t target) {
  if (from.isFloat())
    to.mutableF()[target] = from.f()[source];
  else
    to.mutableI()[target] = from.i()[source];
}

/// Calls `fn` with each index of a shape and its row-major number.
static void forEachIndex(ArrayRef<int64_t> shape,
                         function_ref<void(ArrayRef<int64_t>, int64_t)> fn) {
  if (llvm::is_contained(shape, 0))
    return;
  SmallVector<int64_t, 4> index(shape.size(), 0);
  int64_t number = 0;
  do
    fn(index, number++);
  while (advance(index, shape));
}

//===----------------------------------------------------------------------===//
// The block.
//===----------------------------------------------------------------------===//

static LogicalResult runBlockId(Call &call) {
  call.yield(HostTensor::scalar(call.machine.block.number));
  return success();
}

static LogicalResult runBarrier(Call &) { return success(); }

static LogicalResult runAlloc(Call &call) {
  auto op = call.as<tile::AllocOp>();
  auto type = cast<MemRefType>(op.getBuffer().getType());
  Memory &memory = call.machine.memory;
  FailureOr<View> view = allocateMemory(call, type);
  if (failed(view))
    return failure();
  if (std::optional<int64_t> offset = op.getOffset()) {
    // Every buffer with a place is a part of one arena.
    if (*offset % bytesOf(type.getElementType()) != 0)
      return call.error() << "is at byte " << *offset
                          << ", which is not aligned for its elements";
    int64_t &arena = call.machine.block.arena;
    if (arena < 0) {
      auto kernel = call.op()->getParentOfType<func::FuncOp>();
      auto bytes = kernel->getAttrOfType<IntegerAttr>(sharedBytesAttr);
      if (!bytes)
        return call.error() << "has a place in shared memory, but its kernel "
                               "does not say how many bytes that has";
      arena = memory.addArena(bytes.getInt());
    }
    memory.release(view->buffer);
    *view = memory.inArena(arena, *offset, type.getElementType(), view->sizes,
                           view->strides);
    if (failed(call.machine.verifyInside(op, *view)))
      return failure();
  }
  call.yield(view->value());
  return success();
}

//===----------------------------------------------------------------------===//
// Tiles and memory.
//===----------------------------------------------------------------------===//

/// The part of a tile that memory has, the extents of which may be known only
/// when the kernel runs.
static LogicalResult verifyPart(Call &call, ArrayRef<int64_t> memory,
                                ArrayRef<int64_t> tile) {
  for (auto [there, here] : llvm::zip_equal(memory, tile))
    if (there > here)
      return call.error() << "moves a tile of shape " << indexText(tile)
                          << " and memory of shape " << indexText(memory)
                          << ", which does not fit into it";
  return success();
}

static FailureOr<HostTensor> loadTile(Call &call, const View &view,
                                      RankedTensorType type) {
  if (failed(verifyPart(call, view.sizes, type.getShape())))
    return failure();
  FailureOr<HostTensor> part = call.machine.read(call.op(), view);
  if (failed(part) || part->shape() == type.getShape())
    return part;
  HostTensor tile(part->isFloat(), type.getShape());
  forEachIndex(part->shape(), [&](ArrayRef<int64_t> index, int64_t number) {
    copyElement(*part, number, tile, tile.offset(index));
  });
  return tile;
}

static LogicalResult storeTile(Call &call, const HostTensor &tile,
                               const View &view) {
  if (failed(verifyPart(call, view.sizes, tile.shape())))
    return failure();
  if (ArrayRef<int64_t>(view.sizes) == tile.shape())
    return call.machine.write(call.op(), view, tile);
  HostTensor part(tile.isFloat(), view.sizes);
  forEachIndex(view.sizes, [&](ArrayRef<int64_t> index, int64_t number) {
    copyElement(tile, tile.offset(index), part, number);
  });
  return call.machine.write(call.op(), view, part);
}

static LogicalResult runLoad(Call &call) {
  FailureOr<HostTensor> tile = loadTile(call, call.view(0), resultTile(call));
  if (failed(tile))
    return failure();
  call.yield(std::move(*tile));
  return success();
}

static LogicalResult runStore(Call &call) {
  return storeTile(call, call.args[0], call.view(1));
}

static LogicalResult runCopyAsync(Call &call) {
  auto op = call.as<tile::CopyAsyncOp>();
  FailureOr<HostTensor> tile =
      loadTile(call, call.view(0), cast<RankedTensorType>(op.getTile()));
  View to = call.view(1);
  if (failed(tile) || failed(call.machine.verifyInside(op, to)))
    return failure();
  // Until it has arrived nobody knows what is there.
  call.machine.memory.poison(to);
  call.machine.block.started.push_back({to, std::move(*tile)});
  return success();
}

static LogicalResult runCommitCopies(Call &call) {
  KernelBlock &block = call.machine.block;
  block.groups.push_back(std::move(block.started));
  block.started.clear();
  return success();
}

static LogicalResult runWaitCopies(Call &call) {
  KernelBlock &block = call.machine.block;
  size_t underWay = call.as<tile::WaitCopiesOp>().getUnderWay();
  while (block.groups.size() > underWay) {
    for (KernelBlock::Copy &copy : block.groups.front())
      if (failed(call.machine.write(call.op(), copy.to, copy.elements)))
        return failure();
    block.groups.erase(block.groups.begin());
  }
  return success();
}

/// The view of one row of memory.
static FailureOr<View> rowOf(Call &call, const View &view, int64_t row) {
  if (row >= view.sizes[0])
    return call.error() << "accesses row " << row << " of memory of "
                        << view.sizes[0] << " rows";
  View part = view;
  part.offset += row * view.strides[0];
  part.sizes.erase(part.sizes.begin());
  part.strides.erase(part.strides.begin());
  return part;
}

static LogicalResult runGather(Call &call) {
  View source = call.view(0);
  const HostTensor &indices = call.args[1];
  RankedTensorType type = resultTile(call);
  HostTensor result(isFloat(type), type.getShape());
  int64_t size = indices.size() ? result.size() / indices.size() : 0;
  for (int64_t i = 0; i < indices.size(); ++i) {
    if (indices.i()[i] < 0)
      continue;
    FailureOr<View> row = rowOf(call, source, indices.i()[i]);
    if (failed(row))
      return failure();
    FailureOr<HostTensor> elements = call.machine.read(call.op(), *row);
    if (failed(elements))
      return failure();
    if (elements->shape() != result.shape().drop_front())
      return call.error() << "gathers rows of shape "
                          << indexText(elements->shape()) << " into " << type;
    for (int64_t k = 0; k < size; ++k)
      copyElement(*elements, k, result, i * size + k);
  }
  call.yield(std::move(result));
  return success();
}

static LogicalResult runScatter(Call &call) {
  const HostTensor &rows = call.args[0], &indices = call.args[2];
  View dest = call.view(1);
  llvm::SmallDenseSet<int64_t> written;
  int64_t size = indices.size() ? rows.size() / indices.size() : 0;
  for (int64_t i = 0; i < indices.size(); ++i) {
    int64_t index = indices.i()[i];
    if (index < 0)
      continue;
    FailureOr<View> row = rowOf(call, dest, index);
    if (failed(row))
      return failure();
    if (!written.insert(index).second)
      return call.error() << "scatters twice to row " << index;
    HostTensor elements(rows.isFloat(), rows.shape().drop_front());
    for (int64_t k = 0; k < size; ++k)
      copyElement(rows, i * size + k, elements, k);
    if (failed(call.machine.write(call.op(), *row, elements)))
      return failure();
  }
  return success();
}

static LogicalResult runLookup(Call &call) {
  View source = call.view(0);
  RankedTensorType type = resultTile(call);
  HostTensor result(isFloat(type), type.getShape());
  if (failed(call.machine.verifyInside(call.op(), source)))
    return failure();
  for (int64_t i = 0; i < result.size(); ++i) {
    SmallVector<int64_t, 4> index;
    for (auto [dim, extent] : llvm::enumerate(source.sizes)) {
      index.push_back(call.args[1 + dim].i()[i]);
      if (index.back() < 0 || index.back() >= extent)
        return call.error() << "looks up index " << index.back()
                            << " in dimension " << dim << " of size " << extent;
    }
    copyElement(call.machine.memory.readElement(source, source.at(index)), 0,
                result, i);
  }
  call.yield(std::move(result));
  return success();
}

//===----------------------------------------------------------------------===//
// Tiles from tiles.
//===----------------------------------------------------------------------===//

static LogicalResult runSplat(Call &call) {
  RankedTensorType type = resultTile(call);
  HostTensor result(isFloat(type), type.getShape());
  for (int64_t i = 0; i < result.size(); ++i)
    copyElement(call.args[0], 0, result, i);
  call.yield(std::move(result));
  return success();
}

static LogicalResult runIota(Call &call) {
  auto dim = call.as<tile::IotaOp>().getDimension();
  RankedTensorType type = resultTile(call);
  HostTensor result(isFloat(type), type.getShape());
  forEachIndex(type.getShape(), [&](ArrayRef<int64_t> index, int64_t number) {
    if (result.isFloat())
      result.mutableF()[number] = double(index[dim]);
    else
      result.mutableI()[number] = index[dim];
  });
  call.yield(std::move(result));
  return success();
}

static LogicalResult runBroadcast(Call &call) {
  ArrayRef<int64_t> dims = call.as<tile::BroadcastOp>().getDims();
  const HostTensor &source = call.args[0];
  RankedTensorType type = resultTile(call);
  HostTensor result(source.isFloat(), type.getShape());
  SmallVector<int64_t, 4> from(dims.size());
  forEachIndex(type.getShape(), [&](ArrayRef<int64_t> index, int64_t number) {
    for (auto [i, dim] : llvm::enumerate(dims))
      from[i] = index[dim];
    copyElement(source, source.offset(from), result, number);
  });
  call.yield(std::move(result));
  return success();
}

static LogicalResult runConvert(Call &call) {
  call.yield(std::move(call.args[0]));
  return success();
}

static LogicalResult runReshape(Call &call) {
  call.yield(call.args[0].reshaped(resultTile(call).getShape()));
  return success();
}

static LogicalResult runSlice(Call &call) {
  auto op = call.as<tile::SliceOp>();
  const HostTensor &source = call.args[0];
  RankedTensorType type = resultTile(call);
  HostTensor result(source.isFloat(), type.getShape());
  forEachIndex(type.getShape(), [&](ArrayRef<int64_t> index, int64_t number) {
    SmallVector<int64_t, 4> from(index);
    from.insert(from.begin() + op.getDimension(), op.getIndex());
    copyElement(source, source.offset(from), result, number);
  });
  call.yield(std::move(result));
  return success();
}

namespace {
/// How a tile::Combiner makes one of two elements.
class Combine {
public:
  Combine(tile::Combiner kind, Type element);

  /// What changes no element.
  const HostTensor &neutral() const { return start; }
  /// Combines an element of `from` into one of `to`.
  void into(HostTensor &to, int64_t target, const HostTensor &from,
            int64_t source) const;

private:
  ScalarOp op;
  HostTensor start;
};
} // namespace

static StringRef nameOf(tile::Combiner kind, bool isFloat) {
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
  llvm_unreachable("unknown combiner");
}

/// The neutral element of a combiner of floats.
static double neutralFloat(tile::Combiner kind) {
  double infinity = std::numeric_limits<double>::infinity();
  switch (kind) {
  case tile::Combiner::Mul:
    return 1.0;
  case tile::Combiner::Max:
    return -infinity;
  case tile::Combiner::Min:
    return infinity;
  case tile::Combiner::MaxNum:
  case tile::Combiner::MinNum:
    return std::numeric_limits<double>::quiet_NaN();
  default:
    return 0.0;
  }
}

static int64_t neutralInteger(tile::Combiner kind, unsigned bits) {
  switch (kind) {
  case tile::Combiner::Mul:
    return 1;
  case tile::Combiner::Max:
    return wrapInteger(llvm::minIntN(bits), bits);
  case tile::Combiner::Min:
    return wrapInteger(llvm::maxIntN(bits), bits);
  case tile::Combiner::And:
    return wrapInteger(-1, bits);
  default:
    return 0;
  }
}

Combine::Combine(tile::Combiner kind, Type element)
    : op(scalarOpNamed(nameOf(kind, isFloat(element)), element)),
      start(isFloat(element) ? HostTensor::scalar(neutralFloat(kind))
                             : HostTensor::scalar(neutralInteger(
                                   kind, elementBits(element)))) {
  op.in = {0, 1, 0};
  op.out = {0, 0};
}

void Combine::into(HostTensor &to, int64_t target, const HostTensor &from,
                   int64_t source) const {
  Scalar registers[2];
  // None of the combining ops can fail.
  if (to.isFloat()) {
    registers[0].f = to.f()[target];
    registers[1].f = from.f()[source];
    op.run(registers);
    to.mutableF()[target] = registers[0].f;
  } else {
    registers[0].i = to.i()[target];
    registers[1].i = from.i()[source];
    op.run(registers);
    to.mutableI()[target] = registers[0].i;
  }
}

/// For each element of a tile, which share along the reduced dimensions the
/// thread has that holds it.
static FailureOr<std::vector<SmallVector<int64_t, 4>>>
sharesOf(tile::ReduceOp op) {
  auto type = cast<RankedTensorType>(op.getSource().getType());
  std::optional<tile::Layout> layout = tile::layoutOf(type);
  if (!layout)
    return op.emitOpError("combines what each thread has, but its source has "
                          "no layout");
  tile::Layout shares = layout->sharesAlong(op.getDims());
  int64_t rank = type.getRank(), count = type.getNumElements();
  auto strides = stridesOf(type.getShape());
  std::vector<SmallVector<int64_t, 4>> result(count);
  for (int64_t warp = 0; warp < layout->warpCount(); ++warp)
    for (int64_t lane = 0; lane < int64_t(1) << tile::Layout::laneBits; ++lane)
      for (int64_t i = 0; i < layout->registerCount(); ++i) {
        auto at = layout->threadOffset(lane, warp, rank);
        int64_t number = 0;
        bool isPadding = false;
        for (auto [dim, more] :
             llvm::enumerate(layout->registerOffset(i, rank))) {
          at[dim] += more;
          isPadding |= at[dim] >= type.getDimSize(dim);
          number += at[dim] * strides[dim];
        }
        if (isPadding || !result[number].empty())
          continue;
        auto share = shares.threadOffset(lane, warp, rank);
        for (int64_t dim : op.getDims())
          at[dim] = share[dim];
        result[number].assign(at.begin(), at.end());
      }
  return result;
}

static LogicalResult runReduce(Call &call) {
  auto op = call.as<tile::ReduceOp>();
  const HostTensor &source = call.args[0];
  RankedTensorType type = resultTile(call);
  Combine combine(op.getKind(), type.getElementType());
  HostTensor result(source.isFloat(), type.getShape());
  for (int64_t i = 0; i < result.size(); ++i)
    copyElement(combine.neutral(), 0, result, i);
  std::vector<SmallVector<int64_t, 4>> shares;
  if (op.getWithinThread()) {
    auto found = sharesOf(op);
    if (failed(found))
      return failure();
    shares = std::move(*found);
  }
  forEachIndex(source.shape(), [&](ArrayRef<int64_t> index, int64_t number) {
    SmallVector<int64_t, 4> to;
    if (op.getWithinThread())
      to = shares[number];
    else
      for (auto [dim, i] : llvm::enumerate(index))
        if (!llvm::is_contained(op.getDims(), int64_t(dim)))
          to.push_back(i);
    combine.into(result, result.offset(to), source, number);
  });
  call.yield(std::move(result));
  return success();
}

static LogicalResult runScan(Call &call) {
  auto op = call.as<tile::ScanOp>();
  const HostTensor &source = call.args[0];
  auto dim = op.getDimension();
  Combine combine(op.getKind(), resultTile(call).getElementType());
  HostTensor result(source.isFloat(), source.shape());
  SmallVector<int64_t> lines(source.shape());
  int64_t length = lines[dim];
  lines[dim] = 1;
  int64_t stride = stridesOf(source.shape())[dim];
  forEachIndex(lines, [&](ArrayRef<int64_t> index, int64_t) {
    HostTensor running = combine.neutral();
    for (int64_t step = 0; step < length; ++step) {
      int64_t at = source.offset(index) +
                   stride * (op.getReverse() ? length - 1 - step : step);
      if (op.getExclusive())
        copyElement(running, 0, result, at);
      combine.into(running, 0, source, at);
      if (!op.getExclusive())
        copyElement(running, 0, result, at);
    }
  });
  call.yield(std::move(result));
  return success();
}

/// An operand of a product: a tile, or a buffer that may have more rows or
/// columns than are read.
static FailureOr<HostTensor> operandOf(Call &call, unsigned number) {
  if (isa<RankedTensorType>(call.op()->getOperand(number).getType()))
    return call.args[number];
  return call.machine.read(call.op(), call.view(number));
}

static LogicalResult runDot(Call &call) {
  auto op = call.as<tile::DotOp>();
  FailureOr<HostTensor> a = operandOf(call, 0), b = operandOf(call, 1);
  if (failed(a) || failed(b))
    return failure();
  HostTensor result = std::move(call.args[2]);
  // Columns of a buffer lie as instructions take them.
  bool ordered = op.getNeighbours() && isa<MemRefType>(op.getB().getType());
  int64_t rows = op.getM() / op.batches(), columns = op.getN();
  int64_t steps = op.getK();
  bool transposedA = op.getTransposeA(), transposedB = op.getTransposeB();
  auto multiply = [&](auto x, auto y, auto sums) {
    for (int64_t m = 0; m < op.getM(); ++m)
      for (int64_t n = 0; n < columns; ++n) {
        int64_t batch = m / rows;
        int64_t column =
            ordered ? tile::accumulatorPosition(n, op.columnsInThread()) : n;
        auto &sum = sums[m * columns + n];
        for (int64_t k = 0; k < steps; ++k) {
          // The parts of `b` lie along its first dimension.
          int64_t partRows = b->dim(0) / op.batches();
          int64_t row = transposedB ? column : k;
          int64_t other = transposedB ? k : column;
          sum += x[transposedA ? k * a->dim(1) + m : m * a->dim(1) + k] *
                 y[(batch * partRows + row) * b->dim(1) + other];
        }
      }
  };
  if (result.isFloat()) {
    multiply(a->f(), b->f(), result.mutableF());
  } else {
    unsigned bits = elementBits(resultTile(call));
    multiply(a->i(), b->i(), result.mutableI());
    for (int64_t &sum : result.mutableI())
      sum = wrapInteger(sum, bits);
  }
  call.yield(std::move(result));
  return success();
}

static LogicalResult runSolve(Call &call) {
  auto op = call.as<tile::SolveOp>();
  FailureOr<HostTensor> matrix = call.machine.read(op, call.view(0));
  if (failed(matrix))
    return failure();
  HostTensor x = std::move(call.args[1]);
  int64_t n = x.dim(0), columns = n ? x.size() / n : 0;
  int64_t width = matrix->dim(1);
  MutableArrayRef<double> values = x.mutableF();
  for (int64_t step = 0; step < n; ++step) {
    int64_t i = op.getReverse() ? n - 1 - step : step;
    for (int64_t before = 0; before < step; ++before) {
      int64_t j = op.getReverse() ? n - 1 - before : before;
      double factor =
          matrix->f()[op.getTranspose() ? j * width + i : i * width + j];
      for (int64_t k = 0; k < columns; ++k)
        values[i * columns + k] -= factor * values[j * columns + k];
    }
    for (int64_t k = 0; k < columns && !op.getUnit(); ++k)
      values[i * columns + k] /= matrix->f()[i * width + i];
  }
  call.yield(std::move(x));
  return success();
}

void addTileOps(Registry &registry) {
  registry["tile.alloc"] = {runAlloc};
  registry["tile.barrier"] = {runBarrier};
  registry["tile.block_id"] = {runBlockId};
  registry["tile.broadcast"] = {runBroadcast};
  registry["tile.commit_copies"] = {runCommitCopies};
  registry["tile.convert"] = {runConvert};
  registry["tile.copy_async"] = {runCopyAsync};
  registry["tile.dot"] = {runDot};
  registry["tile.gather"] = {runGather};
  registry["tile.iota"] = {runIota};
  registry["tile.load"] = {runLoad};
  registry["tile.lookup"] = {runLookup};
  registry["tile.reduce"] = {runReduce};
  registry["tile.reshape"] = {runReshape};
  registry["tile.scan"] = {runScan};
  registry["tile.scatter"] = {runScatter};
  registry["tile.slice"] = {runSlice};
  registry["tile.solve"] = {runSolve};
  registry["tile.splat"] = {runSplat};
  registry["tile.store"] = {runStore};
  registry["tile.wait_copies"] = {runWaitCopies};
}

} // namespace drawloom::interpreter
