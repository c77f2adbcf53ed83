//===- Head.h - the block of one head of one sequence ---------- -*- C++
//-*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block goes through its tokens in chunks and carries what it likes from
// chunk to chunk; the last chunk is filled up with rows that are absent (row
// number -1), which are zeros and stored nowhere.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DIALECTS_LINREC_SCHEDULE_HEADBLOCKS_H
#define DRAWLOOM_DIALECTS_LINREC_SCHEDULE_HEADBLOCKS_H

#include "dialects/LinRec/Chunk/Chunk.h"

namespace drawloom::linrec {

/// A part of a tensor of which every dimension but some is a single index.
struct Slice {
  llvm::SmallVector<mlir::OpFoldResult> offsets, sizes, strides;
  mlir::RankedTensorType type;
};

/// Tokens that are computed at a time.
int64_t chunkOf(const Recurrence &form);

/// How many sequences there are; dynamic where a call says it.
int64_t sequencesOf(const Recurrence &form);
mlir::OpFoldResult sequencesOf(mlir::OpBuilder &b, mlir::Location loc,
                               const Recurrence &form);

/// A result of the scf.forall of all heads.
struct Result {
  mlir::Value empty;
  bool perToken; // [B, T, heads(, size)], else [N, heads, ...]
};

/// The block of one head of one sequence, while it is written.
class Head {
public:
  Head(mlir::OpBuilder &b, mlir::Location loc, const Recurrence &form,
       mlir::Value sequence, mlir::Value head);

  /// Of all sequences; dynamic where a call says it.
  int64_t tokens() const { return Recurrence::type(form.v).getDimSize(1); }
  int64_t chunk() const { return chunkOf(form); }
  /// That a sequence has, at most.
  mlir::OpFoldResult mostChunks();

  /// This head's rows of [B, T, heads(, size)].
  Slice rows(mlir::Value tensor);
  /// This head's part of [N, heads, ...].
  Slice part(mlir::Value tensor);
  mlir::Value extract(mlir::Value tensor, const Slice &slice);

  /// Where the rows of a chunk are: a slice, or gathered.
  struct Place {
    mlir::Value at;
    mlir::Value rows; // null: `chunk()` rows from `at` on
  };

  /// A chunk of this head's rows, in the type to compute in.
  mlir::Value read(mlir::Value own, const Place &place);
  mlir::Value write(mlir::Value tile, mlir::Value onto, const Place &place);
  /// `value` for each token that there is, 0 for the others.
  mlir::Value forTokens(mlir::Value value, const Place &place);
  /// A chunk of all operands.
  ChunkTiles tiles(const Place &place);

  /// Tokens of whole chunks, from `begin` (null: 0) to `end` (null: the last
  /// chunk of the sequence, which may not be full).
  struct Range {
    mlir::Value begin, end;
  };
  Range allChunks();
  /// Goes through chunks, all if no others are said, in or against the order
  /// of tokens.
  using Step = llvm::function_ref<Tiles::Values(const Place &,
                                                mlir::ValueRange carried)>;
  Tiles::Values overChunks(mlir::ValueRange carried, bool backward, Step step) {
    return overChunks(Range(), carried, backward, step);
  }
  Tiles::Values overChunks(Range range, mlir::ValueRange carried, bool backward,
                           Step step);
  /// Goes through groups of `count` chunks, of which the last may have fewer.
  using GroupStep = llvm::function_ref<Tiles::Values(
      mlir::Value number, const Range &, mlir::ValueRange carried)>;
  Tiles::Values overGroups(const Range &all, int64_t count,
                           mlir::ValueRange carried, bool backward,
                           GroupStep step);
  /// What a chunk is counted from its range's first one.
  mlir::Value number(const Place &place, const Range &range);

  /// A state in a place of this head: that of `from`, or zeros.
  mlir::Value startState(mlir::Value from, mlir::Value place);

  const Recurrence &form;
  Tiles t;
  mlir::Value sequence, head, batch, first, length;

private:
  friend llvm::SmallVector<mlir::Value>
  overHeads(mlir::OpBuilder &, mlir::Location, const Recurrence &,
            llvm::ArrayRef<Result>,
            llvm::function_ref<Tiles::Values(Head &, mlir::ValueRange)>);

  /// The rows of all operands that have rows for each token, once.
  void takeOperands();
  /// The entry of this head in a tensor [heads, ...] of parameters.
  mlir::Value parameter(mlir::Value tensor);
  /// Tokens [at, length) as row numbers; those past the end are -1.
  mlir::Value rowNumbers(mlir::Value at);
  Slice chunkRows(mlir::Value own, mlir::Value at);
  mlir::Value asIndex(mlir::Value value);

  /// How many tokens there are.
  mlir::OpFoldResult all;
  llvm::DenseMap<mlir::Value, mlir::Value> own;
  mlir::Value bonus, rates, constantDecay;
};

/// Writes the scf.forall over sequences and heads. `body` gets each result's
/// part of this head and gives what it becomes.
llvm::SmallVector<mlir::Value>
overHeads(mlir::OpBuilder &b, mlir::Location loc, const Recurrence &form,
          llvm::ArrayRef<Result> results,
          llvm::function_ref<Tiles::Values(Head &, mlir::ValueRange)> body);

/// The sums of what heads that share a row found for it, [B, T, heads, K] as
/// [B, T, shared, K], where calls choose B and T: as a block program, of one
/// token after the other.
mlir::Value sumOfHeads(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                       int64_t shared, mlir::FloatType element);
/// The sums of what sequences found for parameters, [N, heads, ...] as
/// [heads, ...], where calls choose N: a block a head, in the order of
/// sequences.
mlir::Value sumOfSequences(mlir::OpBuilder &b, mlir::Location loc,
                           mlir::Value x);

} // namespace drawloom::linrec

#endif // DRAWLOOM_DIALECTS_LINREC_SCHEDULE_HEADBLOCKS_H
