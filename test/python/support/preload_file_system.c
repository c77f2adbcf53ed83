/* Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Preloaded into a process, makes the file system below $PRELOAD_FOLDER one
 * that lacks what $PRELOAD lists, as those over a network do, and has the
 * process interrupted at a moment that no test could hit by waiting:
 *
 *   no-unnamed     no files without a name (O_TMPFILE)
 *   no-link        no hard links
 *   no-rename      rename fails
 *   no-create      read-only
 *   no-write       full
 *   no-locks       no locks of files, anywhere
 *   interrupt-write, interrupt-link, interrupt-rename
 *                  SIGINT amid a write, before a link, before a rename
 *   kill-write, kill-link, kill-rename
 *                  SIGKILL there
 *
 * With $PRELOAD_COUNT, the process writes to that file how often it has called
 * malloc; with $PRELOAD_AT, it gets SIGINT, or what $PRELOAD_SIGNAL says, in
 * the call of that number: a place in its work that does not depend on how fast
 * the machine is.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int listed(const char *what) {
  const char *list = getenv("PRELOAD");
  return list && strstr(list, what);
}

/// Raises what is asked for at a moment of file systems.
static void moment(const char *name) {
  char what[32];
  snprintf(what, sizeof(what), "interrupt-%s", name);
  if (listed(what))
    raise(SIGINT);
  snprintf(what, sizeof(what), "kill-%s", name);
  if (listed(what))
    raise(SIGKILL);
}

static atomic_long allocations;
static long signalledAt = -1;
static int signalNumber = SIGINT;

__attribute__((constructor)) static void readEnvironment(void) {
  const char *at = getenv("PRELOAD_AT"), *number = getenv("PRELOAD_SIGNAL");
  if (number)
    signalNumber = atoi(number);
  if (at)
    signalledAt = atol(at);
}

__attribute__((destructor)) static void writeCount(void) {
  const char *path = getenv("PRELOAD_COUNT");
  FILE *file = path ? fopen(path, "w") : NULL;
  if (!file)
    return;
  fprintf(file, "%ld\n", atomic_load(&allocations));
  fclose(file);
}

void *__libc_malloc(size_t size);
void *malloc(size_t size) {
  if (atomic_fetch_add(&allocations, 1) == signalledAt)
    raise(signalNumber);
  return __libc_malloc(size);
}

static int below(const char *path) {
  const char *folder = getenv("PRELOAD_FOLDER");
  return folder && strncmp(path, folder, strlen(folder)) == 0;
}

static int isBelow(int file) {
  char link[64], path[4096];
  snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof(path) - 1);
  if (length < 0)
    return 0;
  path[length] = 0;
  return below(path);
}

static int refused(int error) {
  errno = error;
  return -1;
}

static int refusesToOpen(const char *path, int flags) {
  int unnamed = (flags & O_TMPFILE) == O_TMPFILE;
  if (!below(path))
    return 0;
  if (unnamed && listed("no-unnamed"))
    return EOPNOTSUPP;
  return (unnamed || flags & O_CREAT) && listed("no-create") ? EROFS : 0;
}

#define OPEN(name)                                                             \
  int name(const char *path, int flags, ...) {                                 \
    va_list rest;                                                              \
    va_start(rest, flags);                                                     \
    mode_t mode = va_arg(rest, mode_t);                                        \
    va_end(rest);                                                              \
    int error = refusesToOpen(path, flags);                                    \
    return error ? refused(error) : NEXT(name)(path, flags, mode);             \
  }
OPEN(open)
OPEN(open64)

ssize_t write(int file, const void *bytes, size_t count) {
  if (!isBelow(file))
    return NEXT(write)(file, bytes, count);
  if (listed("no-write"))
    return refused(ENOSPC);
  if (listed("interrupt-write") || listed("kill-write")) {
    NEXT(write)(file, bytes, count / 2);
    moment("write");
  }
  return NEXT(write)(file, bytes, count);
}

int linkat(int fromFolder, const char *from, int toFolder, const char *to,
           int flags) {
  if (below(to))
    moment("link");
  if (below(to) && listed("no-link"))
    return refused(EPERM);
  return NEXT(linkat)(fromFolder, from, toFolder, to, flags);
}

int link(const char *from, const char *to) {
  return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int rename(const char *from, const char *to) {
  if (below(to))
    moment("rename");
  return below(to) && listed("no-rename") ? refused(EIO)
                                          : NEXT(rename)(from, to);
}

int flock(int file, int operation) {
  return listed("no-locks") ? refused(ENOLCK) : NEXT(flock)(file, operation);
}

#define FCNTL(name)                                                            \
  int name(int file, int command, ...) {                                       \
    va_list rest;                                                              \
    va_start(rest, command);                                                   \
    void *argument = va_arg(rest, void *);                                     \
    va_end(rest);                                                              \
    int locks = command == F_SETLK || command == F_SETLKW ||                   \
                command == F_OFD_SETLK || command == F_OFD_SETLKW;             \
    return locks && listed("no-locks") ? refused(ENOLCK)                       \
                                       : NEXT(name)(file, command, argument);  \
  }
FCNTL(fcntl)
FCNTL(fcntl64)
