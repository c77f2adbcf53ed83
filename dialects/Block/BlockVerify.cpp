//===- BlockVerify.cpp - the constraints of the block ops -----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Block/Block.h"

using namespace mlir;

namespace drawloom::block {

static bool compatible(int64_t a, int64_t b) {
  return ShapedType::isDynamic(a) || ShapedType::isDynamic(b) || a == b;
}

static std::string shapeText(RankedTensorType type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << type;
  return text;
}

/// The numbered constraints that gather and scatter share: `tile` holds one row
/// of `table` for each index.
static LogicalResult verifyRows(Operation *op, RankedTensorType table,
                                StringRef tableName, RankedTensorType indices,
                                RankedTensorType tile, StringRef tileName) {
  if (table.getRank() == 0)
    return op->emitOpError()
           << "needs a first dimension in " << tableName << " to index";
  if (tile.getRank() == 0 ||
      !compatible(tile.getDimSize(0), indices.getDimSize(0)))
    return op->emitOpError()
           << "needs one row in " << tileName
           << " for each index: " << shapeText(tile) << " does not have the "
           << shapeText(indices) << " rows";
  bool sameRow =
      tile.getRank() == table.getRank() &&
      tile.getElementType() == table.getElementType() &&
      llvm::all_of(llvm::zip_equal(tile.getShape().drop_front(),
                                   table.getShape().drop_front()),
                   [](auto dims) {
                     return compatible(std::get<0>(dims), std::get<1>(dims));
                   });
  if (!sameRow)
    return op->emitOpError()
           << "needs rows of the same shape and element type in " << tileName
           << " and " << tableName << ", got " << shapeText(tile) << " and "
           << shapeText(table);
  return success();
}

LogicalResult GatherOp::verify() {
  return verifyRows(*this, cast<RankedTensorType>(getSource().getType()),
                    "source", cast<RankedTensorType>(getIndices().getType()),
                    cast<RankedTensorType>(getInit().getType()), "init");
}

LogicalResult ScatterOp::verify() {
  auto dest = cast<RankedTensorType>(getDest().getType());
  if (failed(verifyRows(*this, dest, "dest",
                        cast<RankedTensorType>(getIndices().getType()),
                        cast<RankedTensorType>(getRows().getType()), "rows")))
    return failure();
  if (getAccumulate() && !isa<FloatType>(dest.getElementType()))
    return emitOpError() << "needs float elements to accumulate, got "
                         << dest.getElementType();
  return success();
}

LogicalResult ScanOp::verify() {
  auto input = cast<RankedTensorType>(getInput().getType());
  auto init = cast<RankedTensorType>(getInit().getType());
  int64_t dimension = getDimension();
  if (dimension < 0 || dimension >= input.getRank())
    return emitOpError() << "scans along dimension " << dimension
                         << ", but the input has rank " << input.getRank();
  if (failed(verifyCompatibleShape(input, init)))
    return emitOpError() << "needs the same shape in input and init, got "
                         << shapeText(input) << " and " << shapeText(init);
  Type from = input.getElementType(), to = init.getElementType();
  bool wider = isa<FloatType>(from) && isa<FloatType>(to) &&
               from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth();
  if (from != to && !wider)
    return emitOpError() << "needs the element type of the input, or a wider "
                            "float type, in init, got "
                         << from << " and " << to;
  return success();
}

LogicalResult SolveTriangularOp::verify() {
  auto matrix = cast<RankedTensorType>(getMatrix().getType());
  auto rhs = cast<RankedTensorType>(getRhs().getType());
  if (matrix.getRank() != 2 ||
      !compatible(matrix.getDimSize(0), matrix.getDimSize(1)))
    return emitOpError() << "needs a square matrix, got " << shapeText(matrix);
  if (rhs.getRank() != 2 ||
      !compatible(rhs.getDimSize(0), matrix.getDimSize(0)))
    return emitOpError() << "needs right-hand sides of rank 2 with one row for "
                            "each row of the matrix, got "
                         << shapeText(rhs) << " for " << shapeText(matrix);
  if (rhs.getElementType() != matrix.getElementType())
    return emitOpError() << "needs one element type, got "
                         << matrix.getElementType() << " in the matrix and "
                         << rhs.getElementType() << " in the right-hand sides";
  return success();
}

} // namespace drawloom::block
