// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_DIALECTS_OPT_OPTOPS_TD
#define DRAWLOOM_DIALECTS_OPT_OPTOPS_TD

include "dialects/Interfaces/FloatTypes.td"
include "dialects/Interfaces/Interfaces.td"
include "dialects/Opt/OptDialect.td"
include "mlir/Dialect/Linalg/IR/LinalgInterfaces.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// A learning rate: a float, or a tensor of rank 0.
def Opt_Rate : AnyTypeOf<[F32, F64, 0DTensorOf<[F32, F64]>],
                         "f32, f64 or a tensor of one of them of rank 0">;

// The number of the current step, starting at 1: an integer, or a tensor of
// rank 0.
def Opt_Step : AnyTypeOf<[I32, I64, Index, 0DTensorOf<[I32, I64, Index]>],
                         "i32, i64, index or a tensor of one of them of rank 0">;

// One update of many parameter tensors.
class Opt_Optimizer<string mnemonic, list<Trait> traits = []>
    : Opt_Op<mnemonic, traits # [Pure, AggregatedOpInterface,
                                 DeclareOpInterfaceMethods<InterpretableOpInterface>]> {
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>
    decomposeOperation(::mlir::OpBuilder &builder);
  }];
}

def Opt_AdamWOp : Opt_Optimizer<"adamw", [SameVariadicOperandSize, SameVariadicResultSize]> {
  let summary = "Adam with decoupled weight decay";
  let description = [{
    Updates every parameter p with gradient g and moments m, v, like
    torch.optim.AdamW. With the step number t = 1, 2, ... and, for tensor i, the
    rate r = lr * lr_scale[i]:

    ```
    p' = p (1 - r weight_decay[i])
    m' = m + (1 - beta1) (g - m)
    v' = beta2 v + (1 - beta2) g^2
    p'' = p' - r / (1 - beta1^t) * m' / (sqrt(v') / sqrt(1 - beta2^t) + epsilon)
    ```

    The results are all p'', all m', all v'. `lr_scale` and `weight_decay` have
    one entry for each parameter or one for all; if absent, they are 1 and 0.01.
    With weight decay 0 this is Adam. Bias corrections are computed in f64, the
    update in f32, or in f64 for f64 parameters.

    1. There is one gradient, first and second moment for each parameter.
    2. A gradient has its parameter's type; moments have its shape, and its
       element type or f32 where that is f16 or bf16.
    3. `lr_scale` and `weight_decay` have one entry, or one for each parameter.
    4. 0 <= beta1 < 1, 0 <= beta2 < 1, epsilon > 0.

    Types of moments are written only if they differ: `: tensor<64xbf16> moments
    tensor<64xf32>`.

    Example:
    ```mlir
    %p:2, %m:2, %v:2 = opt.adamw params(%w, %b) grads(%dw, %db) first(%mw, %mb) second(%vw, %vb)
        lr(%rate : f32) step(%t : i64) weight_decay [0.01, 0.0]
        : tensor<64x64xf32>, tensor<64xf32>
    ```
  }];
  let arguments = (ins Variadic<Drawloom_FloatTensor>:$params, Variadic<Drawloom_FloatTensor>:$grads,
      Variadic<Drawloom_FloatTensor>:$first, Variadic<Drawloom_FloatTensor>:$second,
      Opt_Rate:$lr, Opt_Step:$step,
      DefaultValuedAttr<F64Attr, "0.9">:$beta1, DefaultValuedAttr<F64Attr, "0.999">:$beta2,
      DefaultValuedAttr<F64Attr, "1e-8">:$epsilon,
      OptionalAttr<DenseF64ArrayAttr>:$weight_decay, OptionalAttr<DenseF64ArrayAttr>:$lr_scale);
  let results = (outs Variadic<Drawloom_FloatTensor>:$new_params,
      Variadic<Drawloom_FloatTensor>:$new_first, Variadic<Drawloom_FloatTensor>:$new_second);
  let assemblyFormat = [{
    `params` `(` $params `)` `grads` `(` $grads `)` `first` `(` $first `)` `second` `(` $second `)`
    `lr` `(` $lr `:` type($lr) `)` `step` `(` $step `:` type($step) `)`
    (`weight_decay` $weight_decay^)? (`lr_scale` $lr_scale^)? attr-dict `:`
    custom<MomentTypes>(type($params), type($grads), type($first), type($second),
                        type($new_params), type($new_first), type($new_second))
  }];
}

def Opt_SgdOp : Opt_Optimizer<"sgd", [AttrSizedOperandSegments, AttrSizedResultSegments]> {
  let summary = "stochastic gradient descent with momentum";
  let description = [{
    Updates every parameter p with gradient g and momentum buffer m, like
    torch.optim.SGD. For tensor i, with the rate r = lr * lr_scale[i]:

    ```
    g' = g + weight_decay[i] p
    m' = momentum m + (1 - dampening) g'      (in step 1: m' = g')
    d  = g' without buffers, g' + momentum m' with nesterov, else m'
    p' = p - r d
    ```

    The results are all p', then all m'. Buffers start at zero. `lr_scale` and
    `weight_decay` have one entry for each parameter or one for all; if absent,
    they are 1 and 0. f16 and bf16 are computed in f32.

    1. There is one gradient and, if `momentum` is not 0, one buffer for each
       parameter; without momentum there are no buffers.
    2. A gradient has its parameter's type; a buffer has its shape, and its
       element type or f32 where that is f16 or bf16.
    3. `lr_scale` and `weight_decay` have one entry, or one for each parameter.
    4. 0 <= momentum; `nesterov` needs momentum and no dampening.
    5. The number of the step is given if, and only if, there is dampening.

    Types of buffers are written only if they differ: `: tensor<64xbf16> buffers
    tensor<64xf32>`.

    Example:
    ```mlir
    %p:2, %m:2 = opt.sgd params(%w, %b) grads(%dw, %db) buffers(%mw, %mb) lr(%rate : f32)
        {momentum = 0.9, nesterov} : tensor<64x64xf32>, tensor<64xf32>
    ```
  }];
  let arguments = (ins Variadic<Drawloom_FloatTensor>:$params, Variadic<Drawloom_FloatTensor>:$grads,
      Variadic<Drawloom_FloatTensor>:$buffers, Opt_Rate:$lr, Optional<Opt_Step>:$step,
      DefaultValuedAttr<F64Attr, "0.0">:$momentum, DefaultValuedAttr<F64Attr, "0.0">:$dampening,
      UnitAttr:$nesterov,
      OptionalAttr<DenseF64ArrayAttr>:$weight_decay, OptionalAttr<DenseF64ArrayAttr>:$lr_scale);
  let results = (outs Variadic<Drawloom_FloatTensor>:$new_params,
      Variadic<Drawloom_FloatTensor>:$new_buffers);
  let assemblyFormat = [{
    `params` `(` $params `)` `grads` `(` $grads `)` (`buffers` `(` $buffers^ `)`)?
    `lr` `(` $lr `:` type($lr) `)` (`step` `(` $step^ `:` type($step) `)`)?
    (`weight_decay` $weight_decay^)? (`lr_scale` $lr_scale^)? attr-dict `:`
    custom<BufferTypes>(type($params), type($grads), ref($buffers), type($buffers),
                        type($new_params), type($new_buffers))
  }];
}

#endif // DRAWLOOM_DIALECTS_OPT_OPTOPS_TD
