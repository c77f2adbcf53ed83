/*===- Abi.h - how compiled programs and their host call each other ---------===
 *
 * Part of the Drawloom project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/

#ifndef DRAWLOOM_RUNTIME_ABI_H
#define DRAWLOOM_RUNTIME_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Alignment, in bytes, that every pointer passed to a program (to a tensor,
 * the workspace or scratch memory) should have; results do not depend on it. */
#define DRAWLOOM_ALIGNMENT 64

/** Runs the blocks [lo, hi) of one block program. Blocks are independent of
 * each other: any split into ranges, in any order and on any threads, gives the
 * same bits. `scratch` is private memory of the calling thread, of the
 * program's scratch size. */
typedef void (*DrawloomKernel)(void **arguments, int64_t lo, int64_t hi,
                               void *scratch);

/** A request of a program for a record. Records are numbered within one
 * call. */
typedef enum DrawloomTransfer {
  /** Stores the bytes of `memory`, which the program may reuse afterwards. */
  DRAWLOOM_TRANSFER_STORE = 0,
  /** The record will be needed soon, and may be read ahead. */
  DRAWLOOM_TRANSFER_LOAD = 1,
  /** Copies the record to `memory`. */
  DRAWLOOM_TRANSFER_AWAIT = 2,
  /** The record is no longer needed. */
  DRAWLOOM_TRANSFER_DROP = 3
} DrawloomTransfer;

/** The services that a compiled program needs from the process it runs in. */
typedef struct DrawloomHost {
  /** Passed unchanged to the functions below. */
  void *context;
  /** Runs all blocks [0, blocks) through `kernel`, in ranges of its choice, and
   * returns when they are done. */
  void (*parallelFor)(void *context, DrawloomKernel kernel, void **arguments,
                      int64_t blocks);
  /** Executes a program's request for a record; `kind` is a DrawloomTransfer.
   * On failure it notes that the call has failed and fills `memory` with
   * arbitrary data: the program runs to its end. Only programs with records
   * call it. */
  void (*transfer)(void *context, int64_t kind, int64_t record, void *memory,
                   int64_t bytes);
} DrawloomHost;

/** The entry point of a compiled program; function @f of the source is the
 * symbol drawloom_f. `arguments` points to the inputs, then the results, then
 * the open extents (int64_t each), then the workspace if the program's
 * signature asks for one; scalars are passed by address, too. */
typedef void (*DrawloomEntry)(void **arguments, const DrawloomHost *host);

#ifdef __cplusplus
}
#endif

#endif /* DRAWLOOM_RUNTIME_ABI_H */
