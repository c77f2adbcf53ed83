//===- Loads.cpp - memory for what is read --------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/offload/Core.h"
#include <algorithm>

namespace drawloom::runtime::offload {

//===----------------------------------------------------------------------===//
// Slots of the staging memory
//===----------------------------------------------------------------------===//

/// So many of them puts may have: gets, and what is read back, need others.
unsigned Core::putSlots() const {
  unsigned usable = options.slots - leaking - (spare != none);
  return usable > options.readSlots ? usable - options.readSlots : 1;
}

/// None where there is none now. `urgent` where somebody waits for what is to
/// be read to it.
uint32_t Core::takeSlot(bool forRead, bool urgent) {
  if (!forRead && unwritten >= putSlots())
    return none;
  while (freeSlots.empty())
    if (!reclaim() && !steal(urgent))
      return none;
  uint32_t slot = freeSlots.back();
  freeSlots.pop_back();
  slots[slot].owned = true;
  return slot;
}

void Core::freeSlot(uint32_t slot) {
  slots[slot].owned = slots[slot].refused = false;
  settleSlot(slot);
}

void Core::settleSlot(uint32_t slot) {
  if (!slots[slot].idle())
    return;
  freeSlots.push_back(slot);
  changed = true;
}

/// Takes the slot of the block that has been written for the longest time.
bool Core::reclaim() {
  for (auto at = written.begin(); at != written.end(); ++at) {
    Block &block = blocks[*at];
    const Slot &slot = slots[block.slot];
    if (slot.pins != 0 || slot.flights != 0)
      continue;
    written.erase(at);
    freeSlot(std::exchange(block.slot, none));
    for (const Block::Member &member : block.members)
      if (Record *record = alive(member.record))
        readAgain(*record, member.piece);
    return true;
  }
  return false;
}

/// Takes a slot with what was read ahead of a get that has run out of time, or
/// where it is urgent of one that is not there yet.
bool Core::steal(bool urgent) {
  while (!paused.empty()) {
    RecordId id = paused.back();
    paused.pop_back();
    Record *record = alive(id);
    if (!record || record->callers != 0)
      continue;
    size_t before = freeSlots.size();
    releaseSlots(*record);
    if (freeSlots.size() != before)
      return true;
  }
  for (size_t i = 0; urgent && i < demanded.size(); ++i) {
    Record &record = records[demanded[i]];
    for (uint32_t k = record.placed; k-- > 0;) {
      Piece &piece = record.pieces[k];
      if (k == record.cursor || piece.slot == none ||
          piece.state != Piece::State::Here || slots[piece.slot].pins != 0)
        continue;
      freeSlot(std::exchange(piece.slot, none));
      piece.state = Piece::State::Away;
      record.scan = std::min(record.scan, k);
      return true;
    }
  }
  return false;
}

/// Of pieces that were read, or are being read, to slots.
void Core::releaseSlots(Record &record) {
  for (Piece &piece : record.pieces) {
    if (piece.slot == none)
      continue;
    for (Flight &flight : flights)
      if (flight.used && flight.kind == Transfer::Kind::Read &&
          flight.slot == piece.slot)
        flight.record = RecordId();
    freeSlot(std::exchange(piece.slot, none));
    piece.state = Piece::State::Away;
  }
  record.scan = 0;
}

bool Core::isResident(const Piece &piece) const {
  return blocks[piece.block].slot != none;
}

/// A piece is not where it was; somebody may want it.
void Core::readAgain(Record &record, uint32_t piece) {
  record.scan = std::min(record.scan, piece);
  if (record.buffer != none) {
    uint32_t index = buffers[record.buffer].record;
    if (std::find(loading.begin(), loading.end(), index) == loading.end())
      loading.push_back(index);
  } else if (record.position != UINT64_MAX) {
    expectedNext = std::min<size_t>(expectedNext, record.position);
  }
  dirty = true;
}

//===----------------------------------------------------------------------===//
// Buffers of whole records
//===----------------------------------------------------------------------===//

void Core::addBufferBytes(int64_t bytes) {
  bufferBytes += bytes;
  counted.memory += bytes;
  counted.mostMemory = std::max(counted.mostMemory, counted.memory);
}

/// A buffer that is there and fits well.
bool Core::takeIdle(Record &record, uint32_t index, uint64_t bytes) {
  auto best = idleBuffers.lower_bound(bytes);
  if (best == idleBuffers.end() || best->first - bytes > bytes / 4)
    return false;
  record.buffer = best->second;
  idleBytes -= best->first;
  idleBuffers.erase(best);
  buffers[record.buffer].owned = true;
  buffers[record.buffer].record = index;
  return true;
}

/// Gives the record a buffer. With Ready it may not be mapped yet.
Outcome Core::makeBuffer(uint32_t index, bool urgent, std::string &why) {
  Record &record = records[index];
  uint64_t bytes = std::max(rounded(record.bytes), options.page);
  if (bytes > options.loadMemory) {
    why = nameOf(record) + " is larger than the " +
          std::to_string(options.loadMemory) +
          " bytes that the store may have for what is borrowed: get it to "
          "memory of your own, or open the store with more memory";
    return Outcome::LacksMemory;
  }
  for (;;) {
    if (takeIdle(record, index, bytes))
      break;
    if (!urgent && buffers.size() - freeBuffers.size() >= mostBuffers)
      return Outcome::Wait;
    if (bufferBytes - idleBytes + bytes <= options.loadMemory) {
      while (bufferBytes + bytes > options.loadMemory)
        unmapIdle();
      if (freeBuffers.empty()) {
        freeBuffers.push_back(static_cast<uint32_t>(buffers.size()));
        buffers.emplace_back();
      }
      record.buffer = freeBuffers.back();
      freeBuffers.pop_back();
      Buffer &buffer = buffers[record.buffer];
      buffer.state = Buffer::State::Mapping;
      buffer.bytes = bytes;
      buffer.owned = true;
      buffer.record = index;
      addBufferBytes(static_cast<int64_t>(bytes));
      maps.push_back({record.buffer, bytes});
      break;
    }
    if (!urgent)
      return Outcome::Wait;
    uint64_t soon = 0;
    for (const Buffer &buffer : buffers)
      if (!buffer.owned && buffer.lent == 0 && buffer.leaks == 0)
        soon += buffer.bytes;
    if (bufferBytes - soon + bytes <= options.loadMemory)
      return Outcome::Wait;
    if (evict(index))
      continue;
    uint64_t lent = 0, leaked = 0;
    for (const Buffer &buffer : buffers) {
      lent += buffer.lent != 0 ? buffer.bytes : 0;
      leaked += buffer.lent == 0 && buffer.leaks != 0 ? buffer.bytes : 0;
    }
    // Somebody else is about to borrow one that is not lent yet, or to get it.
    if (lent + leaked + idleBytes != bufferBytes)
      return Outcome::Wait;
    why = nameOf(record) + " finds no memory: records that are borrowed hold " +
          std::to_string(lent) + " of the " +
          std::to_string(options.loadMemory) +
          " bytes for them, and folders "
          "that do not answer " +
          std::to_string(leaked) +
          ": return some, get it to memory of your own, or open the store "
          "with more memory";
    return Outcome::LacksMemory;
  }
  record.scan = 0;
  loading.push_back(index);
  dirty = true;
  return Outcome::Ready;
}

void Core::setWanting(Record &record, bool wants) {
  wanting += wants;
  wanting -= record.wanting;
  record.wanting = wants;
  dirty |= !wants;
}

/// Takes the buffer of the record that is wanted last of those that nobody
/// waits for.
bool Core::evict(uint32_t wanting) {
  uint32_t last = none;
  for (const Buffer &buffer : buffers) {
    if (!buffer.owned || buffer.lent != 0 || buffer.record == wanting ||
        records[buffer.record].callers != 0)
      continue;
    if (last == none ||
        records[buffer.record].position > records[last].position)
      last = buffer.record;
  }
  if (last == none)
    return false;
  cancelReads(idOf(last));
  freeBuffer(records[last]);
  if (records[last].position != UINT64_MAX)
    expectedNext = std::min<size_t>(expectedNext, records[last].position);
  return true;
}

void Core::freeBuffer(Record &record) {
  uint32_t number = std::exchange(record.buffer, none);
  for (Piece &piece : record.pieces) {
    if (piece.slot == none)
      piece.state = Piece::State::Away;
    piece.checked = piece.filling = false;
  }
  buffers[number].owned = false;
  buffers[number].record = none;
  settleBuffer(number);
}

void Core::settleBuffer(uint32_t number) {
  if (!buffers[number].idle() || buffers[number].state != Buffer::State::Mapped)
    return;
  idleBuffers.emplace(buffers[number].bytes, number);
  idleBytes += buffers[number].bytes;
  changed = dirty = true;
}

/// The largest that is idle.
void Core::unmapIdle() {
  auto largest = std::prev(idleBuffers.end());
  uint32_t number = largest->second;
  idleBuffers.erase(largest);
  Buffer &buffer = buffers[number];
  idleBytes -= buffer.bytes;
  unmaps.push_back({buffer.memory, buffer.bytes});
  addBufferBytes(-static_cast<int64_t>(buffer.bytes));
  buffer = Buffer();
  freeBuffers.push_back(number);
}

void Core::mapped(uint32_t number, void *memory) {
  Buffer &buffer = buffers[number];
  changed = dirty = true;
  if (memory) {
    buffer.memory = static_cast<char *>(memory);
    buffer.state = Buffer::State::Mapped;
    settleBuffer(number);
    return;
  }
  if (buffer.owned) {
    Record &record = records[buffer.record];
    record.lacking = true;
    freeBuffer(record);
  }
  addBufferBytes(-static_cast<int64_t>(buffer.bytes));
  buffer = Buffer();
  freeBuffers.push_back(number);
}

//===----------------------------------------------------------------------===//
// The order of gets
//===----------------------------------------------------------------------===//

Outcome Core::expect(const RecordId *ids, size_t count, std::string &why) {
  for (size_t i = 0; i < count; ++i)
    if (!find(ids[i], why)) {
      why = "entry " + std::to_string(i) + " of what is expected: " + why;
      return Outcome::Misused;
    }
  for (RecordId id : expected)
    if (Record *record = alive(id))
      record->position = UINT64_MAX;
  expected.assign(ids, ids + count);
  for (size_t i = count; i-- > 0;)
    records[ids[i].index].position = i;
  expectedNext = 0;
  dirty = true;
  return Outcome::Ready;
}

void Core::expectAll() {
  std::vector<RecordId> all;
  for (uint32_t i = 0; i < records.size(); ++i)
    if (records[i].state == Record::State::Kept)
      all.push_back(idOf(i));
  std::sort(all.begin(), all.end(), [&](RecordId a, RecordId b) {
    uint64_t first = records[a.index].due, second = records[b.index].due;
    return first != second ? first < second : a.index < b.index;
  });
  std::string why;
  static_cast<void>(expect(all.data(), all.size(), why));
}

/// Gives buffers to those that are expected, as far as there is room.
void Core::startLoads() {
  std::string why;
  // What becomes free is for those that wait for it now.
  if (wanting != 0)
    return;
  for (; expectedNext < expected.size(); ++expectedNext) {
    RecordId id = expected[expectedNext];
    Record *record = alive(id);
    if (!record || record->position != expectedNext || record->lost ||
        record->buffer != none)
      continue;
    // One that is still in staging memory is to find room, too, when it is
    // borrowed. What is larger than the memory is read when it is got.
    if (makeBuffer(id.index, false, why) == Outcome::Wait)
      return;
  }
}

} // namespace drawloom::runtime::offload
