//===- Transfers.cpp - what goes between memory and files -----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/offload/Core.h"
#include <algorithm>
#include <cerrno>

namespace drawloom::runtime::offload {

void Core::advance(uint64_t now, Work &work) {
  work = Work();
  checkTime(now);
  resubmit(now, work);
  // What somebody waits for, then what gives memory back, then what makes room
  // for those that put, then what may be read ahead, then what may be written.
  bool hasRoom = true;
  starved = false;
  for (size_t i = 0; i < demanded.size(); ++i)
    hasRoom &= read(demanded[i], true, now, work);
  startChecks(now, work);
  if (hasRoom && (hungry != 0 || starved))
    write(now, work);
  startLoads();
  for (size_t i = 0; i < loading.size();) {
    uint32_t index = loading[i];
    bool over = records[index].buffer == none;
    if (!over) {
      if (!read(index, false, now, work))
        break;
      over = records[index].scan >= records[index].pieces.size();
    }
    if (over)
      loading.erase(loading.begin() + static_cast<std::ptrdiff_t>(i));
    else
      ++i;
  }
  if (hasRoom)
    write(now, work);
  cramped = false;
  giveChecks(work);
  work.unmap.swap(unmaps);
  work.map.swap(maps);
  work.cancel.swap(cancels);
  for (const Flight &flight : flights)
    if (flight.used && !flight.abandoned)
      work.next =
          std::min(work.next, flight.onDevice ? flight.deadline : flight.at);
}

//===----------------------------------------------------------------------===//
// Starting
//===----------------------------------------------------------------------===//

uint32_t Core::newFlight(Transfer::Kind kind, uint64_t now) {
  if (freeFlights.empty()) {
    freeFlights.push_back(static_cast<uint32_t>(flights.size()));
    flights.emplace_back();
  }
  uint32_t number = freeFlights.back();
  freeFlights.pop_back();
  Flight &flight = flights[number];
  flight = Flight();
  flight.used = true;
  flight.kind = kind;
  flight.id = number;
  flight.began = now;
  flight.block = flight.slot = flight.buffer = none;
  return number;
}

void Core::submit(Flight &flight, uint64_t now, Work &work) {
  // No two attempts have the same number: one that comes back twice is found.
  flight.id = ++serial << 16 | (flight.id & 0xffff);
  flight.onDevice = true;
  flight.submitted = now;
  flight.deadline = now + options.timeout;
  uint64_t rest = flight.count - flight.done;
  slab.begin(flight.file, rest, now);
  work.submit.push_back({flight.id, flight.kind, flight.file,
                         flight.offset + flight.done,
                         flight.memory + flight.done, rest});
}

/// Those that were to be tried again at some time.
void Core::resubmit(uint64_t now, Work &work) {
  for (Flight &flight : flights) {
    if (!flight.used || flight.onDevice ||
        (flight.at > now && !flight.cancelled))
      continue;
    if (flight.cancelled)
      retire(flight);
    else
      submit(flight, now, work);
  }
}

/// Starts to read what of a record is away. False: each file has enough to do.
bool Core::read(uint32_t index, bool urgent, uint64_t now, Work &work) {
  Record &record = records[index];
  bool toBuffer = record.buffer != none;
  if (record.lost || (!toBuffer && !urgent) ||
      (toBuffer && buffers[record.buffer].state != Buffer::State::Mapped))
    return true;
  uint32_t count = static_cast<uint32_t>(record.pieces.size());
  uint32_t first =
      toBuffer ? record.scan : std::max(record.scan, record.cursor);
  uint32_t last = toBuffer ? count : std::min(count, record.cursor + window);
  for (uint32_t i = first; i < last; ++i) {
    Piece &piece = record.pieces[i];
    if (piece.state != Piece::State::Away || isResident(piece)) {
      record.scan += record.scan == i;
      continue;
    }
    // Somebody still looks at what was there.
    if (piece.pins != 0)
      continue;
    Block &block = blocks[piece.block];
    unsigned file = block.extent.file;
    if (slab.isDead(file)) {
      fail(index, nameOf(record) + " cannot be read back from " +
                      place(file, block.extent.offset + piece.offset) +
                      ": the folder has not answered before; see to its disk");
      return true;
    }
    unsigned depth = (urgent ? 2 : 1) * options.depth;
    if (slab.underWay(file) >= depth) {
      if (slab.isBusy(depth))
        return false;
      continue;
    }
    if (!toBuffer && piece.slot == none) {
      uint32_t slot = takeSlot(true, i == record.cursor);
      if (slot == none) {
        starved |= i == record.cursor;
        return true;
      }
      piece.slot = slot;
    }
    Flight &flight = flights[newFlight(Transfer::Kind::Read, now)];
    flight.record = idOf(index);
    flight.piece = i;
    flight.block = piece.block;
    flight.file = file;
    flight.offset = block.extent.offset + piece.offset;
    flight.count = rounded(piece.bytes);
    if (piece.slot != none) {
      flight.slot = piece.slot;
      ++slots[piece.slot].flights;
      flight.memory = slotMemory(piece.slot) + piece.offset;
    } else {
      flight.buffer = record.buffer;
      ++buffers[record.buffer].flights;
      flight.memory = buffers[record.buffer].memory + i * options.unit;
    }
    ++block.flights;
    piece.state = Piece::State::Reading;
    record.scan += record.scan == i;
    submit(flight, now, work);
  }
  return true;
}

/// Starts to write blocks.
void Core::write(uint64_t now, Work &work) {
  bool isPressed = hungry != 0 || finishing != 0 || starved || cramped;
  if (openBlock != none && isPressed) {
    bool moving = std::any_of(flights.begin(), flights.end(), [](auto &flight) {
      return flight.used && flight.block != none &&
             flight.kind == Transfer::Kind::Write;
    });
    if (finishing != 0 || (queue.empty() && !moving))
      seal(openBlock);
  }
  while (!queue.empty()) {
    uint32_t number = std::get<3>(*queue.begin());
    Block &block = blocks[number];
    if (block.deferred && !isPressed)
      return;
    int file = slab.choose(options.depth, block.avoided);
    if (file < 0 && slab.choose(UINT32_MAX, block.avoided) < 0)
      file = slab.choose(options.depth); // There is no other one.
    if (file < 0) {
      // What no folder has room for stays in memory as long as it may.
      if (slab.choose(UINT32_MAX) >= 0 || !isPressed)
        return;
      dequeue(number);
      failBlock(number, block.failure.empty()
                            ? "no folder has room for it any more"
                            : block.failure + ", and no other has room");
      continue;
    }
    dequeue(number);
    block.state = Block::State::Writing;
    block.extent = slab.take(static_cast<unsigned>(file));
    block.placed = true;
    --unplaced;
    ++block.flights;
    ++slots[block.slot].flights;
    Flight &flight = flights[newFlight(Transfer::Kind::Write, now)];
    flight.block = number;
    flight.slot = block.slot;
    flight.file = block.extent.file;
    flight.offset = block.extent.offset;
    flight.count = block.used;
    flight.memory = slotMemory(block.slot);
    submit(flight, now, work);
  }
}

/// Nobody waits for what is being read of the record.
void Core::cancelReads(RecordId id) {
  for (Flight &flight : flights) {
    if (!flight.used || flight.kind != Transfer::Kind::Read ||
        flight.record.index != id.index ||
        flight.record.generation != id.generation)
      continue;
    flight.record = RecordId();
    flight.cancelled = true;
    if (flight.onDevice)
      cancels.push_back(flight.id);
    dirty = true;
  }
}

//===----------------------------------------------------------------------===//
// Ending
//===----------------------------------------------------------------------===//

/// What it used is free of it.
void Core::retire(Flight &flight) {
  if (flight.slot != none) {
    Slot &slot = slots[flight.slot];
    if (flight.abandoned)
      leaking -= --slot.leaks == 0;
    if (--slot.flights == 0)
      settleSlot(flight.slot);
  }
  if (flight.buffer != none) {
    Buffer &buffer = buffers[flight.buffer];
    buffer.leaks -= flight.abandoned;
    if (--buffer.flights == 0)
      settleBuffer(flight.buffer);
  }
  uint32_t number = flight.block;
  flight.used = false;
  freeFlights.push_back(static_cast<uint32_t>(flight.id & 0xffff));
  changed = dirty = true;
  if (number == none)
    return;
  Block &block = blocks[number];
  if (--block.flights == 0 && block.live == 0) {
    --dying;
    freeBlock(number);
  }
}

void Core::complete(const Completion &completion, uint64_t now) {
  size_t number = completion.id & 0xffff;
  if (number >= flights.size() || !flights[number].used ||
      !flights[number].onDevice || flights[number].id != completion.id) {
    ++counted.strays;
    return;
  }
  Flight &flight = flights[number];
  flight.onDevice = false;
  uint64_t rest = flight.count - flight.done;
  slab.end(flight.file, rest, now);
  if (flight.abandoned)
    return retire(flight);
  if (completion.result <= 0 ||
      static_cast<uint64_t>(completion.result) > rest) {
    int error = completion.result < 0 && completion.result > -4096
                    ? static_cast<int>(-completion.result)
                    : EIO;
    if (flight.cancelled && error == ECANCELED)
      return retire(flight);
    return failed(flight, error, now);
  }
  bool isWrite = flight.kind == Transfer::Kind::Write;
  uint64_t count = static_cast<uint64_t>(completion.result);
  (isWrite ? counted.written : counted.read) += count;
  if (count < rest) {
    uint64_t whole = count - count % files[flight.file].alignment;
    if (flight.cancelled)
      return retire(flight);
    // Less than the file's unit is as good as nothing.
    if (whole == 0)
      return failed(flight, EIO, now);
    flight.done += whole;
    return again(flight, now);
  }
  Record *record = nullptr;
  if (isWrite) {
    Block &block = blocks[flight.block];
    if (block.persistent) {
      block.state = Block::State::Unchecked;
      unchecked.push_back(flight.block);
    } else {
      block.state = Block::State::Written;
      --unwritten;
      written.push_back(flight.block);
    }
    if (!block.members.empty())
      record = alive(block.members.front().record);
  } else if (flight.checks) {
    arrived.push_back(flight.block);
  } else if ((record = alive(flight.record))) {
    record->pieces[flight.piece].state = Piece::State::Here;
  }
  if (trace)
    trace->add(isWrite         ? "write"
               : flight.checks ? "check"
                               : "read",
               static_cast<int>(flight.file), record ? record->site : "",
               flight.submitted, now, flight.count);
  retire(flight);
}

void Core::again(Flight &flight, uint64_t at) {
  ++counted.retries;
  flight.at = at;
  dirty = true;
}

size_t Core::abandoned() const {
  return static_cast<size_t>(
      std::count_if(flights.begin(), flights.end(), [](const Flight &flight) {
        return flight.used && flight.abandoned;
      }));
}

size_t Core::underWay() const {
  return static_cast<size_t>(
      std::count_if(flights.begin(), flights.end(),
                    [](const Flight &flight) { return flight.used; }));
}

} // namespace drawloom::runtime::offload
