/*===- table.h - rows of a file that is larger than memory --------*- C -*-===
 *
 * Part of the Drawloom project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * A table is a file of rows of one length. A fetch reads rows by number, on
 * threads of the table's own, ahead of their use. In libdrawloom_runtime.so and
 * libdrawloom.so.
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
  /** sizeof(DrawloomTableFile), so that later ones can have more. */
  size_t size;
  const char *path;
  /** Bytes in front of the first row, rows, and bytes of a row. */
  int64_t offset, rows, rowBytes;
  /** How many bytes the rows of all fetches have at most that are being read or
   * held; 0 for 64 MiB. What is given back is kept within it for later ones. */
  int64_t memory;
  /** Threads, each of which has one read under way; 0 for 8. */
  int64_t readers;
} DrawloomTableFile;

/** Opens the file for reading. One that is shorter than its rows is an error.
 */
DRAWLOOM_API DrawloomError *drawloomTableOpen(const DrawloomTableFile *file,
                                              DrawloomTable **table);
/** The table's fetches are destroyed before. */
DRAWLOOM_API void drawloomTableClose(DrawloomTable *table);

/** Starts to read `count` rows, whose numbers are not needed after the call;
 * `element` is DRAWLOOM_I32 or DRAWLOOM_I64. Rows that are named more than once
 * are read once. A number out of range is an error that names its place.
 * Fetches begin in the order in which they are started, each as soon as the
 * table's memory has room for it. */
DRAWLOOM_API DrawloomError *drawloomTableFetch(DrawloomTable *table,
                                               const void *numbers,
                                               DrawloomElement element,
                                               int64_t count,
                                               DrawloomFetch **fetch);
/** Waits for the rows, which follow each other in the order of their numbers,
 * at an address that is a multiple of 64; they may be written to and live as
 * long as the fetch. After so many nanoseconds `rows` is NULL and there is no
 * error; a negative number waits for as long as it takes. */
DRAWLOOM_API DrawloomError *drawloomFetchWait(DrawloomFetch *fetch,
                                              int64_t nanoseconds, void **rows);
/** Gives its memory back, also where rows are still being read. */
DRAWLOOM_API void drawloomFetchDestroy(DrawloomFetch *fetch);

/** What a table has done since it was opened. */
typedef struct DrawloomTableCounts {
  /** sizeof(DrawloomTableCounts). */
  size_t size;
  /** Fetches; rows that they asked for, and different ones within a fetch. */
  int64_t fetches, rows, rowsRead;
  /** Calls of the system, and what they read, gaps between rows included. */
  int64_t reads, bytes;
  /** Bytes of rows that are held now, and the most there have been. */
  int64_t held, mostHeld;
  /** How long callers have waited for rows, in nanoseconds. */
  int64_t waited;
} DrawloomTableCounts;

DRAWLOOM_API void drawloomTableCount(const DrawloomTable *table,
                                     DrawloomTableCounts *counts);

#ifdef __cplusplus
}
#endif

#endif /* DRAWLOOM_C_TABLE_H */
