//===- Values.h - arguments and results of a run ----------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_TOOLS_DRAWLOOM_RUN_VALUES_H
#define DRAWLOOM_TOOLS_DRAWLOOM_RUN_VALUES_H

#include "dialects/Interfaces/HostTensor.h"
#include "lib/Compiler/Compiler.h"
#include "lib/Compiler/Names.h"
#include "lib/Numpy/Numpy.h"

namespace drawloom::run {

/// An argument or a result: dense row-major memory of its type.
struct Value {
  ValueType type;
  std::string bytes;

  int64_t elements() const;
  double asDouble(int64_t i) const;
  int64_t asInteger(int64_t i) const;
  bool isFloat() const;
};

/// What a function says of an argument: unknown extents are -1.
struct Slot {
  ElementType element;
  std::vector<int64_t> shape;
  /// "" where the program does not say.
  std::string name;
  bool hasUnknownExtents() const;
};

/// A function that can be run, by what its definition says.
struct EntryPoint {
  std::string name;
  llvm::SmallVector<mlir::Type> arguments, results;
  bool isPublic = true;
  ValueNames names = {};
};
/// The functions of a module that have a body; in the phases after `buffers`,
/// where the code no longer shows them, the signatures that it carries.
std::vector<EntryPoint> entryPoints(mlir::ModuleOp module, Phase phase);

/// The slots of an entry. Errors name one whose type has no form in memory.
llvm::Expected<std::vector<Slot>> argumentsOf(const EntryPoint &entry);
llvm::Expected<std::vector<Slot>> resultsOf(const EntryPoint &entry);

/// The name of a result, "result0" where the program does not say.
std::string resultName(const EntryPoint &entry, size_t i);

/// "float32[8, 64]", with "?" for what is unknown.
std::string typeText(ElementType element, llvm::ArrayRef<int64_t> shape);
/// "1.5 GiB".
std::string bytesText(double bytes);

/// Bytes that a dense value needs. Error: more than 2^63.
llvm::Expected<int64_t> bytesNeeded(ElementType element,
                                    llvm::ArrayRef<int64_t> shape);
/// Error where `bytes` exceed the memory that the machine has to give.
llvm::Error checkMemory(int64_t bytes, const llvm::Twine &what);

/// The array as an argument; error where type or shape differ from the slot's.
/// With `convert`, another element type is converted.
llvm::Expected<Value> fromArray(const numpy::Array &array, const Slot &slot,
                                bool convert);
numpy::Array toArray(const Value &value);

HostTensor toHostTensor(const Value &value);
/// Rounds to the element type.
Value fromHostTensor(const HostTensor &tensor, ElementType element);

/// Uniform in [-1, 1) for floats and in [low, high) for integers. The same
/// values for a seed on any machine; `stream` tells arguments apart.
Value randomValue(ElementType element, llvm::ArrayRef<int64_t> shape,
                  uint64_t seed, uint64_t stream, int64_t low, int64_t high);

/// Prints the type and the elements as nested lists; of a long value its
/// beginning.
void print(llvm::raw_ostream &stream, llvm::StringRef name, const Value &value);

struct Difference {
  double largestAbsolute = 0;
  /// |a - b| / |b| where b is not 0.
  double largestRelative = 0;
  /// Largest |a - b| / (absolute + relative * |b|): above 1 is a failure.
  double ofTolerance = 0;
  int64_t at = 0;
};
struct Tolerance {
  double absolute, relative;
};
/// What a backend may differ from the interpreter by: the type's rounding,
/// times the growth in a sum of a few thousand terms.
Tolerance toleranceOf(ElementType element);
/// NaN equals NaN, an infinity itself.
Difference compare(const Value &actual, const Value &expected,
                   Tolerance tolerance);

} // namespace drawloom::run

#endif // DRAWLOOM_TOOLS_DRAWLOOM_RUN_VALUES_H
