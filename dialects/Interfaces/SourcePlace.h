//===- SourcePlace.h - places for people ------------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DIALECTS_INTERFACES_SOURCEPLACE_H
#define DRAWLOOM_DIALECTS_INTERFACES_SOURCEPLACE_H

#include "mlir/IR/Location.h"
#include <string>

namespace drawloom {

/// Returns the nearest source location, without its folder, as in
/// "name.mlir:3"; "" if none is known.
std::string placeOf(mlir::Location location);

} // namespace drawloom

#endif // DRAWLOOM_DIALECTS_INTERFACES_SOURCEPLACE_H
