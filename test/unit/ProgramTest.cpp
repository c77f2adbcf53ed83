//===- ProgramTest.cpp - compiled programs against the interpreter --------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/InstructionSet.h"
#include "mlir/Parser/Parser.h"
#include "test/unit/CompareWithInterpreter.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"
#include <algorithm>

using namespace mlir;
using namespace drawloom;
using namespace drawloom::test;

namespace {

/// Replaces each `@1`, `@2`, ... of a template.
std::string instantiate(llvm::StringRef text,
                        std::initializer_list<std::string> values) {
  std::string result = text.str();
  unsigned i = 0;
  for (const std::string &value : values) {
    std::string key = "@" + std::to_string(++i) + "@";
    for (size_t at = result.find(key); at != std::string::npos;
         at = result.find(key))
      result.replace(at, key.size(), value);
  }
  return result;
}

std::string matmul(int64_t m, int64_t n, int64_t k, llvm::StringRef type) {
  auto s = [](int64_t v) { return std::to_string(v); };
  return instantiate(R"(
    func.func @f(%a: tensor<@1@x@3@x@4@>, %b: tensor<@3@x@2@x@4@>) -> tensor<@1@x@2@x@4@> {
      %z = arith.constant 0.0 : @4@
      %e = tensor.empty() : tensor<@1@x@2@x@4@>
      %f = linalg.fill ins(%z : @4@) outs(%e : tensor<@1@x@2@x@4@>) -> tensor<@1@x@2@x@4@>
      %c = linalg.matmul ins(%a, %b : tensor<@1@x@3@x@4@>, tensor<@3@x@2@x@4@>)
        outs(%f : tensor<@1@x@2@x@4@>) -> tensor<@1@x@2@x@4@>
      return %c : tensor<@1@x@2@x@4@>
    })",
                     {s(m), s(n), s(k), type.str()});
}

/// All instruction sets that this machine runs, those for tests among them.
std::vector<cpu::InstructionSet> setsThatRunHere() {
  std::vector<cpu::InstructionSet> sets = cpu::instructionSets();
  llvm::erase_if(sets, [](const cpu::InstructionSet &set) {
    llvm::Error error = cpu::checkHostRuns(set);
    bool lacks = bool(error);
    llvm::consumeError(std::move(error));
    return lacks;
  });
  return sets;
}

struct Extents {
  int64_t m, n, k;
};
void PrintTo(const Extents &e, std::ostream *os) {
  *os << e.m << "x" << e.n << "x" << e.k;
}

class Matmul : public testing::TestWithParam<Extents> {};
TEST_P(Matmul, AgreesOnEveryInstructionSet) {
  Extents e = GetParam();
  for (const cpu::InstructionSet &set : setsThatRunHere()) {
    SCOPED_TRACE(set.name.str());
    Comparison how;
    how.isa = set.name.str();
    compareWithInterpreter(matmul(e.m, e.n, e.k, "f32"), how);
  }
}
INSTANTIATE_TEST_SUITE_P(Sizes, Matmul,
                         testing::Values(Extents{64, 64, 64}, Extents{1, 1, 1},
                                         Extents{3, 3, 3}, Extents{37, 24, 20},
                                         Extents{20, 100, 5},
                                         Extents{100, 3, 64}, Extents{5, 1, 7},
                                         Extents{1, 48, 2}, Extents{0, 4, 4},
                                         Extents{4, 0, 4}, Extents{4, 4, 0}));

TEST(Program, MultipliesMatricesOfF64) {
  Comparison how;
  how.tolerance = 1e-13;
  compareWithInterpreter(matmul(33, 20, 17, "f64"), how);
}

TEST(Program, MultipliesMatricesOfBf16IntoF32) {
  compareWithInterpreter(R"(
    func.func @f(%a: tensor<20x24xbf16>, %b: tensor<24x19xbf16>) -> tensor<20x19xf32> {
      %z = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<20x19xf32>
      %f = linalg.fill ins(%z : f32) outs(%e : tensor<20x19xf32>) -> tensor<20x19xf32>
      %c = linalg.matmul ins(%a, %b : tensor<20x24xbf16>, tensor<24x19xbf16>)
        outs(%f : tensor<20x19xf32>) -> tensor<20x19xf32>
      return %c : tensor<20x19xf32>
    })");
}

class NarrowFloat : public testing::TestWithParam<const char *> {};
TEST_P(NarrowFloat, ComputesInF32AndRounds) {
  Comparison how;
  how.tolerance = std::string(GetParam()) == "bf16" ? 8e-3 : 1e-3;
  for (const char *isa : {"baseline", "native"}) {
    how.isa = isa;
    compareWithInterpreter(instantiate(R"(
    func.func @f(%x: tensor<37x@1@>) -> tensor<37x@1@> {
      %w = arith.extf %x : tensor<37x@1@> to tensor<37xf32>
      %e = math.exp %w : tensor<37xf32>
      %n = arith.truncf %e : tensor<37xf32> to tensor<37x@1@>
      return %n : tensor<37x@1@>
    })",
                                       {GetParam()}),
                           how);
  }
}
INSTANTIATE_TEST_SUITE_P(Types, NarrowFloat, testing::Values("bf16", "f16"));

/// What looks like a product of matrices and is not quite one.
TEST(Program, KeepsWhatElseABodyOfAProductDoes) {
  compareWithInterpreter(R"(
    func.func @f(%a: tensor<20x24xf32>, %b: tensor<24x19xf32>, %c: tensor<20x19xf32>) -> tensor<20x19xf32> {
      %d = linalg.generic {
          indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
          iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<20x24xf32>, tensor<24x19xf32>) outs(%c : tensor<20x19xf32>) {
      ^bb0(%p: f32, %q: f32, %sum: f32):
        %u = math.exp %p : f32
        %v = arith.mulf %u, %q : f32
        %y = arith.addf %sum, %v : f32
        linalg.yield %y : f32
      } -> tensor<20x19xf32>
      return %d : tensor<20x19xf32>
    })");
}

TEST(Program, MultipliesUnsignedNumbersAcrossRows) {
  compareWithInterpreter(R"(
    func.func @f(%a: tensor<16x24xi8>, %b: tensor<32x24xi8>, %c: tensor<16x32xi32>) -> tensor<16x32xi32> {
      %d = linalg.matmul
          indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
          {cast = #linalg.type_fn<cast_unsigned>}
          ins(%a, %b : tensor<16x24xi8>, tensor<32x24xi8>) outs(%c : tensor<16x32xi32>) -> tensor<16x32xi32>
      return %d : tensor<16x32xi32>
    })");
}

TEST(Program, PacksPartOfAWiderMatrixInBlocksOfALongReduction) {
  Comparison how;
  how.threads = 2;
  // The bound is n u sum|a b|, with 1100 terms of 1/4 in the mean 1100 * 2^-24
  // * 275 = 1.8e-2; roundings of random sign add up to its part in sqrt(1100).
  how.tolerance = 1e-3;
  compareWithInterpreter(R"(
    func.func @f(%wide: tensor<64x3000xf32>, %b: tensor<1100x256xf32>) -> tensor<64x256xf32> {
      %zero = arith.constant 0.0 : f32
      %a = tensor.extract_slice %wide[0, 900] [64, 1100] [1, 1] : tensor<64x3000xf32> to tensor<64x1100xf32>
      %result = tensor.empty() : tensor<64x256xf32>
      %y = scf.forall (%j) in (2) shared_outs(%out = %result) -> tensor<64x256xf32> {
        %at = affine.apply affine_map<(d0) -> (d0 * 128)>(%j)
        %part = tensor.extract_slice %b[0, %at] [1100, 128] [1, 1] : tensor<1100x256xf32> to tensor<1100x128xf32>
        %empty = tensor.empty() : tensor<64x128xf32>
        %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x128xf32>) -> tensor<64x128xf32>
        %c = linalg.matmul ins(%a, %part : tensor<64x1100xf32>, tensor<1100x128xf32>) outs(%start : tensor<64x128xf32>) -> tensor<64x128xf32>
        scf.forall.in_parallel {
          tensor.parallel_insert_slice %c into %out[0, %at] [64, 128] [1, 1] : tensor<64x128xf32> into tensor<64x256xf32>
        }
      }
      return %y : tensor<64x256xf32>
    })",
                         how);
}

TEST(Program, MultipliesBatchesOfTwoTermsInF64) {
  compareWithInterpreter(R"(
    func.func @f(%a: tensor<3x8x2xbf16>, %b: tensor<3x2x16xbf16>, %c: tensor<3x8x16xf64>) -> tensor<3x8x16xf64> {
      %d = linalg.contract
          indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>]
          ins(%a, %b : tensor<3x8x2xbf16>, tensor<3x2x16xbf16>) outs(%c : tensor<3x8x16xf64>) -> tensor<3x8x16xf64>
      return %d : tensor<3x8x16xf64>
    })");
}

TEST(Program, InsertsInALoopWhatWasMadeBeforeIt) {
  compareWithInterpreter(R"(
    func.func @f(%x: tensor<4x8xf32>, %start: tensor<6x32xf32>) -> tensor<6x32xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c6 = arith.constant 6 : index
      %twice = arith.addf %x, %x : tensor<4x8xf32>
      %flat = tensor.collapse_shape %twice [[0, 1]] : tensor<4x8xf32> into tensor<32xf32>
      %row = tensor.expand_shape %flat [[0, 1]] output_shape [1, 32] : tensor<32xf32> into tensor<1x32xf32>
      %y = scf.for %i = %c0 to %c6 step %c1 iter_args(%all = %start) -> tensor<6x32xf32> {
        %next = tensor.insert_slice %flat into %all[%i, 0] [1, 32] [1, 1] : tensor<32xf32> into tensor<6x32xf32>
        scf.yield %next : tensor<6x32xf32>
      }
      return %y : tensor<6x32xf32>
    })");
}

/// Products of bf16 on every instruction set of this machine, and on the one
/// whose AMX operations are replaced.
class HalfPrecisionDot : public testing::TestWithParam<Extents> {};
TEST_P(HalfPrecisionDot, AgreesOnEveryInstructionSet) {
  Extents e = GetParam();
  for (const cpu::InstructionSet &set : setsThatRunHere()) {
    SCOPED_TRACE(set.name.str());
    for (std::string form :
         {"(m, k)|(k, n)", "(k, m)|(k, n)", "(m, k)|(n, k)"}) {
      SCOPED_TRACE(form);
      auto [left, right] = llvm::StringRef(form).split('|');
      auto shape = [&](llvm::StringRef map) {
        int64_t rows = map[1] == 'm' ? e.m : map[1] == 'k' ? e.k : e.n;
        int64_t columns = map[4] == 'm' ? e.m : map[4] == 'k' ? e.k : e.n;
        return std::to_string(rows) + "x" + std::to_string(columns) + "xbf16";
      };
      Comparison how;
      how.isa = set.name.str();
      // The result is rounded once to the 8 bits of bf16, 2^-9 of it at most;
      // as much again for sums in f32, whose own share is far smaller.
      how.tolerance = 0x1p-8;
      compareWithInterpreter(
          instantiate(R"(
    func.func @f(%a: tensor<@1@>, %b: tensor<@2@>, %c: tensor<@3@xbf16>) -> tensor<@3@xbf16> {
      %d = linalg.matmul
          indexing_maps = [affine_map<(m, n, k) -> @4@>, affine_map<(m, n, k) -> @5@>, affine_map<(m, n, k) -> (m, n)>]
          ins(%a, %b : tensor<@1@>, tensor<@2@>) outs(%c : tensor<@3@xbf16>) -> tensor<@3@xbf16>
      return %d : tensor<@3@xbf16>
    })",
                      {shape(left), shape(right),
                       std::to_string(e.m) + "x" + std::to_string(e.n),
                       left.str(), right.str()}),
          how);
    }
  }
}
// Whole tiles; remainders of each extent; an odd inner extent and too few
// columns, for which there are no pairs; a reduction that goes in blocks.
INSTANTIATE_TEST_SUITE_P(Sizes, HalfPrecisionDot,
                         testing::Values(Extents{32, 32, 64}, Extents{1, 4, 2},
                                         Extents{35, 20, 34},
                                         Extents{16, 16, 33},
                                         Extents{20, 3, 16},
                                         Extents{8, 16, 1100}));

TEST(Program, TransposesAnOperandOfADot) {
  compareWithInterpreter(R"(
    func.func @f(%a: tensor<40x24xf32>, %b: tensor<52x24xf32>) -> tensor<40x52xf32> {
      %z = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<40x52xf32>
      %f = linalg.fill ins(%z : f32) outs(%e : tensor<40x52xf32>) -> tensor<40x52xf32>
      %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
        ins(%a, %b : tensor<40x24xf32>, tensor<52x24xf32>) outs(%f : tensor<40x52xf32>) -> tensor<40x52xf32>
      return %c : tensor<40x52xf32>
    })");
}

TEST(Program, MultipliesIntoFewColumnsFromTransposedRows) {
  compareWithInterpreter(R"(
    func.func @f(%a: tensor<50x37xf32>, %b: tensor<50x3xf32>, %c: tensor<37x3xf32>) -> tensor<37x3xf32> {
      %y = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
        ins(%a, %b : tensor<50x37xf32>, tensor<50x3xf32>) outs(%c : tensor<37x3xf32>) -> tensor<37x3xf32>
      return %y : tensor<37x3xf32>
    })");
}

TEST(Program, KeepsWhatOthersReadOfAFusedChain) {
  compareWithInterpreter(R"(
    #rc = affine_map<(r, c) -> (r, c)>
    #c = affine_map<(r, c) -> (c)>
    func.func @f(%a: tensor<20x24xf32>, %w: tensor<24x40xf32>, %b: tensor<40xf32>) -> (tensor<20x40xf32>, tensor<20x40xf32>) {
      %z = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<20x40xf32>
      %f = linalg.fill ins(%z : f32) outs(%e : tensor<20x40xf32>) -> tensor<20x40xf32>
      %m = linalg.matmul ins(%a, %w : tensor<20x24xf32>, tensor<24x40xf32>) outs(%f : tensor<20x40xf32>) -> tensor<20x40xf32>
      %s = linalg.generic {indexing_maps = [#rc, #c, #rc], iterator_types = ["parallel", "parallel"]}
        ins(%m, %b : tensor<20x40xf32>, tensor<40xf32>) outs(%e : tensor<20x40xf32>) {
      ^bb0(%x: f32, %y: f32, %o: f32):
        %r = arith.addf %x, %y : f32
        linalg.yield %r : f32
      } -> tensor<20x40xf32>
      %h = linalg.generic {indexing_maps = [#rc, #rc], iterator_types = ["parallel", "parallel"]}
        ins(%s : tensor<20x40xf32>) outs(%e : tensor<20x40xf32>) {
      ^bb0(%x: f32, %o: f32):
        %p = arith.cmpf ugt, %x, %z : f32
        %r = arith.select %p, %x, %z : f32
        linalg.yield %r : f32
      } -> tensor<20x40xf32>
      return %s, %h : tensor<20x40xf32>, tensor<20x40xf32>
    })");
}

TEST(Program, AddsToAnArgumentWithoutWritingIt) {
  compareWithInterpreter(R"(
    #i = affine_map<(i) -> (i)>
    func.func @f(%p: tensor<100xf32>, %g: tensor<100xf32>) -> tensor<100xf32> {
      %q = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]}
        ins(%g : tensor<100xf32>) outs(%p : tensor<100xf32>) {
      ^bb0(%a: f32, %b: f32):
        %r = arith.subf %b, %a : f32
        linalg.yield %r : f32
      } -> tensor<100xf32>
      return %q : tensor<100xf32>
    })");
}

class Reduction : public testing::TestWithParam<Extents> {};
TEST_P(Reduction, SumsRowsColumnsAndAll) {
  auto s = [](int64_t v) { return std::to_string(v); };
  compareWithInterpreter(instantiate(R"(
    #rc = affine_map<(r, c) -> (r, c)>
    func.func @f(%x: tensor<@1@x@2@xf32>) -> (tensor<@1@xf32>, tensor<@2@xf32>, tensor<f32>) {
      %z = arith.constant 0.0 : f32
      %e0 = tensor.empty() : tensor<@1@xf32>
      %f0 = linalg.fill ins(%z : f32) outs(%e0 : tensor<@1@xf32>) -> tensor<@1@xf32>
      %r0 = linalg.generic {indexing_maps = [#rc, affine_map<(r, c) -> (r)>], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<@1@x@2@xf32>) outs(%f0 : tensor<@1@xf32>) {
      ^bb0(%a: f32, %b: f32):
        %t = arith.addf %a, %b : f32
        linalg.yield %t : f32
      } -> tensor<@1@xf32>
      %e1 = tensor.empty() : tensor<@2@xf32>
      %f1 = linalg.fill ins(%z : f32) outs(%e1 : tensor<@2@xf32>) -> tensor<@2@xf32>
      %r1 = linalg.generic {indexing_maps = [#rc, affine_map<(r, c) -> (c)>], iterator_types = ["reduction", "parallel"]}
        ins(%x : tensor<@1@x@2@xf32>) outs(%f1 : tensor<@2@xf32>) {
      ^bb0(%a: f32, %b: f32):
        %t = arith.addf %a, %b : f32
        linalg.yield %t : f32
      } -> tensor<@2@xf32>
      %e2 = tensor.empty() : tensor<f32>
      %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<f32>) -> tensor<f32>
      %r2 = linalg.generic {indexing_maps = [#rc, affine_map<(r, c) -> ()>], iterator_types = ["reduction", "reduction"]}
        ins(%x : tensor<@1@x@2@xf32>) outs(%f2 : tensor<f32>) {
      ^bb0(%a: f32, %b: f32):
        %m = arith.mulf %a, %a : f32
        %t = arith.addf %m, %b : f32
        linalg.yield %t : f32
      } -> tensor<f32>
      return %r0, %r1, %r2 : tensor<@1@xf32>, tensor<@2@xf32>, tensor<f32>
    })",
                                     {s(GetParam().m), s(GetParam().n)}));
}
INSTANTIATE_TEST_SUITE_P(Sizes, Reduction,
                         testing::Values(Extents{16, 64, 0}, Extents{1, 1, 0},
                                         Extents{7, 3, 0}, Extents{24, 100, 0},
                                         Extents{100, 1, 0}, Extents{1, 37, 0},
                                         Extents{0, 3, 0}, Extents{3, 0, 0}));

TEST(Program, ComputesValuesAndSumsTogether) {
  compareWithInterpreter(R"(
    #rc = affine_map<(r, c) -> (r, c)>
    #c = affine_map<(r, c) -> (c)>
    func.func @f(%x: tensor<20x24xf32>, %g: tensor<20x24xf32>, %w: tensor<24xf32>) -> (tensor<20x24xf32>, tensor<24xf32>) {
      %z = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<20x24xf32>
      %v = tensor.empty() : tensor<24xf32>
      %f = linalg.fill ins(%z : f32) outs(%v : tensor<24xf32>) -> tensor<24xf32>
      %d:2 = linalg.generic {indexing_maps = [#rc, #rc, #c, #rc, #c], iterator_types = ["reduction", "parallel"]}
        ins(%x, %g, %w : tensor<20x24xf32>, tensor<20x24xf32>, tensor<24xf32>) outs(%e, %f : tensor<20x24xf32>, tensor<24xf32>) {
      ^bb0(%a: f32, %b: f32, %c: f32, %o: f32, %s: f32):
        %dx = arith.mulf %b, %c : f32
        %m = arith.mulf %a, %b : f32
        %t = arith.addf %s, %m : f32
        linalg.yield %dx, %t : f32, f32
      } -> (tensor<20x24xf32>, tensor<24xf32>)
      return %d#0, %d#1 : tensor<20x24xf32>, tensor<24xf32>
    })");
}

TEST(Program, TransposesOddExtents) {
  compareWithInterpreter(R"(
    func.func @f(%x: tensor<21x13xf32>) -> tensor<13x21xf32> {
      %e = tensor.empty() : tensor<13x21xf32>
      %t = linalg.transpose ins(%x : tensor<21x13xf32>) outs(%e : tensor<13x21xf32>) permutation = [1, 0]
      return %t : tensor<13x21xf32>
    })");
}

TEST(Program, ConcatenatesAndPads) {
  compareWithInterpreter(R"(
    func.func @f(%x: tensor<5x3xf32>, %y: tensor<5x4xf32>) -> tensor<8x8xf32> {
      %z = arith.constant 1.5 : f32
      %c = tensor.concat dim(1) %x, %y : (tensor<5x3xf32>, tensor<5x4xf32>) -> tensor<5x7xf32>
      %p = tensor.pad %c low[1, 0] high[2, 1] {
      ^bb0(%i: index, %j: index):
        tensor.yield %z : f32
      } : tensor<5x7xf32> to tensor<8x8xf32>
      return %p : tensor<8x8xf32>
    })");
}

TEST(Program, GathersByComputedIndices) {
  Values rows{{1, {3, 0, 6, 6, 2}}};
  compareWithInterpreter(R"(
    func.func @f(%table: tensor<7x20xf32>, %rows: tensor<5xi32>) -> tensor<5x20xf32> {
      %e = tensor.empty() : tensor<5x20xf32>
      %y = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "parallel"]}
        ins(%rows : tensor<5xi32>) outs(%e : tensor<5x20xf32>) {
      ^bb0(%i: i32, %o: f32):
        %r = arith.index_cast %i : i32 to index
        %c = linalg.index 1 : index
        %v = tensor.extract %table[%r, %c] : tensor<7x20xf32>
        linalg.yield %v : f32
      } -> tensor<5x20xf32>
      return %y : tensor<5x20xf32>
    })",
                         Comparison(), rows);
}

TEST(Program, ComparesIntoBooleansAndSelects) {
  compareWithInterpreter(R"(
    func.func @f(%x: tensor<37xf32>, %y: tensor<37xf32>) -> (tensor<37xi1>, tensor<37xf32>) {
      %p = arith.cmpf ogt, %x, %y : tensor<37xf32>
      %m = arith.select %p, %x, %y : tensor<37xi1>, tensor<37xf32>
      return %p, %m : tensor<37xi1>, tensor<37xf32>
    })");
}

TEST(Program, ComputesOnIntegers) {
  compareWithInterpreter(R"(
    #i = affine_map<(i) -> (i)>
    func.func @f(%x: tensor<37xi32>) -> (tensor<37xi32>, tensor<37xi64>) {
      %e = tensor.empty() : tensor<37xi32>
      %w = tensor.empty() : tensor<37xi64>
      %y:2 = linalg.generic {indexing_maps = [#i, #i, #i], iterator_types = ["parallel"]}
        ins(%x : tensor<37xi32>) outs(%e, %w : tensor<37xi32>, tensor<37xi64>) {
      ^bb0(%a: i32, %o: i32, %q: i64):
        %i = linalg.index 0 : index
        %k = arith.index_cast %i : index to i32
        %s = arith.muli %k, %a : i32
        %t = arith.extsi %k : i32 to i64
        linalg.yield %s, %t : i32, i64
      } -> (tensor<37xi32>, tensor<37xi64>)
      return %y#0, %y#1 : tensor<37xi32>, tensor<37xi64>
    })");
}

TEST(Program, TakesAndGivesNumbers) {
  compareWithInterpreter(R"(
    func.func @f(%a: f32, %b: tensor<f32>, %c: i64) -> (f32, tensor<f32>, i64) {
      %v = tensor.extract %b[] : tensor<f32>
      %s = arith.addf %a, %v : f32
      %t = tensor.from_elements %s : tensor<f32>
      %one = arith.constant 1 : i64
      %d = arith.addi %c, %one : i64
      return %s, %t, %d : f32, tensor<f32>, i64
    })");
}

TEST(Program, ReturnsAnArgumentAndTheSameValueTwice) {
  compareWithInterpreter(R"(
    func.func @f(%a: tensor<9xf32>) -> (tensor<9xf32>, tensor<9xf32>, tensor<9xf32>) {
      %s = arith.addf %a, %a : tensor<9xf32>
      return %a, %s, %s : tensor<9xf32>, tensor<9xf32>, tensor<9xf32>
    })");
}

std::string blocks(int64_t count) {
  return instantiate(R"(
    func.func @f(%x: tensor<@2@x32xf32>) -> tensor<@2@x32xf32> {
      %e = tensor.empty() : tensor<@2@x32xf32>
      %y = scf.forall (%i) in (@1@) shared_outs(%o = %e) -> (tensor<@2@x32xf32>) {
        %r = affine.apply affine_map<(i) -> (i * 4)>(%i)
        %t = tensor.extract_slice %x[%r, 0] [4, 32] [1, 1] : tensor<@2@x32xf32> to tensor<4x32xf32>
        %s = math.tanh %t : tensor<4x32xf32>
        scf.forall.in_parallel {
          tensor.parallel_insert_slice %s into %o[%r, 0] [4, 32] [1, 1] : tensor<4x32xf32> into tensor<@2@x32xf32>
        }
      }
      return %y : tensor<@2@x32xf32>
    })",
                     {std::to_string(count), std::to_string(count * 4)});
}

TEST(Program, RunsBlocksOnSeveralThreads) {
  for (unsigned threads : {1, 2, 3, 7}) {
    Comparison how;
    how.threads = threads;
    compareWithInterpreter(blocks(23), how);
  }
}

TEST(Program, GivesKernelsScratchMemoryOfTheirThread) {
  // Too large for the stack: 2 x 512 KB.
  Comparison how;
  how.threads = 3;
  compareWithInterpreter(R"(
    func.func @f(%x: tensor<512x256xf32>) -> tensor<5x512x256xf32> {
      %e = tensor.empty() : tensor<5x512x256xf32>
      %y = scf.forall (%i) in (5) shared_outs(%o = %e) -> (tensor<5x512x256xf32>) {
        %k = arith.index_cast %i : index to i32
        %f = arith.sitofp %k : i32 to f32
        %c = tensor.splat %f : tensor<512x256xf32>
        %u = tensor.empty() : tensor<512x256xf32>
        %a = linalg.add ins(%x, %c : tensor<512x256xf32>, tensor<512x256xf32>) outs(%u : tensor<512x256xf32>) -> tensor<512x256xf32>
        %t = tensor.empty() : tensor<256x512xf32>
        %p = linalg.transpose ins(%a : tensor<512x256xf32>) outs(%t : tensor<256x512xf32>) permutation = [1, 0]
        %q = linalg.transpose ins(%p : tensor<256x512xf32>) outs(%u : tensor<512x256xf32>) permutation = [1, 0]
        %r = linalg.mul ins(%q, %a : tensor<512x256xf32>, tensor<512x256xf32>) outs(%u : tensor<512x256xf32>) -> tensor<512x256xf32>
        scf.forall.in_parallel {
          tensor.parallel_insert_slice %r into %o[%i, 0, 0] [1, 512, 256] [1, 1, 1] : tensor<512x256xf32> into tensor<5x512x256xf32>
        }
      }
      return %y : tensor<5x512x256xf32>
    })",
                         how);
}

llvm::Error create(llvm::StringRef source, llvm::StringRef isa) {
  std::unique_ptr<MLIRContext> context = makeContext();
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(source, context.get());
  CompileOptions options;
  options.from = Phase::Blocks;
  options.codegen.isa = isa.str();
  auto program = compileProgram(*module, options);
  if (!program)
    return program.takeError();
  std::vector<void *> results(1);
  return (*program)->run("f", {}, results);
}

TEST(Program, RefusesAnUnknownInstructionSet) {
  EXPECT_EQ(llvm::toString(create(blocks(1), "sse9")),
            "unknown instruction set 'sse9'; known are 'native', 'amx', "
            "'avx512bf16', 'avx512', 'avx2', 'baseline', and 'all'");
}

/// The sets that this machine runs, the best in front, native left out.
std::vector<std::string> setsOfThisMachine() {
  std::vector<std::string> sets = cpu::target().instructionSets();
  llvm::erase_if(sets, [](const std::string &set) {
    llvm::Error error = cpu::target().checkRunsHere({set});
    bool lacks = bool(error);
    llvm::consumeError(std::move(error));
    return lacks || set == "native" || cpu::target().isForTests(set);
  });
  return sets;
}

TEST(Program, ComputesTheSameInEveryVariant) {
  for (const std::string &set : setsOfThisMachine()) {
    SCOPED_TRACE(set);
    Comparison how;
    how.isa = "all";
    how.loaded = set;
    how.threads = 2;
    // Odd extents: each set has its own tiles and remainders.
    compareWithInterpreter(matmul(37, 50, 20, "f32"), how);
    compareWithInterpreter(blocks(5), how);
  }
}

TEST(Program, RunsItsBestVariant) {
  std::unique_ptr<MLIRContext> context = makeContext();
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(matmul(8, 8, 8, "f32"), context.get());
  CompileOptions options;
  options.from = Phase::Blocks;
  options.codegen.isa = "all";
  auto program = compileProgram(*module, options);
  ASSERT_TRUE(bool(program)) << llvm::toString(program.takeError());
  EXPECT_EQ((*program)->isa(), setsOfThisMachine().front());
}

TEST(Program, HoldsEachOfItsVariantsAsIfItWereAlone) {
  auto compiled = [](llvm::StringRef isa) {
    std::unique_ptr<MLIRContext> context = makeContext();
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(matmul(8, 8, 8, "f32"), context.get());
    CompileOptions options;
    options.codegen.isa = isa.str();
    return llvm::cantFail(compileToArtifact(*module, options));
  };
  Artifact both = compiled("baseline,avx512");
  ASSERT_EQ(both.variants.size(), 2u);
  for (const Artifact::Variant &variant : both.variants) {
    Artifact alone = compiled(variant.isa);
    ASSERT_EQ(alone.variants.size(), 1u);
    EXPECT_EQ(alone.variants[0].isa, variant.isa);
    EXPECT_EQ(alone.variants[0].fingerprint, variant.fingerprint);
    EXPECT_EQ(alone.variants[0].code, variant.code) << variant.isa;
  }
}

TEST(Program, NamesTheBytesThatItCannotHave) {
  std::string text = llvm::toString(create(R"(
    func.func @f() -> tensor<1xf32> {
      %z = arith.constant 1.0 : f32
      %c0 = arith.constant 0 : index
      %e = tensor.empty() : tensor<100000000000000xf32>
      %f = linalg.fill ins(%z : f32) outs(%e : tensor<100000000000000xf32>) -> tensor<100000000000000xf32>
      %s = tensor.extract_slice %f[7] [1] [1] : tensor<100000000000000xf32> to tensor<1xf32>
      return %s : tensor<1xf32>
    })",
                                           "native"));
  EXPECT_NE(text.find("needs 400000000000000 bytes of workspace"),
            std::string::npos)
      << text;
}

TEST(Program, RefusesToCallWhatIsNotThere) {
  std::string text = llvm::toString(create(R"(
    func.func private @missing(f32) -> f32
    func.func @f() -> f32 {
      %z = arith.constant 1.0 : f32
      %r = func.call @missing(%z) : (f32) -> f32
      return %r : f32
    })",
                                           "native"));
  EXPECT_NE(text.find("missing"), std::string::npos) << text;
}

} // namespace
