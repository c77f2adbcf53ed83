// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_DIALECTS_OFFLOAD_OFFLOADOPS_TD
#define DRAWLOOM_DIALECTS_OFFLOAD_OFFLOADOPS_TD

include "dialects/Offload/OffloadDialect.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// A tensor, or, after bufferization, its memory.
def Offload_Value : AnyTypeOf<[AnyStaticShapeTensor, AnyStaticShapeMemRef]>;

// Transfers are not reordered.
class Offload_Transfer<string mnemonic, list<Trait> traits = []>
    : Offload_Op<mnemonic,
                 traits # [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]>;

def Offload_StoreOp : Offload_Transfer<"store"> {
  let summary = "puts a value into the store";
  let description = [{
    Copies the bytes of a value to the store. After the op, the memory of the
    value may be reused, whether or not the bytes have been written to a disk.

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
  let summary = "starts to read a record";
  let description = [{
    Announces that the value will be awaited soon: the store may start to read
    it, if it has memory for that. The op does not affect the values of a
    program.
  }];
  let arguments = (ins Offload_RecordType:$record);
  let assemblyFormat = "$record attr-dict `:` qualified(type($record))";
}

def Offload_AwaitOp : Offload_Transfer<"await", [DestinationStyleOpInterface]> {
  let summary = "the value of a record";
  let description = [{
    Waits until a record has been read and returns its value, in the memory of
    `destination`. A record may be awaited several times. If the value is lost,
    the program's call fails; it never continues with wrong bytes.
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
  let summary = "discards a record";
  let description = [{
    Frees the record's place in the store. Every record is dropped once, after
    its last `offload.await`.
  }];
  let arguments = (ins Offload_RecordType:$record);
  let assemblyFormat = "$record attr-dict `:` qualified(type($record))";
}

def Offload_AgainOp : Offload_Op<"again", [Pure, SameOperandsAndResultType]> {
  let summary = "the same value, for recomputation";
  let description = [{
    The result equals the operand, but is opaque to optimizations: an op on the
    result is not merged with the same op on the operand. A value that is
    recomputed instead of being kept is computed from operands passed through
    `offload.again`; `copy` distinguishes one recomputation from another.

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
