//===- Core.h - what becomes of records ------------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A state machine. Commands, completions and the time go in; transfers, cancels
// and buffers to be mapped come out. It has no thread, makes no call of the
// system, reads no clock and touches no byte of a record: whoever calls it
// copies, and says what checksum the copy has. One lock guards all of it.
//
// A record is cut into pieces of a unit, the last one shorter. Pieces lie in
// blocks of a unit: a long piece has one of its own, shorter ones share them. A
// block is in a slot of the staging memory until it has been written, and after
// that until the slot is needed; what is got meanwhile is copied from there.
//
// A piece that is away is read to a buffer as large as its record where there
// is one (that was expected, or is borrowed), else to a slot.
//
// A block with a piece of a persistent record is read back to another slot once
// it is written, and has a place only when all its checksums are right. Until
// then its own slot stays, also where no file takes it.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_OFFLOAD_CORE_H
#define DRAWLOOM_RUNTIME_OFFLOAD_CORE_H

#include "runtime/offload/Device.h"
#include "runtime/offload/Slab.h"
#include "runtime/offload/Trace.h"
#include <deque>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace drawloom::runtime::offload {

/// A generation that has passed names no record. None is 0.
struct RecordId {
  uint32_t index = 0, generation = 0;
};

struct CoreOptions {
  uint64_t unit = uint64_t(1) << 20; ///< Of a write, and of a checksum.
  /// Places in blocks and bytes of buffers are multiples of it; a multiple of
  /// every file's alignment that divides the unit.
  uint64_t page = 4096;
  unsigned slots = 64;    ///< Units of staging memory, three or more.
  unsigned readSlots = 8; ///< Of these, what puts leave to gets.
  uint64_t loadMemory = uint64_t(192) << 20; ///< Bytes of buffers.
  unsigned depth = 16; ///< Transfers of a file that are under way at once.
  uint64_t timeout = 30'000'000'000; ///< Nanoseconds of a transfer.
};

struct CoreCounts {
  uint64_t records = 0, bytes = 0;
  uint64_t puts = 0, bytesPut = 0, gets = 0, bytesGot = 0;
  uint64_t written = 0, read = 0, forwarded = 0, cancelled = 0;
  uint64_t retries = 0, mismatches = 0, failures = 0;
  uint64_t strays = 0; ///< Completions of what is not under way.
  uint64_t quarantined = 0, deadFolders = 0, verified = 0;
  uint64_t memory = 0, mostMemory = 0, lent = 0, leaked = 0;
};

/// What a command comes to. With all but the first two there is a message.
enum class Outcome {
  Ready,
  Wait,        ///< To be tried again when something has changed.
  Failed,      ///< The disks.
  LacksMemory, ///< Of the store's, or of the machine's.
  Misused      ///< No such record.
};

/// Bytes to be copied, or checked where they are, by whoever holds the view.
struct View {
  const char *data = nullptr; ///< Null where nothing is to be done.
  char *into = nullptr; ///< Of the record's buffer; null for the caller's.
  uint64_t bytes = 0, offset = 0;

private:
  friend class Core;
  enum class Source : uint8_t { Nothing, Block, Loaded };
  Source source = Source::Nothing;
  RecordId record;
  uint32_t piece = 0, slot = UINT32_MAX, buffer = UINT32_MAX, sum = 0;
  uint8_t tries = 0;
};

/// Bytes that came back from a file, to be compared by whoever holds it.
struct Check {
  struct Part {
    uint64_t offset, bytes;
    uint32_t sum;
  };
  const char *data = nullptr;
  std::vector<Part> parts;

private:
  friend class Core;
  uint32_t block = UINT32_MAX, slot = UINT32_MAX;
};

class Core {
public:
  /// `bytes` of each file; `staging` has room for the slots.
  Core(const CoreOptions &options, std::vector<FileFacts> files,
       const std::vector<uint64_t> &bytes, char *staging, Trace *trace);

  /// Begins a record.
  Outcome put(uint64_t bytes, std::string site, uint64_t due, bool persistent,
              RecordId &id, std::string &why);
  /// Whether the record is one whose put has begun and not ended.
  bool isPutting(RecordId id, std::string &why);
  /// Where its next piece goes; none, with Ready, behind the last one. Each
  /// span is filled before the next is asked for.
  struct Span {
    char *memory = nullptr;
    uint64_t bytes = 0, offset = 0;
  };
  Outcome fill(RecordId id, Span &span, std::string &why);
  void filled(RecordId id, uint32_t sum);
  /// Ends a put that failed.
  void giveUp(RecordId id) { remove(id); }
  Outcome drop(RecordId id, std::string &why);
  /// Drops `old` as soon as all of `by`, which is persistent, is verified.
  Outcome replace(RecordId old, RecordId by, std::string &why);
  Outcome expect(const RecordId *ids, size_t count, std::string &why);
  void expectAll();

  /// Begins a get, or a borrow, which ends with end(), also where it failed
  /// meanwhile. Gives the record's bytes and pieces.
  Outcome begin(RecordId id, uint64_t &bytes, uint32_t &pieces,
                std::string &why);
  /// One piece; `whole` where it must be in the record's buffer.
  Outcome view(RecordId id, uint32_t piece, bool whole, View &view,
               std::string &why);
  /// Ends a view. Whether its bytes were right; else it is to be asked for
  /// again, and fails where that does not help.
  bool seen(const View &view, uint32_t sum);
  /// `complete` where no more of it is wanted.
  void end(RecordId id, bool complete);
  /// Where the pieces are that all have been seen as a whole; null where the
  /// record has failed or was dropped since.
  void *lend(RecordId id);
  Status giveBack(void *memory);

  /// From beginFinish() on everything is written as soon as possible.
  void beginFinish() { ++finishing, dirty = true; }
  void endFinish() { --finishing; }
  Outcome finish(std::string &why) const;
  /// Drops all records, and writes nothing more.
  void shut();

  /// What the thread is to do, in this order.
  struct Work {
    std::vector<std::pair<void *, uint64_t>> unmap;
    /// A buffer's number, and its bytes.
    std::vector<std::pair<uint32_t, uint64_t>> map;
    std::vector<uint64_t> cancel;
    std::vector<Transfer> submit;
    std::vector<Check> checks;
    uint64_t next = UINT64_MAX; ///< When it is to be asked again at the latest.
  };
  void advance(uint64_t now, Work &work);
  /// Null where there is no memory.
  void mapped(uint32_t buffer, void *memory);
  void complete(const Completion &completion, uint64_t now);
  /// Ends a check; `right` where each part has its checksum.
  void checked(const Check &check, bool right);
  /// Transfers have as much time as if they began now: the process had none.
  void renew(uint64_t now);
  /// Transfers that have not ended, and those of them that may never.
  size_t underWay() const;
  size_t abandoned() const;
  /// "" of one that is gone.
  std::string siteOf(RecordId id);

  /// Set where the thread has something to do, and where those that wait should
  /// look again; whoever acts on it takes it back.
  bool dirty = false, changed = false;
  CoreCounts counts() const;

private:
  static constexpr uint32_t none = UINT32_MAX;
  static constexpr unsigned mostTries = 3;
  /// So many pieces of a record are read ahead of a get.
  static constexpr uint32_t window = 16;
  /// Each buffer is a mapping, of which the system allows some 65,000.
  static constexpr size_t mostBuffers = 4096;

  struct Piece {
    uint32_t block = none, offset = 0, bytes = 0; ///< Where it is stored.
    uint32_t sum = 0;
    /// What was read again. In a slot if it has one, else in the buffer.
    enum class State : uint8_t { Away, Reading, Here } state = State::Away;
    bool checked = false; ///< In the buffer and right.
    bool filling = false; ///< Somebody copies it to the buffer.
    uint8_t tries = 0;
    uint32_t pins = 0; ///< Views of it.
    uint32_t slot = none;
  };
  struct Record {
    uint32_t generation = 1;
    enum class State : uint8_t { Free, Putting, Kept } state = State::Free;
    bool hungry = false;  ///< A put that waits.
    bool lacking = false; ///< The machine has no memory for a buffer.
    bool wanting = false; ///< A borrow that waits for a buffer.
    bool persistent = false;
    bool lost = false; ///< Its bytes are: it has failed, and not only a write.
    std::string site, failure;
    uint64_t bytes = 0, due = 0, failureNumber = 0;
    std::vector<Piece> pieces;
    uint32_t placed = 0;   ///< Pieces that have a block.
    uint32_t promised = 0; ///< Blocks that it may still take.
    uint32_t callers = 0;
    uint32_t cursor = 0; ///< The piece that a caller waits for.
    uint32_t scan = 0;   ///< Pieces before it need not be read.
    uint32_t buffer = none;
    uint64_t position = UINT64_MAX; ///< In the order of gets to come.
    std::vector<RecordId> replaces; ///< Dropped when all of it is verified.
  };
  struct Block {
    enum class State : uint8_t {
      Free,
      Open,   ///< Has room.
      Sealed, ///< Is to be written.
      Writing,
      Unchecked, ///< Is to be read back.
      Checking,
      Written,
      Refused ///< No file takes it: it stays in its slot.
    } state = State::Free;
    bool inQueue = false, deferred = false;
    bool persistent = false; ///< Has a piece of a record that is.
    uint8_t moves = 0;
    int avoided = -1; ///< A file that it could not be written to.
    uint32_t slot = none;
    uint32_t copy = none; ///< The slot that it is read back to.
    uint32_t live = 0, fills = 0, flights = 0;
    bool placed = false; ///< Has an extent.
    Extent extent;
    uint64_t used = 0, due = 0, sequence = 0;
    struct Member {
      RecordId record;
      uint32_t piece;
    };
    std::vector<Member> members;
    std::string failure; ///< Why it had to move.
  };
  /// Memory that is in use while any of these is not 0.
  struct Slot {
    bool owned = false;
    bool refused = false; ///< Of a block that is.
    uint32_t pins = 0, flights = 0;
    uint32_t leaks = 0; ///< Flights that may never end.
    bool idle() const { return !owned && pins == 0 && flights == 0; }
  };
  struct Buffer {
    enum class State : uint8_t { None, Mapping, Mapped } state = State::None;
    char *memory = nullptr;
    uint64_t bytes = 0;
    bool owned = false;
    uint32_t pins = 0, flights = 0, leaks = 0, lent = 0;
    uint32_t record = none; ///< Of which it is, if owned.
    bool idle() const {
      return !owned && pins == 0 && flights == 0 && lent == 0;
    }
  };
  struct Flight {
    bool used = false, onDevice = false, cancelled = false, abandoned = false;
    bool checks = false; ///< Reads back what was written.
    uint64_t id = 0;
    Transfer::Kind kind;
    unsigned file;
    uint64_t offset, count, done;
    char *memory;
    uint64_t began, submitted, at, deadline;
    unsigned tries;
    uint32_t block, slot, buffer, piece;
    RecordId record;
  };
  using QueueKey = std::tuple<bool, uint64_t, uint64_t, uint32_t>;

  // Core.cpp
  Record *find(RecordId id, std::string &why);
  Record *alive(RecordId id);
  RecordId idOf(uint32_t index) const {
    return {index, records[index].generation};
  }
  uint64_t rounded(uint64_t bytes) const {
    return (bytes + options.page - 1) / options.page * options.page;
  }
  char *slotMemory(uint32_t slot) const {
    return staging + slot * options.unit;
  }
  bool isRoomComing(uint64_t needed);
  uint32_t newBlock(Record &record);
  void seal(uint32_t block);
  void enqueue(uint32_t block);
  void dequeue(uint32_t block);
  void defer(Record &record);
  void unuse(uint32_t block, uint64_t bytes);
  void freeBlock(uint32_t block);
  void loseExtent(Block &block);
  void release(Record &record);
  void remove(RecordId id);

  std::string nameOf(const Record &record) const;

  // Loads.cpp and Gets.cpp
  unsigned putSlots() const;
  uint32_t takeSlot(bool forRead, bool urgent);
  void freeSlot(uint32_t slot);
  void settleSlot(uint32_t slot);
  bool reclaim();
  bool steal(bool urgent);
  bool isResident(const Piece &piece) const;
  bool takeIdle(Record &record, uint32_t index, uint64_t bytes);
  Outcome makeBuffer(uint32_t index, bool urgent, std::string &why);
  void setWanting(Record &record, bool wants);
  void pause(RecordId id);
  void freeBuffer(Record &record);
  void settleBuffer(uint32_t buffer);
  void unmapIdle();
  bool evict(uint32_t wanting);
  void addBufferBytes(int64_t bytes);
  void releaseSlots(Record &record);
  void readAgain(Record &record, uint32_t piece);
  void startLoads();

  // Transfers.cpp
  void resubmit(uint64_t now, Work &work);
  bool read(uint32_t index, bool urgent, uint64_t now, Work &work);
  void write(uint64_t now, Work &work);
  uint32_t newFlight(Transfer::Kind kind, uint64_t now);
  void submit(Flight &flight, uint64_t now, Work &work);
  void cancelReads(RecordId id);
  void retire(Flight &flight);
  void again(Flight &flight, uint64_t at);

  // Checks.cpp
  void startChecks(uint64_t now, Work &work);
  void giveChecks(Work &work);
  bool keepSpare();
  uint32_t takeSpare();
  bool isStuck() const;
  void failCheck(uint32_t block, const std::string &why);
  void endCheck(Block &block);
  bool isVerified(const Record &record) const;
  void dropReplaced(uint32_t index);

  // Failures.cpp
  std::string place(unsigned file, uint64_t offset) const;
  void fail(uint32_t index, const std::string &message, bool isLost = true);
  void failBlock(uint32_t block, const std::string &message);
  void failed(Flight &flight, int error, uint64_t now);
  void moveBlock(uint32_t block, const std::string &why);
  void refuse(Block &block);
  std::string holders() const;
  bool mismatch(Record &record, const View &view, uint32_t sum);
  void checkTime(uint64_t now);
  void bury(unsigned file);
  bool isExhausted() const;

  const CoreOptions options;
  const std::vector<FileFacts> files;
  char *const staging;
  Trace *const trace;
  Slab slab;
  std::deque<Record> records;
  std::vector<uint32_t> freeRecords;
  std::deque<Block> blocks;
  std::vector<uint32_t> freeBlocks;
  std::vector<Slot> slots;
  std::vector<uint32_t> freeSlots;
  std::deque<Buffer> buffers;
  std::vector<uint32_t> freeBuffers;             ///< Numbers.
  std::multimap<uint64_t, uint32_t> idleBuffers; ///< Of nobody, by bytes.
  std::map<const void *, uint32_t> lentBuffers;
  std::deque<Flight> flights;
  std::vector<uint32_t> freeFlights;

  uint32_t openBlock = none;
  std::set<QueueKey> queue;       ///< Blocks to be written, the next one first.
  std::deque<uint32_t> written;   ///< Blocks with a slot, oldest first.
  unsigned unwritten = 0;         ///< Other blocks with a slot.
  uint64_t unplaced = 0;          ///< Blocks that are to have an extent.
  uint64_t promised = 0;          ///< Blocks that puts may still take.
  unsigned dying = 0;             ///< Blocks of no record, under way.
  std::deque<uint32_t> unchecked; ///< Blocks that were.
  /// A slot that only what is read back has, from the first persistent put on:
  /// else those that are to be might have all slots, and wait for each other's.
  uint32_t spare = none;
  bool spareIsTaken = false;
  std::vector<uint32_t> arrived; ///< Blocks that have been read back just now.
  std::set<uint32_t> replacing;  ///< Records that others wait for to end.
  unsigned refused = 0;          ///< Blocks.
  unsigned leaking = 0;          ///< Slots with leaks.
  unsigned hungry = 0, finishing = 0;
  bool starved = false;           ///< A get waits for a slot.
  bool cramped = false;           ///< A put waits for what is replaced to end.
  unsigned wanting = 0;           ///< Records whose borrows wait for a buffer.
  std::vector<uint32_t> demanded; ///< Records with callers.
  std::vector<RecordId> paused;   ///< Whose callers ran out of time.
  std::vector<uint32_t> loading;  ///< Records with buffers to be read to.
  std::vector<RecordId> expected;
  size_t expectedNext = 0; ///< The first that may need a buffer.
  std::map<uint64_t, uint32_t> failures;
  uint64_t serial = 0, sequence = 0, failureNumber = 0;
  uint64_t bufferBytes = 0, idleBytes = 0;
  std::vector<uint64_t> cancels; ///< For the next Work.
  std::vector<std::pair<void *, uint64_t>> unmaps;
  std::vector<std::pair<uint32_t, uint64_t>> maps;
  mutable CoreCounts counted;
};

} // namespace drawloom::runtime::offload

#endif // DRAWLOOM_RUNTIME_OFFLOAD_CORE_H
