//===- Intercept.cpp - GPU kernels as functions of one thread -------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/emulator/Intercept.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/ReplaceConstant.h"

using namespace llvm;

namespace drawloom::emulator {

//===----------------------------------------------------------------------===//
// What all rewrites share
//===----------------------------------------------------------------------===//

int32_t Interceptor::place(Instruction &instruction) {
  int32_t known = numbers.lookup(&instruction);
  if (known == 0) {
    known = static_cast<int32_t>(places.texts.size());
    places.texts.push_back((Twine(instruction.getOpcodeName()) +
                            " that LLVM's passes made of others, in @" +
                            instruction.getFunction()->getName())
                               .str());
  }
  return known;
}

Error Interceptor::notEmulated(Instruction &instruction, StringRef what) {
  return createStringError(
      "'" + places.texts[static_cast<size_t>(place(instruction))] + "' " +
      what);
}

Value *Interceptor::generic(Value *pointer) {
  return b.CreateAddrSpaceCast(pointer, ptr);
}

Value *Interceptor::call(StringRef name, Type *result,
                         ArrayRef<Value *> operands) {
  SmallVector<Value *> values;
  SmallVector<Type *> types;
  for (Value *operand : operands) {
    values.push_back(operand->getType()->isPointerTy() ? generic(operand)
                                                       : operand);
    types.push_back(values.back()->getType());
  }
  FunctionCallee callee = module.getOrInsertFunction(
      name, FunctionType::get(result ? result : b.getVoidTy(), types,
                              /*isVarArg=*/false));
  return b.CreateCall(callee, values);
}

Value *Interceptor::buffer(size_t words) {
  IRBuilder<>::InsertPointGuard guard(b);
  BasicBlock &entry = b.GetInsertBlock()->getParent()->getEntryBlock();
  b.SetInsertPoint(&entry, entry.getFirstInsertionPt());
  AllocaInst *memory = b.CreateAlloca(ArrayType::get(i32, words));
  memory->setAlignment(Align(16));
  return memory;
}

void Interceptor::storeWords(ArrayRef<Value *> values, Value *buffer) {
  for (auto [i, value] : enumerate(values))
    b.CreateAlignedStore(value, b.CreateConstGEP1_32(i32, buffer, i), Align(4));
}

Value *Interceptor::loadResult(Type *type, Value *buffer) {
  auto *structure = dyn_cast<StructType>(type);
  if (!structure)
    return b.CreateAlignedLoad(type, buffer, Align(4));
  Value *result = PoisonValue::get(type);
  for (auto [i, part] : enumerate(structure->elements()))
    result = b.CreateInsertValue(
        result,
        b.CreateAlignedLoad(part, b.CreateConstGEP1_32(i32, buffer, i),
                            Align(4)),
        static_cast<unsigned>(i));
  return result;
}

Value *Interceptor::pairResult(Type *type, Value *packed, Type *valueType) {
  Value *value = b.CreateTrunc(packed, i32);
  if (valueType != i32)
    value = b.CreateBitCast(value, valueType);
  if (!type->isStructTy())
    return value;
  Value *flag = b.CreateTrunc(b.CreateLShr(packed, 32), b.getInt1Ty());
  Value *result = b.CreateInsertValue(PoisonValue::get(type), value, 0);
  return b.CreateInsertValue(result, flag, 1);
}

Value *Interceptor::toWord(Value *value) {
  if (value->getType()->isIntegerTy())
    return b.CreateZExtOrTrunc(value, i32);
  return b.CreateBitCast(value, i32);
}

void Interceptor::replace(Instruction &instruction, Value *value) {
  if (value)
    instruction.replaceAllUsesWith(value);
  instruction.eraseFromParent();
}

//===----------------------------------------------------------------------===//
// Accesses of memory
//===----------------------------------------------------------------------===//

Value *Interceptor::rootOf(const Meaning &meaning) {
  // The thread is the first argument.
  if (meaning.argument)
    return b.GetInsertBlock()->getParent()->getArg(*meaning.argument + 1);
  if (meaning.global == arenaName)
    return arena;
  return module.getNamedGlobal(meaning.global);
}

void Interceptor::describe(Instruction &at, Value *address, Value *bytes,
                           const Meaning *meaning) {
  if (!meaning)
    return;
  Value *element = number(meaning->element);
  if (bytes)
    call("emuElement", nullptr,
         {thread, address, rootOf(*meaning), bytes, element, site(at)});
  else
    call("emuMatrixElement", nullptr, {thread, rootOf(*meaning), element});
}

void Interceptor::accessBytes(Instruction &at, Value *address, Value *bytes,
                              AccessKind kind, uint64_t alignment) {
  if (isa<AllocaInst>(getUnderlyingObject(address)))
    return;
  unsigned space = address->getType()->getPointerAddressSpace();
  // Constants are in global memory.
  if (space == 4)
    space = 1;
  call("emuAccess", nullptr,
       {thread, address, bytes, number(static_cast<int64_t>(kind) + 16 * space),
        number(static_cast<int64_t>(alignment)), site(at)});
}

void Interceptor::access(Instruction &at, Value *address, Type *type,
                         AccessKind kind, Align alignment) {
  Value *bytes = b.getInt64(module.getDataLayout().getTypeStoreSize(type));
  describe(at, address, bytes, places.meaningOf(numbers.lookup(&at)));
  accessBytes(at, address, bytes, kind, alignment.value());
}

/// What an ordering demands on this side of an atomic operation.
void Interceptor::fence(Instruction &at, bool before, AtomicOrdering ordering) {
  bool both = ordering == AtomicOrdering::AcquireRelease ||
              ordering == AtomicOrdering::SequentiallyConsistent;
  if (!both &&
      ordering != (before ? AtomicOrdering::Release : AtomicOrdering::Acquire))
    return;
  IRBuilder<>::InsertPointGuard guard(b);
  b.SetInsertPoint(before ? &at : at.getNextNode());
  call("emuFence", nullptr, {thread, code(Scope::Device), site(at)});
}

Error Interceptor::interceptInstruction(Instruction &instruction) {
  b.SetInsertPoint(&instruction);
  auto plainOr = [](bool isAtomic, bool isVolatile, AccessKind plain,
                    AccessKind atomic) {
    return isAtomic || isVolatile ? atomic : plain;
  };
  if (auto *load = dyn_cast<LoadInst>(&instruction)) {
    fence(*load, /*before=*/false, load->getOrdering());
    access(*load, load->getPointerOperand(), load->getType(),
           plainOr(load->isAtomic(), load->isVolatile(), AccessKind::Load,
                   AccessKind::AtomicLoad),
           load->getAlign());
    load->setSyncScopeID(SyncScope::System);
    // Metadata of it (`invariant.load`) would let it move across the calls.
    load->dropUnknownNonDebugMetadata();
    return Error::success();
  }
  if (auto *store = dyn_cast<StoreInst>(&instruction)) {
    fence(*store, /*before=*/true, store->getOrdering());
    access(*store, store->getPointerOperand(),
           store->getValueOperand()->getType(),
           plainOr(store->isAtomic(), store->isVolatile(), AccessKind::Store,
                   AccessKind::Atomic),
           store->getAlign());
    store->setSyncScopeID(SyncScope::System);
    store->dropUnknownNonDebugMetadata();
    return Error::success();
  }
  if (auto *atomic = dyn_cast<AtomicRMWInst>(&instruction)) {
    fence(*atomic, /*before=*/true, atomic->getOrdering());
    fence(*atomic, /*before=*/false, atomic->getOrdering());
    access(*atomic, atomic->getPointerOperand(),
           atomic->getValOperand()->getType(), AccessKind::Atomic,
           atomic->getAlign());
    atomic->setSyncScopeID(SyncScope::System);
    return Error::success();
  }
  if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) {
    fence(*exchange, /*before=*/true, exchange->getSuccessOrdering());
    fence(*exchange, /*before=*/false, exchange->getSuccessOrdering());
    access(*exchange, exchange->getPointerOperand(),
           exchange->getNewValOperand()->getType(), AccessKind::Atomic,
           exchange->getAlign());
    exchange->setSyncScopeID(SyncScope::System);
    return Error::success();
  }
  if (isa<FenceInst>(instruction)) {
    fence(instruction, /*before=*/true, AtomicOrdering::AcquireRelease);
    instruction.eraseFromParent();
    return Error::success();
  }
  // The address of shared memory counts from the start of the arena.
  if (auto *cast = dyn_cast<PtrToIntInst>(&instruction);
      cast && cast->getPointerAddressSpace() == 3) {
    Value *offset =
        b.CreateSub(b.CreatePtrToInt(generic(cast->getPointerOperand()), i64),
                    b.CreatePtrToInt(generic(arena), i64));
    return replace(instruction, b.CreateZExtOrTrunc(offset, cast->getType())),
           Error::success();
  }
  if (auto *cast = dyn_cast<IntToPtrInst>(&instruction);
      cast && cast->getAddressSpace() == 3)
    return replace(instruction,
                   b.CreateGEP(b.getInt8Ty(), arena,
                               b.CreateZExtOrTrunc(cast->getOperand(0), i64))),
           Error::success();
  if (auto *called = dyn_cast<CallInst>(&instruction))
    return interceptCall(*called);
  if (instruction.mayReadOrWriteMemory())
    return notEmulated(instruction,
                       "accesses memory in a way that is not emulated");
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

Error Interceptor::run(llvm::Function &function) {
  thread = function.getArg(0);
  SmallVector<Instruction *> all;
  for (Instruction &instruction : instructions(function))
    all.push_back(&instruction);
  b.SetInsertPoint(&function.getEntryBlock(),
                   function.getEntryBlock().getFirstInsertionPt());
  arena = b.CreateAddrSpaceCast(call("emuArena", ptr, {thread}),
                                b.getPtrTy(/*AddrSpace=*/3));
  if (GlobalVariable *shared = module.getNamedGlobal(arenaName))
    shared->replaceUsesWithIf(arena, [&](Use &use) {
      auto *user = dyn_cast<Instruction>(use.getUser());
      return user && user->getFunction() == &function;
    });
  for (Instruction *instruction : all)
    if (Error error = interceptInstruction(*instruction))
      return error;
  return Error::success();
}

/// The same function for one thread, which is put in front of the arguments.
/// Attributes go: `noalias` and `readonly` would let code move across the
/// calls, others are for GPUs only.
static llvm::Function *addThread(llvm::Function &old) {
  LLVMContext &context = old.getContext();
  SmallVector<Type *> types{PointerType::getUnqual(context)};
  append_range(types, old.getFunctionType()->params());
  llvm::Function *made = llvm::Function::Create(
      FunctionType::get(old.getReturnType(), types, /*isVarArg=*/false),
      GlobalValue::ExternalLinkage, "", old.getParent());
  made->takeName(&old);
  made->splice(made->begin(), &old);
  for (Argument &argument : old.args()) {
    Argument *own = made->getArg(argument.getArgNo() + 1);
    argument.replaceAllUsesWith(own);
    own->takeName(&argument);
  }
  return made;
}

/// @emulate.k(thread, parameters), for a kernel that has its thread already.
static void makeEntry(llvm::Function &kernel) {
  IRBuilder<> b(kernel.getContext());
  llvm::Function *entry = llvm::Function::Create(
      FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getPtrTy()},
                        /*isVarArg=*/false),
      GlobalValue::ExternalLinkage, emulatePrefix + kernel.getName(),
      kernel.getParent());
  b.SetInsertPoint(BasicBlock::Create(kernel.getContext(), "", entry));
  SmallVector<Value *> arguments{entry->getArg(0)};
  for (auto [i, type] : enumerate(kernel.getFunctionType()->params())) {
    if (i == 0)
      continue;
    Value *slot = b.CreateConstGEP1_64(b.getPtrTy(), entry->getArg(1), i - 1);
    Value *address = b.CreateLoad(b.getPtrTy(), slot);
    // The caller need not align a value.
    Value *value = b.CreateAlignedLoad(
        type->isIntegerTy(1) ? b.getInt8Ty() : type, address, Align(1));
    arguments.push_back(type->isIntegerTy(1) ? b.CreateTrunc(value, type)
                                             : value);
  }
  b.CreateCall(&kernel, arguments);
  b.CreateRetVoid();
}

Error intercept(Module &module, Places &places, ArrayRef<std::string> kernels) {
  for (GlobalVariable &global : module.globals()) {
    bool isShared = global.getAddressSpace() == 3;
    if (isShared ? global.getName() != arenaName : !global.isConstant())
      return createStringError("'@" + global.getName() +
                               "' is not emulated: globals other than "
                               "constants and the arena @" +
                               arenaName);
    // Whoever launches asks where the constants are.
    if (!isShared) {
      global.setLinkage(GlobalValue::ExternalLinkage);
      global.setVisibility(GlobalValue::DefaultVisibility);
    }
  }
  if (GlobalVariable *arena = module.getNamedGlobal(arenaName))
    convertUsersOfConstantsToInstructions({arena});

  DenseMap<const Instruction *, int32_t> numbers;
  for (llvm::Function &function : module)
    for (Instruction &instruction : instructions(function))
      numbers[&instruction] = places.numberOf(instruction);
  StripDebugInfo(module);

  SmallVector<std::pair<llvm::Function *, llvm::Function *>> functions;
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      functions.push_back({&function, nullptr});
  for (auto &[old, made] : functions)
    made = addThread(*old);
  for (auto [old, made] : functions) {
    for (User *user : make_early_inc_range(old->users())) {
      auto *call = dyn_cast<CallInst>(user);
      if (!call)
        return createStringError("'@" + made->getName() +
                                 "' is not emulated: its address is taken");
      SmallVector<Value *> operands{call->getFunction()->getArg(0)};
      append_range(operands, call->args());
      CallInst *changed =
          CallInst::Create(made, operands, "", call->getIterator());
      call->replaceAllUsesWith(changed);
      call->eraseFromParent();
    }
    old->eraseFromParent();
  }
  for (auto [old, made] : functions)
    if (Error error = Interceptor(module, places, numbers).run(*made))
      return error;
  for (const std::string &kernel : kernels)
    if (llvm::Function *function = module.getFunction(kernel))
      makeEntry(*function);
  for (llvm::Function &function : make_early_inc_range(module))
    if (function.isDeclaration() && function.use_empty())
      function.eraseFromParent();
  if (GlobalVariable *arena = module.getNamedGlobal(arenaName)) {
    arena->removeDeadConstantUsers();
    arena->eraseFromParent();
  }
  return Error::success();
}

} // namespace drawloom::emulator
