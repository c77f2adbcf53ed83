//===- Lanes.cpp - values of other lanes ----------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/lower/Lanes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace drawloom::nvptx {

Value shuffle(ThreadProgram &program, Value value, int64_t mask) {
  return exchange(program, value, program.constant(mask, 32),
                  NVVM::ShflKind::bfly);
}

Value exchange(ThreadProgram &program, Value value, Value other,
               NVVM::ShflKind kind) {
  ImplicitLocOpBuilder &builder = program.builder;
  Type type = value.getType();
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  auto exchangeWord = [&](Value word) -> Value {
    return NVVM::ShflOp::create(builder, word.getType(),
                                program.constant(-1, 32), word, other,
                                program.constant(31, 32), kind, UnitAttr());
  };
  if (type.isF32() || type == i32)
    return exchangeWord(value);
  if (type.isIndex()) {
    Value moved = exchange(program, program.toI64(value), other, kind);
    return arith::IndexCastOp::create(builder, type, moved);
  }
  if (type == i64 || type.isF64()) {
    Value bits =
        type == i64 ? value
                    : arith::BitcastOp::create(builder, i64, value).getResult();
    Value low = arith::TruncIOp::create(builder, i32, bits);
    Value high = arith::TruncIOp::create(
        builder, i32,
        arith::ShRUIOp::create(builder, bits, program.constant(32, 64)));
    low = arith::ExtUIOp::create(builder, i64, exchangeWord(low));
    high = arith::ExtUIOp::create(builder, i64, exchangeWord(high));
    high = arith::ShLIOp::create(builder, high, program.constant(32, 64));
    Value whole = arith::OrIOp::create(builder, low, high);
    return type == i64
               ? whole
               : arith::BitcastOp::create(builder, type, whole).getResult();
  }
  // Narrower ones travel in a word.
  unsigned width = type.getIntOrFloatBitWidth();
  Type narrow = builder.getIntegerType(width);
  Value bits =
      isa<FloatType>(type)
          ? arith::BitcastOp::create(builder, narrow, value).getResult()
          : value;
  Value word = exchangeWord(arith::ExtUIOp::create(builder, i32, bits));
  bits = arith::TruncIOp::create(builder, narrow, word);
  return isa<FloatType>(type)
             ? arith::BitcastOp::create(builder, type, bits).getResult()
             : bits;
}

} // namespace drawloom::nvptx
