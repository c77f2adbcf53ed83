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

/// Updates parameters and their state in place. Each of `tensors` has the
/// addresses of a dense parameter, its gradient and the tensors of its state,
/// `counts` elements each. `pieces` are (elements, function), the largest
/// first, of functions (parameter, gradient, state..., rate, step) ->
/// (parameter, state...) that update every element by itself: a tensor of any
/// size is updated by a few of them.
void updateInPlace(
    const std::vector<std::pair<int64_t, std::shared_ptr<Function>>> &pieces,
    const std::vector<std::vector<uintptr_t>> &tensors,
    const std::vector<int64_t> &counts, double rate, int64_t step,
    unsigned threads);

} // namespace drawloom::python

#endif // DRAWLOOM_PYTHON_UPDATE_H
