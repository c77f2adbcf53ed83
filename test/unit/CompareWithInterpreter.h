//===- CompareWithInterpreter.h - machine code against the oracle -*- C++ -*-=//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_TEST_UNIT_COMPAREWITHINTERPRETER_H
#define DRAWLOOM_TEST_UNIT_COMPAREWITHINTERPRETER_H

#include "dialects/Interfaces/HostTensor.h"
#include "lib/Compiler/Compiler.h"
#include "mlir/IR/MLIRContext.h"
#include <map>

namespace drawloom::test {

/// Values for the arguments that random numbers do not suit, by position.
using Values = std::map<unsigned, std::vector<double>>;

struct Comparison {
  /// As in CodegenOptions.
  std::string isa = "native";
  /// Which of the sets runs; empty: the best.
  std::string loaded;
  unsigned threads = 1;
  /// Allowed |difference| / (1 + |expected|).
  double tolerance = 1e-5;
  Phase from = Phase::Blocks;
};

/// Elements of one argument or result as the host holds them.
std::vector<char> pack(const ValueType &type, llvm::ArrayRef<double> values);
std::vector<double> unpack(const ValueType &type, llvm::ArrayRef<char> bytes);

/// A context that knows every dialect and forwards diagnostics to stderr.
std::unique_ptr<mlir::MLIRContext> makeContext();

/// Compiles the only public function of `source`, runs it and the interpreter
/// on the same random arguments (uniform in [-1, 1], integers 0 or 1) and fails
/// the current test where results differ.
void compareWithInterpreter(llvm::StringRef source,
                            const Comparison &how = Comparison(),
                            const Values &given = Values());

} // namespace drawloom::test

#endif // DRAWLOOM_TEST_UNIT_COMPAREWITHINTERPRETER_H
