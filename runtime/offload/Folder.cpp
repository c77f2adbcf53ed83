//===- Folder.cpp - nameless files in folders -----------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/offload/Folder.h"
#include "runtime/offload/Devices.h"
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <memory>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace drawloom::runtime::offload {

namespace {

constexpr const char *overNetwork =
    "it is reached over a network, which sets its speed and may fail";
constexpr const char *inMemory =
    "its files are in memory: what is offloaded to it takes as much as before";
constexpr const char *copiesOnWrite =
    "it writes to new places: space may run out although it is reserved";

struct FileSystem {
  uint64_t magic;
  const char *name;
  const char *limitation;
};
constexpr FileSystem fileSystems[] = {
    {EXT4_SUPER_MAGIC, "ext4", nullptr},
    {XFS_SUPER_MAGIC, "xfs", nullptr},
    {BTRFS_SUPER_MAGIC, "btrfs", nullptr},
    {F2FS_SUPER_MAGIC, "f2fs", copiesOnWrite},
    {0xca451a4e, "bcachefs", copiesOnWrite},
    {0x2fc12fc1, "zfs", copiesOnWrite},
    {TMPFS_MAGIC, "tmpfs", inMemory},
    {RAMFS_MAGIC, "ramfs", inMemory},
    {HUGETLBFS_MAGIC, "hugetlbfs", inMemory},
    {OVERLAYFS_SUPER_MAGIC, "overlay",
     "its upper folder is in another file system, which sets what it can do"},
    {FUSE_SUPER_MAGIC, "fuse",
     "a process serves it, which sets its speed and may stop"},
    {NFS_SUPER_MAGIC, "nfs", overNetwork},
    {0xff534d42, "cifs", overNetwork},
    {0xfe534d42, "smb", overNetwork},
    {CEPH_SUPER_MAGIC, "ceph", overNetwork},
    {0x0bd00bd0, "lustre", overNetwork},
    {0x47504653, "gpfs", overNetwork},
    {V9FS_MAGIC, "9p", overNetwork},
    {MSDOS_SUPER_MAGIC, "vfat", nullptr},
    {0x2011bab0, "exfat", nullptr},
};

std::string quoted(const std::string &folder) { return "'" + folder + "'"; }

/// One message: what, where, why and the way out.
Status refused(const std::string &folder, const std::string &why) {
  return Status::error(quoted(folder) +
                       " cannot take what is offloaded: " + why);
}

std::string reason(int code) { return std::strerror(code); }

/// Why no file can be made in a folder.
Status cannotCreate(const std::string &folder, int code) {
  switch (code) {
  case ENOENT:
    if (::access(folder.c_str(), F_OK) == 0)
      break;
    return refused(folder, "it is not there; make it, or name another folder");
  case ENOTDIR:
    return refused(folder, "it is no folder; name one");
  case EACCES:
  case EPERM:
    return refused(folder, "user " + std::to_string(::geteuid()) +
                               " may not write to it; name a folder of this "
                               "user, or change the rights of this one");
  case EROFS:
    return refused(folder, "its file system is read-only; name a folder in "
                           "another one");
  case EMFILE:
    return refused(folder, "this process has as many files open as it may; "
                           "close some, or raise the limit (ulimit -n)");
  default:
    break;
  }
  return refused(folder, "no file can be made in it (" + reason(code) +
                             "); name another folder");
}

/// A file that nobody else can open, whose name is gone before it holds a byte;
/// or the negative of an errno. `why` says why it ever had a name.
int createUnlinked(const std::string &folder, bool nameless, std::string &why) {
  if (nameless) {
    // O_EXCL: it never gets a name.
    int number =
        ::open(folder.c_str(), O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    // File systems and kernels that know none say so in these ways.
    if (number >= 0 ||
        (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
      return number >= 0 ? number : -errno;
    why = "it knows no files without a name (O_TMPFILE: " + reason(errno) + ")";
  } else {
    why = "files without a name (O_TMPFILE) were not asked for";
  }
  why += ", so that a process that is killed as it opens its file may leave an "
         "empty one";
  std::string path = folder + "/.drawloom-offload-XXXXXX";
  int number = ::mkostemp(path.data(), O_CLOEXEC);
  if (number < 0)
    return -errno;
  if (::unlink(path.c_str()) == 0)
    return number;
  int code = errno;
  ::close(number);
  return -code;
}

/// Bytes that this user may still write there, and all that there are; the most
/// there can be where it is not known.
uint64_t freeBytes(int number) {
  struct statfs info;
  if (::fstatfs(number, &info) != 0 || info.f_blocks == 0)
    return UINT64_MAX;
  return static_cast<uint64_t>(info.f_bavail) * info.f_bsize;
}
uint64_t allBytes(int number) {
  struct statfs info;
  if (::fstatfs(number, &info) != 0 || info.f_blocks == 0)
    return UINT64_MAX;
  return static_cast<uint64_t>(info.f_blocks) * info.f_bsize;
}

/// 0, or an errno.
int allocate(int number, uint64_t bytes) {
  while (::fallocate(number, 0, 0, static_cast<off_t>(bytes)) != 0)
    if (errno != EINTR)
      return errno;
  return 0;
}

struct Free {
  void operator()(void *memory) const { std::free(memory); }
};

} // namespace

std::string inWords(uint64_t bytes) {
  static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit < 4; ++unit)
    value /= 1024;
  char text[32];
  std::snprintf(text, sizeof(text), unit == 0 ? "%.0f %s" : "%.2f %s", value,
                units[unit]);
  return text;
}

int settleWrite(int descriptor, uint64_t offset, uint64_t count) {
  if (::sync_file_range(descriptor, static_cast<off64_t>(offset),
                        static_cast<off64_t>(count),
                        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
                            SYNC_FILE_RANGE_WAIT_AFTER) == 0)
    return 0;
  // Of some the kernel's cache cannot be written range by range.
  return errno == ENOSYS || errno == EOPNOTSUPP ? 0 : -errno;
}

void forget(int descriptor, uint64_t offset, uint64_t count) {
  ::posix_fadvise(descriptor, static_cast<off_t>(offset),
                  static_cast<off_t>(count), POSIX_FADV_DONTNEED);
}

int64_t transferNow(int descriptor, bool direct, const Transfer &transfer) {
  auto offset = static_cast<off_t>(transfer.offset);
  bool isWrite = transfer.kind == Transfer::Kind::Write;
  ssize_t count;
  do
    count = isWrite
                ? ::pwrite(descriptor, transfer.memory, transfer.count, offset)
                : ::pread(descriptor, transfer.memory, transfer.count, offset);
  while (count < 0 && errno == EINTR);
  if (count < 0)
    return -errno;
  if (direct || count == 0)
    return count;
  int code = isWrite ? settleWrite(descriptor, transfer.offset,
                                   static_cast<uint64_t>(count))
                     : 0;
  forget(descriptor, transfer.offset, static_cast<uint64_t>(count));
  return code < 0 ? code : count;
}

File::File(File &&other) noexcept
    : number(std::exchange(other.number, -1)), known(std::move(other.known)) {}

File &File::operator=(File &&other) noexcept {
  std::swap(number, other.number);
  std::swap(known, other.known);
  return *this;
}

File::~File() {
  if (number >= 0)
    ::close(number);
}

Result<File> File::open(const std::string &folder, uint64_t bytes, Ways ways) {
  if (folder.empty())
    return Status::error("what is offloaded goes to a folder, but its name is "
                         "empty; name one");
  std::string why;
  int number = createUnlinked(folder, ways.nameless, why);
  if (number < 0)
    return cannotCreate(folder, -number);
  File file(number);
  file.known.folder = folder;
  file.known.nameless = why.empty();
  if (!why.empty())
    file.addLimitation(why);
  Status status = file.setUp(bytes, ways);
  if (!status.ok())
    return status;
  return file;
}

void File::addLimitation(const std::string &text) {
  known.limitations += (known.limitations.empty() ? "" : "; ") + text;
}

/// What is left once there is a file.
Status File::setUp(uint64_t bytes, Ways ways) {
  struct stat info;
  struct statfs system;
  if (::fstat(number, &info) != 0 || ::fstatfs(number, &system) != 0)
    return refused(known.folder, "it says nothing of itself (" + reason(errno) +
                                     "); name another folder");
  known.device = info.st_dev;
  auto magic = static_cast<uint64_t>(system.f_type) & 0xffffffff;
  char text[32];
  std::snprintf(text, sizeof(text), "0x%llx",
                static_cast<unsigned long long>(magic));
  known.fileSystem = text;
  for (const FileSystem &one : fileSystems) {
    if (one.magic != magic)
      continue;
    known.fileSystem = one.name;
    if (one.limitation)
      addLimitation(one.limitation);
  }
  // btrfs overwrites a file in its place if told before the first byte, and
  // reads and writes it past the page cache only then.
  int flags = 0;
  if (magic == BTRFS_SUPER_MAGIC &&
      (::ioctl(number, FS_IOC_GETFLAGS, &flags) != 0 ||
       (flags |= FS_NOCOW_FL, ::ioctl(number, FS_IOC_SETFLAGS, &flags) != 0)))
    addLimitation(copiesOnWrite);

  known.direct = ways.direct && makeDirect();
  if (!known.direct)
    known.alignment = 1;
  // The proof needs room as well.
  uint64_t whole = std::max<uint64_t>(known.alignment, 4096);
  if (bytes > static_cast<uint64_t>(INT64_MAX) - whole)
    return refused(known.folder, inWords(bytes) + " are more than a file holds;"
                                                  " ask for less");
  Status status = reserve(
      std::max((bytes + whole - 1) / whole * whole, 2 * whole), ways.reserve);
  if (!status.ok())
    return status;

  std::string failure = prove();
  if (!failure.empty() && known.direct) {
    known.direct = false;
    known.alignment = 1;
    ::fcntl(number, F_SETFL, ::fcntl(number, F_GETFL) & ~O_DIRECT);
    addLimitation("it takes no transfers past the page cache (" + failure +
                  "): they go through it");
    failure = prove();
  } else if (!known.direct) {
    addLimitation(
        ways.direct
            ? "it knows no transfers past the page cache (O_DIRECT): they go "
              "through it"
            : "transfers past the page cache (O_DIRECT) were not asked for");
  }
  if (!failure.empty())
    return refused(known.folder, failure + "; name a folder on another disk");
  return Status();
}

/// Whether transfers may go past the page cache, and how they must lie then.
bool File::makeDirect() {
  if (::fcntl(number, F_SETFL, ::fcntl(number, F_GETFL) | O_DIRECT) != 0)
    return false;
  // Enough for every disk of today; should it not be, the trial says so.
  known.alignment = 4096;
#ifdef STATX_DIOALIGN
  struct statx more;
  if (::statx(number, "", AT_EMPTY_PATH, STATX_DIOALIGN, &more) == 0 &&
      more.stx_mask & STATX_DIOALIGN) {
    known.alignment =
        std::max(more.stx_dio_mem_align, more.stx_dio_offset_align);
    if (known.alignment == 0) {
      ::fcntl(number, F_SETFL, ::fcntl(number, F_GETFL) & ~O_DIRECT);
      return false;
    }
  }
#endif
  return true;
}

Status File::reserve(uint64_t bytes, bool asked) {
  const std::string &folder = known.folder;
  // Beyond the limit the kernel also sends a signal, which ends the process.
  struct rlimit limit;
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && bytes > limit.rlim_cur)
    return refused(folder, inWords(bytes) +
                               " were asked for, but this process "
                               "may write no more than " +
                               inWords(limit.rlim_cur) +
                               " to a file; ask for less, or raise the limit "
                               "(ulimit -f)");
  // Of a store that was closed a moment ago, or a process that was killed, some
  // file systems free the space a little later.
  constexpr uint64_t patience = 300'000'000;
  uint64_t left = 0, begun = nanoseconds();
  int code = 0;
  for (;;) {
    left = freeBytes(number);
    // Before it fails, fallocate takes for a while what others need.
    code = bytes > left ? ENOSPC : asked ? allocate(number, bytes) : EOPNOTSUPP;
    if (code != ENOSPC || bytes > allBytes(number) ||
        nanoseconds() - begun > patience)
      break;
    // btrfs does when it has written all that it knows, each half a minute.
    if (known.fileSystem == "btrfs")
      ::syncfs(number);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  switch (code) {
  case 0:
    known.reserved = true;
    return Status();
  case ENOSPC:
    return refused(folder, inWords(bytes) + " were asked for, but only " +
                               inWords(left) + " of its file system (" +
                               known.fileSystem +
                               ") are free; ask for less, free some, or name "
                               "another folder");
  case EDQUOT:
    return refused(folder, inWords(bytes) + " were asked for, which are more "
                                            "than this user's quota leaves; "
                                            "ask for less, or name another "
                                            "folder");
  case EFBIG:
    return refused(folder, inWords(bytes) +
                               " were asked for, which is more "
                               "than a file of its file system (" +
                               known.fileSystem + ") can have; ask for less");
  case EOPNOTSUPP:
  case ENOSYS:
  case EINVAL:
    break;
  default:
    return refused(folder, "its space cannot be reserved (" + reason(code) +
                               "); name another folder");
  }
  if (::ftruncate(number, static_cast<off_t>(bytes)) != 0)
    return refused(folder, "a file in it cannot have " + inWords(bytes) + " (" +
                               reason(errno) + "); ask for less");
  addLimitation("its space is not reserved (fallocate: " +
                (asked ? reason(code) : "not asked for") +
                "): it may run out later");
  return Status();
}

/// Why the file does not take or give back bytes as it promises; "" if it does.
std::string File::prove() const {
  // No rounder than was promised, neither in memory nor in the file.
  size_t count = std::max<uint32_t>(known.alignment, 512);
  size_t place = known.alignment;
  size_t page = std::max<size_t>(4096, 2 * count);
  std::unique_ptr<void, Free> owner(std::aligned_alloc(page, 2 * page));
  if (!owner)
    return "there is no memory to try it";
  auto *written = static_cast<unsigned char *>(owner.get()) + place;
  unsigned char *read = written + 2 * count;
  for (size_t i = 0; i < count; ++i) {
    written[i] = static_cast<unsigned char>(i * 167 >> 3 ^ i);
    read[i] = static_cast<unsigned char>(~written[i]);
  }
  for (auto kind : {Transfer::Kind::Write, Transfer::Kind::Read}) {
    bool isWrite = kind == Transfer::Kind::Write;
    int64_t got =
        transferNow(number, known.direct,
                    {0, kind, 0, place, isWrite ? written : read, count});
    if (got != static_cast<int64_t>(count))
      return std::string(isWrite ? "writing " : "reading ") +
             std::to_string(count) + " bytes on trial: " +
             (got < 0 ? reason(static_cast<int>(-got))
                      : "only " + std::to_string(got) + " were");
  }
  return std::memcmp(written, read, count) == 0
             ? ""
             : "it gave back other bytes on trial than it took";
}

} // namespace drawloom::runtime::offload
