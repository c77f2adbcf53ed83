//===- ExportTtir.h - block programs as Triton kernels -------- -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program in the phase `blocks` becomes kernels over tiles, as for a GPU, and
// these become TTIR, the textual form that triton.compile takes, with a
// description of what to launch them with.
// docs/gpu-ttir.md says what is expressible.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_TRITON_EXPORTTTIR_H
#define DRAWLOOM_CODEGEN_TRITON_EXPORTTTIR_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"
#include <array>
#include <string>
#include <vector>

namespace drawloom::triton {

/// Memory that kernels get pointers to: contiguous, row-major, aligned to 16
/// bytes.
struct TtirBuffer {
  enum class Kind { Argument, Result, Temporary, Constant };
  Kind kind = Kind::Temporary;
  /// Which argument or result of the function; 0 for the others.
  int64_t index = 0;
  std::vector<int64_t> shape;
  /// As MLIR spells it: f32, bf16, i32, index (64 bits), i1 (one byte).
  std::string element;
  /// The bytes of a constant, in the order of a little-endian machine.
  std::string data;
};

struct TtirParameter {
  /// A pointer to the buffer of this number, or a scalar argument of the
  /// function.
  bool isBuffer = true;
  int64_t index = 0;
  std::string type;
};

struct TtirKernel {
  std::string name;
  /// A module with one tt.func.
  std::string text;
  /// Programs; the kernel numbers them along x.
  int64_t grid = 1;
  int64_t warps = 4;
  int64_t stages = 2;
  std::vector<TtirParameter> parameters;
};

/// What a function became: its kernels in the order in which they run, one
/// after another.
struct TtirFunction {
  std::string name;
  std::vector<TtirBuffer> buffers;
  std::vector<TtirKernel> kernels;
};

struct TtirOptions {
  /// Triton's input precision of products of f32: ieee (all bits, on ordinary
  /// cores), tf32, tf32x3.
  std::string dotPrecision = "ieee";
};

/// Exports the public functions of a module in the phase `blocks`. Reports each
/// construct that it refuses as an error at its location, and fails then.
mlir::FailureOr<std::vector<TtirFunction>>
exportTtir(mlir::ModuleOp module, const TtirOptions &options = {});

/// {"functions": [{"name", "buffers", "kernels"}]}, the kernels with their
/// text.
llvm::json::Value toJson(llvm::ArrayRef<TtirFunction> functions);

} // namespace drawloom::triton

#endif // DRAWLOOM_CODEGEN_TRITON_EXPORTTTIR_H
