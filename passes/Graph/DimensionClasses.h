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

/// For a reshape with joinedRowsAttr, returns the tensor that has the rows as
/// one dimension, and that dimension; null for other ops.
std::pair<mlir::Value, unsigned> joinedSide(mlir::Operation *op);
/// For a reshape with joinedRowsAttr, returns the tensor that has the rows as
/// two dimensions, and the first of these.
std::pair<mlir::Value, unsigned> partedSide(mlir::Operation *op);

/// Returns whether a value holds no data of its own: an empty, a fill or a
/// splat constant. CSE shares these between unrelated uses, so they never
/// relate dimensions, and each user makes its own.
bool isInit(mlir::Value value);

/// Returns whether an op only moves or maps whole rows, so that a clone of it
/// with another number of rows does the same for a tile.
bool isStructural(mlir::Operation *op);

/// Returns whether an op with rows of its own can be tiled along them.
bool isRowwise(mlir::Operation *op);

/// Partitions the dimensions of all tensors and loops of a block into classes
/// of equal dimensions: a batch of samples, the columns of one layer, ... A
/// union-find over (value, dimension) and (op, loop); each op states which of
/// its dimensions coincide, so that the relation extends through a forward pass
/// and its backward pass alike.
class DimensionClasses {
public:
  using Class = unsigned;

  explicit DimensionClasses(mlir::Block &block);

  Class of(mlir::Value value, unsigned dim);
  Class ofLoop(mlir::Operation *op, unsigned loop);
  void unite(Class a, Class b);
  Class find(Class node);
  /// To be called before an op is erased: ops created later at the same address
  /// have other dimensions.
  void forget(mlir::Operation *op);

  /// A dimension that always exceeds another one by a constant.
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
  /// Returns whether a class has an extent that is open in the program and
  /// known here.
  bool isGiven(Class id);

  /// The decomposition of an index value: a dimension of a tensor, plus a
  /// constant.
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
  /// The class that joinedRowsAttr refers to.
  std::optional<Class> joinedRows;
  llvm::DenseMap<std::pair<void *, unsigned>, unsigned> ids;
  llvm::SmallVector<unsigned> parent;
};

} // namespace drawloom

#endif // DRAWLOOM_PASSES_GRAPH_DIMENSIONCLASSES_H
