//===- ShortConvParts.h - what short convolutions share ------- -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tokens of all sequences lie behind each other as rows, [rows, channels]. A
// tap j is a gather: row t of it is row t - j, and nothing where that lies in
// front of t's sequence, which is a row of the initial state then. So a row
// knows nothing of its neighbours' sequences, and everything else is
// elementwise. The same formulas say the op for tiles of rows and channels,
// which are the blocks of its own program, and for all rows at once, which is
// what `fuse-neighbours` cuts into the blocks of its readers.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DIALECTS_LINREC_SHORTCONVPARTS_H
#define DRAWLOOM_DIALECTS_LINREC_SHORTCONVPARTS_H

#include "dialects/LinRec/Recurrence.h"
#include "dialects/LinRec/Shapes.h"
#include "dialects/LinRec/Tiles.h"

namespace drawloom::linrec::shortconv {

using Values = Tiles::Values;

/// Dimensions of channels that a part has a loop each for.
constexpr int64_t mostChannelLoops = 6;

mlir::Value zerosOf(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type);

/// `x` with its first `leading` dimensions, which are no channels, joined, and
/// where they are `flat` its channels.
mlir::Value joined(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                   int64_t leading, bool flat);
/// The reverse, under `shape`.
mlir::Value split(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                  llvm::ArrayRef<int64_t> shape, int64_t leading, bool flat);

/// What both ops have in common, tokens and states as rows.
struct Conv {
  /// Channels become one dimension where they are `flat`.
  template <typename Op>
  Conv(mlir::OpBuilder &b, Op op, bool flat)
      : loc(op.getLoc()), starts(op.getStarts()), flat(flat),
        silu(op.getActivation() == ConvActivation::Silu) {
    mlir::RankedTensorType type = Recurrence::type(op.getX());
    sequences = starts ? Recurrence::type(starts).getDimSize(0) - 1
                       : type.getDimSize(0);
    tokens = type.getDimSize(1);
    rows = type.getDimSize(0) * tokens;
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

  int64_t stateRows() const { return sequences * (width - 1); }

  mlir::Location loc;
  mlir::Value x;       ///< [rows, channels]
  mlir::Value weight;  ///< [width, channels]
  mlir::Value bias;    ///< [channels], or null
  mlir::Value initial; ///< [sequences (width - 1), channels], or null
  mlir::Value starts;
  bool flat, silu;
  int64_t sequences, tokens, rows, width;
  llvm::SmallVector<int64_t> channels;
  mlir::FloatType wide;
};

/// Of each row its sequence, its token's number there, and how many tokens are
/// behind it.
struct Places {
  mlir::Value sequence, position, left;
};

/// These of all rows where sequences are packed; null otherwise.
Places placesOfTokens(mlir::OpBuilder &b, const Conv &conv);

/// Of each row of states, where its sequence begins and ends.
std::pair<mlir::Value, mlir::Value> boundsOfStates(mlir::OpBuilder &b,
                                                   const Conv &conv);

/// Rows and channels that are computed together: those of a block's tile, or
/// all.
struct Part {
  Tiles &t;
  int64_t count;                       ///< Of rows,
  llvm::SmallVector<int64_t> channels; ///< and channels.
  /// The first row, null for all rows, and the first channel.
  mlir::Value at, channel;
  /// The numbers of the rows, negative where there is none; null where all are
  /// there.
  mlir::Value numbers;

  bool isWhole() const { return !at; }

  /// A number for each row.
  mlir::Value indices(
      llvm::ArrayRef<Indexed> inputs,
      llvm::function_ref<mlir::Value(ScalarBuilder &, mlir::ValueRange)> body);

  /// The numbers of the rows, as a tensor.
  mlir::Value rowNumbers();

  /// The part's entries of [all rows].
  mlir::Value entries(mlir::Value all);

  /// Rows of [any, channels], all of them, with the part's channels.
  mlir::Value columns(mlir::Value all);

  /// These rows of it, zeros where the number is negative.
  mlir::Value gathered(mlir::Value all, mlir::Value rows);

  /// The part's own rows of [all rows, channels].
  mlir::Value own(mlir::Value all);

  /// Row j of [any, channels], or of [channels] itself.
  mlir::Value row(mlir::Value all, int64_t j);

  /// A new tile of these rows and channels.
  mlir::Value
  map(llvm::ArrayRef<Indexed> inputs, mlir::Type element,
      llvm::function_ref<mlir::Value(ScalarBuilder &, mlir::ValueRange)> body);
};

// Numbers of rows.

mlir::Value constant(ScalarBuilder &s, int64_t value);
mlir::Value plus(ScalarBuilder &s, mlir::Value x, int64_t value);
mlir::Value minus(ScalarBuilder &s, mlir::Value x, mlir::Value y);
mlir::Value plus(ScalarBuilder &s, mlir::Value x, mlir::Value y);
mlir::Value times(ScalarBuilder &s, mlir::Value x, int64_t value);
mlir::Value isAtLeast(ScalarBuilder &s, mlir::Value x, int64_t value);
mlir::Value isBelow(ScalarBuilder &s, mlir::Value x, mlir::Value y);
mlir::Value both(ScalarBuilder &s, mlir::Value x, mlir::Value y);
mlir::Value orNone(ScalarBuilder &s, mlir::Value condition, mlir::Value row);

/// The part's rows in their sequences.
Places placesIn(Part &part, const Conv &conv, const Places &packed,
                mlir::Value rows);

/// What the formula of z reads: for each tap its rows of x, those of the
/// initial state or null, and its weights.
struct Taps {
  Values x, initial, weight;
};

Taps tapsOf(Part &part, const Conv &conv, const Places &places,
            mlir::Value rows);

/// The operands of a generic over rows and channels, and how its body finds
/// them.
class Inputs {
public:
  explicit Inputs(const Part &part);

  /// The number of the input, -1 for null.
  int tile(mlir::Value x) { return add(x, rows); }
  int row(mlir::Value x) { return add(x, channels); }

  llvm::SmallVector<Indexed> all;

private:
  int add(mlir::Value x, llvm::StringRef loops);
  llvm::StringRef rows, channels;
};

/// z by the formula, from the oldest token on.
struct Sum {
  Sum(Inputs &inputs, const Part &part, const Conv &conv, const Taps &taps);

  mlir::Value token(ScalarBuilder &s, mlir::ValueRange e, int64_t j) const;

  mlir::Value operator()(ScalarBuilder &s, mlir::ValueRange e) const;

  int64_t width;
  llvm::SmallVector<int> x, initial, weight;
  int bias = -1;
};

/// What blocks make: of each row, [rows, channels], or one sum of each block,
/// [blocks, channels].
struct Made {
  mlir::Value empty;
  bool isSum;
};

/// How many blocks there are for so many rows.
int64_t blocksOf(int64_t rows);

using PartBody = llvm::function_ref<Values(Part &, mlir::ValueRange sums)>;

/// A block program over blocks of rows and of channels. `body` gives tiles of
/// rows, and sums from the sums so far, in the order of `results`.
Values overParts(mlir::OpBuilder &b, mlir::Location loc, mlir::FloatType wide,
                 int64_t rows, int64_t channels, llvm::ArrayRef<Made> results,
                 PartBody body);

/// Of each of the part's rows of states: where it is among its sequence's
/// (0 .. W - 2), the sequence, and the sequence's first token and length.
struct StatePlaces {
  mlir::Value entry, sequence, first, length;
};

StatePlaces statesIn(Part &part, const Conv &conv,
                     std::pair<mlir::Value, mlir::Value> bounds);

/// What an op needs beside its verifier to become a block program.
mlir::LogicalResult checkStatic(mlir::Operation *op);

} // namespace drawloom::linrec::shortconv

#endif // DRAWLOOM_DIALECTS_LINREC_SHORTCONVPARTS_H
