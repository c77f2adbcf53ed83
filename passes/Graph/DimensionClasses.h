//===- DimensionClasses.h - which dimensions are one -----------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_PASSES_GRAPH_DIMENSIONCLASSES_H
#define DRAWLOOM_PASSES_GRAPH_DIMENSIONCLASSES_H

#include "dialects/Drawloom/Attributes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>
#include <utility>

namespace drawloom {

inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return mlir::dyn_cast<mlir::RankedTensorType>(value.getType());
}

/// The tensor that has the rows as one dimension, of a reshape with
/// joinedRowsAttr, and which of its dimensions that is; null for other ops.
std::pair<mlir::Value, unsigned> joinedSide(mlir::Operation *op);
/// The tensor that has them as two, and the first of these.
std::pair<mlir::Value, unsigned> partedSide(mlir::Operation *op);

/// Whether a value holds no data of its own: an empty, a fill or a splat
/// constant. CSE shares these between unrelated uses, so they never relate
/// dimensions, and each user makes its own.
bool isInit(mlir::Value value);

/// Whether an op only moves or maps whole rows, so that a clone of it with
/// another number of rows does the same for a tile.
bool isStructural(mlir::Operation *op);

/// Whether an op with rows of its own can be tiled along them.
bool isRowwise(mlir::Operation *op);

/// Partitions the dimensions of all tensors and loops of a block into classes
/// of dimensions that are one and the same: a batch of samples, the columns of
/// one layer, ... Union-find over (value, dimension) and (op, loop); each op
/// says which of its dimensions coincide, so that the relation runs through a
/// forward pass and its backward pass alike.
class DimensionClasses {
public:
  using Class = unsigned;

  explicit DimensionClasses(mlir::Block &block);

  Class of(mlir::Value value, unsigned dim);
  Class ofLoop(mlir::Operation *op, unsigned loop);
  void unite(Class a, Class b);
  Class find(Class node);
  /// What is to be erased: what is made in its memory has other dimensions.
  void forget(mlir::Operation *op);

  /// A dimension that is always larger than another one by a constant.
  struct Larger {
    Class larger, than;
    int64_t by;
  };
  llvm::ArrayRef<Larger> larger() const { return differences; }

private:
  void same(mlir::Value a, unsigned i, mlir::Value b, unsigned j);
  void relate(mlir::Operation *op);
  void relateLoops(mlir::linalg::LinalgOp op);
  void relatePairs(mlir::Operation *op, mlir::DenseI64ArrayAttr pairs);
  void relateAsserted(mlir::cf::AssertOp assertion);
  void relateResults(mlir::scf::ForallOp forall);
  void relateGiven(mlir::scf::ForallOp forall);
  void relateRows(mlir::Operation *op);
  void relateShapes(mlir::Operation *op);
  bool isAll(mlir::OpFoldResult offset, mlir::OpFoldResult size,
             mlir::Value tensor, unsigned dim);
  Class node(void *key, unsigned index);
  /// Whether it is of an extent that is open in the program and known here.
  bool isGiven(Class id);

  /// What an index value is: a dimension of a tensor, and a constant more.
  struct Asked {
    mlir::Value tensor;
    unsigned dim;
    int64_t more;
  };
  static std::optional<Asked> askedBy(mlir::Value extent);
  void relateAsked(Class id, const Asked &asked);
  void relateDifferences();

  llvm::SmallVector<Larger> differences;
  llvm::SmallVector<Class> given;
  /// What joinedRowsAttr names.
  std::optional<Class> joinedRows;
  llvm::DenseMap<std::pair<void *, unsigned>, unsigned> ids;
  llvm::SmallVector<unsigned> parent;
};

} // namespace drawloom

#endif // DRAWLOOM_PASSES_GRAPH_DIMENSIONCLASSES_H
