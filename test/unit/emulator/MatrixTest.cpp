//===- MatrixTest.cpp - ldmatrix, stmatrix and mma.sync ------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/emulator/Kernels.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>
#include <random>

using namespace drawloom;
using namespace drawloom::test;

namespace {

const char *tupleType(int count) {
  return count == 1   ? "i32"
         : count == 2 ? "!llvm.struct<(i32, i32)>"
                      : "!llvm.struct<(i32, i32, i32, i32)>";
}

/// Fills shared memory with the numbers of its 16-bit places, loads `count`
/// matrices whose rows lie one behind the other, and leaves register `which`.
std::vector<uint32_t> loadMatrix(int count, bool transposed, int which) {
  std::string type = tupleType(count);
  std::string fill;
  for (int i = 0; i < 4; ++i) {
    std::string n = std::to_string(i);
    fill += "%w" + n + " = llvm.add %tid, %k" + n + " : i32\n" + // word
            "%d" + n + " = llvm.mul %w" + n + ", %c2 : i32\n" +  // low half
            "%e" + n + " = llvm.add %d" + n + ", %c1 : i32\n" +  // high half
            "%h" + n + " = llvm.shl %e" + n + ", %sixteen : i32\n" + "%x" + n +
            " = llvm.or %d" + n + ", %h" + n + " : i32\n" + "%p" + n +
            " = llvm.getelementptr %smem[%w" + n +
            "] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32\nllvm.store %x" + n +
            ", %p" + n + " : i32, !llvm.ptr<3>\n";
  }
  return runPerThread(
      "%k0 = llvm.mlir.constant(0 : i32) : i32\n"
      "%k1 = llvm.mlir.constant(32 : i32) : i32\n"
      "%k2 = llvm.mlir.constant(64 : i32) : i32\n"
      "%k3 = llvm.mlir.constant(96 : i32) : i32\n"
      "%sixteen = llvm.mlir.constant(16 : i32) : i32\n" +
          fill +
          "nvvm.bar.warp.sync %all : i32\n"
          "%o = llvm.mul %tid, %sixteen : i32\n"
          "%row = llvm.getelementptr %smem[%o] : (!llvm.ptr<3>, i32) -> "
          "!llvm.ptr<3>, i8\n"
          "%m = nvvm.ldmatrix %row {num = " +
          std::to_string(count) + " : i32, layout = #nvvm.mma_layout<" +
          (transposed ? "col" : "row") +
          ">, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = "
          "#nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> " +
          type + "\n" +
          (count == 1 ? std::string("%r = llvm.add %m, %c0 : i32\n")
                      : "%r = llvm.extractvalue %m[" + std::to_string(which) +
                            "] : " + type + "\n"),
      std::vector<uint32_t>(32), 512);
}

TEST(Matrix, LoadsGiveEachLaneTwoNumbersOfARow) {
  for (int count : {1, 2, 4})
    for (int which = 0; which < count; ++which) {
      std::vector<uint32_t> plain = loadMatrix(count, false, which);
      std::vector<uint32_t> transposed = loadMatrix(count, true, which);
      for (int lane = 0; lane < 32; ++lane)
        for (int half = 0; half < 2; ++half) {
          // The number of element (row, column) of matrix `which`.
          auto element = [&](int row, int column) {
            return static_cast<uint32_t>(which * 64 + row * 8 + column);
          };
          int a = lane / 4, b = lane % 4 * 2 + half;
          EXPECT_EQ((plain[lane] >> (16 * half)) & 0xffff, element(a, b));
          EXPECT_EQ((transposed[lane] >> (16 * half)) & 0xffff, element(b, a));
        }
    }
}

TEST(Matrix, StoresUndoLoads) {
  // Loads plain (or transposed), stores alike behind it, and compares memory.
  for (const char *layout : {"row", "col"}) {
    std::string attributes =
        std::string("layout = #nvvm.mma_layout<") + layout +
        ">, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = "
        "#nvvm.ld_st_matrix_elt_type<b16>";
    std::vector<uint32_t> in(32);
    for (uint32_t i = 0; i < 32; ++i)
      in[i] = i * 0x01010101u;
    std::vector<uint32_t> out = runPerThread(
        R"(
      %16 = llvm.mlir.constant(16 : i32) : i32
      %64 = llvm.mlir.constant(64 : i32) : i32
      %ps = llvm.getelementptr %smem[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      llvm.store %v, %ps : i32, !llvm.ptr<3>
      nvvm.bar.warp.sync %all : i32
      %8 = llvm.mlir.constant(8 : i32) : i32
      %line = llvm.urem %tid, %8 : i32
      %o = llvm.mul %line, %16 : i32
      %row = llvm.getelementptr %smem[%o] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      %m = nvvm.ldmatrix %row {num = 1 : i32, )" +
            attributes + R"(} : (!llvm.ptr<3>) -> i32
      %to = llvm.getelementptr %row[128] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
      nvvm.stmatrix %to, %m {)" +
            attributes + R"(} : !llvm.ptr<3>, i32
      nvvm.bar.warp.sync %all : i32
      %pr = llvm.getelementptr %ps[128] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
      %r = llvm.load %pr : !llvm.ptr<3> -> i32)",
        in, 256);
    EXPECT_EQ(out, in) << layout;
  }
}

uint32_t bits(float x) {
  uint32_t result;
  std::memcpy(&result, &x, sizeof result);
  return result;
}

/// Small whole numbers, which every format holds exactly.
float small(std::mt19937 &random) {
  return static_cast<float>(static_cast<int>(random() % 15) - 7);
}

uint32_t halfBits(float x, bool isBf16) {
  if (isBf16)
    return bits(x) >> 16;
  auto half = static_cast<_Float16>(x);
  uint16_t result;
  std::memcpy(&result, &half, sizeof result);
  return result;
}

/// A product of 16 x k and k x 8 numbers, as one warp computes it.
class Product {
public:
  Product(std::string type, int k, std::mt19937 &random)
      : type(std::move(type)), k(k) {
    for (auto &row : a)
      for (float &x : row)
        x = small(random);
    for (auto &row : b)
      for (float &x : row)
        x = small(random);
    for (auto &row : start)
      for (float &x : row)
        x = small(random);
  }

  /// Lane l's registers as the manual's tables list them, one element at a
  /// time, in ten words: a_i, b_i, c_i.
  std::vector<uint32_t> registers() const;
  /// The kernel's code: loads the registers, multiplies, and stores the result.
  std::string body() const;
  double expected(int row, int column) const {
    double sum = start[row][column];
    for (int i = 0; i < k; ++i)
      sum += static_cast<double>(a[row][i]) * b[i][column];
    return sum;
  }
  std::string name() const { return type + " k" + std::to_string(k); }

private:
  bool isTf32() const { return type == "tf32"; }
  int perWord() const { return isTf32() ? 1 : 2; }
  /// Words of a.
  int words() const { return 16 * k / 32 / perWord(); }
  uint32_t encode(float low, float high) const {
    bool isBf16 = type == "bf16";
    return isTf32() ? bits(low) | 0x1abc // the lower bits do not count
                    : halfBits(low, isBf16) | halfBits(high, isBf16) << 16;
  }
  std::string operandType() const {
    return type == "f16" ? "vector<2xf16>" : "i32";
  }
  float elementOfA(int lane, int i) const;
  float elementOfB(int lane, int i) const;
  std::string load(std::string (&names)[3]) const;

  std::string type;
  int k;
  float a[16][16], b[16][8], start[16][8];
};

float Product::elementOfA(int lane, int i) const {
  int group = lane >> 2, threadInGroup = lane % 4;
  if (isTf32())
    return a[i == 0 || i == 2 ? group : group + 8]
            [i < 2 ? threadInGroup : threadInGroup + 4];
  return a[i < 2 || (i >= 4 && i < 6) ? group : group + 8]
          [threadInGroup * 2 + (i & 1) + (i >= 4 ? 8 : 0)];
}

float Product::elementOfB(int lane, int i) const {
  int group = lane >> 2, threadInGroup = lane % 4;
  int row = isTf32() ? threadInGroup + 4 * i
                     : threadInGroup * 2 + (i & 1) + (i >= 2 ? 8 : 0);
  return b[row][group];
}

std::vector<uint32_t> Product::registers() const {
  std::vector<uint32_t> in(32 * 10);
  for (int lane = 0; lane < 32; ++lane) {
    int group = lane >> 2, threadInGroup = lane % 4, at = lane * 10;
    for (int word = 0; word < words(); ++word) {
      float x[2] = {0, 0};
      for (int half = 0; half < perWord(); ++half)
        x[half] = elementOfA(lane, word * perWord() + half);
      in[at++] = encode(x[0], x[1]);
    }
    for (int word = 0; word < words() / 2; ++word) {
      float x[2] = {0, 0};
      for (int half = 0; half < perWord(); ++half)
        x[half] = elementOfB(lane, word * perWord() + half);
      in[at++] = encode(x[0], x[1]);
    }
    for (int i = 0; i < 4; ++i)
      in[at++] =
          bits(start[i < 2 ? group : group + 8][threadInGroup * 2 + (i & 1)]);
  }
  return in;
}

/// Loads a lane's registers, and adds their names to those of each operand.
std::string Product::load(std::string (&names)[3]) const {
  std::string text = "%ten = llvm.mlir.constant(10 : i32) : i32\n"
                     "%o = llvm.mul %tid, %ten : i32\n"
                     "%base = llvm.getelementptr %in[%o] : (!llvm.ptr<1>, "
                     "i32) -> !llvm.ptr<1>, i32\n";
  for (int i = 0, ofAB = words() + words() / 2; i < ofAB + 4; ++i) {
    int part = i < words() ? 0 : i < ofAB ? 1 : 2;
    std::string n = std::to_string(i);
    text += "%p" + n + " = llvm.getelementptr %base[" + n +
            "] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32\n%x" + n +
            " = llvm.load %p" + n +
            " {alignment = 4 : i64} : !llvm.ptr<1> -> " +
            (part == 2 ? "f32" : operandType()) + "\n";
    names[part] += (names[part].empty() ? "%x" : ", %x") + n;
  }
  return text;
}

std::string Product::body() const {
  std::string names[3];
  std::string text = load(names);
  text += "%d = nvvm.mma.sync A[" + names[0] + "] B[" + names[1] + "] C[" +
          names[2] +
          "] {layoutA = #nvvm.mma_layout<row>, layoutB = "
          "#nvvm.mma_layout<col>, ";
  if (operandType() == "i32")
    text += "multiplicandAPtxType = #nvvm.mma_type<" + type +
            ">, multiplicandBPtxType = #nvvm.mma_type<" + type + ">, ";
  text += "shape = #nvvm.shape<m = 16, n = 8, k = " + std::to_string(k) +
          ">} : (" + operandType() + ", " + operandType() +
          ", f32) -> !llvm.struct<(f32, f32, f32, f32)>\n";
  for (int i = 0; i < 4; ++i) {
    std::string n = std::to_string(i);
    text += "%d" + n + " = llvm.extractvalue %d[" + n +
            "] : !llvm.struct<(f32, f32, f32, f32)>\n%four" + n +
            " = llvm.mul %tid, %c4 : i32\n%q" + n +
            " = llvm.getelementptr %out[%four" + n +
            "] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32\n%s" + n +
            " = llvm.getelementptr %q" + n + "[" + n +
            "] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32\nllvm.store %d" + n +
            ", %s" + n + " : f32, !llvm.ptr<1>\n";
  }
  return text;
}

TEST(Matrix, ProductsAgreeWithTheManualsTables) {
  std::mt19937 random(1);
  for (const Product &product :
       {Product("bf16", 16, random), Product("bf16", 8, random),
        Product("f16", 16, random), Product("f16", 8, random),
        Product("tf32", 8, random), Product("tf32", 4, random)}) {
    Kernels kernels(
        kernel("%in: !llvm.ptr<1>, %out: !llvm.ptr<1>,", product.body()));
    std::vector<uint32_t> in = product.registers();
    std::vector<float> out(128);
    const void *pin = in.data(), *pout = out.data();
    ASSERT_EQ(kernels.run({&pin, &pout}), "");
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < 4; ++i) {
        int row = (lane >> 2) + (i < 2 ? 0 : 8);
        int column = lane % 4 * 2 + (i & 1);
        EXPECT_EQ(out[lane * 4 + i], product.expected(row, column))
            << product.name();
      }
  }
}

} // namespace
