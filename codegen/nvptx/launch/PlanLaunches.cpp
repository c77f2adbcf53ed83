//===- PlanLaunches.cpp - buffers for what kernels hand to each other -----===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/launch/LaunchPlan.h"
#include "codegen/nvptx/launch/OffloadSteps.h"
#include "codegen/nvptx/launch/OpenKernels.h"
#include "drawloom/OpenExtent.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Graph/OpenExtents.h"
#include "passes/Memory/Arena.h"
#include <map>

namespace drawloom::nvptx {
#define GEN_PASS_DEF_NVPTXPLANLAUNCHES
#include "codegen/nvptx/Passes.h.inc"
} // namespace drawloom::nvptx

using namespace mlir;

namespace drawloom::nvptx {
namespace {

/// Whole lines of the cache, and what 16-byte accesses need.
constexpr int64_t workspaceAlignment = 256;

/// What a call of a function without a kernel stands for.
std::optional<Product> productOf(func::CallOp call) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
  auto attribute = callee->getAttrOfType<DictionaryAttr>(productAttr);
  return attribute ? productFromAttribute(attribute) : std::nullopt;
}

/// The tensor in whose memory a value is.
Value memoryOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
             tensor::ExtractOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

class Planner {
public:
  Planner(func::FuncOp function, int64_t productWorkspace)
      : function(function), productWorkspace(productWorkspace) {}
  FailureOr<LaunchEntry> run();

private:
  /// The numbers of the open extents of what a function or a kernel has.
  DenseI64ArrayAttr numbersOf(Value value) {
    if (auto call = value.getDefiningOp<func::CallOp>()) {
      auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
          call, call.getCalleeAttr());
      return callee.getResultAttrOfType<DenseI64ArrayAttr>(
          cast<OpResult>(value).getResultNumber(), extentsAttr);
    }
    return extentsOf(function, value);
  }
  FailureOr<ValueType> typeOf(Value value, DenseI64ArrayAttr numbers = {}) {
    if (!numbers)
      numbers = numbersOf(value);
    std::optional<ValueType> type = valueTypeOf(
        value.getType(), numbers ? numbers.asArrayRef() : ArrayRef<int64_t>());
    if (type)
      return *type;
    return function.emitError("cannot be called: ")
           << value.getType()
           << " in its signature has no form in a device's memory";
  }
  /// Where a value is. Numbers that come out of a kernel are in the memory of
  /// their tensor.
  FailureOr<LaunchOperand> placeOf(Value value);
  /// The tensor in whose memory a value is, after the last change of it.
  Value homeOf(Value value);
  /// A step that copies all of a value.
  static LaunchStep copyOf(const ValueType &type, LaunchOperand from,
                           LaunchOperand to);
  /// Notes which results take the place of what they update: what no kernel
  /// reads any more, not even the one that makes them.
  void findUpdatedInPlace();

  // The parts of a plan, in the order in which they are made.
  LogicalResult placeArguments();
  LogicalResult placeResults();
  /// Workspace for what passes from one call to another.
  LogicalResult placeBetween();
  /// By the open extents of their types, tensors and when they are in use.
  using OpenParts =
      std::map<std::vector<int64_t>,
               std::pair<SmallVector<Value>, SmallVector<Lifetime>>>;
  void placeOpen(const OpenParts &open);
  LogicalResult addCall(func::CallOp call);
  void addCopy(const ValueType &type, LaunchOperand from, LaunchOperand to);
  LogicalResult copyResults();

  OperandRange returned() {
    return function.getBody().front().getTerminator()->getOperands();
  }

  /// The last of the calls that reads the memory of a value; `end` where it is
  /// returned.
  static int64_t lastUse(Value value, int64_t end,
                         const DenseMap<Operation *, int64_t> &number);

  func::FuncOp function;
  int64_t productWorkspace;
  LaunchEntry entry;
  /// Of each step, beside those of the entry.
  std::vector<StepMemory> memory;
  SmallVector<func::CallOp> calls;
  DenseMap<Operation *, int64_t> number;
  DenseMap<Value, LaunchOperand> places;
  /// What products are given for themselves.
  DenseMap<Operation *, LaunchOperand> scratch;
  /// What a tensor becomes in its memory.
  DenseMap<Value, Value> updated;
};

int64_t Planner::lastUse(Value value, int64_t end,
                         const DenseMap<Operation *, int64_t> &number) {
  int64_t last = 0;
  for (Operation *user : value.getUsers()) {
    auto call = number.find(user);
    if (call != number.end())
      last = std::max(last, call->second);
    else if (user->getNumResults() == 1)
      last = std::max(last, lastUse(user->getResult(0), end, number));
    else
      last = end;
  }
  return last;
}

Value Planner::homeOf(Value value) {
  value = memoryOf(value);
  while (Value later = updated.lookup(value))
    value = later;
  return value;
}

/// Pairs of a result of a call and the operand that it starts as.
static SmallVector<std::pair<OpResult, OpOperand *>>
updatesOf(func::CallOp call) {
  SmallVector<std::pair<OpResult, OpOperand *>> pairs;
  if (auto updates = call->getAttrOfType<DenseI64ArrayAttr>(updatesAttr))
    for (size_t i = 0; i + 1 < static_cast<size_t>(updates.size()); i += 2)
      pairs.push_back({cast<OpResult>(call.getResult(updates[i])),
                       &call->getOpOperand(updates[i + 1])});
  return pairs;
}

/// The op of a kernel that starts a result as what the operand of its call is
/// and does nothing else with it, not even read it; none if there is another.
static scf::ForallOp onlyUpdater(func::FuncOp kernel, OpOperand &operand) {
  BlockArgument inside = kernel.getArgument(operand.getOperandNumber());
  if (!inside.hasOneUse())
    return {};
  OpOperand &use = *inside.use_begin();
  auto blocks = dyn_cast<scf::ForallOp>(use.getOwner());
  if (!blocks || !llvm::is_contained(blocks.getOutputs(), inside) ||
      !llvm::all_of(blocks.getTiedBlockArgument(&use).getUsers(),
                    llvm::IsaPred<tensor::ParallelInsertSliceOp>))
    return {};
  return blocks;
}

void Planner::findUpdatedInPlace() {
  auto end = static_cast<int64_t>(calls.size());
  for (func::CallOp call : calls) {
    auto kernel = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        call, call.getCalleeAttr());
    llvm::BitVector dropped(call.getNumOperands());
    SmallVector<int64_t> kept;
    for (auto [result, operand] : updatesOf(call)) {
      Value before = memoryOf(operand->get());
      bool isOnce = llvm::count_if(call.getOperands(), [&](Value other) {
                      return memoryOf(other) == before;
                    }) == 1;
      auto blocks = onlyUpdater(kernel, *operand);
      if (!before.getDefiningOp<func::CallOp>() || !isOnce || !blocks ||
          lastUse(before, end, number) != number.lookup(call)) {
        kept.append({static_cast<int64_t>(result.getResultNumber()),
                     static_cast<int64_t>(operand->getOperandNumber())});
        continue;
      }
      updated[before] = result;
      // The kernel leaves the rest of its result as it is there.
      unsigned index = operand->getOperandNumber();
      BlockArgument inside = kernel.getArgument(index);
      auto type = cast<RankedTensorType>(inside.getType());
      OpBuilder builder(blocks);
      SmallVector<Value> sizes;
      if (DenseI64ArrayAttr extents = extentsOf(kernel, inside))
        for (int64_t extent : extents.asArrayRef())
          if (extent >= 0)
            sizes.push_back(extentIn(builder, blocks.getLoc(), kernel, extent));
      inside.replaceAllUsesWith(
          tensor::EmptyOp::create(builder, blocks.getLoc(), type.getShape(),
                                  type.getElementType(), sizes));
      dropped.set(index);
    }
    if (dropped.none())
      continue;
    for (size_t i = 1; i < kept.size(); i += 2)
      kept[i] -= llvm::count_if(
          dropped.set_bits(), [&](unsigned index) { return index < kept[i]; });
    call->setAttr(updatesAttr, DenseI64ArrayAttr::get(call.getContext(), kept));
    call->eraseOperands(dropped);
    (void)kernel.eraseArguments(dropped);
  }
}

FailureOr<LaunchOperand> Planner::placeOf(Value value) {
  auto found = places.find(homeOf(value));
  if (found != places.end())
    return found->second;
  return emitError(value.getLoc())
         << "a value that the host would have to compute between two kernels "
            "has no form in a plan yet";
}

/// A type whose bytes are those of a row of each open extent, and the extents,
/// as codes.
static std::pair<int64_t, std::vector<int64_t>> rowsOf(ValueType type) {
  std::vector<int64_t> extents;
  for (int64_t &extent : type.shape)
    if (extent < 0) {
      extents.push_back(-1 - extent);
      extent = 1;
    }
  llvm::sort(extents);
  return {type.bytes(), extents};
}

LaunchStep Planner::copyOf(const ValueType &type, LaunchOperand from,
                           LaunchOperand to) {
  LaunchStep step;
  step.operands = {from, to};
  if (!type.isOpen()) {
    step.bytes = type.bytes();
    return step;
  }
  auto [bytes, extents] = rowsOf(type);
  ExtentExpression all{ExtentExpression::Number, bytes};
  for (int64_t code : extents) {
    OpenExtent extent = OpenExtent::ofCode(code);
    all = {ExtentExpression::Mul,
           0,
           {std::move(all), combined(ExtentExpression::Add,
                                     {ExtentExpression::Extent, extent.number},
                                     {ExtentExpression::Number, extent.more})}};
  }
  step.openBytes = std::move(all);
  return step;
}

/// Operands and results of a call, all of which it may use.
static StepMemory memoryUsedBy(func::CallOp call) {
  StepMemory used;
  auto add = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    std::optional<ValueType> known =
        type && type.hasStaticShape() ? valueTypeOf(type) : std::nullopt;
    used.bytes.push_back(known ? known->bytes() : 0);
  };
  llvm::for_each(call.getOperands(), add);
  used.written = used.bytes.size();
  llvm::for_each(call.getResults(), add);
  return used;
}

/// Of the records that an entry has at once.
static int64_t mostRecordBytes(const LaunchEntry &entry) {
  DenseMap<int64_t, int64_t> stored;
  int64_t alive = 0, most = 0;
  for (const LaunchStep &step : entry.steps) {
    if (!step.transfer)
      continue;
    if (step.transfer->kind == LaunchTransfer::Store)
      alive += stored[step.transfer->record] = step.bytes;
    else if (step.transfer->kind == LaunchTransfer::Drop)
      alive -= stored[step.transfer->record];
    most = std::max(most, alive);
  }
  return most;
}

LogicalResult Planner::placeArguments() {
  for (BlockArgument argument : function.getArguments()) {
    if (auto extent = function.getArgAttrOfType<IntegerAttr>(
            argument.getArgNumber(), extentAttr)) {
      ++entry.signature.openExtents;
      places[argument] = {LaunchOperand::Extent, extent.getInt()};
      continue;
    }
    FailureOr<ValueType> type = typeOf(argument);
    if (failed(type))
      return failure();
    entry.signature.arguments.push_back(*type);
    places[argument] = {isa<TensorType>(argument.getType())
                            ? LaunchOperand::Argument
                            : LaunchOperand::Scalar,
                        argument.getArgNumber()};
  }
  return success();
}

LogicalResult Planner::placeResults() {
  for (auto [i, value] : llvm::enumerate(returned())) {
    FailureOr<ValueType> type = typeOf(
        value, function.getResultAttrOfType<DenseI64ArrayAttr>(i, extentsAttr));
    if (failed(type))
      return failure();
    entry.signature.results.push_back(*type);
    places.try_emplace(homeOf(value), LaunchOperand{LaunchOperand::Result,
                                                    static_cast<int64_t>(i)});
  }
  return success();
}

LogicalResult Planner::placeBetween() {
  // By when they are in use: of each set of open extents apart, since nothing
  // says which is the larger.
  SmallVector<Value> between;
  SmallVector<Lifetime> lifetimes;
  OpenParts open;
  llvm::DenseSet<Value> known;
  for (auto [i, call] : llvm::enumerate(calls))
    for (Value result : call.getResults()) {
      Value home = homeOf(result);
      if (places.count(home) || !known.insert(home).second)
        continue;
      int64_t last = std::max<int64_t>(
          i, lastUse(home, static_cast<int64_t>(calls.size()), number));
      FailureOr<ValueType> type = typeOf(result);
      if (failed(type))
        return failure();
      auto [bytes, extents] = rowsOf(*type);
      if (llvm::any_of(extents, [](int64_t code) {
            return OpenExtent::ofCode(code).more > 0;
          }))
        return emitError(result.getLoc())
               << "a tensor that passes between two kernels and has a constant "
                  "more rows than an open extent has no form in a plan yet";
      Lifetime lifetime{bytes, static_cast<int64_t>(i), last};
      if (!extents.empty()) {
        open[extents].first.push_back(home);
        open[extents].second.push_back(lifetime);
        continue;
      }
      between.push_back(home);
      lifetimes.push_back(lifetime);
    }
  // And what products need for themselves while they run.
  SmallVector<Operation *> products;
  for (auto [i, call] : llvm::enumerate(calls))
    if (productOf(call)) {
      products.push_back(call);
      lifetimes.push_back(
          {productWorkspace, static_cast<int64_t>(i), static_cast<int64_t>(i)});
    }
  ArenaLayout arena = layOutArena(lifetimes, workspaceAlignment);
  entry.signature.workspaceBytes = arena.bytes;
  for (auto [value, offset] : llvm::zip_first(between, arena.offsets))
    places[value] = {LaunchOperand::Workspace, offset};
  for (auto [product, offset] : llvm::zip_equal(
           products, ArrayRef(arena.offsets).drop_front(between.size())))
    scratch[product] = {LaunchOperand::Workspace, offset};
  placeOpen(open);
  return success();
}

void Planner::placeOpen(const OpenParts &open) {
  // What a term multiplies is a multiple of so many rows.
  constexpr int64_t openAlignment = workspaceAlignment / MemoryTerm::unit;
  if (!open.empty())
    entry.signature.workspaceBytes =
        llvm::alignTo(entry.signature.workspaceBytes, workspaceAlignment);
  for (const auto &[extents, part] : open) {
    ArenaLayout layout = layOutArena(part.second, openAlignment);
    auto term = static_cast<int64_t>(entry.signature.workspaceTerms.size());
    for (auto [value, offset] : llvm::zip_equal(part.first, layout.offsets))
      places[value] = {LaunchOperand::OpenWorkspace, offset, term};
    auto bytes =
        static_cast<int64_t>(llvm::alignTo(layout.bytes, openAlignment));
    entry.signature.workspaceTerms.push_back({bytes, extents});
  }
}

void Planner::addCopy(const ValueType &type, LaunchOperand from,
                      LaunchOperand to) {
  entry.steps.push_back(copyOf(type, from, to));
  memory.push_back({{type.bytes(), type.bytes()}, 1});
}

LogicalResult Planner::addCall(func::CallOp call) {
  LaunchStep step;
  step.product = productOf(call);
  step.transfer = transferOf(call);
  if (!step.product && !step.transfer)
    step.kernel = call.getCallee().str();
  for (Value operand : call.getOperands()) {
    FailureOr<LaunchOperand> place = placeOf(operand);
    if (failed(place))
      return failure();
    step.operands.push_back(*place);
  }
  for (Value result : call.getResults())
    step.operands.push_back(places.lookup(homeOf(result)));
  for (auto [result, operand] : updatesOf(call))
    if (homeOf(operand->get()) != homeOf(result)) {
      FailureOr<ValueType> type = typeOf(result);
      if (failed(type))
        return failure();
      addCopy(*type, step.operands[operand->getOperandNumber()],
              places.lookup(homeOf(result)));
    }
  StepMemory used = memoryUsedBy(call);
  if (step.transfer && step.transfer->hasMemory())
    step.bytes = used.bytes.front();
  if (step.transfer && step.transfer->kind == LaunchTransfer::Store)
    ++entry.signature.records;
  if (step.product) {
    used.bytes.push_back(productWorkspace);
    step.bytes = productWorkspace;
    step.operands.push_back(scratch.lookup(call));
  }
  entry.steps.push_back(std::move(step));
  memory.push_back(std::move(used));
  return success();
}

LogicalResult Planner::copyResults() {
  for (auto [i, value] : llvm::enumerate(returned())) {
    FailureOr<LaunchOperand> place = placeOf(value);
    if (failed(place))
      return failure();
    LaunchOperand result{LaunchOperand::Result, static_cast<int64_t>(i)};
    if (place->kind != result.kind || place->value != result.value)
      addCopy(entry.signature.results[i], *place, result);
  }
  return success();
}

FailureOr<LaunchEntry> Planner::run() {
  entry.signature.name = function.getName().str();
  llvm::append_range(calls, function.getBody().front().getOps<func::CallOp>());
  for (auto [i, call] : llvm::enumerate(calls))
    number[call] = static_cast<int64_t>(i);
  if (failed(placeArguments()))
    return failure();
  findUpdatedInPlace();
  if (failed(placeResults()) || failed(placeBetween()))
    return failure();
  for (func::CallOp call : calls)
    if (failed(addCall(call)))
      return failure();
  if (failed(copyResults()))
    return failure();
  if (entry.signature.records > 0) {
    entry.signature.recordBytes = mostRecordBytes(entry);
    orderTransfers(entry, std::move(memory));
  }
  return std::move(entry);
}

/// The extents of a function that is compiled for one call; null of others.
FailureOr<DenseI64ArrayAttr> boundExtents(func::FuncOp function,
                                          const Signature &signature) {
  std::vector<std::vector<int64_t>> shapes;
  bool isBound = false;
  for (auto [i, type] : llvm::enumerate(signature.arguments)) {
    auto given =
        function.getArgAttrOfType<DenseI64ArrayAttr>(i, boundShapeAttr);
    isBound |= given != nullptr;
    shapes.push_back(given ? given.asArrayRef().vec() : type.shape);
  }
  if (!isBound)
    return DenseI64ArrayAttr();
  runtime::Result<BoundSignature> bound = runtime::bind(signature, shapes);
  if (!bound.ok())
    return function.emitError(bound.message());
  return DenseI64ArrayAttr::get(function.getContext(), bound->extents);
}

struct NvptxPlanLaunches : impl::NvptxPlanLaunchesBase<NvptxPlanLaunches> {
  using NvptxPlanLaunchesBase::NvptxPlanLaunchesBase;

  void runOnOperation() override {
    LaunchPlan plan;
    SmallVector<func::FuncOp> entries, others;
    SmallVector<NamedAttribute> bound;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function->hasAttr(productAttr) || function->hasAttr(transferAttr))
        others.push_back(function);
      if (function->hasAttr(kernelAttr) || function->hasAttr(productAttr) ||
          function.isExternal())
        continue;
      entries.push_back(function);
      FailureOr<LaunchEntry> entry = Planner(function, productWorkspace).run();
      if (failed(entry))
        return signalPassFailure();
      FailureOr<DenseI64ArrayAttr> extents =
          boundExtents(function, entry->signature);
      if (failed(extents))
        return signalPassFailure();
      if (*extents)
        bound.emplace_back(function.getNameAttr(), *extents);
      plan.entries.push_back(std::move(*entry));
    }
    if (!bound.empty())
      getOperation()->setAttr(boundExtentsAttr,
                              DictionaryAttr::get(&getContext(), bound));
    std::string text;
    llvm::raw_string_ostream(text) << toJson(plan);
    getOperation()->setAttr(planAttr, StringAttr::get(&getContext(), text));
    for (func::FuncOp function : llvm::concat<func::FuncOp>(entries, others))
      function.erase();
  }
};

} // namespace
} // namespace drawloom::nvptx
