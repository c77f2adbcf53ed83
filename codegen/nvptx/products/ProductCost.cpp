//===- ProductCost.cpp - who is to compute a dense product ----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/products/ProductCost.h"
#include <algorithm>
#include <limits>

using drawloom::runtime::cuda::Kind;

namespace drawloom::nvptx {
namespace {

enum Who { Library, Own };
enum Rate { Tensor, Float };

struct Share {
  Who who;
  Rate rate;
  int64_t leastWork, leastSide;
  double share;
};

constexpr Share shares[] = {
#define PRODUCT_SHARE(who, rate, work, side, share)                            \
  {who, rate, work, side, share},
#include "codegen/nvptx/products/ProductCost.inc"
#undef PRODUCT_SHARE
};

/// Between the end of one kernel and the start of the next on a stream. Not
/// measured: nominal.
constexpr double launchSeconds = 2e-6;
/// Of the memory's bandwidth. Not measured: nominal.
constexpr double memoryShare = 0.85;

double bytesOf(Kind kind) { return kind == Kind::F32 ? 4 : 2; }

double shareOf(Who who, const Product &product) {
  Rate rate = product.operands == Kind::F32 ? Float : Tensor;
  double work =
      static_cast<double>(product.m) * static_cast<double>(product.n) *
      static_cast<double>(product.k) * static_cast<double>(product.batch);
  int64_t side = std::min(product.m, product.n);
  double share = 0;
  for (const Share &row : shares)
    if (row.who == who && row.rate == rate && side >= row.leastSide &&
        work >= static_cast<double>(row.leastWork))
      share = row.share;
  return share;
}

/// Whether a block of ours holds what it reads of a product: its rows and its
/// columns at full depth. As tile-to-forall cuts them.
bool fitsSharedMemory(const Product &product, const Machine &machine) {
  // Batches are cut into small pieces.
  if (product.batch > 1)
    return true;
  constexpr int64_t enoughBlocks = 16;
  bool many = product.m >= 64 * enoughBlocks && product.m < 128 * enoughBlocks;
  int64_t rows = std::min<int64_t>(product.m, many ? 64 : 128);
  int64_t blocks = product.m / rows, columns = product.n;
  if (blocks < enoughBlocks)
    columns = std::min(
        columns, std::max<int64_t>(128, product.n * blocks / enoughBlocks));
  double bytes = static_cast<double>(rows + columns) *
                 static_cast<double>(product.k) * bytesOf(product.operands);
  return bytes <=
         static_cast<double>(machine.sharedBytes - blockReservedSharedBytes);
}

} // namespace

ProductCost costOf(const Product &product, int64_t ownPasses,
                   const Machine &machine) {
  auto m = static_cast<double>(product.m), n = static_cast<double>(product.n),
       k = static_cast<double>(product.k),
       batch = static_cast<double>(product.batch);
  double flops = 2 * m * n * k * batch;
  double peak = product.operands == Kind::F32 ? machine.floatFlops()
                                              : machine.halfFlops();
  double bandwidth = memoryShare * machine.memoryBytesPerSecond;
  double result = m * n * batch * bytesOf(product.result);
  double bytes = (m * (product.leftBatch || product.batch == 1 ? batch : 1) +
                  n * (product.rightBatch || product.batch == 1 ? batch : 1)) *
                     k * bytesOf(product.operands) +
                 result * (product.addend ? 2 : 1);
  auto seconds = [&](Who who) {
    return launchSeconds +
           std::max(flops / (peak * shareOf(who, product)), bytes / bandwidth);
  };
  ProductCost cost;
  cost.librarySeconds = seconds(Library);
  // Sums are f32 between the passes.
  cost.ownSeconds =
      seconds(Own) +
      static_cast<double>(ownPasses) *
          (launchSeconds + (4 * m * n * batch + result) / bandwidth);
  if (!fitsSharedMemory(product, machine))
    cost.ownSeconds = std::numeric_limits<double>::infinity();
  return cost;
}

} // namespace drawloom::nvptx
