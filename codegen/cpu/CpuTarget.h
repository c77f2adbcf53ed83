//===- CpuTarget.h - x86 processors as a target --------------- -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_CPU_CPUTARGET_H
#define DRAWLOOM_CODEGEN_CPU_CPUTARGET_H

namespace drawloom {
class CompileTarget;
} // namespace drawloom

namespace drawloom::cpu {

/// Returns the target "cpu".
const CompileTarget &target();

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_CPUTARGET_H
