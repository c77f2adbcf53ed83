/*===- AbiIsC.c - the runtime's ABI in C ------------------------------------===
 *
 * Part of the Drawloom project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/

#include "drawloom/runtime/Abi.h"

void runSerially(void *context, DrawloomKernel kernel, void **arguments,
                 int64_t blocks);
void callProgram(DrawloomEntry entry, void **arguments, void *scratch);

/* The least that a host in C has to bring. */
void runSerially(void *context, DrawloomKernel kernel, void **arguments,
                 int64_t blocks) {
  kernel(arguments, 0, blocks, context);
}

void callProgram(DrawloomEntry entry, void **arguments, void *scratch) {
  DrawloomHost host;
  host.context = scratch;
  host.parallelFor = runSerially;
  entry(arguments, &host);
}
