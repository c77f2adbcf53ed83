//===- OpenExtents.h - extents that calls choose ----------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_PASSES_GRAPH_OPENEXTENTS_H
#define DRAWLOOM_PASSES_GRAPH_OPENEXTENTS_H

#include "dialects/Drawloom/Attributes.h"
#include "llvm/ADT/StringRef.h"

namespace drawloom {} // namespace drawloom

#endif // DRAWLOOM_PASSES_GRAPH_OPENEXTENTS_H
