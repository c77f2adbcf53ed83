//===- Failures.cpp - what becomes of records where disks fail ------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/offload/Core.h"
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace drawloom::runtime::offload {

static constexpr uint64_t millisecond = 1'000'000;

std::string Core::place(unsigned file, uint64_t offset) const {
  return "byte " + std::to_string(offset) + " of the file in '" +
         files[file].folder + "'";
}

/// The record has failed. Where its bytes are lost, what is left of it is the
/// message.
void Core::fail(uint32_t index, const std::string &message, bool isLost) {
  Record &record = records[index];
  if (record.lost || (!isLost && !record.failure.empty()))
    return;
  record.failure = message;
  if (record.failureNumber == 0) {
    record.failureNumber = ++failureNumber;
    failures.emplace(record.failureNumber, index);
    ++counted.failures;
  }
  replacing.erase(index);
  changed = true;
  if (!isLost)
    return;
  record.lost = true;
  cancelReads(idOf(index));
  // The thread that is putting it may be copying to it now.
  if (record.state == Record::State::Kept)
    release(record);
}

/// What is in the block cannot be stored.
void Core::failBlock(uint32_t number, const std::string &message) {
  // Failing the last one frees the block.
  std::vector<Block::Member> members = blocks[number].members;
  for (const Block::Member &member : members)
    if (Record *record = alive(member.record))
      fail(member.record.index, nameOf(*record) + " was not stored: " + message,
           !record->persistent);
  // There may be more to write now, or less to wait for.
  changed = dirty = true;
  // What cannot be computed again stays, as long as there is memory.
  if (Block &block = blocks[number]; block.persistent && block.live != 0)
    refuse(block);
}

void Core::refuse(Block &block) {
  block.state = Block::State::Refused;
  --unplaced;
  ++refused;
  slots[block.slot].refused = true;
}

//===----------------------------------------------------------------------===//
// Transfers that fail, and bytes that are wrong
//===----------------------------------------------------------------------===//

/// A transfer came back with an error.
void Core::failed(Flight &flight, int error, uint64_t now) {
  bool isWrite = flight.kind == Transfer::Kind::Write;
  if (flight.cancelled) {
    if (isWrite && error == EIO)
      loseExtent(blocks[flight.block]);
    return retire(flight);
  }
  bool isBusy = error == EINTR || error == EAGAIN;
  if (isBusy && now - flight.began < options.timeout)
    return again(flight, error == EINTR ? now : now + millisecond);
  bool isFull =
      isWrite && (error == ENOSPC || error == EDQUOT || error == EFBIG);
  if (!isFull && !isBusy && ++flight.tries < mostTries)
    return again(flight, now + (flight.tries == 1 ? 1 : 10) * millisecond);
  std::string why =
      place(flight.file, flight.offset) + " failed: " + std::strerror(error);
  uint32_t number = flight.block;
  Block &block = blocks[number];
  if (isWrite) {
    // The places that have been written before can be again.
    if (isFull)
      slab.close(flight.file);
    loseExtent(block);
    block.avoided = static_cast<int>(flight.file);
    retire(flight);
    return moveBlock(number, "writing to " + why);
  }
  if (flight.checks) {
    retire(flight);
    return failCheck(number, "reading back from " + why);
  }
  Record *record = alive(flight.record);
  uint32_t index = flight.record.index, piece = flight.piece;
  if (block.placed)
    loseExtent(block);
  retire(flight);
  if (!record)
    return;
  record->pieces[piece].state = Piece::State::Away;
  fail(index, nameOf(*record) + " cannot be read back: reading from " + why +
                  ", " + std::to_string(mostTries) +
                  " times; see to the disk, or use another folder");
}

/// Writes a block to another place than the one that did not take it.
void Core::moveBlock(uint32_t number, const std::string &why) {
  Block &block = blocks[number];
  block.state = Block::State::Sealed;
  block.placed = false;
  block.failure = why;
  ++unplaced;
  ++counted.retries;
  if (++block.moves > 2)
    return failBlock(number, why);
  enqueue(number);
}

/// What was seen is not what was stored. False: it is to be looked at again.
bool Core::mismatch(Record &record, const View &view, uint32_t sum) {
  ++counted.mismatches;
  Piece &piece = record.pieces[view.piece];
  Block &block = blocks[piece.block];
  // Somebody else has seen this before.
  if (piece.tries != view.tries)
    return false;
  ++piece.tries;
  if (view.source == View::Source::Block) {
    if (block.slot != view.slot)
      return false;
    if (block.state == Block::State::Written && piece.tries <= mostTries) {
      written.erase(std::find(written.begin(), written.end(), piece.block));
      freeSlot(std::exchange(block.slot, none));
      readAgain(record, view.piece);
      return false;
    }
  } else {
    piece.state = Piece::State::Away;
    piece.checked = false;
    readAgain(record, view.piece);
    if (piece.tries < mostTries)
      return false;
    if (block.placed)
      loseExtent(block);
  }
  char sums[64];
  std::snprintf(sums, sizeof(sums), "%08x instead of %08x", sum, view.sum);
  bool everRead = view.source == View::Source::Loaded;
  std::string message =
      nameOf(record) + " is damaged: its piece " + std::to_string(view.piece) +
      " has the checksum " + sums +
      (everRead
           ? ", " + std::to_string(mostTries) + " times, as read from " +
                 place(block.extent.file, block.extent.offset + piece.offset) +
                 ": the disk, or what is between it and memory, gave "
                 "other bytes than were written; use another folder"
           : " in memory, before it was read from a disk: something "
             "writes to memory that is not its own, or the memory fails");
  fail(view.record.index, message);
  return false;
}

//===----------------------------------------------------------------------===//
// Folders that do not answer
//===----------------------------------------------------------------------===//

void Core::checkTime(uint64_t now) {
  for (const Flight &flight : flights)
    if (flight.used && flight.onDevice && !flight.abandoned &&
        flight.deadline <= now)
      bury(flight.file);
}

void Core::renew(uint64_t now) {
  for (Flight &flight : flights)
    if (flight.used && flight.onDevice)
      flight.deadline = now + options.timeout;
}

/// Uses the file no more. The memory of what is under way is not touched again,
/// as the disk may do so at any time.
void Core::bury(unsigned file) {
  slab.bury(file);
  std::string why = "'" + files[file].folder + "' has not answered for " +
                    std::to_string(options.timeout / millisecond) + " ms";
  for (Flight &flight : flights) {
    if (!flight.used || flight.abandoned || flight.file != file)
      continue;
    uint32_t number = std::exchange(flight.block, none);
    RecordId id = std::exchange(flight.record, RecordId());
    bool isWrite = flight.kind == Transfer::Kind::Write;
    if (flight.onDevice) {
      flight.abandoned = flight.cancelled = true;
      cancels.push_back(flight.id);
      if (flight.slot != none)
        leaking += slots[flight.slot].leaks++ == 0;
      if (flight.buffer != none)
        ++buffers[flight.buffer].leaks;
    } else {
      retire(flight);
    }
    Block &block = blocks[number];
    block.placed = block.placed && !isWrite;
    if (--block.flights == 0 && block.live == 0) {
      --dying;
      freeBlock(number);
    } else if (isWrite && block.live != 0) {
      moveBlock(number, why);
    }
    // A block that was being read back is among those below.
    if (Record *record = alive(id))
      fail(id.index, nameOf(*record) + " cannot be read back: " + why +
                         "; see to its disk, or use another folder");
  }
  // What is still in memory can be stored elsewhere.
  for (size_t i = 0; i < written.size();) {
    uint32_t number = written[i];
    Block &block = blocks[number];
    if (block.extent.file != file || block.live == 0) {
      ++i;
      continue;
    }
    written.erase(written.begin() + static_cast<std::ptrdiff_t>(i));
    ++unwritten;
    moveBlock(number, why);
  }
  for (uint32_t number = 0; number < blocks.size(); ++number) {
    Block &block = blocks[number];
    if (block.extent.file != file || block.live == 0 ||
        (block.state != Block::State::Unchecked &&
         block.state != Block::State::Checking))
      continue;
    endCheck(block);
    moveBlock(number, why);
  }
  changed = dirty = true;
}

/// Whether no slot will be free again by itself.
bool Core::isExhausted() const {
  for (uint32_t slot = 0; slot < slots.size(); ++slot)
    if (slots[slot].leaks == 0 && !slots[slot].refused && slot != spare)
      return false;
  return true;
}

/// What has the memory then.
std::string Core::holders() const {
  std::string text;
  if (slab.dead() != 0)
    text = "the store's folders do not answer, and may still use "
           "what they were given";
  if (refused != 0)
    text += (text.empty() ? "" : "; ") +
            std::string("persistent records that no folder takes hold ") +
            std::to_string(refused * options.unit) + " bytes: drop them";
  return text;
}

} // namespace drawloom::runtime::offload
