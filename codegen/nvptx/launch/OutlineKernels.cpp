//===- OutlineKernels.cpp - functions of what one launch runs -------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/Program.h"
#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/launch/OffloadSteps.h"
#include "codegen/nvptx/launch/OpenKernels.h"
#include "codegen/nvptx/products/ProductAttributes.h"
#include "codegen/nvptx/schedule/Schedule.h"
#include "dialects/Offload/Offload.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/Block/Rows/RowMaterialize.h"
#include "passes/Graph/OpenExtents.h"
#include "llvm/ADT/SetVector.h"

namespace drawloom::nvptx {
#define GEN_PASS_DEF_NVPTXOUTLINEKERNELS
#include "codegen/nvptx/Passes.h.inc"
} // namespace drawloom::nvptx

using namespace mlir;

namespace drawloom::nvptx {
namespace {

/// Other names for the memory of their operand.
bool isView(Operation *op) {
  return isa<offload::AgainOp, tensor::CastOp, tensor::CollapseShapeOp,
             tensor::ExpandShapeOp>(op);
}

Value withoutViews(Value value) {
  while (value.getDefiningOp() && isView(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

bool isEmpty(Value value) {
  return withoutViews(value).getDefiningOp<tensor::EmptyOp>() != nullptr;
}

/// What moves no data, or is cheaper to make again than to keep.
bool isRepeatable(Operation *op) {
  if (isa<offload::AgainOp, tensor::CastOp, tensor::CollapseShapeOp,
          tensor::DimOp, tensor::EmptyOp, tensor::ExpandShapeOp,
          tensor::ExtractOp, tensor::ExtractSliceOp>(op))
    return true;
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return isEmpty(fill.getOutputs()[0]);
  bool scalar =
      llvm::none_of(op->getResultTypes(), llvm::IsaPred<TensorType>) &&
      llvm::none_of(op->getOperandTypes(), llvm::IsaPred<TensorType>);
  return isMemoryEffectFree(op) && op->getNumRegions() == 0 &&
         (scalar || op->hasTrait<OpTrait::ConstantLike>());
}

/// What a block copies to change some of it, bytes: less costs no launch.
constexpr int64_t mostCopied = 4096;

/// Of what a block makes and also reads part by part, which shared memory holds
/// then, bytes: the parts of more are read by a later launch. Half of the least
/// that a block has.
constexpr int64_t mostReadInParts = 80 * 1024;

bool isApart(Operation *op);

/// Whether an op puts a tensor into another one that would take long to copy:
/// the rest of rows into what blocks made of the others.
bool isPutInPlace(Operation *op) {
  auto insert = dyn_cast<tensor::InsertSliceOp>(op);
  if (!insert || !insert.getOffsets().empty() || !insert.getSizes().empty() ||
      !insert.getStrides().empty())
    return false;
  std::optional<ValueType> type = valueTypeOf(insert.getDestType());
  Operation *before = withoutViews(insert.getDest()).getDefiningOp();
  return type && type->bytes() > mostCopied && before && isApart(before);
}

/// What is no part of a kernel that others share: a block program, a product
/// that a library computes, a change of what these have made.
bool isApart(Operation *op) {
  return isa<scf::ForallOp, func::CallOp>(op) || isPutInPlace(op);
}

/// Of a loop over blocks that writes what others leave of their results, the
/// loops that made these; nothing where it reads any of them.
SmallVector<scf::ForallOp> madeBeside(Operation *op) {
  auto blocks = dyn_cast<scf::ForallOp>(op);
  if (!blocks || !blocks->hasAttr(besideAttr))
    return {};
  SmallVector<scf::ForallOp> before;
  for (Value output : blocks.getOutputs())
    if (auto loop = output.getDefiningOp<scf::ForallOp>()) {
      if (!output.hasOneUse())
        return {};
      before.push_back(loop);
    }
  return before;
}

/// Groups of ops that one block runs, each of one level.
class Groups {
public:
  /// Adds an op to the groups of what it reads there, which become one.
  void add(Operation *op, ArrayRef<Operation *> reads, unsigned level);
  /// Calls a function with each group, whose ops are in order.
  void
  visit(llvm::function_ref<void(unsigned level, ArrayRef<Operation *>)> use);

private:
  struct Group {
    unsigned level;
    SmallVector<Operation *> ops;
  };
  std::vector<std::unique_ptr<Group>> groups;
  DenseMap<Operation *, Group *> groupOf;
};

void Groups::add(Operation *op, ArrayRef<Operation *> reads, unsigned level) {
  Group *group = nullptr;
  for (Operation *read : reads) {
    Group *other = groupOf.lookup(read);
    if (other == group)
      continue;
    if (!group) {
      group = other;
      continue;
    }
    for (Operation *moved : other->ops)
      groupOf[moved] = group;
    group->ops.append(other->ops);
    other->ops.clear();
  }
  if (!group) {
    groups.push_back(std::make_unique<Group>());
    group = groups.back().get();
    group->level = level;
  }
  group->ops.push_back(op);
  groupOf[op] = group;
}

void Groups::visit(
    llvm::function_ref<void(unsigned level, ArrayRef<Operation *>)> use) {
  for (auto &group : groups) {
    if (group->ops.empty())
      continue;
    llvm::sort(group->ops, [](Operation *a, Operation *b) {
      return a->isBeforeInBlock(b);
    });
    use(group->level, group->ops);
  }
}

class Outliner {
public:
  Outliner(SymbolTable &symbols, func::FuncOp function)
      : symbols(symbols), function(function) {}
  LogicalResult run();

private:
  /// Independent parts that one launch runs: block programs, and groups of
  /// other ops that depend on each other, which become one block each.
  struct Kernel {
    SmallVector<SmallVector<Operation *>> parts;
    /// Values that are needed behind it.
    llvm::SetVector<Value> results;
    /// Products for a library, beside it; and transfers behind it.
    SmallVector<func::CallOp> products;
  };
  Block &body() { return function.getBody().front(); }
  /// What an op reads of others of the function, through what is repeatable.
  void collectReads(Operation *op, llvm::SetVector<Operation *> &reads,
                    llvm::SetVector<Value> &readInParts, bool inParts = false);
  /// Returns the first kernel that an op can be part of.
  unsigned levelOf(Operation *op, ArrayRef<Operation *> reads,
                   ArrayRef<scf::ForallOp> beside, unsigned least);
  /// What is read in parts by the kernel that makes it, and its bytes in each.
  struct PartsRead {
    DenseSet<Value> values;
    SmallVector<int64_t> bytes;
  };
  /// Returns whether a kernel has room for the values that an op reads in parts
  /// there, and notes them then.
  bool holdsParts(Operation *op, ArrayRef<Value> values, unsigned level,
                  PartsRead &known);
  void collect();
  /// Makes a value that is repeatable, but that memory is needed for, a result
  /// of the first kernel.
  void materialize(Value value);
  /// What takes the place of a value, views of what was made included.
  Value resolve(Value value, OpBuilder &host);
  void markNeeds(Value value, unsigned user);
  /// A kernel that is being made, and what its call is given.
  struct Outlined {
    explicit Outlined(func::FuncOp outlined)
        : outlined(outlined), block(outlined.addEntryBlock()),
          inside(OpBuilder::atBlockEnd(block)) {}
    func::FuncOp outlined;
    Block *block;
    OpBuilder inside;
    IRMapping mapping;
    SmallVector<Value> operands;
    SmallVector<DictionaryAttr> attributes;
  };
  /// Whether whoever reads a value makes it again.
  bool isRepeated(Value value);
  void bringNumber(Value value, tensor::ExtractOp left, Outlined &to);
  /// Makes a value known inside of a kernel: as an argument, or made again.
  void bring(Value value, Outlined &to);
  void bringRoots(Value value, ArrayRef<Operation *> part, Outlined &to);
  void bringReads(unsigned index, Outlined &to);
  void addGroup(ArrayRef<Operation *> part,
                const llvm::SetVector<Value> &results, Outlined &to);
  void finish(unsigned index, Outlined &to);
  void outline(unsigned index);
  void markUpdates(unsigned index, func::CallOp call);
  /// Refuses what stays in memory behind a kernel and has an extent that no
  /// argument of the function has.
  LogicalResult checkExtents();
  /// Puts the call behind what is outlined by now.
  void place(func::CallOp product);
  /// What the function, its block programs and JSON said of a kernel.
  LogicalResult schedule(func::FuncOp outlined, const Kernel &kernel);

  SymbolTable &symbols;
  func::FuncOp function;
  SmallVector<Kernel> kernels;
  DenseMap<Operation *, unsigned> kernelOf;
  /// By name.
  SmallVector<func::FuncOp> made;
  /// What takes the place of a value in the function, once its kernel is made.
  DenseMap<Value, Value> replacements;
};

static llvm::SetVector<Value> valuesReadBy(Operation *op) {
  llvm::SetVector<Value> read(op->getOperands().begin(),
                              op->getOperands().end());
  getUsedValuesDefinedAbove(op->getRegions(), read);
  return read;
}

void Outliner::collectReads(Operation *op, llvm::SetVector<Operation *> &reads,
                            llvm::SetVector<Value> &readInParts, bool inParts) {
  inParts |= isa<tensor::ExtractSliceOp>(op);
  for (Value value : valuesReadBy(op)) {
    Operation *def = value.getDefiningOp();
    if (!def || def->getBlock() != &body())
      continue;
    if (isRepeatable(def) && !kernelOf.count(def)) {
      collectReads(def, reads, readInParts, inParts);
      continue;
    }
    reads.insert(def);
    if (inParts)
      readInParts.insert(value);
  }
}

unsigned Outliner::levelOf(Operation *op, ArrayRef<Operation *> reads,
                           ArrayRef<scf::ForallOp> beside, unsigned least) {
  unsigned level = least;
  for (Operation *read : reads) {
    bool same =
        (!isApart(op) && !isApart(read)) || llvm::is_contained(beside, read);
    level = std::max(level, kernelOf.lookup(read) + (same ? 0 : 1));
  }
  return level;
}

bool Outliner::holdsParts(Operation *op, ArrayRef<Value> values, unsigned level,
                          PartsRead &known) {
  SmallVector<Value> more;
  int64_t bytes = 0;
  for (Value value : values) {
    Operation *def = value.getDefiningOp();
    if (isApart(op) || isApart(def) || kernelOf.lookup(def) != level ||
        known.values.contains(value))
      continue;
    more.push_back(value);
    if (std::optional<ValueType> type = valueTypeOf(value.getType()))
      bytes += type->bytes();
  }
  known.bytes.resize(std::max<size_t>(known.bytes.size(), level + 1));
  if (bytes > 0 && known.bytes[level] + bytes > mostReadInParts)
    return false;
  known.bytes[level] += bytes;
  known.values.insert(more.begin(), more.end());
  return true;
}

/// Kernels are levels of what depends on what. Ops between block programs that
/// depend on each other run one after another in one block.
void Outliner::collect() {
  Groups groups;
  PartsRead inParts;
  // Where memory is planned, what comes behind a transfer stays there, as does
  // what is computed again.
  unsigned least = 0;
  for (Operation &op : body().without_terminator()) {
    if (isa<offload::AgainOp>(op))
      least = kernels.size();
    if (auto call = dyn_cast<func::CallOp>(op); call && transferOf(call)) {
      kernels.resize(std::max<size_t>(kernels.size(), 1));
      kernelOf[call] = kernels.size() - 1;
      kernels.back().products.push_back(call);
      least = kernels.size();
      continue;
    }
    if (isRepeatable(&op) && !kernelOf.count(&op))
      continue;
    llvm::SetVector<Operation *> reads;
    llvm::SetVector<Value> partsRead;
    collectReads(&op, reads, partsRead);
    SmallVector<scf::ForallOp> beside = madeBeside(&op);
    unsigned level = levelOf(&op, reads.getArrayRef(), beside, least);
    // In one launch, its results are those of the loops before it.
    for (scf::ForallOp before : beside)
      if (kernelOf.lookup(before) == level)
        for (Value output : cast<scf::ForallOp>(op).getOutputs())
          kernels[level].results.remove(output);
    if (!holdsParts(&op, partsRead.getArrayRef(), level, inParts))
      ++level;
    kernelOf[&op] = level;
    kernels.resize(std::max<size_t>(kernels.size(), level + 1));
    if (auto product = dyn_cast<func::CallOp>(&op)) {
      kernels[level].products.push_back(product);
    } else if (isApart(&op)) {
      groups.add(&op, {}, level);
      // Blocks write all of their results.
      kernels[level].results.insert(op.result_begin(), op.result_end());
    } else {
      groups.add(&op,
                 llvm::to_vector(llvm::make_filter_range(
                     reads,
                     [&](Operation *read) {
                       return !isApart(read) && kernelOf.lookup(read) == level;
                     })),
                 level);
    }
  }
  groups.visit([&](unsigned level, ArrayRef<Operation *> group) {
    kernels[level].parts.emplace_back(group);
  });
}

void Outliner::materialize(Value value) {
  Operation *op = value.getDefiningOp();
  // What nobody defines need not be written.
  if (op && op->getBlock() == &body() && isRepeatable(op) &&
      !isa<tensor::EmptyOp>(op))
    kernelOf[op] = 0;
}

/// Marks what kernel `user` reads of earlier ones.
void Outliner::markNeeds(Value value, unsigned user) {
  Operation *def = value.getDefiningOp();
  if (!def || def->getBlock() != &body())
    return;
  auto found = kernelOf.find(def);
  if (found == kernelOf.end()) {
    for (Value operand : valuesReadBy(def))
      markNeeds(operand, user);
  } else if (found->second != user && !isa<func::CallOp>(def)) {
    kernels[found->second].results.insert(value);
  }
}

/// One block that writes the part that changes.
static void putInPlace(OpBuilder &builder, tensor::InsertSliceOp insert,
                       IRMapping &mapping) {
  OpBuilder::InsertionGuard guard(builder);
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  auto single = scf::ForallOp::create(
      builder, insert.getLoc(), ArrayRef(zero), ArrayRef(one), ArrayRef(one),
      ValueRange(mapping.lookup(insert.getDest())), std::nullopt);
  builder.setInsertionPointToEnd(single.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(
      builder, insert.getLoc(), mapping.lookup(insert.getSource()),
      single.getRegionIterArgs().front(), insert.getMixedOffsets(),
      insert.getMixedSizes(), insert.getMixedStrides());
  mapping.map(insert.getResult(), single.getResult(0));
}

/// Blocks that leave some of their result as it was update it in place.
void Outliner::markUpdates(unsigned index, func::CallOp call) {
  const Kernel &kernel = kernels[index];
  SmallVector<int64_t> updates;
  auto update = [&](Value result, Value before) {
    before = withoutViews(before);
    if (before.getDefiningOp<tensor::EmptyOp>())
      return;
    if (Operation *made = before.getDefiningOp();
        made && kernelOf.contains(made) && kernelOf.lookup(made) == index)
      return;
    const auto *place = llvm::find(kernel.results, result);
    auto operand =
        llvm::find(call.getOperands(), replacements.lookup_or(before, before));
    updates.append(
        {place - kernel.results.begin(), operand - call.getOperands().begin()});
  };
  for (ArrayRef<Operation *> part : kernel.parts)
    if (auto blocks = dyn_cast<scf::ForallOp>(part.front())) {
      for (OpOperand &init : blocks.getOutputsMutable())
        update(blocks.getTiedOpResult(&init), init.get());
    } else if (isPutInPlace(part.front())) {
      auto insert = cast<tensor::InsertSliceOp>(part.front());
      update(insert.getResult(), insert.getDest());
    }
  if (!updates.empty())
    call->setAttr(updatesAttr, Builder(call).getDenseI64ArrayAttr(updates));
}

bool Outliner::isRepeated(Value value) {
  Operation *def = value.getDefiningOp();
  return def && def->getBlock() == &body() && !kernelOf.count(def);
}

/// Another kernel has left a number in memory.
void Outliner::bringNumber(Value value, tensor::ExtractOp left, Outlined &to) {
  to.operands.push_back(left.getTensor());
  to.attributes.push_back(to.inside.getDictionaryAttr({}));
  Value memory =
      to.block->addArgument(left.getTensor().getType(), value.getLoc());
  OpBuilder::InsertionGuard guard(to.inside);
  to.inside.setInsertionPointToStart(to.block);
  to.mapping.map(value, tensor::ExtractOp::create(to.inside, value.getLoc(),
                                                  memory, ValueRange()));
}

void Outliner::bring(Value value, Outlined &to) {
  if (to.mapping.contains(value))
    return;
  // The extents that its type leaves open.
  DenseI64ArrayAttr extents = extentsOf(function, value);
  for (int64_t number : extents ? extents.asArrayRef() : ArrayRef<int64_t>())
    if (number >= 0)
      bring(extentArgument(function, number), to);
  if (isRepeated(value)) {
    for (Value operand : valuesReadBy(value.getDefiningOp()))
      bring(operand, to);
    to.inside.clone(*value.getDefiningOp(), to.mapping);
    return;
  }
  Value given = replacements.lookup_or(value, value);
  if (auto left = given.getDefiningOp<tensor::ExtractOp>();
      left && given != value)
    return bringNumber(value, left, to);
  to.operands.push_back(given);
  SmallVector<NamedAttribute> attributes;
  if (extents)
    attributes.push_back(to.inside.getNamedAttr(extentsAttr, extents));
  if (auto argument = dyn_cast<BlockArgument>(value))
    if (Attribute number =
            function.getArgAttr(argument.getArgNumber(), extentAttr))
      attributes.push_back(to.inside.getNamedAttr(extentAttr, number));
  to.attributes.push_back(to.inside.getDictionaryAttr(attributes));
  to.mapping.map(value, to.block->addArgument(value.getType(), value.getLoc()));
}

/// What comes from outside for a value that `part` reads. What a group of ops
/// repeats is its own: an empty tensor that it fills, say.
void Outliner::bringRoots(Value value, ArrayRef<Operation *> part,
                          Outlined &to) {
  if (isRepeated(value)) {
    for (Value operand : valuesReadBy(value.getDefiningOp()))
      bringRoots(operand, part, to);
  } else if (!llvm::is_contained(part, value.getDefiningOp())) {
    bring(value, to);
  }
}

void Outliner::bringReads(unsigned index, Outlined &to) {
  for (ArrayRef<Operation *> part : kernels[index].parts)
    for (Operation *op : part)
      for (Value value : valuesReadBy(op)) {
        // What it writes beside other blocks, these make.
        auto beside = value.getDefiningOp<scf::ForallOp>();
        if (beside && llvm::is_contained(madeBeside(op), beside) &&
            kernelOf.lookup(beside) == index)
          continue;
        if (isApart(op))
          bring(value, to);
        else
          bringRoots(value, part, to);
      }
}

/// Writes the whole of a result at the end of a block.
static void writeWhole(OpBuilder &builder, Location loc, Value made,
                       BlockArgument output, scf::ForallOp block) {
  builder.setInsertionPoint(block.getTerminator());
  if (!isa<RankedTensorType>(made.getType()))
    made = tensor::FromElementsOp::create(
        builder, loc, cast<RankedTensorType>(output.getType()), made);
  auto type = cast<RankedTensorType>(made.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0)),
      ones(type.getRank(), builder.getIndexAttr(1)), sizes;
  for (int64_t extent : type.getShape())
    sizes.push_back(builder.getIndexAttr(extent));
  builder.setInsertionPointToEnd(block.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(builder, loc, made, output, offsets,
                                        sizes, ones);
}

/// One block that runs a group of ops and writes its results as a whole.
void Outliner::addGroup(ArrayRef<Operation *> part,
                        const llvm::SetVector<Value> &results, Outlined &to) {
  Location loc = to.outlined.getLoc();
  IRMapping outside = to.mapping;
  SmallVector<Value> values, inits;
  for (Value value : results)
    if (llvm::is_contained(part, value.getDefiningOp())) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      // Numbers leave a kernel through memory as well.
      if (!type)
        type = RankedTensorType::get({}, value.getType());
      values.push_back(value);
      inits.push_back(tensor::EmptyOp::create(to.inside, loc, type.getShape(),
                                              type.getElementType()));
    }
  OpFoldResult zero = to.inside.getIndexAttr(0),
               one = to.inside.getIndexAttr(1);
  auto single = scf::ForallOp::create(
      to.inside, part.front()->getLoc(), ArrayRef<OpFoldResult>{zero},
      ArrayRef<OpFoldResult>{one}, ArrayRef<OpFoldResult>{one}, inits,
      std::nullopt);
  {
    OpBuilder::InsertionGuard guard(to.inside);
    to.inside.setInsertionPoint(single.getTerminator());
    for (Operation *op : part) {
      for (Value value : valuesReadBy(op))
        bring(value, to);
      to.inside.clone(*op, to.mapping);
    }
    for (auto [value, output] : llvm::zip(values, single.getRegionIterArgs()))
      writeWhole(to.inside, loc, to.mapping.lookup(value), output, single);
  }
  to.mapping = outside;
  for (auto [value, result] : llvm::zip(values, single.getResults()))
    to.mapping.map(value, result);
}

/// Ends a kernel, and calls it.
void Outliner::finish(unsigned index, Outlined &to) {
  const Kernel &kernel = kernels[index];
  Location loc = to.outlined.getLoc();
  SmallVector<Value> results;
  for (Value value : kernel.results)
    results.push_back(to.mapping.lookup(value));
  func::ReturnOp::create(to.inside, loc, results);
  to.outlined.setFunctionType(
      FunctionType::get(function.getContext(), to.block->getArgumentTypes(),
                        ValueRange(results).getTypes()));
  to.outlined.setAllArgAttrs(to.attributes);
  for (auto [i, value] : llvm::enumerate(kernel.results))
    if (DenseI64ArrayAttr extents = extentsOf(function, value))
      to.outlined.setResultAttr(i, extentsAttr, extents);

  OpBuilder host(body().getTerminator());
  auto call = func::CallOp::create(host, loc, to.outlined, to.operands);
  markUpdates(index, call);
  for (auto [value, result] : llvm::zip(kernel.results, call.getResults())) {
    if (isa<TensorType>(value.getType()))
      replacements[value] = result;
    else
      replacements[value] =
          tensor::ExtractOp::create(host, loc, result, ValueRange());
  }
}

void Outliner::outline(unsigned index) {
  const Kernel &kernel = kernels[index];
  auto outlined =
      func::FuncOp::create(kernel.parts.front().front()->getLoc(),
                           (function.getName() + "_" + Twine(index)).str(),
                           FunctionType::get(function.getContext(), {}, {}));
  outlined.setPrivate();
  outlined->setAttr(kernelAttr, UnitAttr::get(function.getContext()));
  outlined->setAttr(kernelOfAttr, function.getNameAttr());
  symbols.insert(outlined, Block::iterator(function));
  made.push_back(outlined);
  Outlined to(outlined);
  bringReads(index, to);
  for (ArrayRef<Operation *> part : kernel.parts) {
    auto insert = dyn_cast<tensor::InsertSliceOp>(part.front());
    if (isa<scf::ForallOp>(part.front()))
      to.inside.clone(*part.front(), to.mapping);
    else if (insert && isPutInPlace(insert))
      putInPlace(to.inside, insert, to.mapping);
    else
      addGroup(part, kernel.results, to);
  }
  finish(index, to);
}

Value Outliner::resolve(Value value, OpBuilder &host) {
  if (Value known = replacements.lookup(value))
    return known;
  Operation *def = value.getDefiningOp();
  if (!def || def->getBlock() != &body() || kernelOf.count(def) || !isView(def))
    return value;
  IRMapping mapping;
  mapping.map(def->getOperand(0), resolve(def->getOperand(0), host));
  return host.clone(*def, mapping)->getResult(0);
}

void Outliner::place(func::CallOp product) {
  OpBuilder host(body().getTerminator());
  SmallVector<Value> operands;
  for (Value operand : product.getOperands())
    operands.push_back(resolve(operand, host));
  auto call = func::CallOp::create(host, product.getLoc(), product.getCallee(),
                                   product.getResultTypes(), operands);
  for (auto [result, made] : llvm::zip(product.getResults(), call.getResults()))
    replacements[result] = made;
}

LogicalResult Outliner::schedule(func::FuncOp outlined, const Kernel &kernel) {
  auto whole = function->getAttrOfType<DictionaryAttr>(scheduleAttr);
  auto read = [&](Operation *op, DictionaryAttr said, Schedule &into) {
    llvm::Expected<Schedule> schedule = readSchedule(said);
    if (!schedule)
      return LogicalResult(op->emitError(llvm::toString(schedule.takeError())));
    into = merge(*schedule, into);
    return success();
  };
  Schedule result;
  if (failed(read(function, whole, result)))
    return failure();
  for (ArrayRef<Operation *> part : kernel.parts)
    if (failed(read(part.front(),
                    part.front()->getAttrOfType<DictionaryAttr>(scheduleAttr),
                    result)))
      return failure();
  if (auto each = whole ? whole.getAs<DictionaryAttr>("kernels") : nullptr)
    if (failed(read(function, each.getAs<DictionaryAttr>(outlined.getName()),
                    result)))
      return failure();
  if (DictionaryAttr attribute = toAttribute(result, function.getContext());
      !attribute.empty())
    outlined->setAttr(scheduleAttr, attribute);
  return success();
}

LogicalResult Outliner::checkExtents() {
  for (const Kernel &kernel : kernels)
    for (Value value : kernel.results) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      if (type && !type.hasStaticShape() &&
          (!value.getDefiningOp<scf::ForallOp>() ||
           !extentsOf(function, value)))
        return value.getDefiningOp()->emitOpError(
                   "cannot run on a GPU with the unknown extents of ")
               << type << ", which blocks of rows of the arguments do not have";
    }
  return success();
}

LogicalResult Outliner::run() {
  Operation *terminator = body().getTerminator();
  // What memory is needed for is made by a kernel, however cheap it is.
  for (Value value : terminator->getOperands())
    materialize(withoutViews(value));
  for (auto blocks : body().getOps<scf::ForallOp>())
    for (Value init : blocks.getOutputs())
      materialize(withoutViews(init));
  SmallVector<func::CallOp> products(body().getOps<func::CallOp>());
  for (func::CallOp product : products)
    for (Value operand : product.getOperands())
      materialize(withoutViews(operand));
  collect();
  for (unsigned i = 0; i < kernels.size(); ++i) {
    for (ArrayRef<Operation *> part : kernels[i].parts)
      for (Operation *op : part)
        for (Value value : valuesReadBy(op))
          markNeeds(value, i);
    // A transfer may stand behind the kernel of what it stores.
    for (func::CallOp product : kernels[i].products)
      for (Value value : product.getOperands())
        markNeeds(value, transferOf(product) ? kernels.size() : i);
  }
  for (Value value : terminator->getOperands())
    markNeeds(value, kernels.size());
  if (failed(checkExtents()))
    return failure();
  for (unsigned i = 0; i < kernels.size(); ++i) {
    if (!kernels[i].parts.empty()) {
      // The ops of its parts are what carries attributes.
      outline(i);
      if (failed(schedule(made.back(), kernels[i])))
        return failure();
    }
    for (func::CallOp product : kernels[i].products)
      place(product);
  }
  if (auto whole = function->getAttrOfType<DictionaryAttr>(scheduleAttr))
    if (auto each = whole.getAs<DictionaryAttr>("kernels"))
      for (NamedAttribute entry : each)
        if (llvm::none_of(made, [&](func::FuncOp kernel) {
              return kernel.getName() == entry.getName();
            }))
          return function.emitError("has a schedule of the kernel '")
                 << entry.getName().strref() << "', but "
                 << (made.empty()
                         ? "no kernels"
                         : "its kernels are '" + made.front().getName() +
                               "' to '" + made.back().getName() + "'");
  OpBuilder host(terminator);
  for (OpOperand &operand : terminator->getOpOperands())
    operand.set(resolve(operand.get(), host));
  // Backwards: what uses comes before what is used.
  SmallVector<Operation *> left;
  for (Operation &op : body().without_terminator())
    left.push_back(&op);
  for (Operation *op : llvm::reverse(left))
    if (op->use_empty() && (!isa<func::CallOp>(op) || kernelOf.count(op)))
      op->erase();
  return success();
}

struct NvptxOutlineKernels
    : impl::NvptxOutlineKernelsBase<NvptxOutlineKernels> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions) {
      if (function.isExternal() || function->hasAttr(kernelAttr) ||
          function->hasAttr(productAttr))
        continue;
      if (failed(takeExtents(function)) ||
          failed(callTransfers(function, symbols)) ||
          failed(Outliner(symbols, function).run()))
        return signalPassFailure();
    }
    // What it kept apart are kernels now.
    getOperation().walk([](offload::AgainOp again) {
      again.getResult().replaceAllUsesWith(again.getValue());
      again.erase();
    });
  }
};

} // namespace
} // namespace drawloom::nvptx
