//===- ShortConvParts.h - what short convolutions share ------- -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tokens of all sequences are consecutive rows, [rows, channels]. A tap j is a
// gather: its row t is row t - j, or, if that is in front of t's sequence, a
// row of the initial state. So rows need no knowledge of sequences apart from
// these gathers, and everything else is elementwise. The same formulas describe
// the op for tiles of rows and channels, which are the blocks of its own
// program, and for all rows at once, which `fuse-into-blocks` cuts into the
// blocks of its readers.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DIALECTS_LINREC_SHORTCONV_SHORTCONVPARTS_H
#define DRAWLOOM_DIALECTS_LINREC_SHORTCONV_SHORTCONVPARTS_H

#include "dialects/LinRec/Chunk/Recurrence.h"
#include "dialects/LinRec/Chunk/Tiles.h"
#include "dialects/LinRec/Shapes.h"
#include "drawloom/IndexMath.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace drawloom::linrec::shortconv {

using Values = Tiles::Values;

/// Max number of channel dimensions for which a part has separate loops.
constexpr int64_t mostChannelLoops = 6;

mlir::Value zerosOf(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type);

/// Collapses the first `leading` dimensions of `x`, which are not channels,
/// and, if `flat`, its channels.
mlir::Value joined(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                   int64_t leading, bool flat);
/// Reverses joined(), with the given sizes.
mlir::Value split(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                  llvm::ArrayRef<mlir::OpFoldResult> sizes, int64_t leading,
                  bool flat);

/// Common parts of both ops, with tokens and states as rows.
struct Conv {
  /// Channels are collapsed to one dimension if `flat`.
  template <typename Op>
  Conv(mlir::OpBuilder &b, Op op, bool flat)
      : loc(op.getLoc()), starts(op.getStarts()), flat(flat),
        silu(op.getActivation() == ConvActivation::Silu) {
    mlir::RankedTensorType type = Recurrence::type(op.getX());
    mlir::OpFoldResult batch = mlir::tensor::getMixedSize(b, loc, op.getX(), 0);
    IndexMath math(b, loc);
    sequences = starts ? math.sub(mlir::tensor::getMixedSize(b, loc, starts, 0),
                                  math.number(1))
                       : batch;
    tokens = mlir::tensor::getMixedSize(b, loc, op.getX(), 1);
    rows = math.mul(batch, tokens);
    sizes = mlir::tensor::getMixedSizes(b, loc, op.getX());
    width = Recurrence::type(op.getWeight()).getShape().back();
    wide = computeType(type.getElementType());
    x = joined(b, loc, op.getX(), 2, flat);
    channels.assign(Recurrence::type(x).getShape().drop_front().begin(),
                    Recurrence::type(x).getShape().end());
    llvm::SmallVector<int64_t> lastFirst = {type.getRank() - 2};
    for (int64_t i = 0; i < type.getRank() - 2; ++i)
      lastFirst.push_back(i);
    weight =
        joined(b, loc, transposed(b, loc, op.getWeight(), lastFirst), 1, flat);
    if (op.getBias())
      bias = joined(b, loc, op.getBias(), 0, flat);
    if (op.getInitial())
      initial = joined(b, loc, op.getInitial(), 2, flat);
  }

  mlir::OpFoldResult stateRows(mlir::OpBuilder &b) const {
    IndexMath math(b, loc);
    return math.mul(sequences, math.number(width - 1));
  }

  llvm::SmallVector<mlir::OpFoldResult>
  sizesOfStates(mlir::OpBuilder &b) const {
    llvm::SmallVector<mlir::OpFoldResult> all(sizes);
    all[0] = sequences, all[1] = b.getIndexAttr(width - 1);
    return all;
  }

  mlir::Location loc;
  mlir::Value x;       ///< [rows, channels]
  mlir::Value weight;  ///< [width, channels]
  mlir::Value bias;    ///< [channels], or null
  mlir::Value initial; ///< [sequences (width - 1), channels], or null
  mlir::Value starts;
  bool flat, silu;
  /// Open if chosen by a call.
  mlir::OpFoldResult sequences, tokens, rows;
  llvm::SmallVector<mlir::OpFoldResult> sizes; ///< Of the operand x.
  int64_t width;
  llvm::SmallVector<int64_t> channels;
  mlir::FloatType wide;
};

/// Checks what an op needs in addition to its verifier to become a block
/// program. If calls choose the numbers of sequences and tokens, the values in
/// `perToken` and in `states`, each possibly null, must have the same numbers
/// as the operand x.
template <typename Op>
mlir::LogicalResult checkExtents(mlir::OpBuilder &b, Op op,
                                 llvm::ArrayRef<mlir::Value> perToken,
                                 llvm::ArrayRef<mlir::Value> states) {
  mlir::Location loc = op.getLoc();
  mlir::Value of = op.getX(), starts = op.getStarts();
  mlir::RankedTensorType x = Recurrence::type(of);
  auto isKnown = [](mlir::Value value, int64_t from) {
    return llvm::none_of(Recurrence::type(value).getShape().drop_front(from),
                         mlir::ShapedType::isDynamic);
  };
  if (!isKnown(of, 2) || !isKnown(op.getWeight(), 0) ||
      (op.getBias() && !isKnown(op.getBias(), 0)) ||
      (starts && x.isDynamicDim(0)))
    return op.emitOpError()
           << "can be compiled for any numbers of sequences and tokens, but "
           << "not of channels or of batches of packed sequences; x is "
           << of.getType() << " and the weights are "
           << op.getWeight().getType();
  for (mlir::Value value : perToken)
    for (int64_t dim : {0, 1})
      if (failed(assertExtent(b, op, value, dim, x, [&] {
            return mlir::tensor::getMixedSize(b, loc, of, dim);
          })))
        return mlir::failure();
  for (mlir::Value value : states)
    if (value &&
        failed(assertExtent(
            b, op, value, 0, starts ? Recurrence::type(starts) : x, [&] {
              IndexMath math(b, loc);
              return starts ? math.sub(
                                  mlir::tensor::getMixedSize(b, loc, starts, 0),
                                  math.number(1))
                            : mlir::tensor::getMixedSize(b, loc, of, 0);
            })))
      return mlir::failure();
  return mlir::success();
}

/// For each row: its sequence, its token's number within the sequence, and how
/// many tokens follow it.
struct Places {
  mlir::Value sequence, position, left;
};

/// Returns the places of all rows if sequences are packed; null otherwise.
Places placesOfTokens(mlir::OpBuilder &b, const Conv &conv);

/// Returns memory for rows of flat channels, with a given number of rows per
/// sequence.
mlir::Value emptyRows(mlir::OpBuilder &b, const Conv &conv,
                      mlir::OpFoldResult sequences, mlir::OpFoldResult rows,
                      mlir::Type element);
inline mlir::Value emptyTokens(mlir::OpBuilder &b, const Conv &conv,
                               mlir::Type element) {
  return emptyRows(b, conv, conv.sizes[0], conv.tokens, element);
}
inline mlir::Value emptyStates(mlir::OpBuilder &b, const Conv &conv,
                               mlir::Type element) {
  return emptyRows(b, conv, conv.sequences, b.getIndexAttr(conv.width - 1),
                   element);
}

/// Rows and channels that are computed together: those of a block's tile, or
/// all.
struct Part {
  Tiles &t;
  int64_t count;                       ///< Number of rows.
  llvm::SmallVector<int64_t> channels; ///< Extents of the channels.
  /// The first row (null for all rows), and the first channel.
  mlir::Value at, channel;
  /// The numbers of the rows, negative for absent rows; null if no row is
  /// absent.
  mlir::Value numbers;

  bool isWhole() const { return !at; }

  /// Builds one number for each row.
  mlir::Value indices(
      llvm::ArrayRef<Indexed> inputs,
      llvm::function_ref<mlir::Value(ScalarBuilder &, mlir::ValueRange)> body);

  /// Returns the numbers of the rows, as a tensor.
  mlir::Value rowNumbers();

  /// Returns the part's entries of [all rows].
  mlir::Value entries(mlir::Value all);

  /// Returns all rows of [any, channels], with the part's channels.
  mlir::Value columns(mlir::Value all);

  /// Returns the rows with the given numbers, zeros where a number is negative.
  mlir::Value gathered(mlir::Value all, mlir::Value rows);

  /// Returns the part's own rows of [all rows, channels].
  mlir::Value own(mlir::Value all);

  /// Returns row j of [any, channels], or of [channels] itself.
  mlir::Value row(mlir::Value all, int64_t j);

  /// Returns a new tile for these rows and channels.
  mlir::Value
  map(llvm::ArrayRef<Indexed> inputs, mlir::Type element,
      llvm::function_ref<mlir::Value(ScalarBuilder &, mlir::ValueRange)> body);
};

// Row numbers.

mlir::Value constant(ScalarBuilder &s, int64_t value);
mlir::Value number(ScalarBuilder &s, mlir::OpFoldResult value);
mlir::Value plus(ScalarBuilder &s, mlir::Value x, int64_t value);
mlir::Value minus(ScalarBuilder &s, mlir::Value x, mlir::Value y);
mlir::Value plus(ScalarBuilder &s, mlir::Value x, mlir::Value y);
mlir::Value times(ScalarBuilder &s, mlir::Value x, int64_t value);
mlir::Value isAtLeast(ScalarBuilder &s, mlir::Value x, int64_t value);
mlir::Value isBelow(ScalarBuilder &s, mlir::Value x, mlir::Value y);
mlir::Value both(ScalarBuilder &s, mlir::Value x, mlir::Value y);
mlir::Value orNone(ScalarBuilder &s, mlir::Value condition, mlir::Value row);

/// Returns the places of the part's rows in their sequences.
Places placesIn(Part &part, const Conv &conv, const Places &packed,
                mlir::Value rows);

/// Operands of the formula of z: for each tap its rows of x, its rows of the
/// initial state or null, and its weights.
struct Taps {
  Values x, initial, weight;
};

Taps tapsOf(Part &part, const Conv &conv, const Places &places,
            mlir::Value rows);

/// The operands of a generic over rows and channels, and the mapping by which
/// its body finds them.
class Inputs {
public:
  explicit Inputs(const Part &part);

  /// Returns the number of the input, -1 for null.
  int tile(mlir::Value x) { return add(x, rows); }
  int row(mlir::Value x) { return add(x, channels); }

  llvm::SmallVector<Indexed> all;

private:
  int add(mlir::Value x, llvm::StringRef loops);
  llvm::StringRef rows, channels;
};

/// Computes z by the formula, starting at the oldest token.
struct Sum {
  Sum(Inputs &inputs, const Part &part, const Conv &conv, const Taps &taps);

  mlir::Value token(ScalarBuilder &s, mlir::ValueRange e, int64_t j) const;

  mlir::Value operator()(ScalarBuilder &s, mlir::ValueRange e) const;

  int64_t width;
  llvm::SmallVector<int> x, initial, weight;
  int bias = -1;
};

/// The results of blocks: a value for each row, [rows, channels], or one sum
/// for each block, [blocks, channels].
struct Made {
  mlir::Value empty;
  bool isSum;
};

/// Returns the number of sums that blocks make: one each; the max number of
/// blocks if the number of rows is open.
int64_t sumsOf(mlir::OpBuilder &b, const Conv &conv);

using PartBody = llvm::function_ref<Values(Part &, mlir::ValueRange sums)>;

/// Builds a block program over blocks of rows and of channels. `body` returns
/// tiles of rows, and updated sums, in the order of `results`. Of sums, only
/// those of existing blocks are returned.
Values overParts(mlir::OpBuilder &b, mlir::Location loc, mlir::FloatType wide,
                 mlir::OpFoldResult rows, int64_t channels,
                 llvm::ArrayRef<Made> results, PartBody body);

/// Adds up the results of blocks, [blocks, channels], in order.
mlir::Value sumOfBlocks(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);

/// For each of the part's rows of states: its position among its sequence's
/// rows (0 .. W - 2), the sequence, and the sequence's first token and length.
struct StatePlaces {
  mlir::Value entry, sequence, first, length;
};

StatePlaces statesIn(Part &part, const Conv &conv);

} // namespace drawloom::linrec::shortconv

#endif // DRAWLOOM_DIALECTS_LINREC_SHORTCONV_SHORTCONVPARTS_H
