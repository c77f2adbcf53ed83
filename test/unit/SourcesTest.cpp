//===- SourcesTest.cpp - linking and specialising programs ----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Compiler/Compiler.h"
#include "lib/Compiler/Targets.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

using namespace mlir;

namespace {

class SourcesTest : public testing::Test {
protected:
  SourcesTest()
      : handler(&context, [this](Diagnostic &diagnostic) {
          messages += diagnostic.str() + "\n";
          for (Diagnostic &note : diagnostic.getNotes())
            messages += note.str() + "\n";
        }) {
    context.loadDialect<func::FuncDialect, tensor::TensorDialect>();
  }

  ~SourcesTest() override {
    for (const std::string &file : files)
      llvm::sys::fs::remove(file);
  }

  std::string write(llvm::StringRef text) {
    llvm::SmallString<128> path;
    int descriptor;
    EXPECT_FALSE(
        llvm::sys::fs::createTemporaryFile("source", "mlir", descriptor, path));
    llvm::raw_fd_ostream(descriptor, /*shouldClose=*/true) << text;
    files.push_back(path.str().str());
    return files.back();
  }

  MLIRContext context;
  std::string messages;
  ScopedDiagnosticHandler handler;
  std::vector<std::string> files;
};

TEST_F(SourcesTest, DeclarationIsDefinedByAnotherFile) {
  std::string a = write("func.func private @f(f32) -> f32\n"
                        "func.func @g(%x: f32) -> f32 { %0 = func.call @f(%x) "
                        ": (f32) -> f32 return %0 : f32 }");
  std::string b = write("func.func @f(%x: f32) -> f32 { return %x : f32 }");
  for (const auto &order : {std::vector{a, b}, std::vector{b, a}}) {
    auto module = drawloom::parseSourceFiles(order, context);
    ASSERT_TRUE(module) << messages;
    EXPECT_FALSE(module->lookupSymbol<func::FuncOp>("f").isExternal());
  }
}

TEST_F(SourcesTest, TwoDefinitionsAreAnError) {
  std::string a = write("func.func @f(%x: f32) -> f32 { return %x : f32 }");
  std::string b = write("func.func @f(%x: f32) -> f32 { return %x : f32 }");
  EXPECT_FALSE(drawloom::parseSourceFiles({a, b}, context));
  EXPECT_NE(messages.find("@f is defined twice"), std::string::npos)
      << messages;
}

TEST_F(SourcesTest, DeclarationOfAnotherTypeIsAnError) {
  std::string a = write("func.func private @f(f64) -> f32");
  std::string b = write("func.func @f(%x: f32) -> f32 { return %x : f32 }");
  EXPECT_FALSE(drawloom::parseSourceFiles({a, b}, context));
  EXPECT_NE(messages.find("@f has type"), std::string::npos) << messages;
}

TEST_F(SourcesTest, MissingFileIsAnError) {
  EXPECT_FALSE(
      drawloom::parseSourceFiles({"there-is-no-such-file.mlir"}, context));
  EXPECT_NE(messages.find("there-is-no-such-file.mlir"), std::string::npos)
      << messages;
}

TEST_F(SourcesTest, UnknownExtentsAreReplaced) {
  std::string a = write("func.func @f(%x: tensor<?x4xf32>) -> tensor<?x4xf32> "
                        "{ return %x : tensor<?x4xf32> }");
  auto module = drawloom::parseSourceFiles({a}, context);
  ASSERT_TRUE(module);
  ASSERT_TRUE(succeeded(drawloom::specializeShapes(*module, "f", {{3, 4}})));
  auto type = cast<RankedTensorType>(
      module->lookupSymbol<func::FuncOp>("f").getArgumentTypes()[0]);
  EXPECT_EQ(type.getShape(), llvm::ArrayRef<int64_t>({3, 4}));
}

TEST_F(SourcesTest, SpecialisingAgainstAKnownExtentIsAnError) {
  std::string a = write("func.func @f(%x: tensor<?x4xf32>) -> tensor<?x4xf32> "
                        "{ return %x : tensor<?x4xf32> }");
  auto module = drawloom::parseSourceFiles({a}, context);
  ASSERT_TRUE(module);
  EXPECT_TRUE(failed(drawloom::specializeShapes(*module, "f", {{3, 5}})));
  EXPECT_NE(messages.find("has extent 4 in dimension 1, but 5 was given"),
            std::string::npos)
      << messages;
}

TEST_F(SourcesTest, PhasesHaveNamesThatParse) {
  for (const drawloom::CompileTarget *target : drawloom::allTargets()) {
    for (drawloom::Phase phase : drawloom::allPhases())
      EXPECT_EQ(target->parsePhase(target->phaseName(phase)), phase);
    EXPECT_FALSE(target->parsePhase("no-such-phase"));
  }
}

} // namespace
