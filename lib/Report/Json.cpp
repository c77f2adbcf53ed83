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

/// As json::Object is written, by the alphabet, but the figures in the order in
/// which the pass gives them.
static void writeRemark(json::OStream &out, const Remark &remark) {
  out.attribute("category", string(remark.category));
  out.attribute("count", remark.count);
  out.attribute("kind", remark.kind);
  out.attribute("message", string(remark.message));
  out.attribute("name", string(remark.name));
  out.attribute("source", string(remark.place));
  out.attributeObject("values", [&] {
    for (const auto &[key, value] : remark.values) {
      int64_t integer = 0;
      out.attribute(json::fixUTF8(key),
                    StringRef(value).getAsInteger(10, integer)
                        ? string(value)
                        : json::Value(integer));
    }
  });
}

static void write(json::OStream &out, const Report &report) {
  json::Array kernels, phases;
  for (const Kernel &kernel : report.kernels)
    kernels.push_back(kernelObject(kernel, report));
  for (const PhaseTime &phase : report.phases)
    phases.push_back(
        json::Object{{"name", phase.name}, {"seconds", phase.seconds}});
  json::Value roofs = nullptr;
  if (report.roofs)
    roofs = json::Object{
        {"operations_per_second", report.roofs->operationsPerSecond},
        {"bytes_per_second", report.roofs->bytesPerSecond}};
  out.attribute("bytes", report.bytes);
  out.attribute("calls", report.calls);
  out.attribute("function", string(report.function));
  out.attribute("isa", report.isa);
  out.attribute("kernels", std::move(kernels));
  out.attribute("outside_seconds", report.outside);
  out.attribute("phases", std::move(phases));
  out.attribute("processor", report.processor);
  out.attributeArray("remarks", [&] {
    for (const Remark &remark : report.remarks)
      out.object([&] { writeRemark(out, remark); });
  });
  out.attribute("roofs", roofs);
  out.attribute("seconds", report.seconds);
  out.attribute("target", report.target);
  out.attribute("threads", report.threads);
  out.attribute("title", string(report.title));
}

std::string toJson(const Report &report) {
  std::string text;
  raw_string_ostream stream(text);
  json::OStream out(stream, /*IndentSize=*/2);
  out.object([&] { write(out, report); });
  return text + '\n';
}

} // namespace drawloom::report
