/*===- offload.h - records that wait on disks -----------------------*- C -*-===
 *
 * Part of the Drawloom project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * A store keeps bytes that do not fit in memory until they are needed again,
 * such as activations that the backward pass needs. It writes them to unnamed
 * files in folders that the caller chooses; the files disappear with the
 * process. A read returns the bytes that were written or an error, never wrong
 * bytes: a checksum of each MiB is kept in memory. Part of
 * libdrawloom_runtime.so and libdrawloom.so.
 *
 * Any thread may call any function. In a forked child, stores are dead: their
 * memory is not mapped, and every call fails, except closing a store, which
 * does nothing.
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
  /** Set to sizeof(DrawloomStoreOptions), so that later versions can add
   * fields. A field below that is 0 or NULL takes its default. */
  size_t size;
  /** Folders of the files; at least one. Records are spread over all folders,
   * with more records on faster ones: name one folder of each disk. */
  const char *const *folders;
  size_t folderCount;
  /** Total bytes on disk, divided equally among the folders. They are reserved
   * when the store is opened, if the file system supports that. There is no
   * default. */
  uint64_t capacity;
  /** Max bytes of memory that the store uses for data being written and data
   * read ahead: at least 8 MiB; defaults to 256 MiB. */
  uint64_t memory;
  /** Nanoseconds after which a disk operation counts as failed and its folder
   * is no longer used; defaults to 30 s. */
  uint64_t timeout;
  /** "io_uring", "threads", or "memory" (for tests). The default is "io_uring"
   * if this process may use it, else "threads". */
  const char *device;
  /** Faults to inject, for tests: rules separated by |, such as
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

/** Opens a store: creates its files, and a thread that writes and reads
 * them. */
DRAWLOOM_API DrawloomError *
drawloomStoreOpen(const DrawloomStoreOptions *options, DrawloomStore **store);
/** Drops all records, waits for operations in progress for up to `nanoseconds`
 * (if negative, for the timeout in the options), and destroys the store. No
 * other call may be in progress, and none of the store's memory may be
 * borrowed. If the time runs out, memory that a disk may still write to is
 * never freed, and the error states how much; the store is destroyed in any
 * case. */
DRAWLOOM_API DrawloomError *drawloomStoreClose(DrawloomStore *store,
                                               int64_t nanoseconds);
/** Opens a store, closes it again, and calls `write` once with a text that
 * states, for each folder, what the store would use and why it cannot use
 * something better. */
DRAWLOOM_API DrawloomError *
drawloomStoreProbe(const DrawloomStoreOptions *options,
                   void (*write)(void *context, const char *text),
                   void *context);

/** Identifies bytes in a store. A call with the number of a dropped record is
 * an error, even after its index has been reused. {0, 0} is no record. */
typedef struct DrawloomRecord {
  uint32_t index, generation;
} DrawloomRecord;

/** Value of `due` for a record whose order is unknown. */
#define DRAWLOOM_DUE_UNKNOWN UINT64_MAX

/** Flag of a put: the record cannot be recomputed, such as an optimizer's
 * state. The data written is immediately read back from the disk, and the bytes
 * stay in memory until all checksums have matched; data that does not match is
 * written to another place, in another folder if there is one. If no folder
 * accepts the data, the record has failed, and drawloomStoreFinish reports it;
 * the record can still be read, and occupies memory until it is dropped. */
#define DRAWLOOM_PUT_PERSISTENT 1u

/** Stores a copy of the bytes, which may be modified as soon as the function
 * returns. Waits for memory if the disks are slower than the caller. `site` is
 * a short name for messages, such as that of a layer; it is copied. `due` is
 * the record's position in the order of future gets: records that are due last
 * are written first. `flags` is 0 or DRAWLOOM_PUT_PERSISTENT.
 *
 * `*record` must be {0, 0} before the call. After `nanoseconds`, `*done` is 0
 * and there is no error: `*record` then names the record that was begun, if
 * any; repeat the call to continue, or call drawloomStoreDrop to abandon it. A
 * negative time waits without limit. */
DRAWLOOM_API DrawloomError *
drawloomStorePut(DrawloomStore *store, const void *data, uint64_t bytes,
                 const char *site, uint64_t due, uint32_t flags,
                 int64_t nanoseconds, DrawloomRecord *record, int *done);
/** Declares which records are read next, and in which order, replacing any
 * previous declaration; with NULL, all records in the order of their `due`.
 * Records are read as far ahead as memory allows. Reads in a different order
 * work as well. */
DRAWLOOM_API DrawloomError *drawloomStoreExpect(DrawloomStore *store,
                                                const DrawloomRecord *records,
                                                size_t count);
/** Copies a record to the caller's memory; may be called repeatedly. After
 * `nanoseconds`, `*done` is 0 and there is no error: `*progress`, which must be
 * 0 before the first call, then records how much was copied, and the same call
 * with the same memory continues from there. If `progress` is NULL, each call
 * starts over. A negative time waits without limit. */
DRAWLOOM_API DrawloomError *drawloomStoreGet(DrawloomStore *store,
                                             DrawloomRecord record, void *to,
                                             int64_t nanoseconds,
                                             uint64_t *progress, int *done);
/** Lends a record's bytes, read-only, in the store's memory at a multiple of
 * 4096. The loan lasts until drawloomStoreReturn, even if the record is dropped
 * before. Multiple borrowers of one record get the same memory. After
 * `nanoseconds`, `*data` is NULL and there is no error. If borrowed records
 * leave too little memory, the call fails with DRAWLOOM_ERROR_MEMORY;
 * drawloomStoreGet works even then. */
DRAWLOOM_API DrawloomError *drawloomStoreBorrow(DrawloomStore *store,
                                                DrawloomRecord record,
                                                int64_t nanoseconds,
                                                void **data);
/** Returns borrowed memory; call once for each borrow. */
DRAWLOOM_API DrawloomError *drawloomStoreReturn(DrawloomStore *store,
                                                void *data);
/** Drops a record. Data that has not been written yet never is. Does not
 * wait. */
DRAWLOOM_API DrawloomError *drawloomStoreDrop(DrawloomStore *store,
                                              DrawloomRecord record);
/** Drops `old` as soon as all of `by`, a persistent record, has been written
 * and verified; does not wait. So data that is put repeatedly, such as an
 * optimizer's state, has a verified version at every moment: put the new
 * version, let it replace the old one, and use only the new one. A put that
 * finds no room waits for replaced records to be dropped. If `by` fails, or is
 * dropped first, `old` stays. */
DRAWLOOM_API DrawloomError *drawloomStoreReplace(DrawloomStore *store,
                                                 DrawloomRecord old,
                                                 DrawloomRecord by);
/** Waits until all records that are not dropped are on disk and all persistent
 * records are verified. After a failed write or read, each call on the record
 * fails until it is dropped, except for a persistent record that is still in
 * memory. This call returns the first of these errors. After `nanoseconds`,
 * `*done` is 0 and there is no error. */
DRAWLOOM_API DrawloomError *drawloomStoreFinish(DrawloomStore *store,
                                                int64_t nanoseconds, int *done);

/** Sets the store in which this thread's subsequent program calls keep the
 * values that leave memory (such programs are compiled with drawloom-run
 * --spill, or spill= in Python); NULL for none. The store must outlive these
 * calls. If the store fails during a call, the call is retried once, and then
 * ends with DRAWLOOM_ERROR_STORAGE. */
DRAWLOOM_API void drawloomUseStore(DrawloomStore *store);
/** Returns the store's share of the `memory` bytes that a program was compiled
 * for (DrawloomCompilerOptions): a quarter, clamped to 8 to 256 MiB. */
DRAWLOOM_API uint64_t drawloomStoreShare(uint64_t memory);

/** Statistics of a store since it was opened. Bytes are those of records;
 * `written` and `read` also include the padding to whole pages. */
typedef struct DrawloomStoreCounts {
  /** Set to sizeof(DrawloomStoreCounts). */
  size_t size;
  /** Current number of records and their bytes. */
  uint64_t records, bytes;
  /** Records put and their bytes; records read or borrowed and their bytes. */
  uint64_t puts, bytesPut, gets, bytesGot;
  /** Bytes written to the disks, and bytes read back to be verified or
   * returned. */
  uint64_t written, read;
  /** Bytes that were read before their memory was needed for others, and bytes
   * never written because their records were dropped first. */
  uint64_t forwarded, cancelled;
  /** Nanoseconds that callers waited in puts, and in gets and borrows. */
  uint64_t putStall, getStall;
  /** Number of transfers that were retried in part or in full, of wrong
   * checksums, and of failed records. */
  uint64_t retries, mismatches, failures;
  /** Bytes on the disks that are no longer used because they failed. */
  uint64_t quarantined;
  /** Number of folders that are no longer used because they hung. */
  uint64_t deadFolders;
  /** Current and peak bytes of the store's memory; of these, bytes on loan, and
   * bytes that a hung disk may still write to. */
  uint64_t memory, mostMemory, lent, leaked;
  /** Bytes of persistent records that were read back intact. */
  uint64_t verified;
} DrawloomStoreCounts;

DRAWLOOM_API void drawloomStoreStatistics(const DrawloomStore *store,
                                          DrawloomStoreCounts *counts);
/** Calls `write` once with the most recent events (at most 65,536) in the JSON
 * format of the Chrome and Perfetto timelines: puts, gets and borrows, each
 * with what it waited for; and, for each folder, writes, reads, and
 * verification reads ("check"). */
DRAWLOOM_API DrawloomError *drawloomStoreTrace(const DrawloomStore *store,
                                               void (*write)(void *context,
                                                             const char *text),
                                               void *context);

#ifdef __cplusplus
}
#endif

#endif /* DRAWLOOM_C_OFFLOAD_H */
