//===- Grid.h - geometry of the multiresolution encoding --------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DIALECTS_KAN_GRID_H
#define DRAWLOOM_DIALECTS_KAN_GRID_H

#include "llvm/ADT/SmallVector.h"
#include <array>
#include <cstdint>

namespace drawloom::kan {

/// One level of a multiresolution grid; see the description of
/// `kan.grid_encode`.
struct GridLevel {
  /// A coordinate x is at position x * scale + 1/2.
  double scale;
  /// Vertices have coordinates 0 .. resolution.
  int64_t resolution;
  /// Whether several vertices may share a table entry.
  bool isHashed;
  /// The factor of the k-th coordinate of a vertex. The products are added if
  /// the level is dense, else combined by exclusive or.
  std::array<int64_t, 3> factors;
};

/// Extents and levels of a grid encoding.
struct GridShape {
  int64_t dimensions, entries, features;
  llvm::SmallVector<GridLevel> levels;

  /// `growth` is the ratio of the scales of successive levels.
  static GridShape create(int64_t dimensions, int64_t levels, int64_t entries,
                          int64_t features, double baseResolution,
                          double growth);

  /// Returns the table entry of a vertex.
  int64_t entry(const GridLevel &level, llvm::ArrayRef<int64_t> vertex) const;
};

} // namespace drawloom::kan

#endif // DRAWLOOM_DIALECTS_KAN_GRID_H
