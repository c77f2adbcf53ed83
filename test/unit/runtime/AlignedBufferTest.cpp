//===- AlignedBufferTest.cpp - memory whose absence is a value ------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "drawloom/runtime/AlignedBuffer.h"
#include "drawloom/runtime/Abi.h"
#include "gtest/gtest.h"
#include <cstring>
#include <limits>

using drawloom::runtime::AlignedBuffer;

TEST(AlignedBuffer, IsAlignedAndWritable) {
  for (int64_t bytes : {1, 63, 64, 65, 4097}) {
    auto buffer = AlignedBuffer::allocate(bytes);
    ASSERT_TRUE(buffer);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % DRAWLOOM_ALIGNMENT,
              0u);
    EXPECT_EQ(buffer->size(), bytes);
    std::memset(buffer->data(), 1, bytes);
  }
}

TEST(AlignedBuffer, HasAnAddressForNoBytes) {
  auto buffer = AlignedBuffer::allocate(0);
  ASSERT_TRUE(buffer);
  EXPECT_NE(buffer->data(), nullptr);
  EXPECT_EQ(buffer->size(), 0);
}

TEST(AlignedBuffer, RefusesWhatNoMachineHas) {
  EXPECT_FALSE(AlignedBuffer::allocate(-1));
  EXPECT_FALSE(AlignedBuffer::allocate(std::numeric_limits<int64_t>::max()));
}

TEST(AlignedBuffer, MovesItsMemory) {
  auto first = AlignedBuffer::allocate(8);
  ASSERT_TRUE(first);
  void *address = first->data();
  AlignedBuffer second = std::move(*first);
  EXPECT_EQ(second.data(), address);
  EXPECT_EQ(first->data(), nullptr);
}
