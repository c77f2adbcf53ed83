//===- LaunchPlanTest.cpp - launch plans as JSON, and products in them ----===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/PlanProgram.h"
#include "gtest/gtest.h"

using namespace drawloom;
using namespace drawloom::nvptx;
using drawloom::runtime::cuda::Kind;

namespace {

LaunchPlan planWithProduct() {
  Product product;
  product.m = 3;
  product.n = 5;
  product.k = 7;
  product.batch = 2;
  product.operands = Kind::BF16;
  product.result = Kind::F32;
  product.transposeLeft = true;
  product.leftStride = 3;
  product.rightStride = product.resultStride = 5;
  product.leftBatch = 21;
  product.resultBatch = 15;
  product.bias = product.relu = true;
  LaunchStep step;
  step.product = product;
  step.bytes = 4096;
  step.operands = {{LaunchOperand::Argument, 0},
                   {LaunchOperand::Argument, 1},
                   {LaunchOperand::Argument, 2},
                   {LaunchOperand::Result, 0},
                   {LaunchOperand::Workspace, 256}};
  LaunchPlan plan;
  LaunchEntry &entry = plan.entries.emplace_back();
  entry.signature.name = "f";
  entry.signature.arguments = {{ElementType::BF16, {2, 7, 3}},
                               {ElementType::BF16, {7, 5}},
                               {ElementType::F32, {5}}};
  entry.signature.results = {{ElementType::F32, {2, 3, 5}}};
  entry.signature.workspaceBytes = 4352;
  entry.steps.push_back(step);
  return plan;
}

std::string text(const llvm::json::Value &value) {
  std::string result;
  llvm::raw_string_ostream(result) << value;
  return result;
}

bool isRefused(const LaunchPlan &plan) {
  llvm::Expected<LaunchPlan> read = planFromJson(toJson(plan));
  if (read)
    return false;
  return !llvm::toString(read.takeError()).empty();
}

TEST(LaunchPlan, ProductsSurviveJson) {
  llvm::json::Value json = toJson(planWithProduct());
  llvm::Expected<LaunchPlan> read = planFromJson(json);
  ASSERT_TRUE(static_cast<bool>(read)) << llvm::toString(read.takeError());
  EXPECT_TRUE(read->hasProducts());
  EXPECT_EQ(text(toJson(*read)), text(json));
  const LaunchStep &step = read->entries[0].steps[0];
  ASSERT_TRUE(step.product);
  EXPECT_EQ(step.product->batch, 2);
  EXPECT_EQ(step.product->operands, Kind::BF16);
  EXPECT_TRUE(step.product->transposeLeft && step.product->relu);
  EXPECT_FALSE(step.product->transposeRight || step.product->addend);
  EXPECT_EQ(step.bytes, 4096);
}

TEST(LaunchPlan, PlansWithoutProductsAreReadAsEver) {
  llvm::Expected<llvm::json::Value> json = llvm::json::parse(R"({
    "kernels": [{"name": "k", "grid": 2, "threads": 64, "shared_bytes": 0}],
    "entries": [{"name": "f", "arguments": [], "results": [], "workspace_bytes": 512,
      "steps": [{"kernel": "k", "operands": [["workspace", 0]]},
                {"copy_bytes": 64, "operands": [["workspace", 0], ["workspace", 256]]}]}]})");
  ASSERT_TRUE(static_cast<bool>(json));
  llvm::Expected<LaunchPlan> plan = planFromJson(*json);
  ASSERT_TRUE(static_cast<bool>(plan)) << llvm::toString(plan.takeError());
  EXPECT_FALSE(plan->hasProducts());
  EXPECT_EQ(plan->entries[0].steps[1].bytes, 64);
}

TEST(LaunchPlan, ProductsThatCannotBeComputedAreRefused) {
  LaunchPlan plan = planWithProduct();
  plan.entries[0].steps[0].operands.pop_back();
  EXPECT_TRUE(isRefused(plan));
  plan = planWithProduct();
  plan.entries[0].steps[0].operands[1].kind = LaunchOperand::Scalar;
  EXPECT_TRUE(isRefused(plan));
  plan = planWithProduct();
  plan.entries[0].steps[0].product->rightStride = 4;
  EXPECT_TRUE(isRefused(plan));
}

/// A device with memory of the host, and no library.
class NoLibrary final : public DeviceSession {
public:
  llvm::Expected<void *> allocate(int64_t bytes) override {
    blocks.emplace_back(static_cast<size_t>(bytes) + 1);
    return blocks.back().data();
  }
  llvm::Error upload(void *, const void *, int64_t) override {
    return llvm::Error::success();
  }
  llvm::Error download(void *, const void *, int64_t) override {
    return llvm::Error::success();
  }
  llvm::Error copy(void *, const void *, int64_t) override {
    return llvm::Error::success();
  }
  llvm::Error launch(const LaunchKernel &, llvm::ArrayRef<Argument>) override {
    return llvm::Error::success();
  }

private:
  std::vector<std::vector<char>> blocks;
};

class NoLibraryProgram final : public PlanProgram {
public:
  using PlanProgram::PlanProgram;
  llvm::StringRef isa() const override { return "none"; }

protected:
  llvm::Expected<std::unique_ptr<DeviceSession>> open(unsigned) const override {
    return std::make_unique<NoLibrary>();
  }
};

TEST(LaunchPlan, DeviceWithoutLibrarySaysHowToDoWithout) {
  NoLibraryProgram program(planWithProduct());
  std::vector<char> bytes(256);
  llvm::Error error =
      program.run("f", {bytes.data(), bytes.data(), bytes.data()},
                  {bytes.data()}, 1, nullptr);
  std::string message = llvm::toString(std::move(error));
  EXPECT_NE(message.find("2 x 3x5x7 bf16"), std::string::npos) << message;
  EXPECT_NE(message.find("--dense-products=own"), std::string::npos) << message;
}

} // namespace
