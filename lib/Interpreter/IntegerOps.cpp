//===- IntegerOps.cpp - integer arithmetic --------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/Machine.h"
#include "lib/Interpreter/ScalarOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Index/IR/IndexOps.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace drawloom::interpreter {

using Integer = const char *(*)(int64_t a, int64_t b, unsigned bits,
                                int64_t &result);

/// The bits as an unsigned number.
static uint64_t unsignedOf(int64_t value, unsigned bits) {
  return uint64_t(value) & llvm::maskTrailingOnes<uint64_t>(bits);
}
/// The bits as a two's complement number; i1 is kept as 0 or 1.
static int64_t signedOf(int64_t value, unsigned bits) {
  return bits == 1 ? -value : value;
}

static ScalarOp integer(Integer function) {
  ScalarOp op;
  op.integer = function;
  op.function = [](const ScalarOp &op, Scalar *r) -> const char * {
    int64_t result = 0;
    const char *problem =
        op.integer(r[op.in[0]].i, r[op.in[1]].i, op.bitsIn, result);
    r[op.out[0]].i = wrapInteger(result, op.bitsOut);
    return problem;
  };
  return op;
}

static ScalarOp integerUnary(Integer function) {
  ScalarOp op;
  op.integer = function;
  op.function = [](const ScalarOp &op, Scalar *r) -> const char * {
    int64_t result = 0;
    const char *problem = op.integer(r[op.in[0]].i, 0, op.bitsIn, result);
    r[op.out[0]].i = wrapInteger(result, op.bitsOut);
    return problem;
  };
  return op;
}

/// What numbers.md says of dividing by zero, for any type.
static bool dividesByZero(int64_t &a, int64_t &b, unsigned bits,
                          int64_t &result) {
  a = signedOf(a, bits);
  b = signedOf(b, bits);
  result = -1;
  return b == 0;
}

/// And of the smallest integer by -1: the quotient wraps to that integer.
static bool hasNoQuotient(int64_t &a, int64_t &b, unsigned bits,
                          int64_t &result) {
  if (dividesByZero(a, b, bits, result))
    return true;
  result = a;
  return b == -1 && a == llvm::minIntN(bits);
}

// Each is a captureless lambda, so that it converts to a function pointer.
#define INTEGER_OP                                                             \
  [](int64_t a, int64_t b, unsigned bits, int64_t &result)->const char *

/// Registers under the arith and the index dialect's name.
static void add(ScalarTable &table, StringRef arithName, StringRef indexName,
                ScalarOp op) {
  table[("arith." + arithName).str()] = op;
  if (!indexName.empty())
    table[("index." + indexName).str()] = op;
}

// Unsigned arithmetic wraps without undefined behaviour; the low bits of sum,
// difference and product do not depend on the sign.
static void addWrapping(ScalarTable &table) {
  add(table, "addi", "add", integer(INTEGER_OP {
        result = int64_t(uint64_t(a) + uint64_t(b));
        return nullptr;
      }));
  add(table, "subi", "sub", integer(INTEGER_OP {
        result = int64_t(uint64_t(a) - uint64_t(b));
        return nullptr;
      }));
  add(table, "muli", "mul", integer(INTEGER_OP {
        result = int64_t(uint64_t(a) * uint64_t(b));
        return nullptr;
      }));
}

static void addDivisions(ScalarTable &table) {
  add(table, "divsi", "divs", integer(INTEGER_OP {
        if (!hasNoQuotient(a, b, bits, result))
          result = a / b;
        return nullptr;
      }));
  add(table, "floordivsi", "floordivs", integer(INTEGER_OP {
        if (!hasNoQuotient(a, b, bits, result))
          result = llvm::divideFloorSigned(a, b);
        return nullptr;
      }));
  add(table, "ceildivsi", "ceildivs", integer(INTEGER_OP {
        if (!hasNoQuotient(a, b, bits, result))
          result = llvm::divideCeilSigned(a, b);
        return nullptr;
      }));
  add(table, "remsi", "rems", integer(INTEGER_OP {
        result = dividesByZero(a, b, bits, result) ? a : b == -1 ? 0 : a % b;
        return nullptr;
      }));
  add(table, "divui", "divu", integer(INTEGER_OP {
        if (!dividesByZero(a, b, bits, result))
          result = int64_t(unsignedOf(a, bits) / unsignedOf(b, bits));
        return nullptr;
      }));
  add(table, "ceildivui", "ceildivu", integer(INTEGER_OP {
        if (dividesByZero(a, b, bits, result))
          return nullptr;
        uint64_t x = unsignedOf(a, bits), y = unsignedOf(b, bits);
        result = int64_t(x / y + (x % y != 0));
        return nullptr;
      }));
  add(table, "remui", "remu", integer(INTEGER_OP {
        result = dividesByZero(a, b, bits, result)
                     ? a
                     : int64_t(unsignedOf(a, bits) % unsignedOf(b, bits));
        return nullptr;
      }));
}

static void addBitOps(ScalarTable &table) {
  add(table, "andi", "and", integer(INTEGER_OP {
        result = a & b;
        return nullptr;
      }));
  add(table, "ori", "or", integer(INTEGER_OP {
        result = a | b;
        return nullptr;
      }));
  add(table, "xori", "xor", integer(INTEGER_OP {
        result = a ^ b;
        return nullptr;
      }));
  add(table, "shli", "shl", integer(INTEGER_OP {
        result = unsignedOf(b, bits) < bits ? int64_t(uint64_t(a) << b) : 0;
        return nullptr;
      }));
  add(table, "shrui", "shru", integer(INTEGER_OP {
        result =
            unsignedOf(b, bits) < bits ? int64_t(unsignedOf(a, bits) >> b) : 0;
        return nullptr;
      }));
  add(table, "shrsi", "shrs", integer(INTEGER_OP {
        result = signedOf(a, bits) >>
                 std::min<uint64_t>(unsignedOf(b, bits), bits - 1);
        return nullptr;
      }));
}

static void addMinMax(ScalarTable &table) {
  add(table, "maxsi", "maxs", integer(INTEGER_OP {
        result = std::max(signedOf(a, bits), signedOf(b, bits));
        return nullptr;
      }));
  add(table, "minsi", "mins", integer(INTEGER_OP {
        result = std::min(signedOf(a, bits), signedOf(b, bits));
        return nullptr;
      }));
  add(table, "maxui", "maxu", integer(INTEGER_OP {
        result = int64_t(std::max(unsignedOf(a, bits), unsignedOf(b, bits)));
        return nullptr;
      }));
  add(table, "minui", "minu", integer(INTEGER_OP {
        result = int64_t(std::min(unsignedOf(a, bits), unsignedOf(b, bits)));
        return nullptr;
      }));
}

static void addIntegerMath(ScalarTable &table) {
  table["math.absi"] = integerUnary(INTEGER_OP {
    int64_t x = signedOf(a, bits);
    result = int64_t(x < 0 ? -uint64_t(x) : uint64_t(x));
    return nullptr;
  });
  table["math.ctpop"] = integerUnary(INTEGER_OP {
    result = llvm::popcount(unsignedOf(a, bits));
    return nullptr;
  });
  table["math.ctlz"] = integerUnary(INTEGER_OP {
    result = llvm::countl_zero(unsignedOf(a, bits)) - int64_t(64 - bits);
    return nullptr;
  });
  table["math.cttz"] = integerUnary(INTEGER_OP {
    uint64_t x = unsignedOf(a, bits);
    result = x == 0 ? bits : llvm::countr_zero(x);
    return nullptr;
  });
  table["math.ipowi"] = integer(INTEGER_OP {
    int64_t base = signedOf(a, bits), exponent = signedOf(b, bits);
    if (exponent < 0) {
      if (base == 0)
        return "raises zero to a negative power";
      result = base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
      return nullptr;
    }
    uint64_t power = 1, factor = uint64_t(base);
    for (; exponent; exponent >>= 1, factor *= factor)
      if (exponent & 1)
        power *= factor;
    result = int64_t(power);
    return nullptr;
  });
}
#undef INTEGER_OP

static bool compare(arith::CmpIPredicate predicate, int64_t a, int64_t b,
                    unsigned bits) {
  int64_t sa = signedOf(a, bits), sb = signedOf(b, bits);
  uint64_t ua = unsignedOf(a, bits), ub = unsignedOf(b, bits);
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return a == b;
  case arith::CmpIPredicate::ne:
    return a != b;
  case arith::CmpIPredicate::slt:
    return sa < sb;
  case arith::CmpIPredicate::sle:
    return sa <= sb;
  case arith::CmpIPredicate::sgt:
    return sa > sb;
  case arith::CmpIPredicate::sge:
    return sa >= sb;
  case arith::CmpIPredicate::ult:
    return ua < ub;
  case arith::CmpIPredicate::ule:
    return ua <= ub;
  case arith::CmpIPredicate::ugt:
    return ua > ub;
  case arith::CmpIPredicate::uge:
    return ua >= ub;
  }
  llvm_unreachable("unknown predicate");
}

/// The index dialect numbers its predicates in another order.
static arith::CmpIPredicate toArith(index::IndexCmpPredicate predicate) {
  switch (predicate) {
  case index::IndexCmpPredicate::EQ:
    return arith::CmpIPredicate::eq;
  case index::IndexCmpPredicate::NE:
    return arith::CmpIPredicate::ne;
  case index::IndexCmpPredicate::SGE:
    return arith::CmpIPredicate::sge;
  case index::IndexCmpPredicate::SGT:
    return arith::CmpIPredicate::sgt;
  case index::IndexCmpPredicate::SLE:
    return arith::CmpIPredicate::sle;
  case index::IndexCmpPredicate::SLT:
    return arith::CmpIPredicate::slt;
  case index::IndexCmpPredicate::UGE:
    return arith::CmpIPredicate::uge;
  case index::IndexCmpPredicate::UGT:
    return arith::CmpIPredicate::ugt;
  case index::IndexCmpPredicate::ULE:
    return arith::CmpIPredicate::ule;
  case index::IndexCmpPredicate::ULT:
    return arith::CmpIPredicate::ult;
  }
  llvm_unreachable("unknown predicate");
}

static ScalarOp custom(ScalarOp::Function function) {
  ScalarOp op;
  op.integer = nullptr;
  op.function = function;
  return op;
}

static void addComparisons(ScalarTable &table) {
  table["arith.cmpi"] =
      custom([](const ScalarOp &op, Scalar *r) -> const char * {
        r[op.out[0]].i = compare(arith::CmpIPredicate(op.predicate),
                                 r[op.in[0]].i, r[op.in[1]].i, op.bitsIn);
        return nullptr;
      });
  table["index.cmp"] =
      custom([](const ScalarOp &op, Scalar *r) -> const char * {
        r[op.out[0]].i =
            compare(toArith(index::IndexCmpPredicate(op.predicate)),
                    r[op.in[0]].i, r[op.in[1]].i, op.bitsIn);
        return nullptr;
      });
}

static void addExtended(ScalarTable &table) {
  table["arith.addui_extended"] =
      custom([](const ScalarOp &op, Scalar *r) -> const char * {
        uint64_t a = unsignedOf(r[op.in[0]].i, op.bitsIn);
        uint64_t b = unsignedOf(r[op.in[1]].i, op.bitsIn);
        uint64_t sum = unsignedOf(int64_t(a + b), op.bitsIn);
        r[op.out[0]].i = wrapInteger(int64_t(sum), op.bitsIn);
        r[op.out[1]].i = sum < a;
        return nullptr;
      });
  table["arith.mulsi_extended"] =
      custom([](const ScalarOp &op, Scalar *r) -> const char * {
        __int128 product = __int128(signedOf(r[op.in[0]].i, op.bitsIn)) *
                           signedOf(r[op.in[1]].i, op.bitsIn);
        r[op.out[0]].i = wrapInteger(int64_t(product), op.bitsIn);
        r[op.out[1]].i = wrapInteger(int64_t(product >> op.bitsIn), op.bitsIn);
        return nullptr;
      });
  table["arith.mului_extended"] =
      custom([](const ScalarOp &op, Scalar *r) -> const char * {
        unsigned __int128 product =
            (unsigned __int128)(unsignedOf(r[op.in[0]].i, op.bitsIn)) *
            unsignedOf(r[op.in[1]].i, op.bitsIn);
        r[op.out[0]].i = wrapInteger(int64_t(product), op.bitsIn);
        r[op.out[1]].i = wrapInteger(int64_t(product >> op.bitsIn), op.bitsIn);
        return nullptr;
      });
}

void addIntegerScalarOps(ScalarTable &table) {
  addWrapping(table);
  addDivisions(table);
  addBitOps(table);
  addMinMax(table);
  addIntegerMath(table);
  addComparisons(table);
  addExtended(table);
}

} // namespace drawloom::interpreter
