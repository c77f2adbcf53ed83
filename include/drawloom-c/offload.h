/*===- offload.h - records that wait on disks -----------------------*- C -*-===
 *
 * Part of the Drawloom project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * A store keeps bytes that do not fit in memory until they are needed again,
 * such as what a backward pass needs of the forward pass. It writes them to
 * nameless files in folders of the caller's choice, which are gone when the
 * process is, and gives the same bytes back or an error, never others: each
 * MiB has a checksum in memory. In libdrawloom_runtime.so and libdrawloom.so.
 *
 * Any thread may call any function. In a child that was forked a store is dead:
 * calls are errors there, but for a close, which does nothing, and its memory
 * is not mapped.
 *
 *===----------------------------------------------------------------------===*/

#ifndef DRAWLOOM_C_OFFLOAD_H
#define DRAWLOOM_C_OFFLOAD_H

#include "drawloom-c/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct DrawloomStore DrawloomStore;

typedef struct DrawloomStoreOptions {
  /** sizeof(DrawloomStoreOptions), so that later ones can have more. What is 0
   * or NULL below stands for its default. */
  size_t size;
  /** Where the files are; at least one. Records are spread over all of them,
   * more to those that are faster: name one folder of each disk. */
  const char *const *folders;
  size_t folderCount;
  /** Bytes on the disks, all folders together, each with an equal share. They
   * are taken when the store is opened, where the file system can do that. No
   * default. */
  uint64_t capacity;
  /** Bytes of memory that the store has at most, for what is being written and
   * what has been read: at least 8 MiB; 256 MiB by default. */
  uint64_t memory;
  /** After so many nanoseconds an operation of a disk counts as failed, and its
   * folder is not used any more; 30 s by default. */
  uint64_t timeout;
  /** "io_uring", "threads", or "memory", which is for tests; by default the
   * first where this process may use it, else the second. */
  const char *device;
  /** What is to go wrong, for tests: rules with a | between them, such as
   *
   *   op=write;nth=3;do=errno EIO | op=read;p=1/100,7;do=flip 12
   *
   * `op` is open, write or read, and without it a write or a read. `nth=N` is
   * the Nth of these, `every=K` each Kth, `p=1/M,SEED` one in M by chance, and
   * without any of them each. `do` is one of
   *
   *   errno E       fails with that error, a number or a name
   *   short N       moves N bytes only, and says so
   *   flip BIT      changes that bit of what is moved
   *   drop          is said to be done, and is not
   *   torn N        moves N sectors of 512 bytes only, and says it moved all
   *   stale         reads what was at this place before it was last written; a
   *                 write is not done
   *   swap          takes the place of the next transfer of as many bytes, and
   *                 that one its place
   *   delay US      comes back so many microseconds later
   *   never         does not come back
   *   twice         comes back two times
   *   reorder SEED  comes back after some that were started later
   *   kill          ends the process with SIGKILL
   *
   * of which an open can only have `errno` and `kill`. */
  const char *faults;
} DrawloomStoreOptions;

/** Makes the files, and a thread that writes and reads them. */
DRAWLOOM_API DrawloomError *
drawloomStoreOpen(const DrawloomStoreOptions *options, DrawloomStore **store);
/** Drops all records, waits for what is under way, up to so many nanoseconds (a
 * negative number: for as long as the options let an operation take), and
 * destroys the store. No other call may be under way, and no memory of it be
 * borrowed. Where the time ends, memory that a disk may still write to is
 * never given back, and the error says how much; the store is gone anyhow. */
DRAWLOOM_API DrawloomError *drawloomStoreClose(DrawloomStore *store,
                                               int64_t nanoseconds);
/** Opens a store, closes it again, and gives a text to `write`, once: what it
 * would use, folder by folder, and why not something better. */
DRAWLOOM_API DrawloomError *
drawloomStoreProbe(const DrawloomStoreOptions *options,
                   void (*write)(void *context, const char *text),
                   void *context);

/** Bytes that a store has. The number of one that has been dropped is an error
 * in each call, also once its index names another. No record is {0, 0}. */
typedef struct DrawloomRecord {
  uint32_t index, generation;
} DrawloomRecord;

/** The `due` of a record for which no order is known. */
#define DRAWLOOM_DUE_UNKNOWN UINT64_MAX

/** A flag of a put: the record cannot be computed again, as an optimizer's
 * state cannot. What was written of it is read back from the disk at once, and
 * the bytes stay in memory until all checksums were right: what was not is
 * written to another place, in another folder where there is one. Where none
 * takes it the record has failed, and drawloomStoreFinish says so; but it can
 * still be got, and its bytes hold memory until it is dropped. */
#define DRAWLOOM_PUT_PERSISTENT 1u

/** Copies the bytes, which may be changed as soon as this returns. Waits for
 * memory where the disks are slower than the caller. `site` is a short name for
 * messages, such as that of a layer; it is copied. `due` is the record's place
 * in the order of the gets to come: those that are due last are written first.
 * `flags` is 0 or DRAWLOOM_PUT_PERSISTENT.
 *
 * `*record` is {0, 0} before the call. After so many nanoseconds `*done` is 0
 * and there is no error: `*record` then names what has begun, if anything has,
 * and the same call goes on from there, or drawloomStoreDrop ends it. A
 * negative number waits for as long as it takes. */
DRAWLOOM_API DrawloomError *
drawloomStorePut(DrawloomStore *store, const void *data, uint64_t bytes,
                 const char *site, uint64_t due, uint32_t flags,
                 int64_t nanoseconds, DrawloomRecord *record, int *done);
/** Says which records are got next, and in which order, in the place of what
 * was said before; with NULL, all of them by their `due`. They are read as far
 * ahead as the memory allows. A get out of this order works, too. */
DRAWLOOM_API DrawloomError *drawloomStoreExpect(DrawloomStore *store,
                                                const DrawloomRecord *records,
                                                size_t count);
/** Copies a record to memory of the caller's, as often as it is called. After
 * so many nanoseconds `*done` is 0 and there is no error: `*progress`, 0 before
 * the first call, then says how far it came, and the same call again goes on
 * from there in the same memory. Without `progress` each call begins anew. A
 * negative number waits for as long as it takes. */
DRAWLOOM_API DrawloomError *drawloomStoreGet(DrawloomStore *store,
                                             DrawloomRecord record, void *to,
                                             int64_t nanoseconds,
                                             uint64_t *progress, int *done);
/** Lends a record's bytes in memory of the store's, at a multiple of 4096, to
 * be read. It lasts until drawloomStoreReturn, also where the record is dropped
 * before. Several that borrow one record get the same memory. After so many
 * nanoseconds `*data` is NULL and there is no error. Where borrowed records
 * leave no memory for it, that is DRAWLOOM_ERROR_MEMORY; drawloomStoreGet works
 * even then. */
DRAWLOOM_API DrawloomError *drawloomStoreBorrow(DrawloomStore *store,
                                                DrawloomRecord record,
                                                int64_t nanoseconds,
                                                void **data);
/** Gives borrowed memory back, once for each time it was lent. */
DRAWLOOM_API DrawloomError *drawloomStoreReturn(DrawloomStore *store,
                                                void *data);
/** Ends a record. What of it has not been written never is. Waits for nothing.
 */
DRAWLOOM_API DrawloomError *drawloomStoreDrop(DrawloomStore *store,
                                              DrawloomRecord record);
/** Drops `old` as soon as all of `by`, a persistent record, has been written
 * and read back; waits for nothing. So of something that is put again and
 * again, such as an optimizer's state, there is one verified version at each
 * moment: put the new one, let it replace the old one, and use the new one
 * only. A put for which there is no room waits for what is replaced. Where `by`
 * fails, or is dropped before, `old` stays. */
DRAWLOOM_API DrawloomError *drawloomStoreReplace(DrawloomStore *store,
                                                 DrawloomRecord old,
                                                 DrawloomRecord by);
/** Waits until all records that are not dropped are on the disks, and those
 * that are persistent are verified. A record that could not be written or read
 * is an error of each call on it until it is dropped, but for a persistent one
 * that memory still has; this one gives the first of these errors. After so
 * many nanoseconds `*done` is 0 and there is no error. */
DRAWLOOM_API DrawloomError *drawloomStoreFinish(DrawloomStore *store,
                                                int64_t nanoseconds, int *done);

/** What a store has done since it was opened. Bytes are those of records;
 * `written` and `read` also have what rounds these up to pages. */
typedef struct DrawloomStoreCounts {
  /** sizeof(DrawloomStoreCounts). */
  size_t size;
  /** Records and bytes there are now. */
  uint64_t records, bytes;
  /** Records and bytes that were put, and that were got or borrowed. */
  uint64_t puts, bytesPut, gets, bytesGot;
  /** Bytes that went to the disks and came back, to be compared or to be got.
   */
  uint64_t written, read;
  /** Bytes that were got before their memory was needed for others, and those
   * that were never written since they were dropped before. */
  uint64_t forwarded, cancelled;
  /** Nanoseconds that callers waited in puts, and in gets and borrows. */
  uint64_t putStall, getStall;
  /** Transfers that were repeated, in part or as a whole; checksums that were
   * wrong; records that failed. */
  uint64_t retries, mismatches, failures;
  /** Bytes on the disks that are not used any more since they failed. */
  uint64_t quarantined;
  /** Folders that are not used any more since they hung. */
  uint64_t deadFolders;
  /** Bytes of memory that the store has now, and the most there have been;
   * of these, what is lent, and what a disk that hangs may still write to. */
  uint64_t memory, mostMemory, lent, leaked;
  /** Bytes of persistent records that came back as they were written. */
  uint64_t verified;
} DrawloomStoreCounts;

DRAWLOOM_API void drawloomStoreStatistics(const DrawloomStore *store,
                                          DrawloomStoreCounts *counts);
/** Gives the last events (65,536 at most) to `write`, once, in the JSON format
 * that Chrome's and Perfetto's timelines read: puts, gets and borrows, each
 * with what it waited for; of each folder writes, reads, and what was read back
 * to be compared ("check"). */
DRAWLOOM_API DrawloomError *drawloomStoreTrace(const DrawloomStore *store,
                                               void (*write)(void *context,
                                                             const char *text),
                                               void *context);

#ifdef __cplusplus
}
#endif

#endif /* DRAWLOOM_C_OFFLOAD_H */
