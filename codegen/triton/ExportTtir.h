//===- ExportTtir.h - block programs as Triton kernels -------- -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exports a program in the phase `blocks`: it becomes kernels over tiles, as
// for a GPU, and these become TTIR, the textual form that triton.compile
// accepts, with a description of how to launch them. docs/gpu-ttir.md lists
// what can be expressed.
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
  /// Index of the argument or result of the function; 0 for other buffers.
  int64_t index = 0;
  std::vector<int64_t> shape;
  /// As MLIR spells it: f32, bf16, i32, index (64 bits), i1 (one byte).
  std::string element;
  /// The bytes of a constant, in little-endian order.
  std::string data;
};

struct TtirParameter {
  /// Whether the parameter is a pointer to the buffer with this number, or else
  /// a scalar argument of the function.
  bool isBuffer = true;
  int64_t index = 0;
  std::string type;
};

struct TtirKernel {
  std::string name;
  /// A module with one tt.func.
  std::string text;
  /// Number of programs, which the kernel indexes along x.
  int64_t grid = 1;
  int64_t warps = 4;
  int64_t stages = 2;
  std::vector<TtirParameter> parameters;
};

/// The export of a function: its kernels, in the order in which they run one
/// after another.
struct TtirFunction {
  std::string name;
  std::vector<TtirBuffer> buffers;
  std::vector<TtirKernel> kernels;
};

struct TtirOptions {
  /// Triton's input precision of f32 products: ieee (all bits, on ordinary
  /// cores), tf32, tf32x3.
  std::string dotPrecision = "ieee";
};

/// Exports the public functions of a module in the phase `blocks`. Reports each
/// unsupported construct as an error at its location, and then fails.
mlir::FailureOr<std::vector<TtirFunction>>
exportTtir(mlir::ModuleOp module, const TtirOptions &options = {});

/// Returns {"functions": [{"name", "buffers", "kernels"}]}; the kernels include
/// their text.
llvm::json::Value toJson(llvm::ArrayRef<TtirFunction> functions);

} // namespace drawloom::triton

#endif // DRAWLOOM_CODEGEN_TRITON_EXPORTTTIR_H
