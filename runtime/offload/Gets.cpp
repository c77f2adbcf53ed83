//===- Gets.cpp - pieces of records, one after another --------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/offload/Core.h"
#include <algorithm>

namespace drawloom::runtime::offload {

Outcome Core::begin(RecordId id, uint64_t &bytes, uint32_t &pieces,
                    std::string &why) {
  Record *record = find(id, why);
  if (!record)
    return Outcome::Misused;
  if (record->lost) {
    why = record->failure;
    return Outcome::Failed;
  }
  bytes = record->bytes;
  pieces = static_cast<uint32_t>(record->pieces.size());
  if (record->callers++ == 0)
    demanded.push_back(id.index);
  return Outcome::Ready;
}

Outcome Core::view(RecordId id, uint32_t index, bool whole, View &view,
                   std::string &why) {
  view = View();
  Record *record = find(id, why);
  if (!record)
    return Outcome::Misused;
  if (record->lost) {
    why = record->failure;
    return Outcome::Failed;
  }
  if (whole && record->buffer == none) {
    if (std::exchange(record->lacking, false)) {
      why = "the machine lacks the memory for " + nameOf(*record) +
            " although the store may have it: open it with less";
      return Outcome::LacksMemory;
    }
    Outcome made = makeBuffer(id.index, true, why);
    setWanting(*record, made == Outcome::Wait);
    if (made != Outcome::Ready)
      return made;
  }
  char *buffer =
      record->buffer == none ? nullptr : buffers[record->buffer].memory;
  if (whole && !buffer)
    return Outcome::Wait;
  if (record->pieces.empty()) // Of no bytes.
    return Outcome::Ready;
  Piece &piece = record->pieces[index];
  record->cursor = index;
  if (whole && piece.checked)
    return Outcome::Ready;
  view.record = id;
  view.piece = index;
  view.bytes = piece.bytes;
  view.offset = index * options.unit;
  view.sum = piece.sum;
  view.tries = piece.tries;
  bool isHere = piece.state == Piece::State::Here;
  if (piece.filling || (!isHere && !isResident(piece))) {
    record->scan = std::min(record->scan, index);
    dirty |= piece.state == Piece::State::Away;
    if (isExhausted() && !buffer) {
      why = nameOf(*record) + " finds no memory: " + holders();
      return Outcome::Failed;
    }
    return Outcome::Wait;
  }
  ++piece.pins;
  view.source = isHere ? View::Source::Loaded : View::Source::Block;
  bool inBuffer = isHere && piece.slot == none;
  if (inBuffer) {
    view.data = buffer + view.offset;
  } else {
    view.slot = isHere ? piece.slot : blocks[piece.block].slot;
    view.data = slotMemory(view.slot) + piece.offset;
    ++slots[view.slot].pins;
  }
  if (inBuffer || whole) {
    view.buffer = record->buffer;
    ++buffers[view.buffer].pins;
  }
  if (whole && !inBuffer) {
    view.into = buffer + view.offset;
    piece.filling = true;
  }
  return Outcome::Ready;
}

bool Core::seen(const View &view, uint32_t sum) {
  if (view.source == View::Source::Nothing)
    return true;
  auto unpin = [&] {
    if (view.slot != none && --slots[view.slot].pins == 0)
      settleSlot(view.slot);
    if (view.buffer != none && --buffers[view.buffer].pins == 0)
      settleBuffer(view.buffer);
  };
  Record *record = alive(view.record);
  if (!record || record->lost) {
    unpin();
    return sum == view.sum;
  }
  Piece &piece = record->pieces[view.piece];
  --piece.pins;
  changed = true;
  // Its buffer may have been taken away meanwhile, and be another one now.
  bool isWhole = view.buffer != none && view.buffer == record->buffer;
  if (view.into && isWhole)
    piece.filling = false;
  bool right = sum == view.sum || mismatch(*record, view, sum);
  if (right) {
    piece.tries = 0;
    counted.forwarded += view.source == View::Source::Block ? view.bytes : 0;
    // A slot is for one look; who else wants the piece reads it again.
    if (view.source == View::Source::Loaded && view.slot != none &&
        view.slot == piece.slot) {
      freeSlot(std::exchange(piece.slot, none));
      piece.state = Piece::State::Away;
    }
    if (isWhole) {
      piece.state = Piece::State::Here;
      piece.checked = true;
    }
  }
  unpin();
  dirty |= piece.state == Piece::State::Away;
  return right;
}

void Core::end(RecordId id, bool complete) {
  Record *record = alive(id);
  if (!record)
    return;
  if (complete) {
    ++counted.gets;
    counted.bytesGot += record->bytes;
    record->position = UINT64_MAX;
    defer(*record);
  }
  if (--record->callers != 0)
    return;
  demanded.erase(std::find(demanded.begin(), demanded.end(), id.index));
  setWanting(*record, false);
  if (complete)
    releaseSlots(*record);
  else
    pause(id);
  changed = true;
}

/// Remembers a record whose slots others may have.
void Core::pause(RecordId id) {
  auto isSame = [&](RecordId other) {
    return other.index == id.index && other.generation == id.generation;
  };
  if (std::any_of(paused.begin(), paused.end(), isSame))
    return;
  paused.erase(std::remove_if(paused.begin(), paused.end(),
                              [&](RecordId other) { return !alive(other); }),
               paused.end());
  paused.push_back(id);
}

void *Core::lend(RecordId id) {
  Record *record = alive(id);
  if (!record || record->buffer == none)
    return nullptr;
  uint32_t number = record->buffer;
  Buffer &buffer = buffers[number];
  ++buffer.lent;
  lentBuffers[buffer.memory] = number;
  return buffer.memory;
}

Status Core::giveBack(void *memory) {
  auto found = lentBuffers.find(memory);
  if (found == lentBuffers.end())
    return Status::error("what is returned was not borrowed from this store, "
                         "or has been returned before");
  uint32_t number = found->second;
  if (--buffers[number].lent == 0) {
    lentBuffers.erase(found);
    settleBuffer(number);
    changed = true;
  }
  return Status();
}

} // namespace drawloom::runtime::offload
