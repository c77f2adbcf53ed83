//===- PointBody.h - bodies that compute one point --------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_LIB_INTERPRETER_POINTBODY_H
#define DRAWLOOM_LIB_INTERPRETER_POINTBODY_H

#include "lib/Interpreter/Machine.h"
#include "lib/Interpreter/ScalarOps.h"

namespace drawloom::interpreter {

/// The body of an op that computes one point at a time (linalg ops,
/// tensor.generate, tensor.pad), from scalar block arguments to scalars. Bodies
/// of plain scalar ops become a list of operations on registers; other bodies
/// (with an scf.if, for example) run as ordinary blocks.
class PointBody {
public:
  static mlir::FailureOr<PointBody> prepare(mlir::Block &block,
                                            Compiler &compiler);

  /// Returns whether block argument `i` is read at all.
  bool reads(unsigned i) const { return used[i]; }
  unsigned numArguments() const { return used.size(); }

  /// Evaluates the body at many points; created once for each execution of the
  /// enclosing op.
  class Evaluator {
  public:
    Evaluator(PointBody &body, Machine &machine, Frame &frame);
    /// Returns the register of block argument `i`, to be set before `evaluate`.
    Scalar &argument(unsigned i) {
      return registers[body.argumentRegisters[i]];
    }
    /// Returns the value that the block yields as number `i`.
    Scalar yielded(unsigned i) const {
      return registers[body.yieldRegisters[i]];
    }
    /// `point` is the value of linalg.index.
    llvm::LogicalResult evaluate(llvm::ArrayRef<int64_t> point) {
      if (body.block)
        return evaluateBlock(point);
      for (auto [reg, dim] : body.indices)
        registers[reg].i = point[dim];
      for (const ScalarOp &op : body.ops)
        if (const char *problem = op.run(registers.data()))
          return report(op, problem, point);
      return llvm::success();
    }

  private:
    llvm::LogicalResult evaluateBlock(llvm::ArrayRef<int64_t> point);
    llvm::LogicalResult report(const ScalarOp &op, const char *problem,
                               llvm::ArrayRef<int64_t> point) const;
    PointBody &body;
    Machine &machine;
    Frame &frame;
    llvm::SmallVector<Scalar, 16> registers;
  };

  /// For a body that yields c + a * b on floats, returns the numbers of the
  /// block arguments a, b and c.
  std::optional<std::array<unsigned, 3>> multiplyAdd() const;

private:
  bool prepareScalar(mlir::Block &block, Compiler &compiler);
  bool prepareScalarOp(mlir::Operation &op, Compiler &compiler);
  std::optional<unsigned> reg(mlir::Value value, Compiler &compiler);

  unsigned registerCount = 0;
  llvm::SmallVector<bool> used;
  llvm::SmallVector<bool> argumentIsFloat, yieldIsFloat;
  llvm::SmallVector<unsigned> argumentRegisters, yieldRegisters;
  llvm::SmallVector<ScalarOp, 0> ops;
  /// Registers that are set before the first point: constants, and captured
  /// scalars (by slot).
  llvm::SmallVector<std::pair<unsigned, Scalar>> constants;
  llvm::SmallVector<std::pair<unsigned, unsigned>> captures;
  /// Registers of linalg.index, with their dimension.
  llvm::SmallVector<std::pair<unsigned, unsigned>> indices;
  /// Ops that read from a captured tensor, with the tensor's slot.
  llvm::SmallVector<std::pair<unsigned, unsigned>> tensors;
  llvm::DenseMap<mlir::Value, unsigned> valueRegisters;
  mlir::Block *source = nullptr;

  /// Set if the body does not consist of scalar ops only.
  std::shared_ptr<Body> block;
};

} // namespace drawloom::interpreter

#endif // DRAWLOOM_LIB_INTERPRETER_POINTBODY_H
