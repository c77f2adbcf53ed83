//===- Matrices.h - 8 x 8 matrices from and to shared memory ----*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_LOWER_MATRICES_H
#define DRAWLOOM_CODEGEN_NVPTX_LOWER_MATRICES_H

#include "codegen/nvptx/lower/DescribeAccess.h"

namespace drawloom::nvptx {

/// Loads and stores matrices of 8 x 8 numbers of 16 bits by ldmatrix and
/// stmatrix. A matrix is a word of each lane: lane l has elements 2 (l % 4) and
/// 2 (l % 4) + 1 of row l / 4. Each lane gives the address of a row.
class Matrices {
public:
  explicit Matrices(ThreadProgram &program)
      : program(program), builder(program.builder), accesses(program),
        descriptions(program) {}

  /// Loads `count` matrices (1, 2 or 4): a word of each.
  Registers load(mlir::Value address, int64_t bytes, int64_t count,
                 bool transposed, mlir::DictionaryAttr element);
  /// Stores the registers in `range` of a tile in fragment layout by stmatrix;
  /// returns false if the layout or stmatrix does not permit that.
  bool store(const Memory &memory, const tile::Layout &layout,
             llvm::ArrayRef<int64_t> shape, const Registers &source,
             RegisterRange range);
  /// Returns the word of two neighbouring numbers.
  mlir::Value pack(mlir::Value low, mlir::Value high);

private:
  bool canStore(const Memory &memory, const tile::Layout &layout,
                llvm::ArrayRef<int64_t> shape, RegisterRange range) const;
  /// Stores the matrices that begin with a register: one, or two or four that
  /// are so far apart as `steps` say.
  void storeFrom(int64_t begin, llvm::ArrayRef<tile::Digit> steps,
                 const Memory &memory, const tile::Layout &layout,
                 const Registers &source);

  ThreadProgram &program;
  mlir::ImplicitLocOpBuilder &builder;
  Accesses accesses;
  DescribeAccess descriptions;
};

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_LOWER_MATRICES_H
