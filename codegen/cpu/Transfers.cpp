//===- Transfers.cpp - values that a program keeps outside memory ---------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Transfers.h"
#include "codegen/cpu/Signature.h"
#include "dialects/Offload/Offload.h"
#include "drawloom/runtime/Abi.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/Memory/StepCost.h"

using namespace mlir;
using bufferization::AliasingValueList, bufferization::AnalysisState,
    bufferization::BufferizableOpInterface, bufferization::BufferizationOptions,
    bufferization::BufferizationState;

namespace drawloom::cpu {
namespace {

/// Reads the value, whose rows the store wants one behind the other.
struct StoreModel
    : BufferizableOpInterface::ExternalModel<StoreModel, offload::StoreOp> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    return true;
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &,
                               const AnalysisState &) const {
    return false;
  }
  AliasingValueList getAliasingValues(Operation *, OpOperand &,
                                      const AnalysisState &) const {
    return {};
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto store = cast<offload::StoreOp>(op);
    FailureOr<Value> memory =
        bufferization::getBuffer(rewriter, store.getValue(), options, state);
    if (failed(memory))
      return failure();
    auto type = cast<MemRefType>(memory->getType());
    if (!type.getLayout().isIdentity()) {
      auto dense = MemRefType::get(type.getShape(), type.getElementType());
      Value copy = memref::AllocOp::create(rewriter, op->getLoc(), dense);
      memref::CopyOp::create(rewriter, op->getLoc(), *memory, copy);
      memory = copy;
    }
    bufferization::replaceOpWithNewBufferizedOp<offload::StoreOp>(
        rewriter, op, store.getRecord().getType(), *memory);
    return success();
  }
};

/// Writes all of the destination.
struct AwaitModel
    : bufferization::DstBufferizableOpInterfaceExternalModel<AwaitModel,
                                                             offload::AwaitOp> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    return false;
  }
  bool bufferizesToElementwiseAccess(Operation *, const AnalysisState &,
                                     ArrayRef<OpOperand *>) const {
    return false;
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto await = cast<offload::AwaitOp>(op);
    FailureOr<Value> memory = bufferization::getBuffer(
        rewriter, await.getDestination(), options, state);
    if (failed(memory))
      return failure();
    auto type = cast<MemRefType>(memory->getType());
    Value whole = *memory;
    if (!type.getLayout().isIdentity())
      whole = memref::AllocOp::create(
          rewriter, op->getLoc(),
          MemRefType::get(type.getShape(), type.getElementType()));
    offload::AwaitOp::create(rewriter, op->getLoc(), Type(), await.getRecord(),
                             whole);
    if (whole != *memory)
      memref::CopyOp::create(rewriter, op->getLoc(), whole, *memory);
    bufferization::replaceOpWithBufferizedValues(rewriter, op, *memory);
    return success();
  }
};

/// Is its operand.
struct AgainModel
    : BufferizableOpInterface::ExternalModel<AgainModel, offload::AgainOp> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    return false;
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &,
                               const AnalysisState &) const {
    return false;
  }
  AliasingValueList getAliasingValues(Operation *op, OpOperand &,
                                      const AnalysisState &) const {
    return {{op->getResult(0), bufferization::BufferRelation::Equivalent}};
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    FailureOr<Value> memory = bufferization::getBuffer(
        rewriter, cast<offload::AgainOp>(op).getValue(), options, state);
    if (failed(memory))
      return failure();
    bufferization::replaceOpWithBufferizedValues(rewriter, op, *memory);
    return success();
  }
};

/// Replaces the transfers of one function by calls.
class TransferLowering {
public:
  TransferLowering(func::FuncOp function, func::FuncOp transfer)
      : function(function), transfer(transfer), builder(function.getContext()) {
  }
  LogicalResult run(ArrayRef<Operation *> ops);

private:
  void call(Operation *op, DrawloomTransfer kind, int64_t record, Value memory);

  func::FuncOp function, transfer;
  OpBuilder builder;
};

void TransferLowering::call(Operation *op, DrawloomTransfer kind,
                            int64_t record, Value memory) {
  builder.setInsertionPoint(op);
  Location loc = op->getLoc();
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value address = number(0);
  int64_t bytes = 0;
  if (memory) {
    address =
        memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memory);
    bytes = bytesOf(memory.getType());
  }
  func::CallOp::create(
      builder, loc, transfer,
      ValueRange{number(kind), number(record), address, number(bytes)});
}

LogicalResult TransferLowering::run(ArrayRef<Operation *> ops) {
  FailureOr<FunctionSignature> signature = getSignature(function);
  if (failed(signature))
    return ops.front()->emitOpError(
        "stands in a block program; transfers are between them");
  DenseMap<Value, int64_t> records;
  int64_t alive = 0;
  for (Operation *op : ops) {
    if (auto store = dyn_cast<offload::StoreOp>(op)) {
      int64_t number = signature->records++;
      records[store.getRecord()] = number;
      alive += bytesOf(store.getValue().getType());
      signature->recordBytes = std::max(signature->recordBytes, alive);
      call(op, DRAWLOOM_TRANSFER_STORE, number, store.getValue());
      continue;
    }
    auto known = records.find(op->getOperand(0));
    if (known == records.end())
      return op->emitOpError("has a record that control flow has chosen; a "
                             "record is what one offload.store gives");
    if (isa<offload::LoadOp>(op))
      call(op, DRAWLOOM_TRANSFER_LOAD, known->second, {});
    else if (auto await = dyn_cast<offload::AwaitOp>(op))
      call(op, DRAWLOOM_TRANSFER_AWAIT, known->second, await.getDestination());
    else {
      call(op, DRAWLOOM_TRANSFER_DROP, known->second, {});
      alive -= bytesOf(known->first.getDefiningOp()->getOperand(0).getType());
    }
  }
  for (Operation *op : llvm::reverse(ops))
    op->erase();
  setSignature(function, *signature);
  return success();
}

} // namespace

void registerTransferModels(DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *context, offload::OffloadDialect *dialect) {
        offload::StoreOp::attachInterface<StoreModel>(*context);
        offload::AwaitOp::attachInterface<AwaitModel>(*context);
        offload::AgainOp::attachInterface<AgainModel>(*context);
        context->loadDialect<memref::MemRefDialect>();
      });
}

LogicalResult lowerTransfers(ModuleOp module) {
  func::FuncOp transfer;
  for (auto function :
       llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    SmallVector<Operation *> ops;
    function.walk([&](Operation *op) {
      if (isa<offload::StoreOp, offload::LoadOp, offload::AwaitOp,
              offload::DropOp>(op))
        ops.push_back(op);
    });
    if (ops.empty())
      continue;
    if (!transfer) {
      OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
      SmallVector<Type> types(4, builder.getIndexType());
      transfer =
          func::FuncOp::create(builder, module.getLoc(), transferName,
                               builder.getFunctionType(types, TypeRange()));
      transfer.setPrivate();
    }
    if (failed(TransferLowering(function, transfer).run(ops)))
      return failure();
  }
  return success();
}

} // namespace drawloom::cpu
