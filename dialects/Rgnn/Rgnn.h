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

/// The type of graphs. A graph is never stored: it is its index arrays.
class GraphType
    : public mlir::Type::TypeBase<GraphType, mlir::Type, mlir::TypeStorage> {
public:
  using Base::Base;
  static constexpr llvm::StringLiteral name = "rgnn.graph";
};

/// Which end of its edges an order of them goes by.
enum class Direction { Incoming, Outgoing };

/// The arrays of one order of a graph's edges, see rgnn.graph.
struct Order {
  mlir::Value nodePairs, pairRelation, pairEdges, far, farPair;
  mlir::Value blockTiles, tileRelation, tilePair, tileNode;
  /// Of outgoing edges; null where edges are numbered by their place.
  mlir::Value edge;
  static constexpr unsigned incomingArrays = 9, outgoingArrays = 10;
};

/// The space of the nodes, and of their pairs, that own the edges.
Space nodesOf(Direction direction);
Space pairsOf(Direction direction);
/// Whether a space is one of the nodes or pairs of a direction.
bool isAt(Space space, Direction direction);
/// The direction of a space of nodes or pairs.
Direction directionOf(Space space);

inline mlir::RankedTensorType typeOf(mlir::Value tensor) {
  return mlir::cast<mlir::RankedTensorType>(tensor.getType());
}
/// The type of one row of a tensor in a space: scalars have their element type.
mlir::Type rowType(mlir::RankedTensorType tensor, Space space);

} // namespace drawloom::rgnn

#define GET_OP_CLASSES
#include "dialects/Rgnn/RgnnOps.h.inc"

namespace drawloom::rgnn {
/// The op that makes a graph: the verifiers see to it that there is one.
GraphOp graphOf(mlir::Value graph);
/// The arrays of one order; that of outgoing edges has to be there.
Order orderOf(GraphOp graph, Direction direction);

/// The direction in which an op goes through tiles of pairs: of rgnn.linear,
/// rgnn.outer, and of an rgnn.traverse that gives to pairs, or from pairs to
/// nodes. None of others.
std::optional<Direction> tileDirection(mlir::Operation *op);
/// Whether an op that goes through tiles reads an operand as rows of its own
/// pairs: what another op of the sweep has in a tile.
bool readsOwnPairs(mlir::OpOperand &operand);
/// Whether a result of such an op is in a tile: rows of pairs.
bool isInTile(mlir::OpResult result);
/// Whether what `op` reads of the results of other ops of a sweep, those that
/// `isInside` says, is in a tile.
bool readsTilesOnly(mlir::Operation *op,
                    llvm::function_ref<bool(mlir::Operation *)> isInside);
} // namespace drawloom::rgnn

#endif // DRAWLOOM_DIALECTS_RGNN_RGNN_H
