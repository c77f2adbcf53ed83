/*===- table.h - rows of a file that is larger than memory --------*- C -*-===
 *
 * Part of the Drawloom project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * A table is a file of rows of equal length. A fetch reads rows by number, on
 * the table's own threads, ahead of their use. Part of libdrawloom_runtime.so
 * and libdrawloom.so.
 *
 *===----------------------------------------------------------------------===*/

#ifndef DRAWLOOM_C_TABLE_H
#define DRAWLOOM_C_TABLE_H

#include "drawloom-c/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct DrawloomTable DrawloomTable;
typedef struct DrawloomFetch DrawloomFetch;

typedef struct DrawloomTableFile {
  /** Set to sizeof(DrawloomTableFile), so that later versions can add
   * fields. */
  size_t size;
  const char *path;
  /** Bytes before the first row, number of rows, and bytes per row. */
  int64_t offset, rows, rowBytes;
  /** Max bytes of rows being read or held, over all fetches; 0 selects 64 MiB.
   * Memory that fetches give back is kept for later ones, within this limit. */
  int64_t memory;
  /** Number of reader threads, each with one read in progress; 0 selects 8. */
  int64_t readers;
} DrawloomTableFile;

/** Opens a file for reading. A file that is shorter than its rows is an
 * error. */
DRAWLOOM_API DrawloomError *drawloomTableOpen(const DrawloomTableFile *file,
                                              DrawloomTable **table);
/** Closes a table. Its fetches must be destroyed first. */
DRAWLOOM_API void drawloomTableClose(DrawloomTable *table);

/** Starts to read `count` rows; the array of row numbers is not needed after
 * the call. `element` is DRAWLOOM_I32 or DRAWLOOM_I64. Rows that are named more
 * than once are read once. If a number is out of range, the error names its
 * position. Fetches begin in the order in which they are started, each as soon
 * as the table's memory has room for it. */
DRAWLOOM_API DrawloomError *drawloomTableFetch(DrawloomTable *table,
                                               const void *numbers,
                                               DrawloomElement element,
                                               int64_t count,
                                               DrawloomFetch **fetch);
/** Waits for the rows of a fetch. They are contiguous, in the order of their
 * numbers, at an address that is a multiple of 64; they may be written to, and
 * live as long as the fetch. After `nanoseconds`, `rows` is NULL and there is
 * no error; a negative time waits without limit. */
DRAWLOOM_API DrawloomError *drawloomFetchWait(DrawloomFetch *fetch,
                                              int64_t nanoseconds, void **rows);
/** Destroys a fetch and frees its memory, even if rows are still being read. */
DRAWLOOM_API void drawloomFetchDestroy(DrawloomFetch *fetch);

/** Statistics of a table since it was opened. */
typedef struct DrawloomTableCounts {
  /** Set to sizeof(DrawloomTableCounts). */
  size_t size;
  /** Number of fetches, of rows requested, and of rows that are distinct within
   * their fetch. */
  int64_t fetches, rows, rowsRead;
  /** Number of read system calls, and bytes read, including gaps between
   * rows. */
  int64_t reads, bytes;
  /** Current and peak bytes of rows held. */
  int64_t held, mostHeld;
  /** Nanoseconds that callers have waited for rows. */
  int64_t waited;
} DrawloomTableCounts;

DRAWLOOM_API void drawloomTableCount(const DrawloomTable *table,
                                     DrawloomTableCounts *counts);

#ifdef __cplusplus
}
#endif

#endif /* DRAWLOOM_C_TABLE_H */
