//===- Html.cpp - a report as a page --------------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Report/Html.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include <cmath>

using namespace llvm;

namespace drawloom::report {

std::string escape(StringRef text) {
  std::string valid = json::isUTF8(text) ? text.str() : json::fixUTF8(text);
  std::string escaped;
  raw_string_ostream out(escaped);
  printHTMLEscaped(valid, out);
  return escaped;
}

static std::string fixed(double value, int digits) {
  std::string text;
  raw_string_ostream(text) << format("%.*f", digits, value);
  return text;
}

/// Digits behind the point that give a number of this size about four.
static int digitsFor(double value) {
  value = std::fabs(value);
  return value >= 1000  ? 0
         : value >= 100 ? 1
         : value >= 10  ? 2
         : value >= 1   ? 3
                        : 4;
}

std::string figure(double value) {
  return fixed(value, std::max(0, digitsFor(value) - 1));
}

std::string percent(double part) {
  double hundredths = part * 100;
  return fixed(hundredths, hundredths < 9.95 && hundredths > 0.05 ? 1 : 0) +
         " %";
}

namespace {
/// A unit for all numbers of one column.
struct Unit {
  double size;
  const char *name;
  int digits;

  std::string operator()(double value) const {
    return fixed(value / size, digits);
  }
};

using Units = ArrayRef<std::pair<double, const char *>>;

/// The largest of the units, which come largest first, of which `most` is
/// `times` at least: for a column more than 1, since its other numbers may be
/// far below.
Unit chooseUnit(double most, Units units, double times = 10) {
  for (auto [size, name] : units.drop_back())
    if (most >= size * times)
      return {size, name, std::max(1, digitsFor(most / size))};
  auto [size, name] = units.back();
  return {size, name, std::max(1, digitsFor(most / size))};
}

class Page {
public:
  explicit Page(const Report &report) : report(report) {
    double bytes = 0, operations = 0;
    for (const Kernel &kernel : report.kernels) {
      bytes = std::max(bytes, kernel.bytes.value_or(0));
      operations = std::max(operations, kernel.operations.value_or(0));
    }
    time = chooseUnit(report.seconds, {{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}});
    mass = chooseUnit(bytes, {{1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}});
    work = chooseUnit(operations,
                      {{1e9, "GFLOP"}, {1e6, "MFLOP"}, {1e3, "kFLOP"}});
  }

  std::string write();

private:
  void header();
  void tile(StringRef title, const std::string &value, StringRef unit,
            const std::string &note);
  void tiles();
  void plot();
  /// A row of a bar chart; `part` of the width is filled.
  void bar(StringRef name, StringRef kind, double part,
           const std::string &value, const std::string &note);
  void bars();
  void table();
  void phases();
  void remark(const Remark &remark);
  void remarks();
  void notes();

  const Report &report;
  Unit time{}, mass{}, work{};
  std::string text;
  raw_string_ostream out{text};
};
} // namespace

static constexpr StringLiteral style = R"(
:root { color-scheme: light dark; --page: #f6f6f3; --card: #ffffff; --ink: #1c2027; --soft: #5d6675; --line: #e3e3de;
  --grid: #ecece8; --operations: #2c66d8; --bytes: #0b8a78; --rest: #a9afba; --phase: #8257c9; --good: #1d7a46; --bad: #a15c00;
  --reach: #2c66d80d; }
@media (prefers-color-scheme: dark) {
  :root { --page: #121418; --card: #1a1d23; --ink: #e7e9ed; --soft: #9ba5b5; --line: #2b3038; --grid: #252a32;
    --operations: #79a6ff; --bytes: #3ccab3; --rest: #666f7d; --phase: #b394f0; --good: #63c98d; --bad: #e5ac55;
    --reach: #79a6ff12; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 1060px; margin: 0 auto; padding: 36px 20px 48px; }
h1 { margin: 0; font-size: 30px; line-height: 1.2; overflow-wrap: anywhere; }
h1, code, .mono { font-family: ui-monospace, "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
h2 { margin: 0 0 4px; font-size: 17px; }
p { margin: 0; }
.soft, .hint { color: var(--soft); }
.hint { margin: 0 0 12px; font-size: 13.5px; }
section { margin-top: 18px; padding: 20px 22px; background: var(--card); border: 1px solid var(--line); border-radius: 12px; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(165px, 1fr)); gap: 12px; margin-top: 22px; }
.tile { padding: 13px 16px; background: var(--card); border: 1px solid var(--line); border-radius: 12px; }
.tile .title { font-size: 13px; color: var(--soft); }
.tile .value { font-size: 24px; font-weight: 600; font-variant-numeric: tabular-nums; }
.tile .value small { font-size: 14px; font-weight: 400; color: var(--soft); }
.tile .note { font-size: 12.5px; color: var(--soft); }
.two { display: grid; grid-template-columns: 1fr 1fr; gap: 18px; }
.two section { min-width: 0; }
svg { display: block; width: 100%; height: auto; }
svg text { font: 12px ui-monospace, "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: var(--ink); }
svg text.tick, svg text.axis, svg text.rooflabel { fill: var(--soft); }
svg .grid { stroke: var(--grid); }
svg .roof { fill: none; stroke: var(--ink); stroke-width: 2; stroke-linejoin: round; }
svg .reach { fill: var(--reach); }
svg .leader { stroke: var(--soft); stroke-width: 1; }
svg .dot { fill-opacity: .82; stroke: var(--card); stroke-width: 1.5; }
svg .dot.operations { fill: var(--operations); }
svg .dot.bytes { fill: var(--bytes); }
svg .name { paint-order: stroke; stroke: var(--card); stroke-width: 3px; stroke-linejoin: round; }
.narrow { display: none; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 20px; margin-top: 8px; font-size: 13.5px; color: var(--soft); }
.key::before { content: ""; display: inline-block; width: 10px; height: 10px; margin-right: 7px; border-radius: 50%; background: var(--rest); }
.key.operations::before { background: var(--operations); }
.key.bytes::before { background: var(--bytes); }
.bars { display: grid; grid-template-columns: minmax(0, max-content) minmax(50px, 1fr) max-content max-content; gap: 7px 12px; align-items: center;
  font-size: 13.5px; }
.bars .mono { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; max-width: 210px; font-size: 12.5px; }
.track { height: 14px; background: var(--grid); border-radius: 4px; overflow: hidden; }
.fill { height: 100%; min-width: 1px; background: var(--rest); border-radius: 4px; }
.fill.operations { background: var(--operations); }
.fill.bytes { background: var(--bytes); }
.fill.phase { background: var(--phase); }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 13.5px; font-variant-numeric: tabular-nums; }
th, td { padding: 6px 9px; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line); }
th { font-weight: 500; color: var(--soft); vertical-align: bottom; }
tr:last-child td { border-bottom: 0; }
th.text, td.text { text-align: left; }
th:first-child, td:first-child { padding-left: 0; }
td.mono { font-size: 12.5px; }
ul { margin: 0; padding: 0; list-style: none; }
li { padding: 10px 0; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
ul:first-of-type li:first-child { border-top: 0; }
.kind { display: inline-block; margin-right: 8px; padding: 0 8px; border: 1px solid; border-radius: 99px; font-size: 12px; color: var(--soft); }
.kind.passed { color: var(--good); }
.kind.missed, .kind.failed, .kind.warning { color: var(--bad); }
.values { margin-top: 4px; font-size: 13px; color: var(--soft); }
.values span { margin-right: 14px; white-space: nowrap; }
.values b { font-weight: 500; color: var(--ink); font-variant-numeric: tabular-nums; }
details summary { padding: 8px 0; cursor: pointer; color: var(--soft); }
footer { margin-top: 20px; padding: 0 4px; font-size: 13px; color: var(--soft); }
footer p { margin-bottom: 6px; }
@media (max-width: 820px) { .two { grid-template-columns: minmax(0, 1fr); gap: 0; } }
@media (max-width: 620px) {
  main { padding: 22px 12px 32px; }
  section { padding: 16px 14px; }
  .wide { display: none; }
  .narrow { display: block; }
  .bars .mono { max-width: 130px; }
}
@media print { section, .tile { break-inside: avoid; } }
)";

void Page::header() {
  out << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
         "<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, "
         "initial-scale=1\">\n"
         // Nothing is ever loaded, whatever names a program may have.
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
         "'none'; style-src 'unsafe-inline'; img-src data:\">\n"
         "<link rel=\"icon\" href=\"data:,\">\n"
      << "<title>" << escape(report.title)
      << " - Drawloom report</title>\n<style>" << style
      << "</style>\n</head>\n<body>\n<main>\n<header>\n<h1>"
      << escape(report.title) << "</h1>\n<p class=\"soft\">Drawloom report"
      << " · target " << escape(report.target) << " · instruction set "
      << escape(report.isa) << " · processor " << escape(report.processor)
      << " · " << report.threads
      << (report.threads == 1 ? " thread" : " threads") << "</p>\n</header>\n";
}

void Page::tile(StringRef title, const std::string &value, StringRef unit,
                const std::string &note) {
  out << "<div class=\"tile\"><p class=\"title\">" << title
      << "</p><p class=\"value\">" << value << " <small>" << unit
      << "</small></p><p class=\"note\">" << note << "</p></div>\n";
}

void Page::tiles() {
  out << "<div class=\"tiles\">\n";
  tile("A call", time(report.seconds), time.name,
       report.calls == 1 ? "measured once"
                         : "the mean of " + utostr(report.calls) + " calls");
  std::string outside = time(std::max(report.outside, 0.0));
  tile("Kernels", utostr(report.kernels.size()), "",
       outside + " " + time.name + " outside of them");
  double operations = 0;
  size_t counted = 0;
  for (const Kernel &kernel : report.kernels)
    if (kernel.operations) {
      operations += *kernel.operations;
      ++counted;
    }
  if (counted > 0)
    tile("Arithmetic", figure(operations / report.seconds / 1e9), "GFLOP/s",
         counted == report.kernels.size() ? "over the whole call"
                                          : "counted, over the whole call");
  Unit unit =
      chooseUnit(report.bytes, {{1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}}, 1);
  tile("Arguments and results", unit(report.bytes), unit.name,
       "each once, in main memory");
  double compile = report.compileSeconds();
  tile("Compiled in", compile < 1 ? fixed(compile * 1e3, 0) : figure(compile),
       compile < 1 ? "ms" : "s", "without the cache");
  out << "</div>\n";
}

void Page::plot() {
  out << "<section id=\"roofline\">\n<h2>Roofline</h2>\n";
  if (report.kernels.empty()) {
    out << "<p class=\"hint\">There is no kernel: what is one block runs in "
           "the call itself.</p>\n</section>\n";
    return;
  }
  if (!report.roofs) {
    out << "<p class=\"hint\">Roofs are measured of this machine's processor, "
           "not for target "
        << escape(report.target) << ".</p>\n</section>\n";
    return;
  }
  out << "<p class=\"hint\">How fast each kernel computes, over how much it "
         "computes for each byte that it touches. A dot's area is its share "
         "of the time; the line is what this machine reaches.</p>\n";
  drawRoofline(out, report, "wide", 960, 440);
  drawRoofline(out, report, "narrow", 370, 400);
  std::vector<std::string> missing;
  for (const Kernel &kernel : report.kernels)
    if (!kernel.intensity())
      missing.push_back("<code>" + escape(kernel.name) + "</code>");
  out << "<div class=\"legend\"><span class=\"key operations\">bound by "
         "multiply-adds</span><span class=\"key bytes\">bound by "
         "memory</span><span class=\"key\">not known</span></div>\n";
  if (!missing.empty())
    out << "<p class=\"hint\" style=\"margin:8px 0 0\">Not in the plot, since "
           "their operations are none or cannot be counted: "
        << join(ArrayRef(missing).take_front(12), ", ")
        << (missing.size() > 12 ? ", …" : "") << "</p>\n";
  out << "</section>\n";
}

void Page::bar(StringRef name, StringRef kind, double part,
               const std::string &value, const std::string &note) {
  out << "<span class=\"mono\" title=\"" << escape(name) << "\">"
      << escape(name) << "</span><div class=\"track\"><div class=\"fill "
      << kind
      << format("\" style=\"width:%.2f%%\"></div></div>",
                std::clamp(part, 0.0, 1.0) * 100)
      << "<span class=\"number\">" << value
      << "</span><span class=\"number soft\">" << note << "</span>\n";
}

void Page::bars() {
  constexpr size_t most = 24;
  auto kindOf = [&](const Kernel &kernel) -> StringRef {
    if (!report.roofs || !kernel.bytes || !kernel.operations)
      return "";
    return kernel.boundByOperations(*report.roofs) ? "operations" : "bytes";
  };
  std::vector<const Kernel *> list;
  for (const Kernel &kernel : report.kernels)
    list.push_back(&kernel);
  auto rest = [&](ArrayRef<const Kernel *> left, auto valueOf) {
    double sum = 0;
    for (const Kernel *kernel : left)
      sum += valueOf(*kernel);
    return sum;
  };

  out << "<div class=\"two\">\n<section id=\"time\">\n<h2>Time</h2>\n<p "
         "class=\"hint\">Of one call, by kernel.</p>\n<div class=\"bars\">\n";
  stable_sort(list, [](auto *a, auto *b) { return a->seconds > b->seconds; });
  double outside = std::max(report.outside, 0.0);
  double longest = list.empty() ? 0 : list.front()->seconds;
  longest = std::max(longest, outside);
  auto part = [&](double seconds) {
    return longest > 0 ? seconds / longest : 0;
  };
  for (const Kernel *kernel : ArrayRef(list).take_front(most))
    bar(kernel->name, kindOf(*kernel), part(kernel->seconds),
        time(kernel->seconds) + " " + time.name, percent(kernel->share));
  if (list.size() > most) {
    double seconds = rest(ArrayRef(list).drop_front(most),
                          [](const Kernel &kernel) { return kernel.seconds; });
    bar(utostr(list.size() - most) + " others", "", part(seconds),
        time(seconds) + " " + time.name, percent(seconds / report.seconds));
  }
  bar("outside kernels", "", part(outside), time(outside) + " " + time.name,
      percent(outside / report.seconds));
  out << "</div>\n</section>\n";

  if (list.empty()) {
    out << "</div>\n";
    return;
  }
  out << "<section id=\"bytes\">\n<h2>Bytes</h2>\n<p class=\"hint\">Of the "
         "buffers that each kernel reads or writes, each once.</p>\n<div "
         "class=\"bars\">\n";
  auto bytesOf = [](const Kernel &kernel) { return kernel.bytes.value_or(0); };
  stable_sort(list,
              [&](auto *a, auto *b) { return bytesOf(*a) > bytesOf(*b); });
  double largest = list.empty() ? 0 : bytesOf(*list.front());
  for (const Kernel *kernel : ArrayRef(list).take_front(most))
    bar(kernel->name, kindOf(*kernel),
        largest > 0 ? bytesOf(*kernel) / largest : 0,
        kernel->bytes ? mass(*kernel->bytes) + " " + mass.name : "not known",
        kernel->bytes && kernel->seconds > 0
            ? figure(*kernel->bytes / kernel->seconds / 1e9) + " GB/s"
            : "");
  if (list.size() > most) {
    double bytes = rest(ArrayRef(list).drop_front(most), bytesOf);
    bar(utostr(list.size() - most) + " others", "",
        largest > 0 ? bytes / largest : 0, mass(bytes) + " " + mass.name, "");
  }
  out << "</div>\n</section>\n</div>\n";
}

void Page::table() {
  if (report.kernels.empty())
    return;
  out << "<section id=\"kernels\">\n<h2>Kernels</h2>\n<p class=\"hint\">In "
         "the order of their first call.</p>\n<div class=\"scroll\">\n<table>\n"
         "<thead><tr><th class=\"text\">kernel</th><th class=\"text\">from"
         "</th><th>blocks</th><th>"
      << time.name << "</th><th>share</th><th>" << work.name
      << "</th><th>GFLOP/s</th><th>of roof</th><th>" << mass.name
      << "</th><th>GB/s</th><th>of roof</th><th class=\"text\">bound by"
         "</th></tr></thead>\n<tbody>\n";
  auto cell = [&](const std::string &value) {
    out << "<td>" << (value.empty() ? "–" : value) << "</td>";
  };
  for (const Kernel &kernel : report.kernels) {
    bool timed = kernel.seconds > 0;
    out << "<tr><td class=\"text mono\">" << escape(kernel.name)
        << "</td><td class=\"text mono\">" << escape(kernel.place) << "</td>";
    cell(fixed(kernel.blocks, 0));
    cell(time(kernel.seconds));
    cell(percent(kernel.share));
    for (auto [value, unit, roof] :
         {std::tuple(&kernel.operations, &work, &Roofs::operationsPerSecond),
          std::tuple(&kernel.bytes, &mass, &Roofs::bytesPerSecond)}) {
      cell(*value ? (*unit)(**value) : "");
      cell(*value && timed ? figure(**value / kernel.seconds / 1e9) : "");
      cell(*value && timed && report.roofs
               ? percent(**value / kernel.seconds / (*report.roofs).*roof)
               : "");
    }
    out << "<td class=\"text\">"
        << (!report.roofs || !kernel.operations || !kernel.bytes ? "–"
            : kernel.boundByOperations(*report.roofs) ? "multiply-adds"
                                                      : "memory")
        << "</td></tr>\n";
  }
  out << "</tbody>\n</table>\n</div>\n</section>\n";
}

void Page::phases() {
  double total = report.compileSeconds(), longest = 0;
  for (const PhaseTime &phase : report.phases)
    longest = std::max(longest, phase.seconds);
  if (total <= 0)
    return;
  out << "<section id=\"phases\">\n<h2>Compiling</h2>\n<p class=\"hint\">By "
         "phase, "
      << fixed(total * 1e3, 0) << " ms in all.</p>\n<div class=\"bars\">\n";
  for (const PhaseTime &phase : report.phases)
    bar(phase.name, "phase", phase.seconds / longest,
        fixed(phase.seconds * 1e3, 1) + " ms", percent(phase.seconds / total));
  out << "</div>\n</section>\n";
}

void Page::remark(const Remark &remark) {
  out << "<li><span class=\"kind " << escape(remark.kind) << "\">"
      << escape(remark.kind) << "</span>";
  if (!remark.category.empty())
    out << "<b>" << escape(remark.category) << "</b> ";
  if (!remark.name.empty())
    out << escape(remark.name) << " ";
  if (!remark.place.empty())
    out << "<code class=\"soft\">" << escape(remark.place) << "</code> ";
  if (remark.count > 1)
    out << "<span class=\"soft\">× " << remark.count << "</span>";
  if (!remark.message.empty())
    out << "<div>" << escape(remark.message) << "</div>";
  if (!remark.values.empty()) {
    out << "<div class=\"values\">";
    for (const auto &[key, value] : remark.values)
      out << "<span>" << escape(key) << " <b>" << escape(value)
          << "</b></span> ";
    out << "</div>";
  }
  out << "</li>\n";
}

void Page::remarks() {
  constexpr size_t most = 12;
  out << "<section id=\"remarks\">\n<h2>Remarks</h2>\n";
  if (report.remarks.empty())
    out << "<p class=\"hint\">The compiler made none.</p>\n";
  else
    out << "<p class=\"hint\">What the compiler did and did not do, and "
           "why.</p>\n<ul>\n";
  for (const Remark &one : ArrayRef(report.remarks).take_front(most))
    remark(one);
  if (!report.remarks.empty())
    out << "</ul>\n";
  if (report.remarks.size() > most) {
    out << "<details><summary>" << report.remarks.size() - most
        << " more</summary>\n<ul>\n";
    for (const Remark &one : ArrayRef(report.remarks).drop_front(most))
      remark(one);
    out << "</ul>\n</details>\n";
  }
  out << "</section>\n";
}

void Page::notes() {
  out << "<footer>\n";
  if (report.roofs)
    out << "<p>The roofs were measured in the same run: "
        << figure(report.roofs->operationsPerSecond / 1e9)
        << " GFLOP/s of single-precision multiply-adds from registers, "
        << figure(report.roofs->bytesPerSecond / 1e9)
        << " GB/s of a triad over arrays beyond the caches. A kernel whose "
           "buffers stay in a cache may lie above the roof of memory.</p>\n";
  out << "<p>Operations are those of the code that runs: an addition, a "
         "multiplication, a division, a call of a function such as exp are "
         "one each; what is computed again or padded counts too. Bytes are "
         "those of the buffers that a kernel reads or writes, each once; a "
         "table that rows look up counts whole.</p>\n</footer>\n";
}

std::string Page::write() {
  header();
  tiles();
  plot();
  bars();
  table();
  phases();
  remarks();
  notes();
  out << "</main>\n</body>\n</html>\n";
  return std::move(text);
}

std::string toHtml(const Report &report) { return Page(report).write(); }

} // namespace drawloom::report
