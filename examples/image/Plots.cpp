//===- Plots.cpp - the pictures that a run leaves behind ------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "examples/image/Plots.h"
#include "examples/image/Canvas.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace image;

static constexpr double margin = 24;
static constexpr double errorGain = 10;

static std::string number(double value) {
  return formatv("{0}", format("%g", value)).str();
}

Error image::writePicture(StringRef path, const Picture &picture) {
  Canvas canvas(static_cast<double>(picture.width),
                static_cast<double>(picture.height));
  canvas.picture(0, 0, static_cast<double>(picture.width),
                 static_cast<double>(picture.height), picture);
  return canvas.write(path);
}

Error image::writeComparison(StringRef path, const Picture &original,
                             const Picture &learnt, StringRef caption) {
  Picture error = original;
  for (size_t i = 0; i < error.rgb.size(); ++i)
    error.rgb[i] = static_cast<float>(
        errorGain * std::fabs(original.rgb[i] - learnt.rgb[i]));

  // Panels of about 512 pixels: small pictures are enlarged, large ones shrunk.
  double longer =
      static_cast<double>(std::max(original.width, original.height));
  double scale = longer < 256 || longer > 1024 ? 512 / longer : 1;
  double width = std::max(std::round(original.width * scale), 128.0);
  double height = std::max(std::round(original.height * scale), 1.0);
  constexpr double header = 64;
  Canvas canvas(4 * margin + 3 * width, header + 30 + height + margin);
  canvas.text(margin, 34, caption, 17, Align::Left, ink, /*bold=*/true);
  std::pair<const Picture *, std::string> panels[] = {
      {&original, "original"},
      {&learnt, "learnt"},
      {&error, "error × " + number(errorGain)}};
  double x = margin;
  for (auto &[picture, title] : panels) {
    canvas.text(x, header + 10, title);
    canvas.picture(x, header + 24, width, height, *picture);
    x += width + margin;
  }
  return canvas.write(path);
}

/// An exponential moving average, so that the trend shows through the noise
/// that the choice of the batch makes.
static std::vector<float> smoothed(ArrayRef<float> values) {
  std::vector<float> result;
  double average = 0, weight = 0;
  double decay = 1 - 1 / std::clamp(values.size() / 50.0, 2.0, 20.0);
  for (float value : values) {
    average = decay * average + (1 - decay) * value;
    weight = decay * weight + (1 - decay);
    result.push_back(static_cast<float>(average / weight));
  }
  return result;
}

Error image::writeLossCurve(StringRef path, ArrayRef<float> losses,
                            StringRef caption) {
  std::vector<float> raw;
  for (float loss : losses)
    raw.push_back(std::log10(std::max(loss, 1e-12f)));
  std::vector<float> trend = smoothed(raw);
  std::vector<float> steps;
  for (size_t i = 0; i < losses.size(); ++i)
    steps.push_back(static_cast<float>(i + 1));
  // The axis is in powers of ten of the loss, marked every half power.
  auto [low, high] = std::minmax_element(raw.begin(), raw.end());
  Axes::Range y = {std::floor(*low * 2.0) / 2, std::ceil(*high * 2.0) / 2, 0.5};
  if (y.low == y.high)
    y.high += y.step;
  double last = std::max<double>(2, static_cast<double>(losses.size()));
  Canvas canvas(960, 540);
  canvas.text(90, 40, caption, 17, Align::Left, ink, /*bold=*/true);
  Axes axes(canvas, 90, 70, 830, 400, {1, last, roundStep(last, 8)}, y);
  axes.frame(number, [](double value) {
    return formatv("{0}", format("%.2g", std::pow(10.0, value))).str();
  });
  axes.curve(steps, raw, {0.12, 0.47, 0.71}, 1, 0.35);
  axes.curve(steps, trend, {0.12, 0.47, 0.71}, 2.5);
  canvas.text(505, 520, "step", 14, Align::Centre);
  canvas.text(90, 60, "mean squared error of the batch", 13);
  return canvas.write(path);
}

Error image::writeActivations(StringRef path, ArrayRef<Curves> layers,
                              StringRef caption) {
  static constexpr Colour palette[] = {{0.12, 0.47, 0.71}, {1.00, 0.50, 0.05},
                                       {0.17, 0.63, 0.17}, {0.84, 0.15, 0.16},
                                       {0.58, 0.40, 0.74}, {0.55, 0.34, 0.29},
                                       {0.89, 0.47, 0.76}, {0.09, 0.75, 0.81}};
  constexpr double panel = 460, height = 400, left = 56, top = 96;
  Canvas canvas(margin + static_cast<double>(layers.size()) * (panel + left),
                top + height + 48);
  canvas.text(left, 36, caption, 17, Align::Left, ink, /*bold=*/true);
  double x = left;
  for (const Curves &layer : layers) {
    float low = 0, high = 1;
    auto include = [&](const std::vector<float> &values) {
      auto [least, most] = std::minmax_element(values.begin(), values.end());
      low = std::min(low, *least);
      high = std::max(high, *most);
    };
    include(layer.initial);
    for (const std::vector<float> &values : layer.learnt)
      include(values);
    double step = roundStep(static_cast<double>(high) - low, 6);
    Axes axes(
        canvas, x, top, panel, height, {layer.x.front(), layer.x.back(), 1},
        {std::floor(low / step) * step, std::ceil(high / step) * step, step});
    axes.frame(number, number);
    for (size_t i = 0; i < layer.learnt.size(); ++i)
      axes.curve(layer.x, layer.learnt[i], palette[i % std::size(palette)], 2);
    axes.curve(layer.x, layer.initial, {0.4, 0.4, 0.4}, 1.5, 1,
               /*dashed=*/true);
    canvas.text(x, top - 14, layer.title, 14);
    x += panel + left;
  }
  return canvas.write(path);
}
