//===- RegionOfRows.cpp - a region for many rows at once ------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value that depends on the row gets a dimension in front, and so does every
// loop of what computes it. What all rows share is computed once.
//
//===----------------------------------------------------------------------===//

#include "dialects/Block/RegionOfRows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace drawloom::block {

using Values = SmallVector<Value>;

static bool isKnown(ArrayRef<OpFoldResult> numbers) {
  return llvm::all_of(
      numbers, [](OpFoldResult number) { return getConstantIntValue(number); });
}

/// Whether the body of a structured op computes with its elements, and with
/// scalars from outside, alone.
static bool computesElements(Operation *op) {
  return llvm::all_of(op->getRegion(0).front(), [](Operation &inner) {
    return inner.getNumRegions() == 0 &&
           (inner.hasTrait<OpTrait::Elementwise>() ||
            inner.hasTrait<OpTrait::ConstantLike>() ||
            isa<linalg::YieldOp, linalg::IndexOp>(inner));
  });
}

bool hasFormForRows(Block &body) {
  return llvm::all_of(body.without_terminator(), [](Operation &op) {
    return llvm::TypeSwitch<Operation *, bool>(&op)
        .Case<tensor::EmptyOp, tensor::SplatOp, tensor::ExpandShapeOp,
              tensor::CollapseShapeOp>([](Operation *known) {
          return llvm::all_of(known->getResultTypes(), [](Type type) {
            return cast<ShapedType>(type).hasStaticShape();
          });
        })
        .Case([](tensor::ExtractOp extract) {
          return llvm::all_of(extract.getIndices(), [](Value index) {
            return matchPattern(index, m_Constant());
          });
        })
        .Case([](tensor::FromElementsOp from) {
          return from.getElements().size() == 1;
        })
        .Case([](tensor::ExtractSliceOp slice) {
          return isKnown(slice.getMixedOffsets()) &&
                 isKnown(slice.getMixedSizes()) &&
                 isKnown(slice.getMixedStrides());
        })
        .Case([](tensor::InsertSliceOp slice) {
          return isKnown(slice.getMixedOffsets()) &&
                 isKnown(slice.getMixedSizes()) &&
                 isKnown(slice.getMixedStrides());
        })
        .Default([](Operation *other) {
          if (isa<linalg::LinalgOp>(other))
            return other->getNumRegions() == 1 && computesElements(other);
          return other->getNumRegions() == 0 &&
                 (other->hasTrait<OpTrait::Elementwise>() ||
                  other->hasTrait<OpTrait::ConstantLike>());
        });
  });
}

namespace {

class RowsOfRegion {
public:
  RowsOfRegion(OpBuilder &builder, Location loc, int64_t count)
      : b(builder), loc(loc), count(count) {}

  void bind(Value argument, Value rows, bool shared) {
    if (shared)
      one.map(argument, rows);
    else
      many[argument] = rows;
  }
  void visit(Operation &op);
  /// A value with its dimension of rows.
  Value rowsOf(Value value);

private:
  RankedTensorType typeForRows(Type type) const {
    SmallVector<int64_t> shape{count};
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      llvm::append_range(shape, tensor.getShape());
    return RankedTensorType::get(shape, getElementTypeOrSelf(type));
  }
  Value emptyFor(Type type) {
    RankedTensorType wanted = typeForRows(type);
    return tensor::EmptyOp::create(b, loc, wanted.getShape(),
                                   wanted.getElementType());
  }
  bool dependsOnRow(Operation &op) const;
  /// One number a row, for every element of a row of `type`.
  Value spread(Value numbers, Type type);
  /// What a result starts from: only its shape counts, or it is filled.
  Value start(Value init);
  Values map(Operation &op);
  Values mapStructured(linalg::LinalgOp op);
  Values mapElementwise(Operation &op);
  Value mapExtract(tensor::ExtractOp op);
  static SmallVector<OpFoldResult> with(OpFoldResult first,
                                        ArrayRef<OpFoldResult> rest) {
    SmallVector<OpFoldResult> all{first};
    llvm::append_range(all, rest);
    return all;
  }
  /// A grouping of dimensions, with that of rows in front.
  SmallVector<ReassociationIndices>
  grouping(ArrayRef<ReassociationIndices> groups, int64_t dimensions);

  OpBuilder &b;
  Location loc;
  int64_t count;
  /// What is the same for all rows, and what is not.
  IRMapping one;
  llvm::DenseMap<Value, Value> many;
};

} // namespace

bool RowsOfRegion::dependsOnRow(Operation &op) const {
  bool depends = false;
  op.walk([&](Operation *inner) {
    depends |= llvm::any_of(inner->getOperands(),
                            [&](Value value) { return many.contains(value); });
  });
  return depends;
}

Value RowsOfRegion::rowsOf(Value value) {
  if (Value rows = many.lookup(value))
    return rows;
  Value shared = one.lookupOrDefault(value);
  if (!isa<RankedTensorType>(shared.getType()))
    return tensor::SplatOp::create(b, loc, typeForRows(shared.getType()),
                                   shared);
  return linalg::BroadcastOp::create(b, loc, shared, emptyFor(shared.getType()),
                                     ArrayRef<int64_t>{0})
      .getResult()[0];
}

Value RowsOfRegion::spread(Value numbers, Type type) {
  auto row = cast<RankedTensorType>(type);
  auto added = llvm::to_vector(llvm::seq<int64_t>(1, row.getRank() + 1));
  return linalg::BroadcastOp::create(
             b, loc, numbers,
             emptyFor(row.clone(getElementTypeOrSelf(numbers.getType()))),
             added)
      .getResult()[0];
}

Value RowsOfRegion::start(Value init) {
  if (many.contains(init))
    return rowsOf(init);
  if (init.getDefiningOp<tensor::EmptyOp>())
    return emptyFor(init.getType());
  if (auto fill = init.getDefiningOp<linalg::FillOp>())
    return linalg::FillOp::create(b, loc,
                                  one.lookupOrDefault(fill.getInputs()[0]),
                                  emptyFor(init.getType()))
        .getResult(0);
  return rowsOf(init);
}

Values RowsOfRegion::mapStructured(linalg::LinalgOp op) {
  unsigned loops = op.getNumLoops() + 1;
  SmallVector<AffineMap> maps;
  Values inputs, outputs;
  SmallVector<Type> types;
  auto shifted = [&](AffineMap map, bool hasRows) {
    SmallVector<AffineExpr> exprs;
    if (hasRows)
      exprs.push_back(b.getAffineDimExpr(0));
    for (AffineExpr expr : map.getResults())
      exprs.push_back(expr.shiftDims(op.getNumLoops(), 1));
    return AffineMap::get(loops, 0, exprs, b.getContext());
  };
  for (OpOperand *input : op.getDpsInputOperands()) {
    Value rows = many.lookup(input->get());
    inputs.push_back(rows ? rows : one.lookupOrDefault(input->get()));
    maps.push_back(shifted(op.getMatchingIndexingMap(input), rows != nullptr));
  }
  // Scalars from outside that depend on the row are inputs now.
  Block *body = op.getBlock();
  llvm::SetVector<Value> captured;
  body->walk([&](Operation *inner) {
    for (Value value : inner->getOperands())
      if (many.contains(value))
        captured.insert(value);
  });
  for (Value value : captured) {
    inputs.push_back(many.lookup(value));
    maps.push_back(
        AffineMap::get(loops, 0, b.getAffineDimExpr(0), b.getContext()));
  }
  for (OpOperand &init : op.getDpsInitsMutable()) {
    outputs.push_back(start(init.get()));
    types.push_back(outputs.back().getType());
    maps.push_back(shifted(op.getMatchingIndexingMap(&init), true));
  }
  SmallVector<utils::IteratorType> iterators{utils::IteratorType::parallel};
  llvm::append_range(iterators, op.getIteratorTypesArray());
  auto generic = linalg::GenericOp::create(
      b, loc, types, inputs, outputs, maps, iterators,
      [&](OpBuilder &nested, Location, ValueRange elements) {
        IRMapping inside(one);
        unsigned given = op.getNumDpsInputs();
        for (auto [i, argument] : llvm::enumerate(body->getArguments()))
          inside.map(argument, elements[i < given ? i : i + captured.size()]);
        for (auto [i, value] : llvm::enumerate(captured))
          inside.map(value, elements[given + i]);
        for (Operation &inner : *body) {
          Operation *copy = nested.clone(inner, inside);
          if (auto index = dyn_cast<linalg::IndexOp>(copy))
            index.setDim(index.getDim() + 1);
        }
      });
  return generic.getResults();
}

Values RowsOfRegion::mapElementwise(Operation &op) {
  Type result = op.getResult(0).getType();
  Values operands;
  for (Value operand : op.getOperands()) {
    Value rows = rowsOf(operand);
    // A condition may be one number for a whole row.
    if (isa<RankedTensorType>(result) &&
        !isa<RankedTensorType>(operand.getType()))
      rows = spread(rows, result);
    operands.push_back(rows);
  }
  OperationState state(
      loc, op.getName(), operands,
      llvm::map_to_vector(op.getResultTypes(),
                          [&](Type type) -> Type { return typeForRows(type); }),
      op.getAttrs());
  return b.create(state)->getResults();
}

Value RowsOfRegion::mapExtract(tensor::ExtractOp op) {
  Value rows = many.lookup(op.getTensor());
  RankedTensorType type = cast<RankedTensorType>(op.getTensor().getType());
  if (type.getRank() == 0)
    return rows;
  SmallVector<OpFoldResult> offsets{b.getIndexAttr(0)},
      sizes{b.getIndexAttr(count)};
  for (Value index : op.getIndices()) {
    offsets.push_back(b.getIndexAttr(*getConstantIntValue(index)));
    sizes.push_back(b.getIndexAttr(1));
  }
  SmallVector<OpFoldResult> strides(offsets.size(), b.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(b, loc, typeForRows(op.getType()), rows,
                                        offsets, sizes, strides);
}

SmallVector<ReassociationIndices>
RowsOfRegion::grouping(ArrayRef<ReassociationIndices> groups,
                       int64_t dimensions) {
  SmallVector<ReassociationIndices> all{{0}};
  for (const ReassociationIndices &group : groups)
    all.push_back(
        llvm::map_to_vector<2>(group, [](int64_t d) { return d + 1; }));
  // One element, in or out of dimensions of extent 1.
  if (groups.empty())
    llvm::append_range(all[0], llvm::seq<int64_t>(1, dimensions + 1));
  return all;
}

Values RowsOfRegion::map(Operation &op) {
  OpFoldResult zero = b.getIndexAttr(0), unit = b.getIndexAttr(1),
               all = b.getIndexAttr(count);
  return llvm::TypeSwitch<Operation *, Values>(&op)
      .Case([&](tensor::SplatOp splat) -> Values {
        return {spread(rowsOf(splat.getInput()), splat.getType())};
      })
      .Case([&](tensor::ExtractOp extract) -> Values {
        return {mapExtract(extract)};
      })
      .Case([&](tensor::FromElementsOp from) -> Values {
        Value rows = rowsOf(from.getElements()[0]);
        if (from.getType().getRank() == 0)
          return {rows};
        return {tensor::ExpandShapeOp::create(
            b, loc, typeForRows(from.getType()), rows,
            grouping({}, from.getType().getRank()))};
      })
      .Case([&](tensor::ExpandShapeOp expand) -> Values {
        return {tensor::ExpandShapeOp::create(
            b, loc, typeForRows(expand.getType()), rowsOf(expand.getSrc()),
            grouping(expand.getReassociationIndices(),
                     expand.getResultType().getRank()))};
      })
      .Case([&](tensor::CollapseShapeOp collapse) -> Values {
        return {tensor::CollapseShapeOp::create(
            b, loc, typeForRows(collapse.getType()), rowsOf(collapse.getSrc()),
            grouping(collapse.getReassociationIndices(),
                     collapse.getSrcType().getRank()))};
      })
      .Case([&](tensor::ExtractSliceOp slice) -> Values {
        return {tensor::ExtractSliceOp::create(
            b, loc, typeForRows(slice.getType()), rowsOf(slice.getSource()),
            with(zero, slice.getMixedOffsets()),
            with(all, slice.getMixedSizes()),
            with(unit, slice.getMixedStrides()))};
      })
      .Case([&](tensor::InsertSliceOp slice) -> Values {
        return {tensor::InsertSliceOp::create(
            b, loc, rowsOf(slice.getSource()), rowsOf(slice.getDest()),
            with(zero, slice.getMixedOffsets()),
            with(all, slice.getMixedSizes()),
            with(unit, slice.getMixedStrides()))};
      })
      .Default([&](Operation *other) {
        if (auto structured = dyn_cast<linalg::LinalgOp>(other))
          return mapStructured(structured);
        assert(other->hasTrait<OpTrait::Elementwise>() &&
               "hasFormForRows knows of no other ops");
        return mapElementwise(*other);
      });
}

void RowsOfRegion::visit(Operation &op) {
  if (!dependsOnRow(op)) {
    b.clone(op, one);
    return;
  }
  for (auto [result, rows] : llvm::zip_equal(op.getResults(), map(op)))
    many[result] = rows;
}

Values executeForRows(OpBuilder &builder, Location loc, Block &body,
                      ValueRange rows, ArrayRef<bool> isShared, int64_t count) {
  RowsOfRegion region(builder, loc, count);
  for (auto [argument, row, shared] :
       llvm::zip_equal(body.getArguments(), rows, isShared))
    region.bind(argument, row, shared);
  for (Operation &op : body.without_terminator())
    region.visit(op);
  return llvm::map_to_vector(body.getTerminator()->getOperands(),
                             [&](Value value) { return region.rowsOf(value); });
}

} // namespace drawloom::block
