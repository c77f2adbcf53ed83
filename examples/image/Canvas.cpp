//===- Canvas.cpp - drawing on a bitmap -----------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "examples/image/Canvas.h"
#include "examples/image/Files.h"
#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace image;

Canvas::Canvas(double width, double height)
    : surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24,
                                         static_cast<int>(width),
                                         static_cast<int>(height))),
      cairo(cairo_create(surface)) {
  cairo_set_source_rgb(cairo, 1, 1, 1);
  cairo_paint(cairo);
}

Canvas::~Canvas() {
  cairo_destroy(cairo);
  cairo_surface_destroy(surface);
}

void Canvas::text(double x, double y, StringRef string, double size,
                  Align align, Colour colour, bool bold) {
  std::string terminated = string.str();
  cairo_select_font_face(cairo, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL,
                         bold ? CAIRO_FONT_WEIGHT_BOLD
                              : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(cairo, size);
  cairo_text_extents_t extents;
  cairo_text_extents(cairo, terminated.c_str(), &extents);
  if (align == Align::Centre)
    x -= extents.x_advance / 2;
  else if (align == Align::Right)
    x -= extents.x_advance;
  cairo_set_source_rgb(cairo, colour.red, colour.green, colour.blue);
  cairo_move_to(cairo, x, y);
  cairo_show_text(cairo, terminated.c_str());
}

void Canvas::line(double x0, double y0, double x1, double y1, Colour colour,
                  double width) {
  cairo_set_source_rgb(cairo, colour.red, colour.green, colour.blue);
  cairo_set_line_width(cairo, width);
  cairo_move_to(cairo, x0, y0);
  cairo_line_to(cairo, x1, y1);
  cairo_stroke(cairo);
}

static uint32_t toByte(float value) {
  return static_cast<uint32_t>(
      std::lround(std::clamp(value, 0.0f, 1.0f) * 255));
}

void Canvas::picture(double x, double y, double width, double height,
                     const Picture &picture) {
  cairo_surface_t *pixels = cairo_image_surface_create(
      CAIRO_FORMAT_RGB24, static_cast<int>(picture.width),
      static_cast<int>(picture.height));
  unsigned char *data = cairo_image_surface_get_data(pixels);
  // Null where the size is beyond cairo's limit; write() then reports it.
  if (data) {
    cairo_surface_flush(pixels);
    int stride = cairo_image_surface_get_stride(pixels);
    for (int64_t row = 0; row < picture.height; ++row) {
      auto *out = reinterpret_cast<uint32_t *>(data + row * stride);
      const float *in = picture.rgb.data() + row * picture.width * 3;
      for (int64_t column = 0; column < picture.width; ++column, in += 3)
        out[column] = toByte(in[0]) << 16 | toByte(in[1]) << 8 | toByte(in[2]);
    }
    cairo_surface_mark_dirty(pixels);
  }
  cairo_save(cairo);
  cairo_translate(cairo, x, y);
  double scale = width / static_cast<double>(picture.width);
  cairo_scale(cairo, scale, height / static_cast<double>(picture.height));
  cairo_set_source_surface(cairo, pixels, 0, 0);
  cairo_pattern_set_filter(cairo_get_source(cairo), scale >= 1
                                                        ? CAIRO_FILTER_NEAREST
                                                        : CAIRO_FILTER_BEST);
  cairo_paint(cairo);
  cairo_restore(cairo);
  cairo_surface_destroy(pixels);
}

Error Canvas::write(StringRef path) {
  std::string bytes;
  cairo_surface_flush(surface);
  cairo_status_t status = cairo_status(cairo);
  if (status == CAIRO_STATUS_SUCCESS)
    status = cairo_surface_write_to_png_stream(
        surface,
        [](void *closure, const unsigned char *data, unsigned length) {
          static_cast<std::string *>(closure)->append(
              reinterpret_cast<const char *>(data), length);
          return CAIRO_STATUS_SUCCESS;
        },
        &bytes);
  if (status != CAIRO_STATUS_SUCCESS)
    return makeError("cannot draw '" + path +
                     "': " + cairo_status_to_string(status));
  return writeWhole(path, bytes);
}

void Axes::frame(Label xLabel, Label yLabel) {
  // Marks are counted, not added up, so that rounding never drops the last.
  auto marks = [](const Range &range) {
    return std::pair<int64_t, int64_t>(
        std::llround(std::ceil(range.low / range.step - 1e-6)),
        std::llround(std::floor(range.high / range.step + 1e-6)));
  };
  auto [firstX, lastX] = marks(x);
  for (int64_t i = firstX; i <= lastX; ++i) {
    double at = toX(static_cast<double>(i) * x.step);
    canvas.line(at, top, at, top + height, faint);
    canvas.text(at, top + height + 20, xLabel(static_cast<double>(i) * x.step),
                13, Align::Centre);
  }
  auto [firstY, lastY] = marks(y);
  for (int64_t i = firstY; i <= lastY; ++i) {
    double at = toY(static_cast<double>(i) * y.step);
    canvas.line(left, at, left + width, at, faint);
    canvas.text(left - 8, at + 5, yLabel(static_cast<double>(i) * y.step), 13,
                Align::Right);
  }
  canvas.line(left, top + height, left + width, top + height, ink, 1.5);
  canvas.line(left, top, left, top + height, ink, 1.5);
}

void Axes::curve(ArrayRef<float> xs, ArrayRef<float> ys, Colour colour,
                 double lineWidth, double opacity, bool dashed) {
  cairo_t *cairo = canvas.context();
  cairo_save(cairo);
  cairo_rectangle(cairo, left, top, width, height);
  cairo_clip(cairo);
  cairo_set_source_rgba(cairo, colour.red, colour.green, colour.blue, opacity);
  cairo_set_line_width(cairo, lineWidth);
  cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
  if (dashed) {
    double pattern[] = {6, 5};
    cairo_set_dash(cairo, pattern, 2, 0);
  }
  for (size_t i = 0; i < ys.size(); ++i)
    cairo_line_to(cairo, toX(xs[i]), toY(ys[i]));
  cairo_stroke(cairo);
  cairo_restore(cairo);
}

double image::roundStep(double extent, double parts) {
  double rough = extent / parts;
  double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough)
      return factor * power;
  return 10 * power;
}
