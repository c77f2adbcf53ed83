//===- HostView.cpp - tensors between kernels, as memory ------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/triton/HostView.h"

using namespace drawloom;
using namespace drawloom::triton;
using llvm::ArrayRef;
using llvm::SmallVector;

HostView HostView::whole(int64_t buffer, ArrayRef<int64_t> shape) {
  HostView view;
  view.kind = Kind::Buffer;
  view.buffer = buffer;
  view.shape.assign(shape.begin(), shape.end());
  view.strides.assign(shape.size(), 1);
  for (int64_t i = int64_t(shape.size()) - 2; i >= 0; --i)
    view.strides[i] = view.strides[i + 1] * shape[i + 1];
  return view;
}

std::optional<SmallVector<int64_t>>
triton::collapsedStrides(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides,
                         ArrayRef<SmallVector<int64_t, 2>> groups) {
  SmallVector<int64_t> out;
  for (const auto &group : groups) {
    int64_t inner = 1, next = 0;
    bool first = true;
    for (int64_t i : llvm::reverse(group)) {
      if (shape[i] == 1)
        continue;
      if (first)
        inner = strides[i];
      else if (strides[i] != next)
        return std::nullopt;
      first = false;
      next = strides[i] * shape[i];
    }
    out.push_back(inner);
  }
  return out;
}

SmallVector<int64_t>
triton::expandedStrides(ArrayRef<int64_t> strides,
                        ArrayRef<int64_t> expandedShape,
                        ArrayRef<SmallVector<int64_t, 2>> groups) {
  SmallVector<int64_t> out(expandedShape.size(), 1);
  for (auto [stride, group] : llvm::zip(strides, groups)) {
    int64_t next = stride;
    for (int64_t i : llvm::reverse(group)) {
      out[i] = next;
      next *= expandedShape[i];
    }
  }
  return out;
}
