//===- Places.cpp - what stands where in the source -----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/emulator/Places.h"
#include "codegen/nvptx/Passes.h"
#include "dialects/Drawloom/Attributes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LLVMContext.h"

using namespace mlir;

namespace drawloom::emulator {

/// In front of the number, in LLVM's metadata `annotation`. That kind alone is
/// kept where loads are merged or taken out of loops.
static constexpr StringLiteral prefix = "drawloom place ";

/// "file:line:column", or the best name that the location has.
static std::string placeOf(Location location) {
  std::string text;
  location->walk([&](Location part) {
    if (auto file = dyn_cast<FileLineColLoc>(part)) {
      text = file.getFilename().str() + ":" + std::to_string(file.getLine()) +
             ":" + std::to_string(file.getColumn());
      return WalkResult::interrupt();
    }
    if (auto name = dyn_cast<NameLoc>(part); name && text.empty())
      text = name.getName().str();
    return WalkResult::advance();
  });
  return text.empty() ? "an unknown location" : text;
}

/// What all addresses begin with that are computed from this one.
static Value rootOf(Value address) {
  while (Operation *def = address.getDefiningOp()) {
    if (auto step = dyn_cast<LLVM::GEPOp>(def))
      address = step.getBase();
    else if (isa<LLVM::AddrSpaceCastOp, LLVM::BitcastOp>(def))
      address = def->getOperand(0);
    else if (auto choice = dyn_cast<LLVM::SelectOp>(def))
      address = choice.getTrueValue();
    else
      break;
  }
  return address;
}

static Element elementOf(DictionaryAttr meant) {
  auto numbers = [&](StringRef name) -> ArrayRef<int64_t> {
    auto found = meant.getAs<DenseI64ArrayAttr>(name);
    return found ? found.asArrayRef() : ArrayRef<int64_t>();
  };
  auto digits = [&](StringRef name) {
    std::vector<Element::Digit> found;
    for (ArrayRef<int64_t> rest = numbers(name); rest.size() >= 2;
         rest = rest.drop_front(2))
      found.push_back({rest[0], rest[1]});
    return found;
  };
  Element element;
  element.at = numbers("at");
  element.sizes = numbers("sizes");
  element.strides = numbers("strides");
  element.threads = digits("threads");
  element.registers = digits("registers");
  if (ArrayRef<int64_t> buffer = numbers("buffer"); buffer.size() == 2) {
    element.start = buffer[0];
    element.bytes = buffer[1];
  }
  if (ArrayRef<int64_t> moves = numbers("moves"); moves.size() == 3) {
    element.fixed = moves[0];
    element.step = moves[1];
    element.limit = moves[2];
  }
  return element;
}

LogicalResult Places::describe(Operation *op, StringRef attribute,
                               Value address, std::optional<Meaning> &meaning) {
  auto meant = op->getAttrOfType<DictionaryAttr>(attribute);
  op->removeAttr(attribute);
  if (!meant)
    return success();
  for (StringRef part :
       {"at", "buffer", "moves", "sizes", "strides", "threads"})
    if (!meant.getAs<DenseI64ArrayAttr>(part))
      return op->emitOpError() << "has an attribute " << attribute
                               << " without the numbers '" << part << "'";
  Meaning found;
  Value root = rootOf(address);
  if (auto argument = dyn_cast<BlockArgument>(root);
      argument && argument.getOwner()->isEntryBlock())
    found.argument = argument.getArgNumber();
  else if (auto global = root.getDefiningOp<LLVM::AddressOfOp>())
    found.global = global.getGlobalName().str();
  else
    return op->emitOpError()
           << "has an attribute " << attribute
           << ", and an address that begins with neither an argument nor a "
              "global";
  bool elsewhere = isa_and_nonnull<LLVM::SelectOp>(address.getDefiningOp());
  std::pair<Attribute, unsigned> key(meant, elsewhere);
  auto known = elementNumbers.try_emplace(key, elements.size());
  if (known.second) {
    elements.push_back(elementOf(meant));
    elements.back().elsewhere = elsewhere;
  }
  found.element = known.first->second;
  meaning = std::move(found);
  return success();
}

LogicalResult Places::number(ModuleOp module) {
  MLIRContext *context = module.getContext();
  auto file = StringAttr::get(context, "places");
  auto write = [&](Operation *op, size_t number) {
    op->setLoc(FileLineColLoc::get(file, static_cast<unsigned>(number), 1));
  };
  WalkResult result = module.walk([&](Operation *op) {
    bool isNvvm = isa<NVVM::NVVMDialect>(op->getDialect());
    if (isa<LLVM::LLVMFuncOp>(op)) {
      write(op, 0);
      return WalkResult::advance();
    }
    if (!op->getParentOfType<LLVM::LLVMFuncOp>())
      return WalkResult::advance();
    if (!isNvvm && isMemoryEffectFree(op) && !isa<LLVM::CallIntrinsicOp>(op)) {
      write(op, 0);
      return WalkResult::advance();
    }
    std::string where = " at " + placeOf(op->getLoc());
    StringRef name = op->getName().getStringRef();
    if (auto intrinsic = dyn_cast<LLVM::CallIntrinsicOp>(op))
      name = intrinsic.getIntrin();
    write(op, texts.size());
    texts.push_back(name.str() + where);
    Meanings found;
    Value address =
        TypeSwitch<Operation *, Value>(op)
            .Case([](LLVM::LoadOp load) { return load.getAddr(); })
            .Case([](LLVM::StoreOp store) { return store.getAddr(); })
            .Case([](LLVM::AtomicRMWOp atomic) { return atomic.getPtr(); })
            .Case([](LLVM::AtomicCmpXchgOp atomic) { return atomic.getPtr(); })
            .Case([](NVVM::LdMatrixOp load) { return load.getPtr(); })
            .Case([](NVVM::StMatrixOp store) { return store.getPtr(); })
            .Case([](NVVM::CpAsyncOp copy) { return copy.getSrc(); })
            .Default([](Operation *) { return Value(); });
    auto copy = dyn_cast<NVVM::CpAsyncOp>(op);
    if ((address &&
         failed(describe(op, elementAttr, address, found.accessed))) ||
        (copy &&
         failed(describe(op, copiedToAttr, copy.getDst(), found.copiedTo))))
      return WalkResult::interrupt();
    meanings.push_back(std::move(found));
    if (copy) {
      // The number behind a copy's stands for its other side.
      texts.push_back(name.str() + " (its global side)" + where);
      meanings.emplace_back();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

void Places::keep(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (const llvm::DILocation *location = instruction.getDebugLoc();
          location && location->getLine() != 0 &&
          (instruction.mayReadOrWriteMemory() ||
           isa<llvm::CallBase>(instruction)))
        instruction.setMetadata(
            llvm::LLVMContext::MD_annotation,
            llvm::MDNode::get(
                module.getContext(),
                llvm::MDString::get(
                    module.getContext(),
                    (prefix + llvm::Twine(location->getLine())).str())));
}

int32_t Places::numberOf(const llvm::Instruction &instruction) const {
  if (const llvm::MDNode *node =
          instruction.getMetadata(llvm::LLVMContext::MD_annotation))
    for (const llvm::MDOperand &operand : node->operands()) {
      auto *text = dyn_cast<llvm::MDString>(operand);
      StringRef rest = text ? text->getString() : "";
      int32_t number = 0;
      if (rest.consume_front(prefix) && !rest.getAsInteger(10, number))
        return number;
    }
  if (const llvm::DILocation *location = instruction.getDebugLoc())
    return static_cast<int32_t>(location->getLine());
  return 0;
}

const Meaning *Places::meaningOf(int32_t number) const {
  const std::optional<Meaning> &found =
      meanings[static_cast<size_t>(number)].accessed;
  return found ? &*found : nullptr;
}

const Meaning *Places::copiedTo(int32_t number) const {
  const std::optional<Meaning> &found =
      meanings[static_cast<size_t>(number)].copiedTo;
  return found ? &*found : nullptr;
}

} // namespace drawloom::emulator
