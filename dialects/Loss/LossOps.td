// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_DIALECTS_LOSS_LOSSOPS_TD
#define DRAWLOOM_DIALECTS_LOSS_LOSSOPS_TD

include "dialects/Interfaces/FloatTypes.td"
include "dialects/Interfaces/Interfaces.td"
include "dialects/Loss/LossDialect.td"
include "mlir/Dialect/Linalg/IR/LinalgInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// An op that decomposes into linalg on tensors, and can be interpreted.
class Loss_DecomposableOp<string mnemonic, list<Trait> traits = []>
    : Loss_Op<mnemonic, traits # [Pure, AggregatedOpInterface,
                                  DeclareOpInterfaceMethods<InterpretableOpInterface>]> {
  string decomposition = [{
    ::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>
    decomposeOperation(::mlir::OpBuilder &builder);
  }];
  let extraClassDeclaration = decomposition;
}

// A mean, over all elements, of some function of prediction - target.
class Loss_ElementwiseLoss<string mnemonic, list<Trait> traits = []>
    : Loss_DecomposableOp<mnemonic, traits # [SameTypeOperands]> {
  let results = (outs 0DTensorOf<[F32, F64]>:$loss);
  let assemblyFormat =
      "$prediction `,` $target attr-dict `:` type($prediction) `->` type($loss)";
  let hasVerifier = 1;
}

def Loss_HuberOp : Loss_ElementwiseLoss<"huber"> {
  let summary = "mean Huber loss";
  let description = [{
    loss = mean over all elements of h(prediction - target), where

    h(d) = d^2 / 2 where abs(d) <= delta, delta (abs(d) - delta / 2) elsewhere.

    f16 and bf16 operands are computed and accumulated in f32. A tensor without
    elements has loss 0 and zero gradients.

    1. `delta` is positive.
    2. The loss is f64 for f64 operands, else f32.

    Example:
    ```mlir
    %loss = loss.huber %y, %t {delta = 0.5} : tensor<?x3xf32> -> tensor<f32>
    ```
  }];
  let arguments = (ins Drawloom_FloatTensor:$prediction, Drawloom_FloatTensor:$target,
                       DefaultValuedAttr<F64Attr, "1.0">:$delta);
}

def Loss_MseOp : Loss_ElementwiseLoss<"mse"> {
  let summary = "mean squared error";
  let description = [{
    loss = mean over all elements of (prediction - target)^2.

    f16 and bf16 operands are computed and accumulated in f32. A tensor without
    elements has loss 0 and zero gradients.

    1. The loss is f64 for f64 operands, else f32.

    Example:
    ```mlir
    %loss = loss.mse %y, %t : tensor<?x3xf32> -> tensor<f32>
    ```
  }];
  let arguments = (ins Drawloom_FloatTensor:$prediction, Drawloom_FloatTensor:$target);
}

// A shape-preserving function of rows (all dimensions except the last).
class Loss_RowOp<string mnemonic>
    : Loss_DecomposableOp<mnemonic, [SameOperandsAndResultType,
                                     DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let arguments = (ins Drawloom_FloatTensor:$x);
  let results = (outs Drawloom_FloatTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($y)";
  let hasVerifier = 1;
}

def Loss_LogSoftmaxOp : Loss_RowOp<"log_softmax"> {
  let summary = "logarithm of the softmax over the last dimension";
  let description = [{
    y[r, c] = x[r, c] - m_r - log sum_k exp(x[r, k] - m_r) with m_r = max_k x[r,
    k], where r stands for all dimensions except the last. f16 and bf16 are
    computed in f32.

    1. x has at least one dimension.

    Example:
    ```mlir
    %y = loss.log_softmax %x : tensor<?x10xf32>
    ```
  }];
}

def Loss_SoftmaxOp : Loss_RowOp<"softmax"> {
  let summary = "softmax over the last dimension";
  let description = [{
    y[r, c] = exp(x[r, c] - m_r) / sum_k exp(x[r, k] - m_r) with m_r = max_k
    x[r, k], where r stands for all dimensions except the last. f16 and bf16 are
    computed in f32.

    1. x has at least one dimension.

    Example:
    ```mlir
    %p = loss.softmax %x : tensor<?x10xf32>
    ```
  }];
}

def Loss_SoftmaxCrossEntropyOp : Loss_DecomposableOp<"softmax_cross_entropy"> {
  let summary = "mean cross-entropy of the softmax of rows of logits";
  let description = [{
    loss = mean over rows n of - sum_c t[n, c] log_softmax(logits)[n, c], where
    t is given (probabilities, N x C) or has a single 1 in column labels[n]
    (integer class labels, N). f16 and bf16 are computed and accumulated in f32.

    A class label outside [0, C) denotes no class: its row contributes 0 to the
    mean's sum and to gradients. If there are no rows, the loss is 0 and
    gradients are zero.

    1. The logits have two dimensions, N x C.
    2. Class labels have shape N, probabilities the logits' type.
    3. The loss is f64 for f64 logits, else f32.

    Example:
    ```mlir
    %loss = loss.softmax_cross_entropy %x, %labels
        : tensor<?x10xf32>, tensor<?xi32> -> tensor<f32>
    ```
  }];
  let arguments = (ins Drawloom_FloatTensor:$logits,
                       RankedTensorOf<[AnySignlessIntegerOrIndex, F16, BF16, F32, F64]>:$labels);
  let results = (outs 0DTensorOf<[F32, F64]>:$loss);
  let assemblyFormat =
      "$logits `,` $labels attr-dict `:` type($logits) `,` type($labels) `->` type($loss)";
  let hasVerifier = 1;
}

#endif // DRAWLOOM_DIALECTS_LOSS_LOSSOPS_TD
