//===- Report.cpp - prints or writes a report -----------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "drawloom/runtime/Files.h"
#include "tools/drawloom-run/Benchmark.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace drawloom::run {

Error writeReport(Engine &engine, const Signature &signature,
                  ArrayRef<Value> arguments, const report::Recorder &recorder,
                  const Options &options) {
  Expected<report::Report> report = report::measure(
      signature, options.compile.target->name(), engine.isa(), recorder,
      options.benchmarkRuns ? options.benchmarkRuns : 20, options.threads,
      [&](KernelProfile *profile) { return engine.run(arguments, profile); });
  if (!report)
    return report.takeError();
  StringRef path = options.reportFile;
  if (path.empty()) {
    outs() << toText(*report);
    return Error::success();
  }
  runtime::Status written = runtime::writeFile(
      path.str(), path.ends_with(".html")   ? toHtml(*report)
                  : path.ends_with(".json") ? toJson(*report)
                                            : toText(*report));
  return written.ok() ? Error::success() : createStringError(written.message());
}

} // namespace drawloom::run
