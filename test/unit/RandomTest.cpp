//===- RandomTest.cpp -----------------------------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/Random.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>
#include <set>

using namespace mlir;
using drawloom::HostTensor;
using drawloom::Random;

namespace {
struct RandomTest : testing::Test {
  RandomTest() { context.loadDialect<func::FuncDialect>(); }
  func::FuncOp parse(StringRef source) {
    module = parseSourceString<ModuleOp>(source, &context);
    return module ? *module->getOps<func::FuncOp>().begin() : nullptr;
  }
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};
} // namespace

TEST_F(RandomTest, SeedDecidesTheValues) {
  Type f64 = Float64Type::get(&context);
  HostTensor a = Random(1).tensor(f64, {10});
  HostTensor b = Random(1).tensor(f64, {10});
  HostTensor c = Random(2).tensor(f64, {10});
  EXPECT_EQ(a.f().vec(), b.f().vec());
  EXPECT_NE(a.f().vec(), c.f().vec());
}

TEST_F(RandomTest, NormalHasMeanZeroAndVarianceOne) {
  HostTensor x = Random(3).tensor(Float64Type::get(&context), {100000});
  double sum = 0, squares = 0;
  for (double v : x.f()) {
    sum += v;
    squares += v * v;
  }
  EXPECT_NEAR(sum / x.size(), 0.0, 0.02);
  EXPECT_NEAR(squares / x.size(), 1.0, 0.02);
}

TEST_F(RandomTest, FloatsAreValuesOfTheirType) {
  HostTensor x = Random(4).tensor(Float32Type::get(&context), {100});
  for (double v : x.f())
    EXPECT_EQ(double(float(v)), v);
}

TEST_F(RandomTest, IntegersStayInRange) {
  HostTensor x = Random(5).tensor(IntegerType::get(&context, 32), {1000},
                                  Random::Range{-1, 2});
  std::set<int64_t> seen(x.i().begin(), x.i().end());
  EXPECT_EQ(seen, (std::set<int64_t>{-1, 0, 1, 2}));
}

TEST_F(RandomTest, BooleansAreZeroOrOne) {
  HostTensor x = Random(6).tensor(IntegerType::get(&context, 1), {100});
  std::set<int64_t> seen(x.i().begin(), x.i().end());
  EXPECT_EQ(seen, (std::set<int64_t>{0, 1}));
}

TEST_F(RandomTest, DynamicExtentsAgree) {
  func::FuncOp f =
      parse("func.func private @f(tensor<?x4xf32>, tensor<2x?xi32>)");
  for (uint64_t seed = 0; seed < 20; ++seed) {
    auto arguments = drawloom::randomArguments(f, seed);
    ASSERT_TRUE(succeeded(arguments));
    int64_t extent = (*arguments)[0].dim(0);
    EXPECT_TRUE(extent == 3 || extent == 5 || extent == 7) << extent;
    EXPECT_EQ((*arguments)[1].dim(1), extent);
  }
}

TEST_F(RandomTest, ArgumentAttributesOverride) {
  func::FuncOp f =
      parse("func.func private @f(tensor<?xf32> {check.shape = array<i64: 9>, "
            "check.range = array<f64: 0.5, 0.75>})");
  auto arguments = drawloom::randomArguments(f, 1);
  ASSERT_TRUE(succeeded(arguments));
  EXPECT_EQ((*arguments)[0].dim(0), 9);
  for (double v : (*arguments)[0].f()) {
    EXPECT_GE(v, 0.5);
    EXPECT_LE(v, 0.75);
  }
}
