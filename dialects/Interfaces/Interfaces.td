// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_DIALECTS_INTERFACES_TD
#define DRAWLOOM_DIALECTS_INTERFACES_TD

include "mlir/IR/OpBase.td"

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let description = [{
    An op that knows its vector-Jacobian product. Upstream ops implement this as
    external models (passes/Differentiate). An op that has no rule of its own
    but implements linalg's `AggregatedOpInterface` is decomposed and its parts
    are differentiated.

    The rule is written once for scalars (bodies of `linalg.generic`), vectors
    and tensors alike: build constants through `ScalarBuilder`.
  }];
  let cppNamespace = "::drawloom";
  let methods = [InterfaceMethod<[{
      Builds, at the insertion point of `builder`, the gradients of the operands
      for the given `cotangents` (one for each result; a null value is a zero
      cotangent, and at least one is not null).

      Returns one value for each operand, of the operand's type; a null value is
      a zero gradient. Gradients whose bit in `needed` is not set are ignored
      and should not be built. Where possible, the gradients should consist of
      ops that are differentiable themselves, so that second derivatives work.
      Emits an error and fails if no gradient exists.
    }],
    "::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>", "buildVjp",
    (ins "::mlir::OpBuilder &":$builder,
         "::mlir::ValueRange":$cotangents,
         "const ::llvm::SmallBitVector &":$needed)>];
}

def InterpretableOpInterface : OpInterface<"InterpretableOpInterface"> {
  let description = [{
    An op that the float64 reference interpreter can execute. The implementation
    defines the op in plain C++ on doubles: slow, obvious and independent of
    every lowering, because lowerings are tested against it. Ops with regions
    are executed by the interpreter itself.
  }];
  let cppNamespace = "::drawloom";
  let methods = [InterfaceMethod<[{
      Computes the results from the operands. Scalars are tensors of rank 0.
      Dynamic result extents follow from the operands. Emits an error and fails
      on values for which the op is undefined (such as an index out of range).
    }],
    "::llvm::LogicalResult", "interpret",
    (ins "::llvm::ArrayRef<::drawloom::HostTensor>":$operands,
         "::llvm::SmallVectorImpl<::drawloom::HostTensor> &":$results)>];
}

def RowwiseOpInterface : OpInterface<"RowwiseOpInterface"> {
  let description = [{
    An op that maps row r of its row operands to row r of each result, where
    rows are dimension 0. Such an op joins its neighbours' block program (see
    `fuse-rows`): it must also implement `TilingInterface`, with loop 0 over the
    rows, and have static result shapes. `linalg` ops express the same through
    their indexing maps and need not implement this interface.
  }];
  let cppNamespace = "::drawloom";
  let methods = [InterfaceMethod<[{
      Returns whether operand `operandNumber` carries the rows in dimension 0.
      An operand that does not, such as a table or weights, is read whole by
      every row.
    }], "bool", "isRowOperand", (ins "unsigned":$operandNumber)>];
}

def BlockFusionOpInterface : OpInterface<"BlockFusionOpInterface"> {
  let description = [{
    An op with a block program of its own (`decomposeOperation`), which may also
    be fused into block programs that read its first result part by part.
    `decompose-graph` keeps such an op; `fuse-into-blocks` uses its structured
    form if that is fused into its readers, and decomposes it otherwise.
  }];
  let cppNamespace = "::drawloom";
  let methods = [InterfaceMethod<[{
      Builds, at the insertion point of `builder`, the first result from
      structured ops, gathers, slices and reshapes.
    }],
    "::mlir::FailureOr<::mlir::Value>", "buildStructuredForm",
    (ins "::mlir::OpBuilder &":$builder)>];
}

#endif // DRAWLOOM_DIALECTS_INTERFACES_TD
