//===- MachineFacts.cpp - what decompositions know of a machine -----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Interfaces/MachineFacts.h"
#include "dialects/Drawloom/Attributes.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace drawloom {

MachineFacts machineFactsOf(Operation *op, MachineFacts facts) {
  for (; op; op = op->getParentOp()) {
    auto said = op->getAttrOfType<DictionaryAttr>(machineAttr);
    if (!said)
      continue;
    if (auto number = said.getAs<IntegerAttr>("processors"))
      facts.processors = std::max<int64_t>(number.getInt(), 1);
    if (auto number = said.getAs<IntegerAttr>("block_bytes"))
      facts.blockBytes = std::max<int64_t>(number.getInt(), 0);
    if (auto number = said.getAs<IntegerAttr>("product_rows"))
      facts.productRows = std::max<int64_t>(number.getInt(), 1);
    if (auto number = said.getAs<IntegerAttr>("saved_bytes"))
      facts.savedBytes = std::max<int64_t>(number.getInt(), 0);
    if (auto runs = said.getAs<BoolAttr>("lockstep"))
      facts.lockstep = runs.getValue();
    break;
  }
  return facts;
}

ScopedMachineFacts::ScopedMachineFacts(Operation *module,
                                       const MachineFacts &facts)
    : module(module), before(module->getAttr(machineAttr)) {
  Builder b(module->getContext());
  module->setAttr(
      machineAttr,
      b.getDictionaryAttr(
          {b.getNamedAttr("block_bytes", b.getI64IntegerAttr(facts.blockBytes)),
           b.getNamedAttr("lockstep", b.getBoolAttr(facts.lockstep)),
           b.getNamedAttr("processors", b.getI64IntegerAttr(facts.processors)),
           b.getNamedAttr("product_rows",
                          b.getI64IntegerAttr(facts.productRows)),
           b.getNamedAttr("saved_bytes",
                          b.getI64IntegerAttr(facts.savedBytes))}));
}

ScopedMachineFacts::~ScopedMachineFacts() {
  if (before)
    module->setAttr(machineAttr, before);
  else
    module->removeAttr(machineAttr);
}

} // namespace drawloom
