// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_DIALECTS_BLOCK_BLOCKOPS_TD
#define DRAWLOOM_DIALECTS_BLOCK_BLOCKOPS_TD

include "dialects/Block/BlockDialect.td"
include "dialects/Interfaces/Interfaces.td"

#endif // DRAWLOOM_DIALECTS_BLOCK_BLOCKOPS_TD
