//===- InterceptNvvm.cpp - GPU kernels as functions of one thread ---------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/emulator/Intercept.h"
#include "codegen/emulator/Passes.h"
#include "codegen/nvptx/Passes.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "runtime/emulator/Shadow.h"
#include "runtime/emulator/Symbols.h"
#include "llvm/Support/MathExtras.h"

namespace drawloom::emulator {
#define GEN_PASS_DEF_EMULATORINTERCEPTNVVM
#include "codegen/emulator/Passes.h.inc"
} // namespace drawloom::emulator

using namespace mlir;

namespace drawloom::emulator {

//===----------------------------------------------------------------------===//
// Interceptor: what all rewrites share
//===----------------------------------------------------------------------===//

Interceptor::Interceptor(ModuleOp module)
    : b(module.getContext()), module(module), i32(b.getI32Type()),
      i64(b.getI64Type()), ptr(LLVM::LLVMPointerType::get(b.getContext())) {
  // Number 0 is for what has no place.
  siteTexts.push_back(b.getStringAttr("nowhere"));
}

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
  return text;
}

Value Interceptor::site(Operation *op, StringRef suffix) {
  std::string where = placeOf(op->getLoc());
  if (where.empty())
    where = "an unknown location";
  StringRef name = op->getName().getStringRef();
  if (auto intrinsic = dyn_cast<LLVM::CallIntrinsicOp>(op))
    name = intrinsic.getIntrin();
  siteTexts.push_back(b.getStringAttr(name + suffix + " at " + where));
  return constant(op->getLoc(), static_cast<int64_t>(siteTexts.size()) - 1);
}

Value Interceptor::constant(Location loc, int64_t value) {
  return LLVM::ConstantOp::create(
      b, loc, i32, b.getI32IntegerAttr(static_cast<int32_t>(value)));
}

Value Interceptor::call(Location loc, StringRef name, Type result,
                        ValueRange operands) {
  auto callee = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!callee) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    SmallVector<Type> types;
    for (Type type : operands.getTypes())
      types.push_back(isa<LLVM::LLVMPointerType>(type) ? ptr : type);
    callee = LLVM::LLVMFuncOp::create(
        b, module.getLoc(), name,
        LLVM::LLVMFunctionType::get(
            result ? result : LLVM::LLVMVoidType::get(b.getContext()), types));
  }
  // Pointers still have their address spaces here and lose them later.
  auto op = LLVM::CallOp::create(b, loc, callee, operands);
  return result ? op.getResult() : Value();
}

Value Interceptor::buffer(Location loc, int64_t words) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(thread.getParentBlock());
  Value one = constant(loc, 1);
  return LLVM::AllocaOp::create(
      b, loc, ptr, LLVM::LLVMArrayType::get(i32, static_cast<unsigned>(words)),
      one, 16);
}

//===----------------------------------------------------------------------===//
// Accesses of memory
//===----------------------------------------------------------------------===//

namespace {

class Accesses {
public:
  Accesses(Interceptor &to) : to(to), layout(to.module) {}

  LogicalResult intercept(Operation *op);

private:
  LogicalResult report(Operation *op, Value address, Type type, AccessKind kind,
                       std::optional<uint64_t> alignment);
  void reportBytes(Operation *op, Value address, Value bytes, AccessKind kind,
                   uint64_t alignment);
  void fence(Operation *op, bool before, LLVM::AtomicOrdering ordering);

  Interceptor &to;
  DataLayout layout;
};

} // namespace

void Accesses::reportBytes(Operation *op, Value address, Value bytes,
                           AccessKind kind, uint64_t alignment) {
  unsigned space =
      cast<LLVM::LLVMPointerType>(address.getType()).getAddressSpace();
  if (address.getDefiningOp<LLVM::AllocaOp>() || space == 5)
    return;
  // Constants are in global memory.
  if (space == 4)
    space = 1;
  Location loc = op->getLoc();
  int64_t code = static_cast<int64_t>(kind) + 16 * space;
  to.call(loc, "emuAccess", {},
          {to.thread, address, bytes, to.constant(loc, code),
           to.constant(loc, static_cast<int64_t>(alignment)), to.site(op)});
}

/// What all addresses begin with that are computed from this one: an argument,
/// or the arena.
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

LogicalResult Interceptor::describe(Operation *op, Value address, Value bytes,
                                    StringRef name) {
  auto meant = op->getAttrOfType<DictionaryAttr>(name);
  if (!meant)
    return success();
  for (StringRef part :
       {"at", "buffer", "moves", "sizes", "strides", "threads"})
    if (!meant.getAs<DenseI64ArrayAttr>(part))
      return op->emitOpError() << "has an attribute " << name
                               << " without the numbers '" << part << "'";
  Location loc = op->getLoc();
  Value root = rootOf(address);
  elementAttrs.insert(meant);
  Value number =
      constant(loc, llvm::find(elementAttrs, meant) - elementAttrs.begin());
  if (!bytes) {
    call(loc, "emuMatrixElement", {}, {thread, root, number});
    return success();
  }
  Value otherwise;
  if (auto choice = address.getDefiningOp<LLVM::SelectOp>())
    otherwise = choice.getFalseValue();
  else
    otherwise = LLVM::ZeroOp::create(b, loc, ptr);
  call(loc, "emuElement", {},
       {thread, address, root, otherwise, bytes, number, site(op)});
  return success();
}

LogicalResult Accesses::report(Operation *op, Value address, Type type,
                               AccessKind kind,
                               std::optional<uint64_t> alignment) {
  uint64_t bytes = layout.getTypeSize(type);
  if (!alignment)
    alignment = isa<LLVM::LLVMStructType, LLVM::LLVMArrayType>(type)
                    ? layout.getTypeABIAlignment(type)
                    : llvm::PowerOf2Ceil(bytes);
  Value count = LLVM::ConstantOp::create(
      to.b, op->getLoc(), to.b.getI64Type(),
      to.b.getI64IntegerAttr(static_cast<int64_t>(bytes)));
  if (failed(to.describe(op, address, count)))
    return failure();
  reportBytes(op, address, count, kind, *alignment);
  return success();
}

/// What an ordering demands on this side of an atomic operation.
void Accesses::fence(Operation *op, bool before,
                     LLVM::AtomicOrdering ordering) {
  using Ordering = LLVM::AtomicOrdering;
  bool both = ordering == Ordering::acq_rel || ordering == Ordering::seq_cst;
  if (!both && ordering != (before ? Ordering::release : Ordering::acquire))
    return;
  OpBuilder::InsertionGuard guard(to.b);
  if (before)
    to.b.setInsertionPoint(op);
  else
    to.b.setInsertionPointAfter(op);
  Location loc = op->getLoc();
  to.call(loc, "emuFence", {},
          {to.thread, to.constant(loc, static_cast<int64_t>(Scope::Device)),
           to.site(op)});
}

static uint64_t space(Value pointer) {
  return cast<LLVM::LLVMPointerType>(pointer.getType()).getAddressSpace();
}

LogicalResult Accesses::intercept(Operation *op) {
  to.b.setInsertionPoint(op);
  auto plainOr = [](LLVM::AtomicOrdering ordering, bool isVolatile,
                    AccessKind plain, AccessKind atomic) {
    return ordering != LLVM::AtomicOrdering::not_atomic || isVolatile ? atomic
                                                                      : plain;
  };
  if (auto load = dyn_cast<LLVM::LoadOp>(op)) {
    fence(op, /*before=*/false, load.getOrdering());
    if (failed(report(op, load.getAddr(), load.getType(),
                      plainOr(load.getOrdering(), load.getVolatile_(),
                              AccessKind::Load, AccessKind::AtomicLoad),
                      load.getAlignment())))
      return failure();
    load.setSyncscopeAttr({});
    load.setInvariant(false);
    return success();
  }
  if (auto store = dyn_cast<LLVM::StoreOp>(op)) {
    fence(op, /*before=*/true, store.getOrdering());
    if (failed(report(op, store.getAddr(), store.getValue().getType(),
                      plainOr(store.getOrdering(), store.getVolatile_(),
                              AccessKind::Store, AccessKind::Atomic),
                      store.getAlignment())))
      return failure();
    store.setSyncscopeAttr({});
    return success();
  }
  if (auto atomic = dyn_cast<LLVM::AtomicRMWOp>(op)) {
    fence(op, /*before=*/true, atomic.getOrdering());
    fence(op, /*before=*/false, atomic.getOrdering());
    if (failed(report(op, atomic.getPtr(), atomic.getVal().getType(),
                      AccessKind::Atomic, atomic.getAlignment())))
      return failure();
    atomic.setSyncscopeAttr({});
    return success();
  }
  if (auto exchange = dyn_cast<LLVM::AtomicCmpXchgOp>(op)) {
    fence(op, /*before=*/true, exchange.getSuccessOrdering());
    fence(op, /*before=*/false, exchange.getSuccessOrdering());
    if (failed(report(op, exchange.getPtr(), exchange.getVal().getType(),
                      AccessKind::Atomic, exchange.getAlignment())))
      return failure();
    exchange.setSyncscopeAttr({});
    return success();
  }
  if (auto fenceOp = dyn_cast<LLVM::FenceOp>(op)) {
    fence(op, /*before=*/true, LLVM::AtomicOrdering::acq_rel);
    op->erase();
    return success();
  }
  auto wide = [&](Value length) -> Value {
    if (length.getType().isInteger(64))
      return length;
    return LLVM::ZExtOp::create(to.b, op->getLoc(), to.b.getI64Type(), length);
  };
  if (isa<LLVM::MemcpyOp, LLVM::MemmoveOp>(op)) {
    Value length = wide(op->getOperand(2));
    reportBytes(op, op->getOperand(1), length, AccessKind::Load, 1);
    reportBytes(op, op->getOperand(0), length, AccessKind::Store, 1);
    return success();
  }
  if (auto set = dyn_cast<LLVM::MemsetOp>(op)) {
    reportBytes(op, set.getDst(), wide(set.getLen()), AccessKind::Store, 1);
    return success();
  }
  // The address of shared memory counts from the start of the arena.
  if (auto cast = dyn_cast<LLVM::PtrToIntOp>(op);
      cast && space(cast.getArg()) == 3) {
    Location loc = op->getLoc();
    Type i64 = to.b.getI64Type();
    Value arena =
        to.call(loc, "emuArena", LLVM::LLVMPointerType::get(to.b.getContext()),
                {to.thread});
    Value base = LLVM::PtrToIntOp::create(to.b, loc, i64, arena);
    Value address = LLVM::PtrToIntOp::create(to.b, loc, i64, cast.getArg());
    Value offset = LLVM::SubOp::create(to.b, loc, address, base);
    if (cast.getType() != i64)
      offset = LLVM::TruncOp::create(to.b, loc, cast.getType(), offset);
    cast.getResult().replaceAllUsesWith(offset);
    op->erase();
    return success();
  }
  if (auto cast = dyn_cast<LLVM::IntToPtrOp>(op);
      cast && space(cast.getResult()) == 3) {
    Location loc = op->getLoc();
    Value arena =
        to.call(loc, "emuArena", LLVM::LLVMPointerType::get(to.b.getContext()),
                {to.thread});
    Value offset = cast.getArg();
    if (!offset.getType().isInteger(64))
      offset = LLVM::ZExtOp::create(to.b, loc, to.b.getI64Type(), offset);
    Value address =
        LLVM::GEPOp::create(to.b, loc, arena.getType(), to.b.getI8Type(), arena,
                            ArrayRef<LLVM::GEPArg>{offset});
    // Both get the address space 0 later.
    Value typed = LLVM::AddrSpaceCastOp::create(
        to.b, loc, cast.getResult().getType(), address);
    cast.getResult().replaceAllUsesWith(typed);
    op->erase();
    return success();
  }
  if (isa<LLVM::Prefetch>(op)) {
    op->erase();
    return success();
  }
  if (isa<LLVM::InlineAsmOp>(op))
    return op->emitOpError("is not emulated");
  if (isa<LLVM::CallOp, LLVM::AllocaOp>(op) || isMemoryEffectFree(op) ||
      op->hasTrait<OpTrait::IsTerminator>())
    return success();
  bool touches = llvm::any_of(op->getOperandTypes(), [](Type type) {
    auto pointer = dyn_cast<LLVM::LLVMPointerType>(type);
    return pointer && pointer.getAddressSpace() != 5;
  });
  if (touches &&
      !isa<LLVM::LifetimeStartOp, LLVM::LifetimeEndOp, LLVM::AssumeOp>(op))
    return op->emitOpError("accesses memory in a way that is not emulated");
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct EmulatorInterceptNvvm
    : impl::EmulatorInterceptNvvmBase<EmulatorInterceptNvvm> {
  using EmulatorInterceptNvvmBase::EmulatorInterceptNvvmBase;
  void runOnOperation() override;
};

} // namespace

/// Removes what is for GPUs only and puts the thread in front of the arguments.
static void changeSignature(LLVM::LLVMFuncOp function) {
  MLIRContext *context = function.getContext();
  auto old = function.getFunctionType();
  SmallVector<Type> types{LLVM::LLVMPointerType::get(context)};
  llvm::append_range(types, old.getParams());
  function.setFunctionType(
      LLVM::LLVMFunctionType::get(old.getReturnType(), types));
  function.getBody().insertArgument(0u, types.front(), function.getLoc());
  // `noalias` and `readonly` would let code move across the calls.
  function.setArgAttrsAttr({});
  function.setResAttrsAttr({});
  function.setCConv(LLVM::CConv::C);
  function.setLinkage(LLVM::Linkage::External);
  function.setVisibility_(LLVM::Visibility::Default);
  SmallVector<StringAttr> names;
  for (NamedAttribute attribute : function->getAttrs())
    if (!llvm::is_contained(
            {"sym_name", "function_type", "linkage", "CConv", "visibility_"},
            attribute.getName().getValue()))
      names.push_back(attribute.getName());
  for (StringAttr name : names)
    function->removeAttr(name);
}

/// @emulate.k(thread, parameters), for a kernel that has its thread already.
static void makeEntry(LLVM::LLVMFuncOp kernel) {
  OpBuilder b(kernel);
  Location loc = kernel.getLoc();
  Type ptr = LLVM::LLVMPointerType::get(b.getContext());
  auto entry = LLVM::LLVMFuncOp::create(
      b, loc, (emulatePrefix + kernel.getName()).str(),
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                  {ptr, ptr}));
  Block *body = entry.addEntryBlock(b);
  b.setInsertionPointToStart(body);
  SmallVector<Value> arguments{body->getArgument(0)};
  Type i8 = b.getI8Type();
  for (auto [i, type] :
       llvm::enumerate(kernel.getFunctionType().getParams().drop_front())) {
    Value slot =
        LLVM::GEPOp::create(b, loc, ptr, ptr, body->getArgument(1),
                            ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
    Value address = LLVM::LoadOp::create(b, loc, ptr, slot);
    // The caller need not align a value.
    if (type.isInteger(1)) {
      Value byte = LLVM::LoadOp::create(b, loc, i8, address, 1);
      arguments.push_back(LLVM::TruncOp::create(b, loc, type, byte));
    } else {
      arguments.push_back(LLVM::LoadOp::create(b, loc, type, address, 1));
    }
  }
  LLVM::CallOp::create(b, loc, kernel, arguments);
  LLVM::ReturnOp::create(b, loc, ValueRange());
}

/// Checks that there is nothing but what the pass knows.
static LogicalResult checkModule(ModuleOp module) {
  for (Operation &op : module.getOps()) {
    if (auto function = dyn_cast<LLVM::LLVMFuncOp>(op)) {
      if (function.isExternal() && !function.symbolKnownUseEmpty(module))
        return function.emitError("@")
               << function.getName()
               << " has no body, and the emulator has no function of that name";
      continue;
    }
    auto global = dyn_cast<LLVM::GlobalOp>(op);
    if (!global)
      return op.emitOpError("is not emulated");
    if (global.getAddrSpace() == 3 ? global.getSymName() != arenaName
                                   : !global.getConstant())
      return op.emitOpError("is not emulated: globals other than constants and "
                            "the arena @")
             << arenaName;
  }
  return success();
}

static LogicalResult interceptFunction(Interceptor &to,
                                       LLVM::LLVMFuncOp function) {
  to.thread = function.getArgument(0);
  Accesses accesses(to);
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) {
    if (op != function)
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    if (isa<NVVM::NVVMDialect>(op->getDialect())) {
      if (failed(to.interceptNvvm(op)))
        return failure();
      continue;
    }
    if (!isa<LLVM::LLVMDialect>(op->getDialect()))
      return op->emitOpError("is not emulated: neither of the dialect llvm "
                             "nor of nvvm");
    if (auto intrinsic = dyn_cast<LLVM::CallIntrinsicOp>(op)) {
      if (intrinsic.getIntrin().starts_with("llvm.nvvm.")) {
        if (failed(to.interceptIntrinsic(intrinsic)))
          return failure();
        continue;
      }
    }
    if (auto call = dyn_cast<LLVM::CallOp>(op)) {
      if (!call.getCallee())
        return call.emitOpError("of a pointer is not emulated");
      SmallVector<Value> operands{to.thread};
      llvm::append_range(operands, call.getOperands());
      to.b.setInsertionPoint(call);
      auto callee = to.module.lookupSymbol<LLVM::LLVMFuncOp>(*call.getCallee());
      auto made = LLVM::CallOp::create(to.b, call.getLoc(), callee, operands);
      call->replaceAllUsesWith(made);
      call->erase();
      continue;
    }
    if (auto address = dyn_cast<LLVM::AddressOfOp>(op);
        address && address.getGlobalName() == arenaName) {
      to.b.setInsertionPoint(op);
      Value arena =
          to.call(op->getLoc(), "emuArena",
                  LLVM::LLVMPointerType::get(op->getContext()), {to.thread});
      Value typed = LLVM::AddrSpaceCastOp::create(to.b, op->getLoc(),
                                                  address.getType(), arena);
      address.getResult().replaceAllUsesWith(typed);
      op->erase();
      continue;
    }
    if (failed(accesses.intercept(op)))
      return failure();
  }
  return success();
}

void EmulatorInterceptNvvm::runOnOperation() {
  ModuleOp module = getOperation();
  if (failed(checkModule(module)))
    return signalPassFailure();
  SmallVector<LLVM::LLVMFuncOp> functions, kernels;
  for (auto function :
       llvm::make_early_inc_range(module.getOps<LLVM::LLVMFuncOp>())) {
    if (function.isExternal()) {
      function.erase();
      continue;
    }
    functions.push_back(function);
    if (function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
      kernels.push_back(function);
  }
  for (LLVM::LLVMFuncOp function : functions)
    changeSignature(function);
  Interceptor interceptor(module);
  for (LLVM::LLVMFuncOp function : functions)
    if (failed(interceptFunction(interceptor, function)))
      return signalPassFailure();
  for (LLVM::LLVMFuncOp kernel : kernels)
    makeEntry(kernel);
  if (Operation *arena = module.lookupSymbol(arenaName))
    arena->erase();

  // One address space for everything.
  AttrTypeReplacer replacer;
  replacer.addReplacement([](LLVM::LLVMPointerType type) -> Type {
    return LLVM::LLVMPointerType::get(type.getContext());
  });
  module->walk([&](Operation *op) {
    replacer.replaceElementsIn(op, /*replaceAttrs=*/true,
                               /*replaceLocs=*/false, /*replaceTypes=*/true);
    if (auto global = dyn_cast<LLVM::GlobalOp>(op))
      global.setAddrSpace(0);
  });
  module->walk([&](LLVM::AddrSpaceCastOp cast) {
    cast.getResult().replaceAllUsesWith(cast.getArg());
    cast.erase();
  });
  SmallVector<NamedAttribute> attributes;
  attributes.push_back({StringAttr::get(&getContext(), sitesAttr),
                        ArrayAttr::get(&getContext(), interceptor.sites())});
  if (!interceptor.elements().empty())
    attributes.push_back(
        {StringAttr::get(&getContext(), elementsAttr),
         ArrayAttr::get(&getContext(), interceptor.elements())});
  if (StringAttr name = module.getSymNameAttr())
    attributes.push_back({StringAttr::get(&getContext(), "sym_name"), name});
  module->setAttrs(attributes);
}

} // namespace drawloom::emulator
