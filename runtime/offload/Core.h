//===- Core.h - what becomes of records ------------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The store's state machine. Commands, completions and the time are its inputs;
// transfers, cancellations and buffers to be mapped are its outputs. It has no
// thread, makes no system call, reads no clock and touches no byte of a record:
// its caller copies bytes, and passes the checksum of each copy. One lock
// guards all of it.
//
// A record is cut into pieces of one unit; the last piece may be shorter.
// Pieces are stored in blocks of one unit: a full piece has a block of its own,
// shorter ones share blocks. A block occupies a slot of the staging memory
// until it has been written, and after that until the slot is needed;
// meanwhile, gets are served from the slot.
//
// A piece that is only on disk is read to a buffer as large as its record, if
// there is one (because the record was expected, or is borrowed), and else to a
// slot.
//
// A block with a piece of a persistent record is read back to another slot
// after it is written, and has a place only when all its checksums match. Until
// then, it keeps its own slot, even if no file accepts it.
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

/// Identifies a record. An outdated generation identifies no record; 0 is none.
struct RecordId {
  uint32_t index = 0, generation = 0;
};

struct CoreOptions {
  uint64_t unit = uint64_t(1) << 20; ///< Bytes of a write, and of a checksum.
  /// Alignment of positions in blocks and of the sizes of buffers; a multiple
  /// of every file's alignment that divides the unit.
  uint64_t page = 4096;
  unsigned slots = 64;    ///< Units of staging memory; at least three.
  unsigned readSlots = 8; ///< Slots, of these, that puts leave to gets.
  uint64_t loadMemory = uint64_t(192) << 20; ///< Max bytes of buffers.
  unsigned depth = 16; ///< Max transfers of a file in progress at once.
  uint64_t timeout = 30'000'000'000; ///< Nanoseconds that a transfer may take.
};

struct CoreCounts {
  uint64_t records = 0, bytes = 0;
  uint64_t puts = 0, bytesPut = 0, gets = 0, bytesGot = 0;
  uint64_t written = 0, read = 0, forwarded = 0, cancelled = 0;
  uint64_t retries = 0, mismatches = 0, failures = 0;
  uint64_t strays = 0; ///< Completions of transfers that were not in progress.
  uint64_t quarantined = 0, deadFolders = 0, verified = 0;
  uint64_t memory = 0, mostMemory = 0, lent = 0, leaked = 0;
};

/// The result of a command. All but the first two come with a message.
enum class Outcome {
  Ready,
  Wait,        ///< To be retried after a change.
  Failed,      ///< A disk failed.
  LacksMemory, ///< Memory of the store, or of the machine.
  Misused      ///< No such record.
};

/// Bytes to be copied, or checked in place, by the holder of the view.
struct View {
  const char *data = nullptr; ///< Null if there is nothing to do.
  /// In the record's buffer; null for the caller's memory.
  char *into = nullptr;
  uint64_t bytes = 0, offset = 0;

private:
  friend class Core;
  enum class Source : uint8_t { Nothing, Block, Loaded };
  Source source = Source::Nothing;
  RecordId record;
  uint32_t piece = 0, slot = UINT32_MAX, buffer = UINT32_MAX, sum = 0;
  uint8_t tries = 0;
};

/// Bytes that were read back from a file, to be compared by the holder.
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
  /// `bytes` is the size of each file; `staging` has room for the slots.
  Core(const CoreOptions &options, std::vector<FileFacts> files,
       const std::vector<uint64_t> &bytes, char *staging, Trace *trace);

  /// Begins a record.
  Outcome put(uint64_t bytes, std::string site, uint64_t due, bool persistent,
              RecordId &id, std::string &why);
  /// Returns whether a put of the record has begun and not ended.
  bool isPutting(RecordId id, std::string &why);
  /// Returns where the record's next piece goes; after the last one, nothing,
  /// with Ready. Each span must be filled before the next is requested.
  struct Span {
    char *memory = nullptr;
    uint64_t bytes = 0, offset = 0;
  };
  Outcome fill(RecordId id, Span &span, std::string &why);
  void filled(RecordId id, uint32_t sum);
  /// Abandons a put that failed.
  void giveUp(RecordId id) { remove(id); }
  Outcome drop(RecordId id, std::string &why);
  /// Drops `old` as soon as all of `by`, which is persistent, is verified.
  Outcome replace(RecordId old, RecordId by, std::string &why);
  Outcome expect(const RecordId *ids, size_t count, std::string &why);
  void expectAll();

  /// Begins a get or a borrow, and returns the record's bytes and number of
  /// pieces. It must be ended by end(), even if it fails meanwhile.
  Outcome begin(RecordId id, uint64_t &bytes, uint32_t &pieces,
                std::string &why);
  /// Returns a view of one piece; `whole` if the piece must be in the record's
  /// buffer.
  Outcome view(RecordId id, uint32_t piece, bool whole, View &view,
               std::string &why);
  /// Ends a view. Returns whether its bytes were right; if not, the view must
  /// be requested again, which fails if retrying does not help.
  bool seen(const View &view, uint32_t sum);
  /// `complete` if no more of the record is needed.
  void end(RecordId id, bool complete);
  /// Returns the memory of the record as a whole, once all its pieces have been
  /// seen; null if the record has failed or was dropped since.
  void *lend(RecordId id);
  Status giveBack(void *memory);

  /// From beginFinish() on, everything is written as soon as possible.
  void beginFinish() { ++finishing, dirty = true; }
  void endFinish() { --finishing; }
  Outcome finish(std::string &why) const;
  /// Drops all records, and stops writing.
  void shut();

  /// The work for the store's thread, in this order.
  struct Work {
    std::vector<std::pair<void *, uint64_t>> unmap;
    /// The number of each buffer to map, and its bytes.
    std::vector<std::pair<uint32_t, uint64_t>> map;
    std::vector<uint64_t> cancel;
    std::vector<Transfer> submit;
    std::vector<Check> checks;
    uint64_t next = UINT64_MAX; ///< Latest time of the next call.
  };
  void advance(uint64_t now, Work &work);
  /// `memory` is null if there is none.
  void mapped(uint32_t buffer, void *memory);
  void complete(const Completion &completion, uint64_t now);
  /// Ends a check; `right` if each part matches its checksum.
  void checked(const Check &check, bool right);
  /// Restarts the timeouts of transfers now, because the process was not
  /// running.
  void renew(uint64_t now);
  /// Number of transfers that have not ended, including those that may never
  /// end.
  size_t underWay() const;
  size_t abandoned() const;
  /// Returns "" for a record that is gone.
  std::string siteOf(RecordId id);

  /// Set if the thread has work to do, and if waiting callers should check
  /// again; whoever acts on a flag clears it.
  bool dirty = false, changed = false;
  CoreCounts counts() const;

private:
  static constexpr uint32_t none = UINT32_MAX;
  static constexpr unsigned mostTries = 3;
  /// Number of pieces of a record that are read ahead of a get.
  static constexpr uint32_t window = 16;
  /// Each buffer is a mapping, of which the system allows about 65,000.
  static constexpr size_t mostBuffers = 4096;

  struct Piece {
    /// Where the piece is stored.
    uint32_t block = none, offset = 0, bytes = 0;
    uint32_t sum = 0;
    /// State of reading the piece back. It is in a slot if it has one, else in
    /// the buffer.
    enum class State : uint8_t { Away, Reading, Here } state = State::Away;
    bool checked = false; ///< In the buffer and verified.
    bool filling = false; ///< Being copied to the buffer.
    uint8_t tries = 0;
    uint32_t pins = 0; ///< Number of views of it.
    uint32_t slot = none;
  };
  struct Record {
    uint32_t generation = 1;
    enum class State : uint8_t { Free, Putting, Kept } state = State::Free;
    bool hungry = false;  ///< A put is waiting.
    bool lacking = false; ///< The machine lacks memory for a buffer.
    bool wanting = false; ///< A borrow is waiting for a buffer.
    bool persistent = false;
    bool lost = false; ///< The bytes are lost: the record has failed, and not
                       ///< only in a write.
    std::string site, failure;
    uint64_t bytes = 0, due = 0, failureNumber = 0;
    std::vector<Piece> pieces;
    uint32_t placed = 0;   ///< Number of pieces that have a block.
    uint32_t promised = 0; ///< Blocks that the record may still take.
    uint32_t callers = 0;
    uint32_t cursor = 0; ///< The piece that a caller is waiting for.
    uint32_t scan = 0;   ///< Pieces before this one need not be read.
    uint32_t buffer = none;
    uint64_t position = UINT64_MAX; ///< Position in the order of future gets.
    /// Dropped when all of this record is verified.
    std::vector<RecordId> replaces;
  };
  struct Block {
    enum class State : uint8_t {
      Free,
      Open,   ///< Has room.
      Sealed, ///< To be written.
      Writing,
      Unchecked, ///< To be read back.
      Checking,
      Written,
      Refused ///< No file accepts it: it stays in its slot.
    } state = State::Free;
    bool inQueue = false, deferred = false;
    bool persistent = false; ///< Contains a piece of a persistent record.
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
  /// Memory that is in use while any of these is nonzero.
  struct Slot {
    bool owned = false;
    bool refused = false; ///< Its block is refused.
    uint32_t pins = 0, flights = 0;
    uint32_t leaks = 0; ///< Number of transfers that may never end.
    bool idle() const { return !owned && pins == 0 && flights == 0; }
  };
  struct Buffer {
    enum class State : uint8_t { None, Mapping, Mapped } state = State::None;
    char *memory = nullptr;
    uint64_t bytes = 0;
    bool owned = false;
    uint32_t pins = 0, flights = 0, leaks = 0, lent = 0;
    uint32_t record = none; ///< The record that owns the buffer, if any.
    bool idle() const {
      return !owned && pins == 0 && flights == 0 && lent == 0;
    }
  };
  struct Flight {
    bool used = false, onDevice = false, cancelled = false, abandoned = false;
    bool checks = false; ///< Reads back written data for verification.
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
  std::vector<uint32_t> freeBuffers; ///< Free buffer numbers.
  /// Buffers without an owner, by bytes.
  std::multimap<uint64_t, uint32_t> idleBuffers;
  std::map<const void *, uint32_t> lentBuffers;
  std::deque<Flight> flights;
  std::vector<uint32_t> freeFlights;

  uint32_t openBlock = none;
  std::set<QueueKey> queue;     ///< Blocks to be written, the next one first.
  std::deque<uint32_t> written; ///< Written blocks with a slot, oldest first.
  unsigned unwritten = 0;       ///< Number of other blocks with a slot.
  uint64_t unplaced = 0;        ///< Number of blocks that will need an extent.
  uint64_t promised = 0;        ///< Number of blocks that puts may still take.
  /// Number of blocks of no record, with transfers in progress.
  unsigned dying = 0;
  std::deque<uint32_t> unchecked; ///< Blocks to be read back.
  /// A slot reserved for reading back, from the first persistent put on:
  /// otherwise, unverified blocks could occupy all slots, and wait for each
  /// other's.
  uint32_t spare = none;
  bool spareIsTaken = false;
  std::vector<uint32_t> arrived; ///< Blocks that have just been read back.
  std::set<uint32_t> replacing;  ///< Records whose end others wait for.
  unsigned refused = 0;          ///< Number of refused blocks.
  unsigned leaking = 0; ///< Number of slots with transfers that may never end.
  unsigned hungry = 0, finishing = 0;
  bool starved = false; ///< A get is waiting for a slot.
  bool cramped = false; ///< A put is waiting for replaced records to end.
  unsigned wanting = 0; ///< Number of records whose borrows wait for a buffer.
  std::vector<uint32_t> demanded; ///< Records with waiting callers.
  std::vector<RecordId> paused;   ///< Records whose callers ran out of time.
  std::vector<uint32_t> loading;  ///< Records whose buffers are to be filled.
  std::vector<RecordId> expected;
  /// The first expected record that may need a buffer.
  size_t expectedNext = 0;
  std::map<uint64_t, uint32_t> failures;
  uint64_t serial = 0, sequence = 0, failureNumber = 0;
  uint64_t bufferBytes = 0, idleBytes = 0;
  std::vector<uint64_t> cancels; ///< To be included in the next Work.
  std::vector<std::pair<void *, uint64_t>> unmaps;
  std::vector<std::pair<uint32_t, uint64_t>> maps;
  mutable CoreCounts counted;
};

} // namespace drawloom::runtime::offload

#endif // DRAWLOOM_RUNTIME_OFFLOAD_CORE_H
