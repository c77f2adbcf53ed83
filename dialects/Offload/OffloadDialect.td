// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_DIALECTS_OFFLOAD_OFFLOADDIALECT_TD
#define DRAWLOOM_DIALECTS_OFFLOAD_OFFLOADDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def Offload_Dialect : Dialect {
  let name = "offload";
  let summary = "values that leave memory and come back";
  let cppNamespace = "::drawloom::offload";
  let useDefaultTypePrinterParser = 1;
}

def Offload_RecordType : TypeDef<Offload_Dialect, "Record"> {
  let mnemonic = "record";
  let summary = "a tensor's bytes in a store";
  let parameters = (ins "::mlir::RankedTensorType":$tensor);
  let assemblyFormat = "`<` $tensor `>`";
  let genVerifyDecl = 1;
}

// Base class for the ops of this dialect.
class Offload_Op<string mnemonic, list<Trait> traits = []>
    : Op<Offload_Dialect, mnemonic, traits>;

#endif // DRAWLOOM_DIALECTS_OFFLOAD_OFFLOADDIALECT_TD
