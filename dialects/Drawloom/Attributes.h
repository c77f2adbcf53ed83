//===- Attributes.h - names of attributes of Drawloom -----------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DIALECTS_DRAWLOOM_ATTRIBUTES_H
#define DRAWLOOM_DIALECTS_DRAWLOOM_ATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace drawloom {

#define DRAWLOOM_ATTRIBUTE(identifier, name, type)                             \
  inline constexpr llvm::StringLiteral identifier = name;
#include "dialects/Drawloom/Attributes.def"

} // namespace drawloom

#endif // DRAWLOOM_DIALECTS_DRAWLOOM_ATTRIBUTES_H
