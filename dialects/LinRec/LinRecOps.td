// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_DIALECTS_LINREC_LINRECOPS_TD
#define DRAWLOOM_DIALECTS_LINREC_LINRECOPS_TD

include "dialects/Interfaces/FloatTypes.td"
include "dialects/Interfaces/Interfaces.td"
include "dialects/LinRec/LinRecDialect.td"
include "dialects/LinRec/LinRecEnums.td"
include "dialects/LinRec/NonlinearScan.td"
include "mlir/Dialect/Linalg/IR/LinalgInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// Base class of the recurrence and its gradient, which share operands,
// attributes and verification.
class LinRec_Recurrence<string mnemonic, list<Trait> traits = []>
    : LinRec_Op<mnemonic, traits # [
        Pure, AttrSizedOperandSegments, AggregatedOpInterface,
        DeclareOpInterfaceMethods<InterpretableOpInterface>]> {
  dag recurrence = (ins
    Drawloom_FloatTensor:$q, Drawloom_FloatTensor:$k, Drawloom_FloatTensor:$v,
    Optional<Drawloom_FloatTensor>:$decay, Optional<Drawloom_FloatTensor>:$rates,
    Optional<Drawloom_FloatTensor>:$beta, Optional<Drawloom_FloatTensor>:$erase,
    Optional<Drawloom_FloatTensor>:$lowrank, Optional<Drawloom_FloatTensor>:$bonus,
    Optional<Drawloom_FloatTensor>:$initial,
    Optional<RankedTensorOf<[I32, I64, Index]>>:$starts);
  dag form = (ins OptionalAttr<F64Attr>:$scale,
    UnitAttr:$decay_along_values, UnitAttr:$erase_before_decay, OptionalAttr<F64Attr>:$decay_bound,
    OptionalAttr<I64Attr>:$chunk, OptionalAttr<I64Attr>:$segments,
    OptionalAttr<I64Attr>:$value_blocks, OptionalAttr<I64Attr>:$checkpoint_interval,
    OptionalAttr<I64Attr>:$steps_per_token);
  string syntax = [{
    $q `,` $k `,` $v (`decay` `(` $decay^ `)`)?
    (`rates` `(` $rates^ `)`)? (`beta` `(` $beta^ `)`)?
    (`erase` `(` $erase^ `)`)? (`lowrank` `(` $lowrank^ `)`)?
    (`bonus` `(` $bonus^ `)`)? (`initial` `(` $initial^ `)`)?
    (`starts` `(` $starts^ `)`)?
  }];
  string declaration = [{
    ::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>
    decomposeOperation(::mlir::OpBuilder &builder);
    static constexpr bool hasTokens() { return true; }
    static constexpr ::llvm::StringLiteral stateName() { return "initial"; }
  }];
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

def LinRec_ScanOp : LinRec_Recurrence<"scan", [
    DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "a linear recurrence with a matrix-valued state for each head";
  let description = [{
    For every sequence and head, a state S of shape `[K, V]` is updated token by
    token. With the row vectors q_t, k_t, a_t, b_t of length K and v_t of length
    V, the decay D_t = exp(min(g_t, 0)) and the scale s:

    ```
    e_t = a_t (D_t S_{t-1})                  with `erase_before_decay`:  a_t S_{t-1}
    S_t = D_t S_{t-1} + k_t^T v_t + b_t^T e_t
    o_t = s q_t S_t                          with `bonus` u:
                                             s (q_t S_{t-1} + (sum_d q_td u_d k_td) v_t)
    ```

    S starts as `initial`, or 0; the second result is the S of each sequence's
    last token. Terms of absent operands are not computed: without `decay`, D_t
    = 1; without `erase`, e_t = 0; without `lowrank`, b_t = -k_t, so that the
    value read by a_t is removed before v_t is written (the delta rule). With
    `beta`, a_t = beta_t k_t, and v_t is replaced by beta_t v_t. With `rates` R,
    each element of the state has its own decay, and g_t is the elapsed time:
    element (i, j) is multiplied by exp(min(R_ij g_tj, 0)).

    | operand | shape | |
    | --- | --- | --- |
    | `q`, `k` | `[B, T, Hq, K]`, `[B, T, Hk, K]` | head h of the state reads head h Hq / H of q, and h Hk / H of k |
    | `v`, first result | `[B, T, H, V]` | |
    | `decay` g | `[H]`, `[B, T, Hg]`, `[B, T, Hg, K]` or, with `decay_along_values`, `[B, T, H, V]` | natural logarithms, along the state's rows or columns; positive ones count as 0 |
    | `rates` R | `[H, K, V]` | with `decay_along_values` |
    | `beta` | `[B, T, Hg]` | heads may be shared, as those of q and k |
    | `erase` a, `lowrank` b | `[B, T, Hg, K]` | the same |
    | `bonus` u | `[H, K]` | |
    | `initial`, second result | `[N, H, K, V]` | N = B |
    | `starts` | `[N + 1]` | packed sequences: B = 1, and sequence i has the tokens `starts[i]` to `starts[i + 1] - 1`, possibly none |

    s is K^(-1/2) unless `scale` is given. `decay_bound` asserts that no decay
    is less; a compiler may rely on it, and results are undefined if it is
    wrong. `chunk` fixes the number of tokens to compute at a time, which is
    otherwise chosen by the compiler (1: token by token); it affects rounding
    only. `segments` is the number of parts into which each sequence is cut; the
    parts are computed in parallel: first the transformation of the state by
    each part (about half as much work again), then the initial states of all
    parts, then the outputs. It is for few sequences and heads, many tokens, and
    more processors than sequences and heads; it also affects rounding only.
    With as many segments as chunks, this is known as the materialised form.
    `value_blocks` is the number of parts into which the columns of the state
    are cut; each part is computed separately, for states that are too large or
    heads that are too few. If neither is given, both are chosen for the target
    machine; with only `value_blocks`, `segments` is 1; with only `segments`,
    columns are cut if blocks would not fit into memory. `checkpoint_interval`
    applies to the gradient (`linrec.scan_bwd`).

    With `steps_per_token` n (Gated DeltaProduct, arXiv 2502.10297), a token
    consists of n steps of the recurrence: `k`, `v`, `beta`, `erase` and
    `lowrank` have n T rows, those of token t being n t to n t + n - 1; `q`,
    `decay` and the first result have T rows. The first step of a token decays
    the state, and its query reads after the last step. `starts` counts tokens,
    `chunk` counts steps. f16 and bf16 are computed, and states kept, in f32.

    Gradients: `linrec.scan_bwd`. Source: gated linear attention, Yang et al.,
    arXiv 2312.06635; the delta rule, Yang et al., arXiv 2406.06484.

    1. q, k, v have four dimensions, the same B and T, and static heads, K and V,
       all at least 1; q and k have the same K.
    2. The numbers of heads of q and k divide that of v.
    3. Optional operands have the shapes above, `decay_along_values` goes with
       decays of four dimensions, and what `erase_before_decay` or `lowrank` refer
       to, `erase`, is there. (With `beta`, `erase_before_decay` has a meaning, too.)
    4. `beta` and `erase` exclude each other; `bonus` excludes both; decays along
       values exclude all three. `rates` need decays along values.
    5. With `starts`, B is 1.
    6. `initial` and the final state are f64 for v of f64, else f32; either all
       operands are f64 or none. The first result has v's type.
    7. `chunk` is 1 or a multiple of 16, `decay_bound` is not positive, `segments` is
       positive and does not go with `starts`, whose sequences are segments already,
       `value_blocks` is positive and divides V, `checkpoint_interval` is positive.
    8. `steps_per_token` is positive. More than 1 go neither with `bonus`, which reads
       before the update, nor with decays of heads, `[H]`.

    Example:

    ```mlir
    func.func @gated_linear_attention(%q: tensor<2x100x4x64xf32>, %k: tensor<2x100x4x64xf32>,
        %v: tensor<2x100x4x128xf32>, %g: tensor<2x100x4x64xf32>)
        -> (tensor<2x100x4x128xf32>, tensor<2x4x64x128xf32>) {
      %o, %final = linrec.scan %q, %k, %v decay(%g)
          : (tensor<2x100x4x64xf32>, tensor<2x100x4x64xf32>, tensor<2x100x4x128xf32>,
             tensor<2x100x4x64xf32>) -> (tensor<2x100x4x128xf32>, tensor<2x4x64x128xf32>)
      return %o, %final : tensor<2x100x4x128xf32>, tensor<2x4x64x128xf32>
    }
    ```
  }];
  let arguments = !con(recurrence, form);
  let results = (outs Drawloom_FloatTensor:$o, Drawloom_FloatTensor:$final);
  let assemblyFormat = syntax # "attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = declaration;
}

def LinRec_ScanBwdOp : LinRec_Recurrence<"scan_bwd", [
    DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "the gradient of a linear recurrence";
  let description = [{
    Takes the operands and attributes of a `linrec.scan`, the cotangents `d_o`
    of its first result and, if present, `d_final` of its second result. Returns
    the gradient of each operand except `starts`, in the order of the operands
    and of their types.

    With dS the gradient of the state, from the last token to the first:

    ```
    dq_t = s do_t S_t^T             dS += s q_t^T do_t
    dk_t = v_t dS^T                 dv_t = k_t dS           db_t = e_t dS^T
    de_t = b_t dS                   da_t = de_t (D_t S_{t-1})^T
    dS  += a_t^T de_t
    dg_t = sum_v dS * (D_t S_{t-1}) (over what the decay does not distinguish;
                                     times R, and dR times g_t, with `rates`)
    dS   = D_t dS
    ```

    where `erase_before_decay` and `bonus` change the formulas as described for
    `linrec.scan`. The gradient of a positive decay is 0.

    States are recomputed by a forward pass before the backward pass.
    `checkpoint_interval` m determines which states between chunks are kept
    meanwhile: the state before each m-th chunk, a checkpoint, and the m states
    of the chunks that follow a checkpoint, which are computed a second time
    when the backward pass reaches them. So ceil(N / m) + m + 1 of N + 1 states
    are kept, at the cost of computing almost N more states; 1 keeps all. If the
    interval is not given, it is chosen: 1, unless that exceeds the machine's
    memory.

    1. Everything that holds for `linrec.scan`.
    2. `d_o` has v's type, `d_final` that of the final state.
    3. There is one result for each operand but `starts`, of its type.

    Example:

    ```mlir
    func.func @linear_attention_gradient(%q: tensor<1x64x2x32xf32>, %k: tensor<1x64x2x32xf32>,
        %v: tensor<1x64x2x16xf32>, %d_o: tensor<1x64x2x16xf32>)
        -> (tensor<1x64x2x32xf32>, tensor<1x64x2x32xf32>, tensor<1x64x2x16xf32>) {
      %dq, %dk, %dv = linrec.scan_bwd %q, %k, %v cotangents(%d_o)
          : (tensor<1x64x2x32xf32>, tensor<1x64x2x32xf32>, tensor<1x64x2x16xf32>,
             tensor<1x64x2x16xf32>)
          -> (tensor<1x64x2x32xf32>, tensor<1x64x2x32xf32>, tensor<1x64x2x16xf32>)
      return %dq, %dk, %dv
          : tensor<1x64x2x32xf32>, tensor<1x64x2x32xf32>, tensor<1x64x2x16xf32>
    }
    ```
  }];
  let arguments = !con(recurrence,
    (ins Drawloom_FloatTensor:$d_o, Optional<Drawloom_FloatTensor>:$d_final), form);
  let results = (outs Variadic<Drawloom_FloatTensor>:$gradients);
  let assemblyFormat = syntax # [{
    `cotangents` `(` $d_o (`,` $d_final^)? `)`
    attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = declaration;
}

// Base class of ops used with a recurrence: they decompose into a recurrence or
// into elementwise ops, and are differentiated through the decomposition.
class LinRec_Aggregated<string mnemonic>
    : LinRec_Op<mnemonic, [
        Pure, AttrSizedOperandSegments, AggregatedOpInterface,
        DeclareOpInterfaceMethods<InterpretableOpInterface>]> {
  string declaration = [{
    ::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>
    decomposeOperation(::mlir::OpBuilder &builder);
  }];
  let extraClassDeclaration = declaration;
  let hasVerifier = 1;
}

def LinRec_GateOp : LinRec_Aggregated<"gate"> {
  let summary =
      "the log-decays of a recurrence, computed from a network's output";
  let description = [{
    With z = x + `bias` and a = exp(`scale`) (0 and 1 if absent), and sigma the
    logistic function,

    | kind | g | never less than | used by |
    | --- | --- | --- | --- |
    | `log_sigmoid` | log sigma(z) / `temperature` | | gated linear attention (temperature 16), gated RetNet |
    | `softplus` | -a log(1 + exp z) | | Mamba-2, gated DeltaNet, Kimi delta attention |
    | `bounded` | -`limit` sigma(a z) | -`limit` | Kimi delta attention's safe gate (5), RWKV-7 (exp(-1/2)) |
    | `floored` | log(`floor` + (1 - `floor`) sigma(z)) | log `floor` | HGRN2 |

    All values are at most 0. If g has a lower bound, canonicalization sets it
    as the `decay_bound` of a `linrec.scan` with g as its decay, which then
    needs no code for stronger decays.

    x is `[B, T, H]` or `[B, T, H, K]`, `scale` `[H]` and `bias` `[H]` or `[H, K]`
    (the latter for x of four dimensions). g has x's shape, and is f64 for x of f64,
    else f32. f16 and bf16 are computed in f32.

    1. x has three or four dimensions, its heads and size are known.
    2. `scale` is `[H]`, only for the kinds that have an a. `bias` is `[H]` or `[H, K]`.
    3. `temperature` is positive and goes with `log_sigmoid`, `limit` is positive and
       goes with `bounded`, `floor` is in [0, 1) and goes with `floored`.
    4. g has the type above; either all operands are f64 or none.

    Example:

    ```mlir
    func.func @kimi_delta_attention(%q: tensor<1x64x2x32xf32>, %k: tensor<1x64x2x32xf32>,
        %v: tensor<1x64x2x32xf32>, %x: tensor<1x64x2x32xf32>, %log_a: tensor<2xf32>,
        %bias: tensor<2x32xf32>, %beta: tensor<1x64x2xf32>)
        -> (tensor<1x64x2x32xf32>, tensor<1x2x32x32xf32>) {
      %g = linrec.gate bounded %x scale(%log_a) bias(%bias) {limit = 5.0 : f64}
          : (tensor<1x64x2x32xf32>, tensor<2xf32>, tensor<2x32xf32>) -> tensor<1x64x2x32xf32>
      %o, %final = linrec.scan %q, %k, %v decay(%g) beta(%beta)
          : (tensor<1x64x2x32xf32>, tensor<1x64x2x32xf32>, tensor<1x64x2x32xf32>,
             tensor<1x64x2x32xf32>, tensor<1x64x2xf32>)
          -> (tensor<1x64x2x32xf32>, tensor<1x2x32x32xf32>)
      return %o, %final : tensor<1x64x2x32xf32>, tensor<1x2x32x32xf32>
    }
    ```
  }];
  let arguments = (ins LinRec_GateKind:$kind, Drawloom_FloatTensor:$x,
    Optional<Drawloom_FloatTensor>:$scale, Optional<Drawloom_FloatTensor>:$bias,
    OptionalAttr<F64Attr>:$temperature, OptionalAttr<F64Attr>:$limit,
    OptionalAttr<F64Attr>:$floor);
  let results = (outs Drawloom_FloatTensor:$g);
  let assemblyFormat = [{
    $kind $x (`scale` `(` $scale^ `)`)? (`bias` `(` $bias^ `)`)?
    attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = declaration # [{
    /// Returns the lower bound of all results, if there is one.
    std::optional<double> getBound();
  }];
}

def LinRec_StepOp : LinRec_Aggregated<"step"> {
  let summary = "one token of a linear recurrence, for decoding";
  let description = [{
    Performs `linrec.scan` for a single token: computes o and the next state
    from the current state. Operands and attributes are as for `linrec.scan`,
    without the token dimension: q `[B, Hq, K]`, k `[B, Hk, K]`, v `[B, H, V]`,
    decay `[H]`, `[B, H]`, `[B, H, K]` or, with `decay_along_values`, `[B, H,
    V]`, beta `[B, H]`, erase and lowrank `[B, H, K]`, bonus `[H, K]`, state
    `[B, H, K, V]`.

    1. Everything that `linrec.scan` asks for, of sequences of one token.

    Example:

    ```mlir
    func.func @decode(%q: tensor<8x4x64xf32>, %k: tensor<8x4x64xf32>, %v: tensor<8x4x128xf32>,
        %g: tensor<8x4x64xf32>, %state: tensor<8x4x64x128xf32>)
        -> (tensor<8x4x128xf32>, tensor<8x4x64x128xf32>) {
      %o, %next = linrec.step %q, %k, %v decay(%g) state(%state)
          : (tensor<8x4x64xf32>, tensor<8x4x64xf32>, tensor<8x4x128xf32>,
             tensor<8x4x64xf32>, tensor<8x4x64x128xf32>)
          -> (tensor<8x4x128xf32>, tensor<8x4x64x128xf32>)
      return %o, %next : tensor<8x4x128xf32>, tensor<8x4x64x128xf32>
    }
    ```
  }];
  let arguments = (ins
    Drawloom_FloatTensor:$q, Drawloom_FloatTensor:$k, Drawloom_FloatTensor:$v,
    Optional<Drawloom_FloatTensor>:$decay, Optional<Drawloom_FloatTensor>:$rates,
    Optional<Drawloom_FloatTensor>:$beta, Optional<Drawloom_FloatTensor>:$erase,
    Optional<Drawloom_FloatTensor>:$lowrank, Optional<Drawloom_FloatTensor>:$bonus,
    Drawloom_FloatTensor:$state, OptionalAttr<F64Attr>:$scale,
    UnitAttr:$decay_along_values, UnitAttr:$erase_before_decay);
  let results = (outs Drawloom_FloatTensor:$o, Drawloom_FloatTensor:$next);
  let assemblyFormat = [{
    $q `,` $k `,` $v (`decay` `(` $decay^ `)`)?
    (`rates` `(` $rates^ `)`)? (`beta` `(` $beta^ `)`)?
    (`erase` `(` $erase^ `)`)? (`lowrank` `(` $lowrank^ `)`)?
    (`bonus` `(` $bonus^ `)`)? `state` `(` $state `)`
    attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = declaration # [{
    // Returns the operands as a sequence of one token.
    static constexpr bool hasTokens() { return false; }
    static constexpr ::llvm::StringLiteral stateName() { return "state"; }
    ::mlir::Value getInitial() { return getState(); }
    ::mlir::Value getStarts() { return {}; }
    std::optional<::llvm::APFloat> getDecayBound() { return {}; }
    std::optional<uint64_t> getChunk() { return {}; }
    std::optional<uint64_t> getSegments() { return {}; }
    std::optional<uint64_t> getValueBlocks() { return {}; }
    std::optional<uint64_t> getCheckpointInterval() { return {}; }
    std::optional<uint64_t> getStepsPerToken() { return {}; }
  }];
}

def LinRec_EwScanOp : LinRec_Aggregated<"ew_scan"> {
  let summary = "a linear recurrence of each channel separately";
  let description = [{
    Without `rates`, a channel's state is a number (HGRN, arXiv 2311.04823):

    ```
    h_t = exp(min(g_t, 0)) h_{t-1} + x_t            y_t = h_t
    ```

    With `rates` A, each channel d has N numbers, which decay at their own rates
    during the elapsed time g_td, and which all channels write and read by the
    rows b_t and c_t (Mamba's selective scan, arXiv 2312.00752, where g is the
    step Delta and x is Delta u):

    ```
    h_t[d, n] = exp(min(A_dn g_td, 0)) h_{t-1}[d, n] + x_td b_tn
    y_t[d]    = sum_n c_tn h_t[d, n]
    ```

    | operand | shape | |
    | --- | --- | --- |
    | x, `decay` g, first result | `[B, T, D]` | |
    | `rates` A | `[D, N]` | |
    | `write` b, `read` c | `[B, T, N]` | with `rates` |
    | `initial`, second result | `[S, D]`, with `rates` `[S, D, N]` | S = B |
    | `starts` | `[S + 1]` | packed sequences, as for `linrec.scan` |

    1. x has three dimensions and at least one channel, whose number is known.
    2. Operands have the shapes above; `rates`, `write` and `read` come together.
    3. What `linrec.scan` says of types holds here, too.

    Example:

    ```mlir
    func.func @selective_scan(%x: tensor<2x100x96xf32>, %time: tensor<2x100x96xf32>,
        %rates: tensor<96x16xf32>, %b: tensor<2x100x16xf32>, %c: tensor<2x100x16xf32>)
        -> (tensor<2x100x96xf32>, tensor<2x96x16xf32>) {
      %y, %final = linrec.ew_scan %x decay(%time) rates(%rates) write(%b) read(%c)
          : (tensor<2x100x96xf32>, tensor<2x100x96xf32>, tensor<96x16xf32>,
             tensor<2x100x16xf32>, tensor<2x100x16xf32>)
          -> (tensor<2x100x96xf32>, tensor<2x96x16xf32>)
      return %y, %final : tensor<2x100x96xf32>, tensor<2x96x16xf32>
    }
    ```
  }];
  let arguments = (ins
    Drawloom_FloatTensor:$x, Drawloom_FloatTensor:$decay,
    Optional<Drawloom_FloatTensor>:$rates, Optional<Drawloom_FloatTensor>:$write,
    Optional<Drawloom_FloatTensor>:$read, Optional<Drawloom_FloatTensor>:$initial,
    Optional<RankedTensorOf<[I32, I64, Index]>>:$starts);
  let results = (outs Drawloom_FloatTensor:$y, Drawloom_FloatTensor:$final);
  let assemblyFormat = [{
    $x `decay` `(` $decay `)` (`rates` `(` $rates^ `)`)? (`write` `(` $write^ `)`)?
    (`read` `(` $read^ `)`)? (`initial` `(` $initial^ `)`)? (`starts` `(` $starts^ `)`)?
    attr-dict `:` functional-type(operands, results)
  }];
  let hasCanonicalizer = 1;
}

// Base class of the convolution and its gradient, which share operands and
// verification.
class LinRec_Conv<string mnemonic, list<Trait> traits = []>
    : LinRec_Op<mnemonic, traits # [
        Pure, AttrSizedOperandSegments, AggregatedOpInterface,
        DeclareOpInterfaceMethods<DifferentiableOpInterface>,
        DeclareOpInterfaceMethods<InterpretableOpInterface>]> {
  dag conv = (ins LinRec_ConvActivation:$activation,
    Drawloom_FloatTensor:$x, Drawloom_FloatTensor:$weight,
    Optional<Drawloom_FloatTensor>:$bias, Optional<Drawloom_FloatTensor>:$initial,
    Optional<RankedTensorOf<[I32, I64, Index]>>:$starts);
  string syntax = [{
    $activation $x `,` $weight (`bias` `(` $bias^ `)`)?
    (`initial` `(` $initial^ `)`)? (`starts` `(` $starts^ `)`)?
  }];
  let extraClassDeclaration = [{
    ::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>
    decomposeOperation(::mlir::OpBuilder &builder);
    /// Returns the operands that have gradients, in order.
    ::llvm::SmallVector<::mlir::Value> getDifferentiable() {
      ::llvm::SmallVector<::mlir::Value> all = {getX(), getWeight()};
      for (::mlir::Value value : {getBias(), getInitial()})
        if (value)
          all.push_back(value);
      return all;
    }
  }];
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

def LinRec_ShortConvOp : LinRec_Conv<"short_conv", [
    DeclareOpInterfaceMethods<BlockFusionOpInterface>]> {
  let summary = "a causal depthwise convolution over a few tokens";
  let description = [{
    Each channel d is a weighted sum of its last W tokens, as used by layers in
    front of a recurrence (Mamba, arXiv 2312.00752; Gated DeltaNet, arXiv
    2412.06464):

    ```
    z_t[d] = bias[d] + sum_j weight[d, W - 1 - j] x_{t-j}[d]     j = 0 .. W - 1
    y_t[d] = z_t[d]                          with the activation `silu`:  z_t[d] sigma(z_t[d])
    ```

    | operand | shape | |
    | --- | --- | --- |
    | x, first result | `[B, T, D...]` | D... is one dimension or several, such as heads and their size |
    | `weight` | `[D..., W]` | the last column is that of the token itself |
    | `bias` | `[D...]` | 0 without it |
    | `initial` | `[S, W - 1, D...]` | the tokens in front of a sequence, in order; zeros without it |
    | second result | `[S, W - 1, D...]` | the last tokens, those of `initial` in front of them: the next call's `initial` |
    | `starts` | `[S + 1]` | packed sequences, as for `linrec.scan`; S = B without it |

    f16 and bf16 are computed in f32 and rounded once. If only block programs
    read the first result, such as those of a `linrec.scan`, they may compute it
    for their own parts (`fuse-into-blocks`).

    1. x has at least three dimensions, and the extents behind the second are known
       and positive.
    2. W is known, from 2 to 8. Operands and results have the shapes above.
    3. `initial` and both results have the element type of x; either all operands
       are f64 or none.
    4. `starts` packs sequences into one batch entry.

    Example:

    ```mlir
    func.func @keys(%x: tensor<2x512x4x64xf32>, %weight: tensor<4x64x4xf32>)
        -> (tensor<2x512x4x64xf32>, tensor<2x3x4x64xf32>) {
      %y, %last = linrec.short_conv silu %x, %weight
          : (tensor<2x512x4x64xf32>, tensor<4x64x4xf32>)
          -> (tensor<2x512x4x64xf32>, tensor<2x3x4x64xf32>)
      return %y, %last : tensor<2x512x4x64xf32>, tensor<2x3x4x64xf32>
    }
    ```
  }];
  let arguments = conv;
  let results = (outs Drawloom_FloatTensor:$y, Drawloom_FloatTensor:$final);
  let assemblyFormat = syntax # [{ attr-dict `:` functional-type(operands, results) }];
}

def LinRec_ShortConvBwdOp : LinRec_Conv<"short_conv_bwd"> {
  let summary = "the gradient of linrec.short_conv";
  let description = [{
    Returns the gradients of all operands except `starts`, from the cotangents
    of both results. With dz_t = d_y_t, or d_y_t times the derivative of `silu`
    at z_t:

    ```
    dx_t[d]        = sum_j weight[d, W - 1 - j] dz_{t+j}[d] + what `d_final` has for the token
    dweight[d, W - 1 - j] = sum_t dz_t[d] x_{t-j}[d]
    dbias[d]       = sum_t dz_t[d]
    ```

    where t + j stays within the sequence and x_{t-j} may be a row of `initial`,
    whose gradient is computed like that of any token. Sums over tokens have a
    fixed order, independent of the target. This op itself has no gradient.

    1. Everything that holds for `linrec.short_conv`.
    2. `d_y` has x's type, `d_final` that of the second result.
    3. There is one result for each operand but `starts`, of its type.

    Example:

    ```mlir
    func.func @gradient(%x: tensor<2x64x32xf32>, %weight: tensor<32x4xf32>, %d_y: tensor<2x64x32xf32>)
        -> (tensor<2x64x32xf32>, tensor<32x4xf32>) {
      %dx, %dweight = linrec.short_conv_bwd none %x, %weight cotangents(%d_y)
          : (tensor<2x64x32xf32>, tensor<32x4xf32>, tensor<2x64x32xf32>)
          -> (tensor<2x64x32xf32>, tensor<32x4xf32>)
      return %dx, %dweight : tensor<2x64x32xf32>, tensor<32x4xf32>
    }
    ```
  }];
  let arguments = !con(conv,
    (ins Drawloom_FloatTensor:$d_y, Optional<Drawloom_FloatTensor>:$d_final));
  let results = (outs Variadic<Drawloom_FloatTensor>:$gradients);
  let assemblyFormat = syntax # [{
    `cotangents` `(` $d_y (`,` $d_final^)? `)`
    attr-dict `:` functional-type(operands, results)
  }];
}

#endif // DRAWLOOM_DIALECTS_LINREC_LINRECOPS_TD
