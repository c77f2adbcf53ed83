//===- Sha256.h - checksums of files ---------------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_SHA256_H
#define DRAWLOOM_RUNTIME_SHA256_H

#include <string>
#include <string_view>

namespace drawloom::runtime {

/// Returns the SHA-256 (FIPS 180-4) of `bytes` in lower-case hexadecimal
/// digits.
std::string sha256(std::string_view bytes);

} // namespace drawloom::runtime

#endif // DRAWLOOM_RUNTIME_SHA256_H
