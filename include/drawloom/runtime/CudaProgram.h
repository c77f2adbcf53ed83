//===- CudaProgram.h - compiled programs on an NVIDIA GPU -------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_CUDAPROGRAM_H
#define DRAWLOOM_RUNTIME_CUDAPROGRAM_H

#include "drawloom/runtime/Executable.h"
#include <memory>

namespace drawloom::runtime::cuda {

/// The target that a variant for this is of.
inline constexpr const char *targetName = "cuda";

/// Loads the variant with the best code for a device; the one for `isa` where
/// that is given. Its code is a bundle. Opens the driver now; the error says
/// what is missing. A device below 0 is that of the calling thread's CUDA
/// context, or the first one of this machine.
Result<std::unique_ptr<Executable>> loadCudaProgram(const Artifact &artifact,
                                                    const std::string &isa = "",
                                                    int device = -1);
Result<std::unique_ptr<Executable>>
loadCudaProgram(const Artifact::Variant &variant, int device = -1);

} // namespace drawloom::runtime::cuda

#endif // DRAWLOOM_RUNTIME_CUDAPROGRAM_H
