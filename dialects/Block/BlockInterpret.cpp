//===- BlockInterpret.cpp - the block ops in plain C++ on doubles ---------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Block/Block.h"
#include <cmath>
#include <limits>

using namespace mlir;

namespace drawloom::block {

/// Elements in one row of a table.
static int64_t rowSize(const HostTensor &table) {
  int64_t n = 1;
  for (int64_t extent : table.shape().drop_front())
    n *= extent;
  return n;
}

/// Copies row `from` of one tensor to row `to` of another, of either kind.
static void copyRow(const HostTensor &source, int64_t from, HostTensor &target,
                    int64_t to, int64_t size) {
  for (int64_t k = 0; k < size; ++k) {
    if (source.isFloat())
      target.mutableF()[to * size + k] = source.f()[from * size + k];
    else
      target.mutableI()[to * size + k] = source.i()[from * size + k];
  }
}

LogicalResult GatherOp::interpret(ArrayRef<HostTensor> operands,
                                  SmallVectorImpl<HostTensor> &results) {
  const HostTensor &source = operands[0], &indices = operands[1];
  HostTensor result(source.isFloat(), operands[2].shape());
  int64_t size = rowSize(result);
  for (int64_t i = 0; i < indices.size(); ++i) {
    int64_t row = indices.i()[i];
    if (row >= 0 && row < source.dim(0))
      copyRow(source, row, result, i, size);
  }
  results.push_back(result);
  return success();
}

LogicalResult ScatterOp::interpret(ArrayRef<HostTensor> operands,
                                   SmallVectorImpl<HostTensor> &results) {
  const HostTensor &rows = operands[0], &indices = operands[1];
  HostTensor result = operands[2];
  int64_t size = rowSize(rows);
  std::vector<bool> written(result.dim(0));
  for (int64_t i = 0; i < indices.size(); ++i) {
    int64_t row = indices.i()[i];
    if (row < 0 || row >= result.dim(0))
      continue;
    if (getAccumulate()) {
      for (int64_t k = 0; k < size; ++k)
        result.mutableF()[row * size + k] += rows.f()[i * size + k];
      continue;
    }
    if (written[row])
      return emitOpError() << "scatters twice to row " << row;
    written[row] = true;
    copyRow(rows, i, result, row, size);
  }
  results.push_back(result);
  return success();
}

template <typename T> static T combine(ScanKind kind, T a, T b) {
  switch (kind) {
  case ScanKind::Add:
    return a + b;
  case ScanKind::Mul:
    return a * b;
  case ScanKind::Max:
    // NaN compares false with everything: it is passed on from either side.
    return a != a || a > b ? a : b;
  }
  llvm_unreachable("a scan adds, multiplies or takes maxima");
}

template <typename T> static T neutral(ScanKind kind) {
  if (kind == ScanKind::Max)
    return std::numeric_limits<T>::has_infinity
               ? -std::numeric_limits<T>::infinity()
               : std::numeric_limits<T>::lowest();
  return kind == ScanKind::Mul ? 1 : 0;
}

template <typename T>
static void scanLines(ScanOp op, ArrayRef<int64_t> shape, ArrayRef<T> input,
                      MutableArrayRef<T> result, T start) {
  int64_t length = shape[op.getDimension()], stride = 1;
  for (int64_t extent : shape.drop_front(op.getDimension() + 1))
    stride *= extent;
  int64_t lines = length ? static_cast<int64_t>(input.size()) / length : 0;
  for (int64_t line = 0; line < lines; ++line) {
    int64_t base = line / stride * stride * length + line % stride;
    T running = start;
    for (int64_t step = 0; step < length; ++step) {
      int64_t at = base + stride * (op.getReverse() ? length - 1 - step : step);
      T next = combine(op.getKind(), running, input[at]);
      result[at] = op.getExclusive() ? running : next;
      running = next;
    }
  }
}

LogicalResult ScanOp::interpret(ArrayRef<HostTensor> operands,
                                SmallVectorImpl<HostTensor> &results) {
  const HostTensor &input = operands[0];
  HostTensor result(input.isFloat(), input.shape());
  if (input.isFloat()) {
    scanLines<double>(*this, input.shape(), input.f(), result.mutableF(),
                      neutral<double>(getKind()));
  } else {
    int64_t start = neutral<int64_t>(getKind());
    // The least value of the type, not of the 64 bits that hold it here.
    Type type = cast<RankedTensorType>(getInit().getType()).getElementType();
    if (getKind() == ScanKind::Max && type.isIntOrFloat())
      start = llvm::minIntN(type.getIntOrFloatBitWidth());
    scanLines<int64_t>(*this, input.shape(), input.i(), result.mutableI(),
                       start);
  }
  results.push_back(result);
  return success();
}

LogicalResult
SolveTriangularOp::interpret(ArrayRef<HostTensor> operands,
                             SmallVectorImpl<HostTensor> &results) {
  const HostTensor &matrix = operands[0];
  HostTensor x = operands[1];
  int64_t n = x.dim(0), m = x.dim(1);
  MutableArrayRef<double> values = x.mutableF();
  auto coefficient = [&](int64_t i, int64_t j) {
    return matrix.f()[getTranspose() ? j * n + i : i * n + j];
  };
  for (int64_t step = 0; step < n; ++step) {
    int64_t i = solvesForward() ? step : n - 1 - step;
    for (int64_t before = 0; before < step; ++before) {
      int64_t j = solvesForward() ? before : n - 1 - before;
      for (int64_t k = 0; k < m; ++k)
        values[i * m + k] -= coefficient(i, j) * values[j * m + k];
    }
    for (int64_t k = 0; k < m && !getUnit(); ++k)
      values[i * m + k] /= coefficient(i, i);
  }
  results.push_back(x);
  return success();
}

} // namespace drawloom::block
