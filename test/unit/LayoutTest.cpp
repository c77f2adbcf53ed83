//===- LayoutTest.cpp - which thread holds which element ------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/dialect/Layout.h"
#include "llvm/ADT/STLExtras.h"
#include <gtest/gtest.h>
#include <map>
#include <set>

using namespace drawloom::tile;

namespace {

using Coordinates = std::vector<int64_t>;

Coordinates sum(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b) {
  Coordinates result;
  for (auto [x, y] : llvm::zip_equal(a, b))
    result.push_back(x + y);
  return result;
}

std::string name(llvm::ArrayRef<int64_t> shape) {
  std::string text;
  for (int64_t extent : shape)
    text += std::to_string(extent) + "x";
  return text;
}

/// Each element in exactly one register of one thread, counting threads that
/// differ in replicated bits as one.
void expectEachElementOnce(const Layout &layout,
                           llvm::ArrayRef<int64_t> shape) {
  SCOPED_TRACE(name(shape));
  auto rank = static_cast<int64_t>(shape.size());
  EXPECT_EQ(layout.check(shape), std::nullopt);
  int64_t replicas = 1;
  for (llvm::ArrayRef<Digit> digits :
       {llvm::ArrayRef(layout.lanes), llvm::ArrayRef(layout.warps)})
    for (const Digit &digit : digits)
      if (digit.replicated())
        replicas *= 2;
  std::map<Coordinates, int64_t> count;
  for (int64_t warp = 0; warp < layout.warpCount(); ++warp)
    for (int64_t lane = 0; lane < 32; ++lane)
      for (int64_t i = 0; i < layout.registerCount(); ++i)
        ++count[sum(layout.threadOffset(lane, warp, rank),
                    layout.registerOffset(i, rank))];
  int64_t elements = 1, padded = 1;
  for (auto [extent, whole] : llvm::zip_equal(shape, layout.extents(rank))) {
    EXPECT_LE(extent, whole);
    elements *= extent;
    padded *= whole;
  }
  EXPECT_EQ(static_cast<int64_t>(count.size()), padded);
  int64_t inside = 0;
  for (const auto &[at, times] : count) {
    EXPECT_EQ(times, replicas);
    inside += llvm::all_of(llvm::zip_equal(at, shape), [](auto pair) {
      return std::get<0>(pair) < std::get<1>(pair);
    });
  }
  EXPECT_EQ(inside, elements);
}

/// Shapes of small and odd extents, always the same ones.
std::vector<Coordinates> someShapes(int64_t rank) {
  const int64_t extents[] = {1, 3, 7, 8, 16, 24, 48, 64, 80, 96, 100};
  std::vector<Coordinates> shapes;
  uint64_t state = 1;
  for (int i = 0; i < 24; ++i) {
    Coordinates shape;
    int64_t elements = 1;
    for (int64_t dim = 0; dim < rank; ++dim) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      int64_t extent = extents[(state >> 33) % std::size(extents)];
      if (elements * extent > 4000)
        extent = 3;
      shape.push_back(extent);
      elements *= extent;
    }
    shapes.push_back(shape);
  }
  return shapes;
}

TEST(LayoutTest, AccumulatorsAreThoseOfMmaM16n8k16) {
  // PTX ISA, accumulators of mma.m16n8k16: c0 and c1 in row lane / 4, c2 and c3
  // eight rows below, columns 2 (lane % 4) and the next.
  const int64_t rows[] = {0, 0, 8, 8}, columns[] = {0, 1, 0, 1};
  Layout layout = accumulatorLayout(64, 24, /*warpsM=*/4, /*warpsN=*/1);
  ASSERT_EQ(layout.registerCount(), 4 * 3);
  for (int64_t warp = 0; warp < 4; ++warp)
    for (int64_t lane = 0; lane < 32; ++lane)
      for (int64_t tile = 0; tile < 3; ++tile)
        for (int64_t c = 0; c < 4; ++c) {
          Coordinates at = sum(layout.threadOffset(lane, warp, 2),
                               layout.registerOffset(4 * tile + c, 2));
          EXPECT_EQ(at[0], 16 * warp + lane / 4 + rows[c]);
          EXPECT_EQ(at[1], 8 * tile + 2 * (lane % 4) + columns[c]);
        }
}

TEST(LayoutTest, LeftOperandsAreThoseOfMmaM16n8k16) {
  // PTX ISA, a0 to a7 of mma.m16n8k16 with 16-bit elements.
  const int64_t rows[] = {0, 0, 8, 8, 0, 0, 8, 8};
  const int64_t columns[] = {0, 1, 0, 1, 8, 9, 8, 9};
  Layout layout = leftOperandLayout(32, 48, /*warpsM=*/2, /*warpsN=*/2);
  ASSERT_EQ(layout.registerCount(), 8 * 3);
  for (int64_t warp = 0; warp < 4; ++warp)
    for (int64_t lane = 0; lane < 32; ++lane)
      for (int64_t step = 0; step < 3; ++step)
        for (int64_t a = 0; a < 8; ++a) {
          Coordinates at = sum(layout.threadOffset(lane, warp, 2),
                               layout.registerOffset(8 * step + a, 2));
          EXPECT_EQ(at[0], 16 * (warp % 2) + lane / 4 + rows[a]);
          EXPECT_EQ(at[1], 16 * step + 2 * (lane % 4) + columns[a]);
        }
}

TEST(LayoutTest, WarpsAlongColumnsHaveNeighbouringColumns) {
  Layout layout = accumulatorLayout(16, 64, /*warpsM=*/1, /*warpsN=*/4);
  for (int64_t warp = 0; warp < 4; ++warp)
    EXPECT_EQ(layout.threadOffset(0, warp, 2)[1], 16 * warp);
}

TEST(LayoutTest, NeighbouringColumnsOfAccumulatorsAreInOneThread) {
  for (auto [n, warps, most, found] :
       {std::tuple(64, 1, 8, 8), std::tuple(64, 4, 8, 4),
        std::tuple(16, 1, 8, 4), std::tuple(24, 1, 8, 2),
        std::tuple(48, 1, 8, 4), std::tuple(96, 1, 8, 8),
        std::tuple(64, 1, 4, 4), std::tuple(96, 4, 8, 2)})
    EXPECT_EQ(accumulatorNeighbours(n, warps, most), found) << n;
  for (auto [n, warps, neighbours] :
       {std::tuple(64, 1, 8), std::tuple(96, 1, 8), std::tuple(64, 4, 4),
        std::tuple(48, 1, 4)}) {
    Layout plain = accumulatorLayout(32, n, 1, warps);
    Layout layout = accumulatorLayout(32, n, 1, warps, neighbours);
    expectEachElementOnce(layout, {32, n});
    EXPECT_EQ(layout.contiguousAlong(1), neighbours);
    std::set<int64_t> columns;
    for (int64_t position = 0; position < n; ++position) {
      int64_t column = accumulatorColumn(position, neighbours);
      columns.insert(column);
      EXPECT_EQ(accumulatorPosition(column, neighbours), position);
    }
    EXPECT_EQ(static_cast<int64_t>(columns.size()), n);
    EXPECT_EQ(*columns.rbegin(), n - 1);
    // A thread has the columns that stand for those of the instructions.
    for (int64_t warp = 0; warp < warps; ++warp)
      for (int64_t lane = 0; lane < 32; ++lane) {
        std::set<Coordinates> expected, held;
        for (int64_t i = 0; i < plain.registerCount(); ++i) {
          Coordinates at = sum(plain.threadOffset(lane, warp, 2),
                               plain.registerOffset(i, 2));
          at[1] = accumulatorColumn(at[1], neighbours);
          expected.insert(at);
          held.insert(sum(layout.threadOffset(lane, warp, 2),
                          layout.registerOffset(i, 2)));
        }
        EXPECT_EQ(held, expected);
      }
  }
}

TEST(LayoutTest, ResultsOfProductsAreLeftOperandsOfTheNext) {
  // What chained products rely on: no element changes its thread.
  for (int64_t n : {16, 48, 64, 80, 128})
    EXPECT_TRUE(accumulatorLayout(64, n, 4, 1)
                    .sameThreads(leftOperandLayout(64, n, 4, 1)));
  EXPECT_FALSE(accumulatorLayout(64, 64, 2, 2)
                   .sameThreads(leftOperandLayout(64, 64, 2, 2)));
}

TEST(LayoutTest, BlockedLayoutsHoldEachElementOnce) {
  expectEachElementOnce(blockedLayout({}, 4, 4), {});
  for (int64_t rank : {1, 2, 3})
    for (const Coordinates &shape : someShapes(rank))
      for (int64_t vector : {1, 4, 8})
        for (int64_t warps : {1, 4, 8})
          expectEachElementOnce(blockedLayout(shape, vector, warps), shape);
}

TEST(LayoutTest, LayoutsOfProductsHoldEachElementOnce) {
  for (const Coordinates &shape : someShapes(2)) {
    for (int64_t warps : {1, 2, 4, 8})
      expectEachElementOnce(outerProductLayout(shape[0], shape[1], warps),
                            shape);
    for (auto [m, n] : {std::pair(1, 1), std::pair(4, 1), std::pair(2, 2),
                        std::pair(1, 4), std::pair(1, 8)}) {
      expectEachElementOnce(accumulatorLayout(shape[0], shape[1], m, n), shape);
      expectEachElementOnce(leftOperandLayout(shape[0], shape[1], m, n), shape);
    }
  }
}

TEST(LayoutTest, ScansHaveRunsThatDoNotDependOnWarps) {
  for (const Coordinates &shape :
       {Coordinates{32}, Coordinates{64}, Coordinates{32, 64},
        Coordinates{16, 100}, Coordinates{8, 24}, Coordinates{32, 256}})
    for (int64_t warps : {1, 4, 8}) {
      SCOPED_TRACE(name(shape) + " on " + std::to_string(warps));
      std::optional<Layout> layout = scanLayout(shape, warps);
      ASSERT_TRUE(layout);
      expectEachElementOnce(*layout, shape);
      std::optional<Layout::Runs> runs = layout->runsAlong(0, shape[0]);
      ASSERT_TRUE(runs);
      int64_t count = shape.size() == 1 ? 32 : 4;
      EXPECT_EQ(runs->length, shape[0] / count);
      EXPECT_EQ(int64_t(1) << runs->lanes.size(), count);
    }
  EXPECT_FALSE(scanLayout({6, 64}, 4));
  EXPECT_FALSE(scanLayout({7}, 4));
  EXPECT_FALSE(blockedLayout({64, 64}, 4, 4).runsAlong(0, 64));
  // Eight lanes for seven columns: the eighth would count.
  EXPECT_TRUE(scanLayout({32, 8}, 1)->runsAlong(1, 8));
  EXPECT_FALSE(scanLayout({32, 7}, 1)->runsAlong(1, 7));
}

TEST(LayoutTest, ColumnsOfTriangularSystemsAreSharedWhereThreadsWouldBeIdle) {
  struct {
    Coordinates shape;
    int64_t warps, lanes;
  } cases[] = {{{32, 32}, 8, 8}, {{32, 64}, 8, 4}, {{32, 64}, 4, 2},
               {{32, 8}, 8, 8},  {{12, 24}, 4, 2}, {{16, 20}, 4, 4},
               {{32, 7}, 8, 8},  {{32, 100}, 8, 2}};
  for (const auto &each : cases) {
    SCOPED_TRACE(name(each.shape) + " on " + std::to_string(each.warps));
    std::optional<Layout> layout = solveLayout(each.shape, each.warps);
    ASSERT_TRUE(layout);
    expectEachElementOnce(*layout, each.shape);
    int64_t lanes = 1;
    for (const Digit &digit : layout->lanes)
      lanes *= digit.dim == 0 ? 2 : 1;
    EXPECT_EQ(lanes, each.lanes);
  }
  EXPECT_FALSE(solveLayout({32, 128}, 4));
  // A lane would have no whole row of each group, or no other.
  EXPECT_FALSE(solveLayout({7, 8}, 4));
  EXPECT_FALSE(solveLayout({2, 8}, 4));
}

TEST(LayoutTest, BlockedLayoutsReadNeighboursTogether) {
  EXPECT_EQ(blockedLayout({64, 64}, 4, 4).contiguousAlong(1), 4);
  EXPECT_EQ(blockedLayout({64, 64}, 4, 4).contiguousAlong(0), 1);
  // 128 threads have 64 elements: nobody takes two.
  EXPECT_EQ(blockedLayout({8, 8}, 4, 4).contiguousAlong(1), 1);
}

TEST(LayoutTest, ProjectionsAgreeWithEnumeration) {
  std::vector<std::pair<int64_t, Coordinates>> cases = {
      {2, {0}}, {2, {1}},    {2, {1, 0}},   {2, {}},
      {3, {2}}, {3, {0, 2}}, {3, {2, 0, 1}}};
  for (const auto &[rank, dims] : cases)
    for (const Coordinates &shape : someShapes(rank)) {
      SCOPED_TRACE(name(shape) + " along " + name(dims));
      Layout whole = blockedLayout(shape, 4, 4);
      Layout part = whole.project(dims);
      auto kept = [dims = llvm::ArrayRef(dims)](llvm::ArrayRef<int64_t> at) {
        Coordinates result;
        for (int64_t dim : dims)
          result.push_back(at[dim]);
        return result;
      };
      auto vector = [](llvm::ArrayRef<int64_t> at) {
        return Coordinates(at.begin(), at.end());
      };
      auto size = static_cast<int64_t>(dims.size());
      for (int64_t warp = 0; warp < 4; ++warp)
        for (int64_t lane = 0; lane < 32; ++lane)
          EXPECT_EQ(vector(part.threadOffset(lane, warp, size)),
                    kept(whole.threadOffset(lane, warp, rank)));
      std::set<Coordinates> expected, found;
      for (int64_t i = 0; i < whole.registerCount(); ++i)
        expected.insert(kept(whole.registerOffset(i, rank)));
      for (int64_t i = 0; i < part.registerCount(); ++i)
        found.insert(vector(part.registerOffset(i, size)));
      EXPECT_EQ(found, expected);
      EXPECT_EQ(part.registerCount(), static_cast<int64_t>(expected.size()));
    }
}

TEST(LayoutTest, SharesOfASumAreOfOneThreadEach) {
  for (const Coordinates &shape : someShapes(2))
    for (int64_t warps : {1, 4}) {
      Layout layout = blockedLayout(shape, 4, warps);
      Layout shares = layout.sharesAlong({0});
      int64_t rows = shares.extents(2)[0], bits = 0;
      expectEachElementOnce(shares, {rows, shape[1]});
      for (int64_t warp = 0; warp < warps; ++warp)
        for (int64_t lane = 0; lane < 32; ++lane)
          EXPECT_EQ(shares.threadOffset(lane, warp, 2)[1],
                    layout.threadOffset(lane, warp, 2)[1]);
      for (llvm::ArrayRef<Digit> digits :
           {llvm::ArrayRef(layout.lanes), llvm::ArrayRef(layout.warps)})
        bits += llvm::count_if(digits, [](Digit d) { return d.dim == 0; });
      EXPECT_EQ(rows, int64_t(1) << bits);
    }
}

TEST(LayoutTest, RegisterAtIsTheInverseOfRegisterOffset) {
  for (const Coordinates &shape : someShapes(2))
    for (const Layout &layout :
         {blockedLayout(shape, 4, 2), outerProductLayout(shape[0], shape[1], 2),
          accumulatorLayout(shape[0], shape[1], 2, 1)}) {
      SCOPED_TRACE(name(shape));
      std::set<Coordinates> known;
      for (int64_t i = 0; i < layout.registerCount(); ++i) {
        llvm::SmallVector<int64_t> at = layout.registerOffset(i, 2);
        known.insert(Coordinates(at.begin(), at.end()));
        EXPECT_EQ(layout.registerAt(at), i);
      }
      // Elements of other threads are in no register.
      llvm::SmallVector<int64_t> extents = layout.extents(2);
      for (int64_t row = 0; row < extents[0]; ++row)
        for (int64_t column = 0; column < extents[1]; ++column) {
          bool isKnown = known.count({row, column}) != 0;
          EXPECT_EQ(layout.registerAt({row, column}).has_value(), isKnown);
        }
    }
}

TEST(LayoutTest, ExtentsArePaddedToSmallOddFactors) {
  EXPECT_EQ(paddedExtent(0), 1);
  for (int64_t exact : {1, 3, 5, 24, 48, 80, 96, 128, 160})
    EXPECT_EQ(paddedExtent(exact), exact);
  EXPECT_EQ(paddedExtent(9), 10);
  EXPECT_EQ(paddedExtent(7), 8);
  EXPECT_EQ(paddedExtent(100), 128);
  EXPECT_EQ(paddedExtent(24, 16), 32);
  EXPECT_EQ(paddedExtent(72, 16), 80);
}

TEST(LayoutTest, ChecksSayWhatIsWrong) {
  Layout layout;
  layout.lanes = {{0, 1}, {0, 2}, {0, 4}, {0, 8}};
  EXPECT_EQ(layout.check({16}), "has 4 bits of the lane, not 5");
  layout.lanes.push_back({1, 1});
  EXPECT_EQ(layout.check({16}), "names dimension 1 of a tile of rank 1");
  layout.lanes.back() = {0, 16};
  EXPECT_EQ(layout.check({32}), std::nullopt);
  EXPECT_EQ(layout.check({3}), std::nullopt);
  EXPECT_EQ(layout.check({33}),
            "holds 32 of the 33 elements along dimension 0");
  EXPECT_EQ(layout.check({32, 2}),
            "holds 1 of the 2 elements along dimension 1");
  layout.lanes.back() = {0, 32};
  EXPECT_EQ(layout.check({32}), "has no digit of stride 16 along dimension 0");
  // Two digits of one stride: an element would have two places.
  layout.lanes.back() = {0, 8};
  EXPECT_EQ(layout.check({16}), "has no digit of stride 16 along dimension 0");
  layout.lanes.back() = {0, 16, 3};
  EXPECT_EQ(layout.check({32}),
            "gives a lane or a warp a digit of 3 values: it has bits");
  layout.lanes.back() = Digit();
  layout.registers = {Digit()};
  EXPECT_EQ(layout.check({16}), "replicates registers");
}

} // namespace
