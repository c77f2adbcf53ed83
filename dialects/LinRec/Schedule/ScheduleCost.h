//===- ScheduleCost.h - which schedule a recurrence gets ------ -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A head of a sequence is a block of the program, which goes through its chunks
// in order: the resident schedule. Where there are fewer of them than
// processors, states may be cut along their values (ValueBlocks.h) and
// sequences into segments (Segments.h), at the price of more work. What each
// costs is estimated in multiply-adds of one processor. With a chunk of C
// tokens, keys of K and n blocks of V' = V / n values, a block does
//
//   rows       = 32 C K                 reads, exponentials: for every block of
//                                       values again
//   state      = C K V' + rows          the next state
//              (+ C K V' + C^2 K + C^2 V' / 2      where tokens erase)
//   read       = C K V' + C^2 (K + V')  the outputs
//   backward   = 4 C K V' + C^2 (3 K + 2 V') + 2 rows
//              (+ 3 C K V' + C^2 (3 K + 5 V' / 2)  where tokens erase)
//   begin      = C K V' + rows          the gradient of the first state alone
//              (+ 2 C K V' + C^2 (2 K + 3 V' / 2)  where tokens erase)
//   transition = rows, or state with V' = K        what a segment does to
//   states
//              where tokens erase
//
// Token after token, for decays along values, there are no scores: state is
// 2 C K V' + rows, read C K V', backward 6 C K V' + 2 rows, begin 2 C K V';
// with rates, each of them has 16 C K V' more for exponentials.
//
//   forward    state + read,       in segments + state + transition
//   gradient   state + backward,   in segments + state + transition + begin
//
// A schedule of N sequences, H heads, n blocks, s segments and P processors
// takes
//
//   time = ceil(N H n s / P) ceil(chunks / s) work
//        + ceil(N H n / P) s fold       where s > 1; fold = 8 K V', or K K V'
//                                       where tokens erase
//        + 2^20 for each kernel that the schedule adds: 2 for blocks of
//          values, 4 for segments
//
// A gradient with checkpoints before every m-th of N chunks keeps, of states,
//
//   saved      = N + 1                       for m = 1 or m >= N, else
//                ceil(N / m) + m + 1
//   recomputed = 0, else the states of all chunks but those behind the last
//                checkpoint
//
// and of each chunk whose states are there what erasing keeps.
//
// Measured on one core of a Zen 5 machine with AVX-512 (T 8192, K 64, V 128,
// chunks of 32), work beside the resident one's: decays of tokens, two blocks
// of values 1.18 forward and 1.20 with gradients (here 1.17 and 1.14), segments
// 1.25 and 1.13 (1.42 and 1.34); gated delta rule, 1.25 and 1.25 (1.17 and
// 1.14), 1.89 and 1.46 (2.00 and 1.63).
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DIALECTS_LINREC_SCHEDULE_SCHEDULECOST_H
#define DRAWLOOM_DIALECTS_LINREC_SCHEDULE_SCHEDULECOST_H

#include "dialects/Interfaces/MachineFacts.h"
#include "dialects/LinRec/Chunk/Recurrence.h"

namespace drawloom::linrec {

struct Schedule {
  int64_t valueBlocks = 1, segments = 1;
};

/// What a schedule is chosen by.
struct ScheduleProblem {
  /// The operands' shapes are static, and there are tokens.
  ScheduleProblem(const Recurrence &form, bool gradient);

  /// In multiply-adds, as above.
  int64_t time(const Schedule &schedule, int64_t processors) const;
  /// Bytes of a block's tiles on a machine that limits them: the state, in
  /// gradients twice, and rows of a chunk, C (2 K + V') forward and
  /// C (3 K + 2 V') backward.
  int64_t blockBytes(const Schedule &schedule) const;
  /// What of that a block's memory lacks.
  int64_t excess(const Schedule &schedule, const MachineFacts &machine) const;

  /// The numbers to choose from: the one that the op gives, else blocks that
  /// have 16 values or a multiple, and powers of two of segments that have four
  /// chunks at least.
  llvm::SmallVector<int64_t> valueBlocks() const, segments() const;

  /// What the gradient of one head saves of its way forward, in bytes: states,
  /// and what `kept` says of each chunk whose states are there.
  int64_t savedBytes(int64_t interval) const;
  /// Multiply-adds of one head for states that are computed a second time.
  int64_t recomputed(int64_t interval) const;

  int64_t sequences, heads, keys, values, chunk, chunks, elementBytes;
  /// Elements that are kept of a chunk: solutions and scores
  /// (ChunkwiseForm.cpp).
  int64_t kept = 0;
  bool gradient, erases, tokenByToken, rates, packed;
  std::optional<int64_t> givenSegments, givenValueBlocks;

private:
  int64_t stateWork(int64_t values) const;
};

/// Tokens at a time, where the op does not say it. A chunk's tokens cost C^2
/// for each other, and C K V for the state with all of them, so that small
/// chunks are better as long as the machine multiplies them as fast: with
/// decays of tokens, or none, forward, and gradients where tokens erase, whose
/// systems cost most. (Measured on a Zen 5 machine with AVX2, K 64, V 128:
/// chunks of 16 take 0.92 and 0.96 of the time of those of 32; gradients of
/// decays of tokens the same, with twice the memory for states; decays of keys
/// 0.96 forward and 1.03.) Decays of keys go by 16 where their bound makes just
/// that harmless. Where a block's memory is too small for them, chunks are cut
/// in halves down to 16, and at last there is one token at a time.
int64_t chooseChunk(const Recurrence &form, bool gradient,
                    const MachineFacts &machine);

/// The schedule of the least time; the resident one unless another saves a
/// fifth of its time. What does not fit into a block's memory is left out where
/// something fits. What an op gives of its schedule stays: where that is a part
/// of it, the other is as few blocks of values as fit, and so it is with packed
/// sequences, whose bits must depend on nothing that they are packed with.
Schedule chooseSchedule(const ScheduleProblem &problem,
                        const MachineFacts &machine);

/// How many bytes a gradient may save: what the machine says, else as many as
/// its inputs and outputs have. Where blocks have memory of their own, arrays
/// lie in the device's, and without a word of the machine there is no limit: 0.
int64_t savedBytesLimit(int64_t operandBytes, const MachineFacts &machine);
/// What all heads save that are computed at once: as many as there are
/// processors, or, where arrays lie in a device's memory, all.
int64_t savedAtOnce(const ScheduleProblem &problem, int64_t interval,
                    const MachineFacts &machine);
/// The interval of checkpoints of the least work whose states are within the
/// limit, among 1 and powers of two; if none is, that with the fewest bytes.
int64_t chooseInterval(const ScheduleProblem &problem, int64_t limit,
                       const MachineFacts &machine);

} // namespace drawloom::linrec

#endif // DRAWLOOM_DIALECTS_LINREC_SCHEDULE_SCHEDULECOST_H
