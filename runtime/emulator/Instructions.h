//===- Instructions.h - functions behind Symbols.h --------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_EMULATOR_INSTRUCTIONS_H
#define DRAWLOOM_RUNTIME_EMULATOR_INSTRUCTIONS_H

#include "runtime/emulator/Symbols.h"

namespace drawloom::emulator {

int32_t emuRegister(void *thread, int32_t which);
void *emuArena(void *thread);
/// Called before the access. `kind`: AccessKind + 16 * Space.
void emuAccess(void *thread, void *address, int64_t bytes, int32_t kind,
               int32_t alignment, int32_t site);
/// Declares that the following access, of `bytes` bytes, should be to an
/// element of a buffer behind `root`.
void emuElement(void *thread, void *address, void *root, int64_t bytes,
                int32_t element, int32_t site);
/// Declares the elements of the words that the next ldmatrix gives this thread.
void emuMatrixElement(void *thread, void *root, int32_t element);
void emuFence(void *thread, int32_t scope, int32_t site);

/// `count`: 0 for all threads of the block.
int32_t emuBarrier(void *thread, int32_t id, int32_t count, int32_t reduction,
                   int32_t predicate, int32_t site);
void emuBarrierArrive(void *thread, int32_t id, int32_t count, int32_t site);
void emuWarpBarrier(void *thread, int32_t mask, int32_t site);

// Functions that return 64 bits have the value in the low half and the
// predicate in bit 32.
int64_t emuShuffle(void *thread, int32_t kind, int32_t mask, int32_t value,
                   int32_t offset, int32_t clamp, int32_t site);
int32_t emuVote(void *thread, int32_t kind, int32_t mask, int32_t predicate,
                int32_t site);
int32_t emuReduce(void *thread, int32_t kind, int32_t mask, int32_t value,
                  int32_t site);
int64_t emuMatch(void *thread, int32_t wantsAll, int32_t mask, int64_t value,
                 int32_t site);
int64_t emuElect(void *thread, int32_t mask, int32_t site);

/// `site` is the shared side, `site + 1` the global side.
void emuCopyAsync(void *thread, void *destination, void *source, int32_t bytes,
                  int32_t sourceBytes, int32_t site);
void emuCopyCommit(void *thread, int32_t site);
/// Waits until at most `pending` groups are in flight; if negative, until none
/// is.
void emuCopyWait(void *thread, int32_t pending, int32_t site);

/// Move `count` 8x8 matrices of 16-bit numbers into or out of as many words.
void emuLoadMatrix(void *thread, void *row, int32_t count, int32_t transposed,
                   uint32_t *result, int32_t site);
void emuStoreMatrix(void *thread, void *row, int32_t count, int32_t transposed,
                    uint32_t *values, int32_t site);
/// Computes 16x8 += 16xk * kx8 of `number` with f32 accumulators. `operands`:
/// the words of A, B and C in sequence.
void emuMultiply(void *thread, int32_t k, int32_t number, uint32_t *operands,
                 uint32_t *result, int32_t site);

float emuMath(int32_t function, int32_t flush, float x);
/// Returns the selector of prmt's default mode that is equivalent to a selector
/// of any of its modes.
int32_t emuPermute(int32_t mode, int32_t low, int32_t high, int32_t selector);
/// Converts to bf16 or f16 in the low half, or to tf32. `flags`: 1 relu, 2
/// satfinite.
int32_t emuConvert(int32_t number, int32_t rounding, int32_t flags, float x);
/// Converts two numbers; the first argument goes to the high half.
int32_t emuConvertPair(int32_t number, int32_t rounding, int32_t flags,
                       float high, float low);

} // namespace drawloom::emulator

#endif // DRAWLOOM_RUNTIME_EMULATOR_INSTRUCTIONS_H
