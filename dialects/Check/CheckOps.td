// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_DIALECTS_CHECK_CHECKOPS_TD
#define DRAWLOOM_DIALECTS_CHECK_CHECKOPS_TD

include "dialects/Check/CheckDialect.td"
include "dialects/Interfaces/Interfaces.td"
include "mlir/IR/SymbolInterfaces.td"

def Check_FloatValue : AnyTypeOf<[AnyFloat, RankedTensorOf<[AnyFloat]>]>;
def Check_Value : AnyTypeOf<[AnyFloat, AnySignlessIntegerOrIndex,
    RankedTensorOf<[AnyFloat, AnySignlessIntegerOrIndex]>]>;

def Check_CloseOp : Check_Op<"close"> {
  let summary = "two float values agree within a tolerance";
  let description = [{
    Fails unless, for every element,

    ```
    |actual - expected| <= atol + rtol * |expected|
    ```

    Infinities agree with infinities of the same sign. A NaN on either side
    fails, unless `equal_nan` is set and both sides are NaN.

    `rtol` and `atol` default to the accuracy that the coarser of the two
    element types can represent after a computation with float32 accumulation;
    see the dialect's rationale:

    | type | rtol  | atol  |
    |------|-------|-------|
    | f64  | 1e-9  | 1e-12 |
    | f32  | 1e-5  | 1e-6  |
    | f16  | 5e-3  | 1e-4  |
    | bf16 | 1.6e-2| 1e-3  |

    A failure is reported at the op's location, with the first element that
    differs, both its values, the number of such elements and the largest
    difference.

    Constraints:
    1. The shapes are compatible.
    2. `rtol` and `atol` are finite and not negative.
    3. An element type without a default tolerance needs both.

    Example:

    ```mlir
    func.func @one_and_one() {
      %one = arith.constant dense<1.0> : tensor<4xf32>
      %two = arith.constant dense<2.0> : tensor<4xf32>
      %sum = arith.addf %one, %one : tensor<4xf32>
      check.close %sum, %two {rtol = 1.0e-6, atol = 0.0} : tensor<4xf32>
      return
    }
    ```
  }];
  let arguments = (ins Check_FloatValue:$actual, Check_FloatValue:$expected,
      OptionalAttr<F64Attr>:$rtol, OptionalAttr<F64Attr>:$atol,
      UnitAttr:$equal_nan);
  let assemblyFormat = [{
    $actual `,` $expected attr-dict `:`
    custom<OneOrTwoTypes>(type($actual), type($expected))
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the attributes, or the defaults of the coarser element type.
    ::drawloom::Tolerance getTolerance();
  }];
}

def Check_EqualBitsOp : Check_Op<"equal_bits", [
    PredOpTrait<"actual and expected must have the same element type",
      CPred<"::mlir::getElementTypeOrSelf($actual) == "
            "::mlir::getElementTypeOrSelf($expected)">>]> {
  let summary = "two values are the same, bit for bit";
  let description = [{
    Fails unless every element of `actual` has the same bits as that of
    `expected`: -0.0 and +0.0 differ. All NaNs count as one value, because their
    sign and payload differ between processors.

    Constraints:
    1. The element types are the same.
    2. The shapes are compatible.

    Example:

    ```mlir
    func.func @shifts() {
      %four = arith.constant 4 : i32
      %one = arith.constant 1 : i32
      %eight = arith.constant 8 : i32
      %shifted = arith.shli %four, %one : i32
      check.equal_bits %shifted, %eight : i32
      return
    }
    ```
  }];
  let arguments = (ins Check_Value:$actual, Check_Value:$expected);
  let assemblyFormat = [{
    $actual `,` $expected attr-dict `:`
    custom<OneOrTwoTypes>(type($actual), type($expected))
  }];
  let hasVerifier = 1;
}

def Check_GradientOp : Check_Op<"gradient",
    [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a function's gradients agree with differences";
  let description = [{
    Differentiates the callee, as `ad.vjp` does, and compares the gradients of
    its arguments `wrt` with central differences of the callee, both computed in
    float64. With `order` 2, the default, the gradients are differentiated in
    turn, with respect to those arguments and the cotangents, and compared with
    differences of the gradients.

    Inputs are drawn with the given seed, uniformly from [low, high], which is
    [-1, 1] if there is no `in`. The callee's argument attributes `check.range`
    and `check.shape` override this: a range of a single number fixes an input.
    Choose ranges that avoid kinks and poles. Cotangents are drawn, too. Of a
    large tensor, about 40 evenly spread elements are checked.

    The tolerance is determined automatically. A difference quotient is computed
    with two steps, 2^-10 of the input's size and half as much, and the two are
    combined to a value of fourth order. A gradient may differ from it by at
    most the amount by which the smaller step changed the quotient, plus the
    possible effect of rounding of the function's values. If that tolerance
    exceeds a thousandth of the derivative, the check fails as well, because the
    differences are then not conclusive.

    Example:

    ```mlir
    func.func private @squared(%x: tensor<5xf64>) -> tensor<5xf64> {
      %y = arith.mulf %x, %x : tensor<5xf64>
      return %y : tensor<5xf64>
    }

    func.func @gradients() {
      check.gradient @squared wrt [0] in [-2.0, 2.0]
      return
    }
    ```

    Constraints:
    1. The callee is a function with a body.
    2. `wrt` names at least one argument, each at most once, within range.
    3. The arguments in `wrt` and all results are floats or ranked tensors of
       floats.
    4. `in` has two finite numbers, the first not above the second.
    5. `order` is 1 or 2.
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, DenseI64ArrayAttr:$wrt,
      OptionalAttr<DenseF64ArrayAttr>:$range,
      DefaultValuedAttr<I64Attr, "2">:$order,
      DefaultValuedAttr<I64Attr, "1">:$seed);
  let assemblyFormat = "$callee `wrt` $wrt (`in` $range^)? attr-dict";
  let hasVerifier = 1;
}

#endif // DRAWLOOM_DIALECTS_CHECK_CHECKOPS_TD
