//===- OffloadChecksumTest.cpp - CRC32C of bytes --------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/offload/Checksum.h"
#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace drawloom::runtime::offload;

namespace {

using Bytes = std::vector<unsigned char>;

/// The definition: a register of 32 bits, one bit of the message at a time.
uint32_t bitwise(const unsigned char *bytes, size_t count) {
  uint32_t state = 0xffffffff;
  for (size_t i = 0; i < count; ++i) {
    state ^= bytes[i];
    for (int bit = 0; bit < 8; ++bit)
      state = state >> 1 ^ (state & 1 ? 0x82f63b78u : 0);
  }
  return ~state;
}

Bytes randomBytes(size_t count, std::mt19937_64 &random) {
  Bytes bytes(count);
  for (unsigned char &byte : bytes)
    byte = static_cast<unsigned char>(random());
  return bytes;
}

using Sum = uint32_t (*)(const void *, size_t, uint32_t);
class OffloadChecksum : public testing::TestWithParam<Sum> {};

/// RFC 3720, B.4, and the check value of the catalogues of CRCs.
TEST_P(OffloadChecksum, GivesThePublishedValues) {
  Sum sum = GetParam();
  Bytes bytes(32, 0);
  EXPECT_EQ(sum(bytes.data(), 32, 0), 0x8a9136aau);
  bytes.assign(32, 0xff);
  EXPECT_EQ(sum(bytes.data(), 32, 0), 0x62a8ab43u);
  for (unsigned char i = 0; i < 32; ++i)
    bytes[i] = i;
  EXPECT_EQ(sum(bytes.data(), 32, 0), 0x46dd794eu);
  std::reverse(bytes.begin(), bytes.end());
  EXPECT_EQ(sum(bytes.data(), 32, 0), 0x113fdb5cu);
  // A command of iSCSI.
  const unsigned char command[48] = {
      0x01, 0xc0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,    0, 0, 0, 0,
      0x14, 0,    0, 0, 0, 0, 4, 0, 0, 0, 0, 0x14, 0, 0, 0, 0x18,
      0x28, 0,    0, 0, 0, 0, 0, 0, 2, 0, 0, 0,    0, 0, 0, 0};
  EXPECT_EQ(sum(command, 48, 0), 0xd9963a56u);
  EXPECT_EQ(sum("123456789", 9, 0), 0xe3069283u);
  EXPECT_EQ(sum(nullptr, 0, 0), 0u);
}

TEST_P(OffloadChecksum, IsTheBitwiseSumOfAnyLengthAndPlace) {
  std::mt19937_64 random(1);
  Bytes bytes = randomBytes(70000, random);
  auto check = [&](size_t offset, size_t count) {
    ASSERT_EQ(GetParam()(bytes.data() + offset, count, 0),
              bitwise(bytes.data() + offset, count))
        << count << " bytes behind " << offset;
  };
  for (size_t count = 0; count < 1000; ++count)
    check(random() % 64, count);
  // Around the ends of blocks of three parts.
  for (size_t blocks : {384, 768, 12288, 12288 + 384, 24576})
    for (size_t more = 0; more < 20; ++more)
      check(random() % 64, blocks - 10 + more);
  for (int i = 0; i < 200; ++i) {
    size_t offset = random() % bytes.size();
    check(offset, random() % (bytes.size() - offset));
  }
}

TEST_P(OffloadChecksum, GoesOnFromTheSumBefore) {
  std::mt19937_64 random(2);
  Bytes bytes = randomBytes(50000, random);
  for (int i = 0; i < 200; ++i) {
    size_t whole = random() % bytes.size(), half = random() % (whole + 1);
    uint32_t first = GetParam()(bytes.data(), half, 0);
    ASSERT_EQ(GetParam()(bytes.data() + half, whole - half, first),
              GetParam()(bytes.data(), whole, 0));
  }
}

TEST_P(OffloadChecksum, SeesEachBit) {
  std::mt19937_64 random(3);
  Bytes bytes = randomBytes(4096, random);
  uint32_t right = GetParam()(bytes.data(), bytes.size(), 0);
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] ^= 1 << bit % 8;
    ASSERT_NE(GetParam()(bytes.data(), bytes.size(), 0), right) << bit;
    bytes[bit / 8] ^= 1 << bit % 8;
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, OffloadChecksum,
                         testing::Values(crc32c, crc32cByTable),
                         [](const auto &info) {
                           return info.index == 0 ? "Fastest" : "Table";
                         });

/// Bytes in front and behind stay as they are.
TEST(OffloadCopy, CopiesAllAndNoMore) {
  std::mt19937_64 random(4);
  Bytes from = randomBytes(600000 + 128, random);
  // On both sides of the length from which copies go past the caches, and of
  // whole blocks.
  for (size_t count : {0, 1, 63, 64, 65, 4095, 4097, 100000, 262143, 262144,
                       262145, 270335, 270336, 270337, 500001, 600000})
    // To where a line of a cache begins, and to other places.
    for (size_t place : {64, 65, 72, 100}) {
      Bytes owner(count + 512, 0x5a);
      size_t line = -reinterpret_cast<uintptr_t>(owner.data()) & 63;
      Bytes expected = owner;
      size_t offset = random() % 128;
      std::memcpy(expected.data() + line + place, from.data() + offset, count);
      auto before = static_cast<uint32_t>(random());
      EXPECT_EQ(copyWithCrc32c(owner.data() + line + place,
                               from.data() + offset, count, before),
                crc32cByTable(from.data() + offset, count, before));
      EXPECT_TRUE(owner == expected) << count << " bytes to " << place;
    }
}

} // namespace
