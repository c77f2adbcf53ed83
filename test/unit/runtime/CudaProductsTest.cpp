//===- CudaProductsTest.cpp - dense products by the emulated cuBLASLt -----===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "drawloom/runtime/CudaProducts.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <sstream>

using namespace drawloom::runtime::cuda;

namespace {

using Pointer = unsigned long long;

size_t bytesOf(Kind kind) { return kind == Kind::F32 ? 4 : 2; }

/// Numbers that f16 and bf16 hold exactly: small multiples of 1/8.
double number(size_t i) {
  return static_cast<double>((i * 2654435761u >> 7) % 33) / 8 - 2;
}

void store(std::vector<char> &bytes, size_t i, Kind kind, double value) {
  auto single = static_cast<float>(value);
  uint32_t wide;
  std::memcpy(&wide, &single, sizeof(wide));
  if (kind == Kind::F32) {
    std::memcpy(&bytes[4 * i], &wide, 4);
    return;
  }
  auto bits = static_cast<uint16_t>(wide >> 16);
  if (kind == Kind::F16) {
    _Float16 half = single;
    std::memcpy(&bits, &half, sizeof(bits));
  }
  std::memcpy(&bytes[2 * i], &bits, 2);
}

double load(const std::vector<char> &bytes, size_t i, Kind kind) {
  float single;
  if (kind == Kind::F32) {
    std::memcpy(&single, &bytes[4 * i], 4);
    return single;
  }
  uint16_t bits;
  std::memcpy(&bits, &bytes[2 * i], 2);
  if (kind == Kind::F16) {
    _Float16 half;
    std::memcpy(&half, &bits, sizeof(half));
    return half;
  }
  uint32_t wide = uint32_t(bits) << 16;
  std::memcpy(&single, &wide, 4);
  return single;
}

class CudaProducts : public testing::Test {
protected:
  static void SetUpTestSuite() {
    setenv("DRAWLOOM_LIBCUDA", DRAWLOOM_EMULATED_CUDA, 1);
    driverLibrary = dlopen(DRAWLOOM_EMULATED_CUDA, RTLD_NOW | RTLD_LOCAL);
    ASSERT_TRUE(driverLibrary) << dlerror();
  }
  void SetUp() override {
    setenv("DRAWLOOM_LIBCUBLASLT", DRAWLOOM_EMULATED_CUBLASLT, 1);
    char name[] = "/tmp/drawloom-products-XXXXXX";
    int file = mkstemp(name);
    ASSERT_GE(file, 0);
    log = name;
    setenv("DRAWLOOM_EMULATOR_LOG", name, 1);
    auto driver = Driver::open();
    ASSERT_TRUE(driver.ok()) << driver.message();
    auto opened = Device::open(*driver);
    ASSERT_TRUE(opened.ok()) << opened.message();
    device = *opened;
    auto products = ProductLibrary::open(device);
    ASSERT_TRUE(products.ok()) << products.message();
    library = *products;
    memory = std::make_unique<CachingAllocator>(device);
  }
  void TearDown() override {
    unsetenv("DRAWLOOM_EMULATED_DEFER");
    unsetenv("DRAWLOOM_EMULATED_FAULT");
    library.reset();
    memory.reset();
    std::remove(log.c_str());
    call("cuDevicePrimaryCtxReset_v2", 0);
  }

  /// A function of the driver that the runtime does not need.
  template <typename... T> static void call(const char *name, T... arguments) {
    auto *function =
        reinterpret_cast<int (*)(T...)>(dlsym(driverLibrary, name));
    ASSERT_TRUE(function) << name;
    ASSERT_EQ(function(arguments...), 0) << name;
  }
  void *upload(const std::vector<char> &bytes) {
    auto block = memory->allocate(bytes.size(), nullptr);
    EXPECT_TRUE(block.ok()) << block.message();
    EXPECT_TRUE(device->upload(*block, bytes.data(), bytes.size()).ok());
    return *block;
  }
  std::vector<char> download(const void *from, size_t bytes) {
    std::vector<char> result(bytes);
    EXPECT_TRUE(device->download(result.data(), from, bytes).ok());
    return result;
  }
  std::string logged() const {
    std::stringstream text;
    text << std::ifstream(log).rdbuf();
    return text.str();
  }

  /// The matrices of a product on the device and the host, and the workspace.
  struct Matrices {
    Product product;
    std::vector<char> left, right, addend, bias, result;
    ProductOperands on;
  };
  /// Elements from the first to behind the last one of `batch` matrices.
  static size_t extent(int64_t rows, int64_t columns, int64_t stride,
                       int64_t batch, int64_t batchStride) {
    return static_cast<size_t>((batch - 1) * batchStride + (rows - 1) * stride +
                               columns);
  }
  Matrices make(const Product &p, size_t workspaceBytes = 1 << 20) {
    Matrices made;
    made.product = p;
    auto fill = [](std::vector<char> &bytes, size_t count, Kind kind,
                   size_t seed) {
      bytes.resize(count * bytesOf(kind));
      for (size_t i = 0; i < count; ++i)
        store(bytes, i, kind, number(i + seed));
    };
    fill(made.left,
         extent(p.transposeLeft ? p.k : p.m, p.transposeLeft ? p.m : p.k,
                p.leftStride, p.batch, p.leftBatch),
         p.operands, 1);
    fill(made.right,
         extent(p.transposeRight ? p.n : p.k, p.transposeRight ? p.k : p.n,
                p.rightStride, p.batch, p.rightBatch),
         p.operands, 100);
    fill(made.result, extent(p.m, p.n, p.resultStride, p.batch, p.resultBatch),
         p.result, 1000);
    made.on.left = upload(made.left);
    made.on.right = upload(made.right);
    made.on.result = upload(made.result);
    if (p.addend) {
      fill(made.addend,
           extent(p.m, p.n, p.addendStride, p.batch, p.addendBatch), p.result,
           10000);
      made.on.addend = upload(made.addend);
    }
    if (p.bias) {
      fill(made.bias, static_cast<size_t>(p.n), p.result, 100000);
      made.on.bias = upload(made.bias);
    }
    made.on.workspace = upload(std::vector<char>(workspaceBytes, -1));
    made.on.workspaceBytes = workspaceBytes;
    return made;
  }
  /// The result by the definition, what lies between its rows included.
  static std::vector<double> expected(const Matrices &matrices) {
    const Product &p = matrices.product;
    std::vector<double> all;
    for (size_t i = 0; i < matrices.result.size() / bytesOf(p.result); ++i)
      all.push_back(load(matrices.result, i, p.result));
    for (int64_t b = 0; b < p.batch; ++b)
      for (int64_t i = 0; i < p.m; ++i)
        for (int64_t j = 0; j < p.n; ++j) {
          double sum = 0;
          for (int64_t l = 0; l < p.k; ++l) {
            int64_t left =
                b * p.leftBatch +
                (p.transposeLeft ? l * p.leftStride + i : i * p.leftStride + l);
            int64_t right =
                b * p.rightBatch + (p.transposeRight ? j * p.rightStride + l
                                                     : l * p.rightStride + j);
            sum += load(matrices.left, static_cast<size_t>(left), p.operands) *
                   load(matrices.right, static_cast<size_t>(right), p.operands);
          }
          if (p.addend)
            sum += load(
                matrices.addend,
                static_cast<size_t>(b * p.addendBatch + i * p.addendStride + j),
                p.result);
          if (p.bias)
            sum += load(matrices.bias, static_cast<size_t>(j), p.result);
          all[static_cast<size_t>(b * p.resultBatch + i * p.resultStride + j)] =
              p.relu   ? std::fmax(sum, 0)
              : p.gelu ? sum / 2 *
                             (1 + std::tanh(std::sqrt(2 / M_PI) *
                                            (sum + 0.044715 * sum * sum * sum)))
                       : sum;
        }
    return all;
  }
  void check(const Matrices &matrices, const std::string &what) {
    const Product &p = matrices.product;
    std::vector<char> got =
        download(matrices.on.result, matrices.result.size());
    // Sums of multiples of 1/64 are exact in f32, and rounded once.
    double last = p.result == Kind::F32   ? 0x1p-24
                  : p.result == Kind::F16 ? 0x1p-11
                                          : 0x1p-8;
    // What a curve makes of it is rounded to f32 first.
    if (p.gelu)
      last += 0x1p-23;
    std::vector<double> want = expected(matrices);
    for (size_t i = 0; i < want.size(); ++i)
      ASSERT_NEAR(load(got, i, p.result), want[i], last * std::fabs(want[i]))
          << what << ", element " << i;
  }
  static Product dense(int64_t m, int64_t n, int64_t k, Kind kind) {
    Product p;
    p.m = m;
    p.n = n;
    p.k = k;
    p.operands = p.result = kind;
    p.leftStride = k;
    p.rightStride = n;
    p.addendStride = p.resultStride = n;
    return p;
  }

  static void *driverLibrary;
  std::string log;
  std::shared_ptr<Device> device;
  std::shared_ptr<ProductLibrary> library;
  std::unique_ptr<CachingAllocator> memory;
};
void *CudaProducts::driverLibrary = nullptr;

TEST_F(CudaProducts, TypesTransposesAndEpiloguesFollowTheDefinition) {
  const Kind types[][2] = {{Kind::F32, Kind::F32},
                           {Kind::F16, Kind::F16},
                           {Kind::F16, Kind::F32},
                           {Kind::BF16, Kind::BF16},
                           {Kind::BF16, Kind::F32}};
  for (auto [operands, result] : types)
    for (int bits = 0; bits < 32; ++bits) {
      Product p = dense(5, 7, 13, operands);
      p.result = result;
      p.transposeLeft = bits & 1;
      p.transposeRight = bits & 2;
      p.addend = bits & 4;
      p.bias = bits & 8;
      p.relu = bits & 16;
      p.leftStride = p.transposeLeft ? p.m : p.k;
      p.rightStride = p.transposeRight ? p.k : p.n;
      Matrices matrices = make(p);
      Status status = library->multiply(p, matrices.on, nullptr);
      ASSERT_TRUE(status.ok()) << status.message() << logged();
      check(matrices, "case " + std::to_string(bits));
    }
}

TEST_F(CudaProducts, GeluIsItsTanhForm) {
  for (Kind kind : {Kind::F32, Kind::BF16})
    for (bool bias : {false, true}) {
      Product p = dense(6, 9, 4, kind);
      p.bias = bias;
      p.gelu = true;
      Matrices matrices = make(p);
      Status status = library->multiply(p, matrices.on, nullptr);
      ASSERT_TRUE(status.ok()) << status.message() << logged();
      check(matrices, bias ? "with a bias" : "without");
      p.relu = true;
      EXPECT_NE(checkProduct(p), "");
    }
}

TEST_F(CudaProducts, BatchesAndStridesReachTheRightElements) {
  // One after another; the same right matrix for all; interleaved row by row.
  for (int way = 0; way < 3; ++way) {
    Product p = dense(3, 4, 6, Kind::F32);
    p.batch = 5;
    p.leftStride = 8;
    p.rightStride = 9;
    p.resultStride = 7;
    p.addend = p.bias = true;
    p.leftBatch = 8 * p.m;
    p.rightBatch = way == 1 ? 0 : 9 * p.k + 2;
    p.resultBatch = 7 * p.m + 3;
    p.addendBatch = 4 * p.m;
    if (way == 2) {
      p.resultBatch = 4;
      p.resultStride = 4 * p.batch;
      p.leftBatch = 6;
      p.leftStride = 6 * p.batch;
    }
    Matrices matrices = make(p);
    Status status = library->multiply(p, matrices.on, nullptr);
    ASSERT_TRUE(status.ok()) << status.message() << logged();
    check(matrices, "way " + std::to_string(way));
  }
}

TEST_F(CudaProducts, AddendMayBeTheResultsMemory) {
  Product p = dense(9, 9, 9, Kind::F32);
  p.addend = true;
  Matrices matrices = make(p);
  matrices.addend = matrices.result;
  matrices.on.addend = matrices.on.result;
  Status status = library->multiply(p, matrices.on, nullptr);
  ASSERT_TRUE(status.ok()) << status.message() << logged();
  check(matrices, "in place");
}

TEST_F(CudaProducts, SumsInPartsGoThroughTheWorkspaceWithTheSameBits) {
  Product p = dense(3, 5, 4096, Kind::BF16);
  Matrices matrices = make(p);
  std::vector<char> first;
  for (int run = 0; run < 4; ++run) {
    Status status = library->multiply(p, matrices.on, nullptr);
    ASSERT_TRUE(status.ok()) << status.message() << logged();
    std::vector<char> got =
        download(matrices.on.result, matrices.result.size());
    EXPECT_TRUE(run == 0 || got == first);
    first = got;
  }
  check(matrices, "parts");
  // The workspace was used, and without one there is another algorithm.
  std::vector<char> used = download(matrices.on.workspace, 64);
  EXPECT_NE(used, std::vector<char>(64, -1));
  matrices.on.workspace = nullptr;
  Status status = library->multiply(p, matrices.on, nullptr);
  ASSERT_TRUE(status.ok()) << status.message() << logged();
  check(matrices, "no workspace");
}

TEST_F(CudaProducts, OddAddressesChooseAnotherAlgorithm) {
  Product p = dense(4, 4, 4, Kind::F32);
  Matrices matrices = make(p);
  ASSERT_TRUE(library->multiply(p, matrices.on, nullptr).ok()) << logged();
  // The same product, of matrices that begin 4 bytes behind a boundary.
  std::vector<char> shifted(4, 0);
  shifted.insert(shifted.end(), matrices.left.begin(), matrices.left.end());
  matrices.on.left = static_cast<char *>(upload(shifted)) + 4;
  Status status = library->multiply(p, matrices.on, nullptr);
  ASSERT_TRUE(status.ok()) << status.message() << logged();
  check(matrices, "shifted");
}

TEST_F(CudaProducts, StreamsKeepTheirOrderAndGraphsRepeat) {
  setenv("DRAWLOOM_EMULATED_DEFER", "1", 1);
  Product p = dense(2, 3, 4, Kind::F32);
  p.bias = true;
  Matrices matrices = make(p);
  void *stream = nullptr, *graph = nullptr, *executable = nullptr;
  call("cuStreamCreate", &stream, 0u);
  call("cuStreamBeginCapture_v2", stream, 2);
  Status status = library->multiply(p, matrices.on, stream);
  ASSERT_TRUE(status.ok()) << status.message() << logged();
  call("cuStreamEndCapture", stream, &graph);
  call("cuGraphInstantiateWithFlags", &executable, graph, 0ull);
  // Nothing has run yet: the right matrix that counts is the one that is
  // copied there before the graph is launched.
  EXPECT_EQ(download(matrices.on.result, matrices.result.size()),
            matrices.result);
  for (double factor : {2.0, -0.5}) {
    for (size_t i = 0; i < matrices.right.size() / 4; ++i)
      store(matrices.right, i, Kind::F32, factor * number(i));
    call("cuMemcpyHtoDAsync_v2", reinterpret_cast<Pointer>(matrices.on.right),
         static_cast<const void *>(matrices.right.data()),
         matrices.right.size(), stream);
    call("cuGraphLaunch", executable, stream);
    call("cuStreamSynchronize", stream);
    check(matrices, "graph");
  }
  // The bias is that of the call, also of one that is put on a stream later.
  Matrices other = make(p);
  std::vector<char> bias(other.bias.size(), 0);
  other.on.bias = upload(bias);
  ASSERT_TRUE(library->multiply(p, matrices.on, stream).ok());
  ASSERT_TRUE(library->multiply(p, other.on, stream).ok());
  call("cuStreamSynchronize", stream);
  other.bias = bias;
  check(matrices, "first");
  check(other, "second");
  call("cuGraphExecDestroy", executable);
  call("cuGraphDestroy", graph);
  call("cuStreamDestroy_v2", stream);
}

TEST_F(CudaProducts, ProductsOfNoElementsAreNone) {
  for (int extent = 0; extent < 3; ++extent) {
    Product p = dense(4, 4, 4, Kind::F32);
    (extent == 0 ? p.m : extent == 1 ? p.n : p.batch) = 0;
    EXPECT_TRUE(library->multiply(p, ProductOperands(), nullptr).ok());
  }
}

TEST_F(CudaProducts, MistakesAreErrorsThatNameThem) {
  Product good = dense(4, 4, 4, Kind::F32);
  Matrices matrices = make(good);
  auto expect = [&](const Product &p, const ProductOperands &on,
                    const std::string &text) {
    Status status = library->multiply(p, on, nullptr);
    EXPECT_FALSE(status.ok()) << text;
    EXPECT_NE(status.message().find(text), std::string::npos)
        << status.message();
  };
  Product p = good;
  p.leftStride = 3;
  expect(p, matrices.on, "rows of the left matrix, of 4 elements, are 3 apart");
  p = good;
  p.k = 0;
  expect(p, matrices.on, "adds up no products");
  p = good;
  p.m = int64_t(1) << 31;
  expect(p, matrices.on, "above 2^31 - 1");
  p = good;
  p.result = Kind::BF16;
  expect(p, matrices.on, "of their type or f32");
  p = good;
  p.batch = 2;
  expect(p, matrices.on, "the result matrices overlap");
  p = good;
  p.bias = true;
  expect(p, matrices.on, "'bias' is null");
  ProductOperands on = matrices.on;
  float host[16] = {};
  on.right = host;
  expect(good, on, "'right' points to memory that the device cannot read");
  on = matrices.on;
  on.left = static_cast<const char *>(on.left) + 2;
  expect(good, on, "'left' is not aligned to its elements");
  on = matrices.on;
  on.workspace = static_cast<char *>(on.workspace) + 16;
  expect(good, on, "multiple of 256");
  // What only the library sees.
  p = good;
  p.leftStride = 100;
  expect(p, matrices.on, "CUBLAS_STATUS_INVALID_VALUE");
  EXPECT_NE(logged().find("ends behind its allocation"), std::string::npos)
      << logged();
  on = matrices.on;
  on.result = const_cast<void *>(on.left);
  expect(good, on, "CUBLAS_STATUS_INVALID_VALUE");
  EXPECT_NE(logged().find("D is in the memory of A or B"), std::string::npos)
      << logged();
  setenv("DRAWLOOM_EMULATED_FAULT", "no-product-algorithm", 1);
  expect(dense(2, 2, 2, Kind::F32), matrices.on, "--dense-products=own");
}

TEST_F(CudaProducts, LibraryThatIsNotThereIsAnErrorWithAWayOut) {
  setenv("DRAWLOOM_LIBCUBLASLT", "/there/is/no/libcublasLt.so.13", 1);
  auto missing = ProductLibrary::open(device);
  ASSERT_FALSE(missing.ok());
  for (const char *text : {"there is no cuBLASLt", "/there/is/no/",
                           "DRAWLOOM_LIBCUBLASLT", "--dense-products=own"})
    EXPECT_NE(missing.message().find(text), std::string::npos)
        << missing.message();
  // A library that is another one.
  setenv("DRAWLOOM_LIBCUBLASLT", DRAWLOOM_EMULATED_CUDA, 1);
  auto wrong = ProductLibrary::open(device);
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.message().find("lacks cublasLtGetVersion"), std::string::npos)
      << wrong.message();
}

} // namespace
