//===- Memory.cpp - what memrefs refer to ---------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/Memory.h"
#include "lib/Interpreter/Machine.h"

using namespace mlir;

namespace drawloom::interpreter {

//===----------------------------------------------------------------------===//
// Views.
//===----------------------------------------------------------------------===//

View View::of(const HostTensor &value) {
  ArrayRef<int64_t> numbers = value.i();
  View view;
  view.buffer = numbers[0];
  view.offset = numbers[1];
  numbers = numbers.drop_front(2);
  view.sizes.assign(numbers.begin(), numbers.begin() + numbers.size() / 2);
  view.strides.assign(numbers.begin() + numbers.size() / 2, numbers.end());
  return view;
}

HostTensor View::value() const {
  HostTensor value(/*isFloat=*/false, {2 + 2 * rank()});
  MutableArrayRef<int64_t> numbers = value.mutableI();
  numbers[0] = buffer;
  numbers[1] = offset;
  llvm::copy(sizes, numbers.begin() + 2);
  llvm::copy(strides, numbers.begin() + 2 + rank());
  return value;
}

int64_t View::at(ArrayRef<int64_t> index) const {
  int64_t position = offset;
  for (auto [i, stride] : llvm::zip_equal(index, strides))
    position += i * stride;
  return position;
}

bool View::isDense() const {
  int64_t stride = 1;
  for (int64_t dim = rank(); dim-- > 0;) {
    if (sizes[dim] != 1 && strides[dim] != stride)
      return false;
    stride *= sizes[dim];
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Buffers.
//===----------------------------------------------------------------------===//

HostTensor undefined(Type element, ArrayRef<int64_t> shape) {
  HostTensor value(isFloat(element), shape);
  if (value.isFloat())
    llvm::fill(value.mutableF(), std::numeric_limits<double>::quiet_NaN());
  else
    llvm::fill(value.mutableI(),
               wrapInteger(int64_t(0xDEADBEEFDEADBEEF), elementBits(element)));
  return value;
}

int64_t bytesOf(Type element) { return (elementBits(element) + 7) / 8; }

View Memory::add(HostTensor contents, Type element) {
  View view;
  view.buffer = buffers.size();
  view.sizes.assign(contents.shape().begin(), contents.shape().end());
  view.strides = stridesOf(contents.shape());
  buffers.push_back({std::move(contents), element, -1});
  return view;
}

int64_t Memory::addArena(int64_t count) {
  arenas.push_back({count, {}});
  return arenas.size() - 1;
}

View Memory::inArena(int64_t arena, int64_t byte, Type element,
                     ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides) {
  View view;
  view.buffer = -1;
  for (int64_t buffer : arenas[arena].buffers)
    if (buffers[buffer].element == element)
      view.buffer = buffer;
  if (view.buffer < 0) {
    view.buffer = buffers.size();
    int64_t count = arenas[arena].bytes / bytesOf(element);
    buffers.push_back({undefined(element, {count}), element, arena});
    arenas[arena].buffers.push_back(view.buffer);
  }
  view.offset = byte / bytesOf(element);
  view.sizes.assign(sizes.begin(), sizes.end());
  view.strides.assign(strides.begin(), strides.end());
  return view;
}

int64_t Memory::arenaOf(int64_t buffer) {
  int64_t &arena = buffers[buffer].arena;
  if (arena < 0) {
    arena = addArena(buffers[buffer].contents.size());
    arenas[arena].buffers.push_back(buffer);
  }
  return arena;
}

bool Memory::contains(const View &view) const {
  int64_t low = view.offset, high = view.offset;
  for (auto [size, stride] : llvm::zip_equal(view.sizes, view.strides)) {
    if (size == 0)
      return true;
    (stride < 0 ? low : high) += (size - 1) * stride;
  }
  return low >= 0 && high < buffers[view.buffer].contents.size();
}

void Memory::release(int64_t buffer) { buffers[buffer].contents = {}; }

void Memory::forget(Mark mark) {
  // A buffer of bytes from before may have become an arena, and that may have
  // got buffers for more types: both stay.
  for (size_t i = 0; i < std::min(mark.buffers, buffers.size()); ++i)
    if (buffers[i].arena >= int64_t(mark.arenas))
      return;
  for (size_t i = 0; i < mark.arenas; ++i)
    for (int64_t buffer : arenas[i].buffers)
      if (buffer >= int64_t(mark.buffers))
        return;
  buffers.resize(mark.buffers);
  arenas.resize(mark.arenas);
}

void Memory::forEachRun(const View &view,
                        function_ref<void(int64_t, int64_t)> fn) const {
  if (llvm::is_contained(view.sizes, 0))
    return;
  SmallVector<int64_t, 4> index(view.rank(), 0), lines(view.sizes);
  int64_t length = 1;
  if (!lines.empty() && view.strides.back() == 1)
    std::swap(length, lines.back());
  do {
    fn(view.at(index), length);
  } while (advance(index, lines));
}

HostTensor Memory::read(const View &view) const {
  const HostTensor &contents = buffers[view.buffer].contents;
  HostTensor value(contents.isFloat(), view.sizes);
  if (view.offset == 0 && view.isDense() && value.size() == contents.size())
    return contents.reshaped(view.sizes);
  int64_t to = 0;
  if (contents.isFloat()) {
    MutableArrayRef<double> data = value.mutableF();
    forEachRun(view, [&](int64_t at, int64_t length) {
      llvm::copy(contents.f().slice(at, length), data.begin() + to);
      to += length;
    });
  } else {
    MutableArrayRef<int64_t> data = value.mutableI();
    forEachRun(view, [&](int64_t at, int64_t length) {
      llvm::copy(contents.i().slice(at, length), data.begin() + to);
      to += length;
    });
  }
  return value;
}

void Memory::write(const View &view, const HostTensor &value) {
  Buffer &buffer = buffers[view.buffer];
  int64_t from = 0;
  if (value.isFloat()) {
    MutableArrayRef<double> data = buffer.contents.mutableF();
    forEachRun(view, [&](int64_t at, int64_t length) {
      llvm::copy(value.f().slice(from, length), data.begin() + at);
      from += length;
      overwrite(buffer, at, length);
    });
  } else {
    MutableArrayRef<int64_t> data = buffer.contents.mutableI();
    forEachRun(view, [&](int64_t at, int64_t length) {
      llvm::copy(value.i().slice(from, length), data.begin() + at);
      from += length;
      overwrite(buffer, at, length);
    });
  }
}

HostTensor Memory::readElement(const View &view, int64_t at) const {
  const HostTensor &contents = buffers[view.buffer].contents;
  return contents.isFloat() ? HostTensor::scalar(contents.f()[at])
                            : HostTensor::scalar(contents.i()[at]);
}

void Memory::writeElement(const View &view, int64_t at,
                          const HostTensor &value) {
  Buffer &buffer = buffers[view.buffer];
  if (buffer.contents.isFloat())
    buffer.contents.mutableF()[at] = value.asFloat();
  else
    buffer.contents.mutableI()[at] = value.asInt();
  overwrite(buffer, at, 1);
}

void Memory::poison(const View &view) {
  write(view, undefined(buffers[view.buffer].element, view.sizes));
}

void Memory::overwrite(const Buffer &by, int64_t at, int64_t length) {
  if (by.arena < 0)
    return;
  int64_t bytes = bytesOf(by.element);
  int64_t low = at * bytes, high = (at + length) * bytes;
  for (int64_t number : arenas[by.arena].buffers) {
    Buffer &other = buffers[number];
    if (&other == &by)
      continue;
    int64_t size = bytesOf(other.element);
    int64_t first = low / size;
    int64_t last = std::min((high + size - 1) / size, other.contents.size());
    if (first >= last)
      continue;
    HostTensor nothing = undefined(other.element, {});
    if (other.contents.isFloat())
      llvm::fill(other.contents.mutableF().slice(first, last - first),
                 nothing.asFloat());
    else
      llvm::fill(other.contents.mutableI().slice(first, last - first),
                 nothing.asInt());
  }
}

} // namespace drawloom::interpreter
