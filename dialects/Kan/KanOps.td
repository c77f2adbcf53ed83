// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_DIALECTS_KAN_KANOPS_TD
#define DRAWLOOM_DIALECTS_KAN_KANOPS_TD

include "dialects/Kan/KanActivations.td"

#endif // DRAWLOOM_DIALECTS_KAN_KANOPS_TD
