//===- PaddedTiles.h - elements and shapes of padded tiles ----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_TRITON_PADDEDTILES_H
#define DRAWLOOM_CODEGEN_TRITON_PADDEDTILES_H

#include "codegen/triton/TtirPrinter.h"

namespace drawloom::triton {

/// A value of tensor type in registers, padded to powers of two. The contents
/// of the padding are unspecified unless `zeroPadding`.
struct Tile {
  Ssa value;
  llvm::SmallVector<int64_t> extents;
  bool zeroPadding = false;
};

/// Prints what moves and masks the elements of tensors whose extents are
/// padded.
class PaddedTiles {
public:
  explicit PaddedTiles(TtirPrinter &print) : print(print) {}

  Tile reshape(const Tile &tile, llvm::ArrayRef<int64_t> extents);
  /// Returns the mask of elements that are within the extents along some
  /// dimensions; absent if none of these is padded.
  Ssa insideMask(llvm::ArrayRef<int64_t> extents, llvm::ArrayRef<int64_t> shape,
                 llvm::ArrayRef<int64_t> dimensions);
  Ssa below(const Ssa &limit, int64_t dimension, llvm::ArrayRef<int64_t> shape);
  /// Returns the conjunction of two masks that may lack dimensions, or be
  /// absent.
  Ssa both(const Ssa &a, const Ssa &b);
  /// Replaces the contents of the padding along some dimensions.
  Ssa fillPadding(const Tile &tile, llvm::ArrayRef<int64_t> dimensions,
                  const Ssa &number);
  /// Appends zeros to a dimension up to an extent.
  Ssa grow(const Ssa &value, int64_t dimension, int64_t extent);
  Ssa shrink(const Ssa &value, int64_t dimension, int64_t extent);
  /// Returns the elements of `value` at indices of `axis`, a tensor of rank 1.
  Ssa take(const Ssa &value, const Ssa &indices, int64_t axis);
  /// Clamps indices to the range from 0 to extent - 1.
  Ssa clamp(const Ssa &indices, int64_t extent);
  /// Reshapes a tensor of rank 1 to one dimension among others of extent 1.
  Ssa along(Ssa line, int64_t axis, int64_t rank);
  Ssa arithmetic(llvm::StringRef name, const Ssa &a, int64_t b);
  Ssa arithmetic(llvm::StringRef name, Ssa a, Ssa b);

private:
  void unify(llvm::SmallVectorImpl<Ssa> &values);

  TtirPrinter &print;
};

} // namespace drawloom::triton

#endif // DRAWLOOM_CODEGEN_TRITON_PADDEDTILES_H
