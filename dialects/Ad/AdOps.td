// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_DIALECTS_AD_ADOPS_TD
#define DRAWLOOM_DIALECTS_AD_ADOPS_TD

include "dialects/Ad/AdDialect.td"
include "dialects/Interfaces/Interfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Ad_ValueAndGradOp : Ad_Op<"value_and_grad",
    [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "calls a function and returns the gradients of its loss";
  let description = [{
    Let `L, y_1, ..., y_k = f(x_0, ..., x_n)` with a rank-0 `L`. The op returns
    all results of `f` and, for each index `i` of `wrt` in the given order, the
    gradient `dL/dx_i`, which has the type of `x_i`. The other results `y_j` are
    returned unchanged; they do not contribute to gradients.

    A gradient is exact (reverse mode, no differences). At points where `f` has
    a kink, the dialect's README specifies which one-sided derivative is used.

    Constraints:
    1. the callee is a function with a body;
    2. the arguments have the types of the callee's arguments;
    3. `wrt` names at least one argument, each at most once, within range;
    4. each argument in `wrt` is a float or a ranked tensor of floats;
    5. the first result of the callee is a rank-0 float tensor or a float;
    6. the results are the callee's results, then the types of the `wrt`
       arguments.

    Example:
    ```mlir
    func.func @loss(%w: tensor<64x3xf32>, %x: tensor<8x64xf32>) -> tensor<f32> {
      %zero = arith.constant 0.0 : f32
      %empty = tensor.empty() : tensor<8x3xf32>
      %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x3xf32>)
          -> tensor<8x3xf32>
      %y = linalg.matmul ins(%x, %w : tensor<8x64xf32>, tensor<64x3xf32>)
          outs(%init : tensor<8x3xf32>) -> tensor<8x3xf32>
      %sum = tensor.empty() : tensor<f32>
      %start = linalg.fill ins(%zero : f32) outs(%sum : tensor<f32>)
          -> tensor<f32>
      %l = linalg.reduce { arith.addf } ins(%y : tensor<8x3xf32>)
          outs(%start : tensor<f32>) dimensions = [0, 1]
      return %l : tensor<f32>
    }

    func.func @step(%w: tensor<64x3xf32>, %x: tensor<8x64xf32>)
        -> (tensor<f32>, tensor<64x3xf32>) {
      %l, %dw = ad.value_and_grad @loss(%w, %x) wrt [0]
          : (tensor<64x3xf32>, tensor<8x64xf32>)
          -> (tensor<f32>, tensor<64x3xf32>)
      return %l, %dw : tensor<f32>, tensor<64x3xf32>
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$arguments,
                       DenseI64ArrayAttr:$wrt);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $callee `(` $arguments `)` `wrt` $wrt attr-dict
    `:` functional-type($arguments, $results)
  }];
}

def Ad_VjpOp : Ad_Op<"vjp", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "calls a function and multiplies cotangents by its Jacobian";
  let description = [{
    Let `y_1, ..., y_k = f(x_0, ..., x_n)`. Given one cotangent `g_j` for each
    result, of the result's type, the op returns all results of `f` and, for
    each index `i` of `wrt` in the given order, the vector-Jacobian product

        sum over j of  (dy_j / dx_i)^T g_j

    which has the type of `x_i`. `ad.value_and_grad` is the special case
    `g_1 = 1` and all others 0.

    Constraints:
    1. the callee is a function with a body;
    2. the arguments have the types of the callee's arguments;
    3. `wrt` names at least one argument, each at most once, within range;
    4. each argument in `wrt` is a float or a ranked tensor of floats;
    5. each result of the callee is a float or a ranked tensor of floats;
    6. there is one cotangent for each result of the callee, of its type;
    7. the results are the callee's results, then the types of the `wrt`
       arguments.

    The cotangents have the types of the first results, which are not repeated
    in the syntax.

    Example:
    ```mlir
    func.func @square(%x: tensor<8xf32>) -> tensor<8xf32> {
      %y = arith.mulf %x, %x : tensor<8xf32>
      return %y : tensor<8xf32>
    }

    func.func @pull_back(%x: tensor<8xf32>, %g: tensor<8xf32>)
        -> (tensor<8xf32>, tensor<8xf32>) {
      %y, %dx = ad.vjp @square(%x) cotangents(%g) wrt [0]
          : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
      return %y, %dx : tensor<8xf32>, tensor<8xf32>
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$arguments,
                       Variadic<AnyType>:$cotangents, DenseI64ArrayAttr:$wrt);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $callee `(` $arguments `)` `cotangents` `(` $cotangents `)` `wrt` $wrt
    attr-dict `:` functional-type($arguments, $results)
    custom<CotangentTypes>(ref($cotangents), type($cotangents),
                           ref(type($results)))
  }];
}

// Not pure: the link to `value` must persist until differentiation, even if
// nobody reads the result.
def Ad_SavedOp : Ad_Op<"saved", [AllTypesMatch<["value", "saved", "result"]>,
    DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "a value that an earlier call computed and saved";
  let description = [{
    `saved` holds the value of `value`, computed and passed on by an earlier
    call. Numerically, the result is `saved`; its derivatives, of any order, are
    those of the computation of `value`. A function that is differentiated can
    thus use what its forward pass saved, and start the backward pass there:
    `--ad-take-saved`, run after `--differentiate`, replaces `value` by `saved`,
    and the computation that only `value` needed becomes dead. If the two values
    differ, it is unspecified which one a program reads.

    Constraints:
    1. operands and result have one type, a float or a ranked tensor of floats.

    Example:
    ```mlir
    func.func private @f(%x: tensor<8xf32>, %kept: tensor<8xf32>)
        -> tensor<8xf32> {
      %e = math.exp %x : tensor<8xf32>
      %y = ad.saved %e as %kept : tensor<8xf32>
      return %y : tensor<8xf32>
    }

    func.func @pull_back(%x: tensor<8xf32>, %kept: tensor<8xf32>,
                         %g: tensor<8xf32>) -> tensor<8xf32> {
      %y, %dx = ad.vjp @f(%x, %kept) cotangents(%g) wrt [0]
          : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
      return %dx : tensor<8xf32>
    }
    ```
  }];
  let arguments = (ins AnyType:$value, AnyType:$saved);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$value `as` $saved attr-dict `:` type($result)";
  let hasVerifier = 1;
}

#endif // DRAWLOOM_DIALECTS_AD_ADOPS_TD
