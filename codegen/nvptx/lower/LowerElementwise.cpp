//===- LowerElementwise.cpp - arithmetic on each register -----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/lower/LowerElementwise.h"
#include "codegen/nvptx/lower/LowerReductions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace drawloom::nvptx {

void LowerElementwise::lower(Operation *op, RegisterRange range) {
  if (auto add = dyn_cast<arith::AddFOp>(op))
    if (auto reduce = add.getRhs().getDefiningOp<tile::ReduceOp>();
        reduce && LowerReductions::carriedSum(reduce)) {
      // It was added there.
      const Registers sums = program.registers.lookup(reduce.getResult());
      program.registers[op->getResult(0)].append(sums.begin() + range.begin,
                                                 sums.begin() + range.end);
      return;
    }
  if (pairs.lowerRounding(op, range) || pairs.lowerExtension(op, range) ||
      pairs.lowerMask(op, range))
    return;
  // Registers that hold the same need one computation.
  std::map<SmallVector<void *>, Operation *> done;
  SmallVector<Registers> results(op->getNumResults());
  for (int64_t i = range.begin; i < range.end; ++i) {
    OperationState state(program.builder.getLoc(), op->getName());
    SmallVector<void *> key;
    for (Value operand : op->getOperands()) {
      Value value = program.isTile(operand)
                        ? program.registers.find(operand)->second[i]
                        : program.scalars.lookup(operand);
      state.addOperands(value);
      key.push_back(value.getAsOpaquePointer());
    }
    Operation *&made = done[key];
    if (!made) {
      for (Type type : op->getResultTypes())
        state.addTypes(getElementTypeOrSelf(type));
      state.addAttributes(llvm::to_vector(op->getDiscardableAttrs()));
      state.propertiesAttr = op->getPropertiesAsAttribute();
      made = program.builder.create(state);
      program.count();
    }
    for (auto [list, value] : llvm::zip(results, made->getResults()))
      list.push_back(value);
  }
  for (auto [result, list] : llvm::zip(op->getResults(), results))
    llvm::append_range(program.registers[result], list);
}

} // namespace drawloom::nvptx
