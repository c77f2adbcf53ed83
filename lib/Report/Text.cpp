//===- Text.cpp - a report for a terminal ---------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Report/Report.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace drawloom::report {

/// A number in the column of that width, or a dash where there is none.
static void column(raw_ostream &out, std::optional<double> value,
                   const char *form, unsigned width) {
  std::string text = "-";
  if (value) {
    text.clear();
    raw_string_ostream(text) << format(form, *value);
  }
  out << "  " << right_justify(text, width);
}

static void printKernels(raw_ostream &out, const Report &report) {
  if (report.kernels.empty()) {
    out << "  no kernel: what is one block runs in the call itself\n";
    return;
  }
  size_t nameWidth = 6, placeWidth = 4;
  for (const Kernel &kernel : report.kernels) {
    nameWidth = std::max(nameWidth, kernel.name.size());
    placeWidth = std::max(placeWidth, kernel.place.size());
  }
  out << "  " << left_justify("kernel", nameWidth) << "  "
      << left_justify("from", placeWidth)
      << "   blocks        ms  share     MFLOP   GFLOP/s  of roof      MB    "
         "GB/s  of roof\n";
  for (const Kernel &kernel : report.kernels) {
    auto per = [](std::optional<double> value, double unit) {
      return value ? std::optional(*value / unit) : std::nullopt;
    };
    auto ofRoof = [&](std::optional<double> value, double Roofs::*roof) {
      return report.roofs
                 ? per(value, kernel.seconds * (*report.roofs).*roof / 100)
                 : std::nullopt;
    };
    out << "  " << left_justify(kernel.name, nameWidth) << "  "
        << left_justify(kernel.place, placeWidth);
    column(out, kernel.blocks, "%.0f", 7);
    column(out, kernel.seconds * 1e3, "%.4f", 8);
    column(out, kernel.share * 100, "%.0f %%", 5);
    column(out, per(kernel.operations, 1e6), "%.3f", 8);
    column(out, per(kernel.operations, kernel.seconds * 1e9), "%.2f", 8);
    column(out, ofRoof(kernel.operations, &Roofs::operationsPerSecond),
           "%.0f %%", 7);
    column(out, per(kernel.bytes, 1e6), "%.2f", 6);
    column(out, per(kernel.bytes, kernel.seconds * 1e9), "%.2f", 6);
    column(out, ofRoof(kernel.bytes, &Roofs::bytesPerSecond), "%.0f %%", 7);
    out << '\n';
  }
}

std::string toText(const Report &report) {
  std::string text;
  raw_string_ostream out(text);
  out << format("%s: %.4f ms a call, the mean of %u on %u thread%s; %.4f ms "
                "outside its kernels\n",
                report.title.c_str(), report.seconds * 1e3, report.calls,
                report.threads, report.threads == 1 ? "" : "s",
                report.outside * 1e3);
  if (report.roofs)
    out << format("roofs: %.1f GFLOP/s of multiply-adds, %.1f GB/s of a "
                  "triad\n",
                  report.roofs->operationsPerSecond / 1e9,
                  report.roofs->bytesPerSecond / 1e9);
  out << '\n';
  printKernels(out, report);
  out << format("\ncompiled in %.0f ms\n", report.compileSeconds() * 1e3);
  for (const PhaseTime &phase : report.phases)
    out << "  " << left_justify(phase.name, 16)
        << format("%7.1f ms\n", phase.seconds * 1e3);
  if (!report.remarks.empty())
    out << "\nremarks\n";
  for (const Remark &remark : report.remarks) {
    out << "  " << (remark.place.empty() ? "" : remark.place + ": ")
        << remark.kind << ": " << remark.category
        << (remark.category.empty() ? "" : ": ") << remark.name;
    if (!remark.message.empty())
      out << (remark.name.empty() ? "" : ": ") << remark.message;
    if (remark.count > 1)
      out << " (" << remark.count << " times)";
    out << '\n';
    ListSeparator comma;
    if (!remark.values.empty()) {
      out << "    ";
      for (const auto &[key, value] : remark.values)
        out << comma << key << " " << value;
      out << '\n';
    }
  }
  return text;
}

} // namespace drawloom::report
