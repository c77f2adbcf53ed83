//===- Core.cpp - what becomes of records ---------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How records come and go. Gets.cpp has how they are got, Loads.cpp what memory
// that needs, Transfers.cpp what goes between memory and files, Checks.cpp what
// is read back as soon as it is written, and Failures.cpp what is done where
// that fails.
//
//===----------------------------------------------------------------------===//

#include "runtime/offload/Core.h"
#include <algorithm>

namespace drawloom::runtime::offload {

Core::Core(const CoreOptions &options, std::vector<FileFacts> facts,
           const std::vector<uint64_t> &bytes, char *staging, Trace *trace)
    : options(options), files(std::move(facts)), staging(staging), trace(trace),
      slab(options.unit), slots(options.slots) {
  for (uint64_t size : bytes)
    slab.addFile(size);
  for (uint32_t slot = options.slots; slot-- > 0;)
    freeSlots.push_back(slot);
  counted.memory = counted.mostMemory = options.slots * options.unit;
}

/// The record of a number, while its put has not failed or it was not dropped.
Core::Record *Core::alive(RecordId id) {
  if (id.generation == 0 || id.index >= records.size())
    return nullptr;
  Record &record = records[id.index];
  return record.generation == id.generation &&
                 record.state != Record::State::Free
             ? &record
             : nullptr;
}

Core::Record *Core::find(RecordId id, std::string &why) {
  Record *record = alive(id);
  if (record && record->state == Record::State::Kept)
    return record;
  why = "there is no record " + std::to_string(id.index) + " of generation " +
        std::to_string(id.generation) +
        " in the store: it was dropped, or never put";
  return nullptr;
}

std::string Core::nameOf(const Record &record) const {
  return "the record of '" + record.site + "', " +
         std::to_string(record.bytes) + " bytes,";
}

std::string Core::siteOf(RecordId id) {
  Record *record = alive(id);
  return record ? record->site : "";
}

/// Whether room for so many blocks more may come without anybody's doing.
bool Core::isRoomComing(uint64_t needed) {
  // What was dropped while it was written gives its room back soon.
  if (dying != 0 && slab.free() + dying >= unplaced + promised + needed)
    return true;
  // So does what is replaced.
  if (replacing.empty())
    return false;
  return cramped = dirty = true;
}

Outcome Core::put(uint64_t bytes, std::string site, uint64_t due,
                  bool persistent, RecordId &id, std::string &why) {
  id = RecordId();
  uint64_t tail = bytes % options.unit, needed = bytes / options.unit;
  bool fits = openBlock != none &&
              blocks[openBlock].used + rounded(tail) <= options.unit;
  if (tail != 0 && !fits)
    ++needed;
  if (slab.free() < unplaced + promised + needed) {
    if (isRoomComing(needed))
      return Outcome::Wait;
    why = "the record of '" + site + "' has " + std::to_string(bytes) +
          " bytes, for which there is no room: the store's " +
          std::to_string(counted.records) + " records have " +
          std::to_string(counted.bytes) + " bytes, and its files room for " +
          std::to_string(
              (slab.free() - std::min(slab.free(), unplaced + promised)) *
              options.unit) +
          " more, " + std::to_string(slab.quarantined()) + " having failed" +
          (slab.closed() == 0 ? ""
                              : " and " + std::to_string(slab.closed()) +
                                    " folders being full before that") +
          ": drop records, or open it with more capacity";
    return Outcome::Failed;
  }
  if (persistent && !keepSpare())
    return Outcome::Wait;
  if (freeRecords.empty()) {
    freeRecords.push_back(static_cast<uint32_t>(records.size()));
    records.emplace_back();
  }
  id.index = freeRecords.back();
  freeRecords.pop_back();
  Record &record = records[id.index];
  id.generation = record.generation;
  record.state = Record::State::Putting;
  record.site = std::move(site);
  record.bytes = bytes;
  record.due = due;
  record.persistent = persistent;
  record.pieces.resize(bytes / options.unit + (tail != 0 ? 1 : 0));
  record.promised = static_cast<uint32_t>(needed);
  promised += needed;
  ++counted.records;
  counted.bytes += bytes;
  return Outcome::Ready;
}

Outcome Core::fill(RecordId id, Span &span, std::string &why) {
  Record &record = records[id.index];
  span = Span();
  auto satisfied = [&] {
    hungry -= record.hungry;
    record.hungry = false;
  };
  if (record.lost) {
    satisfied();
    why = record.failure;
    return Outcome::Failed;
  }
  uint32_t index = record.placed;
  if (index == record.pieces.size()) {
    record.state = Record::State::Kept;
    promised -= record.promised;
    record.promised = 0;
    ++counted.puts;
    counted.bytesPut += record.bytes;
    return Outcome::Ready;
  }
  uint64_t offset = index * options.unit;
  uint64_t bytes = std::min(options.unit, record.bytes - offset);
  bool isLong = bytes == options.unit;
  if (!isLong && openBlock != none &&
      blocks[openBlock].used + rounded(bytes) > options.unit)
    seal(openBlock);
  uint32_t number = isLong ? none : openBlock;
  if (number == none) {
    if (record.promised == 0 && slab.free() <= unplaced + promised) {
      if (isRoomComing(1))
        return Outcome::Wait;
      satisfied();
      why = nameOf(record) + " finds no room in the store's files: drop "
                             "records, or open it with more capacity";
      return Outcome::Failed;
    }
    number = newBlock(record);
    if (number == none) {
      if (isExhausted() || refused >= putSlots()) {
        satisfied();
        why = nameOf(record) + " finds no memory: " + holders();
        return Outcome::Failed;
      }
      // What is held back is to be written.
      dirty |= !record.hungry;
      hungry += !record.hungry;
      record.hungry = true;
      return Outcome::Wait;
    }
    if (!isLong)
      openBlock = number;
  }
  satisfied();
  Block &block = blocks[number];
  Piece &piece = record.pieces[index];
  piece.block = number;
  piece.offset = static_cast<uint32_t>(block.used);
  piece.bytes = static_cast<uint32_t>(bytes);
  block.used += rounded(bytes);
  block.due = std::min(block.due, record.due);
  block.persistent |= record.persistent;
  block.members.push_back({id, index});
  ++block.live;
  ++block.fills;
  ++record.placed;
  span = {slotMemory(block.slot) + piece.offset, bytes, offset};
  return Outcome::Ready;
}

void Core::filled(RecordId id, uint32_t sum) {
  Record &record = records[id.index];
  Piece &piece = record.pieces[record.placed - 1];
  Block &block = blocks[piece.block];
  piece.sum = sum;
  --block.fills;
  if (block.used == options.unit && block.state == Block::State::Open)
    seal(piece.block);
  else if (block.state == Block::State::Sealed && block.fills == 0)
    enqueue(piece.block);
}

/// A block with a slot; none where there is no slot.
uint32_t Core::newBlock(Record &record) {
  uint32_t slot = takeSlot(false, false);
  if (slot == none)
    return none;
  if (freeBlocks.empty()) {
    freeBlocks.push_back(static_cast<uint32_t>(blocks.size()));
    blocks.emplace_back();
  }
  uint32_t number = freeBlocks.back();
  freeBlocks.pop_back();
  Block &block = blocks[number];
  block.state = Block::State::Open;
  block.slot = slot;
  block.due = UINT64_MAX;
  block.sequence = sequence++;
  ++unwritten;
  ++unplaced;
  if (record.promised > 0) {
    --record.promised;
    --promised;
  }
  return number;
}

/// Nothing more goes into the block.
void Core::seal(uint32_t number) {
  Block &block = blocks[number];
  block.state = Block::State::Sealed;
  if (openBlock == number)
    openBlock = none;
  if (block.fills == 0)
    enqueue(number);
}

void Core::enqueue(uint32_t number) {
  Block &block = blocks[number];
  if (block.live == 0)
    return freeBlock(number);
  // What is due last is written first: perhaps the rest need not be.
  queue.insert(
      {block.deferred, UINT64_MAX - block.due, block.sequence, number});
  block.inQueue = true;
  dirty = true;
}

void Core::dequeue(uint32_t number) {
  Block &block = blocks[number];
  queue.erase({block.deferred, UINT64_MAX - block.due, block.sequence, number});
  block.inQueue = false;
}

/// What has been got is likely to be dropped: its blocks are not written until
/// their memory is needed.
void Core::defer(Record &record) {
  for (const Piece &piece : record.pieces) {
    Block &block = blocks[piece.block];
    if (block.deferred || block.persistent || block.live != 1)
      continue;
    bool queued = block.inQueue;
    if (queued)
      dequeue(piece.block);
    block.deferred = true;
    if (queued)
      enqueue(piece.block);
  }
}

/// A piece of the block, of so many bytes, is not needed any more.
void Core::unuse(uint32_t number, uint64_t bytes) {
  Block &block = blocks[number];
  if (block.state == Block::State::Open || block.state == Block::State::Sealed)
    counted.cancelled += bytes;
  if (--block.live != 0)
    return;
  if (block.flights == 0) {
    if (block.fills == 0)
      freeBlock(number);
    return;
  }
  ++dying;
  if (block.state == Block::State::Writing ||
      block.state == Block::State::Checking)
    for (Flight &flight : flights)
      if (flight.used && flight.block == number && !flight.cancelled) {
        flight.cancelled = true;
        if (flight.onDevice)
          cancels.push_back(flight.id);
      }
  dirty = true;
}

/// The block has neither pieces nor transfers.
void Core::freeBlock(uint32_t number) {
  Block &block = blocks[number];
  if (block.inQueue)
    dequeue(number);
  if (openBlock == number)
    openBlock = none;
  if (block.slot != none) {
    if (block.state == Block::State::Written)
      written.erase(std::find(written.begin(), written.end(), number));
    else
      --unwritten;
    freeSlot(block.slot);
  }
  endCheck(block);
  if (block.state == Block::State::Refused)
    --refused;
  if (block.placed)
    slab.giveBack(block.extent);
  if (block.state == Block::State::Open || block.state == Block::State::Sealed)
    --unplaced;
  block = Block();
  freeBlocks.push_back(number);
  changed = true;
}

/// The place that it has is never used again.
void Core::loseExtent(Block &block) {
  slab.quarantine(block.extent);
  block.placed = false;
}

/// Gives back all that a record has but its number.
void Core::release(Record &record) {
  for (uint32_t i = 0; i < record.placed; ++i) {
    Piece &piece = record.pieces[i];
    if (piece.slot != none)
      freeSlot(piece.slot);
    unuse(piece.block, piece.bytes);
  }
  record.pieces.clear();
  record.placed = 0;
  promised -= record.promised;
  record.promised = 0;
  if (record.buffer != none)
    freeBuffer(record);
}

Outcome Core::drop(RecordId id, std::string &why) {
  // Also one whose put has run out of time.
  if (!alive(id) && !find(id, why))
    return Outcome::Misused;
  remove(id);
  return Outcome::Ready;
}

bool Core::isPutting(RecordId id, std::string &why) {
  Record *record = alive(id);
  if (record && record->state == Record::State::Putting)
    return true;
  if (find(id, why))
    why = nameOf(*record) + " has been put before: a put begins with {0, 0}";
  return false;
}

Outcome Core::replace(RecordId old, RecordId by, std::string &why) {
  Record *record = find(by, why);
  if (!record || !find(old, why))
    return Outcome::Misused;
  if (!record->persistent || old.index == by.index) {
    why = nameOf(*record) +
          (record->persistent ? " cannot replace itself"
                              : " was not put as a persistent one, and cannot "
                                "replace another one");
    return Outcome::Misused;
  }
  if (!record->failure.empty()) {
    why = record->failure;
    return Outcome::Failed;
  }
  record->replaces.push_back(old);
  replacing.insert(by.index);
  dropReplaced(by.index);
  return Outcome::Ready;
}

void Core::remove(RecordId id) {
  Record *record = alive(id);
  cancelReads(id);
  release(*record);
  hungry -= record->hungry;
  setWanting(*record, false);
  if (record->callers != 0)
    demanded.erase(std::find(demanded.begin(), demanded.end(), id.index));
  if (record->failureNumber != 0)
    failures.erase(record->failureNumber);
  replacing.erase(id.index);
  --counted.records;
  counted.bytes -= record->bytes;
  uint32_t generation = record->generation + 1;
  *record = Record();
  // None has the generation 0.
  record->generation = generation == 0 ? 1 : generation;
  freeRecords.push_back(id.index);
  changed = true;
}

Outcome Core::finish(std::string &why) const {
  if (!failures.empty()) {
    why = records[failures.begin()->second].failure;
    return Outcome::Failed;
  }
  if (unwritten == 0)
    return Outcome::Ready;
  for (const Block &block : blocks)
    if (block.live != 0 && block.state != Block::State::Written)
      return Outcome::Wait;
  return Outcome::Ready;
}

void Core::shut() {
  for (uint32_t i = 0; i < records.size(); ++i)
    if (records[i].state != Record::State::Free)
      remove(idOf(i));
  while (!idleBuffers.empty())
    unmapIdle();
}

CoreCounts Core::counts() const {
  CoreCounts counts = counted;
  counts.quarantined = slab.quarantined();
  counts.deadFolders = slab.dead();
  for (const Buffer &buffer : buffers)
    if (buffer.lent != 0)
      counts.lent += buffer.bytes;
  for (const Flight &flight : flights)
    if (flight.used && flight.abandoned)
      counts.leaked += flight.count;
  return counts;
}

} // namespace drawloom::runtime::offload
