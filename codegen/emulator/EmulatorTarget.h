//===- EmulatorTarget.h - GPU kernels on this CPU, as a target --*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_EMULATOR_EMULATORTARGET_H
#define DRAWLOOM_CODEGEN_EMULATOR_EMULATORTARGET_H

#include "codegen/CompileTarget.h"

namespace drawloom::emulator {

/// The kernels of the NVIDIA target, run by the emulator. The environment's
/// DRAWLOOM_EMULATOR_SEED chooses in which order threads go on: 0, the default,
/// in that of their numbers, else at random. Each further run of a process then
/// has the next seed, so that --check-bits compares many orders.
const CompileTarget &target();

} // namespace drawloom::emulator

#endif // DRAWLOOM_CODEGEN_EMULATOR_EMULATORTARGET_H
