//===- InterpreterTest.cpp ------------------------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/Interpreter.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace mlir;
using drawloom::HostTensor;
using drawloom::Interpreter;

namespace {
/// Parses a module and calls its function @f; keeps the last diagnostic.
class InterpreterTest : public testing::Test {
protected:
  InterpreterTest()
      : handler(&context, [this](Diagnostic &diagnostic) {
          message = diagnostic.str();
          return success();
        }) {
    context.loadDialect<affine::AffineDialect, arith::ArithDialect,
                        bufferization::BufferizationDialect, func::FuncDialect,
                        linalg::LinalgDialect, memref::MemRefDialect,
                        scf::SCFDialect, tensor::TensorDialect>();
  }

  func::FuncOp parse(StringRef source) {
    module = parseSourceString<ModuleOp>(source, &context);
    return module ? module->lookupSymbol<func::FuncOp>("f") : nullptr;
  }

  static HostTensor floats(ArrayRef<int64_t> shape, double start = 1.0) {
    HostTensor tensor(true, shape);
    for (double &x : tensor.mutableF())
      x = start++;
    return tensor;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::string message;
  ScopedDiagnosticHandler handler;
};

class MatmulShapes
    : public InterpreterTest,
      public testing::WithParamInterface<std::tuple<int, int, int>> {};
} // namespace

TEST_P(MatmulShapes, AgreesWithThreeLoops) {
  auto [m, k, n] = GetParam();
  func::FuncOp f = parse(R"mlir(
    func.func @f(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>, %c: tensor<?x?xf64>)
        -> tensor<?x?xf64> {
      %0 = linalg.matmul ins(%a, %b : tensor<?x?xf64>, tensor<?x?xf64>)
                         outs(%c : tensor<?x?xf64>) -> tensor<?x?xf64>
      return %0 : tensor<?x?xf64>
    })mlir");
  ASSERT_TRUE(f);
  HostTensor a = floats({m, k}), b = floats({k, n}, 3.0), c = floats({m, n});
  auto results = Interpreter::call(f, {a, b, c});
  ASSERT_TRUE(succeeded(results)) << message;
  EXPECT_EQ((*results)[0].shape(), ArrayRef<int64_t>({m, n}));
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double expected = c.f({i, j});
      for (int64_t p = 0; p < k; ++p)
        expected += a.f({i, p}) * b.f({p, j});
      EXPECT_EQ((*results)[0].f({i, j}), expected);
    }
}
INSTANTIATE_TEST_SUITE_P(Sizes, MatmulShapes,
                         testing::Combine(testing::Values(0, 1, 3),
                                          testing::Values(0, 1, 5),
                                          testing::Values(0, 1, 2)));

namespace {
class PadShapes : public InterpreterTest,
                  public testing::WithParamInterface<std::tuple<int, int>> {};
} // namespace

TEST_P(PadShapes, SliceOfPaddedIsTheSource) {
  auto [size, low] = GetParam();
  func::FuncOp f = parse(R"mlir(
    func.func @f(%x: tensor<?xf64>, %low: index) -> (tensor<?xf64>, tensor<?xf64>) {
      %zero = arith.constant 0.0 : f64
      %c0 = arith.constant 0 : index
      %n = tensor.dim %x, %c0 : tensor<?xf64>
      %p = tensor.pad %x low[%low] high[2] {
      ^bb0(%i: index):
        tensor.yield %zero : f64
      } : tensor<?xf64> to tensor<?xf64>
      %s = tensor.extract_slice %p[%low] [%n] [1] : tensor<?xf64> to tensor<?xf64>
      return %p, %s : tensor<?xf64>, tensor<?xf64>
    })mlir");
  ASSERT_TRUE(f);
  HostTensor x = floats({size});
  auto results = Interpreter::call(f, {x, HostTensor::scalar(int64_t(low))});
  ASSERT_TRUE(succeeded(results)) << message;
  EXPECT_EQ((*results)[0].size(), size + low + 2);
  EXPECT_EQ((*results)[1].shape(), x.shape());
  EXPECT_EQ((*results)[1].f().vec(), x.f().vec());
}
INSTANTIATE_TEST_SUITE_P(Sizes, PadShapes,
                         testing::Combine(testing::Values(0, 1, 4),
                                          testing::Values(0, 1)));

TEST_F(InterpreterTest, ArgumentsKeepTheirValues) {
  func::FuncOp f = parse(R"mlir(
    func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
      %zero = arith.constant 0.0 : f32
      %0 = linalg.fill ins(%zero : f32) outs(%x : tensor<2xf32>) -> tensor<2xf32>
      return %0 : tensor<2xf32>
    })mlir");
  HostTensor x = floats({2});
  auto results = Interpreter::call(f, {x});
  ASSERT_TRUE(succeeded(results)) << message;
  EXPECT_EQ((*results)[0].f({1}), 0.0);
  EXPECT_EQ(x.f({1}), 2.0);
}

TEST_F(InterpreterTest, WrongNumberOfArgumentsIsAnError) {
  func::FuncOp f = parse("func.func @f(%x: f32) { return }");
  EXPECT_TRUE(failed(Interpreter::call(f, {})));
  EXPECT_NE(message.find("takes 1 arguments, not 0"), std::string::npos);
}

TEST_F(InterpreterTest, WrongShapeIsAnError) {
  func::FuncOp f = parse("func.func @f(%x: tensor<2x?xf32>) { return }");
  EXPECT_TRUE(failed(Interpreter::call(f, {floats({3, 1})})));
  EXPECT_NE(message.find("argument #0 must be of type 'tensor<2x?xf32>', but "
                         "has shape [3, 1]"),
            std::string::npos)
      << message;
}

TEST_F(InterpreterTest, WrongKindIsAnError) {
  func::FuncOp f = parse("func.func @f(%x: i32) { return }");
  EXPECT_TRUE(failed(Interpreter::call(f, {HostTensor::scalar(1.0)})));
  EXPECT_NE(message.find("its elements are floats"), std::string::npos);
}

TEST_F(InterpreterTest, MemoryArgumentsAreWritten) {
  func::FuncOp f = parse(R"mlir(
    func.func @f(%x: tensor<2xf32>, %m: memref<2xf32>) {
      bufferization.materialize_in_destination %x in restrict writable %m
        : (tensor<2xf32>, memref<2xf32>) -> ()
      return
    })mlir");
  SmallVector<HostTensor> arguments = {floats({2}), HostTensor(true, {2})};
  auto results = Interpreter::callInPlace(f, arguments, Interpreter::Limits());
  ASSERT_TRUE(succeeded(results)) << message;
  EXPECT_EQ(arguments[1].f({1}), 2.0);
}

TEST_F(InterpreterTest, EndlessLoopMeetsTheLimit) {
  func::FuncOp f = parse(R"mlir(
    func.func @f(%c: i1) {
      scf.while : () -> () {
        scf.condition(%c)
      } do {
        scf.yield
      }
      return
    })mlir");
  Interpreter::Limits limits;
  limits.iterations = 1000;
  EXPECT_TRUE(
      failed(Interpreter::call(f, {HostTensor::scalar(int64_t(1))}, limits)));
  EXPECT_NE(message.find("limit of 1000 loop iterations"), std::string::npos);
}

TEST_F(InterpreterTest, ElementLimitIsRespected) {
  func::FuncOp f = parse(R"mlir(
    func.func @f() -> tensor<11xf32> {
      %0 = tensor.empty() : tensor<11xf32>
      return %0 : tensor<11xf32>
    })mlir");
  Interpreter::Limits limits;
  limits.elements = 10;
  EXPECT_TRUE(failed(Interpreter::call(f, {}, limits)));
  limits.elements = 11;
  EXPECT_TRUE(succeeded(Interpreter::call(f, {}, limits)));
}
