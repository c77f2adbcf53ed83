//===- parser-fuzzer.cpp - parser and verifiers on hostile text -----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A libFuzzer target. The only question is whether the process survives and the
// sanitizers stay silent: what is wrong with an input is for the diagnostics,
// which are dropped here. Libraries of LLVM are not instrumented, so the search
// is guided by the coverage of this project's parsers and verifiers.
//
//===----------------------------------------------------------------------===//

#include "lib/RegisterAll.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"
#include <random>

using namespace mlir;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

/// Types and attributes live as long as their context: a new one every thousand
/// inputs keeps memory bounded, a new one each time would cost ten times more.
static MLIRContext &freshContext() {
  static std::unique_ptr<MLIRContext> context;
  static unsigned uses = 0;
  if (!context || ++uses % 1000 == 0) {
    DialectRegistry registry;
    drawloom::registerAllDialects(registry);
    context = std::make_unique<MLIRContext>(registry,
                                            MLIRContext::Threading::DISABLED);
    context->loadAllAvailableDialects();
    context->getDiagEngine().registerHandler([](Diagnostic &) {});
  }
  return *context;
}

/// MLIR 22.1 dereferences a null attribute where the list behind `dimensions =`
/// of linalg.reduce and linalg.broadcast, or `permutation =` of
/// linalg.transpose, is none. Not ours to mend: such inputs are left out.
static bool crashesUpstream(llvm::StringRef text) {
  static const llvm::Regex list(
      "^ *\\[ *(-?[0-9]{1,18}( *, *-?[0-9]{1,18})*)? *\\]");
  for (llvm::StringRef word : {"dimensions", "permutation"})
    for (size_t at = text.find(word); at != llvm::StringRef::npos;
         at = text.find(word, at + 1)) {
      llvm::StringRef rest = text.drop_front(at + word.size()).ltrim();
      if (rest.consume_front("=") && !list.match(rest.ltrim()))
        return true;
    }
  return false;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // A copy ends in the zero that the parser upstream reads.
  std::string text(reinterpret_cast<const char *>(data), size);
  // The recursion of the parser upstream is as deep as the nesting of the text.
  int depth = 0, deepest = 0;
  for (char c : text) {
    depth += llvm::StringRef("({[<").contains(c);
    depth -= llvm::StringRef(")}]>").contains(c);
    deepest = std::max(deepest, depth);
  }
  if (deepest > 200 || text.find('\0') != std::string::npos ||
      crashesUpstream(text))
    return 0;
  ParserConfig config(&freshContext());
  OwningOpRef<Operation *> module = parseSourceString(text, config);
  if (module) {
    // What parses must print, and parse again.
    std::string printed;
    llvm::raw_string_ostream stream(printed);
    (*module)->print(stream);
    if (!parseSourceString(printed, config))
      llvm::report_fatal_error("the printed form does not parse:\n" +
                               llvm::Twine(printed));
  }
  return 0;
}

/// Half the mutations are of tokens: bytes changed at random rarely get past
/// the lexer.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  std::minstd_rand random(seed);
  if (size == 0 || random() % 2)
    return LLVMFuzzerMutate(data, size, maxSize);
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  std::vector<std::string> tokens;
  auto isWord = [](char c) {
    return llvm::isAlnum(c) || llvm::StringRef("_.$").contains(c);
  };
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    if (isWord(text[i]))
      while (end < text.size() && isWord(text[end]))
        ++end;
    tokens.push_back(text.slice(i, end).str());
    i = end;
  }
  size_t at = random() % tokens.size(), other = random() % tokens.size();
  static constexpr llvm::StringLiteral interesting[] = {
      "0",          "1",           "-1",   "3",    "9223372036854775807",
      "4294967296", "?",           "f32",  "f64",  "bf16",
      "i1",         "index",       "i64",  "f16",  "*",
      "[]",         "tensor<f32>", "none", "1e39", "0x7FC00000"};
  switch (random() % 5) {
  case 0:
    tokens.erase(tokens.begin() + at);
    break;
  case 1:
    tokens[at] = tokens[other];
    break;
  case 2:
    std::swap(tokens[at], tokens[other]);
    break;
  case 3:
    tokens.insert(tokens.begin() + at, tokens[other]);
    break;
  case 4:
    tokens[at] = interesting[random() % std::size(interesting)].str();
    break;
  }
  std::string mutated = llvm::join(tokens, "");
  size_t length = std::min(mutated.size(), maxSize);
  std::copy_n(mutated.begin(), length, data);
  return length;
}
