//===- TtirPrinter.h - the text of one Triton kernel ---------- -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Triton's dialect `tt` does not exist in this process, so its ops are printed
// rather than built. A value is a name with a type; every function here prints
// one op and returns the name of its result.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_TRITON_TTIRPRINTER_H
#define DRAWLOOM_CODEGEN_TRITON_TTIRPRINTER_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVector.h"
#include <map>
#include <string>
#include <vector>

namespace drawloom::triton {

/// An SSA value of the text: a scalar if `shape` is empty, else a tensor whose
/// extents are powers of two.
struct Ssa {
  std::string name;
  /// Never `index`, which is i64 in the text. For pointers, the pointee's type.
  mlir::Type element;
  llvm::SmallVector<int64_t> shape;
  bool pointer = false;

  explicit operator bool() const { return !name.empty(); }
  bool isScalar() const { return shape.empty(); }
};

/// Returns the type as MLIR spells it.
std::string textOf(mlir::Type type);
/// Returns i64 for `index`, and other types unchanged.
mlir::Type elementInText(mlir::Type type);
/// Returns i8 for i1, which memory holds in a byte; other types as in the text.
mlir::Type elementInMemory(mlir::Type type);
int64_t powerOfTwoAbove(int64_t extent);
llvm::SmallVector<int64_t> paddedShape(llvm::ArrayRef<int64_t> extents);
std::string typeText(mlir::Type element, llvm::ArrayRef<int64_t> shape,
                     bool pointer = false);
std::string typeText(const Ssa &value);
/// Returns the names, separated by commas.
std::string namesText(llvm::ArrayRef<Ssa> values);
std::string typesText(llvm::ArrayRef<Ssa> values);

class TtirPrinter {
public:
  TtirPrinter(mlir::MLIRContext *context, llvm::StringRef dotPrecision);

  mlir::Type i1() const { return mlir::IntegerType::get(context, 1); }
  mlir::Type i32() const { return mlir::IntegerType::get(context, 32); }
  mlir::Type i64() const { return mlir::IntegerType::get(context, 64); }
  mlir::Type f32() const { return mlir::Float32Type::get(context); }

  /// Constants are printed at the function's entry, each once.
  Ssa constant(mlir::Type element, int64_t value,
               llvm::ArrayRef<int64_t> shape = {});
  Ssa constant(mlir::TypedAttr scalar, llvm::ArrayRef<int64_t> shape = {});
  /// Prints `name operands : type`, with a result of the first operand's type.
  Ssa same(llvm::StringRef name, llvm::ArrayRef<Ssa> operands);
  Ssa compare(llvm::StringRef name, llvm::StringRef predicate, const Ssa &a,
              const Ssa &b);
  Ssa select(const Ssa &condition, const Ssa &a, const Ssa &b);
  /// Prints `name value : from to to`; nothing if the types are equal.
  Ssa cast(llvm::StringRef name, const Ssa &value, mlir::Type to);
  /// Calls a function of NVIDIA's libdevice.
  Ssa libdevice(llvm::StringRef symbol, llvm::ArrayRef<Ssa> operands);
  Ssa bitcast(const Ssa &value, mlir::Type to);

  Ssa programId();
  /// Returns 0 ... extent - 1 along one dimension of a tensor of the given
  /// rank.
  Ssa iota(int64_t extent, int64_t dimension, int64_t rank);
  Ssa splat(const Ssa &scalar, llvm::ArrayRef<int64_t> shape);
  Ssa expandDims(const Ssa &value, int64_t axis);
  /// Repeats dimensions of extent 1, and scalars along all dimensions.
  Ssa broadcast(const Ssa &value, llvm::ArrayRef<int64_t> shape);
  Ssa reshape(const Ssa &value, llvm::ArrayRef<int64_t> shape);
  /// Dimension i of the result is dimension order[i] of the value.
  Ssa transpose(const Ssa &value, llvm::ArrayRef<int64_t> order);
  Ssa reduce(const Ssa &value, int64_t axis, llvm::StringRef combiner);
  Ssa scan(const Ssa &value, int64_t axis, bool reverse,
           llvm::StringRef combiner);
  Ssa gather(const Ssa &value, const Ssa &indices, int64_t axis);
  Ssa dot(const Ssa &a, const Ssa &b, const Ssa &sum);

  Ssa addPointer(const Ssa &pointer, const Ssa &offset);
  /// `mask` and `other` may be absent.
  Ssa load(const Ssa &pointer, const Ssa &mask, const Ssa &other);
  void store(const Ssa &pointer, const Ssa &value, const Ssa &mask);
  /// All threads of a program wait, and see each other's stores.
  void barrier();

  std::string fresh() { return "%" + std::to_string(next++); }
  void line(const std::string &text);
  void open(const std::string &text);
  void close(const std::string &text = "}");
  void indentMore() { ++indent; }
  /// Returns the body: constants, then all lines.
  std::string body() const;

  /// Returns the largest number of elements of any tensor printed.
  int64_t largestTensor() const { return largest; }
  bool hasDots() const { return dots; }

private:
  Ssa emit(const std::string &operation, mlir::Type element,
           llvm::ArrayRef<int64_t> shape, bool pointer = false);
  Ssa constantText(const std::string &literal, mlir::Type element,
                   llvm::ArrayRef<int64_t> shape);
  std::string combinerRegion(llvm::StringRef kind, llvm::StringRef combiner,
                             mlir::Type element);

  mlir::MLIRContext *context;
  std::string dotPrecision;
  std::map<std::string, std::string> constants;
  std::vector<std::string> entry;
  std::string text;
  int64_t next = 0;
  int64_t indent = 2;
  int64_t largest = 1;
  bool dots = false;
};

/// Returns the neutral element of a combiner, given as the name of an arith op.
Ssa neutral(TtirPrinter &print, llvm::StringRef combiner, mlir::Type element,
            llvm::ArrayRef<int64_t> shape);
/// Converts by the op for the wider and the narrower of the two element types.
Ssa convertFloat(TtirPrinter &print, const Ssa &value, mlir::Type to);
Ssa convertInteger(TtirPrinter &print, const Ssa &value, mlir::Type to,
                   bool isSigned = true);

} // namespace drawloom::triton

#endif // DRAWLOOM_CODEGEN_TRITON_TTIRPRINTER_H
