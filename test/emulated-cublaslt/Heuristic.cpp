//===- Heuristic.cpp - which algorithm computes a product -----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Library.h"
#include <cstdlib>
#include <cstring>

using namespace drawloom::cublaslt;

namespace drawloom::cublaslt {

std::string mismatch(const Descriptor &descriptor, const Layout &a,
                     const Layout &b, const Layout &c, const Layout &d) {
  if (descriptor.pointerMode != 0)
    return "scales in device memory are not emulated";
  if (descriptor.transposeA < 0 || descriptor.transposeA > 1 ||
      descriptor.transposeB < 0 || descriptor.transposeB > 1 ||
      descriptor.transposeC != 0)
    return "an operation other than N and T, or one of C";
  if (a.order || b.order || c.order || d.order)
    return "an order other than by columns is not emulated";
  uint64_t m = descriptor.transposeA ? a.columns : a.rows;
  uint64_t k = descriptor.transposeA ? a.rows : a.columns;
  uint64_t other = descriptor.transposeB ? b.columns : b.rows;
  uint64_t n = descriptor.transposeB ? b.rows : b.columns;
  if (m != d.rows || n != d.columns || k != other)
    return "op(A) of " + std::to_string(m) + "x" + std::to_string(k) +
           ", op(B) of " + std::to_string(other) + "x" + std::to_string(n) +
           ", D of " + std::to_string(d.rows) + "x" + std::to_string(d.columns);
  if (m == 0 || n == 0 || k == 0)
    return "an empty matrix";
  if (c.rows != d.rows || c.columns != d.columns)
    return "C and D differ in their extents";
  if (a.batch != d.batch || b.batch != d.batch || c.batch != d.batch)
    return "numbers of matrices differ";
  if (d.batch > 1 && d.batchStride < static_cast<int64_t>(d.rows))
    return "the matrices of D overlap";
  // The documented combinations for sums in f32.
  if (a.type != b.type || c.type != d.type ||
      (d.type != a.type && d.type != F32))
    return "an unsupported combination of types";
  switch (descriptor.epilogue) {
  case 1:
  case 2:
  case 32:
    break;
  case 4:
  case 6:
  case 36:
    if (!descriptor.bias)
      return "an epilogue with a bias, but no pointer to it";
    if (descriptor.biasType != -1 && descriptor.biasType != d.type)
      return "a bias of another type than D";
    if (d.batch == 1 && descriptor.biasStride != 0)
      return "a stride for the bias of a single product";
    break;
  default:
    return "epilogue " + std::to_string(descriptor.epilogue) +
           " is not emulated";
  }
  return "";
}

uint64_t hashOf(const Descriptor &descriptor, const Layout &a, const Layout &b,
                const Layout &c, const Layout &d) {
  uint64_t hash = 0xcbf29ce484222325;
  auto add = [&](uint64_t value) {
    hash = (hash ^ value) * 0x100000001b3;
    hash ^= hash >> 29;
  };
  for (uint64_t value :
       {uint64_t(descriptor.transposeA), uint64_t(descriptor.transposeB),
        uint64_t(descriptor.epilogue)})
    add(value);
  for (const Layout *layout : {&a, &b, &c, &d})
    for (uint64_t value :
         {uint64_t(layout->type), layout->rows, layout->columns,
          uint64_t(layout->leadingDimension), uint64_t(layout->batch),
          uint64_t(layout->batchStride)})
      add(value);
  return hash;
}

} // namespace drawloom::cublaslt

DRAWLOOM_CUBLASLT_API
cublasLtMatmulAlgoGetHeuristic(void *handle, void *operation, void *aLayout,
                               void *bLayout, void *cLayout, void *dLayout,
                               void *preferred, int wanted,
                               HeuristicResult *results, int *count) {
  const char *function = "cublasLtMatmulAlgoGetHeuristic";
  Library &library = Library::get();
  std::lock_guard<std::mutex> lock(library.mutex);
  auto *descriptor = static_cast<Descriptor *>(operation);
  auto *preference = static_cast<Preference *>(preferred);
  Layout *layouts[] = {
      static_cast<Layout *>(aLayout), static_cast<Layout *>(bLayout),
      static_cast<Layout *>(cLayout), static_cast<Layout *>(dLayout)};
  if (!library.handles.count(handle) || !library.descriptors.count(descriptor))
    return refuse(InvalidValue, function, "no such handle or descriptor");
  for (Layout *layout : layouts)
    if (!library.layouts.count(layout))
      return refuse(InvalidValue, function, "no such layout");
  if (!library.preferences.count(preference) || wanted < 1 || !results ||
      !count)
    return refuse(InvalidValue, function,
                  "no such preference, or nothing asked for");
  auto [a, b, c, d] = layouts;
  std::string why = mismatch(*descriptor, *a, *b, *c, *d);
  if (!why.empty())
    return refuse(InvalidValue, function, why);
  *count = 0;
  const char *fault = std::getenv("DRAWLOOM_EMULATED_FAULT");
  if (fault && std::strstr(fault, "no-product-algorithm"))
    return NotSupported;
  // Long sums of small results are cut into parts where that is allowed.
  uint64_t k = descriptor->transposeA ? a->rows : a->columns;
  uint64_t elements = d->rows * d->columns * static_cast<uint64_t>(d->batch);
  uint64_t parts = k >= 1024 && elements <= 65536 ? 4 : 1;
  if (parts * elements * 4 > preference->workspaceBytes ||
      !(preference->reductionSchemes & 2))
    parts = 1;
  std::memset(results, 0, sizeof(*results));
  Algorithm &algorithm = results->algorithm;
  algorithm.data[Magic] = magic;
  algorithm.data[Problem] = hashOf(*descriptor, *a, *b, *c, *d);
  algorithm.data[Parts] = parts;
  algorithm.data[WorkspaceBytes] = parts > 1 ? parts * elements * 4 : 0;
  algorithm.data[Alignments] = preference->alignmentA |
                               uint64_t(preference->alignmentB) << 16 |
                               uint64_t(preference->alignmentC) << 32 |
                               uint64_t(preference->alignmentD) << 48;
  results->workspaceBytes = algorithm.data[WorkspaceBytes];
  results->state = Success;
  results->waves = 1;
  *count = 1;
  return Success;
}
