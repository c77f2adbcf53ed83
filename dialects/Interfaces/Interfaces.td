// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_DIALECTS_INTERFACES_TD
#define DRAWLOOM_DIALECTS_INTERFACES_TD

include "mlir/IR/OpBase.td"

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let description = [{
    An op that knows its vector-Jacobian product. Upstream ops get theirs as
    external models (passes/Differentiate); an op that has no rule of its own
    but implements linalg's `AggregatedOpInterface` is decomposed and the parts
    are differentiated.

    The rule is written once and serves scalars (bodies of `linalg.generic`),
    vectors and tensors alike: build constants through `ScalarBuilder`.
  }];
  let cppNamespace = "::drawloom";
  let methods = [InterfaceMethod<[{
      Builds, at the insertion point of `builder`, the gradients of the operands
      for the given `cotangents` (one for each result; a null value is a zero
      cotangent, and at least one is not null).

      Returns one value for each operand, of the operand's type; a null value
      is a zero gradient. Gradients whose bit in `needed` is not set are ignored
      and should not be built. Must use only ops that are themselves
      differentiable where that makes sense, so that second derivatives work.
      Emits an error and fails where no gradient exists.
    }],
    "::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>", "buildVjp",
    (ins "::mlir::OpBuilder &":$builder,
         "::mlir::ValueRange":$cotangents,
         "const ::llvm::SmallBitVector &":$needed)>];
}

def InterpretableOpInterface : OpInterface<"InterpretableOpInterface"> {
  let description = [{
    An op that the float64 reference interpreter can execute. The
    implementation is the op's definition in plain C++ on doubles: slow, obvious
    and independent of every lowering, because it is what they are tested
    against. Ops with regions are executed by the interpreter itself.
  }];
  let cppNamespace = "::drawloom";
  let methods = [InterfaceMethod<[{
      Computes the results from the operands. Scalars are tensors of rank 0.
      Result shapes with dynamic extents follow from the operands. Emits an
      error and fails on values for which the op is not defined (an index out of
      range, say).
    }],
    "::llvm::LogicalResult", "interpret",
    (ins "::llvm::ArrayRef<::drawloom::HostTensor>":$operands,
         "::llvm::SmallVectorImpl<::drawloom::HostTensor> &":$results)>];
}

def RowwiseOpInterface : OpInterface<"RowwiseOpInterface"> {
  let description = [{
    An op that maps row r of its row operands to row r of each result, where rows
    are dimension 0. Such an op joins its neighbours' block program (see
    `fuse-rows`): it must also implement `TilingInterface`, with loop 0 over the
    rows, and have static result shapes. `linalg` ops say the same through their
    indexing maps and need no model.
  }];
  let cppNamespace = "::drawloom";
  let methods = [InterfaceMethod<[{
      Whether operand `operandNumber` carries the rows in dimension 0. The others
      are read whole by every row (tables, weights).
    }], "bool", "isRowOperand", (ins "unsigned":$operandNumber)>];
}

def BlockFusionOpInterface : OpInterface<"BlockFusionOpInterface"> {
  let description = [{
    An op with a block program of its own (`decomposeOperation`), which block
    programs that read its first result part by part may compute themselves
    instead. `decompose-graph` leaves it whole; `fuse-into-blocks` takes its
    structured form where that joins its readers, and decomposes it elsewhere.
  }];
  let cppNamespace = "::drawloom";
  let methods = [InterfaceMethod<[{
      The first result, said with structured ops, gathers, slices and changes of
      shape at the insertion point of `builder`.
    }],
    "::mlir::FailureOr<::mlir::Value>", "buildStructuredForm",
    (ins "::mlir::OpBuilder &":$builder)>];
}

#endif // DRAWLOOM_DIALECTS_INTERFACES_TD
