//===- CudaProducts.h - dense products by cuBLASLt --------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// NVIDIA's matrix product library (cuBLASLt), opened on request. Builds without
// CUDA headers. docs/gpu-runtime.md explains more.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_CUDAPRODUCTS_H
#define DRAWLOOM_RUNTIME_CUDAPRODUCTS_H

#include "drawloom/runtime/Cuda.h"
#include <string_view>

namespace drawloom::runtime::cuda {

/// A matrix product: result = f(left right + addend + bias), row by row,
/// `batch` times, where f is the identity, ReLU or the tanh form of GELU. Sums
/// are accumulated in f32 and rounded once. Strides are in elements; matrices
/// are row-major.
struct Product {
  /// left is m x k, right k x n, result and addend m x n.
  int64_t m = 0, n = 0, k = 0, batch = 1;
  /// F32, F16 or BF16: the type of left and right, and the type of the others.
  Kind operands = Kind::F32, result = Kind::F32;
  /// Whether the matrix in memory is transposed: k x m for left, n x k for
  /// right.
  bool transposeLeft = false, transposeRight = false;
  /// Elements from one row in memory to the next; at least the length of a row.
  int64_t leftStride = 0, rightStride = 0, addendStride = 0, resultStride = 0;
  /// Elements from one matrix to the next. 0, except for the result, means that
  /// all products use the same matrix.
  int64_t leftBatch = 0, rightBatch = 0, addendBatch = 0, resultBatch = 0;
  bool addend = false; ///< Of the result's type; may alias the result.
  bool bias = false;   ///< n numbers of the result's type, added to each row.
  bool relu = false;   ///< Applies max(x, 0) at the end.
  /// Applies x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) at the end; not
  /// together with relu.
  bool gelu = false;
};

/// Names a product's field in JSON. Fields that are 0 or false may be absent
/// there.
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
/// productKindName() returns "f32", "f16" or "bf16"; productKind() returns
/// nothing for other names.
const char *productKindName(Kind kind);
std::optional<Kind> productKind(std::string_view name);
/// Describes a product for reports, as in "1024x768x3072 bf16".
std::string productText(const Product &product);

/// Addresses of the matrices of a call in device memory.
struct ProductOperands {
  const void *left = nullptr, *right = nullptr;
  const void *addend = nullptr, *bias = nullptr; ///< If the product has them.
  void *result = nullptr;
  /// Aligned to 256 bytes, used by this call only. Null if there is none.
  void *workspace = nullptr;
  size_t workspaceBytes = 0;
};

/// Returns the workspace bytes that NVIDIA recommends for devices of a
/// capability.
size_t productWorkspaceBytes(unsigned capability);

/// Explains why the product cannot be computed; empty if it can.
std::string checkProduct(const Product &product);

/// cuBLASLt on one device. Any number of threads may use it.
class ProductLibrary {
public:
  /// Opens libcublasLt.so.13, .12 or libcublasLt.so, or the library that
  /// DRAWLOOM_LIBCUBLASLT names.
  static Result<std::shared_ptr<ProductLibrary>>
  open(std::shared_ptr<Device> device);
  ~ProductLibrary();

  /// Returns the library's version as 10000 * major + 100 * minor + patch.
  size_t version() const { return newest; }

  /// Enqueues a product on `stream` and returns. Neither allocates device
  /// memory nor waits, so it can be captured into a CUDA graph. The algorithm
  /// is chosen once for each combination of product, operand alignment and
  /// workspace size; only algorithms with a fixed order of summation are used,
  /// so that equal calls give equal bits. A product without elements enqueues
  /// nothing.
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
