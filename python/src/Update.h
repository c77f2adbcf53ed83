//===- Update.h - optimizers' updates in place, piece by piece -- -*- C++
//-*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_PYTHON_UPDATE_H
#define DRAWLOOM_PYTHON_UPDATE_H

#include "Objects.h"

namespace drawloom::python {

/// Functions that update so many elements each, the largest first.
using PiecesBySize = std::vector<std::pair<int64_t, std::shared_ptr<Function>>>;

/// Updates parameters and their state in place. Each of `tensors` has the
/// addresses of a dense parameter, its gradient and the tensors of its state,
/// `counts` elements each. `pieces` are functions (parameter, gradient,
/// state..., rate, step) -> (parameter, state...) that update every element by
/// itself: a tensor of any size is updated by a few of them.
void updateInPlace(const PiecesBySize &pieces,
                   const std::vector<std::vector<uintptr_t>> &tensors,
                   const std::vector<int64_t> &counts, double rate,
                   int64_t step, unsigned threads);

} // namespace drawloom::python

#endif // DRAWLOOM_PYTHON_UPDATE_H
