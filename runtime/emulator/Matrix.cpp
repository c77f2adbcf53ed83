//===- Matrix.cpp - ldmatrix, stmatrix and mma.sync ----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which lane holds what is written down from the PTX manual, chapter
// "Warp-level matrix instructions", and shares nothing with the compiler's
// layouts.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Access.h"
#include "runtime/emulator/AccessCounts.h"
#include "runtime/emulator/Instructions.h"
#include <cstring>

namespace drawloom::emulator {

namespace {
struct MatrixOperand {
  char *row;
  uint32_t *words;
};
struct ProductOperand {
  const uint32_t *in;
  uint32_t *out;
};
} // namespace

/// Lane l holds, of each matrix, the row l / 4 and in it the columns 2 (l % 4)
/// and 2 (l % 4) + 1; transposed, the same with rows and columns exchanged.
/// Lane 8 m + r gave the address of row r of matrix m.
static void moveMatrices(Collective &all) {
  bool store = (all.key & 1) != 0, transposed = (all.key & 2) != 0;
  auto count = static_cast<uint32_t>((all.key >> 4) & 15);
  auto operand = [&](uint32_t lane) -> MatrixOperand & {
    return *static_cast<MatrixOperand *>(all.operands[lane]);
  };
  Block &block = *all.block;
  AccessKind kind = store ? AccessKind::Store : AccessKind::Load;
  if (block.counts) {
    std::array<uint64_t, lanes> addresses;
    for (uint32_t lane = 0; lane < count * 8; ++lane)
      addresses[lane] = block.offset(operand(lane).row);
    block.counts->addWarp(all.site, true, addresses.data(), count * 8, 16);
  }
  for (uint32_t matrix = 0; matrix < count; ++matrix)
    for (uint32_t row = 0; row < 8; ++row) {
      char *address = operand(matrix * 8 + row).row;
      for (uint32_t word = 0; word < 4; ++word) {
        // Two columns of this row: one lane has both, or two have one each.
        for (uint32_t half = 0; half < 2; ++half) {
          uint32_t column = word * 2 + half;
          uint32_t lane =
              transposed ? column * 4 + row / 2 : row * 4 + column / 2;
          uint32_t part = transposed ? row % 2 : half;
          char *held =
              reinterpret_cast<char *>(&operand(lane).words[matrix]) + part * 2;
          if (half == 0 || (transposed && !store))
            noteAccess(all.thread(lane), address + word * 4, 4, kind, all.site);
          if (const auto &meant = all.thread(lane).matrix; meant.root)
            checkElement(all.thread(lane), address + column * 2, meant.root, 2,
                         meant.element, matrix * 2 + part, all.site);
          if (store)
            std::memcpy(address + column * 2, held, 2);
          else
            std::memcpy(held, address + column * 2, 2);
        }
      }
    }
  for (uint32_t lane = 0; lane < lanes; ++lane)
    all.thread(lane).matrix = {};
}

static void meetForMatrices(Thread &thread, char *row, int32_t count,
                            bool transposed, bool store, uint32_t *words,
                            int32_t site) {
  // The other lanes' addresses are not looked at.
  if (thread.lane() < static_cast<uint32_t>(count) * 8)
    checkAddress(thread, row, 16, store ? AccessKind::Store : AccessKind::Load,
                 Space::Shared, 16, site);
  MatrixOperand mine{row, words};
  uint64_t key = ('l' << 8) | (static_cast<uint64_t>(count) << 4) |
                 (transposed ? 2 : 0) | (store ? 1 : 0);
  thread.block->meet(thread, store ? "stmatrix" : "ldmatrix", key, site,
                     /*aligned=*/true, ~0u, moveMatrices, &mine);
}

void emuLoadMatrix(void *thread, void *row, int32_t count, int32_t transposed,
                   uint32_t *result, int32_t site) {
  meetForMatrices(*static_cast<Thread *>(thread), static_cast<char *>(row),
                  count, transposed != 0, false, result, site);
}

void emuStoreMatrix(void *thread, void *row, int32_t count, int32_t transposed,
                    uint32_t *values, int32_t site) {
  meetForMatrices(*static_cast<Thread *>(thread), static_cast<char *>(row),
                  count, transposed != 0, true, values, site);
}

//===----------------------------------------------------------------------===//
// mma.sync
//===----------------------------------------------------------------------===//

static float halfOf(uint32_t word, uint32_t half, Number number) {
  auto bits = static_cast<uint16_t>(half ? word >> 16 : word);
  if (number == Number::BF16) {
    uint32_t wide = static_cast<uint32_t>(bits) << 16;
    float value;
    std::memcpy(&value, &wide, sizeof value);
    return value;
  }
  _Float16 value;
  std::memcpy(&value, &bits, sizeof value);
  return static_cast<float>(value);
}

static float tf32Of(uint32_t word) {
  // The lower 13 bits are not looked at.
  word &= 0xffffe000u;
  float value;
  std::memcpy(&value, &word, sizeof value);
  return value;
}

static void multiply(Collective &all) {
  auto number = static_cast<Number>(all.key & 15);
  auto depth = static_cast<uint32_t>((all.key >> 4) & 31);
  float a[16][16] = {}, b[16][8] = {}, c[16][8] = {};
  // tf32: a word a number, rows g and g + 8, columns t, then t + 4. 16 bits: a
  // word is two columns 2 t and 2 t + 1, then those 8 further.
  bool halves = number != Number::TF32;
  uint32_t wordsOfA = halves ? depth / 4 : depth / 2, wordsOfB = wordsOfA / 2;
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    const uint32_t *in = static_cast<ProductOperand *>(all.operands[lane])->in;
    uint32_t group = lane / 4, inGroup = lane % 4;
    for (uint32_t i = 0; i < wordsOfA; ++i) {
      uint32_t row = group + (i % 2) * 8;
      if (!halves) {
        a[row][inGroup + (i / 2) * 4] = tf32Of(in[i]);
        continue;
      }
      for (uint32_t half = 0; half < 2; ++half)
        a[row][inGroup * 2 + half + (i / 2) * 8] = halfOf(in[i], half, number);
    }
    in += wordsOfA;
    for (uint32_t i = 0; i < wordsOfB; ++i) {
      if (!halves) {
        b[inGroup + i * 4][group] = tf32Of(in[i]);
        continue;
      }
      for (uint32_t half = 0; half < 2; ++half)
        b[inGroup * 2 + half + i * 8][group] = halfOf(in[i], half, number);
    }
    in += wordsOfB;
    for (uint32_t i = 0; i < 4; ++i)
      std::memcpy(&c[group + (i / 2) * 8][inGroup * 2 + i % 2], &in[i], 4);
  }
  // In the order of k. The hardware adds several products at once, in an order
  // and a precision that are not documented.
  for (uint32_t row = 0; row < 16; ++row)
    for (uint32_t k = 0; k < depth; ++k)
      for (uint32_t column = 0; column < 8; ++column)
        c[row][column] += a[row][k] * b[k][column];
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    uint32_t *out = static_cast<ProductOperand *>(all.operands[lane])->out;
    uint32_t group = lane / 4, inGroup = lane % 4;
    for (uint32_t i = 0; i < 4; ++i)
      std::memcpy(&out[i], &c[group + (i / 2) * 8][inGroup * 2 + i % 2], 4);
  }
}

void emuMultiply(void *thread, int32_t k, int32_t number, uint32_t *operands,
                 uint32_t *result, int32_t site) {
  Thread &t = *static_cast<Thread *>(thread);
  ProductOperand mine{operands, result};
  t.block->meet(t, "mma.sync",
                ('p' << 16) | (static_cast<uint64_t>(k) << 4) |
                    static_cast<uint64_t>(number),
                site, /*aligned=*/true, ~0u, multiply, &mine);
}

} // namespace drawloom::emulator
