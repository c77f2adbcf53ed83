// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_DIALECTS_SLR_SLROPS_TD
#define DRAWLOOM_DIALECTS_SLR_SLROPS_TD

include "dialects/Interfaces/FloatTypes.td"
include "dialects/Interfaces/Interfaces.td"
include "dialects/Slr/SlrAdapters.td"
include "dialects/Slr/SlrDialect.td"
include "dialects/Slr/SlrSparse.td"
include "dialects/Slr/SlrTerms.td"
include "mlir/Dialect/Linalg/IR/LinalgInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Slr_LinearOp : Slr_Op<"linear", [
    Pure, IsolatedFromAbove, SingleBlock,
    DeclareOpInterfaceMethods<InterpretableOpInterface>,
    DeclareOpInterfaceMethods<AggregatedOpInterface, ["decomposeOperation"]>]> {
  let summary = "multiplies rows by structured matrices";
  let description = [{
    y_i = x W_i, where x is [T, K] and W_i, a term of K x N_i that the region
    yields, is composed of the leaves, which are the region's arguments. Several
    results share x.

    A low-rank adapter next to a matrix in PyTorch's layout, [out, in]:

    ```mlir
    func.func @adapted(%x: tensor<?x64xf32>, %w: tensor<48x64xf32>, %a: tensor<4x64xf32>, %b: tensor<48x4xf32>) -> tensor<?x48xf32> {
      %y = slr.linear %x(%w, %a, %b) {
      ^bb0(%w0: tensor<48x64xf32>, %a0: tensor<4x64xf32>, %b0: tensor<48x4xf32>):
        %0 = slr.dense %w0 : tensor<48x64xf32>
        %1 = slr.dense %a0 : tensor<4x64xf32>
        %2 = slr.dense %b0 : tensor<48x4xf32>
        %3 = slr.product %2, %1 : !slr.term<48x4>, !slr.term<4x64>
        %4 = slr.scale %3 by 2.0 : !slr.term<48x64>
        %5 = slr.sum %0, %4 : !slr.term<48x64>, !slr.term<48x64>
        %6 = slr.transpose %5 : !slr.term<48x64>
        slr.yield %6 : !slr.term<64x48>
      } : tensor<?x64xf32>, (tensor<48x64xf32>, tensor<4x64xf32>, tensor<48x4xf32>) -> tensor<?x48xf32>
      return %y : tensor<?x48xf32>
    }
    ```

    A term is either applied part by part, as written, or materialized first and
    then applied: whichever takes fewer operations for many rows. The choice
    depends on the term alone, so that programs for any number of rows give the
    same bits. `association` overrides it: `parts` or `matrix`.

    Gradients are those of the decomposition: exact, and computed only for the
    requested leaves.

    Constraints:
    1. x is [T, K] and each result [T, N] of one element type, where K and N are
       those of the term that is yielded.
    2. The region's arguments have the types of the leaves.
    3. Float leaves have the element type of x; scales and offsets of codes may be
       f32.
    4. `association` is `auto`, `parts` or `matrix`.
  }];
  let arguments = (ins Drawloom_FloatTensor:$x, Variadic<AnyRankedTensor>:$leaves,
                       DefaultValuedAttr<StrAttr, "\"auto\"">:$association);
  let results = (outs Variadic<Drawloom_FloatTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $x `(` $leaves `)` attr-dict-with-keyword $body `:` type($x) `,`
    functional-type($leaves, $results)
  }];
  let hasVerifier = 1;
}

def Slr_MaterializeOp : Slr_Op<"materialize", [
    Pure, IsolatedFromAbove, SingleBlock,
    DeclareOpInterfaceMethods<InterpretableOpInterface>,
    DeclareOpInterfaceMethods<AggregatedOpInterface, ["decomposeOperation"]>]> {
  let summary = "materializes structured matrices as tensors";
  let description = [{
    Returns the terms that the region yields, each as a tensor of K x N; used,
    for example, to merge an adapter into its matrix.

    Constraints:
    1. Each result has the extents of the term that is yielded.
    2. The region's arguments have the types of the leaves.
    3. Float leaves have the element type of the results; scales and offsets of
       codes may be f32.

    Example:
    ```mlir
    %m = slr.materialize(%a, %b) {
    ^bb0(%a0: tensor<64x4xf32>, %b0: tensor<4x48xf32>):
      %0 = slr.dense %a0 : tensor<64x4xf32>
      %1 = slr.dense %b0 : tensor<4x48xf32>
      %2 = slr.product %0, %1 : !slr.term<64x4>, !slr.term<4x48>
      slr.yield %2 : !slr.term<64x48>
    } : (tensor<64x4xf32>, tensor<4x48xf32>) -> tensor<64x48xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$leaves);
  let results = (outs Variadic<Drawloom_FloatTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` $leaves `)` attr-dict-with-keyword $body `:` functional-type($leaves, $results)
  }];
  let hasVerifier = 1;
}

def Slr_YieldOp : Slr_Op<"yield", [Pure, Terminator,
                                   ParentOneOf<["LinearOp", "MaterializeOp"]>]> {
  let summary = "the terms that rows are multiplied by";
  let arguments = (ins Variadic<Slr_Term>:$terms);
  let assemblyFormat = "attr-dict ($terms^ `:` type($terms))?";
}

#endif // DRAWLOOM_DIALECTS_SLR_SLROPS_TD
