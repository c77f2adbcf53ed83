// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_DIALECTS_BLOCK_BLOCKDIALECT_TD
#define DRAWLOOM_DIALECTS_BLOCK_BLOCKDIALECT_TD

include "mlir/IR/OpBase.td"

def Block_Dialect : Dialect {
  let name = "block";
  let summary = "ops of block programs that upstream dialects lack";
  let cppNamespace = "::drawloom::block";
  // Dialects whose ops the decompositions create.
  let hasCanonicalizer = 1;
}

// Base class for the ops of this dialect.
class Block_Op<string mnemonic, list<Trait> traits = []>
    : Op<Block_Dialect, mnemonic, traits>;

#endif // DRAWLOOM_DIALECTS_BLOCK_BLOCKDIALECT_TD
