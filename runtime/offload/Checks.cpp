//===- Checks.cpp - what is read back as soon as it is written ------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/offload/Core.h"
#include <algorithm>

namespace drawloom::runtime::offload {

/// False: it is to be tried again when something has changed.
bool Core::keepSpare() {
  if (spare != none || isExhausted())
    return true;
  spare = takeSlot(true, false);
  spareIsTaken = false;
  if (spare == none)
    cramped = dirty = true;
  return spare != none;
}

/// The spare slot, where nothing is in it.
uint32_t Core::takeSpare() {
  if (spare == none || spareIsTaken || slots[spare].pins != 0)
    return none;
  spareIsTaken = true;
  return spare;
}

/// Starts to read back what was written.
void Core::startChecks(uint64_t now, Work &work) {
  while (!unchecked.empty()) {
    uint32_t number = unchecked.front();
    Block &block = blocks[number];
    // It has been moved, or is over.
    if (block.state != Block::State::Unchecked) {
      unchecked.pop_front();
      continue;
    }
    if (slab.underWay(block.extent.file) >= options.depth)
      return;
    uint32_t slot = takeSlot(true, false);
    if (slot == none)
      slot = takeSpare();
    if (slot == none) {
      if (!isStuck())
        return;
      slab.giveBack(block.extent);
      block.state = Block::State::Sealed;
      block.placed = false;
      ++unplaced;
      failBlock(number, "there is no memory to read it back to: " + holders());
      continue;
    }
    unchecked.pop_front();
    block.state = Block::State::Checking;
    block.copy = slot;
    ++block.flights;
    ++slots[slot].flights;
    Flight &flight = flights[newFlight(Transfer::Kind::Read, now)];
    flight.checks = true;
    flight.block = number;
    flight.slot = slot;
    flight.file = block.extent.file;
    flight.offset = block.extent.offset;
    flight.count = block.used;
    flight.memory = slotMemory(slot);
    submit(flight, now, work);
  }
}

/// Whether those that are to be read back wait for each other's slots.
bool Core::isStuck() const {
  if (spare != none)
    return false;
  std::vector<bool> waits(slots.size());
  for (uint32_t number : unchecked)
    if (blocks[number].state == Block::State::Unchecked)
      waits[blocks[number].slot] = true;
  for (uint32_t slot = 0; slot < slots.size(); ++slot)
    if (!waits[slot] && !slots[slot].refused && slots[slot].leaks == 0)
      return false;
  return true;
}

/// Gives what has come back to be compared.
void Core::giveChecks(Work &work) {
  for (uint32_t number : arrived) {
    Block &block = blocks[number];
    // Its folder was given up, or its records were dropped.
    if (block.state != Block::State::Checking || block.copy == none)
      continue;
    Check check;
    check.block = number;
    check.slot = block.copy;
    check.data = slotMemory(block.copy);
    for (const Block::Member &member : block.members)
      if (Record *record = alive(member.record); record && !record->lost) {
        const Piece &piece = record->pieces[member.piece];
        check.parts.push_back({piece.offset, piece.bytes, piece.sum});
      }
    ++slots[block.copy].pins;
    work.checks.push_back(std::move(check));
  }
  arrived.clear();
}

void Core::checked(const Check &check, bool right) {
  if (--slots[check.slot].pins == 0)
    settleSlot(check.slot);
  Block &block = blocks[check.block];
  // While it was compared no other block had the slot.
  if (block.copy != check.slot)
    return;
  changed = dirty = true;
  if (!right) {
    ++counted.mismatches;
    return failCheck(check.block,
                     place(block.extent.file, block.extent.offset) +
                         " gives other bytes than were written to it");
  }
  endCheck(block);
  block.state = Block::State::Written;
  --unwritten;
  written.push_back(check.block);
  for (const Check::Part &part : check.parts)
    counted.verified += part.bytes;
  // The block may end with what is replaced.
  std::vector<Block::Member> members = block.members;
  for (const Block::Member &member : members)
    if (alive(member.record))
      dropReplaced(member.record.index);
}

/// Writes a block elsewhere, since it could not be read back.
void Core::failCheck(uint32_t number, const std::string &why) {
  Block &block = blocks[number];
  endCheck(block);
  loseExtent(block);
  block.avoided = static_cast<int>(block.extent.file);
  moveBlock(number, why);
}

void Core::endCheck(Block &block) {
  uint32_t slot = std::exchange(block.copy, none);
  if (slot == none)
    return;
  // A disk may still write to it.
  if (slot == spare && slots[slot].leaks != 0)
    spare = none;
  if (slot != spare)
    return freeSlot(slot);
  spareIsTaken = false;
}

bool Core::isVerified(const Record &record) const {
  // The last piece is verified last, mostly.
  return record.state == Record::State::Kept && !record.lost &&
         std::all_of(record.pieces.rbegin(), record.pieces.rend(),
                     [&](const Piece &piece) {
                       return blocks[piece.block].state ==
                              Block::State::Written;
                     });
}

/// Drops what the record replaces, and what that was to replace, where all of
/// it is verified.
void Core::dropReplaced(uint32_t index) {
  if (records[index].replaces.empty() || !isVerified(records[index]))
    return;
  std::vector<RecordId> over = std::move(records[index].replaces);
  records[index].replaces.clear();
  replacing.erase(index);
  while (!over.empty()) {
    RecordId id = over.back();
    over.pop_back();
    Record *record = alive(id);
    if (!record || id.index == index)
      continue;
    over.insert(over.end(), record->replaces.begin(), record->replaces.end());
    remove(id);
  }
}

} // namespace drawloom::runtime::offload
