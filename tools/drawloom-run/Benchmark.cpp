//===- Benchmark.cpp - time, work and roofs -------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/drawloom-run/Benchmark.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace llvm;

namespace drawloom::run {

/// Operations of one execution of an op by itself, for each of its elements.
static double scalarOperations(mlir::Operation &op) {
  mlir::Type type =
      op.getNumResults() ? op.getResult(0).getType() : mlir::Type();
  if (!type || !mlir::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(type)))
    return 0;
  if (mlir::isa<mlir::math::FmaOp>(op))
    return 2;
  // Choosing, converting and copying are not arithmetic.
  if (mlir::isa<mlir::arith::AddFOp, mlir::arith::SubFOp, mlir::arith::MulFOp,
                mlir::arith::DivFOp, mlir::arith::MaximumFOp,
                mlir::arith::MinimumFOp, mlir::arith::MaxNumFOp,
                mlir::arith::MinNumFOp>(op) ||
      mlir::isa<mlir::math::MathDialect>(op.getDialect()))
    return 1;
  return 0;
}

static std::optional<double> countBlock(mlir::Block &block);

static std::optional<double> countRegions(mlir::Operation &op) {
  double sum = 0;
  for (mlir::Region &region : op.getRegions())
    for (mlir::Block &block : region) {
      std::optional<double> inner = countBlock(block);
      if (!inner)
        return std::nullopt;
      sum += *inner;
    }
  return sum;
}

static std::optional<double> countOp(mlir::Operation &op) {
  if (auto linalg = mlir::dyn_cast<mlir::linalg::LinalgOp>(op)) {
    double points = 1;
    for (int64_t range : linalg.getStaticLoopRanges()) {
      if (mlir::ShapedType::isDynamic(range))
        return std::nullopt;
      points *= static_cast<double>(range);
    }
    std::optional<double> body = countBlock(*linalg.getBlock());
    return body ? std::optional(points * *body) : std::nullopt;
  }
  if (auto loop = mlir::dyn_cast<mlir::LoopLikeOpInterface>(op)) {
    auto low = loop.getLoopLowerBounds(), high = loop.getLoopUpperBounds(),
         step = loop.getLoopSteps();
    std::optional<double> inner = countRegions(op);
    if (inner && *inner == 0)
      return 0;
    if (!inner || !low || !high || !step)
      return std::nullopt;
    double trips = 1;
    for (auto [l, h, s] : zip_equal(*low, *high, *step)) {
      std::optional<APInt> count = mlir::constantTripCount(
          l, h, s, /*isSigned=*/true, mlir::scf::computeUbMinusLb);
      if (!count)
        return std::nullopt;
      trips *= count->roundToDouble();
    }
    return *inner * trips;
  }
  double elements = 1;
  if (op.getNumResults() && scalarOperations(op) > 0)
    if (auto shaped =
            mlir::dyn_cast<mlir::ShapedType>(op.getResult(0).getType())) {
      if (!shaped.hasStaticShape())
        return std::nullopt;
      elements = static_cast<double>(shaped.getNumElements());
    }
  std::optional<double> inner = countRegions(op);
  return inner ? std::optional(*inner + elements * scalarOperations(op))
               : std::nullopt;
}

static std::optional<double> countBlock(mlir::Block &block) {
  double sum = 0;
  for (mlir::Operation &op : block) {
    std::optional<double> count = countOp(op);
    if (!count)
      return std::nullopt;
    sum += *count;
  }
  return sum;
}

std::optional<double> countOperations(mlir::ModuleOp module) {
  double sum = 0;
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    if (!function.isPublic())
      continue;
    std::optional<double> count = countRegions(*function);
    if (!count)
      return std::nullopt;
    sum += *count;
  }
  return sum > 0 ? std::optional(sum) : std::nullopt;
}

Error benchmark(Engine &engine, StringRef entry, ArrayRef<Value> arguments,
                const Work &work, double compileSeconds,
                const Options &options) {
  using Clock = std::chrono::steady_clock;
  if (Error error = engine.run(arguments))
    return error;
  std::vector<double> seconds;
  for (unsigned i = 0; i < options.benchmarkRuns; ++i) {
    Clock::time_point start = Clock::now();
    if (Error error = engine.run(arguments))
      return error;
    seconds.push_back(
        std::chrono::duration<double>(Clock::now() - start).count());
  }
  llvm::sort(seconds);
  size_t half = seconds.size() / 2;
  double median = seconds.size() % 2 ? seconds[half]
                                     : (seconds[half - 1] + seconds[half]) / 2;
  Roofs roofs = measureRoofs(options.threads, options.compile.codegen.isa);

  raw_ostream &out = outs();
  out << "@" << entry << ": " << seconds.size() << " runs on "
      << options.threads << (options.threads == 1 ? " thread\n" : " threads\n")
      << format("  compiled in %.3f s\n", compileSeconds)
      << format("  median %.4f ms, least %.4f ms\n", median * 1e3,
                seconds.front() * 1e3);
  if (work.operations)
    out << format("  %.2f GFLOP/s, %.0f %% of the %.1f that multiply-adds "
                  "reach here\n",
                  *work.operations / median / 1e9,
                  *work.operations / median / roofs.operationsPerSecond * 100,
                  roofs.operationsPerSecond / 1e9);
  out << format("  %.2f GB/s of arguments and results, %.0f %% of the %.1f "
                "that a triad reaches here\n",
                work.bytes / median / 1e9,
                work.bytes / median / roofs.bytesPerSecond * 100,
                roofs.bytesPerSecond / 1e9);
  out << "benchmark: entry=" << entry << " runs=" << seconds.size()
      << " threads=" << options.threads
      << format(" compile_s=%.4f median_ms=%.5f min_ms=%.5f", compileSeconds,
                median * 1e3, seconds.front() * 1e3);
  if (work.operations)
    out << format(" gflops=%.4f", *work.operations / median / 1e9);
  out << format(" gflops_roof=%.2f gbs=%.4f gbs_roof=%.2f\n",
                roofs.operationsPerSecond / 1e9, work.bytes / median / 1e9,
                roofs.bytesPerSecond / 1e9);
  return Error::success();
}

} // namespace drawloom::run
