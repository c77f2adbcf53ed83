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

using runtime::writeArtifact;

/// Like runtime::readArtifact, with LLVM's error type.
llvm::Expected<Artifact> readArtifact(llvm::StringRef bytes);

} // namespace drawloom

#endif // DRAWLOOM_CODEGEN_ARTIFACT_H
