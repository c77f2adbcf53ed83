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

/** Every pointer to a tensor, to the workspace and to scratch memory that a
 * program is given should be a multiple of this; results do not depend on it.
 */
#define DRAWLOOM_ALIGNMENT 64

/** Runs the blocks [lo, hi) of one block program. Blocks are independent of
 * each other: any split into ranges, in any order and on any threads, gives the
 * same bits. `scratch` is memory of the calling thread alone, of the program's
 * scratch size. */
typedef void (*DrawloomKernel)(void **arguments, int64_t lo, int64_t hi,
                               void *scratch);

/** What a program asks of a record, which has a number among those of one
 * call. */
typedef enum DrawloomTransfer {
  /** Takes the bytes of `memory`, which are the program's again afterwards. */
  DRAWLOOM_TRANSFER_STORE = 0,
  /** The record is wanted soon: it may be read ahead. */
  DRAWLOOM_TRANSFER_LOAD = 1,
  /** Writes the record to `memory`. */
  DRAWLOOM_TRANSFER_AWAIT = 2,
  /** The record is not wanted any more. */
  DRAWLOOM_TRANSFER_DROP = 3
} DrawloomTransfer;

/** What a compiled program needs of the process that it runs in. */
typedef struct DrawloomHost {
  /** Handed to the functions as it is. */
  void *context;
  /** Runs all blocks [0, blocks) through `kernel`, in ranges of its choice, and
   * returns when they are done. */
  void (*parallelFor)(void *context, DrawloomKernel kernel, void **arguments,
                      int64_t blocks);
  /** Does what a program asks of a record; `kind` is a DrawloomTransfer. Where
   * it cannot, it remembers that the call has failed and fills `memory` with
   * something: the program goes on to its end. Only programs with records call
   * it. */
  void (*transfer)(void *context, int64_t kind, int64_t record, void *memory,
                   int64_t bytes);
} DrawloomHost;

/** A compiled program; function @f of the source is the symbol drawloom_f.
 * `arguments` points to the inputs, then the results, then the open extents
 * (int64_t each), then the workspace if the program's signature asks for one;
 * scalars too are given by address. */
typedef void (*DrawloomEntry)(void **arguments, const DrawloomHost *host);

#ifdef __cplusplus
}
#endif

#endif /* DRAWLOOM_RUNTIME_ABI_H */
