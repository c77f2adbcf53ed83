//===- Rgnn.h - the rgnn dialect --------------------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DIALECTS_RGNN_RGNN_H
#define DRAWLOOM_DIALECTS_RGNN_RGNN_H

#include "dialects/Interfaces/Interfaces.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Rgnn/RgnnEnums.h.inc"

#include "dialects/Rgnn/RgnnDialect.h.inc"

namespace drawloom::rgnn {
// The interfaces of linalg are written for namespaces inside mlir.
using ::mlir::FailureOr;
using ::mlir::OpBuilder;
using ::mlir::SmallVector;
using ::mlir::Value;

/// The type of graphs. A graph is never stored: it consists of its index
/// arrays.
class GraphType
    : public mlir::Type::TypeBase<GraphType, mlir::Type, mlir::TypeStorage> {
public:
  using Base::Base;
  static constexpr llvm::StringLiteral name = "rgnn.graph";
};

/// The end of the edges by which they are ordered.
enum class Direction { Incoming, Outgoing };

/// The arrays of one order of a graph's edges; see rgnn.graph.
struct Order {
  mlir::Value nodePairs, pairRelation, pairEdges, far, farPair;
  mlir::Value blockTiles, tileRelation, tilePair, tileNode;
  /// For outgoing edges; null if edges are numbered by their position.
  mlir::Value edge;
  static constexpr unsigned incomingArrays = 9, outgoingArrays = 10;
};

/// nodesOf() returns the space of the nodes that own the edges; pairsOf()
/// returns the space of their pairs.
Space nodesOf(Direction direction);
Space pairsOf(Direction direction);
/// Returns whether a space is that of the nodes or the pairs of a direction.
bool isAt(Space space, Direction direction);
/// Returns the direction of a space of nodes or pairs.
Direction directionOf(Space space);

inline mlir::RankedTensorType typeOf(mlir::Value tensor) {
  return mlir::cast<mlir::RankedTensorType>(tensor.getType());
}
/// Returns the type of one row of a tensor in a space; a scalar row has the
/// element type.
mlir::Type rowType(mlir::RankedTensorType tensor, Space space);

} // namespace drawloom::rgnn

#define GET_OP_CLASSES
#include "dialects/Rgnn/RgnnOps.h.inc"

namespace drawloom::rgnn {
/// Returns the op that makes a graph; the verifiers ensure that there is one.
GraphOp graphOf(mlir::Value graph);
/// Returns the arrays of one order; that of outgoing edges must exist.
Order orderOf(GraphOp graph, Direction direction);

/// Returns the direction in which an op processes tiles of pairs: for
/// rgnn.linear, rgnn.outer, and for an rgnn.traverse that has results at pairs,
/// or that is over pairs and has results at nodes. Returns nothing for other
/// ops.
std::optional<Direction> tileDirection(mlir::Operation *op);
/// Returns whether an op that processes tiles reads an operand as rows of its
/// own pairs, which another op of the sweep may hold in a tile.
bool readsOwnPairs(mlir::OpOperand &operand);
/// Returns whether a result of an op that processes tiles is in a tile: rows of
/// pairs.
bool isInTile(mlir::OpResult result);
/// Returns whether all results of other ops of a sweep (selected by `isInside`)
/// that `op` reads are in a tile.
bool readsTilesOnly(mlir::Operation *op,
                    llvm::function_ref<bool(mlir::Operation *)> isInside);
} // namespace drawloom::rgnn

#endif // DRAWLOOM_DIALECTS_RGNN_RGNN_H
