/* Part of the Drawloom project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information. SPDX-License-Identifier:
 * Apache-2.0 WITH LLVM-exception
 *
 * Preloaded into a process by `drawloom-bench offload-faults`, makes reads or
 * writes of files below $FAULT_FOLDER fail, by whatever way they are asked for:
 * pread and pwrite, libaio, or a liburing that is part of the library
 * $FAULT_NEXT. $FAULT is "KIND WHAT N": a read or a write, "short" or "error",
 * and which one of them, 0 for all. A short one moves half of its bytes, as the
 * kernel does and says; one with an error moves none and gives EIO.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <libaio.h>
#include <liburing.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define NEXT_RING(name) ((__typeof__(&name))dlsym(library(), #name))

static const char *folder;
static char kind[8], what[8];
static long number;
static atomic_long count;

__attribute__((constructor)) static void readEnvironment(void) {
  const char *fault = getenv("FAULT");
  folder = getenv("FAULT_FOLDER");
  if (!folder || !fault ||
      sscanf(fault, "%7s %7s %ld", kind, what, &number) != 3)
    folder = NULL;
}

static void *library(void) {
  static void *found;
  if (!found)
    found = dlopen(getenv("FAULT_NEXT"), RTLD_LAZY | RTLD_NOLOAD);
  return found;
}

static int isBelow(int file) {
  char link[64], path[4096];
  snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof(path) - 1);
  if (length < 0)
    return 0;
  path[length] = 0;
  return strncmp(path, folder, strlen(folder)) == 0;
}

/* Whether this transfer is to fail. */
static int fails(int isWrite, int file) {
  if (!folder || isWrite != (strcmp(kind, "write") == 0) || !isBelow(file))
    return 0;
  long now = atomic_fetch_add(&count, 1) + 1;
  return number == 0 || now == number;
}

static int isShort(void) { return strcmp(what, "short") == 0; }
/* Of so many bytes, in units that O_DIRECT takes. */
static size_t half(size_t bytes) { return bytes / 2 / 4096 * 4096; }

#define TRANSFER(name, isWrite, type)                                          \
  ssize_t name(int file, type bytes, size_t size, off_t offset) {              \
    if (!fails(isWrite, file))                                                 \
      return NEXT(name)(file, bytes, size, offset);                            \
    if (isShort())                                                             \
      return NEXT(name)(file, bytes, half(size), offset);                      \
    errno = EIO;                                                               \
    return -1;                                                                 \
  }
TRANSFER(pread, 0, void *)
TRANSFER(pread64, 0, void *)
TRANSFER(pwrite, 1, const void *)
TRANSFER(pwrite64, 1, const void *)

int io_submit(io_context_t context, long size, struct iocb **list) {
  for (long i = 0; i < size; ++i) {
    int isWrite = list[i]->aio_lio_opcode == IO_CMD_PWRITE;
    if (fails(isWrite, list[i]->aio_fildes))
      list[i]->u.c.nbytes = isShort() ? half(list[i]->u.c.nbytes) : 0;
  }
  return NEXT(io_submit)(context, size, list);
}

/* Nobody asks for 0 bytes but the function above. */
static int finished(int size, struct io_event *events) {
  for (int i = 0; i < size; ++i)
    if (folder && !isShort() && events[i].res == 0)
      events[i].res = (unsigned long)-EIO;
  return size;
}

int io_getevents(io_context_t context, long least, long most,
                 struct io_event *events, struct timespec *time) {
  return finished(NEXT(io_getevents)(context, least, most, events, time),
                  events);
}

int io_pgetevents(io_context_t context, long least, long most,
                  struct io_event *events, struct timespec *time,
                  sigset_t *signals) {
  return finished(
      NEXT(io_pgetevents)(context, least, most, events, time, signals), events);
}

int io_uring_submit(struct io_uring *ring) {
  for (unsigned i = ring->sq.sqe_head; i != ring->sq.sqe_tail; ++i) {
    struct io_uring_sqe *entry = &ring->sq.sqes[i & ring->sq.ring_mask];
    if (fails(entry->opcode == IORING_OP_WRITE, entry->fd))
      entry->len = isShort() ? (unsigned)half(entry->len) : 0;
  }
  return NEXT_RING(io_uring_submit)(ring);
}

int __io_uring_get_cqe(struct io_uring *ring, struct io_uring_cqe **entry,
                       unsigned submit, unsigned wait, sigset_t *signals) {
  int result =
      NEXT_RING(__io_uring_get_cqe)(ring, entry, submit, wait, signals);
  if (result == 0 && folder && !isShort() && (*entry)->res == 0)
    (*entry)->res = -EIO;
  return result;
}
