//===- Canvas.h - drawing on a bitmap ---------------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_EXAMPLES_IMAGE_CANVAS_H
#define DRAWLOOM_EXAMPLES_IMAGE_CANVAS_H

#include "examples/image/Picture.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <cairo/cairo.h>
#include <string>

namespace image {

struct Colour {
  double red, green, blue;
};

constexpr Colour ink = {0.13, 0.14, 0.17};
constexpr Colour faint = {0.86, 0.87, 0.89};

enum class Align { Left, Centre, Right };

/// A white bitmap of the given size in pixels, over a cairo context.
class Canvas {
public:
  Canvas(double width, double height);
  ~Canvas();
  Canvas(const Canvas &) = delete;
  Canvas &operator=(const Canvas &) = delete;

  void text(double x, double y, llvm::StringRef string, double size = 15,
            Align align = Align::Left, Colour colour = ink, bool bold = false);
  void line(double x0, double y0, double x1, double y1, Colour colour,
            double width = 1);
  /// Draws `picture` scaled into the rectangle. Enlarged pixels stay sharp.
  void picture(double x, double y, double width, double height,
               const Picture &picture);
  /// The context itself, for what the helpers above do not cover.
  cairo_t *context() { return cairo; }
  llvm::Error write(llvm::StringRef path);

private:
  cairo_surface_t *surface;
  cairo_t *cairo;
};

/// Maps data to a rectangle of the canvas and draws a frame with marks.
class Axes {
public:
  struct Range {
    double low, high;
    /// The distance of two marks.
    double step;
  };
  using Label = llvm::function_ref<std::string(double)>;

  Axes(Canvas &canvas, double left, double top, double width, double height,
       Range x, Range y)
      : canvas(canvas), left(left), top(top), width(width), height(height),
        x(x), y(y) {}

  void frame(Label xLabel, Label yLabel);
  void curve(llvm::ArrayRef<float> xs, llvm::ArrayRef<float> ys, Colour colour,
             double lineWidth, double opacity = 1, bool dashed = false);

private:
  double toX(double value) const {
    return left + (value - x.low) / (x.high - x.low) * width;
  }
  double toY(double value) const {
    return top + (y.high - value) / (y.high - y.low) * height;
  }

  Canvas &canvas;
  double left, top, width, height;
  Range x, y;
};

/// A round step (1, 2 or 5 times a power of ten) that cuts `extent` into about
/// `parts` pieces.
double roundStep(double extent, double parts);

} // namespace image

#endif // DRAWLOOM_EXAMPLES_IMAGE_CANVAS_H
