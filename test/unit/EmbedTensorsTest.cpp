//===- EmbedTensorsTest.cpp - calls with tensors of DLPack ---------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmbedFixture.h"
#include <algorithm>

using namespace drawloom;

namespace {

const char *const types = R"(
func.func @types(%a: tensor<2x3xf64>, %b: tensor<2x3xf16>, %c: tensor<2x3xbf16>,
                 %d: tensor<3xi64>, %e: tensor<3xi32>, %f: tensor<3xi8>,
                 %g: tensor<3xi1>, %h: f32, %i: tensor<0x2xf32>)
    -> (tensor<2x3xf64>, tensor<2x3xf16>, tensor<2x3xbf16>, tensor<3xi64>,
        tensor<3xi32>, tensor<3xi8>, tensor<3xi1>, f32, tensor<0x2xf32>) {
  return %a, %b, %c, %d, %e, %f, %g, %h, %i
    : tensor<2x3xf64>, tensor<2x3xf16>, tensor<2x3xbf16>, tensor<3xi64>,
      tensor<3xi32>, tensor<3xi8>, tensor<3xi1>, f32, tensor<0x2xf32>
}
)";

/// A dense tensor on the host.
struct Tensor : DrawloomTensor {
  Tensor(void *memory, int code, int bits, std::vector<int64_t> shape)
      : DrawloomTensor{}, shape(std::move(shape)) {
    data = memory;
    deviceType = 1;
    rank = static_cast<int32_t>(this->shape.size());
    elementCode = static_cast<uint8_t>(code);
    elementBits = static_cast<uint8_t>(bits);
    lanes = 1;
    extents = this->shape.data();
  }
  std::vector<int64_t> shape;
};

/// @sum of four f32, with tensors to spoil.
class Tensors : public ::testing::Test {
protected:
  Compiler compiler = makeCompiler();
  Program program = compileText(compiler, several);
  Function sum = *program.find("sum");
  alignas(64) float x[4] = {1, 2, 3, 4}, y[8] = {10, 20, 30, 40}, z[4] = {};
  Tensor first{x, 2, 32, {4}}, second{y, 2, 32, {4}}, result{z, 2, 32, {4}};

  Result<void> call(unsigned threads = 1) {
    return sum.callTensors({&first, &second}, {&result}, threads);
  }
  void refuses(const std::string &why) {
    Result<void> done = call();
    ASSERT_FALSE(bool(done));
    EXPECT_EQ(done.error().code(), DRAWLOOM_ERROR_CALL);
    EXPECT_EQ(done.error().message(), why);
    EXPECT_EQ(z[0], 0) << "a refused call wrote a result";
  }
};

TEST_F(Tensors, AreReadAndWrittenInPlace) {
  ASSERT_TRUE(bool(call()));
  EXPECT_EQ(z[3], 44);
}

TEST_F(Tensors, BeginAtTheirOffset) {
  y[7] = 7;
  second.byteOffset = 16;
  ASSERT_TRUE(bool(call()));
  EXPECT_EQ(z[3], 11);
}

TEST_F(Tensors, MayNameTheirStrides) {
  int64_t dense = 1, other = 2;
  second.strides = &dense;
  ASSERT_TRUE(bool(call()));
  z[0] = 0;
  second.strides = &other;
  refuses("argument 1 of @sum is not dense and row-major: its strides are "
          "(2); make it contiguous");
}

TEST_F(Tensors, OfPinnedMemoryAreTheHosts) {
  first.deviceType = 3;
  EXPECT_TRUE(bool(call()));
}

TEST_F(Tensors, OfADeviceAreRefused) {
  result.deviceType = 2;
  refuses("result 0 of @sum is on CUDA device 0, but the function reads the "
          "host's memory; copy it there");
  result.deviceType = 8;
  refuses(
      "result 0 of @sum is on a device of DLPack's type 8, but the function "
      "reads the host's memory; copy it there");
}

TEST_F(Tensors, OfAnotherTypeAreRefused) {
  first.elementBits = 64;
  refuses("argument 0 of @sum takes elements of f32, but the tensor has f64");
  first.elementBits = 32;
  first.elementCode = 0;
  refuses("argument 0 of @sum takes elements of f32, but the tensor has i32");
  first.elementCode = 4;
  first.elementBits = 16;
  refuses("argument 0 of @sum takes elements of f32, but the tensor has bf16");
}

TEST_F(Tensors, OfVectorsAreRefused) {
  second.lanes = 4;
  refuses("argument 1 of @sum has elements of 4 lanes, not of one");
}

TEST_F(Tensors, OfAnotherShapeAreRefused) {
  result.shape[0] = 5;
  refuses("result 0 of @sum takes shape (4), but the tensor has (5)");
  result.shape[0] = 4;
  result.rank = 0;
  refuses("result 0 of @sum takes shape (4), but the tensor has ()");
  result.rank = -1;
  refuses("result 0 of @sum takes shape (4), but the tensor has none");
  result.rank = 1;
  result.extents = nullptr;
  refuses("result 0 of @sum takes shape (4), but the tensor has none");
}

TEST_F(Tensors, WithoutDataAreRefused) {
  first.data = nullptr;
  refuses("argument 0 of @sum is a null pointer");
}

TEST_F(Tensors, ThatAreNoneAreRefused) {
  Result<void> done = sum.callTensors({&first, nullptr}, {&result});
  ASSERT_FALSE(bool(done));
  EXPECT_EQ(done.error().message(),
            "argument 1 of @sum is no tensor but a null pointer");
  EXPECT_FALSE(bool(sum.callTensors({&first}, {&result})));
}

TEST_F(Tensors, ThatShareMemoryWithAResultAreRefused) {
  second.data = z;
  refuses("result 0 and argument 1 of @sum share memory; only arguments may");
}

TEST(TensorTypes, AreThoseOfDlpack) {
  Program program = compileText(makeCompiler(), types);
  alignas(64) char in[9][64], out[9][64] = {};
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < 64; ++j)
      in[i][j] = static_cast<char>(i == 6 ? j % 2 : 3 * i + j);
  const std::pair<int, int> codes[9] = {{2, 64}, {2, 16}, {4, 16},
                                        {0, 64}, {0, 32}, {0, 8},
                                        {6, 8},  {2, 32}, {2, 32}};
  std::vector<Tensor> tensors;
  for (auto *memory : {in, out})
    for (int i = 0; i < 9; ++i)
      tensors.emplace_back(memory[i], codes[i].first, codes[i].second,
                           i < 3    ? std::vector<int64_t>{2, 3}
                           : i < 7  ? std::vector<int64_t>{3}
                           : i == 7 ? std::vector<int64_t>{}
                                    : std::vector<int64_t>{0, 2});
  std::vector<const DrawloomTensor *> from, to;
  for (int i = 0; i < 9; ++i) {
    tensors[i].extents = tensors[i].shape.data();
    tensors[i + 9].extents = tensors[i + 9].shape.data();
    from.push_back(&tensors[i]);
    to.push_back(&tensors[i + 9]);
  }
  Result<void> done = program.find("types")->callTensors(from, to);
  ASSERT_TRUE(bool(done)) << done.error().message();
  for (int i = 0; i < 9; ++i)
    for (int64_t j = 0; j < program.find("types")->results()[i].bytes; ++j)
      EXPECT_EQ(out[i][j], in[i][j]) << i << " " << j;
}

const char *const openRows = R"(
func.func @add(%x: tensor<?x2xf32>, %y: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %s = arith.addf %x, %y : tensor<?x2xf32>
  return %s : tensor<?x2xf32>
}
)";

/// @add of any number of rows, and memory for a hundred.
class OpenRows : public ::testing::Test {
protected:
  Compiler compiler = makeCompiler();
  Program program = compileText(compiler, openRows);
  Function add = *program.find("add");
  std::vector<float> x = std::vector<float>(200, 1),
                     y = std::vector<float>(200, 2),
                     z = std::vector<float>(200, 0);
};

TEST_F(OpenRows, AreReadOffTensors) {
  for (int64_t rows : {0, 1, 7, 64, 100}) {
    std::fill(z.begin(), z.end(), 0.0F);
    Tensor a{x.data(), 2, 32, {rows, 2}}, b{y.data(), 2, 32, {rows, 2}},
        c{z.data(), 2, 32, {rows, 2}};
    ASSERT_TRUE(bool(add.callTensors({&a, &b}, {&c})));
    EXPECT_EQ(std::count(z.begin(), z.end(), 3.0F), 2 * rows);
  }
}

TEST_F(OpenRows, AreBoundOnceForManyCalls) {
  EXPECT_EQ(add.openExtents(), 1u);
  EXPECT_EQ(add.arguments()[0].extents, (std::vector<int64_t>{-1, 2}));
  EXPECT_EQ(add.arguments()[0].bytes, -1);
  Result<BoundFunction> bound = add.bind({{3, 2}, {3, 2}});
  ASSERT_TRUE(bool(bound)) << bound.error().message();
  Function three = bound->function();
  EXPECT_EQ(three.openExtents(), 0u);
  EXPECT_EQ(three.results()[0].extents, (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(three.results()[0].bytes, 24);
  for (int call = 0; call < 2; ++call) {
    Result<void> done = three.call({buffer(x.data(), 6), buffer(y.data(), 6)},
                                   {buffer(z.data(), 6)}, 2);
    ASSERT_TRUE(bool(done)) << done.error().message();
  }
  EXPECT_EQ(std::count(z.begin(), z.end(), 3.0F), 6);
}

TEST_F(OpenRows, HaveToAgree) {
  Tensor a{x.data(), 2, 32, {3, 2}}, b{y.data(), 2, 32, {4, 2}},
      c{z.data(), 2, 32, {3, 2}};
  Result<void> done = add.callTensors({&a, &b}, {&c});
  ASSERT_FALSE(bool(done));
  EXPECT_EQ(done.error().message(),
            "argument 1 of @add is given with extent 4 in dimension 0, which "
            "has to be that of dimension 0 of argument 0, 3");
  Tensor d{z.data(), 2, 32, {4, 2}};
  done = add.callTensors({&a, &a}, {&d});
  ASSERT_FALSE(bool(done));
  EXPECT_EQ(done.error().message(),
            "result 0 of @add takes shape (3, 2), but the tensor has (4, 2)");
}

TEST_F(OpenRows, AreNotReadOffMemory) {
  Result<void> done = add.call({buffer(x.data(), 6), buffer(y.data(), 6)},
                               {buffer(z.data(), 6)});
  ASSERT_FALSE(bool(done));
  EXPECT_NE(done.error().message().find("drawloomFunctionBind"),
            std::string::npos);
  EXPECT_EQ(std::count(z.begin(), z.end(), 0.0F), 200);
}

TEST_F(OpenRows, GoThroughAFile) {
  Result<std::string> bytes = program.serialize();
  ASSERT_TRUE(bool(bytes)) << bytes.error().message();
  Result<Program> loaded = Program::loadBytes(bytes->data(), bytes->size());
  ASSERT_TRUE(bool(loaded)) << loaded.error().message();
  Function again = *loaded->find("add");
  for (int64_t rows : {2, 5, 9, 17, 31, 33, 63, 65, 99, 100}) {
    std::fill(z.begin(), z.end(), 0.0F);
    Result<BoundFunction> bound = again.bind({{rows, 2}, {rows, 2}});
    ASSERT_TRUE(bool(bound)) << bound.error().message();
    auto count = static_cast<size_t>(2 * rows);
    ASSERT_TRUE(bool(bound->function().call(
        {buffer(x.data(), count), buffer(y.data(), count)},
        {buffer(z.data(), count)})));
    EXPECT_EQ(std::count(z.begin(), z.end(), 3.0F), 2 * rows);
  }
}

} // namespace
