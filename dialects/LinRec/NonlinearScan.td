// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_DIALECTS_LINREC_NONLINEARSCAN_TD
#define DRAWLOOM_DIALECTS_LINREC_NONLINEARSCAN_TD

include "dialects/Interfaces/FloatTypes.td"
include "dialects/Interfaces/Interfaces.td"
include "dialects/LinRec/LinRecDialect.td"
include "mlir/Dialect/Linalg/IR/LinalgInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def LinRec_NonlinearScanOp : LinRec_Op<"nonlinear_scan", [
    Pure, IsolatedFromAbove, SingleBlock, AttrSizedOperandSegments,
    AttrSizedResultSegments,
    AggregatedOpInterface]> {
  let summary = "a recurrent cell applied token by token, channel by channel";
  let description = [{
    The region is the cell of one channel. From the channel's states s before a
    token, the token's inputs x and the channel's parameters w, it computes the
    states after the token, and outputs y:

    (s_t, y_t) = f(s_{t-1}, x_t, w).

    s_0 is `initial`. Channels do not mix, so the Jacobian ds_t/ds_{t-1} is a
    block of n x n numbers for each channel, n being the number of states. With
    `reverse`, tokens are processed from the last to the first.

    | | shape | the region's arguments, in this order |
    |---|---|---|
    | `initial` | `[B, D]` | n states |
    | `inputs` | `[B, T, D]` | their elements |
    | `parameters` | `[D]` | their elements |
    | `outputs` | `[B, T, D]` | |
    | `finals` | `[B, D]` | the states behind the last token |

    `linrec.yield` gives the new states first, then the outputs.

    A GRU whose state matrices are diagonal:

    ```mlir
    func.func @gru(%xz: tensor<2x100x64xf32>, %xr: tensor<2x100x64xf32>, %xc: tensor<2x100x64xf32>,
        %wz: tensor<64xf32>, %wr: tensor<64xf32>, %wc: tensor<64xf32>, %h0: tensor<2x64xf32>)
        -> (tensor<2x100x64xf32>, tensor<2x64xf32>) {
      %y, %final = linrec.nonlinear_scan initial(%h0 : tensor<2x64xf32>)
          inputs(%xz, %xr, %xc : tensor<2x100x64xf32>, tensor<2x100x64xf32>, tensor<2x100x64xf32>)
          parameters(%wz, %wr, %wc : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>)
          outputs(tensor<2x100x64xf32>) finals(tensor<2x64xf32>) {
      ^bb0(%h: f32, %az: f32, %ar: f32, %ac: f32, %uz: f32, %ur: f32, %uc: f32):
        %one = arith.constant 1.0 : f32
        %z0 = math.fma %uz, %h, %az : f32
        %z1 = arith.negf %z0 : f32
        %z2 = math.exp %z1 : f32
        %z3 = arith.addf %z2, %one : f32
        %z = arith.divf %one, %z3 : f32
        %r0 = math.fma %ur, %h, %ar : f32
        %r1 = arith.negf %r0 : f32
        %r2 = math.exp %r1 : f32
        %r3 = arith.addf %r2, %one : f32
        %r = arith.divf %one, %r3 : f32
        %rh = arith.mulf %r, %h : f32
        %c0 = math.fma %uc, %rh, %ac : f32
        %c = math.tanh %c0 : f32
        %change = arith.subf %c, %h : f32
        %next = math.fma %z, %change, %h : f32
        linrec.yield %next, %next : f32, f32
      }
      return %y, %final : tensor<2x100x64xf32>, tensor<2x64xf32>
    }
    ```

    The op is computed token by token, in parallel over sequences and channels.
    Two attributes also parallelize over tokens. They affect rounding only, as
    long as nothing overflows: a part of the tokens may overflow from states
    that do not actually occur.

    * `segments` S, for a cell whose new states are affine in the old ones, such
      as a gradient's: the tokens are cut into S parts. First, the
      transformation of the states by each part is computed (a matrix of n x n
      and a vector for each channel); then the states at the start of each part;
      then all tokens of all parts.
    * `newton` K, for any cell: the states of all tokens are computed at once,
      by Newton's iteration. From states h, the cell's values F_t and Jacobians
      J_t at h_{t-1} give the affine recurrence h'_t = F_t + J_t (h'_{t-1} -
      h_{t-1}), which is a scan in `segments`. The iteration stops when no state
      changes by more than `tolerance` max(1, |h|) (default 64 eps of the
      states' type), or after K steps. The op then computes the residual, the
      largest |f(h_{t-1}, x_t) - h_t| / max(1, |h_t|). If it exceeds the
      tolerance or is NaN, the tokens are processed sequentially instead.
      Otherwise, the outputs are those of f at the states found, and `finals`
      are these states. `report` has the number of steps and the residual, each
      a rank-0 tensor of the states' type; it has no derivative.

    The gradient is an op of the same kind in the other direction, whose cell is
    the reverse of the region; its states are the cotangents of the states, and
    the accumulated gradients of the parameters.

    Source: Danieli et al., ParaRNN, arXiv 2510.21450; Lim et al., DEER, arXiv
    2309.12252.

    Constraints:

    1. All tensors have one B, T and D, and D is static and at least 1. There is at
       least one state, and at least one input or output. Without inputs, the T of
       outputs is static.
    2. The region's arguments are as many as `initial`, `inputs` and `parameters`
       together. They and the values that it yields are f64 for tensors of f64, else f32.
    3. `initial`, `parameters` and `finals` have the type of the region's values;
       `inputs` and `outputs` may be f16 or bf16 if the region computes in f32.
    4. The region's ops are on scalars, and have no effects and no regions.
    5. `segments` is positive and, without `newton`, the cell is affine in its states.
    6. `newton` is positive; `tolerance` goes with it and is positive. `report` has
       two results with `newton`, else none.
  }];
  let arguments = (ins Variadic<Drawloom_FloatTensor>:$initial,
                       Variadic<Drawloom_FloatTensor>:$inputs,
                       Variadic<Drawloom_FloatTensor>:$parameters,
                       UnitAttr:$reverse, OptionalAttr<I64Attr>:$segments,
                       OptionalAttr<I64Attr>:$newton,
                       OptionalAttr<F64Attr>:$tolerance);
  let results = (outs Variadic<Drawloom_FloatTensor>:$outputs,
                      Variadic<Drawloom_FloatTensor>:$finals,
                      Variadic<Drawloom_FloatTensor>:$report);
  let regions = (region SizedRegion<1>:$cell);
  let assemblyFormat = [{
    (`reverse` $reverse^)? `initial` `(` $initial `:` type($initial) `)`
    (`inputs` `(` $inputs^ `:` type($inputs) `)`)?
    (`parameters` `(` $parameters^ `:` type($parameters) `)`)?
    (`outputs` `(` type($outputs)^ `)`)? `finals` `(` type($finals) `)`
    (`report` `(` type($report)^ `)`)?
    attr-dict-with-keyword $cell
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    ::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>
    decomposeOperation(::mlir::OpBuilder &builder);
    unsigned numStates() { return getInitial().size(); }
    /// Returns the type that the region computes with.
    ::mlir::FloatType cellType();
    /// Returns the max permitted change of a state, and residual.
    double toleranceOrDefault();
    /// Returns the max number of steps of Newton's iteration. Each step makes
    /// the states of at least one more token exact up to rounding.
    int64_t mostSteps(int64_t tokens) {
      return std::min(getNewtonAttr().getInt(), tokens + 1);
    }
    /// Returns the region's arguments, by kind.
    ::mlir::ValueRange stateArguments();
    ::mlir::ValueRange inputArguments();
    ::mlir::ValueRange parameterArguments();
    /// Returns the values that the region yields.
    ::mlir::OperandRange newStates();
    ::mlir::OperandRange yieldedOutputs();
    /// Returns whether the new states are affine in the old ones.
    bool isAffine();
    /// Shifts `behind`, [B, T, D], by one token in the order of the scan; the
    /// first token gets `first`, [B, D].
    static ::mlir::Value before(::mlir::OpBuilder &builder, ::mlir::Location loc,
                                ::mlir::Value behind, ::mlir::Value first,
                                bool reverse);
  }];
}

def LinRec_YieldOp : LinRec_Op<"yield", [Pure, Terminator, ParentOneOf<["NonlinearScanOp"]>]> {
  let summary = "the states after a token, and the token's outputs";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

#endif // DRAWLOOM_DIALECTS_LINREC_NONLINEARSCAN_TD
