//===- HostAbi.cpp - entries and kernels behind one C signature -----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Passes.h"
#include "codegen/cpu/Signature.h"
#include "codegen/cpu/kernels/LowerOffload.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace drawloom::cpu {
#define GEN_PASS_DEF_CPUHOSTABI
#include "codegen/cpu/Passes.h.inc"
} // namespace drawloom::cpu

using namespace mlir;

namespace drawloom::cpu {
namespace {

struct CpuHostAbi : impl::CpuHostAbiBase<CpuHostAbi> {
  void runOnOperation() override;

  LLVM::LLVMPointerType pointer() {
    return LLVM::LLVMPointerType::get(&getContext());
  }
  Value constant(OpBuilder &b, Location loc, int64_t value) {
    return LLVM::ConstantOp::create(b, loc, b.getI64Type(),
                                    b.getI64IntegerAttr(value));
  }
  Value slot(OpBuilder &b, Location loc, Value array, int64_t i) {
    return LLVM::GEPOp::create(b, loc, pointer(), pointer(), array,
                               ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
  }
  /// Reads argument i of type `type`: buffers are handed over as they are,
  /// numbers by address.
  Value unpack(OpBuilder &b, Location loc, Value array, int64_t i, Type type) {
    Value value =
        LLVM::LoadOp::create(b, loc, pointer(), slot(b, loc, array, i));
    if (isa<LLVM::LLVMPointerType>(type))
      return value;
    return LLVM::LoadOp::create(b, loc, type, value);
  }
  LLVM::LLVMFuncOp wrapKernel(LLVM::LLVMFuncOp kernel);
  void callHost(LLVM::LLVMFuncOp function, Value host);
  void makeEntry(LLVM::LLVMFuncOp function,
                 const DenseMap<StringAttr, LLVM::LLVMFuncOp> &wrappers,
                 int64_t scratchBytes);
};

LLVM::LLVMFuncOp CpuHostAbi::wrapKernel(LLVM::LLVMFuncOp kernel) {
  Location loc = kernel.getLoc();
  OpBuilder b(kernel);
  kernel.setLinkage(LLVM::Linkage::Internal);
  // Inlined, its arguments would be no arguments any more, and what is known
  // of them would have to survive as metadata.
  kernel.setNoInline(true);
  Type i64 = b.getI64Type();
  auto wrapper = LLVM::LLVMFuncOp::create(
      b, loc, (kernel.getName() + rangeSuffix).str(),
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(&getContext()),
                                  {pointer(), i64, i64, pointer()}));
  Block *body = wrapper.addEntryBlock(b);
  b.setInsertionPointToStart(body);
  bool scratch = isa<StringAttr>(kernel->getAttr(kernelAttr));
  unsigned buffers = kernel.getNumArguments() - (scratch ? 3 : 2);
  SmallVector<Value> operands;
  for (unsigned i = 0; i < buffers; ++i)
    operands.push_back(unpack(b, loc, body->getArgument(0), i,
                              kernel.getArgument(i).getType()));
  operands.push_back(body->getArgument(1));
  operands.push_back(body->getArgument(2));
  if (scratch)
    operands.push_back(body->getArgument(3));
  LLVM::CallOp::create(b, loc, kernel, operands);
  LLVM::ReturnOp::create(b, loc, ValueRange());
  return wrapper;
}

/// Lets the host do the transfers of `function`.
void CpuHostAbi::callHost(LLVM::LLVMFuncOp function, Value host) {
  SmallVector<LLVM::CallOp> calls;
  function.walk([&](LLVM::CallOp call) {
    if (call.getCallee() == transferName)
      calls.push_back(call);
  });
  OpBuilder b(function);
  Type i64 = b.getI64Type();
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(&getContext()),
                                  {pointer(), i64, i64, pointer(), i64});
  for (LLVM::CallOp call : calls) {
    Location at = call.getLoc();
    b.setInsertionPoint(call);
    // struct DrawloomHost { context, parallelFor, transfer }
    Value context =
        LLVM::LoadOp::create(b, at, pointer(), slot(b, at, host, 0));
    Value transfer =
        LLVM::LoadOp::create(b, at, pointer(), slot(b, at, host, 2));
    auto operands = call.getArgOperands();
    Value memory = LLVM::IntToPtrOp::create(b, at, pointer(), operands[2]);
    LLVM::CallOp::create(b, at, type,
                         ValueRange{transfer, context, operands[0], operands[1],
                                    memory, operands[3]});
    call.erase();
  }
}

void CpuHostAbi::makeEntry(
    LLVM::LLVMFuncOp function,
    const DenseMap<StringAttr, LLVM::LLVMFuncOp> &wrappers,
    int64_t scratchBytes) {
  Location loc = function.getLoc();
  OpBuilder b(function);
  auto voidType = LLVM::LLVMVoidType::get(&getContext());
  StringAttr name = function.getNameAttr();

  // The body gets the host as one more argument and an internal name.
  Block &body = function.getBody().front();
  SmallVector<Type> types(body.getArgumentTypes());
  if (scratchBytes > 0) {
    // Each thread has its own; nothing on the host's side uses this one.
    Value unused = body.getArgument(body.getNumArguments() - 1);
    b.setInsertionPointToStart(&body);
    Value null = LLVM::ZeroOp::create(b, loc, pointer());
    unused.replaceAllUsesWith(null);
    body.eraseArgument(body.getNumArguments() - 1);
    types.pop_back();
  }
  Value host = body.addArgument(pointer(), loc);
  types.push_back(pointer());
  function.setType(LLVM::LLVMFunctionType::get(voidType, types));
  function.setAllArgAttrs(SmallVector<DictionaryAttr>(
      types.size(), DictionaryAttr::get(&getContext())));
  Attribute signature = function->removeAttr(signatureAttr);
  function.setLinkage(LLVM::Linkage::Internal);
  function.setName((name.getValue() + "_host").str());

  b.setInsertionPointToStart(&body);
  Value one = constant(b, loc, 1);
  SmallVector<LLVM::CallOp> calls;
  function.walk([&](LLVM::CallOp call) {
    if (auto callee = call.getCalleeAttr();
        callee && wrappers.contains(callee.getAttr()))
      calls.push_back(call);
  });
  Type i64 = b.getI64Type();
  auto parallelForType = LLVM::LLVMFunctionType::get(
      voidType, {pointer(), pointer(), pointer(), i64});
  for (LLVM::CallOp call : calls) {
    Location at = call.getLoc();
    LLVM::LLVMFuncOp wrapper = wrappers.lookup(call.getCalleeAttr().getAttr());
    auto kernel = SymbolTable::lookupNearestSymbolFrom<LLVM::LLVMFuncOp>(
        call, call.getCalleeAttr());
    bool scratch = isa<StringAttr>(kernel->getAttr(kernelAttr));
    unsigned buffers = call.getArgOperands().size() - (scratch ? 3 : 2);
    b.setInsertionPointAfterValue(one);
    Value array = LLVM::AllocaOp::create(
        b, at, pointer(), pointer(), constant(b, at, std::max(1u, buffers)));
    SmallVector<Value> numbers(buffers);
    for (unsigned i = 0; i < buffers; ++i)
      if (Type type = call.getArgOperands()[i].getType();
          !isa<LLVM::LLVMPointerType>(type))
        numbers[i] = LLVM::AllocaOp::create(b, at, pointer(), type, one);
    b.setInsertionPoint(call);
    for (unsigned i = 0; i < buffers; ++i) {
      Value value = call.getArgOperands()[i];
      if (numbers[i]) {
        LLVM::StoreOp::create(b, at, value, numbers[i]);
        value = numbers[i];
      }
      LLVM::StoreOp::create(b, at, value, slot(b, at, array, i));
    }
    // struct DrawloomHost { context, parallelFor }
    Value context =
        LLVM::LoadOp::create(b, at, pointer(), slot(b, at, host, 0));
    Value parallelFor =
        LLVM::LoadOp::create(b, at, pointer(), slot(b, at, host, 1));
    Value address = LLVM::AddressOfOp::create(b, at, wrapper);
    Value blocks = call.getArgOperands()[buffers + 1];
    LLVM::CallOp::create(
        b, at, parallelForType,
        ValueRange{parallelFor, context, address, array, blocks});
    call.erase();
  }

  callHost(function, host);

  b.setInsertionPointAfter(function);
  auto entry = LLVM::LLVMFuncOp::create(
      b, loc, name,
      LLVM::LLVMFunctionType::get(voidType, {pointer(), pointer()}));
  entry->setAttr(signatureAttr, signature);
  Block *entryBody = entry.addEntryBlock(b);
  b.setInsertionPointToStart(entryBody);
  SmallVector<Value> operands;
  for (auto [i, type] : llvm::enumerate(ArrayRef(types).drop_back()))
    operands.push_back(unpack(b, loc, entryBody->getArgument(0), i, type));
  operands.push_back(entryBody->getArgument(1));
  LLVM::CallOp::create(b, loc, function, operands);
  LLVM::ReturnOp::create(b, loc, ValueRange());
}

void CpuHostAbi::runOnOperation() {
  ModuleOp module = getOperation();
  SmallVector<LLVM::LLVMFuncOp> kernels, functions;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    if (function.isExternal())
      continue;
    if (function->hasAttr(kernelAttr))
      kernels.push_back(function);
    else if (function->hasAttr(signatureAttr))
      functions.push_back(function);
  }
  DenseMap<StringAttr, LLVM::LLVMFuncOp> wrappers;
  for (LLVM::LLVMFuncOp kernel : kernels)
    wrappers[kernel.getNameAttr()] = wrapKernel(kernel);
  for (LLVM::LLVMFuncOp function : functions) {
    FailureOr<FunctionSignature> signature = getSignature(function);
    if (failed(signature)) {
      function.emitError("has a malformed ") << signatureAttr << " attribute";
      return signalPassFailure();
    }
    makeEntry(function, wrappers, signature->scratchBytes);
  }
  if (auto transfer = module.lookupSymbol<LLVM::LLVMFuncOp>(transferName))
    transfer.erase();
}

} // namespace
} // namespace drawloom::cpu
