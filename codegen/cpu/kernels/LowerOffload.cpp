//===- LowerOffload.cpp - values that a program keeps outside memory ------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/kernels/LowerOffload.h"
#include "codegen/cpu/Signature.h"
#include "dialects/Offload/Offload.h"
#include "drawloom/runtime/Abi.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/Memory/Records.h"
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

/// Calls the host in the place of a transfer.
void callHost(func::FuncOp transfer, Operation *op, DrawloomTransfer kind,
              int64_t record, Value memory) {
  OpBuilder builder(op);
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

/// Replaces the transfers of one function by calls.
LogicalResult lower(const Transfers &transfers, func::FuncOp function,
                    func::FuncOp transfer) {
  FailureOr<FunctionSignature> signature = getSignature(function);
  if (failed(signature))
    return transfers.list.front().op->emitOpError(
        "stands in a block program; transfers are between them");
  signature->records = transfers.records;
  signature->recordBytes = transfers.recordBytes;
  for (auto [op, record] : transfers.list) {
    if (auto store = dyn_cast<offload::StoreOp>(op))
      callHost(transfer, op, DRAWLOOM_TRANSFER_STORE, record, store.getValue());
    else if (auto await = dyn_cast<offload::AwaitOp>(op))
      callHost(transfer, op, DRAWLOOM_TRANSFER_AWAIT, record,
               await.getDestination());
    else
      callHost(transfer, op,
               isa<offload::LoadOp>(op) ? DRAWLOOM_TRANSFER_LOAD
                                        : DRAWLOOM_TRANSFER_DROP,
               record, {});
  }
  for (const Transfer &lowered : llvm::reverse(transfers.list))
    lowered.op->erase();
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
    FailureOr<Transfers> transfers = transfersOf(function);
    if (failed(transfers))
      return failure();
    if (transfers->list.empty())
      continue;
    if (!transfer) {
      OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
      SmallVector<Type> types(4, builder.getIndexType());
      transfer =
          func::FuncOp::create(builder, module.getLoc(), transferName,
                               builder.getFunctionType(types, TypeRange()));
      transfer.setPrivate();
    }
    if (failed(lower(*transfers, function, transfer)))
      return failure();
  }
  return success();
}

} // namespace drawloom::cpu
