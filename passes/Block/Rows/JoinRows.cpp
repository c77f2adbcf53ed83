//===- JoinRows.cpp - two open extents become one -------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sequences and tokens lie one behind the other in memory, so that whatever
// treats all tokens alike may count them in one go. Then they are the rows that
// fusion knows, as many as the product of two extents.
//
// Either all ops that have both extents get one for them, or none does.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Block/Passes.h"
#include "passes/Block/Products.h"
#include "passes/Graph/DimensionClasses.h"
#include "passes/Graph/OpenExtents.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace drawloom {

#define GEN_PASS_DEF_JOINROWS
#include "passes/Block/Passes.h.inc"

namespace {

using Class = DimensionClasses::Class;

/// An argument's dimension that has an extent.
struct Source {
  BlockArgument argument;
  int64_t dim;
};

/// What is to become of an op: of which loop on it has the two, or of which
/// dimension on its result has them.
struct Plan {
  Operation *op;
  enum Kind { Loops, Shape, Border } kind;
  unsigned at = 0;
  /// The other loop, where it is one of loops.
  unsigned other = 0;
};

int64_t joinedExtent(RankedTensorType type, unsigned at) {
  if (type.isDynamicDim(at) || type.isDynamicDim(at + 1))
    return ShapedType::kDynamic;
  return type.getDimSize(at) * type.getDimSize(at + 1);
}

RankedTensorType joinedType(RankedTensorType type, unsigned at) {
  SmallVector<int64_t> shape(type.getShape());
  shape[at] = joinedExtent(type, at);
  shape.erase(shape.begin() + at + 1);
  return RankedTensorType::get(shape, type.getElementType());
}

/// Dimensions of a tensor of so many, [at, at + 1] as one.
SmallVector<ReassociationIndices> joining(int64_t rank, unsigned at) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim == at + 1)
      groups.back().push_back(dim);
    else
      groups.push_back({dim});
  return groups;
}

/// `groups` without dimension at + 1 on the side that has more. The side that
/// has fewer lacks a group, where the two were groups of their own.
SmallVector<ReassociationIndices> without(ArrayRef<ReassociationIndices> groups,
                                          unsigned at) {
  SmallVector<ReassociationIndices> fewer;
  for (const ReassociationIndices &group : groups) {
    ReassociationIndices &made = fewer.emplace_back();
    for (int64_t dim : group)
      if (dim != at + 1)
        made.push_back(dim > at + 1 ? dim - 1 : dim);
    if (made.empty())
      fewer.pop_back();
  }
  return fewer;
}

template <typename T>
SmallVector<T> withoutEntry(ArrayRef<T> list, unsigned i) {
  SmallVector<T> fewer(list);
  fewer.erase(fewer.begin() + i);
  return fewer;
}

class Joining {
public:
  Joining(func::FuncOp function)
      : function(function), block(function.getBody().front()), classes(block),
        rewriter(function.getContext()) {}

  void run() {
    findOpen();
    if (open.size() < 2 || !choosePair() || !makePlans() || plans.empty())
      return;
    for (const Plan &plan : plans)
      carryOut(plan);
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op))
        rewriter.eraseOp(&op);
  }

private:
  void missed(Operation *op, const Twine &reason) {
    remark::missed(op->getLoc(),
                   remark::RemarkOpts::name("NotJoined").category("join-rows"))
        << remark::reason("{0}", reason.str());
  }

  /// The classes of extents that calls choose, and who has them.
  void findOpen() {
    auto interface = cast<FunctionOpInterface>(function.getOperation());
    for (BlockArgument argument : block.getArguments()) {
      RankedTensorType type = tensorType(argument);
      auto given = interface.getArgAttrOfType<DenseI64ArrayAttr>(
          argument.getArgNumber(), givenDimsAttr);
      for (int64_t dim = 0; type && dim < type.getRank(); ++dim)
        if (type.isDynamicDim(dim) ||
            (given && llvm::is_contained(given.asArrayRef(), dim)))
          open.insert(
              {classes.find(classes.of(argument, dim)), Source{argument, dim}});
    }
  }

  Class loopClass(Operation *op, unsigned loop) {
    return classes.find(classes.ofLoop(op, loop));
  }

  static bool isComputed(Operation &op) {
    return isa<linalg::LinalgOp>(op) && !isa<linalg::FillOp>(op);
  }

  /// The two that the most ops have next to each other.
  bool choosePair() {
    llvm::MapVector<std::pair<Class, Class>, unsigned> pairs;
    for (Operation &op : block)
      if (isComputed(op)) {
        std::optional<Class> before;
        for (unsigned i = 0; i < cast<linalg::LinalgOp>(op).getNumLoops();
             ++i) {
          Class here = loopClass(&op, i);
          if (!open.contains(here))
            continue;
          if (before && *before != here)
            ++pairs[{*before, here}];
          before = here;
        }
      }
    unsigned most = 0;
    for (auto &[pair, count] : pairs)
      if (count > most) {
        most = count;
        outer = pair.first;
        inner = pair.second;
      }
    return most > 0;
  }

  /// From which dimension on a value has both; none where it has not, or not
  /// once.
  std::optional<unsigned> pairOf(Value value) {
    RankedTensorType type = tensorType(value);
    std::optional<unsigned> at;
    unsigned count = 0;
    for (int64_t dim = 0; type && dim < type.getRank(); ++dim) {
      Class here = classes.find(classes.of(value, dim));
      count += here == outer || here == inner;
      if (here == inner && dim > 0 &&
          classes.find(classes.of(value, dim - 1)) == outer)
        at = dim - 1;
    }
    return count == 2 ? at : std::nullopt;
  }

  bool makePlans() {
    for (Operation &op : block)
      if (isComputed(op) ? !planLoops(cast<linalg::LinalgOp>(op))
                         : isStructural(&op) && !planShape(&op)) {
        missed(&op, "it has two open extents otherwise than side by side");
        return false;
      }
    return true;
  }

  bool planLoops(linalg::LinalgOp op) {
    SmallVector<unsigned> loops;
    for (unsigned i = 0; i < op.getNumLoops(); ++i)
      if (Class here = loopClass(op, i); here == outer || here == inner)
        loops.push_back(i);
    // What has one of them alone has rows of its own.
    if (loops.size() < 2)
      return true;
    if (loops.size() > 2 || loopClass(op, loops[0]) != outer ||
        loopClass(op, loops[1]) != inner || !op.hasPureTensorSemantics())
      return false;
    SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
    if (iterators[loops[0]] != iterators[loops[1]])
      return false;
    for (AffineMap map : op.getIndexingMapsArray()) {
      if (!map.isProjectedPermutation(/*allowZeroInResults=*/true))
        return false;
      auto at = [&](unsigned loop) {
        return map.getResultPosition(getAffineDimExpr(loop, map.getContext()));
      };
      std::optional<unsigned> first = at(loops[0]), second = at(loops[1]);
      if (first.has_value() != second.has_value() ||
          (first && *first + 1 != *second))
        return false;
    }
    bool asksWhere = false;
    op->walk([&](linalg::IndexOp index) {
      asksWhere |= index.getDim() == loops[0] || index.getDim() == loops[1];
    });
    if (asksWhere)
      return false;
    plans.push_back({op, Plan::Loops, loops[0], loops[1]});
    return true;
  }

  bool planShape(Operation *op) {
    Value result = op->getResult(0), source = op->getOperand(0);
    std::optional<unsigned> at = pairOf(result), from = pairOf(source);
    bool collapses = isa<tensor::CollapseShapeOp>(op);
    if (collapses || isa<tensor::ExpandShapeOp>(op)) {
      Value wide = collapses ? source : result;
      auto groups =
          collapses
              ? cast<tensor::CollapseShapeOp>(op).getReassociationIndices()
              : cast<tensor::ExpandShapeOp>(op).getReassociationIndices();
      std::optional<unsigned> pair = collapses ? from : at;
      if (!pair || isInit(source))
        return isInit(source) || !hasBoth(wide);
      for (auto [i, group] : llvm::enumerate(groups)) {
        if (group.size() == 2 && group[0] == *pair) {
          plans.push_back({op, Plan::Border, static_cast<unsigned>(i)});
          return true;
        }
        if (group.size() > 1 && (llvm::is_contained(group, *pair) ||
                                 llvm::is_contained(group, *pair + 1)))
          return false;
      }
      plans.push_back({op, Plan::Shape, *pair});
      return true;
    }
    if (!at)
      return !hasBoth(result) || isInit(source);
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      if (from != at || slice.getDroppedDims().any())
        return false;
    } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
      if (insert.getDroppedDims().any() ||
          !(isInit(insert.getSource()) || pairOf(insert.getSource()) == at) ||
          !(isInit(insert.getDest()) || pairOf(insert.getDest()) == at))
        return false;
      // A piece of the tokens is no tile of them.
      if (isInit(insert.getSource()) && !isWhole(insert, *at))
        return false;
    } else if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
      if (concat.getDim() == *at || concat.getDim() == *at + 1)
        return false;
      for (Value input : concat.getInputs())
        if (!isInit(input) && pairOf(input) != at)
          return false;
    } else if (from != at) {
      return false;
    }
    plans.push_back({op, Plan::Shape, *at});
    return true;
  }

  bool isWhole(tensor::InsertSliceOp insert, unsigned at) {
    RankedTensorType source = insert.getSourceType(),
                     dest = insert.getDestType();
    return !source.isDynamicDim(at) && !source.isDynamicDim(at + 1) &&
           source.getDimSize(at) == dest.getDimSize(at) &&
           source.getDimSize(at + 1) == dest.getDimSize(at + 1) &&
           isZeroInteger(insert.getMixedOffsets()[at]) &&
           isZeroInteger(insert.getMixedOffsets()[at + 1]);
  }

  bool hasBoth(Value value) {
    bool first = false, second = false;
    RankedTensorType type = tensorType(value);
    for (int64_t dim = 0; type && dim < type.getRank(); ++dim) {
      Class here = classes.find(classes.of(value, dim));
      first |= here == outer;
      second |= here == inner;
    }
    return first && second;
  }

  // From here on values are made, of which the classes know nothing.

  OpFoldResult extentOf(Class of) {
    Source source = open.find(of)->second;
    int64_t extent = tensorType(source.argument).getDimSize(source.dim);
    if (!ShapedType::isDynamic(extent))
      return rewriter.getIndexAttr(extent);
    Value &known = extents[of];
    if (!known) {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(&block);
      known = tensor::DimOp::create(rewriter, source.argument.getLoc(),
                                    source.argument, source.dim);
    }
    return known;
  }

  void mark(Operation *reshape, unsigned dim) {
    reshape->setAttr(joinedRowsAttr, rewriter.getI64IntegerAttr(dim));
  }

  Value joinInit(Value init, unsigned at) {
    Location loc = init.getLoc();
    RankedTensorType type = joinedType(tensorType(init), at);
    if (auto constant = init.getDefiningOp<arith::ConstantOp>()) {
      auto splat = cast<SplatElementsAttr>(constant.getValue());
      return arith::ConstantOp::create(rewriter, loc, splat.resizeSplat(type));
    }
    SmallVector<Value> sizes;
    Value empty = init;
    auto fill = init.getDefiningOp<linalg::FillOp>();
    if (fill)
      empty = fill.getOutputs()[0];
    if (type.isDynamicDim(at)) {
      Value first =
                getValueOrCreateConstantIndexOp(rewriter, loc, extentOf(outer)),
            second =
                getValueOrCreateConstantIndexOp(rewriter, loc, extentOf(inner));
      Value rows = arith::MulIOp::create(rewriter, loc, first, second);
      for (int64_t dim = 0; dim < type.getRank(); ++dim)
        if (type.isDynamicDim(dim))
          sizes.push_back(
              dim == at ? rows
                        : tensor::DimOp::create(rewriter, loc, empty,
                                                dim > at ? dim + 1 : dim));
    }
    empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                    type.getElementType(), sizes);
    if (!fill)
      return empty;
    return linalg::FillOp::create(rewriter, loc, fill.getInputs()[0], empty)
        .getResult(0);
  }

  /// The same with one extent for two, from `at` on.
  Value joinedOf(Value value, unsigned at) {
    if (isInit(value))
      return joinInit(value, at);
    if (Value known = joined.lookup(value))
      return known;
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointAfterValue(value);
    RankedTensorType type = tensorType(value);
    auto made = tensor::CollapseShapeOp::create(rewriter, value.getLoc(),
                                                joinedType(type, at), value,
                                                joining(type.getRank(), at));
    mark(made, at);
    joined[value] = made;
    return made;
  }

  /// Those who know nothing of it see what is joined as it was.
  void replace(OpResult old, Value made, unsigned at) {
    RankedTensorType type = tensorType(old);
    SmallVector<OpFoldResult> sizes;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      int64_t extent = type.getDimSize(dim);
      if (!ShapedType::isDynamic(extent))
        sizes.push_back(rewriter.getIndexAttr(extent));
      else if (dim == at || dim == at + 1)
        sizes.push_back(extentOf(dim == at ? outer : inner));
      else
        sizes.push_back(tensor::getMixedSize(rewriter, old.getLoc(), made,
                                             dim > at ? dim - 1 : dim));
    }
    auto expand = tensor::ExpandShapeOp::create(
        rewriter, old.getLoc(), type, made, joining(type.getRank(), at), sizes);
    mark(expand, at);
    rewriter.replaceAllUsesWith(old, expand);
    joined[expand] = made;
  }

  void carryOut(const Plan &plan) {
    rewriter.setInsertionPoint(plan.op);
    switch (plan.kind) {
    case Plan::Loops:
      return joinLoops(cast<linalg::LinalgOp>(plan.op), plan.at, plan.other);
    case Plan::Shape:
      return joinShape(plan.op, plan.at);
    case Plan::Border:
      return mark(plan.op, plan.at);
    }
  }

  void joinLoops(linalg::LinalgOp op, unsigned first, unsigned second) {
    MLIRContext *context = op.getContext();
    if (!isa<linalg::GenericOp>(op.getOperation()))
      op = *linalg::generalizeNamedOp(rewriter, op);
    auto generic = cast<linalg::GenericOp>(op.getOperation());
    rewriter.setInsertionPoint(generic);
    unsigned loops = generic.getNumLoops();
    SmallVector<AffineExpr> fewer;
    for (unsigned loop = 0; loop < loops; ++loop)
      fewer.push_back(getAffineDimExpr(loop == second  ? first
                                       : loop > second ? loop - 1
                                                       : loop,
                                       context));
    SmallVector<Value> inputs, outputs;
    SmallVector<AffineMap> maps;
    SmallVector<std::optional<unsigned>> places;
    for (OpOperand &operand : generic->getOpOperands()) {
      AffineMap map = generic.getMatchingIndexingMap(&operand);
      std::optional<unsigned> at =
          map.getResultPosition(getAffineDimExpr(first, context));
      SmallVector<AffineExpr> results(map.getResults());
      Value value = operand.get();
      if (at) {
        results.erase(results.begin() + *at + 1);
        value = joinedOf(value, *at);
      }
      for (AffineExpr &result : results)
        result = result.replaceDims(fewer);
      maps.push_back(AffineMap::get(loops - 1, 0, results, context));
      if (generic.isDpsInit(&operand)) {
        outputs.push_back(value);
        places.push_back(at);
      } else {
        inputs.push_back(value);
      }
    }
    SmallVector<Type> types;
    for (Value output : outputs)
      types.push_back(output.getType());
    auto made = linalg::GenericOp::create(
        rewriter, generic.getLoc(), types, inputs, outputs, maps,
        withoutEntry(ArrayRef(generic.getIteratorTypesArray()), second));
    for (NamedAttribute attribute : generic->getDiscardableAttrs())
      made->setDiscardableAttr(attribute.getName(), attribute.getValue());
    made.getRegion().takeBody(generic.getRegion());
    made.walk([&](linalg::IndexOp index) {
      if (index.getDim() > second)
        index.setDim(index.getDim() - 1);
    });
    rewriter.setInsertionPointAfter(made);
    for (auto [old, result, at] :
         llvm::zip_equal(generic->getResults(), made->getResults(), places))
      if (at)
        replace(old, result, *at);
      else
        rewriter.replaceAllUsesWith(old, result);
    rewriter.eraseOp(generic);
  }

  void joinShape(Operation *op, unsigned at) {
    Location loc = op->getLoc();
    OpResult result = op->getResult(0);
    // Of lists that have an entry for each dimension.
    auto rows = [&](SmallVector<OpFoldResult> list, OpFoldResult entry) {
      list[at] = entry;
      list.erase(list.begin() + at + 1);
      return list;
    };
    auto sizesOf = [&](SmallVector<OpFoldResult> sizes, Value joinedWhole) {
      OpFoldResult all = tensor::getMixedSize(rewriter, loc, joinedWhole, at);
      return rows(std::move(sizes), all);
    };
    OpFoldResult zero = rewriter.getIndexAttr(0),
                 one = rewriter.getIndexAttr(1);
    Value made;
    unsigned atResult = at;
    if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
      // `at` is the source's.
      atResult = placeInNarrow(collapse.getReassociationIndices(), at);
      made = tensor::CollapseShapeOp::create(
          rewriter, loc, joinedType(tensorType(result), atResult),
          joinedOf(collapse.getSrc(), at),
          without(collapse.getReassociationIndices(), at));
    } else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
      // `at` is the result's.
      unsigned from = placeInNarrow(expand.getReassociationIndices(), at);
      Value source = joinedOf(expand.getSrc(), from);
      SmallVector<OpFoldResult> sizes =
          rows(getMixedValues(expand.getStaticOutputShape(),
                              expand.getOutputShape(), rewriter),
               tensor::getMixedSize(rewriter, loc, source, from));
      made = tensor::ExpandShapeOp::create(
          rewriter, loc, joinedType(tensorType(result), at), source,
          without(expand.getReassociationIndices(), at), sizes);
    } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      Value source = joinedOf(slice.getSource(), at);
      made = tensor::ExtractSliceOp::create(
          rewriter, loc, joinedType(tensorType(result), at), source,
          rows(slice.getMixedOffsets(), zero),
          sizesOf(slice.getMixedSizes(), source),
          rows(slice.getMixedStrides(), one));
    } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
      Value source = joinedOf(insert.getSource(), at),
            dest = joinedOf(insert.getDest(), at);
      made = tensor::InsertSliceOp::create(
          rewriter, loc, source, dest, rows(insert.getMixedOffsets(), zero),
          sizesOf(insert.getMixedSizes(), dest),
          rows(insert.getMixedStrides(), one));
    } else if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
      SmallVector<Value> inputs;
      for (Value input : concat.getInputs())
        inputs.push_back(joinedOf(input, at));
      int64_t dim = concat.getDim();
      made = tensor::ConcatOp::create(rewriter, loc,
                                      joinedType(tensorType(result), at),
                                      dim > at ? dim - 1 : dim, inputs);
    } else {
      made = joinedOf(op->getOperand(0), at);
      RankedTensorType type = joinedType(tensorType(result), at);
      if (made.getType() != type)
        made = tensor::CastOp::create(rewriter, loc, type, made);
    }
    replace(result, made, atResult);
    rewriter.eraseOp(op);
  }

  /// The dimension of the side with fewer that the group of `dim` alone is.
  static unsigned placeInNarrow(ArrayRef<ReassociationIndices> groups,
                                unsigned dim) {
    for (auto [i, group] : llvm::enumerate(groups))
      if (llvm::is_contained(group, dim))
        return i;
    llvm_unreachable("every dimension is in a group");
  }

  func::FuncOp function;
  Block &block;
  DimensionClasses classes;
  IRRewriter rewriter;
  llvm::MapVector<Class, Source> open;
  Class outer = 0, inner = 0;
  SmallVector<Plan> plans;
  DenseMap<Class, Value> extents;
  DenseMap<Value, Value> joined;
};

struct JoinRows : impl::JoinRowsBase<JoinRows> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || isOpaque(function) ||
        !function.getBody().hasOneBlock())
      return;
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (function.getArgAttr(i, givenDimsAttr))
        function->setAttr(cutAsOpenAttr, UnitAttr::get(&getContext()));
    Joining(function).run();
  }
};

} // namespace
} // namespace drawloom
