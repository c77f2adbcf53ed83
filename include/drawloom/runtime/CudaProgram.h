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

/// Name of the target of CUDA variants.
inline constexpr const char *targetName = "cuda";

/// Loads the variant with the best code for a device, or the one for `isa` if
/// it is given. The variant's code is a bundle. Opens the driver; the error
/// says what is missing. If `device` is negative, it is the device of the
/// calling thread's CUDA context, or the first one of this machine.
Result<std::unique_ptr<Executable>> loadCudaProgram(const Artifact &artifact,
                                                    const std::string &isa = "",
                                                    int device = -1);
Result<std::unique_ptr<Executable>>
loadCudaProgram(const Artifact::Variant &variant, int device = -1);

} // namespace drawloom::runtime::cuda

#endif // DRAWLOOM_RUNTIME_CUDAPROGRAM_H
