//===- CudaProducts.h - dense products by cuBLASLt --------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// NVIDIA's library of matrix products, opened when it is asked for. Needs no
// header of CUDA's to build. docs/gpu-runtime.md explains.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_CUDAPRODUCTS_H
#define DRAWLOOM_RUNTIME_CUDAPRODUCTS_H

#include "drawloom/runtime/Cuda.h"
#include <string_view>

namespace drawloom::runtime::cuda {

/// result = f(left right + addend + bias), row by row, `batch` times, where f
/// is nothing, ReLU or the tanh form of GELU. All sums are in f32 and rounded
/// once. Strides are in elements; matrices lie in memory row by row.
struct Product {
  /// left is m x k, right k x n, result and addend m x n.
  int64_t m = 0, n = 0, k = 0, batch = 1;
  /// F32, F16 or BF16: of left and right, and of the others.
  Kind operands = Kind::F32, result = Kind::F32;
  /// What lies in memory is the transposed matrix: k x m, n x k.
  bool transposeLeft = false, transposeRight = false;
  /// From one row in memory to the next; at least its elements.
  int64_t leftStride = 0, rightStride = 0, addendStride = 0, resultStride = 0;
  /// From one matrix to the next. 0, but for the result: the same for all.
  int64_t leftBatch = 0, rightBatch = 0, addendBatch = 0, resultBatch = 0;
  bool addend = false; ///< Of the result's type; may be the result's memory.
  bool bias = false;   ///< n numbers of the result's type, added to each row.
  bool relu = false;   ///< max(x, 0) at the end.
  /// x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) at the end; not with
  /// relu.
  bool gelu = false;
};

/// A product's fields by the names that they have in JSON. What is 0 or false
/// may be absent there.
struct ProductNumber {
  const char *name;
  int64_t Product::*field;
};
inline constexpr ProductNumber productNumbers[] = {
    {"m", &Product::m},
    {"n", &Product::n},
    {"k", &Product::k},
    {"batch", &Product::batch},
    {"left_stride", &Product::leftStride},
    {"right_stride", &Product::rightStride},
    {"addend_stride", &Product::addendStride},
    {"result_stride", &Product::resultStride},
    {"left_batch", &Product::leftBatch},
    {"right_batch", &Product::rightBatch},
    {"addend_batch", &Product::addendBatch},
    {"result_batch", &Product::resultBatch},
};
struct ProductFlag {
  const char *name;
  bool Product::*field;
};
inline constexpr ProductFlag productFlags[] = {
    {"transpose_left", &Product::transposeLeft},
    {"transpose_right", &Product::transposeRight},
    {"addend", &Product::addend},
    {"bias", &Product::bias},
    {"relu", &Product::relu},
    {"gelu", &Product::gelu},
};
struct ProductType {
  const char *name;
  Kind Product::*field;
};
inline constexpr ProductType productTypes[] = {{"operands", &Product::operands},
                                               {"result", &Product::result}};
/// "f32", "f16", "bf16"; nothing for another name.
const char *productKindName(Kind kind);
std::optional<Kind> productKind(std::string_view name);
/// "1024x768x3072 bf16", for reports.
std::string productText(const Product &product);

/// Where the matrices of a call are, in the device's memory.
struct ProductOperands {
  const void *left = nullptr, *right = nullptr;
  const void *addend = nullptr, *bias = nullptr; ///< Where there are such.
  void *result = nullptr;
  /// Aligned to 256 bytes, for this call alone. Null where there is none.
  void *workspace = nullptr;
  size_t workspaceBytes = 0;
};

/// What NVIDIA recommends as workspace for devices of a capability, bytes.
size_t productWorkspaceBytes(unsigned capability);

/// Why the product cannot be computed; empty where it can.
std::string checkProduct(const Product &product);

/// cuBLASLt on one device. Any number of threads may use it.
class ProductLibrary {
public:
  /// Opens libcublasLt.so.13, .12 or libcublasLt.so, or the library that
  /// DRAWLOOM_LIBCUBLASLT names.
  static Result<std::shared_ptr<ProductLibrary>>
  open(std::shared_ptr<Device> device);
  ~ProductLibrary();

  /// 10000 * major + 100 * minor + patch.
  size_t version() const { return newest; }

  /// Puts a product on `stream` and returns. Neither allocates device memory
  /// nor waits: it can be captured into a CUDA graph. The algorithm is chosen
  /// once for each product, alignment of its operands and size of workspace;
  /// no algorithm adds in an order that changes from run to run, so that the
  /// same call gives the same bits. A product of no elements is none.
  Status multiply(const Product &product, const ProductOperands &operands,
                  void *stream);

private:
  struct State;
  ProductLibrary();
  std::unique_ptr<State> state;
  size_t newest = 0;
};

} // namespace drawloom::runtime::cuda

#endif // DRAWLOOM_RUNTIME_CUDAPRODUCTS_H
