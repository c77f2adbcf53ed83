// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_PASSES_DIFFERENTIATE_PASSES_TD
#define DRAWLOOM_PASSES_DIFFERENTIATE_PASSES_TD

include "mlir/Pass/PassBase.td"

// Alphabetical. Every option has a sentence and a default.

#endif // DRAWLOOM_PASSES_DIFFERENTIATE_PASSES_TD
