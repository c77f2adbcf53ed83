// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_DIALECTS_AD_ADOPS_TD
#define DRAWLOOM_DIALECTS_AD_ADOPS_TD

include "dialects/Ad/AdDialect.td"
include "dialects/Interfaces/Interfaces.td"

#endif // DRAWLOOM_DIALECTS_AD_ADOPS_TD
