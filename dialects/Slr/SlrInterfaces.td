// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_DIALECTS_SLR_SLRINTERFACES_TD
#define DRAWLOOM_DIALECTS_SLR_SLRINTERFACES_TD

include "mlir/IR/OpBase.td"

def Slr_TermOpInterface : OpInterface<"TermOpInterface"> {
  let description = [{
    An op that gives a term: a matrix of K x N that is known by its structure.
  }];
  let cppNamespace = "::drawloom::slr";
  let methods = [
    InterfaceMethod<[{
        The product of what `x` has along dimension `dim` with the matrix, or with
        its transpose: that dimension of K elements (or N) becomes one of N (or K).
      }],
      "::mlir::Value", "apply",
      (ins "::drawloom::slr::TermBuilder &":$b, "::mlir::Value":$x,
           "int64_t":$dim, "bool":$transposed)>,
    InterfaceMethod<[{
        The matrix, a tensor of K x N. By default, the rows of the identity times
        the matrix.
      }],
      "::mlir::Value", "materialize", (ins "::drawloom::slr::TermBuilder &":$b),
      /*methodBody=*/"", /*defaultImplementation=*/[{
        return ::drawloom::slr::rowsOfIdentity($_op, b);
      }]>,
    InterfaceMethod<[{
        Multiplications and additions of `apply` to one row.
      }],
      "int64_t", "operationsOfRow", (ins)>,
    InterfaceMethod<[{
        The matrix in double precision: what everything else is compared with.
      }],
      "::drawloom::HostTensor", "toDense",
      (ins "::drawloom::slr::HostTerms &":$values)>];
}

#endif // DRAWLOOM_DIALECTS_SLR_SLRINTERFACES_TD
