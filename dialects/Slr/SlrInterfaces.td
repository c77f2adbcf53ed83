// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_DIALECTS_SLR_SLRINTERFACES_TD
#define DRAWLOOM_DIALECTS_SLR_SLRINTERFACES_TD

include "mlir/IR/OpBase.td"

def Slr_TermOpInterface : OpInterface<"TermOpInterface"> {
  let description = [{
    An op that makes a term, a structured matrix of K x N.
  }];
  let cppNamespace = "::drawloom::slr";
  let methods = [
    InterfaceMethod<[{
        Multiplies `x` along dimension `dim` by the matrix, or by its transpose:
        a dimension of K (or N) elements becomes one of N (or K).
      }],
      "::mlir::Value", "apply",
      (ins "::drawloom::slr::TermBuilder &":$b, "::mlir::Value":$x,
           "int64_t":$dim, "bool":$transposed)>,
    InterfaceMethod<[{
        Returns the matrix, a tensor of K x N. By default, multiplies the rows
        of the identity by the matrix.
      }],
      "::mlir::Value", "materialize", (ins "::drawloom::slr::TermBuilder &":$b),
      /*methodBody=*/"", /*defaultImplementation=*/[{
        return ::drawloom::slr::rowsOfIdentity($_op, b);
      }]>,
    InterfaceMethod<[{
        Returns the multiplications and additions that `apply` takes for one
        row.
      }],
      "int64_t", "operationsOfRow", (ins)>,
    InterfaceMethod<[{
        Returns the matrix in double precision, the reference for tests.
      }],
      "::drawloom::HostTensor", "toDense",
      (ins "::drawloom::slr::HostTerms &":$values)>];
}

#endif // DRAWLOOM_DIALECTS_SLR_SLRINTERFACES_TD
