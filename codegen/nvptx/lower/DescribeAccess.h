//===- DescribeAccess.h - which element an access is of ---------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_LOWER_DESCRIBEACCESS_H
#define DRAWLOOM_CODEGEN_NVPTX_LOWER_DESCRIBEACCESS_H

#include "codegen/nvptx/lower/Accesses.h"

namespace drawloom::nvptx {

/// The bytes that a loop or an index adds to an address: multiples of `step` up
/// to `range`.
struct Moving {
  int64_t step = 0, range = 0;
};

/// The parts of a product with several parts: rows of the result per part, and
/// rows of the right operand's buffer per part. 0 rows if there is only one
/// product.
struct Batch {
  int64_t rows = 0, step = 0;
  /// Returns the rows of the buffer that a digit of the result's threads is
  /// worth.
  int64_t partOf(const tile::Digit &digit) const {
    return rows && digit.dim == 0 ? digit.stride / rows * step : 0;
  }
};

/// Describes accesses for the emulator, which compares addresses with it: the
/// attribute `elementAttr` says which element of which view an access is meant
/// to be of. It has the coordinates of the first element for thread 0, what
/// each bit of the thread number adds to them and, for matrices, what a half
/// and each bit of a word's number add. All attributes are null if accesses are
/// not described.
class DescribeAccess {
public:
  explicit DescribeAccess(ThreadProgram &program) : program(program) {}

  mlir::DictionaryAttr element(const Memory &memory,
                               llvm::ArrayRef<int64_t> coordinates,
                               llvm::ArrayRef<tile::Digit> threads,
                               Moving moving = {0, 0},
                               llvm::ArrayRef<tile::Digit> registers = {});
  /// Describes an access to rows selected by an index.
  mlir::DictionaryAttr row(const Memory &memory, const tile::Layout &layout,
                           const Access &access);
  /// Describes an access to a fragment of mma.m16n8k16. Groups of lanes count
  /// along dimension `across`, and the lanes of a group along the other
  /// dimension, in pairs; the digits of `sums` along its dimension `own` give
  /// the positions of the warps. `registers` are pairs of a dimension and a
  /// stride: for a half, and for bits of the word.
  mlir::DictionaryAttr
  fragment(const Memory &memory, int64_t across, int64_t first, int64_t step,
           const tile::Layout &sums, int64_t own,
           llvm::ArrayRef<std::pair<int64_t, int64_t>> registers, Batch batch);
  /// Describes an access that may go to any element.
  mlir::DictionaryAttr any(const Memory &memory);
  /// Returns a digit for each bit of the thread number; those of dimensions
  /// below `first` are worth nothing.
  static llvm::SmallVector<tile::Digit> threadDigits(const tile::Layout &layout,
                                                     int64_t first = 0);

private:
  ThreadProgram &program;
};

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_LOWER_DESCRIBEACCESS_H
