//===- Json.cpp - a report for programs -----------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llvm/Support/JSON.h"
#include "lib/Report/Report.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace llvm;

namespace drawloom::report {

/// JSON has no infinity; what is one here came from a kernel of no time.
static json::Value number(std::optional<double> value) {
  if (!value || !std::isfinite(*value))
    return nullptr;
  return *value;
}

/// Names of files and functions are what their authors made them.
static json::Value string(StringRef text) {
  return json::isUTF8(text) ? json::Value(text) : json::fixUTF8(text);
}

static json::Value kernelObject(const Kernel &kernel, const Report &report) {
  json::Object object{
      {"name", string(kernel.name)},
      {"source", string(kernel.place)},
      {"calls", kernel.calls},
      {"blocks", kernel.blocks},
      {"seconds", kernel.seconds},
      {"share", number(kernel.share)},
      {"operations", number(kernel.operations)},
      {"bytes", number(kernel.bytes)},
      {"intensity", number(kernel.intensity())},
      {"roof_seconds", nullptr},
      {"bound", nullptr},
  };
  if (report.roofs) {
    std::optional<double> roof = kernel.roofSeconds(*report.roofs);
    object["roof_seconds"] = number(roof);
    if (kernel.operations && kernel.bytes)
      object["bound"] =
          kernel.boundByOperations(*report.roofs) ? "operations" : "bytes";
  }
  return object;
}

std::string toJson(const Report &report) {
  json::Array kernels, phases, remarks;
  for (const Kernel &kernel : report.kernels)
    kernels.push_back(kernelObject(kernel, report));
  for (const PhaseTime &phase : report.phases)
    phases.push_back(
        json::Object{{"name", phase.name}, {"seconds", phase.seconds}});
  for (const Remark &remark : report.remarks) {
    json::Object values;
    for (const auto &[key, value] : remark.values) {
      int64_t integer = 0;
      values[json::fixUTF8(key)] = StringRef(value).getAsInteger(10, integer)
                                       ? string(value)
                                       : json::Value(integer);
    }
    remarks.push_back(json::Object{{"kind", remark.kind},
                                   {"category", string(remark.category)},
                                   {"name", string(remark.name)},
                                   {"source", string(remark.place)},
                                   {"message", string(remark.message)},
                                   {"values", std::move(values)},
                                   {"count", remark.count}});
  }
  json::Value roofs = nullptr;
  if (report.roofs)
    roofs = json::Object{
        {"operations_per_second", report.roofs->operationsPerSecond},
        {"bytes_per_second", report.roofs->bytesPerSecond}};
  json::Value all = json::Object{
      {"function", string(report.function)},
      {"target", report.target},
      {"isa", report.isa},
      {"processor", report.processor},
      {"threads", report.threads},
      {"calls", report.calls},
      {"seconds", report.seconds},
      {"outside_seconds", report.outside},
      {"bytes", report.bytes},
      {"roofs", std::move(roofs)},
      {"kernels", std::move(kernels)},
      {"phases", std::move(phases)},
      {"remarks", std::move(remarks)},
  };
  std::string text;
  raw_string_ostream(text) << formatv("{0:2}", all) << '\n';
  return text;
}

} // namespace drawloom::report
