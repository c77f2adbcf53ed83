//===- UringDevice.cpp - one ring of requests -----------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel answers requests of a ring that one thread has for itself only
// when that thread asks, which costs least. The ring is made by whoever makes
// the device, and belongs to the thread that first submits or reaps: what the
// kernel is to know of files and memory waits until then.
//
// The number of requests under way has a limit for each file, so that a disk
// that hangs holds up no other.
//
//===----------------------------------------------------------------------===//

#include "runtime/offload/Devices.h"
#include "runtime/offload/Ring.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <vector>

namespace drawloom::runtime::offload {

namespace {

/// Requests of a file that the kernel has at most.
constexpr unsigned depth = 64;
/// Files and pieces of memory that are registered; more are used as they are.
constexpr unsigned mostFiles = 64, mostPieces = 64;
/// The kernel's limits for a piece of memory and for a request.
constexpr uint64_t pieceBytes = uint64_t(1) << 30, mostBytes = 0x7ffff000;

/// Requests that are no transfers.
constexpr uint64_t wakeTag = UINT64_MAX - 1, cancelTag = UINT64_MAX - 2;

class UringDevice : public Device {
public:
  UringDevice(Ways ways, const io_uring &ring, int event, std::string lacking)
      : ways(ways), event(event), ring(ring), lacking(std::move(lacking)) {}
  ~UringDevice() override;

  const char *name() const override { return "io_uring"; }
  std::string limitations() const override { return lacking; }
  Result<FileFacts> open(const std::string &folder, uint64_t bytes) override;
  void registerMemory(void *memory, uint64_t bytes) override;
  void submit(const Transfer *transfers, size_t count) override;
  void cancel(uint64_t id) override;
  size_t reap(Completion *completions, size_t most, uint64_t until) override;
  void wake() override;
  uint64_t now() const override { return nanoseconds(); }
  size_t underWay() const override { return submitted; }

private:
  /// A transfer that the kernel has.
  struct Slot {
    Transfer transfer{};
    uint32_t generation = 0;
    bool used = false;
    /// Bytes that a write has put into the page cache, where the disk is now
    /// waited for.
    int64_t settling = 0;
  };
  struct OpenFile {
    File file;
    bool isRegistered = false;
    unsigned inKernel = 0;
    std::deque<Transfer> waiting;
  };
  struct Piece {
    char *memory;
    uint64_t bytes;
    int number; ///< Of the registered memory; -1 where it is none.
  };

  bool prepare();
  void registerFiles();
  void registerPieces();
  io_uring_sqe *newRequest();
  void setFile(io_uring_sqe *request, unsigned number);
  int pieceOf(const char *memory, uint64_t count) const;
  void beginWaiting();
  void begin(io_uring_sqe *request, const Transfer &transfer);
  void cancelSlot(size_t number);
  int wait(uint64_t until);
  size_t take(Completion *completions, size_t most);
  bool isOver(Slot &slot, uint64_t tag, int64_t &result);

  const Ways ways;
  const int event; ///< Counts calls of wake().
  io_uring ring;
  bool isReady = false;     ///< It belongs to a thread.
  int broken = 0;           ///< Why it never will.
  bool isListening = false; ///< A read of `event` is in it.
  bool woken = false;
  uint64_t wakes = 0; ///< What that read gives.
  std::deque<OpenFile> files;
  std::vector<Piece> pieces;
  /// Those that the ring has been told of, and whether it keeps any.
  size_t filesSeen = 0, piecesSeen = 0;
  bool keepsFiles = false, keepsPieces = false;
  std::vector<Slot> slots;
  std::vector<uint32_t> unused; ///< Of the slots.
  std::deque<Completion> early; ///< Of what the kernel never got.
  size_t submitted = 0;
  std::string lacking;
  const pid_t process = ::getpid();
};

UringDevice::~UringDevice() {
  // The ring of a child is its parent's.
  if (isReady && process == ::getpid())
    for (size_t i = 0; i < slots.size(); ++i)
      if (slots[i].used)
        cancelSlot(i);
  // A ring ends some time after it was closed, and would keep the files, and
  // their space, until then. Those of transfers that do not come back it has to
  // keep; Linux may wait for these.
  if (isReady && process == ::getpid() && keepsFiles && submitted == 0)
    io_uring_unregister_files(&ring);
  io_uring_queue_exit(&ring);
  ::close(event);
}

Result<FileFacts> UringDevice::open(const std::string &folder, uint64_t bytes) {
  Result<File> file = File::open(folder, bytes, ways);
  if (!file.ok())
    return file.status();
  files.push_back({std::move(*file), false, 0, {}});
  return files.back().file.facts();
}

void UringDevice::registerMemory(void *memory, uint64_t bytes) {
  auto *start = static_cast<char *>(memory);
  for (uint64_t at = 0; at < bytes; at += pieceBytes)
    pieces.push_back({start + at, std::min(pieceBytes, bytes - at), -1});
}

/// What only the ring's thread may do. Whether it has a ring.
bool UringDevice::prepare() {
  if (!isReady && broken == 0) {
    broken = io_uring_enable_rings(&ring);
    isReady = broken == 0;
  }
  if (!isReady)
    return false;
  if (filesSeen < files.size())
    registerFiles();
  if (piecesSeen < pieces.size())
    registerPieces();
  if (io_uring_sqe *request = isListening ? nullptr : newRequest()) {
    io_uring_prep_read(request, event, &wakes, sizeof(wakes), 0);
    io_uring_sqe_set_data64(request, wakeTag);
    isListening = true;
  }
  return true;
}

/// The kernel need not look them up for each request.
void UringDevice::registerFiles() {
  if (filesSeen == 0)
    keepsFiles = io_uring_register_files_sparse(&ring, mostFiles) == 0;
  for (; filesSeen < files.size(); ++filesSeen) {
    auto number = static_cast<unsigned>(filesSeen);
    int descriptor = files[number].file.descriptor();
    files[number].isRegistered =
        keepsFiles && number < mostFiles &&
        io_uring_register_files_update(&ring, number, &descriptor, 1) == 1;
  }
  // What cannot be begun at once, threads of the kernel do: as many as are
  // needed, and at most as many as may wait for disks that hang.
  unsigned workers[] = {depth * static_cast<unsigned>(files.size()), 0};
  io_uring_register_iowq_max_workers(&ring, workers);
}

/// The kernel need not pin their pages for each request.
void UringDevice::registerPieces() {
  int code = ways.pinned ? 0 : -EOPNOTSUPP;
  if (piecesSeen == 0 && code == 0) {
    code = io_uring_register_buffers_sparse(&ring, mostPieces);
    keepsPieces = code == 0;
  }
  for (; piecesSeen < pieces.size(); ++piecesSeen) {
    if (!keepsPieces || piecesSeen >= mostPieces)
      continue;
    Piece &piece = pieces[piecesSeen];
    iovec range{piece.memory, piece.bytes};
    __u64 tag = 0;
    int done = io_uring_register_buffers_update_tag(
        &ring, static_cast<unsigned>(piecesSeen), &range, &tag, 1);
    if (done == 1)
      piece.number = static_cast<int>(piecesSeen);
    else
      code = done;
  }
  if (code < 0)
    lacking += std::string(lacking.empty() ? "" : "; ") +
               "memory is not registered with the kernel (" +
               std::strerror(-code) +
               "; the limit of locked memory, ulimit -l, may be too low), "
               "which costs a little time";
}

/// A place for a request in the ring; null if the kernel takes no more now.
io_uring_sqe *UringDevice::newRequest() {
  io_uring_sqe *request = io_uring_get_sqe(&ring);
  if (!request && io_uring_submit(&ring) >= 0)
    request = io_uring_get_sqe(&ring);
  return request;
}

void UringDevice::submit(const Transfer *transfers, size_t count) {
  bool hasThread = prepare();
  submitted += count;
  for (size_t i = 0; i < count; ++i)
    if (!hasThread)
      early.push_back({transfers[i].id, broken});
    else if (transfers[i].file >= files.size())
      early.push_back({transfers[i].id, -EBADF});
    else
      files[transfers[i].file].waiting.push_back(transfers[i]);
  if (!hasThread)
    return;
  beginWaiting();
  // What the kernel does not take now it gets by reap().
  io_uring_submit(&ring);
}

/// Gives the kernel as much as it may have.
void UringDevice::beginWaiting() {
  for (OpenFile &file : files)
    while (!file.waiting.empty() && file.inKernel < depth) {
      io_uring_sqe *request = newRequest();
      if (!request)
        return;
      begin(request, file.waiting.front());
      file.waiting.pop_front();
      ++file.inKernel;
    }
}

void UringDevice::setFile(io_uring_sqe *request, unsigned number) {
  if (!files[number].isRegistered)
    return;
  request->fd = static_cast<int>(number);
  request->flags |= IOSQE_FIXED_FILE;
}

/// The registered memory that all of a range is in; -1 if none is.
int UringDevice::pieceOf(const char *memory, uint64_t count) const {
  for (const Piece &piece : pieces)
    if (piece.number >= 0 && memory >= piece.memory && count <= piece.bytes &&
        static_cast<uint64_t>(memory - piece.memory) <= piece.bytes - count)
      return piece.number;
  return -1;
}

void UringDevice::begin(io_uring_sqe *request, const Transfer &transfer) {
  if (unused.empty()) {
    unused.push_back(static_cast<uint32_t>(slots.size()));
    slots.emplace_back();
  }
  uint32_t number = unused.back();
  unused.pop_back();
  Slot &slot = slots[number];
  slot = {transfer, slot.generation + 1, true, 0};

  auto *memory = static_cast<char *>(transfer.memory);
  auto count = static_cast<unsigned>(std::min(transfer.count, mostBytes));
  int piece = pieceOf(memory, count);
  int descriptor = files[transfer.file].file.descriptor();
  bool isWrite = transfer.kind == Transfer::Kind::Write;
  if (isWrite && piece >= 0)
    io_uring_prep_write_fixed(request, descriptor, memory, count,
                              transfer.offset, piece);
  else if (isWrite)
    io_uring_prep_write(request, descriptor, memory, count, transfer.offset);
  else if (piece >= 0)
    io_uring_prep_read_fixed(request, descriptor, memory, count,
                             transfer.offset, piece);
  else
    io_uring_prep_read(request, descriptor, memory, count, transfer.offset);
  setFile(request, transfer.file);
  io_uring_sqe_set_data64(request, uint64_t(slot.generation) << 32 | number);
}

void UringDevice::cancel(uint64_t id) {
  for (OpenFile &file : files)
    for (auto one = file.waiting.begin(); one != file.waiting.end(); ++one)
      if (one->id == id) {
        file.waiting.erase(one);
        early.push_back({id, -ECANCELED});
        return;
      }
  for (size_t i = 0; i < slots.size(); ++i)
    if (slots[i].used && slots[i].transfer.id == id)
      cancelSlot(i);
}

void UringDevice::cancelSlot(size_t number) {
  io_uring_sqe *request = newRequest();
  if (!request)
    return;
  io_uring_prep_cancel64(request,
                         uint64_t(slots[number].generation) << 32 | number, 0);
  io_uring_sqe_set_data64(request, cancelTag);
  io_uring_submit(&ring);
}

/// Waits for an answer. 0 if there may be one, else the negative of an errno:
/// -ETIME where there was none until then.
int UringDevice::wait(uint64_t until) {
  for (;;) {
    uint64_t time = nanoseconds(), left = until > time ? until - time : 0;
    // An end that is further away than any is none.
    __kernel_timespec span{static_cast<int64_t>(left / 1'000'000'000),
                           static_cast<int64_t>(left % 1'000'000'000)};
    io_uring_cqe *answer = nullptr;
    int code = io_uring_submit_and_wait_timeout(
        &ring, &answer, 1, left > INT64_MAX ? nullptr : &span, nullptr);
    if (code >= 0)
      return 0;
    if (code != -EINTR)
      return code;
  }
}

/// Whether nothing of a transfer is left to do. `result` becomes its own.
bool UringDevice::isOver(Slot &slot, uint64_t tag, int64_t &result) {
  const Transfer &transfer = slot.transfer;
  const File &file = files[transfer.file].file;
  auto settled = static_cast<uint64_t>(slot.settling);
  if (slot.settling > 0)
    result = result < 0 && result != -EOPNOTSUPP ? result : slot.settling;
  else if (!file.facts().direct && result > 0) {
    settled = static_cast<uint64_t>(result);
    if (transfer.kind == Transfer::Kind::Write) {
      if (io_uring_sqe *request = newRequest()) {
        io_uring_prep_sync_file_range(
            request, file.descriptor(), static_cast<unsigned>(settled),
            transfer.offset,
            SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
                SYNC_FILE_RANGE_WAIT_AFTER);
        setFile(request, transfer.file);
        io_uring_sqe_set_data64(request, tag);
        slot.settling = result;
        return false;
      }
      if (int code = settleWrite(file.descriptor(), transfer.offset, settled))
        result = code;
    }
  }
  if (settled > 0)
    forget(file.descriptor(), transfer.offset, settled);
  return true;
}

/// Takes answers that are there. Those to transfers that are over go to
/// `completions`, up to `most`.
size_t UringDevice::take(Completion *completions, size_t most) {
  size_t count = 0;
  io_uring_cqe *answer = nullptr;
  while (count < most && io_uring_peek_cqe(&ring, &answer) == 0) {
    uint64_t tag = io_uring_cqe_get_data64(answer);
    int64_t result = answer->res;
    io_uring_cqe_seen(&ring, answer);
    if (tag == wakeTag) {
      woken = true;
      isListening = false;
    }
    if (tag == wakeTag || tag == cancelTag)
      continue;
    auto number = static_cast<uint32_t>(tag);
    Slot &slot = slots[number];
    if (!isOver(slot, tag, result))
      continue;
    completions[count++] = {slot.transfer.id, result};
    --files[slot.transfer.file].inKernel;
    slot.used = false;
    unused.push_back(number);
  }
  return count;
}

size_t UringDevice::reap(Completion *completions, size_t most, uint64_t until) {
  size_t count = std::min(most, early.size());
  std::copy_n(early.begin(), count, completions);
  early.erase(early.begin(), early.begin() + static_cast<ptrdiff_t>(count));
  for (bool isLate = false; prepare(); isLate = nanoseconds() >= until) {
    count += take(completions + count, most - count);
    beginWaiting();
    if (count > 0 || woken || isLate)
      break;
    int code = wait(until);
    // The kernel lacks room for answers or for requests, and gets some time.
    if (code < 0 && code != -ETIME)
      ::usleep(1000);
  }
  if (isReady && io_uring_sq_ready(&ring) > 0)
    io_uring_submit(&ring);
  // Nothing will come back.
  if (!isReady && count == 0)
    ::usleep(1000);
  woken = false;
  submitted -= count;
  return count;
}

void UringDevice::wake() {
  uint64_t one = 1;
  // Refused only where the count is full: it is awake then.
  static_cast<void>(!::write(event, &one, sizeof(one)));
}

} // namespace

Result<std::unique_ptr<Device>> makeUringDevice(Ways ways) {
  bool single = ways.single;
  int code = tryRing(single);
  // Linux 6.1 gives one thread a ring of its own.
  if (code == -EINVAL && single) {
    single = false;
    code = tryRing(single);
  }
  io_uring ring;
  int event = -1;
  if (code == 0 && (event = ::eventfd(0, EFD_CLOEXEC)) < 0)
    code = -errno;
  if (code == 0 && (code = makeRing(ring, single, true)) < 0)
    ::close(event);
  if (code < 0)
    return Status::error("io_uring cannot be used: " + refusalOfRings(code));
  return std::unique_ptr<Device>(std::make_unique<UringDevice>(
      ways, ring, event,
      single ? ""
             : "the ring is not one thread's own (Linux 6.1), which costs a "
               "little time"));
}

} // namespace drawloom::runtime::offload
