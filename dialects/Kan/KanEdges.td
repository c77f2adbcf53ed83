// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layers whose edges have learnable functions. A new basis is a case here and a
// row in Bases.cpp.

#ifndef DRAWLOOM_DIALECTS_KAN_KANEDGES_TD
#define DRAWLOOM_DIALECTS_KAN_KANEDGES_TD

include "dialects/Interfaces/FloatTypes.td"
include "dialects/Interfaces/Interfaces.td"
include "dialects/Kan/KanDialect.td"
include "mlir/Dialect/Linalg/IR/LinalgInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Kan_BasisCase<string name, int value> : I32EnumAttrCase<name, value>;

def Kan_Basis : I32EnumAttr<"Basis", "functions on the edges of a layer", [
    // Splines.
    Kan_BasisCase<"bspline", 0>, Kan_BasisCase<"uniform_bspline", 1>,
    Kan_BasisCase<"piecewise_linear", 2>,
    // Polynomials.
    Kan_BasisCase<"bernstein", 3>, Kan_BasisCase<"bessel", 4>,
    Kan_BasisCase<"chebyshev", 5>, Kan_BasisCase<"chebyshev_second", 6>,
    Kan_BasisCase<"fibonacci", 7>, Kan_BasisCase<"gegenbauer", 8>,
    Kan_BasisCase<"hermite", 9>, Kan_BasisCase<"hermite_e", 10>,
    Kan_BasisCase<"jacobi", 11>, Kan_BasisCase<"laguerre", 12>,
    Kan_BasisCase<"legendre", 13>, Kan_BasisCase<"lucas", 14>,
    Kan_BasisCase<"monomial", 15>, Kan_BasisCase<"three_term", 16>,
    // Quotients and waves.
    Kan_BasisCase<"rational", 17>, Kan_BasisCase<"fourier", 18>,
    Kan_BasisCase<"sine", 19>,
    // Bumps around centers.
    Kan_BasisCase<"gaussian", 20>, Kan_BasisCase<"inverse_multiquadric", 21>,
    Kan_BasisCase<"multiquadric", 22>, Kan_BasisCase<"relu_product", 23>,
    Kan_BasisCase<"sech_squared", 24>,
    // Wavelets.
    Kan_BasisCase<"gaussian_derivative", 25>, Kan_BasisCase<"mexican_hat", 26>,
    Kan_BasisCase<"morlet", 27>, Kan_BasisCase<"shannon", 28>]> {
  let cppNamespace = "::drawloom::kan";
}

def Kan_EdgeLayerOp : Kan_Op<"edge_layer", [
    Pure, AggregatedOpInterface, DeclareOpInterfaceMethods<InterpretableOpInterface>]> {
  let summary = "Kolmogorov-Arnold layer: a learnable function on every edge";
  let description = [{
    y[n, o] = sum over i < I and k < K of c[k, i, o] phi_k(x[n, i]), for x[N, I]
    and coefficients c[K, I, O]. The functions phi_k are those of a `basis`.
    Their parameters have shape [m], common to all edges, or [m, I], one set for
    each input. In the table, t, s and so on are parameters, in this order:

    | basis | phi_k(x), k = 0 .. K-1 | parameters |
    |---|---|---|
    | bspline | B-spline of order p (its degree) on the knots t_k .. t_{k+p+1}; 0 outside | t: K + p + 1 |
    | uniform_bspline | the same on t_j = a + (j - p) (b - a)/(K - p) | (a, b): 2 |
    | piecewise_linear | 1 at t_k, 0 at the other knots, linear between; both ends go on | t: K |
    | bernstein | binomial(K-1, k) x^k (1 - x)^(K-1-k) | |
    | bessel | y_0 = 1, y_1 = x + 1, y_{k+1} = (2k+1) x y_k + y_{k-1} | |
    | chebyshev | T_0 = 1, T_1 = x, T_{k+1} = 2x T_k - T_{k-1} | |
    | chebyshev_second | U_0 = 1, U_1 = 2x, U_{k+1} = 2x U_k - U_{k-1} | |
    | fibonacci | F_1 = 1, F_2 = x, F_{k+1} = x F_k + F_{k-1}: phi_k = F_{k+1} | |
    | gegenbauer | C_0 = 1, C_1 = 2ax, (k+1) C_{k+1} = 2(k+a) x C_k - (k+2a-1) C_{k-1} | a: 1 |
    | hermite | H_0 = 1, H_1 = 2x, H_{k+1} = 2x H_k - 2k H_{k-1} | |
    | hermite_e | He_0 = 1, He_1 = x, He_{k+1} = x He_k - k He_{k-1} | |
    | jacobi | Jacobi polynomials P_k with exponents a and b | (a, b): 2 |
    | laguerre | L_0 = 1, L_1 = 1+a-x, (k+1) L_{k+1} = (2k+1+a-x) L_k - (k+a) L_{k-1} | a: 1 |
    | legendre | P_0 = 1, P_1 = x, (k+1) P_{k+1} = (2k+1) x P_k - k P_{k-1} | |
    | lucas | L_0 = 2, L_1 = x, L_{k+1} = x L_k + L_{k-1} | |
    | monomial | x^k | |
    | three_term | p_0 = 1, p_{k+1} = (a_k x + b_k) p_k - c_k p_{k-1} | a, b, c: K each |
    | rational | x^k / (1 + abs(sum_{j=1..p} b_j x^j)) | b: p, its order |
    | fourier | cos x .. cos(Kx/2), then sin x .. sin(Kx/2) | |
    | sine | sin(a_k x + b_k) | a, b: K |
    | gaussian | exp(-((x - t_k)/s_k)^2) | t, s: K |
    | inverse_multiquadric | 1 / sqrt(1 + ((x - t_k)/s_k)^2) | t, s: K |
    | multiquadric | sqrt(1 + ((x - t_k)/s_k)^2) | t, s: K |
    | relu_product | (r_k relu(x - t_k) relu(s_k - x))^p, p its order | t, s, r: K |
    | sech_squared | 1 - tanh^2((x - t_k)/s_k) | t, s: K |
    | gaussian_derivative | -v exp(-v^2/2), v = (x - t_k)/s_k | t, s: K |
    | mexican_hat | 2/(sqrt(3) pi^(1/4)) (1 - v^2) exp(-v^2/2), v = (x - t_k)/s_k | t, s: K |
    | morlet | cos(5v) exp(-v^2/2), v = (x - t_k)/s_k | t, s: K |
    | shannon | sin(v)/v, v = (x - t_k)/s_k | t, s: K |

    If a parameter has K numbers, for functions of one form (from `sine` on), it
    may also have 1 number for all functions, or [K, I, O] numbers, one for each
    edge.

    phi is computed on the fly within the product, and is never in memory for
    all rows. NaN gives NaN. Knots must not decrease; where some are equal,
    quotients 0/0 of a spline are 0. A spline is 0 from the last knot on, and at
    infinity. f16 and bf16 are computed in f32; the values of phi are rounded to
    x's type before the product (except if a parameter differs between edges),
    which accumulates in f32.

    Sources: Liu et al., KAN, arXiv 2404.19756 (splines); Li, arXiv 2405.06721 (gaussian);
    SS et al., arXiv 2405.07200 (chebyshev); Bozorgasl and Chen, Wav-KAN, arXiv 2405.12832
    (wavelets); Qiu et al., ReLU-KAN, arXiv 2406.02075 (relu_product); Reinhardt et al.,
    SineKAN, arXiv 2407.04149 (sine); Xu et al., arXiv 2406.01034 (fourier); NIST Digital
    Library of Mathematical Functions, chapter 18 (polynomials).

    1. x is [N, I], c [K, I, O], y [N, O], of one element type; I, K and O are known and
       at least 1.
    2. `order` is given where the basis has one, and only there: from 1 to 32.
    3. A B-spline has more functions than its order, piecewise_linear two at least; fourier has
       an even number.
    4. The parameters are those of the table, of x's element type, or f32 where x is
       f16 or bf16.
    5. phi_k(1) and phi_k(-1) of polynomials without parameters are finite in the type.

    Example:
    ```mlir
    %y = kan.edge_layer %x, %c by bspline order 3 (%knots : tensor<12xf32>)
        : tensor<?x64xf32>, tensor<8x64x64xf32> -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins Drawloom_FloatTensor:$x, Drawloom_FloatTensor:$coefficients,
      Variadic<Drawloom_FloatTensor>:$parameters, Kan_Basis:$basis, OptionalAttr<I64Attr>:$order);
  let results = (outs Drawloom_FloatTensor:$y);
  let assemblyFormat = [{
    $x `,` $coefficients `by` $basis (`order` $order^)? (` ` `(` $parameters^ `:` type($parameters) `)`)?
    attr-dict `:` type($x) `,` type($coefficients) `->` type($y)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>
    decomposeOperation(::mlir::OpBuilder &builder);
  }];
}

#endif // DRAWLOOM_DIALECTS_KAN_KANEDGES_TD
