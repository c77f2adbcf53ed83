// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_DIALECTS_OFFLOAD_OFFLOADOPS_TD
#define DRAWLOOM_DIALECTS_OFFLOAD_OFFLOADOPS_TD

include "dialects/Offload/OffloadDialect.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// A tensor, or behind bufferization its memory.
def Offload_Value : AnyTypeOf<[AnyStaticShapeTensor, AnyStaticShapeMemRef]>;

// Transfers stay in order.
class Offload_Transfer<string mnemonic, list<Trait> traits = []>
    : Offload_Op<mnemonic,
                 traits # [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]>;

def Offload_StoreOp : Offload_Transfer<"store"> {
  let summary = "puts a value into the store";
  let description = [{
    Gives the store the bytes of a value. When the op is done these are the
    store's: the memory of the value may be used for another one, whether the
    bytes have come to a disk or not.

    Example:
    ```mlir
    func.func @keep(%x: tensor<8xf32>) -> tensor<8xf32> {
      %r = offload.store %x : tensor<8xf32> -> !offload.record<tensor<8xf32>>
      offload.load %r : !offload.record<tensor<8xf32>>
      %e = tensor.empty() : tensor<8xf32>
      %y = offload.await %r into %e
          : !offload.record<tensor<8xf32>>, tensor<8xf32> -> tensor<8xf32>
      offload.drop %r : !offload.record<tensor<8xf32>>
      return %y : tensor<8xf32>
    }
    ```
  }];
  let arguments = (ins Offload_Value:$value);
  let results = (outs Offload_RecordType:$record);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` qualified(type($record))";
  let hasVerifier = 1;
}

def Offload_LoadOp : Offload_Transfer<"load"> {
  let summary = "begins to read a record";
  let description = [{
    Says that the value will be awaited soon: the store may begin to read it,
    where it has memory for that. The values of a program do not depend on it.
  }];
  let arguments = (ins Offload_RecordType:$record);
  let assemblyFormat = "$record attr-dict `:` qualified(type($record))";
}

def Offload_AwaitOp : Offload_Transfer<"await", [DestinationStyleOpInterface]> {
  let summary = "the value of a record";
  let description = [{
    Waits until a record is here and gives its value, in the memory of
    `destination`. A record may be awaited several times. Where the value cannot
    be had any more, the program's call fails; it never goes on with other bytes.
  }];
  let arguments = (ins Offload_RecordType:$record, Offload_Value:$destination);
  let results = (outs Optional<AnyStaticShapeTensor>:$value);
  let assemblyFormat = [{
    $record `into` $destination attr-dict
    `:` qualified(type($record)) `,` type($destination) (`->` type($value)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return getDestinationMutable();
    }
  }];
  let hasVerifier = 1;
}

def Offload_DropOp : Offload_Transfer<"drop"> {
  let summary = "ends a record";
  let description = [{
    The record's place in the store is free for others. Every record is dropped
    once, behind its last `offload.await`.
  }];
  let arguments = (ins Offload_RecordType:$record);
  let assemblyFormat = "$record attr-dict `:` qualified(type($record))";
}

def Offload_AgainOp : Offload_Op<"again", [Pure, SameOperandsAndResultType]> {
  let summary = "the same value, for what is computed once more";
  let description = [{
    Is its operand. Nothing sees through it: an op on the result is not merged
    with the same op on the operand. A value that is computed a second time, in
    place of being kept, is computed from operands behind `offload.again`; `copy`
    tells one computation from the other.

    Example:
    ```mlir
    func.func @twice(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
      %a = math.exp %x : tensor<8xf32>
      %same = offload.again %x copy 1 : tensor<8xf32>
      %b = math.exp %same : tensor<8xf32>
      return %a, %b : tensor<8xf32>, tensor<8xf32>
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$value, I64Attr:$copy);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$value `copy` $copy attr-dict `:` type($value)";
}

#endif // DRAWLOOM_DIALECTS_OFFLOAD_OFFLOADOPS_TD
