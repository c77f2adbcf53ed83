//===- EmbedReportTest.cpp - reports through the C interface --------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmbedFixture.h"

using namespace drawloom;

namespace {
std::vector<Source> sourceOf(const char *text) { return {{"test", text}}; }

bool has(const std::string &text, const char *part) {
  return text.find(part) != std::string::npos;
}

TEST(EmbedReport, ThreeFormsTellOfTheSameKernels) {
  Compiler compiler = makeCompiler();
  ReportOptions options;
  options.calls = 2;
  options.threads = 2;
  auto report = compiler.report(sourceOf(gradient), options);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_TRUE(has(report->text(), "@gradient:"));
  EXPECT_TRUE(has(report->text(), "the mean of 2 on 2 threads"));
  EXPECT_TRUE(has(report->json(), "\"threads\": 2"));
  for (const std::string &text :
       {report->text(), report->json(), report->html()}) {
    EXPECT_TRUE(has(text, "gradient_kernel0")) << text;
    EXPECT_TRUE(has(text, "machine code")) << text;
    EXPECT_TRUE(has(text, "fuse-rows")) << text;
  }
}

TEST(EmbedReport, KnowsItsPhasesThoughTheProgramIsCached) {
  Folder folder;
  Compiler compiler = makeCompiler(folder.path);
  ASSERT_TRUE(compiler.compile(sourceOf(gradient)));
  auto report = compiler.report(sourceOf(gradient));
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_TRUE(has(report->text(), "\n  vectors "));
}

TEST(EmbedReport, IsOfOneFunctionOfSeveral) {
  Compiler compiler = makeCompiler();
  auto report = compiler.report(sourceOf(several));
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code(), DRAWLOOM_ERROR_CALL);
  EXPECT_TRUE(has(report.error().message(), "@sum, @both"));
  ReportOptions options;
  options.function = "none";
  report = compiler.report(sourceOf(several), options);
  ASSERT_FALSE(report);
  EXPECT_TRUE(has(report.error().message(), "no function @none"));
  options.function = "both";
  report = compiler.report(sourceOf(several), options);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_TRUE(has(report->text(), "@both:"));
}

TEST(EmbedReport, JoinedReportsAddUp) {
  Compiler compiler = makeCompiler();
  auto report = compiler.report(sourceOf(doubling), {}, {{"twice", {{100}}}});
  ASSERT_TRUE(report) << report.error().message();
  auto joined = Report::join({{&*report, 2}, {&*report, 1}}, "thrice");
  ASSERT_TRUE(joined) << joined.error().message();
  EXPECT_TRUE(has(joined->text(), "thrice: "));
  EXPECT_TRUE(has(joined->json(), "\"bytes\": 2400"));
  EXPECT_FALSE(Report::join({}, "nothing"));

  ReportOptions options;
  options.threads = 2;
  auto other =
      compiler.report(sourceOf(doubling), options, {{"twice", {{100}}}});
  ASSERT_TRUE(other) << other.error().message();
  joined = Report::join({{&*report, 1}, {&*other, 1}}, "both");
  ASSERT_FALSE(joined);
  EXPECT_TRUE(has(joined.error().message(), "number of threads"));
}

TEST(EmbedReport, OpenExtentsNeedShapes) {
  Compiler compiler = makeCompiler();
  auto report = compiler.report(sourceOf(doubling));
  ASSERT_FALSE(report);
  EXPECT_TRUE(has(report.error().message(), "leaves extents open"));
  report = compiler.report(sourceOf(doubling), {}, {{"twice", {{100}}}});
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_TRUE(has(report->json(), "\"bytes\": 800"));
}

TEST(EmbedReport, ArgumentsAreCheckedAsInACall) {
  Compiler compiler = makeCompiler();
  float x[4] = {}, y[3] = {};
  ReportOptions options;
  options.function = "sum";
  options.arguments = {buffer(x, 4)};
  auto report = compiler.report(sourceOf(several), options);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().message(), "@sum has 2 arguments, but 1 are given");
  options.arguments = {buffer(x, 4), buffer(y, 3)};
  report = compiler.report(sourceOf(several), options);
  ASSERT_FALSE(report);
  EXPECT_TRUE(has(report.error().message(), "argument 1 of @sum"));
}

TEST(EmbedReport, AWrongProgramIsAnErrorWithItsPlace) {
  Compiler compiler = makeCompiler();
  auto report = compiler.report(sourceOf("func.func @f("));
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code(), DRAWLOOM_ERROR_PROGRAM);
  EXPECT_EQ(report.error().location().rfind("test:1:", 0), 0u);
}

TEST(EmbedReport, AnUnwritablePathLeavesNoFile) {
  Folder folder;
  Compiler compiler = makeCompiler();
  auto report = compiler.report(sourceOf(gradient));
  ASSERT_TRUE(report);
  auto saved =
      report->save(DRAWLOOM_REPORT_HTML, folder.path / "no" / "x.html");
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().code(), DRAWLOOM_ERROR_FILE);
  EXPECT_TRUE(has(saved.error().message(), "x.html"));
  ASSERT_TRUE(report->save(DRAWLOOM_REPORT_HTML, folder.path / "x.html"));
  ASSERT_EQ(folder.files().size(), 1u);
  std::ifstream file(folder.path / "x.html");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), report->html());
}

TEST(EmbedReport, IsStoppedAsCompilationsAre) {
  CompilerOptions options;
  options.cache = false;
  options.cancelled = [] { return true; };
  auto compiler = Compiler::create(options);
  ASSERT_TRUE(compiler);
  auto report = compiler->report(sourceOf(gradient));
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code(), DRAWLOOM_ERROR_CANCELLED);
}
} // namespace
