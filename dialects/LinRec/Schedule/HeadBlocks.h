//===- Head.h - the block of one head of one sequence ---------- -*- C++
//-*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block processes its tokens in chunks and carries values from chunk to
// chunk. The last chunk is filled up with absent rows (row number -1), which
// read as zeros and are not stored.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DIALECTS_LINREC_SCHEDULE_HEADBLOCKS_H
#define DRAWLOOM_DIALECTS_LINREC_SCHEDULE_HEADBLOCKS_H

#include "dialects/LinRec/Chunk/Chunk.h"

namespace drawloom::linrec {

/// A part of a tensor in which all dimensions except some are single indices.
struct Slice {
  llvm::SmallVector<mlir::OpFoldResult> offsets, sizes, strides;
  mlir::RankedTensorType type;
};

/// Returns the number of tokens that are computed at a time.
int64_t chunkOf(const Recurrence &form);

/// Returns the number of sequences; dynamic if a call chooses it.
int64_t sequencesOf(const Recurrence &form);
mlir::OpFoldResult sequencesOf(mlir::OpBuilder &b, mlir::Location loc,
                               const Recurrence &form);

/// A result of the scf.forall over all heads.
struct Result {
  mlir::Value empty;
  bool perToken; // [B, T, heads(, size)], else [N, heads, ...]
};

/// The block of one head of one sequence, while it is being built.
class Head {
public:
  Head(mlir::OpBuilder &b, mlir::Location loc, const Recurrence &form,
       mlir::Value sequence, mlir::Value head);

  /// Returns the tokens of all sequences; dynamic if a call chooses their
  /// number.
  int64_t tokens() const { return Recurrence::type(form.v).getDimSize(1); }
  int64_t chunk() const { return chunkOf(form); }
  /// Returns the max number of chunks of a sequence.
  mlir::OpFoldResult mostChunks();

  /// Returns this head's rows of [B, T, heads(, size)].
  Slice rows(mlir::Value tensor);
  /// Returns this head's part of [N, heads, ...].
  Slice part(mlir::Value tensor);
  mlir::Value extract(mlir::Value tensor, const Slice &slice);

  /// Position of the rows of a chunk: a slice, or gathered rows.
  struct Place {
    mlir::Value at;
    mlir::Value rows; // null: `chunk()` rows from `at` on
  };

  /// Reads a chunk of this head's rows, in the type to compute in.
  mlir::Value read(mlir::Value own, const Place &place);
  mlir::Value write(mlir::Value tile, mlir::Value onto, const Place &place);
  /// Returns `value` for each existing token, 0 for the others.
  mlir::Value forTokens(mlir::Value value, const Place &place);
  /// Reads a chunk of all operands.
  ChunkTiles tiles(const Place &place);

  /// Tokens of whole chunks, from `begin` (null: 0) to `end` (null: the last
  /// chunk of the sequence, which may be partial).
  struct Range {
    mlir::Value begin, end;
  };
  Range allChunks();
  /// Loops over chunks, all of them by default, in or against the order of
  /// tokens.
  using Step = llvm::function_ref<Tiles::Values(const Place &,
                                                mlir::ValueRange carried)>;
  Tiles::Values overChunks(mlir::ValueRange carried, bool backward, Step step) {
    return overChunks(Range(), carried, backward, step);
  }
  Tiles::Values overChunks(Range range, mlir::ValueRange carried, bool backward,
                           Step step);
  /// Loops over groups of `count` chunks, of which the last may have fewer.
  using GroupStep = llvm::function_ref<Tiles::Values(
      mlir::Value number, const Range &, mlir::ValueRange carried)>;
  Tiles::Values overGroups(const Range &all, int64_t count,
                           mlir::ValueRange carried, bool backward,
                           GroupStep step);
  /// Returns the number of a chunk, counted from the first chunk of its range.
  mlir::Value number(const Place &place, const Range &range);

  /// Initializes a state at a place of this head: from `from`, or with zeros.
  mlir::Value startState(mlir::Value from, mlir::Value place);

  const Recurrence &form;
  Tiles t;
  mlir::Value sequence, head, batch, first, length;

private:
  friend llvm::SmallVector<mlir::Value>
  overHeads(mlir::OpBuilder &, mlir::Location, const Recurrence &,
            llvm::ArrayRef<Result>,
            llvm::function_ref<Tiles::Values(Head &, mlir::ValueRange)>);

  /// Computes, once, the rows of all operands that have rows for each token.
  void takeOperands();
  /// Returns the entry of this head in a tensor [heads, ...] of parameters.
  mlir::Value parameter(mlir::Value tensor);
  /// Returns tokens [at, length) as row numbers; those past the end are -1.
  mlir::Value rowNumbers(mlir::Value at);
  Slice chunkRows(mlir::Value own, mlir::Value at);
  mlir::Value asIndex(mlir::Value value);

  /// Number of tokens.
  mlir::OpFoldResult all;
  llvm::DenseMap<mlir::Value, mlir::Value> own;
  mlir::Value bonus, rates, constantDecay;
};

/// Builds the scf.forall over sequences and heads. `body` gets this head's part
/// of each result and returns its new value.
llvm::SmallVector<mlir::Value>
overHeads(mlir::OpBuilder &b, mlir::Location loc, const Recurrence &form,
          llvm::ArrayRef<Result> results,
          llvm::function_ref<Tiles::Values(Head &, mlir::ValueRange)> body);

/// Sums the contributions of heads that share a row, [B, T, heads, K] to [B, T,
/// shared, K], if calls choose B and T: by a block program, one token after
/// another.
mlir::Value sumOfHeads(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                       int64_t shared, mlir::FloatType element);
/// Sums the contributions of sequences to parameters, [N, heads, ...] to
/// [heads, ...], if calls choose N: one block per head, in the order of
/// sequences.
mlir::Value sumOfSequences(mlir::OpBuilder &b, mlir::Location loc,
                           mlir::Value x);

} // namespace drawloom::linrec

#endif // DRAWLOOM_DIALECTS_LINREC_SCHEDULE_HEADBLOCKS_H
