//===- Views.h - what a Triton kernel reads of memory ---------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_TRITON_VIEWS_H
#define DRAWLOOM_CODEGEN_TRITON_VIEWS_H

#include "codegen/triton/PaddedTiles.h"
#include <optional>

namespace drawloom::triton {

/// An integer of which a part is known statically.
struct Offset {
  int64_t number = 0;
  Ssa more;
};

struct Dimension {
  /// kDynamic if only `dynamicSize` gives it.
  int64_t size = 1;
  /// In elements; for a part of a tile, in steps along `axis`.
  int64_t stride = 1;
  Ssa dynamicSize;
  int64_t axis = 0;
};

/// The meaning of a memref: a part of memory, or, for a buffer that would only
/// hold a single tile, a part of that tile.
struct View {
  Ssa pointer;
  std::optional<Tile> tile;
  /// One offset; for a part of a tile, one for each of its dimensions.
  llvm::SmallVector<Offset> offsets;
  llvm::SmallVector<Dimension> dimensions;
  /// Whether elements are bits, which memory holds in bytes.
  bool isBit = false;
};

/// Returns the view of all of a buffer in memory, or of all of a tile.
View wholeView(mlir::MemRefType type, const Ssa &pointer);
View wholeView(const Tile &tile);

/// Prints addresses in views, and what is read there.
class Views {
public:
  Views(TtirPrinter &print, PaddedTiles &tiles) : print(print), tiles(tiles) {}

  Ssa sizeOf(const Dimension &dimension);
  Tile load(const View &view, llvm::ArrayRef<int64_t> extents);
  Ssa loadElements(const View &view, llvm::ArrayRef<Ssa> indices,
                   llvm::ArrayRef<int64_t> extents);
  /// Returns pointers to the elements of a view; if `rows` is given, its
  /// numbers select the rows of dimension 0.
  Ssa elementPointers(const View &view, llvm::ArrayRef<int64_t> shape,
                      const Ssa &rows);
  /// Returns the mask of elements that are within the extents, and within those
  /// of the view.
  Ssa accessMask(const View &view, llvm::ArrayRef<int64_t> extents,
                 llvm::ArrayRef<int64_t> shape);
  Ssa rowMask(const Ssa &rows, llvm::ArrayRef<int64_t> extents,
              llvm::ArrayRef<int64_t> shape);
  Ssa fromMemory(const Ssa &value, const View &view);

private:
  Tile loadPart(const View &view, llvm::ArrayRef<int64_t> extents);
  Ssa baseOf(const View &view);

  TtirPrinter &print;
  PaddedTiles &tiles;
};

} // namespace drawloom::triton

#endif // DRAWLOOM_CODEGEN_TRITON_VIEWS_H
