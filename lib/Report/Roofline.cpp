//===- Roofline.cpp - kernels under the machine's roofs -------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Report/Html.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace llvm;

namespace drawloom::report {

namespace {
struct Point {
  double x, y;
};

struct Box {
  double left, top, right, bottom;
  bool meets(const Box &other) const {
    return left < other.right && other.left < right && top < other.bottom &&
           other.top < bottom;
  }
};

struct Dot {
  const Kernel *kernel;
  Point at;
  double radius;
  std::string label;
  size_t characters = 0; ///< Of the label.
};

/// A range of one logarithmic axis and where it lies on the page.
struct Axis {
  double low, high;
  double from, to;
  double operator()(double value) const {
    double part = (std::log10(value) - std::log10(low)) /
                  (std::log10(high) - std::log10(low));
    return from + part * (to - from);
  }
  /// Decades; where these are few, twos and fives too.
  std::vector<double> ticks() const {
    std::vector<double> values;
    bool few = high / low < 300;
    for (double decade = std::pow(10, std::floor(std::log10(low)));
         decade <= high; decade *= 10)
      for (double digit : {1, 2, 5})
        if ((digit == 1 || few) && decade * digit >= low * 0.999 &&
            decade * digit <= high * 1.001)
          values.push_back(decade * digit);
    return values;
  }
};

class Plot {
public:
  Plot(raw_ostream &out, const Report &report, double width, double height)
      : out(out), roofs(*report.roofs), prefix(report.function + "_"),
        width(width), height(height) {
    for (const Kernel &kernel : report.kernels)
      if (kernel.intensity() && kernel.seconds > 0)
        shown.push_back(&kernel);
    // The large ones lie below, and choose the places of their labels first.
    stable_sort(shown, [](const Kernel *a, const Kernel *b) {
      return a->seconds > b->seconds;
    });
    chooseAxes();
  }

  void draw(StringRef kind) {
    out << format("<svg class=\"roofline %s\" viewBox=\"0 0 %.0f %.0f\" "
                  "role=\"img\" aria-label=\"Roofline plot\">\n",
                  kind.str().c_str(), width, height);
    drawAxes();
    drawRoofs();
    drawDots();
    out << "</svg>\n";
  }

private:
  /// Of the labels' font, 12 pixels of a monospaced one.
  static constexpr double charWidth = 7.3, lineHeight = 15;
  static constexpr size_t longestLabel = 25;

  static double flops(const Kernel &kernel) {
    return *kernel.operations / kernel.seconds;
  }

  void chooseAxes() {
    double ridge = roofs.operationsPerSecond / roofs.bytesPerSecond;
    double least = ridge / 4, most = ridge * 4;
    double slowest = roofs.operationsPerSecond / 30,
           fastest = roofs.operationsPerSecond;
    for (const Kernel *kernel : shown) {
      least = std::min(least, *kernel->intensity() / 2.5);
      most = std::max(most, *kernel->intensity() * 2.5);
      slowest = std::min(slowest, flops(*kernel) / 2.5);
      fastest = std::max(fastest, flops(*kernel) * 1.3);
    }
    // The roof of the bytes begins in the picture, if that is not too high.
    slowest = std::min(slowest, std::max(least * roofs.bytesPerSecond,
                                         roofs.operationsPerSecond / 3000));
    x = {least, most, 62, width - 16};
    y = {slowest, fastest * 1.9, height - 46, 12};
    peak = y(roofs.operationsPerSecond);
    corner = {x(ridge), peak};
    // Where the roof of the bytes comes into the picture.
    double first = std::max(least, slowest / roofs.bytesPerSecond);
    start = {x(first), y(first * roofs.bytesPerSecond)};
  }

  void drawAxes() {
    for (double value : x.ticks()) {
      out << format("<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" "
                    "y2=\"%.1f\"/>",
                    x(value), y.to, x(value), y.from);
      out << format("<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" "
                    "text-anchor=\"middle\">%g</text>\n",
                    x(value), y.from + 17, value);
    }
    for (double value : y.ticks()) {
      out << format("<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" "
                    "y2=\"%.1f\"/>",
                    x.from, y(value), x.to, y(value));
      out << format("<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" "
                    "text-anchor=\"end\">%g</text>\n",
                    x.from - 8, y(value) + 4, value / 1e9);
    }
    out << format("<text class=\"axis\" x=\"%.1f\" y=\"%.1f\" "
                  "text-anchor=\"end\">FLOP per byte</text>\n",
                  x.to, height - 8);
    out << format("<text class=\"axis\" transform=\"translate(14 %.1f) "
                  "rotate(-90)\" text-anchor=\"end\">GFLOP/s</text>\n",
                  y.to);
  }

  void drawRoofs() {
    // What is below both roofs.
    out << format("<path class=\"reach\" d=\"M%.1f %.1fL%.1f %.1fH%.1fV%.1fH"
                  "%.1fZ\"/>\n",
                  start.x, start.y, corner.x, corner.y, x.to, y.from, start.x);
    out << format("<path class=\"roof\" d=\"M%.1f %.1fL%.1f %.1fH%.1f\"/>\n",
                  start.x, start.y, corner.x, corner.y, x.to);
    for (double part = 0; part <= 1; part += 1.0 / 64) {
      double atX = start.x + part * (corner.x - start.x),
             atY = start.y + part * (corner.y - start.y);
      taken.push_back({atX - 4, atY - 4, atX + 4, atY + 4});
    }
    taken.push_back({corner.x, peak - 2, x.to, peak + 2});

    std::string flat =
        figure(roofs.operationsPerSecond / 1e9) + " GFLOP/s of multiply-adds";
    if (static_cast<double>(flat.size()) * charWidth > x.to - x.from)
      flat = figure(roofs.operationsPerSecond / 1e9) + " GFLOP/s";
    out << format("<text class=\"rooflabel\" x=\"%.1f\" y=\"%.1f\" "
                  "text-anchor=\"end\">",
                  x.to, peak - 8)
        << flat << "</text>\n";
    double flatWidth = static_cast<double>(flat.size()) * charWidth;
    labels.push_back({x.to - flatWidth, peak - 22, x.to, peak - 4});

    double length = std::hypot(corner.x - start.x, corner.y - start.y);
    std::string slope = figure(roofs.bytesPerSecond / 1e9) + " GB/s of a triad";
    if (static_cast<double>(slope.size()) * charWidth > length)
      slope = figure(roofs.bytesPerSecond / 1e9) + " GB/s";
    double ux = (corner.x - start.x) / length,
           uy = (corner.y - start.y) / length;
    double slopeWidth = static_cast<double>(slope.size()) * charWidth;
    // In the middle of the slope, a little above it.
    double along = (length - slopeWidth) / 2;
    Point text = {start.x + along * ux + 9 * uy, start.y + along * uy - 9 * ux};
    out << format("<text class=\"rooflabel\" transform=\"translate(%.1f %.1f) "
                  "rotate(%.2f)\">",
                  text.x, text.y, std::atan2(uy, ux) * 180 / M_PI)
        << slope << "</text>\n";
    for (double at = 0; at <= slopeWidth; at += 6)
      labels.push_back({text.x + at * ux - 8, text.y + at * uy - 16,
                        text.x + at * ux + 8, text.y + at * uy + 6});
    taken.insert(taken.end(), labels.begin(), labels.end());
  }

  void drawDots() {
    std::vector<Dot> dots;
    for (const Kernel *kernel : shown) {
      double share = std::clamp(kernel->share, 0.0, 1.0);
      double radius = 4 + std::min(14.0, width / 60) * std::sqrt(share);
      Dot dot{
          kernel, {x(*kernel->intensity()), y(flops(*kernel))}, radius, {}, 0};
      StringRef name = kernel->name;
      name.consume_front(prefix);
      dot.label = name.take_front(longestLabel).str();
      if (name.size() > longestLabel)
        dot.label += "…";
      dot.characters =
          std::min(name.size(), longestLabel) + (name.size() > longestLabel);
      taken.push_back({dot.at.x - dot.radius, dot.at.y - dot.radius,
                       dot.at.x + dot.radius, dot.at.y + dot.radius});
      dots.push_back(std::move(dot));
    }
    for (const Dot &dot : dots) {
      const Kernel &kernel = *dot.kernel;
      out << format("<circle class=\"dot %s\" cx=\"%.1f\" cy=\"%.1f\" "
                    "r=\"%.1f\"><title>",
                    kernel.boundByOperations(roofs) ? "operations" : "bytes",
                    dot.at.x, dot.at.y, dot.radius)
          << escape(kernel.name) << ": " << percent(kernel.share)
          << " of the time, " << figure(flops(kernel) / 1e9) << " GFLOP/s, "
          << figure(*kernel.intensity()) << " FLOP per byte, "
          << percent(*kernel.roofSeconds(roofs) / kernel.seconds)
          << " of the roof</title></circle>\n";
    }
    // More names than these would cover each other; the table has all.
    for (const Dot &dot : ArrayRef(dots).take_front(14))
      drawLabel(dot);
  }

  /// Puts the label at the nearest place around its dot that is free, with a
  /// line to the dot where it is not beside it. Leaves it out where none is.
  void drawLabel(const Dot &dot) {
    double labelWidth = static_cast<double>(dot.characters) * charWidth;
    constexpr double d = 0.7, few = 0.38, most = 0.92;
    for (double gap = 5; gap < 90; gap += 9)
      for (auto [dx, dy] :
           {std::pair(1.0, 0.0), std::pair(-1.0, 0.0), std::pair(d, d),
            std::pair(-d, d), std::pair(0.0, 1.0), std::pair(d, -d),
            std::pair(-d, -d), std::pair(0.0, -1.0), std::pair(most, few),
            std::pair(-most, few), std::pair(few, most), std::pair(-few, most),
            std::pair(most, -few), std::pair(-most, -few),
            std::pair(few, -most), std::pair(-few, -most)}) {
        Point tip = {dot.at.x + dx * (dot.radius + gap),
                     dot.at.y + dy * (dot.radius + gap)};
        double left = dx > 0.1    ? tip.x
                      : dx < -0.1 ? tip.x - labelWidth
                                  : tip.x - labelWidth / 2;
        double middle = tip.y + dy * lineHeight / 2;
        Box box = {left - 2, middle - lineHeight / 2, left + labelWidth + 2,
                   middle + lineHeight / 2};
        auto covers = [](ArrayRef<Box> others, const Box &box) {
          return any_of(others,
                        [&](const Box &other) { return box.meets(other); });
        };
        if (box.left < x.from || box.right > width - 2 || box.top < 2 ||
            box.bottom > y.from || covers(taken, box))
          continue;
        // The line to the dot covers no label either.
        std::vector<Box> line;
        for (double at = 2; at < gap; at += 4) {
          double lineX = dot.at.x + dx * (dot.radius + at),
                 lineY = dot.at.y + dy * (dot.radius + at);
          line.push_back({lineX - 2, lineY - 2, lineX + 2, lineY + 2});
        }
        if (any_of(line, [&](const Box &part) { return covers(labels, part); }))
          continue;
        labels.push_back(box);
        taken.push_back(box);
        taken.insert(taken.end(), line.begin(), line.end());
        if (gap > 6)
          out << format("<line class=\"leader\" x1=\"%.1f\" y1=\"%.1f\" "
                        "x2=\"%.1f\" y2=\"%.1f\"/>",
                        dot.at.x + dx * dot.radius, dot.at.y + dy * dot.radius,
                        tip.x, tip.y);
        out << format("<text class=\"name\" x=\"%.1f\" y=\"%.1f\">", left,
                      middle + 4)
            << escape(dot.label) << "</text>\n";
        return;
      }
  }

  raw_ostream &out;
  const Roofs &roofs;
  /// What the names of the function's kernels begin with.
  std::string prefix;
  double width, height;
  std::vector<const Kernel *> shown;
  Axis x{}, y{};
  double peak = 0;
  /// The slope's ends: where it comes into the picture, where it meets the top.
  Point start{}, corner{};
  /// What labels must not cover, and those of it that no line may.
  std::vector<Box> taken, labels;
};
} // namespace

void drawRoofline(raw_ostream &out, const Report &report, StringRef kind,
                  double width, double height) {
  Plot(out, report, width, height).draw(kind);
}

} // namespace drawloom::report
