//===- Kernels.cpp - a range function for each block program --------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/Program.h"
#include "codegen/cpu/Passes.h"
#include "codegen/cpu/Signature.h"
#include "codegen/cpu/buffers/Buffers.h"
#include "codegen/cpu/buffers/Views.h"
#include "codegen/cpu/kernels/GroupBlocks.h"
#include "codegen/cpu/kernels/KernelScratch.h"
#include "codegen/cpu/llvm/StreamStores.h"
#include "drawloom/IndexMath.h"
#include "drawloom/OpenExtent.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/Memory/Arena.h"
#include "llvm/Support/MathExtras.h"
#include <map>

namespace drawloom::cpu {
#define GEN_PASS_DEF_CPUKERNELS
#include "codegen/cpu/Passes.h.inc"
} // namespace drawloom::cpu

using namespace mlir;

namespace drawloom::cpu {
namespace {

/// The steps of `body` between which a buffer is in use. Views are followed;
/// where a loop or a branch passes a buffer on, it is in use to the end.
Lifetime lifetimeOf(Value buffer, int64_t bytes, Block &body,
                    const DenseMap<Operation *, int64_t> &steps) {
  Lifetime lifetime{bytes, std::numeric_limits<int64_t>::max(), 0};
  SmallVector<Value> aliases{buffer};
  for (unsigned i = 0; i < aliases.size(); ++i)
    for (OpOperand &use : aliases[i].getUses()) {
      Operation *user = use.getOwner();
      int64_t step = steps.lookup(body.findAncestorOpInBlock(*user));
      lifetime.first = std::min(lifetime.first, step);
      lifetime.last = std::max(lifetime.last, step);
      if (isa<ViewLikeOpInterface>(user)) {
        llvm::append_range(aliases, user->getResults());
        continue;
      }
      bool passedOn = user->hasTrait<OpTrait::ReturnLike>() ||
                      user->hasTrait<OpTrait::IsTerminator>() ||
                      isa<LoopLikeOpInterface>(user) ||
                      llvm::any_of(user->getResultTypes(), [](Type type) {
                        return isa<BaseMemRefType>(type);
                      });
      if (passedOn) {
        lifetime.first = 0;
        lifetime.last = std::numeric_limits<int64_t>::max();
      }
    }
  if (lifetime.first > lifetime.last)
    lifetime.first = lifetime.last = 0;
  return lifetime;
}

/// The grid of a block program.
struct Grid {
  SmallVector<int64_t> lower, step;
  /// Of an open grid, only a call knows some of these, and how many blocks that
  /// makes.
  SmallVector<OpFoldResult> extents;
  OpFoldResult blocks;

  static FailureOr<Grid> of(scf::ForallOp loop);
};

/// Counts the blocks in front of the loop.
FailureOr<Grid> Grid::of(scf::ForallOp loop) {
  if (loop.getNumResults() != 0)
    return loop.emitOpError("still yields tensors; bufferize first");
  auto lowers = getConstantIntValues(loop.getMixedLowerBound());
  auto steps = getConstantIntValues(loop.getMixedStep());
  if (!lowers || !steps)
    return loop.emitOpError("needs constant lower bounds and steps to become a "
                            "kernel");
  OpBuilder builder(loop);
  IndexMath math(builder, loop.getLoc());
  Grid grid{*lowers, *steps, {}, {}};
  SmallVector<OpFoldResult> open;
  int64_t known = 1;
  for (auto [lo, end, by] :
       llvm::zip_equal(*lowers, loop.getMixedUpperBound(), *steps)) {
    std::optional<int64_t> hi = getConstantIntValue(end);
    if (!hi && (lo != 0 || by != 1))
      return loop.emitOpError("needs lower bound 0 and step 1 where its upper "
                              "bound is not known, to become a kernel");
    if (!hi) {
      grid.extents.push_back(end);
      open.push_back(end);
      continue;
    }
    int64_t count = *hi > lo ? llvm::divideCeil(*hi - lo, by) : 0;
    grid.extents.push_back(math.number(count));
    if (llvm::MulOverflow(known, count, known))
      return loop.emitOpError("has more than 2^63 blocks");
  }
  // There may be less than none along one of several dimensions.
  if (grid.extents.size() > 1)
    for (OpFoldResult &count : open)
      count = math.max(count, math.number(0));
  grid.blocks = math.number(known);
  for (OpFoldResult count : open)
    grid.blocks = math.mul(grid.blocks, count);
  return grid;
}

/// Buffers of a function that have their size in common: in bytes, or in bytes
/// for each row of the same open extents.
struct HostBuffers {
  SmallVector<Operation *> buffers;
  SmallVector<Lifetime> lifetimes;
  ArenaLayout layout;
};

class KernelOutliner {
public:
  KernelOutliner(func::FuncOp function, SymbolTable &symbols,
                 int64_t stackBytes, int64_t streamedBytes)
      : function(function), symbols(symbols), stackBytes(stackBytes),
        streamedBytes(streamedBytes), builder(function.getContext()) {}

  LogicalResult run();

private:
  void chooseStreamed();
  func::FuncOp createKernel(const BlockGroup &group, ArrayRef<Value> arguments);
  Value blocksOfReaders(const BlockGroup &group);
  LogicalResult outline(const BlockGroup &group);
  void emitBlocks(scf::ForallOp loop, const Grid &grid, Value lo, Value hi,
                  OpFoldResult blocks, IRMapping &mapping);
  SizeSource sourceOf(Value value);
  void showPlaces();
  void showShapes();
  std::optional<int64_t> extentNumber(Value value);
  std::optional<SmallVector<int64_t>> extentNumbers(Value value);
  LogicalResult
  addHostBuffer(Operation *op, const DenseMap<Operation *, int64_t> &steps,
                std::map<std::vector<int64_t>, HostBuffers> &parts);
  LogicalResult placeHostBuffers();
  void passScratch();

  func::FuncOp function;
  SymbolTable &symbols;
  int64_t stackBytes, streamedBytes;
  OpBuilder builder;
  SmallVector<func::FuncOp> kernels;
  SmallVector<func::CallOp> calls;
  FunctionSignature signature;
  /// Results that are written past the cache, if `streams` is not 0 or there is
  /// no such number.
  DenseSet<Value> streamed;
  Value streams;
};

/// What a block program uses from outside, split by how it gets in.
struct Captures {
  llvm::SetVector<Value> arguments;
  /// Recomputed inside: constants, globals, views. In program order.
  llvm::SetVector<Operation *> clones;
};

void capture(Value value, Region &region, Captures &captures) {
  if (region.isAncestor(value.getParentRegion()))
    return;
  Operation *def = value.getDefiningOp();
  // Views are cut anew inside, so that every argument is one whole buffer and
  // no two of them overlap.
  bool clone = def && !isPlace(def) &&
               (def->hasTrait<OpTrait::ConstantLike>() ||
                isa<memref::GetGlobalOp, ViewLikeOpInterface>(def));
  if (!clone) {
    captures.arguments.insert(value);
    return;
  }
  for (Value operand : def->getOperands())
    capture(operand, region, captures);
  captures.clones.insert(def);
}

/// What all blocks of a group use, and what tells them their places.
Captures capturesOf(const BlockGroup &group, ArrayRef<Grid> grids) {
  Captures captures;
  for (auto [loop, grid] : llvm::zip_equal(group, grids)) {
    Region &region = scf::ForallOp(loop).getRegion();
    region.walk([&](Operation *op) {
      for (Value operand : op->getOperands())
        capture(operand, region, captures);
    });
    // One dimension needs no extent to know its place.
    if (grid.extents.size() > 1)
      for (OpFoldResult extent : grid.extents)
        if (auto value = dyn_cast<Value>(extent))
          capture(value, region, captures);
  }
  return captures;
}

/// Whether the machine code of `group` may stand twice. What computes more for
/// each element that it writes does not wait for its stores.
bool isShort(const BlockGroup &group) {
  constexpr int64_t most = 256;
  int64_t count = 0;
  for (scf::ForallOp loop : group)
    loop->walk([&](Operation *op) { ++count; });
  return count <= most;
}

/// Chooses the results that only blocks' writes touch to be written past the
/// cache, where a call's data exceed it. Where extents are open, calls say.
void KernelOutliner::chooseStreamed() {
  Block &body = function.getBody().front();
  size_t first = signature.arguments.size();
  for (Value result :
       body.getArguments().slice(first, signature.results.size()))
    if (isa<MemRefType>(result.getType()) && isOnlyWritten(result))
      streamed.insert(result);
  if (streamed.empty())
    return;
  int64_t known = 0;
  builder.setInsertionPointToStart(&body);
  Location loc = function.getLoc();
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value open;
  for (auto [i, type] : llvm::enumerate(
           llvm::concat<const Type>(signature.arguments, signature.results))) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || tensor.hasStaticShape()) {
      if (std::optional<ValueType> value = valueTypeOf(type))
        known += value->bytes();
      continue;
    }
    int64_t bytes = llvm::divideCeil(tensor.getElementTypeBitWidth(), 8);
    for (int64_t extent : tensor.getShape())
      bytes *= ShapedType::isDynamic(extent) ? 1 : extent;
    Value product = number(bytes);
    for (int64_t at : signature.extents[i])
      if (at >= 0)
        product = arith::MulIOp::create(
            builder, loc, product,
            body.getArgument(first + signature.results.size() +
                             OpenExtent::ofCode(at).number));
    open = open ? arith::AddIOp::create(builder, loc, open, product) : product;
  }
  if (!open) {
    if (known <= streamedBytes)
      streamed.clear();
    return;
  }
  Value exceeds = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt,
                                        open, number(streamedBytes - known));
  streams = arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                         exceeds);
}

/// The blocks of one loop that fall into [lo, hi) of `blocks`: all of them
/// where the loop has as many, else its share.
void KernelOutliner::emitBlocks(scf::ForallOp loop, const Grid &grid, Value lo,
                                Value hi, OpFoldResult blocks,
                                IRMapping &mapping) {
  Location loc = loop.getLoc();
  if (grid.blocks != blocks) {
    AffineExpr share =
        (builder.getAffineDimExpr(0) * *getConstantIntValue(grid.blocks))
            .floorDiv(*getConstantIntValue(blocks));
    lo = affine::makeComposedAffineApply(builder, loc, share,
                                         {OpFoldResult(lo)});
    hi = affine::makeComposedAffineApply(builder, loc, share,
                                         {OpFoldResult(hi)});
  }
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  auto range = scf::ForOp::create(builder, loc, lo, hi, one);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(range.getBody()->getTerminator());
  SmallVector<Value> ids;
  if (grid.extents.size() == 1) {
    ids.push_back(range.getInductionVar());
  } else {
    SmallVector<OpFoldResult> extents(grid.extents);
    for (OpFoldResult &extent : extents)
      if (auto value = dyn_cast<Value>(extent))
        extent = mapping.lookup(value);
    llvm::append_range(ids, affine::AffineDelinearizeIndexOp::create(
                                builder, loc, range.getInductionVar(), extents)
                                .getResults());
  }
  for (auto [id, lower, by] : llvm::zip_equal(ids, grid.lower, grid.step)) {
    AffineExpr d = builder.getAffineDimExpr(0);
    id = affine::makeComposedAffineApply(builder, loc, d * by + lower,
                                         {OpFoldResult(id)});
  }
  mapping.map(loop.getInductionVars(), ids);
  for (Operation &op : loop.getBody()->without_terminator())
    builder.clone(op, mapping);
}

/// A kernel without a body, which takes `arguments` and a range of blocks.
func::FuncOp KernelOutliner::createKernel(const BlockGroup &group,
                                          ArrayRef<Value> arguments) {
  auto types = llvm::to_vector(TypeRange(ValueRange(arguments)));
  types.append(2, builder.getIndexType());
  builder.setInsertionPoint(function);
  auto kernel = func::FuncOp::create(
      builder, group.front()->getLoc(),
      (function.getName() + "_kernel" + Twine(kernels.size())).str(),
      builder.getFunctionType(types, {}));
  kernel.setPrivate();
  kernel->setAttr(kernelAttr, builder.getUnitAttr());
  symbols.insert(kernel);
  kernel.addEntryBlock();
  // Each is a buffer of its own, and only this call uses it meanwhile; unless
  // control flow has chosen between buffers.
  bool distinct = llvm::all_of(arguments, [&](Value argument) {
    Value whole = wholeOf(argument);
    return !isa<MemRefType>(argument.getType()) ||
           whole.getDefiningOp<memref::AllocOp>() ||
           isa_and_nonnull<func::FuncOp>(
               isa<BlockArgument>(whole) ? whole.getParentBlock()->getParentOp()
                                         : nullptr);
  });
  for (auto [i, type] : llvm::enumerate(types))
    if (distinct && isa<MemRefType>(type))
      kernel.setArgAttr(i, "llvm.noalias", builder.getUnitAttr());
  for (auto [i, argument] : llvm::enumerate(arguments))
    if (!streams && streamed.contains(argument))
      kernel.setArgAttr(i, streamedAttr, builder.getUnitAttr());
    else if (streams == arguments.back() && streamed.contains(argument))
      kernel.setArgAttr(i, streamedAttr,
                        builder.getIndexAttr(arguments.size() - 1));
  return kernel;
}

/// The buffers outside of block programs that these write; none where it is not
/// known which.
std::optional<llvm::SetVector<Value>> writtenBy(const BlockGroup &group) {
  llvm::SetVector<Value> written;
  for (scf::ForallOp loop : group) {
    std::optional<Accesses> accesses = accessesOf(loop);
    if (!accesses)
      return std::nullopt;
    for (Value view : accesses->written)
      for (Value memory : choicesOf(view))
        if (Value whole = wholeOf(memory);
            !loop.getRegion().isAncestor(whole.getParentRegion()))
          written.insert(whole);
  }
  return written;
}

/// How many blocks read what those of `group` make, if only a call knows that,
/// and nothing else reads it; null otherwise.
Value KernelOutliner::blocksOfReaders(const BlockGroup &group) {
  Block &body = function.getBody().front();
  Operation *last = group.back();
  DenseSet<Operation *> own(group.begin(), group.end()), readers;
  std::optional<llvm::SetVector<Value>> written = writtenBy(group);
  if (!written)
    return {};
  for (Value buffer : *written) {
    if (!buffer.getDefiningOp<memref::AllocOp>())
      return {};
    SmallVector<Value> views{buffer};
    for (unsigned i = 0; i < views.size(); ++i)
      for (Operation *user : views[i].getUsers()) {
        Operation *around = body.findAncestorOpInBlock(*user);
        if (isa<ViewLikeOpInterface>(user) && around == user) {
          llvm::append_range(views, user->getResults());
          continue;
        }
        if (own.contains(around))
          continue;
        if (!isa<scf::ForallOp>(around) || !last->isBeforeInBlock(around))
          return {};
        readers.insert(around);
      }
  }
  Value blocks;
  for (Operation *reader : readers) {
    SmallVector<OpFoldResult> ends =
        cast<scf::ForallOp>(reader).getMixedUpperBound();
    auto end = ends.size() == 1 ? dyn_cast<Value>(ends[0]) : Value();
    if (!end || (blocks && blocks != end))
      return {};
    blocks = end;
  }
  IRRewriter rewriter(builder.getContext());
  if (!blocks || failed(moveValueDefinitions(rewriter, blocks, group.front())))
    return {};
  return blocks;
}

LogicalResult KernelOutliner::outline(const BlockGroup &group) {
  scf::ForallOp first = group.front();
  Location loc = first.getLoc();
  SmallVector<Grid> grids;
  OpFoldResult blocks;
  for (scf::ForallOp loop : group) {
    FailureOr<Grid> grid = Grid::of(loop);
    if (failed(grid))
      return failure();
    // An open one is alone.
    if (!blocks ||
        getConstantIntValue(blocks) < getConstantIntValue(grid->blocks))
      blocks = grid->blocks;
    grids.push_back(*grid);
  }

  Captures captures = capturesOf(group, grids);
  SmallVector<Value> arguments = captures.arguments.takeVector();
  for (Value argument : arguments) {
    auto memory = dyn_cast<MemRefType>(argument.getType());
    if (memory && !memory.hasStaticShape())
      return first.emitOpError("uses a buffer of type ")
             << memory << " that control flow has chosen, whose open extents "
             << "it cannot know";
  }
  bool choosesStreamed =
      streams && isShort(group) && llvm::any_of(arguments, [&](Value argument) {
        return streamed.contains(argument);
      });
  if (choosesStreamed)
    arguments.push_back(streams);
  func::FuncOp kernel = createKernel(group, arguments);
  Block *body = &kernel.getBody().front();
  builder.setInsertionPointToStart(body);
  IRMapping mapping;
  for (auto [i, argument] : llvm::enumerate(arguments))
    mapping.map(argument, body->getArgument(i));
  for (Operation *op : captures.clones)
    builder.clone(*op, mapping);
  Value lo = body->getArgument(arguments.size());
  Value hi = body->getArgument(arguments.size() + 1);
  for (auto [loop, grid] : llvm::zip_equal(group, grids))
    emitBlocks(loop, grid, lo, hi, blocks, mapping);
  func::ReturnOp::create(builder, loc);

  // A loop over blocks inside a block runs in order.
  IRRewriter rewriter(builder.getContext());
  SmallVector<scf::ForallOp> inner;
  kernel.walk([&](scf::ForallOp op) { inner.push_back(op); });
  for (scf::ForallOp op : inner) {
    rewriter.setInsertionPoint(op);
    if (failed(scf::forallToForLoop(rewriter, op)))
      return failure();
  }

  builder.setInsertionPoint(first);
  Value none = arith::ConstantIndexOp::create(builder, loc, 0);
  Value all = getValueOrCreateConstantIndexOp(builder, loc, blocks);
  // Panels that no block reads are not packed.
  if (Value readers = blocksOfReaders(group)) {
    Value isRead = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::sgt, readers, none);
    all = arith::SelectOp::create(builder, loc, isRead, all, none);
  }
  arguments.append({none, all});
  calls.push_back(func::CallOp::create(builder, loc, kernel, arguments));
  kernels.push_back(kernel);
  for (scf::ForallOp loop : group)
    loop.erase();
  return placeKernelBuffers(
      kernel, stackBytes, [&](Value value) { return sourceOf(value); },
      signature);
}

/// The number of the open extent that `value` is, if it is one.
std::optional<int64_t> KernelOutliner::extentNumber(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != &function.getBody().front())
    return std::nullopt;
  // Behind the arguments and the results.
  int64_t number = int64_t(argument.getArgNumber()) -
                   int64_t(signature.arguments.size()) -
                   int64_t(signature.results.size());
  if (number < 0 || number >= signature.openExtents)
    return std::nullopt;
  return number;
}

/// The numbers of the open extents that `value` is the product of, if it is
/// one.
std::optional<SmallVector<int64_t>> KernelOutliner::extentNumbers(Value value) {
  if (std::optional<int64_t> number = extentNumber(value))
    return SmallVector<int64_t>{*number};
  auto product = value.getDefiningOp<arith::MulIOp>();
  if (!product)
    return std::nullopt;
  std::optional<SmallVector<int64_t>> numbers = extentNumbers(product.getLhs()),
                                      others = extentNumbers(product.getRhs());
  if (!numbers || !others)
    return std::nullopt;
  llvm::append_range(*numbers, *others);
  return numbers;
}

/// What an argument is: of the function an open extent, of a kernel what its
/// call hands over.
SizeSource KernelOutliner::sourceOf(Value value) {
  if (std::optional<int64_t> number = extentNumber(value))
    return {number, {}};
  auto argument = cast<BlockArgument>(value);
  for (auto [kernel, call] : llvm::zip_equal(kernels, calls))
    if (argument.getOwner() == &kernel.getBody().front() &&
        argument.getArgNumber() < call.getNumOperands())
      return {{}, call.getOperand(argument.getArgNumber())};
  return {};
}

/// Adds a buffer of the function to those whose size has the same open extents.
LogicalResult KernelOutliner::addHostBuffer(
    Operation *op, const DenseMap<Operation *, int64_t> &steps,
    std::map<std::vector<int64_t>, HostBuffers> &parts) {
  std::vector<int64_t> extents;
  bool areKnown = true;
  for (Value size : op->getOperands()) {
    std::optional<SmallVector<int64_t>> numbers = extentNumbers(size);
    areKnown &= numbers.has_value();
    if (numbers)
      llvm::append_range(extents, *numbers);
  }
  FailureOr<int64_t> bytes = areKnown ? bytesOfRow(op) : bytesOf(op);
  if (failed(bytes))
    return failure();
  llvm::sort(extents);
  HostBuffers &part = parts[extents];
  part.buffers.push_back(op);
  part.lifetimes.push_back(
      lifetimeOf(op->getResult(0), *bytes, function.getBody().front(), steps));
  return success();
}

/// Buffers of the function itself share one workspace, its last but one
/// argument: first those of known size, then for each set of open extents those
/// that grow with their product.
LogicalResult KernelOutliner::placeHostBuffers() {
  Block &body = function.getBody().front();
  SmallVector<Operation *> allocations = allocationsIn(function);
  DenseMap<Operation *, int64_t> steps;
  for (auto [i, op] : llvm::enumerate(body))
    steps[&op] = i;
  std::map<std::vector<int64_t>, HostBuffers> parts;
  for (Operation *op : allocations)
    if (failed(addHostBuffer(op, steps, parts)))
      return failure();
  for (auto &[extents, part] : parts) {
    // Offsets are multiplied with so many rows that what they give is aligned.
    part.layout =
        layOutArena(part.lifetimes, extents.empty() ? arenaAlignment : 1);
    if (extents.empty())
      signature.workspaceBytes = part.layout.bytes;
    else
      signature.workspaceTerms.push_back({part.layout.bytes, extents});
  }
  if (allocations.empty())
    return success();
  Location loc = function.getLoc();
  Value workspace =
      body.addArgument(bytesType(builder, signature.workspaceBytes), loc);
  builder.setInsertionPointToStart(&body);
  IndexMath math(builder, loc);
  OpFoldResult begin = math.number(0);
  size_t firstExtent = signature.arguments.size() + signature.results.size();
  for (auto &[extents, part] : parts) {
    OpFoldResult rows = math.number(1);
    for (int64_t number : extents)
      rows = math.mul(rows, body.getArgument(firstExtent + number));
    if (!extents.empty())
      rows = roundedUp(math, rows);
    for (auto [op, offset] :
         llvm::zip_equal(part.buffers, part.layout.offsets)) {
      Value at = getValueOrCreateConstantIndexOp(
          builder, loc, math.add(begin, math.mul(rows, math.number(offset))));
      // Here, where what computes them may not stand yet.
      SmallVector<Value> sizes;
      for (Value size : op->getOperands()) {
        OpFoldResult product = math.number(1);
        SmallVector<int64_t> numbers = *extentNumbers(size);
        for (int64_t number : numbers)
          product = math.mul(product, body.getArgument(firstExtent + number));
        sizes.push_back(cast<Value>(product));
      }
      Value view = memref::ViewOp::create(
          builder, op->getLoc(), cast<MemRefType>(op->getResult(0).getType()),
          workspace, at, sizes);
      op->getResult(0).replaceAllUsesWith(view);
    }
    begin = math.add(begin, math.mul(rows, math.number(part.layout.bytes)));
  }
  for (Operation *op : allocations)
    op->erase();
  return success();
}

/// Hands each kernel its scratch memory. In the serial reading of the module,
/// all of them use the function's last argument.
void KernelOutliner::passScratch() {
  if (signature.scratchBytes == 0)
    return;
  Block &body = function.getBody().front();
  Value scratch = body.addArgument(bytesType(builder, signature.scratchBytes),
                                   function.getLoc());
  for (auto [kernel, call] : llvm::zip_equal(kernels, calls)) {
    if (!kernel->getAttrOfType<StringAttr>(kernelAttr))
      continue;
    builder.setInsertionPoint(call);
    auto type = cast<MemRefType>(kernel.getArgumentTypes().back());
    Value part = scratch;
    if (type != scratch.getType()) {
      Value zero = arith::ConstantIndexOp::create(builder, call.getLoc(), 0);
      part = memref::ViewOp::create(builder, call.getLoc(), type, scratch, zero,
                                    ValueRange());
    }
    call->insertOperands(call->getNumOperands(), part);
  }
}

/// Another shape of a buffer with open extents is a view of the same place.
void KernelOutliner::showShapes() {
  SmallVector<Operation *> reshapes;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<scf::ForallOp>(op))
      return WalkResult::skip();
    if (isa<memref::CollapseShapeOp, memref::ExpandShapeOp>(op) &&
        !cast<MemRefType>(op->getResult(0).getType()).hasStaticShape())
      reshapes.push_back(op);
    return WalkResult::advance();
  });
  for (Operation *op : reshapes) {
    auto view = op->getOperand(0).getDefiningOp<memref::ReinterpretCastOp>();
    auto type = cast<MemRefType>(op->getResult(0).getType());
    if (!view || !view.getType().getLayout().isIdentity() ||
        !type.getLayout().isIdentity())
      continue;
    builder.setInsertionPoint(op);
    SmallVector<OpFoldResult> sizes;
    if (auto expand = dyn_cast<memref::ExpandShapeOp>(op)) {
      sizes = expand.getMixedOutputShape();
    } else {
      IndexMath math(builder, op->getLoc());
      SmallVector<OpFoldResult> before = view.getMixedSizes();
      for (ArrayRef<int64_t> group :
           cast<memref::CollapseShapeOp>(op).getReassociationIndices()) {
        OpFoldResult &size = sizes.emplace_back(math.number(1));
        for (int64_t dim : group)
          size = math.mul(size, before[dim]);
      }
    }
    SmallVector<Value> open;
    for (OpFoldResult size : sizes)
      if (auto value = dyn_cast<Value>(size))
        open.push_back(value);
    op->getResult(0).replaceAllUsesWith(denseView(
        builder, op->getLoc(), view.getSource(), type.getShape(), open));
    op->erase();
  }
}

/// Lets block programs see buffers of the function that have open extents by
/// their places.
void KernelOutliner::showPlaces() {
  SmallVector<Operation *> allocations;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<scf::ForallOp>(op))
      return WalkResult::skip();
    if (isa<memref::AllocOp, memref::AllocaOp>(op) && op->getNumOperands() > 0)
      allocations.push_back(op);
    return WalkResult::advance();
  });
  for (Operation *op : allocations) {
    Value memory = op->getResult(0);
    builder.setInsertionPointAfter(op);
    Value place = placeOf(builder, op->getLoc(), memory);
    Value view = denseView(builder, op->getLoc(), place,
                           cast<MemRefType>(memory.getType()).getShape(),
                           op->getOperands());
    memory.replaceAllUsesExcept(view, place.getDefiningOp());
  }
  showShapes();
  // What these say of their extents: sizes of buffers follow from it.
  function.walk([](memref::DimOp dim) {
    auto view = dim.getSource().getDefiningOp<memref::ReinterpretCastOp>();
    std::optional<int64_t> index = dim.getConstantIndex();
    if (!view || !index || *index >= view.getType().getRank())
      return;
    OpBuilder b(dim);
    dim.replaceAllUsesWith(getValueOrCreateConstantIndexOp(
        b, dim.getLoc(), view.getMixedSizes()[*index]));
    dim.erase();
  });
}

LogicalResult KernelOutliner::run() {
  FailureOr<FunctionSignature> known = getSignature(function);
  if (failed(known))
    return function.emitError("has no ")
           << signatureAttr << " attribute; run --cpu-bufferize first";
  signature = *known;
  showPlaces();
  chooseStreamed();
  for (const BlockGroup &group : groupBlocks(function))
    if (failed(outline(group)))
      return failure();
  if (failed(placeHostBuffers()))
    return failure();
  passScratch();
  Block &body = function.getBody().front();
  function.setType(builder.getFunctionType(body.getArgumentTypes(), {}));
  function.setAllArgAttrs(SmallVector<DictionaryAttr>(
      body.getNumArguments(), builder.getDictionaryAttr({})));
  setSignature(function, signature);
  return success();
}

struct CpuKernels : impl::CpuKernelsBase<CpuKernels> {
  using CpuKernelsBase::CpuKernelsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    SmallVector<memref::DeallocOp> deallocs;
    module.walk([&](memref::DeallocOp op) { deallocs.push_back(op); });
    for (memref::DeallocOp op : deallocs)
      op.erase();
    for (auto function :
         llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (!function.isExternal() && !function->hasAttr(kernelAttr) &&
          failed(KernelOutliner(function, symbols, stackBytes, streamedBytes)
                     .run()))
        return signalPassFailure();
  }
};

} // namespace
} // namespace drawloom::cpu
