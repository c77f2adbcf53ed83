//===- GradientsOfLinalg.cpp - structured ops against differences ---------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/GradientCheck.h"
#include "gtest/gtest.h"

using drawloom::test::GradientCheck;

TEST(LinalgGradients, Fill) {
  GradientCheck check(R"mlir(
    func.func @f(%s: f64, %o: tensor<$Mx$Nxf64>) -> tensor<$Mx$Nxf64> {
      %e = math.exp %s : f64
      %y = linalg.fill ins(%e : f64) outs(%o : tensor<$Mx$Nxf64>)
          -> tensor<$Mx$Nxf64>
      return %y : tensor<$Mx$Nxf64>
    })mlir");
  check.wrt = {0};
  check.run();
}

TEST(LinalgGradients, Matmul) {
  GradientCheck check(R"mlir(
    func.func @f(%a: tensor<$Mx4xf64>, %b: tensor<4x$Nxf64>, %c: tensor<$Mx$Nxf64>) -> tensor<$Mx$Nxf64> {
      %y = linalg.matmul
          ins(%a, %b : tensor<$Mx4xf64>, tensor<4x$Nxf64>)
          outs(%c : tensor<$Mx$Nxf64>) -> tensor<$Mx$Nxf64>
      return %y : tensor<$Mx$Nxf64>
    })mlir");
  check.wrt = {0, 1, 2};
  check.run();
}

TEST(LinalgGradients, MatmulWithEmptyContraction) {
  GradientCheck check(R"mlir(
    func.func @f(%a: tensor<3x$Mxf64>, %b: tensor<$Mx2xf64>, %c: tensor<3x2xf64>) -> tensor<3x2xf64> {
      %y = linalg.matmul
          ins(%a, %b : tensor<3x$Mxf64>, tensor<$Mx2xf64>)
          outs(%c : tensor<3x2xf64>) -> tensor<3x2xf64>
      return %y : tensor<3x2xf64>
    })mlir");
  check.wrt = {0, 1, 2};
  check.run();
}

TEST(LinalgGradients, MatmulOfATensorWithItself) {
  GradientCheck check(R"mlir(
    func.func @f(%a: tensor<3x3xf64>, %c: tensor<3x3xf64>) -> tensor<3x3xf64> {
      %y = linalg.matmul ins(%a, %a : tensor<3x3xf64>, tensor<3x3xf64>)
          outs(%c : tensor<3x3xf64>) -> tensor<3x3xf64>
      return %y : tensor<3x3xf64>
    })mlir");
  check.wrt = {0};
  check.run();
}

TEST(LinalgGradients, MatmulMixedPrecision) {
  GradientCheck check(R"mlir(
    func.func @f(%a: tensor<$Mx4xbf16>, %b: tensor<4x$Nxbf16>, %c: tensor<$Mx$Nxf32>) -> tensor<$Mx$Nxf32> {
      %y = linalg.matmul
          ins(%a, %b : tensor<$Mx4xbf16>, tensor<4x$Nxbf16>)
          outs(%c : tensor<$Mx$Nxf32>) -> tensor<$Mx$Nxf32>
      return %y : tensor<$Mx$Nxf32>
    })mlir");
  check.wrt = {0, 1};
  check.run();
}

TEST(LinalgGradients, BatchMatmul) {
  GradientCheck check(R"mlir(
    func.func @f(%a: tensor<2x$Mx4xf64>, %b: tensor<2x4x$Nxf64>, %c: tensor<2x$Mx$Nxf64>) -> tensor<2x$Mx$Nxf64> {
      %y = linalg.batch_matmul
          ins(%a, %b : tensor<2x$Mx4xf64>, tensor<2x4x$Nxf64>)
          outs(%c : tensor<2x$Mx$Nxf64>) -> tensor<2x$Mx$Nxf64>
      return %y : tensor<2x$Mx$Nxf64>
    })mlir");
  check.wrt = {0, 1};
  check.run();
}

TEST(LinalgGradients, Matvec) {
  GradientCheck check(R"mlir(
    func.func @f(%a: tensor<$Mx4xf64>, %b: tensor<4xf64>, %c: tensor<$Mxf64>) -> tensor<$Mxf64> {
      %y = linalg.matvec ins(%a, %b : tensor<$Mx4xf64>, tensor<4xf64>)
          outs(%c : tensor<$Mxf64>) -> tensor<$Mxf64>
      return %y : tensor<$Mxf64>
    })mlir");
  check.wrt = {0, 1, 2};
  check.run();
}

TEST(LinalgGradients, Dot) {
  GradientCheck check(R"mlir(
    func.func @f(%a: tensor<$Mxf64>, %b: tensor<$Mxf64>, %c: tensor<f64>) -> tensor<f64> {
      %y = linalg.dot ins(%a, %b : tensor<$Mxf64>, tensor<$Mxf64>)
          outs(%c : tensor<f64>) -> tensor<f64>
      return %y : tensor<f64>
    })mlir");
  check.wrt = {0, 1, 2};
  check.run();
}

TEST(LinalgGradients, Contract) {
  GradientCheck check(R"mlir(
    func.func @f(%a: tensor<4x$Mx2xf64>, %b: tensor<$Nx4xf64>, %c: tensor<2x$Mx$Nxf64>) -> tensor<2x$Mx$Nxf64> {
      %y = linalg.contract
          indexing_maps = [affine_map<(b, m, n, k) -> (k, m, b)>,
                           affine_map<(b, m, n, k) -> (n, k)>,
                           affine_map<(b, m, n, k) -> (b, m, n)>]
          ins(%a, %b : tensor<4x$Mx2xf64>, tensor<$Nx4xf64>)
          outs(%c : tensor<2x$Mx$Nxf64>) -> tensor<2x$Mx$Nxf64>
      return %y : tensor<2x$Mx$Nxf64>
    })mlir");
  check.wrt = {0, 1, 2};
  check.run();
}

TEST(LinalgGradients, Transpose) {
  GradientCheck check(R"mlir(
    func.func @f(%x: tensor<2x$Mx3xf64>, %o: tensor<3x2x$Mxf64>) -> tensor<3x2x$Mxf64> {
      %y = linalg.transpose ins(%x : tensor<2x$Mx3xf64>)
          outs(%o : tensor<3x2x$Mxf64>) permutation = [2, 0, 1]
      %z = math.exp %y : tensor<3x2x$Mxf64>
      return %z : tensor<3x2x$Mxf64>
    })mlir");
  check.wrt = {0};
  check.run();
}

TEST(LinalgGradients, Broadcast) {
  GradientCheck check(R"mlir(
    func.func @f(%x: tensor<$Nxf64>, %o: tensor<$Mx$Nxf64>) -> tensor<$Mx$Nxf64> {
      %y = linalg.broadcast ins(%x : tensor<$Nxf64>)
          outs(%o : tensor<$Mx$Nxf64>) dimensions = [0]
      %z = math.exp %y : tensor<$Mx$Nxf64>
      return %z : tensor<$Mx$Nxf64>
    })mlir");
  check.wrt = {0};
  check.run();
}

TEST(LinalgGradients, ReduceSum) {
  GradientCheck check(R"mlir(
    func.func @f(%x: tensor<$Mx4xf64>, %o: tensor<$Mxf64>) -> tensor<$Mxf64> {
      %e = math.exp %x : tensor<$Mx4xf64>
      %y = linalg.reduce { arith.addf } ins(%e : tensor<$Mx4xf64>)
          outs(%o : tensor<$Mxf64>) dimensions = [1]
      %z = math.exp %y : tensor<$Mxf64>
      return %z : tensor<$Mxf64>
    })mlir");
  check.wrt = {0, 1};
  check.run();
}

TEST(LinalgGradients, ReduceMaximum) {
  GradientCheck check(R"mlir(
    func.func @f(%x: tensor<$Mx4xf64>, %o: tensor<$Mxf64>) -> tensor<$Mxf64> {
      %e = math.exp %x : tensor<$Mx4xf64>
      %y = linalg.reduce { arith.maximumf } ins(%e : tensor<$Mx4xf64>)
          outs(%o : tensor<$Mxf64>) dimensions = [1]
      %z = math.exp %y : tensor<$Mxf64>
      return %z : tensor<$Mxf64>
    })mlir");
  check.wrt = {0, 1};
  check.run();
}

TEST(LinalgGradients, ReduceMinimum) {
  GradientCheck check(R"mlir(
    func.func @f(%x: tensor<$Mx4xf64>, %o: tensor<$Mxf64>) -> tensor<$Mxf64> {
      %e = math.exp %x : tensor<$Mx4xf64>
      %y = linalg.reduce { arith.minnumf } ins(%e : tensor<$Mx4xf64>)
          outs(%o : tensor<$Mxf64>) dimensions = [1]
      %z = math.exp %y : tensor<$Mxf64>
      return %z : tensor<$Mxf64>
    })mlir");
  check.wrt = {0, 1};
  check.run();
}

TEST(LinalgGradients, Map) {
  GradientCheck check(R"mlir(
    func.func @f(%a: tensor<$Mxf64>, %b: tensor<$Mxf64>, %o: tensor<$Mxf64>) -> tensor<$Mxf64> {
      %y = linalg.map ins(%a, %b : tensor<$Mxf64>, tensor<$Mxf64>)
          outs(%o : tensor<$Mxf64>)
          (%p: f64, %q: f64, %r: f64) {
        %e = math.exp %p : f64
        %s = arith.mulf %e, %q : f64
        linalg.yield %s : f64
      }
      return %y : tensor<$Mxf64>
    })mlir");
  check.wrt = {0, 1};
  check.run();
}

TEST(LinalgGradients, NamedElementwise) {
  GradientCheck check(R"mlir(
    func.func @f(%a: tensor<$Mxf64>, %b: tensor<$Mxf64>, %o: tensor<$Mxf64>) -> tensor<$Mxf64> {
      %y = linalg.mul ins(%a, %b : tensor<$Mxf64>, tensor<$Mxf64>)
          outs(%o : tensor<$Mxf64>) -> tensor<$Mxf64>
      %z = linalg.exp ins(%y : tensor<$Mxf64>)
          outs(%o : tensor<$Mxf64>) -> tensor<$Mxf64>
      return %z : tensor<$Mxf64>
    })mlir");
  check.wrt = {0, 1};
  check.run();
}

TEST(LinalgGradients, Softmax) {
  GradientCheck check(R"mlir(
    func.func @f(%x: tensor<3x4xf64>, %o: tensor<3x4xf64>) -> tensor<3x4xf64> {
      %y = linalg.softmax dimension(1) ins(%x : tensor<3x4xf64>)
          outs(%o : tensor<3x4xf64>) -> tensor<3x4xf64>
      return %y : tensor<3x4xf64>
    })mlir");
  check.wrt = {0};
  check.run();
}

TEST(LinalgGradients, GenericBroadcastsAnOperand) {
  GradientCheck check(R"mlir(
    func.func @f(%x: tensor<$Mx$Nxf64>, %b: tensor<$Nxf64>, %s: f64, %o: tensor<$Mx$Nxf64>) -> tensor<$Mx$Nxf64> {
      %y = linalg.generic {
          indexing_maps = [affine_map<(i, j) -> (i, j)>,
                           affine_map<(i, j) -> (j)>,
                           affine_map<(i, j) -> ()>,
                           affine_map<(i, j) -> (i, j)>],
          iterator_types = ["parallel", "parallel"]}
          ins(%x, %b, %s : tensor<$Mx$Nxf64>, tensor<$Nxf64>, f64)
          outs(%o : tensor<$Mx$Nxf64>) {
      ^bb0(%p: f64, %q: f64, %t: f64, %r: f64):
        %m = arith.mulf %p, %q : f64
        %e = math.exp %m : f64
        %n = arith.mulf %e, %t : f64
        linalg.yield %n : f64
      } -> tensor<$Mx$Nxf64>
      return %y : tensor<$Mx$Nxf64>
    })mlir");
  check.wrt = {0, 1, 2};
  check.run();
}

TEST(LinalgGradients, GenericReadsItsOuts) {
  GradientCheck check(R"mlir(
    func.func @f(%x: tensor<$Mx$Nxf64>, %o: tensor<$Mx$Nxf64>) -> tensor<$Mx$Nxf64> {
      %y = linalg.generic {
          indexing_maps = [affine_map<(i, j) -> (i, j)>,
                           affine_map<(i, j) -> (i, j)>],
          iterator_types = ["parallel", "parallel"]}
          ins(%x : tensor<$Mx$Nxf64>)
          outs(%o : tensor<$Mx$Nxf64>) {
      ^bb0(%p: f64, %r: f64):
        %m = arith.mulf %p, %r : f64
        %e = math.exp %m : f64
        linalg.yield %e : f64
      } -> tensor<$Mx$Nxf64>
      return %y : tensor<$Mx$Nxf64>
    })mlir");
  check.wrt = {0, 1};
  check.run();
}

TEST(LinalgGradients, GenericCapturesAScalar) {
  GradientCheck check(R"mlir(
    func.func @f(%x: tensor<$Mx$Nxf64>, %s: f64, %o: tensor<$Mx$Nxf64>) -> tensor<$Mx$Nxf64> {
      %y = linalg.generic {
          indexing_maps = [affine_map<(i, j) -> (i, j)>,
                           affine_map<(i, j) -> (i, j)>],
          iterator_types = ["parallel", "parallel"]}
          ins(%x : tensor<$Mx$Nxf64>)
          outs(%o : tensor<$Mx$Nxf64>) {
      ^bb0(%p: f64, %r: f64):
        %m = arith.mulf %p, %s : f64
        %e = math.exp %m : f64
        linalg.yield %e : f64
      } -> tensor<$Mx$Nxf64>
      return %y : tensor<$Mx$Nxf64>
    })mlir");
  check.wrt = {0, 1};
  check.run();
}

TEST(LinalgGradients, GenericUsesIndices) {
  GradientCheck check(R"mlir(
    func.func @f(%x: tensor<$Mx$Nxf64>, %o: tensor<$Mx$Nxf64>) -> tensor<$Mx$Nxf64> {
      %y = linalg.generic {
          indexing_maps = [affine_map<(i, j) -> (i, j)>,
                           affine_map<(i, j) -> (i, j)>],
          iterator_types = ["parallel", "parallel"]}
          ins(%x : tensor<$Mx$Nxf64>)
          outs(%o : tensor<$Mx$Nxf64>) {
      ^bb0(%p: f64, %r: f64):
        %j = linalg.index 1 : index
        %k = arith.index_cast %j : index to i64
        %f = arith.sitofp %k : i64 to f64
        %m = arith.mulf %p, %f : f64
        %e = math.sin %m : f64
        linalg.yield %e : f64
      } -> tensor<$Mx$Nxf64>
      return %y : tensor<$Mx$Nxf64>
    })mlir");
  check.wrt = {0};
  check.run();
}

TEST(LinalgGradients, GenericTransposesAnOperand) {
  GradientCheck check(R"mlir(
    func.func @f(%x: tensor<$Nx$Mxf64>, %o: tensor<$Mx$Nxf64>) -> tensor<$Mx$Nxf64> {
      %y = linalg.generic {
          indexing_maps = [affine_map<(i, j) -> (j, i)>,
                           affine_map<(i, j) -> (i, j)>],
          iterator_types = ["parallel", "parallel"]}
          ins(%x : tensor<$Nx$Mxf64>)
          outs(%o : tensor<$Mx$Nxf64>) {
      ^bb0(%p: f64, %r: f64):
        %e = math.exp %p : f64
        linalg.yield %e : f64
      } -> tensor<$Mx$Nxf64>
      return %y : tensor<$Mx$Nxf64>
    })mlir");
  check.wrt = {0};
  check.run();
}

TEST(LinalgGradients, GenericSubtractsInAReduction) {
  GradientCheck check(R"mlir(
    func.func @f(%x: tensor<$Mx$Nxf64>, %w: tensor<$Nxf64>, %o: tensor<$Mxf64>) -> tensor<$Mxf64> {
      %y = linalg.generic {
          indexing_maps = [affine_map<(i, j) -> (i, j)>,
                           affine_map<(i, j) -> (j)>,
                           affine_map<(i, j) -> (i)>],
          iterator_types = ["parallel", "reduction"]}
          ins(%x, %w : tensor<$Mx$Nxf64>, tensor<$Nxf64>)
          outs(%o : tensor<$Mxf64>) {
      ^bb0(%p: f64, %q: f64, %r: f64):
        %a = math.exp %p : f64
        %b = arith.mulf %a, %q : f64
        %c = arith.subf %r, %b : f64
        %d = arith.addf %q, %c : f64
        linalg.yield %d : f64
      } -> tensor<$Mxf64>
      return %y : tensor<$Mxf64>
    })mlir");
  check.wrt = {0, 1, 2};
  check.run();
}

TEST(LinalgGradients, GenericMaximumOfAnExpression) {
  GradientCheck check(R"mlir(
    func.func @f(%x: tensor<$Mx$Nxf64>, %w: tensor<$Nxf64>, %o: tensor<$Mxf64>) -> tensor<$Mxf64> {
      %y = linalg.generic {
          indexing_maps = [affine_map<(i, j) -> (i, j)>,
                           affine_map<(i, j) -> (j)>,
                           affine_map<(i, j) -> (i)>],
          iterator_types = ["parallel", "reduction"]}
          ins(%x, %w : tensor<$Mx$Nxf64>, tensor<$Nxf64>)
          outs(%o : tensor<$Mxf64>) {
      ^bb0(%p: f64, %q: f64, %r: f64):
        %a = math.exp %p : f64
        %b = arith.mulf %a, %q : f64
        %c = arith.maximumf %b, %r : f64
        linalg.yield %c : f64
      } -> tensor<$Mxf64>
      return %y : tensor<$Mxf64>
    })mlir");
  check.wrt = {0, 1, 2};
  check.run();
}

TEST(LinalgGradients, GenericWithElementsAndSums) {
  GradientCheck check(R"mlir(
    func.func @f(%x: tensor<$Mx$Nxf64>, %o: tensor<$Mx$Nxf64>, %q: tensor<$Nxf64>, %t: tensor<f64>) -> (tensor<$Mx$Nxf64>, tensor<$Nxf64>, tensor<f64>) {
      %y:3 = linalg.generic {
          indexing_maps = [affine_map<(i, j) -> (i, j)>,
                           affine_map<(i, j) -> (i, j)>,
                           affine_map<(i, j) -> (j)>,
                           affine_map<(i, j) -> ()>],
          iterator_types = ["reduction", "reduction"]}
          ins(%x : tensor<$Mx$Nxf64>)
          outs(%o, %q, %t : tensor<$Mx$Nxf64>, tensor<$Nxf64>, tensor<f64>) {
      ^bb0(%a: f64, %b: f64, %c: f64, %d: f64):
        %e = math.exp %a : f64
        %s = arith.addf %c, %e : f64
        %m = arith.mulf %e, %a : f64
        %u = arith.addf %d, %m : f64
        linalg.yield %e, %s, %u : f64, f64, f64
      } -> (tensor<$Mx$Nxf64>, tensor<$Nxf64>, tensor<f64>)
      return %y#0, %y#1, %y#2 : tensor<$Mx$Nxf64>, tensor<$Nxf64>, tensor<f64>
    })mlir");
  check.wrt = {0, 2, 3};
  check.run();
}

TEST(LinalgGradients, TwoLayerNetwork) {
  GradientCheck check(R"mlir(
    func.func @f(%x: tensor<$Mx3xf64>, %w: tensor<3x5xf64>, %b: tensor<5xf64>, %v: tensor<5x2xf64>) -> tensor<f64> {
      %zero = arith.constant 0.0 : f64
      %e0 = tensor.empty() : tensor<$Mx5xf64>
      %i0 = linalg.fill ins(%zero : f64) outs(%e0 : tensor<$Mx5xf64>)
          -> tensor<$Mx5xf64>
      %h = linalg.matmul ins(%x, %w : tensor<$Mx3xf64>, tensor<3x5xf64>)
          outs(%i0 : tensor<$Mx5xf64>) -> tensor<$Mx5xf64>
      %a = linalg.generic {
          indexing_maps = [affine_map<(i, j) -> (i, j)>,
                           affine_map<(i, j) -> (j)>,
                           affine_map<(i, j) -> (i, j)>],
          iterator_types = ["parallel", "parallel"]}
          ins(%h, %b : tensor<$Mx5xf64>, tensor<5xf64>)
          outs(%e0 : tensor<$Mx5xf64>) {
      ^bb0(%p: f64, %q: f64, %r: f64):
        %s = arith.addf %p, %q : f64
        %t = math.tanh %s : f64
        linalg.yield %t : f64
      } -> tensor<$Mx5xf64>
      %e1 = tensor.empty() : tensor<$Mx2xf64>
      %i1 = linalg.fill ins(%zero : f64) outs(%e1 : tensor<$Mx2xf64>)
          -> tensor<$Mx2xf64>
      %y = linalg.matmul ins(%a, %v : tensor<$Mx5xf64>, tensor<5x2xf64>)
          outs(%i1 : tensor<$Mx2xf64>) -> tensor<$Mx2xf64>
      %q = arith.mulf %y, %y : tensor<$Mx2xf64>
      %e2 = tensor.empty() : tensor<f64>
      %i2 = linalg.fill ins(%zero : f64) outs(%e2 : tensor<f64>) -> tensor<f64>
      %l = linalg.reduce { arith.addf } ins(%q : tensor<$Mx2xf64>)
          outs(%i2 : tensor<f64>) dimensions = [0, 1]
      return %l : tensor<f64>
    })mlir");
  check.wrt = {0, 1, 2, 3};
  check.run();
}
