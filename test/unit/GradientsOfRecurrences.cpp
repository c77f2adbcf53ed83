//===- GradientsOfRecurrences.cpp - linear recurrences against differences ===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/GradientCheck.h"
#include "gtest/gtest.h"
#include <algorithm>

using drawloom::HostTensor;
using drawloom::test::GradientCheck;

namespace {

/// An operand beside q, k and v, and the extents of its tensor.
struct Operand {
  std::string name, extents;
};

/// Extents of the three operands that are always there.
struct Main {
  std::string q = "2x$Tx2x3", k = "2x$Tx2x3", v = "2x$Tx2x2";
  std::string final = "2x2x3x2";
};

} // namespace

/// @f is a linrec.scan of $T tokens; gradients of all operands but starts.
/// Decays are on both sides of 0, where they end to count.
static GradientCheck recurrence(const std::vector<Operand> &operands,
                                const std::string &attributes = "",
                                const Main &main = {}) {
  std::vector<Operand> all = {{"q", main.q}, {"k", main.k}, {"v", main.v}};
  all.insert(all.end(), operands.begin(), operands.end());
  std::string arguments, types, clauses;
  for (const Operand &operand : all) {
    std::string type = "tensor<" + operand.extents +
                       (operand.name == "starts" ? "xi64>" : "xf64>");
    std::string separator = arguments.empty() ? "" : ", ";
    arguments += separator + "%" + operand.name + ": " + type;
    types += separator + type;
  }
  for (const Operand &operand : operands)
    clauses += " " + operand.name + "(%" + operand.name + ")";
  std::string results =
      "(tensor<" + main.v + "xf64>, tensor<" + main.final + "xf64>)";
  GradientCheck check("func.func @f(" + arguments + ") -> " + results +
                      " {\n  %r:2 = linrec.scan %q, %k, %v" + clauses + " {" +
                      attributes + "} : (" + types + ") -> " + results +
                      "\n  return %r#0, %r#1 : " +
                      results.substr(1, results.size() - 2) + "\n}\n");
  check.extents = {{"T", {0, 1, 4}}};
  check.wrt.clear();
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i].name != "starts")
      check.wrt.push_back(i);
  check.order = 1;
  return check;
}

static const Operand initial = {"initial", "2x2x3x2"};
static const Operand keyDecay = {"decay", "2x$Tx2x3"};
static const Operand scalarDecay = {"decay", "2x$Tx2"};
static const Operand beta = {"beta", "2x$Tx2"};
static const Operand erase = {"erase", "2x$Tx2x3"};
static const Operand lowrank = {"lowrank", "2x$Tx2x3"};

TEST(RecurrenceGradients, NoDecay) { recurrence({}).run(); }
TEST(RecurrenceGradients, Scale) { recurrence({}, "scale = -3.0").run(); }
TEST(RecurrenceGradients, ConstantDecay) {
  recurrence({{"decay", "2"}, initial}).run();
}
TEST(RecurrenceGradients, ScalarDecay) {
  recurrence({scalarDecay, initial}).run();
}
TEST(RecurrenceGradients, DecayOfKeys) {
  recurrence({keyDecay, initial}).run();
}
TEST(RecurrenceGradients, DecayOfValues) {
  recurrence({{"decay", "2x$Tx2x2"}, initial}, "decay_along_values").run();
}
TEST(RecurrenceGradients, Rates) {
  recurrence({{"decay", "2x$Tx2x2"}, {"rates", "2x3x2"}, initial},
             "decay_along_values")
      .run();
}
TEST(RecurrenceGradients, Bonus) {
  recurrence({keyDecay, {"bonus", "2x3"}, initial}).run();
}
TEST(RecurrenceGradients, BonusWithoutDecay) {
  recurrence({{"bonus", "2x3"}}).run();
}
TEST(RecurrenceGradients, Beta) { recurrence({beta, initial}).run(); }
TEST(RecurrenceGradients, BetaAfterDecay) {
  recurrence({keyDecay, beta, initial}).run();
}
TEST(RecurrenceGradients, BetaBeforeDecay) {
  recurrence({scalarDecay, beta, initial}, "erase_before_decay").run();
}
TEST(RecurrenceGradients, Erase) {
  recurrence({keyDecay, erase, initial}).run();
}
TEST(RecurrenceGradients, EraseBeforeDecay) {
  recurrence({{"decay", "2"}, erase, initial}, "erase_before_decay").run();
}
TEST(RecurrenceGradients, LowRank) {
  recurrence({erase, lowrank, initial}).run();
}
TEST(RecurrenceGradients, LowRankAfterDecay) {
  recurrence({scalarDecay, erase, lowrank, initial}).run();
}
TEST(RecurrenceGradients, LowRankBeforeDecay) {
  recurrence({keyDecay, erase, lowrank, initial}, "erase_before_decay").run();
}

TEST(RecurrenceGradients, HeadsThatShareQueriesAndKeys) {
  Main main;
  main.q = "2x$Tx2x3";
  main.k = "2x$Tx1x3";
  main.v = "2x$Tx4x2";
  main.final = "2x4x3x2";
  recurrence({{"decay", "2x$Tx4"}, {"beta", "2x$Tx4"}}, "", main).run();
}

TEST(RecurrenceGradients, PackedSequences) {
  Main main;
  main.q = main.k = "1x5x2x3";
  main.v = "1x5x2x2";
  main.final = "3x2x3x2";
  GradientCheck check = recurrence({{"decay", "2"},
                                    {"beta", "1x5x2"},
                                    {"initial", "3x2x3x2"},
                                    {"starts", "4"}},
                                   "", main);
  HostTensor starts(/*isFloat=*/false, {4});
  const int64_t values[] = {0, 2, 2, 5};
  std::copy(std::begin(values), std::end(values), starts.mutableI().begin());
  check.fixed.emplace(6, starts);
  check.run();
}

/// @f is one op with the given clauses, of one or two results.
static GradientCheck
operation(const std::string &name,
          const std::vector<std::pair<std::string, std::string>> &operands,
          const std::string &clauses, const std::vector<std::string> &results) {
  std::string arguments, types, returned;
  for (const auto &[operand, extents] : operands) {
    std::string type = "tensor<" + extents + "xf64>";
    std::string separator = arguments.empty() ? "" : ", ";
    arguments += separator + "%" + operand + ": " + type;
    types += separator + type;
  }
  std::string values;
  for (size_t i = 0; i < results.size(); ++i) {
    values += (i ? ", %r#" : "%r#") + std::to_string(i);
    returned += (i ? ", tensor<" : "tensor<") + results[i] + "xf64>";
  }
  GradientCheck check("func.func @f(" + arguments + ") -> (" + returned +
                      ") {\n  %r:" + std::to_string(results.size()) + " = " +
                      name + " " + clauses + " : (" + types + ") -> (" +
                      returned + ")\n  return " + values + " : " + returned +
                      "\n}\n");
  check.extents = {{"T", {0, 1, 4}}};
  check.wrt.clear();
  for (size_t i = 0; i < operands.size(); ++i)
    check.wrt.push_back(i);
  check.order = 1;
  return check;
}

TEST(RecurrenceGradients, Step) {
  operation("linrec.step",
            {{"q", "2x2x3"},
             {"k", "2x1x3"},
             {"v", "2x2x2"},
             {"decay", "2x2x3"},
             {"beta", "2x2"},
             {"state", "2x2x3x2"}},
            "%q, %k, %v decay(%decay) beta(%beta) state(%state)",
            {"2x2x2", "2x2x3x2"})
      .run();
}
TEST(RecurrenceGradients, ElementwiseScan) {
  operation("linrec.ew_scan",
            {{"x", "2x$Tx5"}, {"decay", "2x$Tx5"}, {"initial", "2x5"}},
            "%x decay(%decay) initial(%initial)", {"2x$Tx5", "2x5"})
      .run();
}
TEST(RecurrenceGradients, SelectiveScan) {
  operation("linrec.ew_scan",
            {{"x", "2x$Tx4"},
             {"decay", "2x$Tx4"},
             {"rates", "4x3"},
             {"write", "2x$Tx3"},
             {"read", "2x$Tx3"},
             {"initial", "2x4x3"}},
            "%x decay(%decay) rates(%rates) write(%write) read(%read) "
            "initial(%initial)",
            {"2x$Tx4", "2x4x3"})
      .run();
}

/// Gates are differentiated twice.
static void gate(const std::string &kind, const std::string &attributes,
                 bool scale) {
  std::vector<std::pair<std::string, std::string>> operands = {
      {"x", "2x$Tx2x3"}};
  if (scale)
    operands.push_back({"scale", "2"});
  operands.push_back({"bias", "2x3"});
  GradientCheck check =
      operation("linrec.gate", operands,
                kind + " %x" + (scale ? " scale(%scale)" : "") +
                    " bias(%bias)" + attributes,
                {"2x$Tx2x3"});
  check.order = 2;
  check.low = -3;
  check.high = 3;
  check.run();
}
TEST(GateGradients, LogSigmoid) {
  gate("log_sigmoid", " {temperature = 16.0 : f64}", false);
}
TEST(GateGradients, Softplus) { gate("softplus", "", true); }
TEST(GateGradients, Bounded) { gate("bounded", " {limit = 5.0 : f64}", true); }
TEST(GateGradients, Floored) { gate("floored", " {floor = 0.3 : f64}", false); }
TEST(GateGradients, FlooredAtZero) {
  gate("floored", " {floor = 0.0 : f64}", false);
}
