//===- LaunchPlanTest.cpp - launch plans as JSON, and products in them ----===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/launch/LaunchPlan.h"
#include "codegen/nvptx/launch/OpenKernels.h"
#include "drawloom/runtime/PlanProgram.h"
#include "gtest/gtest.h"

using namespace drawloom;
using namespace drawloom::nvptx;
using namespace drawloom::runtime::cuda;
using drawloom::runtime::Status;

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
  runtime::Result<LaunchPlan> read = parsePlan(text(toJson(plan)));
  return !read.ok() && !read.message().empty();
}

TEST(LaunchPlan, ProductsSurviveJson) {
  llvm::json::Value json = toJson(planWithProduct());
  runtime::Result<LaunchPlan> read = parsePlan(text(json));
  ASSERT_TRUE(read.ok()) << read.message();
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
  runtime::Result<LaunchPlan> plan = parsePlan(R"({
    "kernels": [{"name": "k", "grid": 2, "threads": 64, "shared_bytes": 0}],
    "entries": [{"name": "f", "arguments": [], "results": [], "workspace_bytes": 512,
      "steps": [{"kernel": "k", "operands": [["workspace", 0]]},
                {"copy_bytes": 64, "operands": [["workspace", 0], ["workspace", 256]]}]}]})");
  ASSERT_TRUE(plan.ok()) << plan.message();
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

TEST(LaunchPlan, StepsBeyondTheirMemoryAreRefused) {
  using Change = void (*)(LaunchEntry &);
  for (Change change : std::initializer_list<Change>{
           [](LaunchEntry &e) { e.steps[0].operands[0].value = 3; },
           [](LaunchEntry &e) { e.steps[0].operands[3].value = 1; },
           [](LaunchEntry &e) { e.steps[0].operands[4].value = 4353; },
           [](LaunchEntry &e) { e.signature.workspaceBytes = 4351; },
           [](LaunchEntry &e) { e.signature.arguments[0].shape = {2, 7, 2}; },
           [](LaunchEntry &e) { e.signature.arguments[2].shape = {4}; },
           [](LaunchEntry &e) { e.signature.results[0].shape = {2, 3, 4}; },
           [](LaunchEntry &e) {
             e.steps.push_back(
                 {"",
                  {{LaunchOperand::Result, 0}, {LaunchOperand::Workspace, 0}},
                  121,
                  std::nullopt});
           },
           [](LaunchEntry &e) {
             e.steps.push_back(
                 {"",
                  {{LaunchOperand::Result, 0}, {LaunchOperand::Argument, 0}},
                  2,
                  std::nullopt});
           },
           [](LaunchEntry &e) { e.steps.push_back({"none", {}, 0, {}}); }}) {
    LaunchPlan plan = planWithProduct();
    change(plan.entries[0]);
    EXPECT_TRUE(isRefused(plan)) << text(toJson(plan));
  }
}

LaunchPlan planWithTransfers() {
  LaunchPlan plan;
  LaunchEntry &entry = plan.entries.emplace_back();
  entry.signature.name = "f";
  entry.signature.arguments =
      entry.signature.results = {{ElementType::F32, {64}}};
  entry.signature.workspaceBytes = 512;
  entry.signature.records = 1;
  entry.signature.recordBytes = 256;
  auto add = [&](LaunchTransfer::Kind kind, LaunchOperand memory) {
    LaunchStep &step = entry.steps.emplace_back();
    step.transfer = {kind, 0};
    if (!step.transfer->hasMemory())
      return;
    step.operands = {memory};
    step.bytes = 256;
  };
  add(LaunchTransfer::Store, {LaunchOperand::Argument, 0});
  add(LaunchTransfer::Load, {});
  add(LaunchTransfer::Release, {});
  add(LaunchTransfer::Fetch, {LaunchOperand::Workspace, 256});
  add(LaunchTransfer::Await, {LaunchOperand::Workspace, 256});
  add(LaunchTransfer::Drop, {});
  return plan;
}

TEST(LaunchPlan, TransfersSurviveJson) {
  llvm::json::Value json = toJson(planWithTransfers());
  runtime::Result<LaunchPlan> read = parsePlan(text(json));
  ASSERT_TRUE(read.ok()) << read.message();
  EXPECT_EQ(text(toJson(*read)), text(json));
  EXPECT_EQ(read->entries[0].signature.records, 1);
  EXPECT_EQ(read->entries[0].signature.recordBytes, 256);
  const LaunchStep &step = read->entries[0].steps[3];
  ASSERT_TRUE(step.transfer);
  EXPECT_EQ(step.transfer->kind, LaunchTransfer::Fetch);
  EXPECT_EQ(step.bytes, 256);
}

TEST(LaunchPlan, TransfersThatCannotBeMadeAreRefused) {
  auto isRefusedWith = [](size_t step, auto change) {
    LaunchPlan plan = planWithTransfers();
    change(plan.entries[0].steps[step]);
    return isRefused(plan);
  };
  auto beyond = [](LaunchStep &step) { step.bytes = 257; };
  auto unknown = [](LaunchStep &step) { step.transfer->record = 1; };
  auto nowhere = [](LaunchStep &step) { step.operands.clear(); };
  for (size_t step : {0, 3, 4})
    EXPECT_TRUE(isRefusedWith(step, beyond) && isRefusedWith(step, nowhere));
  for (size_t step = 0; step < 6; ++step)
    EXPECT_TRUE(isRefusedWith(step, unknown)) << step;
  auto elsewhere = [](LaunchStep &step) {
    step.operands = {{LaunchOperand::Workspace, 0}};
  };
  for (size_t step : {1, 2, 5})
    EXPECT_TRUE(isRefusedWith(step, elsewhere)) << step;
  // Arguments do not change.
  auto argument = [](LaunchStep &step) {
    step.operands = {{LaunchOperand::Argument, 0}};
  };
  EXPECT_TRUE(isRefusedWith(3, argument) && isRefusedWith(4, argument));
}

TEST(LaunchPlan, DamagedJsonIsRefused) {
  std::string good = text(toJson(planWithProduct()));
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(parsePlan(good.substr(0, size)).ok()) << size;
  for (auto [from, to] :
       {std::pair("[\"argument\",0]", "[\"argument\",-1]"),
        std::pair("[\"argument\",0]", "[\"nothing\",0]"),
        std::pair("\"workspace_bytes\":4352", "\"workspace_bytes\":-1"),
        std::pair("\"element\":2", "\"element\":8"),
        std::pair("[2,7,3]", "[2,7,4611686018427387904]"),
        std::pair("\"bf16\"", "\"f64\"")}) {
    size_t at = good.find(from);
    ASSERT_NE(at, std::string::npos) << from << good;
    std::string bad = good;
    bad.replace(at, std::string_view(from).size(), to);
    EXPECT_FALSE(parsePlan(bad).ok()) << to;
  }
}

/// A device with memory of the host, and no library.
class NoLibrary final : public DeviceSession {
public:
  runtime::Result<void *> allocate(int64_t bytes) override {
    blocks.emplace_back(static_cast<size_t>(bytes) + 1);
    return static_cast<void *>(blocks.back().data());
  }
  Status upload(void *, const void *, int64_t) override { return {}; }
  Status download(void *, const void *, int64_t) override { return {}; }
  Status copy(void *, const void *, int64_t) override { return {}; }
  Status launch(const LaunchKernel &, const std::vector<Argument> &) override {
    return {};
  }

private:
  std::vector<std::vector<char>> blocks;
};

class NoLibraryProgram final : public PlanProgram {
public:
  explicit NoLibraryProgram(LaunchPlan plan)
      : PlanProgram(std::move(plan), {}) {}
  const std::string &isa() const override { return none; }

protected:
  runtime::Result<std::unique_ptr<DeviceSession>>
  open(unsigned) const override {
    return std::unique_ptr<DeviceSession>(std::make_unique<NoLibrary>());
  }

private:
  std::string none = "none";
};

using E = ExtentExpression;
E number(int64_t value) { return {E::Number, value}; }
E extent(int64_t number) { return {E::Extent, number}; }
E of(E::Kind kind, E x, E y) { return {kind, 0, {std::move(x), std::move(y)}}; }

/// A kernel with a block for 64 rows each, beside a copy of all of them.
LaunchPlan planWithOpenRows() {
  LaunchPlan plan;
  LaunchKernel &kernel = plan.kernels.emplace_back();
  kernel.name = "k";
  kernel.openGrid = of(E::Div, of(E::Add, extent(0), number(63)), number(64));
  LaunchEntry &entry = plan.entries.emplace_back();
  entry.signature.name = "f";
  entry.signature.openExtents = 1;
  entry.signature.arguments =
      entry.signature.results = {{ElementType::F32, {-1, 8}}};
  entry.signature.workspaceTerms = {{32, {0}}};
  LaunchStep launch, copy;
  launch.kernel = "k";
  launch.operands = {{LaunchOperand::Extent, 0},
                     {LaunchOperand::Argument, 0},
                     {LaunchOperand::OpenWorkspace, 0, 0}};
  copy.operands = {{LaunchOperand::OpenWorkspace, 0, 0},
                   {LaunchOperand::Result, 0}};
  copy.openBytes = of(E::Mul, number(32), extent(0));
  entry.steps = {launch, copy};
  return plan;
}

TEST(LaunchPlan, OpenRowsSurviveJson) {
  llvm::json::Value json = toJson(planWithOpenRows());
  llvm::json::Value kernels = llvm::json::Array{llvm::json::Object{
      {"name", "k"},
      {"grid", toJson(*planWithOpenRows().kernels[0].openGrid)},
      {"threads", 32},
      {"shared_bytes", 0}}};
  EXPECT_EQ(text((*json.getAsObject())["kernels"]), text(kernels));
  runtime::Result<LaunchPlan> read = parsePlan(text(json));
  ASSERT_TRUE(read.ok()) << read.message();
  EXPECT_EQ(text(toJson(*read)), text(json));
}

TEST(LaunchPlan, ExpressionsOfExtentsAreWorkedOutOrRefused) {
  const int64_t extents[] = {7, std::numeric_limits<int64_t>::max()};
  EXPECT_EQ(evaluate(of(E::Rem, extent(0), number(4)), extents), 3);
  EXPECT_EQ(evaluate(of(E::Max, of(E::Sub, number(0), extent(0)), number(-2)),
                     extents),
            -2);
  EXPECT_EQ(evaluate(of(E::Min, extent(0), extent(1)), extents), 7);
  for (const E &expression :
       {of(E::Add, extent(1), number(1)), of(E::Mul, extent(1), number(2)),
        of(E::Sub, number(-2), extent(1)), of(E::Div, extent(0), number(0)),
        of(E::Div, number(-1), number(2)), of(E::Rem, extent(0), number(-1))})
    EXPECT_FALSE(evaluate(expression, extents)) << text(toJson(expression));
}

TEST(LaunchPlan, ExtentsThatThereAreNotAreRefused) {
  using Change = void (*)(LaunchPlan &);
  for (Change change : std::initializer_list<Change>{
           [](LaunchPlan &p) { p.kernels[0].openGrid = extent(1); },
           [](LaunchPlan &p) { p.entries[0].steps[1].openBytes = extent(1); },
           [](LaunchPlan &p) { p.entries[0].steps[0].operands[0].value = 1; },
           [](LaunchPlan &p) { p.entries[0].steps[0].operands[2].term = 1; },
           [](LaunchPlan &p) { p.entries[0].steps[0].operands[2].value = 33; },
           [](LaunchPlan &p) {
             p.entries[0].signature.workspaceTerms[0].extents = {1};
           },
           [](LaunchPlan &p) { p.entries[0].signature.openExtents = 0; }}) {
    LaunchPlan plan = planWithOpenRows();
    change(plan);
    EXPECT_TRUE(isRefused(plan)) << text(toJson(plan));
  }
}

TEST(LaunchPlan, CallsSayHowManyRowsThereAre) {
  auto run = [](const LaunchPlan &plan, int64_t rows) {
    NoLibraryProgram program(plan);
    std::vector<char> bytes(4096);
    const void *arguments[] = {bytes.data()};
    void *results[] = {bytes.data()};
    return program.run(0, arguments, results, 1, nullptr, &rows).message();
  };
  EXPECT_EQ(run(planWithOpenRows(), 0), "");
  EXPECT_EQ(run(planWithOpenRows(), 100), "");
  LaunchPlan plan = planWithOpenRows();
  plan.kernels[0].openGrid = of(E::Mul, extent(0), number(int64_t(1) << 31));
  EXPECT_NE(run(plan, 1).find("2147483648 blocks of kernel 'k'"),
            std::string::npos);
  plan.kernels[0].openGrid = of(E::Mul, extent(0), number(int64_t(1) << 62));
  EXPECT_NE(run(plan, 2).find("64 bits do not count"), std::string::npos);
  plan = planWithOpenRows();
  plan.entries[0].steps[1].openBytes = of(E::Mul, number(33), extent(0));
  EXPECT_NE(run(plan, 2).find("copies more than there is"), std::string::npos);
  NoLibraryProgram program(planWithOpenRows());
  EXPECT_NE(program.run(0, nullptr, nullptr, 1, nullptr, nullptr)
                .message()
                .find("none are given"),
            std::string::npos);
}

TEST(LaunchPlan, DeviceWithoutLibrarySaysHowToDoWithout) {
  NoLibraryProgram program(planWithProduct());
  std::vector<char> bytes(256);
  const void *arguments[] = {bytes.data(), bytes.data(), bytes.data()};
  void *results[] = {bytes.data()};
  std::string message =
      program.run(0, arguments, results, 1, nullptr, nullptr).message();
  EXPECT_NE(message.find("2 x 3x5x7 bf16"), std::string::npos) << message;
  EXPECT_NE(message.find("--dense-products=own"), std::string::npos) << message;
}

} // namespace
