//===- ShareRepeats.cpp - repeated code becomes a function ----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/kernels/ShareRepeats.h"
#include "codegen/cpu/Passes.h"
#include "codegen/cpu/Signature.h"
#include "codegen/cpu/llvm/StreamStores.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/MapVector.h"

namespace drawloom::cpu {
#define GEN_PASS_DEF_CPUSHAREREPEATS
#include "codegen/cpu/Passes.h.inc"
} // namespace drawloom::cpu

using namespace mlir;

namespace drawloom::cpu {
namespace {

/// Whether a function can have arguments of the type: pointers, numbers, and
/// vectors.
bool isArgument(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  if (memref)
    return memref.hasStaticShape() && memref.getLayout().isIdentity();
  return type.isIntOrIndexOrFloat() || isa<VectorType>(type);
}

/// What is made anew where it is used: views of buffers.
bool isView(Operation *op) {
  return op && isa<ViewLikeOpInterface>(op) &&
         !isArgument(op->getResult(0).getType());
}

bool isConstant(Operation *op) {
  return op && op->hasTrait<OpTrait::ConstantLike>();
}

/// About how many operations of machine vectors an op becomes.
int64_t sizeOf(Operation *op) {
  if (auto contract = dyn_cast<vector::ContractionOp>(op)) {
    SmallVector<int64_t> extents;
    contract.getIterationBounds(extents);
    auto result = dyn_cast<VectorType>(contract.getResultType());
    return computeProduct(extents) / (result ? result.getShape().back() : 1);
  }
  int64_t size = 1;
  for (TypeRange types :
       {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types)
      size = std::max(size, vectorsOf(type));
  constexpr int64_t expanded = 30;
  return isElementaryFunctionOfVector(op) ? expanded * size : size;
}

/// The same with all that `op` holds. LLVM unrolls loops of few iterations.
int64_t wholeSizeOf(Operation *op) {
  constexpr int64_t mostUnrolled = 16;
  int64_t iterations = 1;
  if (auto loop = dyn_cast<scf::ForOp>(op))
    if (std::optional<APInt> count = loop.getStaticTripCount();
        count && count->ule(mostUnrolled))
      iterations = count->getZExtValue();
  int64_t size = sizeOf(op);
  for (Region &region : op->getRegions())
    for (Operation &nested : region.getOps())
      size += iterations * wholeSizeOf(&nested);
  return size;
}

/// Ops of one block that stand one behind the other up to one that writes, with
/// the views and constants from before that they read.
struct Segment {
  SmallVector<Operation *> ops;
  /// Views and constants in front, in program order; then `ops`.
  SmallVector<Operation *> all;
  /// What comes from outside, in the order of its first use in `all`.
  SmallVector<Value> captured;
  /// What is used behind it: by the place in `ops`, and the result's number.
  SmallVector<std::pair<unsigned, unsigned>> given;
  int64_t operations = 0;
  /// What goes in and out as machine vectors.
  int64_t passed = 0;

  /// False where a value comes from outside that no function could take, or one
  /// that no function could give is used behind the segment.
  bool complete() {
    inside.insert(ops.begin(), ops.end());
    SetVector<Operation *> ahead;
    for (Operation *op : ops) {
      operations += wholeSizeOf(op);
      op->walk([&](Operation *nested) {
        for (Value operand : nested->getOperands())
          collect(operand, ahead);
      });
    }
    all.assign(ahead.begin(), ahead.end());
    llvm::append_range(all, ops);
    SetVector<Value> values;
    for (Operation *op : all)
      op->walk([&](Operation *nested) {
        for (Value operand : nested->getOperands())
          if (!isLocal(operand) && !ahead.contains(operand.getDefiningOp()))
            values.insert(operand);
      });
    captured = values.takeVector();
    for (unsigned place = 0; place < ops.size(); ++place)
      for (OpResult result : ops[place]->getResults()) {
        auto outside =
            llvm::make_filter_range(result.getUsers(), [&](Operation *user) {
              return !isInside(user);
            });
        if (outside.empty())
          continue;
        // Addresses that are computed from it stand between the ops.
        bool behind = llvm::all_of(outside, [&](Operation *user) {
          Operation *there =
              ops.back()->getBlock()->findAncestorOpInBlock(*user);
          return ops.back()->isBeforeInBlock(there);
        });
        if (!behind || !isa<VectorType>(result.getType()))
          return false;
        passed += vectorsOf(result.getType());
        given.push_back({place, result.getResultNumber()});
      }
    for (Value value : captured)
      passed += vectorsOf(value.getType());
    return llvm::all_of(
        captured, [](Value value) { return isArgument(value.getType()); });
  }

  SmallVector<Value> results() const {
    return llvm::map_to_vector(given, [&](auto at) -> Value {
      return ops[at.first]->getResult(at.second);
    });
  }

private:
  bool isInside(Operation *op) const {
    for (; op; op = op->getParentOp())
      if (inside.contains(op))
        return true;
    return false;
  }
  bool isLocal(Value value) const {
    Operation *owner = value.getDefiningOp();
    return isInside(owner ? owner : value.getParentBlock()->getParentOp());
  }
  void collect(Value value, SetVector<Operation *> &ahead) {
    Operation *op = value.getDefiningOp();
    if (isLocal(value) || (!isView(op) && !isConstant(op)) ||
        ahead.contains(op))
      return;
    // What a view starts at is handed over: it differs from one place to the
    // next.
    if (isView(op))
      collect(cast<ViewLikeOpInterface>(op).getViewSource(), ahead);
    ahead.insert(op);
  }

  DenseSet<Operation *> inside;
};

/// Whether two segments differ in what comes from outside alone.
bool areAlike(const Segment &a, const Segment &b) {
  if (a.all.size() != b.all.size() || a.operations != b.operations ||
      a.captured.size() != b.captured.size() || a.given != b.given)
    return false;
  DenseMap<Value, Value> partner;
  for (auto [mine, other] : llvm::zip_equal(a.captured, b.captured)) {
    if (mine.getType() != other.getType())
      return false;
    partner[mine] = other;
  }
  auto check = [&](Value mine, Value other) {
    auto known = partner.find(mine);
    return success(known != partner.end() && known->second == other);
  };
  auto mark = [&](Value mine, Value other) { partner[mine] = other; };
  return llvm::all_of(llvm::zip_equal(a.all, b.all), [&](auto pair) {
    auto [mine, other] = pair;
    bool same = OperationEquivalence::isEquivalentTo(
        mine, other, check, mark, OperationEquivalence::IgnoreLocations);
    if (same)
      for (auto [result, twin] :
           llvm::zip_equal(mine->getResults(), other->getResults()))
        partner[result] = twin;
    return same;
  });
}

llvm::hash_code hashOf(const Segment &segment) {
  llvm::hash_code hash = llvm::hash_combine(segment.captured.size());
  for (Operation *op : segment.all)
    op->walk([&](Operation *nested) {
      hash = llvm::hash_combine(
          hash, OperationEquivalence::computeHash(
                    nested, OperationEquivalence::ignoreHashValue,
                    OperationEquivalence::ignoreHashValue,
                    OperationEquivalence::IgnoreLocations));
    });
  return hash;
}

/// Whether `op` may do anything to memory but read it.
bool writes(Operation *op) {
  if (isMemoryEffectFree(op))
    return false;
  if (!op->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
    return !hasSingleEffect<MemoryEffects::Read>(op);
  return llvm::any_of(op->getRegions(), [](Region &region) {
    return llvm::any_of(region.getOps(),
                        [](Operation &nested) { return writes(&nested); });
  });
}

class Sharing {
public:
  Sharing(func::FuncOp parent, SymbolTable &symbols, int64_t minRepeats,
          int64_t minShared)
      : parent(parent), symbols(symbols), minRepeats(minRepeats),
        minShared(minShared) {}

  void run() {
    // From the outside in: what is shared takes all that it holds along.
    SmallVector<Block *> level{&parent.getBody().front()};
    while (!level.empty()) {
      classes.clear();
      calls.clear();
      for (Block *block : level)
        split(*block);
      for (auto &[hash, known] : classes)
        for (SmallVector<Segment, 0> &alike : known)
          if (static_cast<int64_t>(alike.size()) >= minRepeats)
            share(alike);
      SmallVector<Block *> next;
      for (Block *block : level)
        for (Operation &op : *block)
          for (Region &region : op.getRegions())
            for (Block &nested : region)
              next.push_back(&nested);
      level = std::move(next);
    }
  }

private:
  /// Cuts a block into segments, and sorts these by what they do.
  void split(Block &block) {
    Segment current;
    auto finish = [&] {
      // What is passed by memory is worth it for more work than that.
      if (current.complete() &&
          current.operations >= std::max(minShared, 4 * current.passed) &&
          !touchesStreamed(current))
        add(std::move(current));
      current = Segment();
    };
    for (Operation &op : block.without_terminator()) {
      if (isView(&op) || isConstant(&op) || isa<memref::AllocaOp>(op))
        continue;
      if (isa<func::CallOp>(op)) {
        current = Segment();
        continue;
      }
      bool isIndex = llvm::all_of(op.getResultTypes(), [](Type type) {
        return type.isIntOrIndex() || isa<BaseMemRefType>(type);
      });
      // Addresses are used everywhere, and cost nothing.
      if (isMemoryEffectFree(&op) && op.getNumRegions() == 0 &&
          op.getNumResults() > 0 && isIndex)
        continue;
      current.ops.push_back(&op);
      if (writes(&op))
        finish();
    }
  }

  bool touchesStreamed(const Segment &segment) {
    return llvm::any_of(segment.captured, [&](Value value) {
      auto argument = dyn_cast<BlockArgument>(value);
      return argument && argument.getOwner() == &parent.getBody().front() &&
             parent.getArgAttr(argument.getArgNumber(), streamedAttr);
    });
  }

  void add(Segment segment) {
    auto &known = classes[hashOf(segment)];
    for (SmallVector<Segment, 0> &alike : known)
      if (areAlike(alike.front(), segment))
        return alike.push_back(std::move(segment));
    known.emplace_back().push_back(std::move(segment));
  }

  /// Whether no two buffers of any segment are the same memory: arguments of
  /// kernels that are said not to overlap, allocations, and views of these that
  /// the layout of scratch memory keeps apart.
  bool areDistinct(ArrayRef<Segment> alike) {
    return llvm::all_of(alike, [&](const Segment &segment) {
      return llvm::all_of(segment.captured, [&](Value value) {
        if (!isa<MemRefType>(value.getType()))
          return true;
        // The host hands over buffers that are apart.
        if (auto argument = dyn_cast<BlockArgument>(value))
          return argument.getOwner() == &parent.getBody().front() &&
                 (parent->hasAttr(signatureAttr) ||
                  parent.getArgAttr(argument.getArgNumber(), "llvm.noalias"));
        auto view = value.getDefiningOp<memref::ViewOp>();
        return value.getDefiningOp<memref::AllocaOp>() ||
               (view && isa<BlockArgument>(view.getSource()));
      });
    });
  }

  /// What was shared before gives its values by calls.
  void update(Segment &segment) {
    for (Value &value : segment.captured)
      if (Value call = calls.lookup(value))
        value = call;
  }

  void share(MutableArrayRef<Segment> alike) {
    for (Segment &segment : alike)
      update(segment);
    const Segment &first = alike.front();
    OpBuilder builder(parent);
    Location loc = first.ops.front()->getLoc();
    func::FuncOp function = createSharedFunction(
        parent, symbols, loc, parent.getName() + "_shared" + Twine(count++),
        builder.getFunctionType(ValueRange(first.captured).getTypes(),
                                ValueRange(first.results()).getTypes()));
    Block *body = &function.getBody().front();
    if (areDistinct(alike))
      for (auto [i, value] : llvm::enumerate(first.captured))
        if (isa<MemRefType>(value.getType()))
          function.setArgAttr(i, "llvm.noalias", builder.getUnitAttr());
    builder.setInsertionPointToStart(body);
    IRMapping mapping;
    mapping.map(first.captured, body->getArguments());
    for (Operation *op : first.all)
      builder.clone(*op, mapping);
    func::ReturnOp::create(
        builder, loc, llvm::map_to_vector(first.results(), [&](Value value) {
          return mapping.lookup(value);
        }));
    for (Segment &segment : alike) {
      update(segment);
      builder.setInsertionPoint(segment.ops.back());
      auto call = func::CallOp::create(builder, segment.ops.back()->getLoc(),
                                       function, segment.captured);
      for (auto [was, is] :
           llvm::zip_equal(segment.results(), call.getResults())) {
        was.replaceAllUsesWith(is);
        calls[was] = is;
      }
      for (Operation *op : llvm::reverse(segment.ops))
        op->erase();
    }
  }

  func::FuncOp parent;
  SymbolTable &symbols;
  int64_t minRepeats, minShared;
  int count = 0;
  DenseMap<Value, Value> calls;
  llvm::MapVector<size_t, SmallVector<SmallVector<Segment, 0>, 0>> classes;
};

struct CpuShareRepeats : impl::CpuShareRepeatsBase<CpuShareRepeats> {
  using CpuShareRepeatsBase::CpuShareRepeatsBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<func::FuncOp> large;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!function.isExternal() && wholeSizeOf(function) >= minOperations)
        large.push_back(function);
    }
    for (func::FuncOp parent : large)
      Sharing(parent, symbols, minRepeats, minShared).run();
  }
};

} // namespace

int64_t vectorsOf(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && vector.getRank() > 0
             ? vector.getNumElements() / vector.getShape().back()
             : 0;
}

bool isElementaryFunction(Operation *op) {
  if (op->getNumResults() != 1)
    return false;
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  return isa<math::MathDialect>(op->getDialect()) &&
         (element.isF32() || element.isBF16() || element.isF16()) &&
         !isa<math::AbsFOp, math::SqrtOp, math::FmaOp, math::CopySignOp,
              math::FloorOp, math::CeilOp, math::RoundEvenOp, math::TruncOp>(
             op);
}

bool isElementaryFunctionOfVector(Operation *op) {
  return isElementaryFunction(op) &&
         isa<VectorType>(op->getResult(0).getType());
}

func::FuncOp createSharedFunction(func::FuncOp user, SymbolTable &symbols,
                                  Location loc, const Twine &name,
                                  FunctionType type) {
  OpBuilder builder(user);
  auto function = func::FuncOp::create(builder, loc, name.str(), type);
  function.setPrivate();
  function->setAttr("passthrough", builder.getStrArrayAttr({"noinline"}));
  function->setAttr(
      "llvm.linkage",
      LLVM::LinkageAttr::get(builder.getContext(), LLVM::Linkage::Internal));
  symbols.insert(function);
  function.addEntryBlock();
  return function;
}

} // namespace drawloom::cpu
