//===- ScheduleCost.h - which schedule a recurrence gets ------ -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A head of a sequence is a block of the program, which processes its chunks in
// order: the resident schedule. If there are fewer blocks than processors,
// states may be cut along their values (ValueBlocks.h) and sequences into
// segments (Segments.h), at the cost of more work. Costs are estimated in
// multiply-adds of one processor. With a chunk of C tokens, keys of K and n
// blocks of V' = V / n values, the costs of a block are
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
//   transition = rows, or state with V' = K        the transformation of the
//              where tokens erase                  state by a segment
//
// Token by token, for decays along values, there are no scores: state is 2 C K
// V' + rows, read C K V', backward 6 C K V' + 2 rows, begin 2 C K V'; with
// rates, each of them has an additional 16 C K V' for exponentials.
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
// The number of states kept by a gradient with checkpoints before every m-th of
// N chunks is
//
//   saved      = N + 1                       for m = 1 or m >= N, else
//                ceil(N / m) + m + 1
//   recomputed = 0, else the states of all chunks but those behind the last
//                checkpoint
//
// plus, for each chunk whose states are kept, the values that erasing keeps.
//
// Measured on one core of a Zen 5 machine with AVX-512 (T 8192, K 64, V 128,
// chunks of 32), work relative to the resident schedule (estimates in
// parentheses): decays of tokens, two blocks of values 1.18 forward and 1.20
// with gradients (1.17 and 1.14), segments 1.25 and 1.13 (1.42 and 1.34); gated
// delta rule, 1.25 and 1.25 (1.17 and 1.14), 1.89 and 1.46 (2.00 and 1.63).
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

/// The parameters by which a schedule is chosen.
struct ScheduleProblem {
  /// The operands' shapes must be static, and there must be tokens.
  ScheduleProblem(const Recurrence &form, bool gradient);

  /// Returns the time in multiply-adds, by the formula above.
  int64_t time(const Schedule &schedule, int64_t processors) const;
  /// Returns the bytes of a block's tiles on a machine that limits them: the
  /// state (twice for gradients), and rows of a chunk, C (2 K + V') forward and
  /// C (3 K + 2 V') backward.
  int64_t blockBytes(const Schedule &schedule) const;
  /// Returns the bytes by which a block exceeds its memory.
  int64_t excess(const Schedule &schedule, const MachineFacts &machine) const;

  /// Return the candidates: the number that the op specifies; else, numbers of
  /// blocks that have a multiple of 16 values, and powers of two of segments
  /// that have at least four chunks.
  llvm::SmallVector<int64_t> valueBlocks() const, segments() const;

  /// Returns the bytes that the gradient of one head saves of its forward pass:
  /// states, and `kept` elements for each chunk whose states are saved.
  int64_t savedBytes(int64_t interval) const;
  /// Returns the multiply-adds of one head for states that are computed a
  /// second time.
  int64_t recomputed(int64_t interval) const;

  int64_t sequences, heads, keys, values, chunk, chunks, elementBytes;
  /// Elements kept per chunk: solutions and scores (ChunkwiseForm.cpp).
  int64_t kept = 0;
  bool gradient, erases, tokenByToken, rates, packed;
  std::optional<int64_t> givenSegments, givenValueBlocks;

private:
  int64_t stateWork(int64_t values) const;
};

/// Chooses the number of tokens to compute at a time, if the op does not
/// specify it. Per chunk, interactions between tokens cost C^2 and the state
/// costs C K V, so small chunks are better as long as the machine multiplies
/// them as fast: forward, with decays of tokens or none; and for gradients of
/// recurrences that erase, whose triangular systems cost most. (Measured on a
/// Zen 5 machine with AVX2, K 64, V 128: chunks of 16 take 0.92 and 0.96 of the
/// time of chunks of 32; gradients of decays of tokens take the same time, with
/// twice the memory for states; decays of keys take 0.96 forward and 1.03.)
/// Decays of keys use chunks of 16 if their bound makes just that size
/// harmless. If a block's memory is too small, chunks are halved down to 16,
/// and finally to a single token.
int64_t chooseChunk(const Recurrence &form, bool gradient,
                    const MachineFacts &machine);

/// Returns the schedule of the least time; the resident one unless another
/// saves a fifth of its time. Schedules that do not fit into a block's memory
/// are excluded if any fits. What the op specifies of its schedule is kept: if
/// it specifies one of the two numbers, the other is chosen to give as few
/// blocks of values as fit. The same applies to packed sequences, whose bits
/// must not depend on what they are packed with.
Schedule chooseSchedule(const ScheduleProblem &problem,
                        const MachineFacts &machine);

/// Returns the max bytes that a gradient may save: as specified by the machine,
/// else as many as its inputs and outputs have. If blocks have memory of their
/// own, arrays are in the device's memory, and there is no limit unless the
/// machine specifies one: 0.
int64_t savedBytesLimit(int64_t operandBytes, const MachineFacts &machine);
/// Returns the bytes saved by all heads that are computed at once: as many
/// heads as there are processors, or, if arrays are in a device's memory, all
/// heads.
int64_t savedAtOnce(const ScheduleProblem &problem, int64_t interval,
                    const MachineFacts &machine);
/// Returns the checkpoint interval with the least work whose states are within
/// the limit, among 1 and powers of two; if there is none, the one with the
/// fewest bytes.
int64_t chooseInterval(const ScheduleProblem &problem, int64_t limit,
                       const MachineFacts &machine);

} // namespace drawloom::linrec

#endif // DRAWLOOM_DIALECTS_LINREC_SCHEDULE_SCHEDULECOST_H
