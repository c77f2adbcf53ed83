//===- ExportC.h - compiled programs for programs in C ----------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_CPU_LLVM_EXPORTC_H
#define DRAWLOOM_CODEGEN_CPU_LLVM_EXPORTC_H

#include "codegen/Program.h"

namespace drawloom::cpu {

/// Returns a C99 and C++ header that declares the functions of an object file
/// and calls them on the caller's thread, or on any host (see runtime/Abi.h).
/// Parameters have the names that the program gives (`drawloom.name`).
/// The header does not include any of Drawloom's. Refuses names that are
/// invalid in C.
llvm::Expected<std::string> exportHeader(const Artifact::Variant &variant);

/// Returns C99 source of a shared library that contains the artifact and
/// exports each of its functions as `__tvm_ffi_<name>`, in the convention of
/// TVM's foreign function interface: the arguments as tensors or numbers, then
/// tensors for the results. Compile it with drawloom-c/runtime.h and link it
/// with libdrawloom_runtime.so; neither headers nor libraries of TVM are
/// needed.
llvm::Expected<std::string> exportTvmFfi(const Artifact &artifact);

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_LLVM_EXPORTC_H
