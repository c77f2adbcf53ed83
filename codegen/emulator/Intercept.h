//===- Intercept.h - calls of the emulator in place of ops ------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_EMULATOR_INTERCEPT_H
#define DRAWLOOM_CODEGEN_EMULATOR_INTERCEPT_H

#include "codegen/nvptx/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

namespace drawloom::emulator {

/// Rewrites the ops of one module. Ops that it takes over are erased.
class Interceptor {
public:
  explicit Interceptor(mlir::ModuleOp module);

  /// What is behind a function's first argument, while its ops are rewritten.
  mlir::Value thread;

  /// The number of a place in the source.
  mlir::Value site(mlir::Operation *op, llvm::StringRef suffix = "");
  /// Calls a function of runtime/emulator/Symbols.h; no result where `result`
  /// is null.
  mlir::Value call(mlir::Location loc, llvm::StringRef name, mlir::Type result,
                   mlir::ValueRange operands);
  mlir::Value constant(mlir::Location loc, int64_t value);
  /// Memory of the thread for `words` numbers of 32 bits.
  mlir::Value buffer(mlir::Location loc, int64_t words);
  mlir::Value wordAddress(mlir::Location loc, mlir::Value buffer,
                          int64_t index);

  /// Rewrites an op of the nvvm dialect or a call of an intrinsic. Fails with a
  /// diagnostic where the emulator lacks it.
  llvm::LogicalResult interceptNvvm(mlir::Operation *op);
  llvm::LogicalResult interceptIntrinsic(mlir::LLVM::CallIntrinsicOp op);

  /// What an access is meant to be, where the op says so (`elementAttr` of
  /// codegen/nvptx/Passes.h): the call in front of it. `bytes` is null for
  /// matrices.
  llvm::LogicalResult describe(mlir::Operation *op, mlir::Value address,
                               mlir::Value bytes,
                               llvm::StringRef name = nvptx::elementAttr);
  llvm::ArrayRef<mlir::Attribute> elements() const {
    return elementAttrs.getArrayRef();
  }

  /// In the order of their numbers.
  llvm::ArrayRef<mlir::Attribute> sites() const { return siteTexts; }

  mlir::OpBuilder b;
  mlir::ModuleOp module;

private:
  llvm::LogicalResult interceptMatrix(mlir::Operation *op);
  llvm::LogicalResult interceptExchange(mlir::Operation *op);
  llvm::LogicalResult interceptSynchronization(mlir::Operation *op);
  llvm::LogicalResult interceptConversion(mlir::Operation *op);
  /// What add.rn.ftz.f and the like compute; null for other names.
  mlir::Value arithmetic(mlir::LLVM::CallIntrinsicOp op, llvm::StringRef name);
  void replace(mlir::Operation *op, mlir::Value value);
  /// Packs numbers of 32 bits into a struct or gives the one that there is.
  mlir::Value loadResult(mlir::Location loc, mlir::Type type,
                         mlir::Value buffer);
  void storeWords(mlir::Location loc, mlir::ValueRange values,
                  mlir::Value buffer, int64_t index);
  mlir::Value pairResult(mlir::Location loc, mlir::Type type,
                         mlir::Value packed, mlir::Type valueType);

  llvm::SmallVector<mlir::Attribute> siteTexts;
  llvm::SetVector<mlir::Attribute> elementAttrs;
  mlir::Type i32, i64, ptr;
};

} // namespace drawloom::emulator

#endif // DRAWLOOM_CODEGEN_EMULATOR_INTERCEPT_H
