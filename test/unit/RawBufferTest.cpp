//===- RawBufferTest.cpp --------------------------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/RawBuffer.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace mlir;
using drawloom::HostTensor;

namespace {
struct RawBufferTest : testing::Test {
  /// The bits that one float has in memory.
  uint64_t bitsOf(double value, Type type) {
    uint64_t bits = 0;
    drawloom::writeRaw(HostTensor::scalar(value), type, &bits);
    return bits;
  }
  MLIRContext context;
  Type f64 = Float64Type::get(&context), f32 = Float32Type::get(&context);
  Type bf16 = BFloat16Type::get(&context), f16 = Float16Type::get(&context);
  Type i1 = IntegerType::get(&context, 1), i8 = IntegerType::get(&context, 8);
  Type i32 = IntegerType::get(&context, 32);
  Type index = IndexType::get(&context);
};
} // namespace

TEST_F(RawBufferTest, ElementSizes) {
  EXPECT_EQ(drawloom::rawElementBytes(f64), 8);
  EXPECT_EQ(drawloom::rawElementBytes(f32), 4);
  EXPECT_EQ(drawloom::rawElementBytes(bf16), 2);
  EXPECT_EQ(drawloom::rawElementBytes(f16), 2);
  EXPECT_EQ(drawloom::rawElementBytes(i1), 1);
  EXPECT_EQ(drawloom::rawElementBytes(index), 8);
}

TEST_F(RawBufferTest, TypesWithoutDenseMemoryHaveNoSize) {
  EXPECT_EQ(drawloom::rawElementBytes(IntegerType::get(&context, 7)), 0);
  EXPECT_EQ(drawloom::rawElementBytes(ComplexType::get(f32)), 0);
}

TEST_F(RawBufferTest, FloatsHaveTheTypesBits) {
  EXPECT_EQ(bitsOf(1.0, f64), 0x3FF0000000000000u);
  EXPECT_EQ(bitsOf(1.0, f32), 0x3F800000u);
  EXPECT_EQ(bitsOf(1.0, bf16), 0x3F80u);
  EXPECT_EQ(bitsOf(1.0, f16), 0x3C00u);
}

TEST_F(RawBufferTest, TiesRoundToEven) {
  // Halfway between two neighbours of 1.0, whose last bits are even and odd.
  EXPECT_EQ(bitsOf(1.0 + std::ldexp(1, -8), bf16), 0x3F80u);
  EXPECT_EQ(bitsOf(1.0 + 3 * std::ldexp(1, -8), bf16), 0x3F82u);
  EXPECT_EQ(bitsOf(1.0 + std::ldexp(1, -11), f16), 0x3C00u);
  EXPECT_EQ(bitsOf(1.0 + 3 * std::ldexp(1, -11), f16), 0x3C02u);
}

TEST_F(RawBufferTest, DoubleRoundingDoesNotHappen) {
  // Just above the tie: through float32 it would become the tie.
  EXPECT_EQ(bitsOf(1.0 + std::ldexp(1, -8) + std::ldexp(1, -40), bf16),
            0x3F81u);
}

TEST_F(RawBufferTest, LargeValuesBecomeInfinite) {
  EXPECT_EQ(bitsOf(1e10, f16), 0x7C00u);
  EXPECT_EQ(bitsOf(-1e300, f32), 0xFF800000u);
}

TEST_F(RawBufferTest, SubnormalsAreKept) {
  double tiny = std::ldexp(1, -24);
  EXPECT_EQ(bitsOf(tiny, f16), 1u);
  uint16_t bits = 1;
  EXPECT_EQ(drawloom::readRaw({}, f16, &bits).asFloat(), tiny);
}

TEST_F(RawBufferTest, NanStaysNan) {
  uint16_t bits = 0;
  drawloom::writeRaw(HostTensor::scalar(std::nan("")), bf16, &bits);
  EXPECT_TRUE(std::isnan(drawloom::readRaw({}, bf16, &bits).asFloat()));
}

TEST_F(RawBufferTest, EveryBfloat16RoundTrips) {
  for (uint32_t i = 0; i < 0x10000; ++i) {
    uint16_t bits = i, back = 0;
    HostTensor value = drawloom::readRaw({}, bf16, &bits);
    if (std::isnan(value.asFloat()))
      continue;
    drawloom::writeRaw(value, bf16, &back);
    ASSERT_EQ(bits, back);
  }
}

TEST_F(RawBufferTest, NarrowIntegersAreSignExtended) {
  int8_t bytes[] = {-1, 127};
  HostTensor t = drawloom::readRaw({2}, i8, bytes);
  EXPECT_EQ(t.i({0}), -1);
  EXPECT_EQ(t.i({1}), 127);
}

TEST_F(RawBufferTest, BooleansAreZeroOrOne) {
  uint8_t bytes[] = {0, 1, 255};
  HostTensor t = drawloom::readRaw({3}, i1, bytes);
  EXPECT_EQ(t.i().vec(), (std::vector<int64_t>{0, 1, 1}));
}

TEST_F(RawBufferTest, ElementsAreDense) {
  HostTensor t(false, {2, 2});
  for (int64_t i = 0; i < 4; ++i)
    t.mutableI()[i] = i - 2;
  int32_t memory[5] = {0, 0, 0, 0, 77};
  drawloom::writeRaw(t, i32, memory);
  EXPECT_EQ(memory[0], -2);
  EXPECT_EQ(memory[3], 1);
  EXPECT_EQ(memory[4], 77);
}

TEST_F(RawBufferTest, EmptyTensorsTouchNoMemory) {
  drawloom::writeRaw(HostTensor(true, {0, 3}), f32, nullptr);
  EXPECT_EQ(drawloom::readRaw({0, 3}, f32, nullptr).size(), 0);
}
