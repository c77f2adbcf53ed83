// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fixed activations. A new one is a `def` here and, in KanActivations.cpp, two
// short methods:
//
//   expand      the formula as IR; differentiation, fusion and code generation
//               need nothing else
//   evaluate    the formula on a double, which the others are tested against
//
// Where the derivative of the formula would overflow, lose digits or keep a
// comparison from the forward pass, derive the `def` from Kan_ActivationWithDerivative and add
//
//   derivative  the derivative as IR, made of ops that have one themselves

#ifndef DRAWLOOM_DIALECTS_KAN_KANACTIVATIONS_TD
#define DRAWLOOM_DIALECTS_KAN_KANACTIVATIONS_TD

include "dialects/Interfaces/FloatTypes.td"
include "dialects/Interfaces/Interfaces.td"
include "dialects/Kan/KanDialect.td"
include "mlir/Dialect/Linalg/IR/LinalgInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// The code that tablegen adds to the class of every activation.
class Kan_ActivationCode {
  string declaration = [{
    ::mlir::Value expand(::drawloom::ScalarBuilder &b, ::mlir::Value x);
    double evaluate(double x);
    ::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>
    decomposeOperation(::mlir::OpBuilder &builder);
  }];
  string definition = [{
    ::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>
    $cppClass::decomposeOperation(::mlir::OpBuilder &builder) {
      return decomposeActivation(*this, builder);
    }
    ::llvm::LogicalResult $cppClass::interpret(
        ::llvm::ArrayRef<::drawloom::HostTensor> operands,
        ::llvm::SmallVectorImpl<::drawloom::HostTensor> &results) {
      return interpretActivation(*this, operands, results);
    }
  }];
}

// A function of one float, applied to every element of a scalar, vector or
// tensor. `parameters` are attributes.
class Kan_Activation<string mnemonic, dag parameters = (ins), list<Trait> traits = []>
    : Kan_Op<mnemonic, traits # [
        Pure, SameOperandsAndResultType, AggregatedOpInterface,
        DeclareOpInterfaceMethods<InterpretableOpInterface>] # ElementwiseMappable.traits> {
  let arguments = !con((ins Drawloom_FloatLike:$x), parameters);
  let results = (outs Drawloom_FloatLike:$y);
  let assemblyFormat = "$x attr-dict `:` type($y)";
  let extraClassDeclaration = Kan_ActivationCode<>.declaration;
  let extraClassDefinition = Kan_ActivationCode<>.definition;
}

// An activation that defines its own derivative.
class Kan_ActivationWithDerivative<string mnemonic, dag parameters = (ins)>
    : Kan_Activation<mnemonic, parameters,
                     [DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let extraClassDeclaration = Kan_ActivationCode<>.declaration # [{
    ::mlir::Value derivative(::drawloom::ScalarBuilder &b, ::mlir::Value x);
  }];
  let extraClassDefinition = Kan_ActivationCode<>.definition # [{
    ::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>> $cppClass::buildVjp(
        ::mlir::OpBuilder &builder, ::mlir::ValueRange cotangents,
        const ::llvm::SmallBitVector &needed) {
      return differentiateActivation(*this, builder, cotangents.front());
    }
  }];
}

def Kan_CospiOp : Kan_ActivationWithDerivative<"cospi"> {
  let summary = "cos(pi x), accurate for every x";
  let description = [{
    y = cos(pi x). The argument is reduced exactly, r = x - 2 roundeven(x / 2),
    so that large arguments lose no accuracy; infinities and NaN give NaN.

    Example:
    ```mlir
    %y = kan.cospi %x : tensor<8x64xf32>
    ```
  }];
}

def Kan_EluOp : Kan_ActivationWithDerivative<"elu",
    (ins DefaultValuedAttr<F64Attr, "1.0">:$alpha)> {
  let summary = "x where x > 0, alpha (exp(x) - 1) elsewhere";
  let description = [{
    y = x where x > 0, alpha (exp(x) - 1) elsewhere. The exponential is taken of
    min(x, 0), which cannot overflow, and as expm1, which loses no digits near
    0. The derivative at 0 is `alpha`, the second derivative there 0. NaN gives
    NaN. Source: Clevert, Unterthiner, Hochreiter, arXiv 1511.07289.

    Example:
    ```mlir
    %y = kan.elu %x {alpha = 0.5} : tensor<8x64xf32>
    ```
  }];
}

def Kan_GeluApproximation : StringBasedAttr<
    And<[CPred<"::llvm::isa<::mlir::StringAttr>($_self)">,
         CPred<"::llvm::is_contained({\"none\", \"tanh\"}, "
               "::llvm::cast<::mlir::StringAttr>($_self).getValue())">]>,
    "\"none\" or \"tanh\"">;

def Kan_GeluOp : Kan_Activation<"gelu",
    (ins DefaultValuedAttr<Kan_GeluApproximation, "\"none\"">:$approximate)> {
  let summary = "Gaussian error linear unit";
  let description = [{
    y = x Phi(x), where Phi is the distribution function of the standard normal:

    | approximate | y |
    |---|---|
    | "none" (default) | x/2 (1 + erf(x / sqrt(2))) |
    | "tanh" | x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) |

    Example:
    ```mlir
    %y = kan.gelu %x {approximate = "tanh"} : tensor<8x64xf32>
    ```
  }];
}

def Kan_LeakyReluOp : Kan_ActivationWithDerivative<"leaky_relu",
    (ins DefaultValuedAttr<F64Attr, "0.01">:$slope)> {
  let summary = "x where x > 0, slope x elsewhere";
  let description = [{
    y = x where x > 0, slope x elsewhere. The derivative at 0 is `slope`. NaN
    gives NaN.

    Example:
    ```mlir
    %y = kan.leaky_relu %x {slope = 0.2} : tensor<8x64xf32>
    ```
  }];
}

def Kan_ReluOp : Kan_ActivationWithDerivative<"relu"> {
  let summary = "x where x > 0, 0 elsewhere";
  let description = [{
    y = x where x > 0, 0 elsewhere. The derivative at 0 is 0. NaN gives NaN.

    Example:
    ```mlir
    %y = kan.relu %x : tensor<8x64xf32>
    ```
  }];
}

def Kan_SigmoidOp : Kan_ActivationWithDerivative<"sigmoid"> {
  let summary = "logistic function";
  let description = [{
    y = 1 / (1 + exp(-x)), computed from exp(-|x|), which cannot overflow.

    Example:
    ```mlir
    %y = kan.sigmoid %x : tensor<8x64xf32>
    ```
  }];
}

def Kan_SiluOp : Kan_ActivationWithDerivative<"silu"> {
  let summary = "x sigmoid(x), also called swish";
  let description = [{
    y = x / (1 + exp(-x)).

    Example:
    ```mlir
    %y = kan.silu %x : tensor<8x64xf32>
    ```
  }];
}

def Kan_SineOp : Kan_Activation<"sine", (ins DefaultValuedAttr<F64Attr, "1.0">:$omega)> {
  let summary = "sin(omega x)";
  let description = [{
    y = sin(omega x), computed as sin(pi z) with z = (omega / pi) x.

    Example:
    ```mlir
    %y = kan.sine %x {omega = 30.0} : tensor<8x64xf32>
    ```
  }];
}

def Kan_SinpiOp : Kan_ActivationWithDerivative<"sinpi"> {
  let summary = "sin(pi x), accurate for every x";
  let description = [{
    y = sin(pi x). The argument is reduced exactly, r = x - 2 roundeven(x / 2),
    so that large arguments lose no accuracy; infinities and NaN give NaN.

    Example:
    ```mlir
    %y = kan.sinpi %x : tensor<8x64xf32>
    ```
  }];
}

def Kan_SnakeOp : Kan_Activation<"snake", (ins DefaultValuedAttr<F64Attr, "1.0">:$alpha)> {
  let summary = "x + sin(alpha x)^2 / alpha, for periodic functions";
  let description = [{
    y = x + sin(alpha x)^2 / alpha, whose slope 1 + sin(2 alpha x) is never
    negative. The sine is computed like `kan.sine`: NaN, infinities, and values
    of x whose product with alpha overflows give NaN. Source: Ziyin, Hartwig,
    Ueda, NeurIPS 2020.

    1. `alpha` is positive.

    Example:
    ```mlir
    %y = kan.snake %x {alpha = 0.5} : tensor<8x64xf32>
    ```
  }];
  let hasVerifier = 1;
}

def Kan_SoftplusOp : Kan_ActivationWithDerivative<"softplus",
    (ins DefaultValuedAttr<F64Attr, "1.0">:$beta)> {
  let summary = "smooth version of relu";
  let description = [{
    y = log(1 + exp(beta x)) / beta, computed as
    (max(z, 0) + log1p(exp(-|z|))) / beta with z = beta x.

    1. `beta` is positive.

    Example:
    ```mlir
    %y = kan.softplus %x {beta = 2.0} : tensor<8x64xf32>
    ```
  }];
  let hasVerifier = 1;
}

def Kan_SquareOp : Kan_Activation<"square"> {
  let summary = "x^2";
  let description = [{
    y = x^2.

    Example:
    ```mlir
    %y = kan.square %x : tensor<8x64xf32>
    ```
  }];
}

def Kan_TanhOp : Kan_Activation<"tanh"> {
  let summary = "hyperbolic tangent";
  let description = [{
    y = tanh(x).

    Example:
    ```mlir
    %y = kan.tanh %x : tensor<8x64xf32>
    ```
  }];
}

#endif // DRAWLOOM_DIALECTS_KAN_KANACTIVATIONS_TD
