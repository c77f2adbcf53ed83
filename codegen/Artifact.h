//===- Artifact.h - compiled programs as bytes ---------------- -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_ARTIFACT_H
#define DRAWLOOM_CODEGEN_ARTIFACT_H

#include "codegen/Program.h"

namespace drawloom {

/// The file form of an artifact: a line of text with its version, the lengths
/// and the SHA-256 of what follows (a description in JSON, then the code of one
/// variant after the other).
std::string writeArtifact(const Artifact &artifact);

/// Refuses bytes that are cut off, changed or of another version, and variants
/// that do not go together; says which.
llvm::Expected<Artifact> readArtifact(llvm::StringRef bytes);

} // namespace drawloom

#endif // DRAWLOOM_CODEGEN_ARTIFACT_H
