//===- Bufferize.cpp - memory instead of tensors --------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Bufferization/Transforms/Bufferize.h"
#include "codegen/cpu/Passes.h"
#include "codegen/cpu/Signature.h"
#include "codegen/cpu/buffers/Views.h"
#include "codegen/cpu/vectors/Canonicalize.h"
#include "drawloom/IndexMath.h"
#include "drawloom/OpenExtent.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Graph/DimensionClasses.h"
#include "passes/Graph/OpenExtents.h"
#include <map>

namespace drawloom::cpu {
#define GEN_PASS_DEF_CPUBUFFERIZE
#include "codegen/cpu/Passes.h.inc"
} // namespace drawloom::cpu

using namespace mlir;

namespace drawloom::cpu {
namespace {

bool isEmpty(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && tensor.getNumElements() == 0;
}

MemRefType bufferOf(Type type) {
  // Strides of an empty shape have no pointer to go with.
  if (isEmpty(type))
    return MemRefType::get({0}, getElementTypeOrSelf(type));
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return MemRefType::get({}, type);
  if (!tensor.hasStaticShape())
    return placeType(tensor.getElementType());
  return MemRefType::get(tensor.getShape(), tensor.getElementType());
}

/// An extent (OpenExtent::code) of a function with these open ones.
Value extentIn(OpBuilder &builder, Location loc, int64_t code,
               ValueRange extents) {
  OpenExtent extent = OpenExtent::ofCode(code);
  Value number = extents[extent.number];
  if (extent.more == 0)
    return number;
  Value more = arith::ConstantIndexOp::create(builder, loc, extent.more);
  return arith::AddIOp::create(builder, loc, number, more);
}

/// The extents of a function that its calls choose.
class OpenExtents {
public:
  /// Fails where some have no number: nothing says which argument has them.
  static FailureOr<OpenExtents> of(func::FuncOp function) {
    OpenExtents open;
    auto add = [&](Type type, Attribute numbers) {
      auto known = dyn_cast_or_null<DenseI64ArrayAttr>(numbers);
      auto tensor = dyn_cast<RankedTensorType>(type);
      SmallVector<int64_t> &list = open.numbers.emplace_back();
      if (!tensor || tensor.hasStaticShape())
        return true;
      if (!known || known.size() != tensor.getRank())
        return false;
      llvm::append_range(list, known.asArrayRef());
      for (auto [number, extent] : llvm::zip_equal(list, tensor.getShape())) {
        if (ShapedType::isDynamic(extent) != (number >= 0))
          return false;
        if (number >= 0)
          open.total =
              std::max(open.total, OpenExtent::ofCode(number).number + 1);
      }
      return true;
    };
    for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
      if (!add(type, function.getArgAttr(i, extentsAttr)))
        return failure();
    for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
      if (!add(type, function.getResultAttr(i, extentsAttr)))
        return failure();
    return open;
  }

  int64_t count() const { return total; }
  /// Of arguments, then of results.
  ArrayRef<SmallVector<int64_t>> ofValues() const { return numbers; }

  /// The memory of the value `i` of the function, as wide as the call says.
  Value view(OpBuilder &builder, Location loc, Value memory,
             RankedTensorType type, size_t i, ValueRange extents) const {
    if (type.hasStaticShape())
      return memory;
    SmallVector<Value> sizes;
    for (int64_t number : numbers[i])
      if (number >= 0)
        sizes.push_back(extentIn(builder, loc, number, extents));
    return denseView(builder, loc, memory, type.getShape(), sizes);
  }

private:
  SmallVector<SmallVector<int64_t>> numbers;
  int64_t total = 0;
};

/// Whoever asks for an open extent of the argument, each of which has a code
/// here, gets it from these.
void giveExtents(OpBuilder &builder, BlockArgument argument,
                 ArrayRef<int64_t> codes, ValueRange extents) {
  for (Operation *user : llvm::make_early_inc_range(argument.getUsers())) {
    auto dim = dyn_cast<tensor::DimOp>(user);
    std::optional<int64_t> at = dim ? dim.getConstantIndex() : std::nullopt;
    if (!at || *at >= static_cast<int64_t>(codes.size()) || codes[*at] < 0)
      continue;
    OpenExtent extent = OpenExtent::ofCode(codes[*at]);
    // As bind-extents writes what is less by a constant.
    for (Operation *reader : llvm::make_early_inc_range(dim->getUsers()))
      if (auto less = dyn_cast<arith::SubIOp>(reader);
          less && getConstantIntValue(less.getRhs()) == extent.more) {
        less.replaceAllUsesWith(extents[extent.number]);
        less.erase();
      }
    dim.replaceAllUsesWith(
        extentIn(builder, dim.getLoc(), extent.code(), extents));
    dim.erase();
  }
}

/// Gives `function` memory for its tensors and for its results. Scalar
/// arguments stay.
LogicalResult turnIntoMemory(func::FuncOp function) {
  Location loc = function.getLoc();
  if (function.isExternal()) {
    auto isTensor = llvm::IsaPred<TensorType>;
    if (llvm::any_of(function.getArgumentTypes(), isTensor) ||
        llvm::any_of(function.getResultTypes(), isTensor))
      return function.emitError("has no body: what calls it cannot be compiled;"
                                " give it one, or compute it outside");
    return success();
  }
  FailureOr<OpenExtents> open = OpenExtents::of(function);
  auto isSupported = [&](Type type) {
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      return succeeded(open) || tensor.hasStaticShape();
    return type.isIntOrIndexOrFloat();
  };
  for (TypeRange types : {TypeRange(function.getArgumentTypes()),
                          TypeRange(function.getResultTypes())})
    for (Type type : types)
      if (!isSupported(type))
        return function.emitError("cannot be compiled for the CPU: ")
               << type << " in its signature is neither a tensor of static "
               << "shape nor a number; 'drawloom-run --shape=0:8x64 "
               << "--save=FILE' compiles for extents that it leaves open";
  if (!llvm::hasSingleElement(function.getBody()))
    return function.emitError("cannot be compiled for the CPU: its body has "
                              "several blocks; use scf for control flow");

  FunctionSignature signature;
  llvm::append_range(signature.arguments, function.getArgumentTypes());
  llvm::append_range(signature.results, function.getResultTypes());
  if (succeeded(open) && open->count() > 0) {
    llvm::append_range(signature.extents, open->ofValues());
    signature.openExtents = open->count();
  }
  setSignature(function, signature);

  Block &body = function.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  SmallVector<BlockArgument> arguments(body.getArguments());
  auto terminator = cast<func::ReturnOp>(body.getTerminator());
  SmallVector<Value> places, extents;
  for (Type type : signature.results)
    places.push_back(body.addArgument(bufferOf(type), loc));
  for (int64_t i = 0; i < signature.openExtents; ++i)
    extents.push_back(body.addArgument(builder.getIndexType(), loc));
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    auto tensor = dyn_cast<RankedTensorType>(argument.getType());
    if (!tensor)
      continue;
    argument.setType(bufferOf(tensor));
    if (isEmpty(tensor)) {
      argument.replaceAllUsesWith(tensor::EmptyOp::create(
          builder, loc, tensor.getShape(), tensor.getElementType()));
      continue;
    }
    if (!tensor.hasStaticShape())
      giveExtents(builder, argument, signature.extents[i], extents);
    Value memory = open->view(builder, loc, argument, tensor, i, extents);
    auto value = bufferization::ToTensorOp::create(builder, loc, tensor, memory,
                                                   /*restrict=*/true);
    argument.replaceUsesWithIf(value, [&](OpOperand &use) {
      return use.getOwner() != value &&
             use.getOwner() != memory.getDefiningOp();
    });
  }
  builder.setInsertionPoint(terminator);
  for (auto [i, type] : llvm::enumerate(signature.results)) {
    if (isEmpty(type))
      continue;
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor) {
      memref::StoreOp::create(builder, loc, terminator.getOperand(i),
                              places[i]);
      continue;
    }
    // In front of all: what is computed in the place stands behind it.
    OpBuilder front = OpBuilder::atBlockBegin(&body);
    Value memory = open->view(front, loc, places[i], tensor,
                              arguments.size() + i, extents);
    Value value = terminator.getOperand(i);
    // Rows that two extents count are computed in that shape.
    if (auto expand = value.getDefiningOp<tensor::ExpandShapeOp>();
        expand && expand->hasAttr(joinedRowsAttr)) {
      value = expand.getSrc();
      memory = memref::CollapseShapeOp::create(
          front, loc, memory, expand.getReassociationIndices());
    }
    bufferization::MaterializeInDestinationOp::create(
        builder, loc, /*result=*/Type(), value, memory,
        /*restrict=*/true, /*writable=*/true);
  }
  terminator->setOperands({});
  function.setType(
      FunctionType::get(function.getContext(), body.getArgumentTypes(), {}));
  function.setAllArgAttrs(SmallVector<DictionaryAttr>(
      body.getNumArguments(), DictionaryAttr::get(function.getContext())));
  return success();
}

/// Bufferization takes a write at the origin for one of the whole tensor if no
/// extent of the tensor is larger than that of the vector in the same place. A
/// vector of lower rank has its extents in other places: the row vector<4>
/// would fill tensor<2x4>, and what the other row holds would be lost where
/// the tensor is copied. Such a write goes to a slice, which it does fill.
void writeRowsThroughSlices(func::FuncOp function) {
  SmallVector<vector::TransferWriteOp> writes;
  function.walk([&](vector::TransferWriteOp op) {
    auto tensor = dyn_cast<RankedTensorType>(op.getShapedType());
    if (tensor && tensor.hasStaticShape() && !op.isMasked() &&
        op.getVectorType().getRank() < tensor.getRank() &&
        op.getVectorType().getNumElements() < tensor.getNumElements() &&
        llvm::all_of(op.getIndices(),
                     [](Value index) { return isZeroInteger(index); }))
      writes.push_back(op);
  });
  for (vector::TransferWriteOp op : writes) {
    OpBuilder builder(op);
    auto tensor = cast<RankedTensorType>(op.getShapedType());
    SmallVector<int64_t> extents(tensor.getRank(), 1);
    for (auto [position, extent] :
         llvm::zip_equal(op.getPermutationMap().getResults(),
                         op.getVectorType().getShape())) {
      unsigned dim = cast<AffineDimExpr>(position).getPosition();
      extents[dim] = std::min(extent, tensor.getDimSize(dim));
    }
    SmallVector<OpFoldResult> offsets(tensor.getRank(),
                                      builder.getIndexAttr(0)),
        strides(tensor.getRank(), builder.getIndexAttr(1)), sizes;
    for (int64_t extent : extents)
      sizes.push_back(builder.getIndexAttr(extent));
    Location loc = op.getLoc();
    Value whole = op.getBase();
    Value slice = tensor::ExtractSliceOp::create(builder, loc, whole, offsets,
                                                 sizes, strides);
    auto write = cast<vector::TransferWriteOp>(builder.clone(*op));
    write.getBaseMutable().assign(slice);
    write.getResult().setType(cast<RankedTensorType>(slice.getType()));
    Value result = tensor::InsertSliceOp::create(
        builder, loc, write.getResult(), whole, offsets, sizes, strides);
    op.getResult().replaceAllUsesWith(result);
    op.erase();
  }
}

/// Whether `value` may lie in the memory of `argument`; as things are, or if
/// all that may be done in place was. Then `passed` has what is between them.
bool mayAlias(OpOperand &value, Value argument,
              const bufferization::AnalysisState &state, bool asThingsAre,
              DenseSet<OpOperand *> *passed = nullptr) {
  bufferization::TraversalConfig config;
  config.alwaysIncludeLeaves = false;
  config.followInPlaceOnly = asThingsAre;
  return !state
              .findValueInReverseUseDefChain(
                  &value, [&](Value at) { return at == argument; }, config,
                  passed)
              .empty();
}

/// Gives the owner of `operand` a copy, as the start of a loop for instance.
void giveCopy(OpOperand &operand) {
  OpBuilder builder(operand.getOwner());
  operand.set(bufferization::AllocTensorOp::create(
      builder, operand.getOwner()->getLoc(),
      cast<RankedTensorType>(operand.get().getType()), ValueRange(),
      /*copy=*/operand.get()));
}

/// Lets loops that `value` comes from start from copies where they do not start
/// in place, if `value` is to be stored where they start from. Bufferization
/// would make these copies anyway, but refuses the store unless it sees them.
void startApart(OpOperand &value, Value argument,
                const bufferization::AnalysisState &state) {
  DenseSet<OpOperand *> passed;
  if (!mayAlias(value, argument, state, /*asThingsAre=*/false, &passed))
    return;
  value.getOwner()->getParentOp()->walk([&](LoopLikeOpInterface loop) {
    for (OpOperand &init : loop.getInitsMutable())
      if (passed.contains(&init) && !state.isInPlace(init))
        giveCopy(init);
  });
}

/// The values that `op` chooses among, for each of its results.
SmallVector<SmallVector<OpOperand *>> choicesOf(Operation *op) {
  SmallVector<SmallVector<OpOperand *>> choices(op->getNumResults());
  if (auto select = dyn_cast<arith::SelectOp>(op))
    choices[0] = {&select.getTrueValueMutable(),
                  &select.getFalseValueMutable()};
  else if (isa<scf::IfOp, scf::IndexSwitchOp>(op) && op->getNumResults() > 0)
    for (Region &region : op->getRegions())
      for (OpOperand &operand : region.front().getTerminator()->getOpOperands())
        choices[operand.getOperandNumber()].push_back(&operand);
  return choices;
}

/// Lets what a condition in a loop chooses be a copy if it may lie in
/// `argument`, where the loop stores, and may else come from outside. What
/// comes from outside is the same in every iteration, so bufferization does not
/// ask whether it is read before the store: it refuses the store.
void chooseApart(Operation *terminator, Value argument,
                 const bufferization::AnalysisState &state) {
  Region *body = terminator->getParentRegion();
  auto isOutside = [&](Value at) {
    return !body->isAncestor(at.getParentRegion());
  };
  auto isCarriedOrOutside = [&](Value at) {
    return isOutside(at) || llvm::is_contained(body->getArguments(), at);
  };
  bufferization::TraversalConfig config;
  config.alwaysIncludeLeaves = false;
  auto comesFromOutside = [&](OpOperand *operand) {
    return llvm::any_of(state.findValueInReverseUseDefChain(
                            operand, isCarriedOrOutside, config),
                        isOutside);
  };
  auto mayBeStoredTo = [&](OpOperand *operand) {
    return mayAlias(*operand, argument, state, /*asThingsAre=*/false);
  };
  SmallVector<OpOperand *> apart;
  body->walk([&](Operation *op) {
    for (auto [result, choices] :
         llvm::zip_equal(op->getResults(), choicesOf(op)))
      if (isa<RankedTensorType>(result.getType()) &&
          llvm::any_of(choices, comesFromOutside))
        llvm::copy_if(choices, std::back_inserter(apart), mayBeStoredTo);
  });
  for (OpOperand *operand : apart)
    giveCopy(*operand);
}

/// Puts what `terminator` hands to the next iteration, from its operand `first`
/// on, into the memory that the loop carries as `carried`. A loop has one
/// buffer for each tensor, which bufferization gives only to what it updates in
/// place: any other value is copied there. The loop starts from `inits`.
void storeCarried(Operation *terminator, unsigned first, ValueRange carried,
                  MutableArrayRef<OpOperand> inits,
                  bufferization::OneShotAnalysisState &state) {
  OpBuilder builder(terminator);
  Location loc = terminator->getLoc();
  SmallVector<std::pair<OpOperand *, Value>> stores;
  for (auto [i, argument] : llvm::enumerate(carried)) {
    OpOperand &operand = terminator->getOpOperand(first + i);
    if (isa<RankedTensorType>(argument.getType()) &&
        !state.areEquivalentBufferizedValues(operand.get(), argument)) {
      stores.push_back({&operand, argument});
      startApart(operand, argument, state);
      chooseApart(terminator, argument, state);
      // The loop writes where it starts from.
      if (!inits[i].get().hasOneUse())
        giveCopy(inits[i]);
    }
  }
  // What may lie in another carried buffer is read before that is written, and
  // so is what lies in its own in some iterations only: bufferization knows no
  // copies that may be of a buffer to itself.
  SmallVector<OpOperand *> moved;
  for (const auto &store : stores)
    if (llvm::any_of(carried, [&](Value other) {
          return isa<RankedTensorType>(other.getType()) &&
                 mayAlias(*store.first, other, state,
                          /*asThingsAre=*/other == store.second);
        }))
      moved.push_back(store.first);
  for (OpOperand *operand : moved)
    giveCopy(*operand);
  for (auto [operand, argument] : stores)
    operand->set(bufferization::MaterializeInDestinationOp::create(
                     builder, loc, argument.getType(), operand->get(), argument)
                     ->getResult(0));
}

/// Lets the condition of each scf.while forward exactly the loop's own
/// arguments, in their order: only these have memory. What it forwards beyond
/// them becomes an argument, which starts as anything.
void carryWhatIsForwarded(ModuleOp module) {
  SmallVector<scf::WhileOp> loops;
  module.walk([&](scf::WhileOp loop) { loops.push_back(loop); });
  for (scf::WhileOp loop : loops) {
    scf::ConditionOp condition = loop.getConditionOp();
    bool inPlace =
        TypeRange(loop.getBeforeArguments()) == loop.getResultTypes();
    bool hasTensors = llvm::any_of(loop.getResultTypes(), [](Type type) {
      return isa<RankedTensorType>(type);
    });
    if (inPlace || !hasTensors)
      continue;
    IRRewriter rewriter(loop);
    Location loc = loop.getLoc();
    unsigned own = loop.getInits().size();
    SmallVector<Value> inits(loop.getInits());
    for (Type type : loop.getResultTypes()) {
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        inits.push_back(bufferization::AllocTensorOp::create(
            rewriter, loc, tensor, ValueRange()));
      else
        inits.push_back(arith::ConstantOp::create(rewriter, loc,
                                                  rewriter.getZeroAttr(type)));
    }
    SmallVector<Type> types(ValueRange(inits).getTypes());
    SmallVector<Location> locations(types.size(), loc);
    auto carrying =
        scf::WhileOp::create(rewriter, loc, types, inits, nullptr, nullptr);
    Block *before = &carrying.getBefore().front(),
          *after = &carrying.getAfter().front();
    rewriter.setInsertionPoint(condition);
    SmallVector<Value> forwarded(before->getArguments().take_front(own));
    llvm::append_range(forwarded, condition.getArgs());
    rewriter.replaceOpWithNewOp<scf::ConditionOp>(
        condition, condition.getCondition(), forwarded);
    scf::YieldOp yield = loop.getYieldOp();
    rewriter.setInsertionPoint(yield);
    SmallVector<Value> next(yield.getOperands());
    llvm::append_range(next, after->getArguments().drop_front(own));
    rewriter.replaceOpWithNewOp<scf::YieldOp>(yield, next);
    rewriter.mergeBlocks(loop.getBeforeBody(), before,
                         before->getArguments().take_front(own));
    rewriter.mergeBlocks(loop.getAfterBody(), after,
                         after->getArguments().drop_front(own));
    rewriter.replaceOp(loop, carrying->getResults().drop_front(own));
  }
}

/// Gives each tensor that a loop carries one buffer through all iterations.
/// Inner loops first, each depth seen as it is after those inside it: what an
/// inner loop gives lies in the memory that it carries.
LogicalResult carryInPlace(ModuleOp module) {
  carryWhatIsForwarded(module);
  std::map<unsigned, SmallVector<Operation *>> byDepth;
  module.walk([&](Operation *op) {
    if (!isa<scf::ForOp, scf::WhileOp>(op) ||
        llvm::none_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>))
      return;
    unsigned depth = 0;
    for (Operation *at = op; (at = at->getParentOp());)
      ++depth;
    byDepth[depth].push_back(op);
  });
  bufferization::OneShotBufferizationOptions options;
  // Otherwise the analysis would refuse what is put right here.
  options.allowReturnAllocsFromLoops = true;
  for (auto &[depth, loops] : llvm::reverse(byDepth)) {
    bufferization::OneShotAnalysisState state(module, options);
    if (failed(bufferization::analyzeOp(module, state)))
      return failure();
    for (Operation *op : loops) {
      MutableArrayRef<OpOperand> inits =
          cast<LoopLikeOpInterface>(op).getInitsMutable();
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        storeCarried(loop.getBody()->getTerminator(), 0,
                     loop.getRegionIterArgs(), inits, state);
        continue;
      }
      auto loop = cast<scf::WhileOp>(op);
      storeCarried(loop.getConditionOp(), 1, loop.getBeforeArguments(), inits,
                   state);
      storeCarried(loop.getYieldOp(), 0, loop.getAfterArguments(), inits,
                   state);
    }
  }
  return success();
}

/// Computes values right where they are inserted or returned: a tensor.empty
/// that such a value is computed in becomes that place. Upstream's pass also
/// follows operands that are not written in place. Their memory would then be
/// the place although it holds another value than the one that goes there: a
/// value that is changed, and returned beside the changed one, would be
/// overwritten, since bufferization does not see the store to a result's
/// memory. For the same reason, where a condition chooses what goes to the
/// place, only what its branches compute may lie there: a value from outside
/// is still there, and may be wanted, when the other branch is taken.
LogicalResult
computeInPlace(ModuleOp module,
               const bufferization::OneShotBufferizationOptions &options) {
  // Values that start from one empty tensor have a place each, where they are
  // computed: only the first would be computed in that tensor, and none in a
  // loop around which it stands whose iterations may run at once.
  auto separate = [&](llvm::function_ref<bool(Operation *)> isStart) {
    SmallVector<OpOperand *> shared;
    module.walk([&](Operation *start) {
      if (!isStart(start))
        return;
      for (OpOperand &use : start->getUses())
        if (!start->hasOneUse() ||
            use.getOwner()->getBlock() != start->getBlock())
          shared.push_back(&use);
    });
    for (OpOperand *use : shared) {
      OpBuilder builder(use->getOwner());
      use->set(builder.clone(*use->get().getDefiningOp())->getResult(0));
    }
  };
  // Who asks for an extent of one needs no memory.
  module.walk([&](tensor::DimOp dim) {
    auto made = dim.getSource().getDefiningOp<tensor::CollapseShapeOp>();
    std::optional<int64_t> at = dim.getConstantIndex();
    if (!at || !made || !made.getSrc().getDefiningOp<tensor::EmptyOp>())
      return;
    OpBuilder builder(made);
    IndexMath math(builder, dim.getLoc());
    OpFoldResult extent = math.number(1);
    for (int64_t of : made.getReassociationIndices()[*at])
      extent = math.mul(extent, tensor::getMixedSize(builder, dim.getLoc(),
                                                     made.getSrc(), of));
    dim.replaceAllUsesWith(
        getValueOrCreateConstantIndexOp(builder, dim.getLoc(), extent));
  });
  separate([](Operation *op) {
    return isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op) &&
           op->getOperand(0).getDefiningOp<tensor::EmptyOp>();
  });
  separate([](Operation *op) { return isa<tensor::EmptyOp>(op); });
  bufferization::OneShotAnalysisState state(module, options);
  if (failed(bufferization::analyzeOp(module, state)))
    return failure();
  bufferization::TraversalConfig inPlace;
  inPlace.followInPlaceOnly = true;
  inPlace.followEquivalentOnly = true;
  inPlace.followSameTypeOrCastsOnly = true;
  auto placeFor = [&](RewriterBase &rewriter,
                      SubsetInsertionOpInterface insertion,
                      tensor::EmptyOp empty, Operation *user) -> Value {
    // What a loop carries is still read while the next value is computed.
    if (auto stored = dyn_cast<bufferization::MaterializeInDestinationOp>(
            insertion.getOperation());
        stored && isa<TensorType>(stored.getDest().getType()))
      return Value();
    DenseSet<OpOperand *> passed;
    SetVector<Value> starts = state.findValueInReverseUseDefChain(
        &insertion.getSourceOperand(),
        [&](Value value) { return value == empty.getResult(); }, inPlace,
        &passed);
    bool fits =
        starts.contains(empty) && llvm::all_of(passed, [&](OpOperand *operand) {
          return operand->get() == empty.getResult() ||
                 !starts.contains(operand->get()) ||
                 insideMutuallyExclusiveRegions(empty, operand->getOwner());
        });
    if (!fits)
      return Value();
    return bufferization::buildSubsetExtraction(rewriter, insertion, empty,
                                                user);
  };
  IRRewriter rewriter(module.getContext());
  return bufferization::eliminateEmptyTensors(rewriter, module, state,
                                              placeFor);
}

/// Storing a result overwrites its place, which bufferization does not see.
/// That harms nobody where the result was computed there. But where
/// bufferization has decided to change a copy of what was computed there, and
/// another result still lies in it, that one would be lost before it is stored.
/// Gives such values memory of their own; returns whether there were any.
bool leavePlaces(ModuleOp module,
                 const bufferization::OneShotAnalysisState &state) {
  bool leaves = false;
  for (auto function : module.getOps<func::FuncOp>()) {
    SmallVector<bufferization::MaterializeInDestinationOp> stores;
    DenseMap<Value, bufferization::MaterializeInDestinationOp> storeTo;
    SmallVector<bufferization::ToTensorOp> computed;
    function.walk([&](Operation *op) {
      if (auto store = dyn_cast<bufferization::MaterializeInDestinationOp>(op);
          store && isa<MemRefType>(store.getDest().getType())) {
        stores.push_back(store);
        storeTo[store.getDest()] = store;
      } else if (auto value = dyn_cast<bufferization::ToTensorOp>(op)) {
        computed.push_back(value);
      }
    });
    for (bufferization::ToTensorOp value : computed) {
      bufferization::MaterializeInDestinationOp own =
          storeTo.lookup(value.getBuffer());
      if (!own || state.areEquivalentBufferizedValues(own.getSource(), value) ||
          llvm::none_of(stores, [&](auto other) {
            return other != own && own->isBeforeInBlock(other) &&
                   mayAlias(other.getSourceMutable(), value, state,
                            /*asThingsAre=*/true);
          }))
        continue;
      OpBuilder builder(value);
      Value apart = tensor::EmptyOp::create(
          builder, value.getLoc(),
          memref::getMixedSizes(builder, value.getLoc(), value.getBuffer()),
          getElementTypeOrSelf(value.getType()));
      value.replaceAllUsesWith(apart);
      value.erase();
      leaves = true;
    }
  }
  return leaves;
}

/// A single element has no stride. Gives each extent of 1 the stride 1:
/// upstream finds the extents that a slice drops by their strides.
void dropIdleStrides(Operation *root) {
  root->walk([](OffsetSizeAndStrideOpInterface op) {
    if (!isa<tensor::ExtractSliceOp, tensor::InsertSliceOp,
             tensor::ParallelInsertSliceOp>(op))
      return;
    SmallVector<int64_t> strides(op.getStaticStrides());
    bool changes = false;
    for (auto [stride, size] : llvm::zip_equal(strides, op.getStaticSizes()))
      if (size == 1 && stride != 1 && ShapedType::isStatic(stride)) {
        stride = 1;
        changes = true;
      }
    if (changes)
      op->setAttr("static_strides",
                  DenseI64ArrayAttr::get(op->getContext(), strides));
  });
}

/// Takes the steps of a view first, and drops extents of 1 from what that
/// gives: upstream finds out which they are by comparing the strides of the
/// view with those of the whole, and finds none if there are steps.
void dropExtentsBehindSteps(Operation *root) {
  root->walk([](memref::SubViewOp op) {
    if (op.getType().getRank() == op.getSourceType().getRank() ||
        op.hasUnitStride())
      return;
    OpBuilder b(op);
    unsigned rank = op.getSourceType().getRank();
    SmallVector<OpFoldResult> sizes = op.getMixedSizes(),
                              zeros(rank, b.getIndexAttr(0)),
                              ones(rank, b.getIndexAttr(1));
    Value steps = memref::SubViewOp::create(b, op.getLoc(), op.getSource(),
                                            op.getMixedOffsets(), sizes,
                                            op.getMixedStrides());
    Value dropped = memref::SubViewOp::create(b, op.getLoc(), op.getType(),
                                              steps, zeros, sizes, ones);
    op.replaceAllUsesWith(dropped);
    op.erase();
  });
}

struct CpuBufferize : impl::CpuBufferizeBase<CpuBufferize> {
  void runOnOperation() override;
};

void CpuBufferize::runOnOperation() {
  ModuleOp module = getOperation();
  for (auto function : module.getOps<func::FuncOp>())
    if (failed(turnIntoMemory(function)))
      return signalPassFailure();
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal())
      writeRowsThroughSlices(function);
  dropIdleStrides(module);
  if (failed(carryInPlace(module)) || failed(computeInPlace(module, {})))
    return signalPassFailure();
  bufferization::OneShotBufferizationOptions options;
  options.setFunctionBoundaryTypeConversion(
      bufferization::LayoutMapOption::IdentityLayoutMap);
  bufferization::BufferizationState state;
  // Other memory may mean other copies, so that all is decided again.
  for (bool decided = false; !decided;) {
    OpPassManager pipeline(ModuleOp::getOperationName());
    pipeline.addPass(bufferization::createEmptyTensorToAllocTensorPass());
    if (failed(runPipeline(pipeline, module)))
      return signalPassFailure();
    bufferization::OneShotAnalysisState decisions(module, options);
    if (failed(bufferization::analyzeOp(module, decisions)))
      return signalPassFailure();
    if (leavePlaces(module, decisions))
      continue;
    decided = true;
    if (failed(bufferization::insertTensorCopies(module, decisions, state)))
      return signalPassFailure();
  }
  if (failed(bufferization::bufferizeOp(module, options, state)))
    return signalPassFailure();
  dropExtentsBehindSteps(module);
  OpPassManager pipeline(ModuleOp::getOperationName());
  // Twice: merging equal views shows which copies are onto themselves.
  for (int round = 0; round < 2; ++round) {
    pipeline.addPass(createCanonicalizer());
    pipeline.addPass(createCSEPass());
  }
  if (failed(runPipeline(pipeline, module)))
    return signalPassFailure();
  WalkResult result = module.walk([&](Operation *op) -> WalkResult {
    bool tensors = llvm::any_of(op->getResultTypes(), [](Type type) {
      return isa<RankedTensorType>(type);
    });
    if (!tensors && !isa<bufferization::BufferizationDialect>(op->getDialect()))
      return WalkResult::advance();
    op->emitOpError("has no form in memory; it cannot be compiled for the CPU");
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    signalPassFailure();
}

} // namespace
} // namespace drawloom::cpu
