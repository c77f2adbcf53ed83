//===- RgnnVerify.cpp - what the rgnn ops ask for -------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Rgnn/Rgnn.h"

using namespace mlir;

namespace drawloom::rgnn {

static constexpr int64_t open = ShapedType::kDynamic;

/// Whether two extents can be equal.
static bool agree(int64_t a, int64_t b) {
  return a == open || b == open || a == b;
}

/// `extent` less a constant, where it is known.
static int64_t less(int64_t extent, int64_t constant) {
  return extent == open ? open : extent - constant;
}

//===----------------------------------------------------------------------===//
// rgnn.graph
//===----------------------------------------------------------------------===//

static LogicalResult verifyOrder(GraphOp op, StringRef name,
                                 OperandRange arrays) {
  static constexpr StringLiteral names[] = {
      "node_pairs",  "pair_relation", "pair_edges", "far",       "far_pair",
      "block_tiles", "tile_relation", "tile_pair",  "tile_node", "edge"};
  for (auto [i, array] : llvm::enumerate(arrays)) {
    int64_t rank = i == 7 || i == 8 ? 2 : 1;
    if (typeOf(array).getRank() != rank)
      return op.emitOpError("'")
             << name << "' has " << names[i] << " of type " << array.getType()
             << ", which should have " << rank
             << (rank == 1 ? " dimension" : " dimensions");
  }
  auto extent = [&](unsigned i) { return typeOf(arrays[i]).getDimSize(0); };
  auto check = [&](unsigned i, int64_t wanted, StringRef of) -> LogicalResult {
    if (agree(extent(i), wanted))
      return success();
    return op.emitOpError("'")
           << name << "' has " << extent(i) << " entries of " << names[i]
           << " for " << wanted << " " << of;
  };
  if (extent(0) == 0 || extent(2) == 0 || extent(5) == 0)
    return op.emitOpError("'")
           << name << "' has node_pairs, pair_edges or block_tiles without "
           << "an entry; they have one more than there are parts";
  if (failed(check(2, extent(1) == open ? open : extent(1) + 1,
                   "bounds of pairs")) ||
      failed(check(4, extent(3), "edges")) ||
      failed(check(7, extent(6), "tiles")) ||
      failed(check(8, extent(6), "tiles")) ||
      (arrays.size() > 9 && failed(check(9, extent(3), "edges"))))
    return failure();
  int64_t rows = typeOf(arrays[7]).getDimSize(1);
  if (rows < 1 || typeOf(arrays[8]).getDimSize(1) != rows)
    return op.emitOpError("'")
           << name << "' has tiles of " << arrays[7].getType() << " and "
           << arrays[8].getType() << "; their second extent is one number";
  int64_t nodes = less(extent(0), 1);
  if (nodes != open &&
      failed(check(5, llvm::divideCeil(nodes, op.getRowsPerBlock()) + 1,
                   "bounds of blocks")))
    return failure();
  return success();
}

LogicalResult GraphOp::verify() {
  if (getRelations() < 1 || getRowsPerBlock() < 1)
    return emitOpError("has ")
           << getRelations() << " relations and " << getRowsPerBlock()
           << " rows per block; both are at least 1";
  if (std::optional<ArrayRef<int64_t>> expected = getEdgesPerPair();
      expected && (expected->size() != 2 ||
                   llvm::any_of(*expected, [](int64_t n) { return n < 1; })))
    return emitOpError("has edges_per_pair [")
           << *expected
           << "]; it is two numbers of at least 1, for targets and "
           << "for sources";
  if (getIncoming().size() != Order::incomingArrays)
    return emitOpError("has ")
           << getIncoming().size() << " arrays of incoming edges, not "
           << Order::incomingArrays;
  if (!getOutgoing().empty() && getOutgoing().size() != Order::outgoingArrays)
    return emitOpError("has ")
           << getOutgoing().size() << " arrays of outgoing edges, not "
           << Order::outgoingArrays << " or none";
  if (failed(verifyOrder(*this, "incoming", getIncoming())))
    return failure();
  if (getOutgoing().empty())
    return success();
  if (failed(verifyOrder(*this, "outgoing", getOutgoing())))
    return failure();
  int64_t in = typeOf(getIncoming()[3]).getDimSize(0);
  int64_t out = typeOf(getOutgoing()[3]).getDimSize(0);
  if (!agree(in, out))
    return emitOpError("has ")
           << in << " incoming and " << out << " outgoing edges";
  return success();
}

//===----------------------------------------------------------------------===//
// What the ops on a graph have in common.
//===----------------------------------------------------------------------===//

/// How many rows a space has, where that is known.
static int64_t rowsOf(GraphOp graph, Space space) {
  auto extent = [&](Direction direction, unsigned array) {
    bool incoming = direction == Direction::Incoming;
    OperandRange arrays = incoming ? graph.getIncoming() : graph.getOutgoing();
    return arrays.empty() ? open : typeOf(arrays[array]).getDimSize(0);
  };
  switch (space) {
  case Space::Src:
    return less(extent(Direction::Outgoing, 0), 1);
  case Space::Dst:
    return less(extent(Direction::Incoming, 0), 1);
  case Space::SrcRel:
    return extent(Direction::Outgoing, 1);
  case Space::DstRel:
    return extent(Direction::Incoming, 1);
  case Space::Edge:
    return extent(Direction::Incoming, 3);
  case Space::Rel:
    return graph.getRelations();
  case Space::All:
    return open;
  }
  llvm_unreachable("there are seven spaces");
}

static LogicalResult verifyGraph(Operation *op, Value graph) {
  if (graphOf(graph))
    return success();
  return op->emitOpError(
      "has a graph that is not made by rgnn.graph in the same region; a graph "
      "is "
      "no argument and is not carried through loops: pass its arrays");
}

/// Checks that a tensor has one row for each element of a space.
static LogicalResult verifyRows(Operation *op, GraphOp graph, Value tensor,
                                Space space, const Twine &what) {
  if (space == Space::All)
    return success();
  auto type = typeOf(tensor);
  if (type.getRank() == 0)
    return op->emitOpError("has ")
           << what << " at " << stringifySpace(space) << " without rows";
  int64_t rows = rowsOf(graph, space);
  if (agree(type.getDimSize(0), rows))
    return success();
  return op->emitOpError("has ")
         << what << " with " << type.getDimSize(0) << " rows at "
         << stringifySpace(space) << ", where the graph has " << rows;
}

static LogicalResult verifyOutgoing(Operation *op, GraphOp graph,
                                    Direction direction) {
  if (direction == Direction::Incoming || !graph.getOutgoing().empty())
    return success();
  return op->emitOpError(
      "goes by outgoing edges, of which rgnn.graph has no order; give it "
      "'outgoing'");
}

//===----------------------------------------------------------------------===//
// rgnn.traverse
//===----------------------------------------------------------------------===//

static LogicalResult verifySpace(TraverseOp op, Space space,
                                 const Twine &what) {
  if (op.getOver() == Space::Edge || space == Space::Rel ||
      space == Space::All || isAt(space, directionOf(op.getOver())))
    return success();
  return op.emitOpError("is over ")
         << stringifySpace(op.getOver()) << " and has " << what << " at "
         << stringifySpace(space) << ", which only an edge meets";
}

LogicalResult TraverseOp::verify() {
  Space over = getOver();
  if (over != Space::Edge && over != Space::SrcRel && over != Space::DstRel)
    return emitOpError("is over ")
           << stringifySpace(over) << "; it is over edge, src_rel or dst_rel";
  if (failed(verifyGraph(*this, getGraph())))
    return failure();
  if (getAt().size() != getInputs().size() ||
      getTo().size() != getNumResults() || getBy().size() != getNumResults())
    return emitOpError(
        "has not one space for each input, and one space and one "
        "combiner for each result");
  auto known = [](ArrayRef<int32_t> numbers, auto symbolize) {
    return llvm::all_of(numbers, [&](int32_t number) {
      return symbolize(static_cast<uint32_t>(number)).has_value();
    });
  };
  auto isSpace = [](uint32_t number) { return symbolizeSpace(number); };
  auto isCombiner = [](uint32_t number) { return symbolizeCombiner(number); };
  if (!known(getAt(), isSpace) || !known(getTo(), isSpace) ||
      !known(getBy(), isCombiner))
    return emitOpError("has a number that is no space, or no combiner");
  GraphOp graph = graphOf(getGraph());
  if (over == Space::SrcRel &&
      failed(verifyOutgoing(*this, graph, Direction::Outgoing)))
    return failure();
  for (auto [i, input] : llvm::enumerate(getInputs()))
    if (failed(verifySpace(*this, inputSpace(i), "input " + Twine(i))) ||
        failed(verifyRows(*this, graph, input, inputSpace(i),
                          "input " + Twine(i))))
      return failure();
  for (auto [i, result] : llvm::enumerate(getResults())) {
    Space space = resultSpace(i);
    if (failed(verifySpace(*this, space, "result " + Twine(i))) ||
        failed(verifyRows(*this, graph, result, space, "result " + Twine(i))) ||
        failed(verifyOutgoing(*this, graph, directionOf(space))))
      return failure();
    if (!isa<FloatType>(typeOf(result).getElementType()))
      return emitOpError("has result ") << i << " of type " << result.getType()
                                        << ", which is not one of floats";
    if (space == Space::Rel && typeOf(result).isDynamicDim(0))
      return emitOpError("has result ") << i << " of type " << result.getType()
                                        << "; the number of relations is known";
    if ((combiner(i) == rgnn::Combiner::None) != (space == over))
      return emitOpError("is over ")
             << stringifySpace(over) << " and combines result " << i << " at "
             << stringifySpace(space) << " by "
             << stringifyCombiner(combiner(i))
             << "; rows meet unless a result is at the space that the op is "
                "over";
    if ((space == Space::Rel || space == Space::All) &&
        combiner(i) != rgnn::Combiner::Sum)
      return emitOpError("has a maximum at ")
             << stringifySpace(space)
             << "; rows of nodes and pairs have maxima, those of relations "
                "and of everything sums";
  }
  return success();
}

LogicalResult TraverseOp::verifyRegions() {
  auto checkRow = [&](Type tensor, Space space, Type row,
                      const Twine &what) -> LogicalResult {
    Type wanted = rowType(cast<RankedTensorType>(tensor), space);
    auto shaped = dyn_cast<RankedTensorType>(wanted);
    if (shaped && !shaped.hasStaticShape())
      return emitOpError("has ")
             << what << " of type " << tensor << ", whose rows have no size";
    if (row == wanted)
      return success();
    return emitOpError("has ") << what << " with rows of type " << wanted
                               << ", for which the region has " << row;
  };
  Block &body = getBody().front();
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield)
    return emitOpError("has a region that does not end with rgnn.yield");
  if (body.getNumArguments() != getInputs().size() ||
      yield.getNumOperands() != getNumResults())
    return emitOpError("has ")
           << getInputs().size() << " inputs and " << getNumResults()
           << " results, but a region with " << body.getNumArguments()
           << " arguments that yields " << yield.getNumOperands() << " values";
  for (auto [i, input] : llvm::enumerate(getInputs()))
    if (failed(checkRow(input.getType(), inputSpace(i),
                        body.getArgument(i).getType(), "input " + Twine(i))))
      return failure();
  for (auto [i, result] : llvm::enumerate(getResults()))
    if (failed(checkRow(result.getType(), resultSpace(i),
                        yield.getOperand(i).getType(), "result " + Twine(i))))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// rgnn.linear and rgnn.outer
//===----------------------------------------------------------------------===//

/// Checks that `value` has the shape given, of which the first extent may be
/// open.
static LogicalResult verifyShape(Operation *op, Value value,
                                 ArrayRef<int64_t> wanted, StringRef what) {
  auto type = typeOf(value);
  bool same = type.getRank() == static_cast<int64_t>(wanted.size());
  for (int64_t d = 0; same && d < type.getRank(); ++d)
    same = d == 0 ? agree(type.getDimSize(0), wanted[0])
                  : type.getDimSize(d) == wanted[d] && wanted[d] != open;
  if (same)
    return success();
  InFlightDiagnostic error = op->emitOpError("has ")
                             << what << " of type " << type << ", not [";
  llvm::interleaveComma(wanted, error, [&](int64_t extent) {
    if (extent == open)
      error << "?";
    else
      error << extent;
  });
  return error << "]";
}

static LogicalResult verifyRank(Operation *op, Value value, int64_t plain,
                                StringRef what) {
  int64_t rank = typeOf(value).getRank();
  if (rank == plain || rank == plain + 1)
    return success();
  return op->emitOpError("has ")
         << what << " of type " << value.getType() << "; it has " << plain
         << " dimensions, or " << plain + 1 << " with heads";
}

static bool isNodesOrPairs(Space space) {
  return isAt(space, Direction::Incoming) || isAt(space, Direction::Outgoing);
}

LogicalResult LinearOp::verify() {
  if (failed(verifyGraph(*this, getGraph())))
    return failure();
  GraphOp graph = graphOf(getGraph());
  if (!isNodesOrPairs(getAt()))
    return emitOpError("is at ") << stringifySpace(getAt())
                                 << "; it is at src, src_rel, dst or dst_rel";
  Direction direction = directionOf(getAt());
  if (failed(verifyOutgoing(*this, graph, direction)) ||
      failed(verifyRank(*this, getX(), 2, "x")))
    return failure();
  SmallVector<int64_t> x(typeOf(getX()).getShape());
  RankedTensorType w = typeOf(getW());
  if (w.getRank() != typeOf(getX()).getRank() + 1)
    return emitOpError("has x of type ") << typeOf(getX()) << " and w of type "
                                         << w << "; w has one dimension more";
  SmallVector<int64_t> matrices(w.getShape());
  if (getTranspose())
    std::swap(matrices.back(), matrices[matrices.size() - 2]);
  int64_t outputs = matrices.pop_back_val();
  SmallVector<int64_t> y(x);
  matrices[0] = rowsOf(graph, getAt());
  y[0] = rowsOf(graph, pairsOf(direction));
  y.back() = outputs;
  if (failed(verifyShape(*this, getX(), matrices, "x")) ||
      failed(verifyShape(*this, getY(), y, "y")))
    return failure();
  if (!agree(w.getDimSize(0), graph.getRelations()) ||
      llvm::is_contained(w.getShape().drop_front(), open))
    return emitOpError("has w of type ")
           << w << " for " << graph.getRelations() << " relations";
  Type element = typeOf(getX()).getElementType();
  if (w.getElementType() != element ||
      typeOf(getY()).getElementType() != element)
    return emitOpError("has x, w and y of different element types");
  return success();
}

LogicalResult OuterOp::verify() {
  if (failed(verifyGraph(*this, getGraph())))
    return failure();
  GraphOp graph = graphOf(getGraph());
  if (!isNodesOrPairs(getAAt()) || !isNodesOrPairs(getBAt()) ||
      directionOf(getAAt()) != directionOf(getBAt()))
    return emitOpError("is at ")
           << stringifySpace(getAAt()) << " and " << stringifySpace(getBAt())
           << "; both are src or src_rel, or both dst or dst_rel";
  if (failed(verifyOutgoing(*this, graph, directionOf(getAAt()))) ||
      failed(verifyRank(*this, getA(), 2, "a")) ||
      failed(verifyRows(*this, graph, getA(), getAAt(), "a")) ||
      failed(verifyRows(*this, graph, getB(), getBAt(), "b")))
    return failure();
  SmallVector<int64_t> a(typeOf(getA()).getShape());
  ArrayRef<int64_t> b = typeOf(getB()).getShape();
  if (a.size() != b.size() ||
      ArrayRef(a).drop_front().drop_back() != b.drop_front().drop_back())
    return emitOpError("has a of type ")
           << getA().getType() << " and b of type " << getB().getType()
           << ", which differ in their heads";
  SmallVector<int64_t> w(a);
  w[0] = graph.getRelations();
  w.push_back(b.back());
  if (failed(verifyShape(*this, getW(), w, "w")))
    return failure();
  if (typeOf(getW()).isDynamicDim(0))
    return emitOpError("has w of type ")
           << getW().getType() << "; the number of relations is known";
  Type element = typeOf(getA()).getElementType();
  Type sum = typeOf(getW()).getElementType();
  if (typeOf(getB()).getElementType() != element ||
      (sum != element &&
       sum.getIntOrFloatBitWidth() <= element.getIntOrFloatBitWidth()))
    return emitOpError("has a, b and w of element types that do not fit: a and "
                       "b have one, w has it or a wider one");
  return success();
}

//===----------------------------------------------------------------------===//
// rgnn.sweep
//===----------------------------------------------------------------------===//

std::optional<Direction> tileDirection(Operation *op) {
  if (auto linear = dyn_cast<LinearOp>(op))
    return directionOf(linear.getAt());
  if (auto outer = dyn_cast<OuterOp>(op))
    return directionOf(outer.getAAt());
  auto traverse = dyn_cast<TraverseOp>(op);
  if (!traverse || traverse.getNumResults() == 0)
    return std::nullopt;
  Direction direction = directionOf(traverse.resultSpace(0));
  bool pairs = traverse.resultSpace(0) == pairsOf(direction);
  for (unsigned i = 0; i < traverse.getNumResults(); ++i) {
    Space space = traverse.resultSpace(i);
    bool sum = traverse.combiner(i) == rgnn::Combiner::Sum ||
               traverse.combiner(i) == rgnn::Combiner::None;
    if (!sum || space != (pairs ? pairsOf(direction) : nodesOf(direction)) ||
        (!pairs && traverse.getOver() != pairsOf(direction)))
      return std::nullopt;
  }
  return direction;
}

bool readsOwnPairs(OpOperand &operand) {
  Operation *op = operand.getOwner();
  std::optional<Direction> direction = tileDirection(op);
  if (!direction)
    return false;
  Space pairs = pairsOf(*direction);
  unsigned number = operand.getOperandNumber();
  if (auto linear = dyn_cast<LinearOp>(op))
    return number == 1 && linear.getAt() == pairs;
  if (auto outer = dyn_cast<OuterOp>(op))
    return (number == 1 ? outer.getAAt() : outer.getBAt()) == pairs;
  return number > 0 && cast<TraverseOp>(op).inputSpace(number - 1) == pairs;
}

bool isInTile(OpResult result) {
  if (isa<LinearOp>(result.getOwner()))
    return true;
  auto traverse = dyn_cast<TraverseOp>(result.getOwner());
  std::optional<Direction> direction = tileDirection(result.getOwner());
  return traverse && direction &&
         traverse.resultSpace(result.getResultNumber()) == pairsOf(*direction);
}

bool readsTilesOnly(Operation *op, function_ref<bool(Operation *)> isInside) {
  return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
    auto made = dyn_cast<OpResult>(operand.get());
    return !made || !isInside(made.getOwner()) ||
           (isInTile(made) && readsOwnPairs(operand));
  });
}

LogicalResult SweepOp::verifyRegions() {
  Block &body = getBody().front();
  if (!isa<YieldOp>(body.getTerminator()) ||
      TypeRange(body.getTerminator()->getOperandTypes()) != getResultTypes())
    return emitOpError("has a region that does not yield its results");
  std::optional<Direction> direction;
  Value graph;
  bool product = false;
  for (Operation &op : body.without_terminator()) {
    std::optional<Direction> own = tileDirection(&op);
    if (!own)
      return op.emitOpError("does not go through tiles of pairs, as the ops of "
                            "a sweep do");
    if ((direction && *own != *direction) ||
        (graph && op.getOperand(0) != graph))
      return op.emitOpError("goes in another direction, or through another "
                            "graph, than the sweep");
    direction = own;
    graph = op.getOperand(0);
    if (!readsTilesOnly(
            &op, [&](Operation *made) { return made->getBlock() == &body; }))
      return op.emitOpError("reads of another op of the sweep what is not in a "
                            "tile: rows of pairs, read as those of its own");
    product |= isa<LinearOp, OuterOp>(op);
  }
  if (!product)
    return emitOpError("has no product of tiles");
  for (Value value : body.getTerminator()->getOperands())
    if (value.getParentBlock() != &body)
      return emitOpError("yields what its ops do not make");
  for (Operation &op : body.without_terminator())
    if (auto traverse = dyn_cast<TraverseOp>(op))
      for (auto [i, result] : llvm::enumerate(traverse.getResults()))
        if (traverse.resultSpace(i) == nodesOf(*direction) &&
            !llvm::is_contained(body.getTerminator()->getOperands(), result))
          return emitOpError("does not yield a sum at nodes");
  return success();
}

} // namespace drawloom::rgnn
