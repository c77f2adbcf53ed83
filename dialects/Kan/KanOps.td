// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_DIALECTS_KAN_KANOPS_TD
#define DRAWLOOM_DIALECTS_KAN_KANOPS_TD

include "dialects/Kan/KanActivations.td"
include "dialects/Kan/KanEdges.td"
include "dialects/Kan/KanEncodings.td"
include "mlir/IR/EnumAttr.td"

//===----------------------------------------------------------------------===//
// Rational activations
//===----------------------------------------------------------------------===//

def Kan_RationalForm : I32EnumAttr<"RationalForm", "denominator of a rational activation", [
    I32EnumAttrCase<"AbsTerms", 0, "abs_terms">,
    I32EnumAttrCase<"AbsSum", 1, "abs_sum">,
    I32EnumAttrCase<"AbsSumEps", 2, "abs_sum_eps">,
    I32EnumAttrCase<"AbsSumNoise", 3, "abs_sum_noise">,
    I32EnumAttrCase<"Unsafe", 4, "unsafe">]> {
  let cppNamespace = "::drawloom::kan";
}

def Kan_RationalOp : Kan_Op<"rational", [
    Pure, AllTypesMatch<["x", "y"]>, AggregatedOpInterface,
    DeclareOpInterfaceMethods<InterpretableOpInterface>]> {
  let summary = "group-rational activation with learnable coefficients";
  let description = [{
    y = P(x) / Q(x) for every element of x[..., D], where channel c (the last
    index) uses the coefficients of its group: row floor(c Ga / D) of the
    numerator table and row floor(c Gb / D) of the denominator table.

    P(x) = sum_{i=0..m} a_i x^i with `numerator`[Ga, m+1]. The denominator table
    has n columns, b_1 .. b_n, and Q depends on `form`:

    | form | Q(x) |
    |---|---|
    | abs_terms (default) | 1 + sum_j abs(b_j) abs(x)^j |
    | abs_sum | 1 + abs(sum_{j>=1} b_j x^j) |
    | abs_sum_eps | eps + abs(sum_{j>=0} b_j x^j): n+1 columns, b_0 first |
    | abs_sum_noise | as abs_sum; a_i is multiplied by the entry of `noise`, which has the numerator's type |
    | unsafe | 1 + sum_{j>=1} b_j x^j, which may vanish |

    The derivative of abs uses sign(0) = +1, for x and for b_j alike. For f16
    and bf16, values are computed in f32, whatever type the coefficients have,
    and the gradients of the coefficients accumulate in f32.

    Sources: Molina et al., Pade Activation Units, arXiv 1907.06732 (forms);
    Yang and Wang, Kolmogorov-Arnold Transformer, arXiv 2409.10594 (groups).

    1. x has at least one dimension, and the last one is static.
    2. Both tables have two static dimensions, at least one row and one column.
    3. Each number of groups (rows) divides D.
    4. One number of groups divides the other.
    5. The tables' element type is that of x, or f32 where x is f16 or bf16.
    6. `noise` is given for abs_sum_noise and only for it.
    7. `eps` is given only for abs_sum_eps (default 0.1) and is positive.

    Example:
    ```mlir
    %y = kan.rational %x, %a, %b form(abs_terms)
        : tensor<?x64xf32>, tensor<1x6xf32>, tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Drawloom_FloatTensor:$x, Drawloom_FloatTensor:$numerator,
      Drawloom_FloatTensor:$denominator, Optional<Drawloom_FloatTensor>:$noise,
      DefaultValuedAttr<Kan_RationalForm, "::drawloom::kan::RationalForm::AbsTerms">:$form,
      OptionalAttr<F64Attr>:$eps);
  let results = (outs Drawloom_FloatTensor:$y);
  let assemblyFormat = [{
    $x `,` $numerator `,` $denominator (`form` `(` $form^ `)`)? (`noise` `(` $noise^ `:` type($noise) `)`)?
    attr-dict `:` type($x) `,` type($numerator) `,` type($denominator)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>
    decomposeOperation(::mlir::OpBuilder &builder);
    double epsilon() { return getEps() ? getEps()->convertToDouble() : 0.1; }
  }];
}

#endif // DRAWLOOM_DIALECTS_KAN_KANOPS_TD
