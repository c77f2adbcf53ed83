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

/// Returns the target that runs the NVIDIA target's kernels in the emulator.
/// The environment variable DRAWLOOM_EMULATOR_SEED selects the order in which
/// threads are scheduled: 0, the default, is the order of their numbers; other
/// seeds are random orders. Each further run in a process uses the next seed,
/// so that --check-bits compares many orders.
const CompileTarget &target();

} // namespace drawloom::emulator

#endif // DRAWLOOM_CODEGEN_EMULATOR_EMULATORTARGET_H
