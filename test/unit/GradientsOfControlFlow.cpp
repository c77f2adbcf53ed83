//===- GradientsOfControlFlow.cpp - loops and branches against differences ===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/GradientCheck.h"
#include "gtest/gtest.h"

using drawloom::HostTensor;
using drawloom::test::GradientCheck;

TEST(ControlFlowGradients, ForWithTensors) {
  GradientCheck check(R"mlir(
    func.func @f(%x: tensor<$Nxf64>, %w: tensor<$Nxf64>) -> tensor<$Nxf64> {
      %lo = arith.constant 0 : index
      %step = arith.constant 1 : index
      %up = arith.constant $M : index
      %y = scf.for %i = %lo to %up step %step iter_args(%h = %x) -> tensor<$Nxf64> {
        %a = arith.mulf %h, %w : tensor<$Nxf64>
        %s = math.sin %a : tensor<$Nxf64>
        %n = arith.addf %s, %h : tensor<$Nxf64>
        scf.yield %n : tensor<$Nxf64>
      }
      return %y : tensor<$Nxf64>
    })mlir");
  check.wrt = {0, 1};
  check.extents["N"] = {0, 1, 5};
  check.run();
}

TEST(ControlFlowGradients, ForWithDynamicBounds) {
  GradientCheck check(R"mlir(
    func.func @f(%x: f64, %w: f64, %lo: index, %up: index, %step: index) -> f64 {
      %y = scf.for %i = %lo to %up step %step iter_args(%h = %x) -> f64 {
        %k = arith.index_cast %i : index to i64
        %f = arith.sitofp %k : i64 to f64
        %a = arith.mulf %h, %f : f64
        %b = arith.mulf %a, %w : f64
        %s = math.sin %b : f64
        scf.yield %s : f64
      }
      return %y : f64
    })mlir");
  check.wrt = {0, 1};
  // The second has a last step that ends beyond the bound, the last none at
  // all.
  for (auto [up, step] : {std::pair{9, 2}, {9, 3}, {4, 1}, {3, 1}, {1, 2}}) {
    check.fixed = {{2, HostTensor::scalar(int64_t(3))},
                   {3, HostTensor::scalar(int64_t(up))},
                   {4, HostTensor::scalar(int64_t(step))}};
    check.run();
  }
}

TEST(ControlFlowGradients, ForWithIntegerInductionVariable) {
  GradientCheck check(R"mlir(
    func.func @f(%x: f64) -> f64 {
      %lo = arith.constant 0 : index
      %step = arith.constant 1 : index
      %up = arith.constant $M : index
      %l32 = arith.constant 1 : i32
      %u32 = arith.constant 6 : i32
      %s32 = arith.constant 2 : i32
      %y = scf.for %i = %l32 to %u32 step %s32 iter_args(%h = %x) -> f64 : i32 {
        %f = arith.sitofp %i : i32 to f64
        %a = arith.mulf %h, %f : f64
        %s = math.sin %a : f64
        scf.yield %s : f64
      }
      return %y : f64
    })mlir");
  check.wrt = {0};
  check.run();
}

TEST(ControlFlowGradients, ForWithSeveralCarriedValues) {
  GradientCheck check(R"mlir(
    func.func @f(%x: tensor<$Nxf64>, %s: f64) -> (tensor<$Nxf64>, f64) {
      %lo = arith.constant 0 : index
      %step = arith.constant 1 : index
      %up = arith.constant $M : index
      %c0 = arith.constant 0 : index
      %y:3 = scf.for %i = %lo to %up step %step
          iter_args(%h = %x, %t = %s, %n = %c0) -> (tensor<$Nxf64>, f64, index) {
        %b = tensor.splat %t : tensor<$Nxf64>
        %a = arith.mulf %h, %b : tensor<$Nxf64>
        %e = math.sin %a : tensor<$Nxf64>
        %k = arith.index_cast %n : index to i64
        %f = arith.sitofp %k : i64 to f64
        %u = arith.mulf %t, %f : f64
        %v = math.cos %u : f64
        %m = arith.addi %n, %step : index
        scf.yield %e, %v, %m : tensor<$Nxf64>, f64, index
      }
      return %y#0, %y#1 : tensor<$Nxf64>, f64
    })mlir");
  check.wrt = {0, 1};
  check.run();
}

TEST(ControlFlowGradients, ForReachesAResultThroughAnotherCarriedValue) {
  GradientCheck check(R"mlir(
    func.func @f(%x: f64, %w: f64) -> f64 {
      %lo = arith.constant 0 : index
      %step = arith.constant 1 : index
      %up = arith.constant $M : index
      %zero = arith.constant 1.0 : f64
      %y:2 = scf.for %i = %lo to %up step %step
          iter_args(%a = %x, %b = %zero) -> (f64, f64) {
        %p = arith.mulf %b, %w : f64
        %q = math.sin %a : f64
        scf.yield %p, %q : f64, f64
      }
      return %y#0 : f64
    })mlir");
  check.wrt = {0, 1};
  check.run();
}

TEST(ControlFlowGradients, ForOverRowsOfACapture) {
  GradientCheck check(R"mlir(
    func.func @f(%x: tensor<$Mx$Nxf64>, %z: tensor<$Nxf64>) -> tensor<$Nxf64> {
      %lo = arith.constant 0 : index
      %step = arith.constant 1 : index
      %up = arith.constant $M : index
      %y = scf.for %i = %lo to %up step %step iter_args(%h = %z) -> tensor<$Nxf64> {
        %r = tensor.extract_slice %x[%i, 0] [1, $N] [1, 1]
            : tensor<$Mx$Nxf64> to tensor<$Nxf64>
        %q = arith.mulf %r, %h : tensor<$Nxf64>
        %a = math.sin %q : tensor<$Nxf64>
        scf.yield %a : tensor<$Nxf64>
      }
      return %y : tensor<$Nxf64>
    })mlir");
  check.wrt = {0, 1};
  check.run();
}

TEST(ControlFlowGradients, ForWritesRows) {
  GradientCheck check(R"mlir(
    func.func @f(%x: tensor<$Mx$Nxf64>, %o: tensor<$Mx$Nxf64>) -> tensor<$Mx$Nxf64> {
      %lo = arith.constant 0 : index
      %step = arith.constant 1 : index
      %up = arith.constant $M : index
      %y = scf.for %i = %lo to %up step %step
          iter_args(%h = %o) -> tensor<$Mx$Nxf64> {
        %r = tensor.extract_slice %x[%i, 0] [1, $N] [1, 1]
            : tensor<$Mx$Nxf64> to tensor<$Nxf64>
        %q = arith.mulf %r, %r : tensor<$Nxf64>
        %a = tensor.insert_slice %q into %h[%i, 0] [1, $N] [1, 1]
            : tensor<$Nxf64> into tensor<$Mx$Nxf64>
        scf.yield %a : tensor<$Mx$Nxf64>
      }
      return %y : tensor<$Mx$Nxf64>
    })mlir");
  check.wrt = {0, 1};
  check.run();
}

TEST(ControlFlowGradients, ForWithDynamicTensors) {
  GradientCheck check(R"mlir(
    func.func @f(%x: tensor<$Nxf64>, %w: tensor<$Nxf64>) -> tensor<$Nxf64> {
      %lo = arith.constant 0 : index
      %step = arith.constant 1 : index
      %up = arith.constant $M : index
      %d = tensor.cast %x : tensor<$Nxf64> to tensor<?xf64>
      %e = tensor.cast %w : tensor<$Nxf64> to tensor<?xf64>
      %z = scf.for %i = %lo to %up step %step iter_args(%h = %d) -> tensor<?xf64> {
        %q = arith.mulf %h, %e : tensor<?xf64>
        %a = math.sin %q : tensor<?xf64>
        scf.yield %a : tensor<?xf64>
      }
      %y = tensor.cast %z : tensor<?xf64> to tensor<$Nxf64>
      return %y : tensor<$Nxf64>
    })mlir");
  check.wrt = {0, 1};
  check.run();
}

TEST(ControlFlowGradients, NestedFor) {
  GradientCheck check(R"mlir(
    func.func @f(%x: f64, %w: f64) -> f64 {
      %lo = arith.constant 0 : index
      %step = arith.constant 1 : index
      %up = arith.constant $M : index
      %y = scf.for %i = %lo to %up step %step iter_args(%h = %x) -> f64 {
        %m = arith.addi %i, %step : index
        %z = scf.for %j = %lo to %m step %step iter_args(%k = %h) -> f64 {
          %a = arith.mulf %k, %w : f64
          %s = math.sin %a : f64
          scf.yield %s : f64
        }
        %t = arith.mulf %z, %h : f64
        scf.yield %t : f64
      }
      return %y : f64
    })mlir");
  check.wrt = {0, 1};
  check.run();
}

TEST(ControlFlowGradients, If) {
  GradientCheck check(R"mlir(
    func.func @f(%x: f64, %w: f64) -> f64 {
      %zero = arith.constant 0.0 : f64
      %c = arith.cmpf olt, %x, %zero : f64
      %y = scf.if %c -> f64 {
        %a = arith.mulf %x, %w : f64
        %b = math.exp %a : f64
        scf.yield %b : f64
      } else {
        %a = math.sin %x : f64
        scf.yield %a : f64
      }
      return %y : f64
    })mlir");
  check.wrt = {0, 1};
  for (double x : {-0.5, 0.5}) {
    check.fixed[0] = HostTensor::scalar(x);
    check.run();
  }
}

TEST(ControlFlowGradients, IfInsideFor) {
  GradientCheck check(R"mlir(
    func.func @f(%x: tensor<$Nxf64>, %w: tensor<$Nxf64>) -> tensor<$Nxf64> {
      %lo = arith.constant 0 : index
      %step = arith.constant 1 : index
      %up = arith.constant $M : index
      %two = arith.constant 2 : index
      %y = scf.for %i = %lo to %up step %step iter_args(%h = %x) -> tensor<$Nxf64> {
        %r = arith.remui %i, %two : index
        %c = arith.cmpi eq, %r, %lo : index
        %z = scf.if %c -> tensor<$Nxf64> {
          %a = arith.mulf %h, %w : tensor<$Nxf64>
          %s = math.sin %a : tensor<$Nxf64>
          scf.yield %s : tensor<$Nxf64>
        } else {
          %s = math.cos %h : tensor<$Nxf64>
          scf.yield %s : tensor<$Nxf64>
        }
        scf.yield %z : tensor<$Nxf64>
      }
      return %y : tensor<$Nxf64>
    })mlir");
  check.wrt = {0, 1};
  check.run();
}

TEST(ControlFlowGradients, CallInsideFor) {
  GradientCheck check(R"mlir(
    func.func private @step(%h: f64, %w: f64) -> f64 {
      %a = arith.mulf %h, %w : f64
      %s = math.sin %a : f64
      return %s : f64
    }
    func.func @f(%x: f64, %w: f64) -> f64 {
      %lo = arith.constant 0 : index
      %step = arith.constant 1 : index
      %up = arith.constant $M : index
      %y = scf.for %i = %lo to %up step %step iter_args(%h = %x) -> f64 {
        %s = func.call @step(%h, %w) : (f64, f64) -> f64
        scf.yield %s : f64
      }
      return %y : f64
    })mlir");
  check.wrt = {0, 1};
  check.run();
}

TEST(ControlFlowGradients, GradientInsideALoop) {
  GradientCheck check(R"mlir(
    func.func private @energy(%x: f64) -> f64 {
      %s = math.sin %x : f64
      %y = arith.mulf %s, %x : f64
      return %y : f64
    }
    func.func @f(%x: f64, %rate: f64) -> f64 {
      %lo = arith.constant 0 : index
      %step = arith.constant 1 : index
      %up = arith.constant $M : index
      %y = scf.for %i = %lo to %up step %step iter_args(%h = %x) -> f64 {
        %e, %d = ad.value_and_grad @energy(%h) wrt [0] : (f64) -> (f64, f64)
        %u = arith.mulf %d, %rate : f64
        %n = arith.subf %h, %u : f64
        scf.yield %n : f64
      }
      return %y : f64
    })mlir");
  check.wrt = {0, 1};
  check.run();
}
