//===- CompareWithInterpreter.cpp - machine code against the oracle -------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/CompareWithInterpreter.h"
#include "codegen/Artifact.h"
#include "lib/Interpreter/Interpreter.h"
#include "lib/RegisterAll.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/APFloat.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>
#include <random>

using namespace mlir;

namespace drawloom::test {

template <typename T> static void write(std::vector<char> &bytes, T value) {
  size_t at = bytes.size();
  bytes.resize(at + sizeof(T));
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}

template <typename T> static T read(llvm::ArrayRef<char> bytes, size_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}

static const llvm::fltSemantics &semantics(ElementType type) {
  return type == ElementType::BF16 ? llvm::APFloat::BFloat()
                                   : llvm::APFloat::IEEEhalf();
}

std::vector<char> pack(const ValueType &type, llvm::ArrayRef<double> values) {
  std::vector<char> bytes;
  for (double value : values)
    switch (type.element) {
    case ElementType::F64:
      write(bytes, value);
      break;
    case ElementType::F32:
      write(bytes, static_cast<float>(value));
      break;
    case ElementType::BF16:
    case ElementType::F16: {
      llvm::APFloat narrow(value);
      bool lost;
      narrow.convert(semantics(type.element),
                     llvm::APFloat::rmNearestTiesToEven, &lost);
      write(bytes,
            static_cast<uint16_t>(narrow.bitcastToAPInt().getZExtValue()));
      break;
    }
    case ElementType::I64:
      write(bytes, static_cast<int64_t>(value));
      break;
    case ElementType::I32:
      write(bytes, static_cast<int32_t>(value));
      break;
    case ElementType::I8:
    case ElementType::I1:
      write(bytes, static_cast<int8_t>(value));
      break;
    }
  return bytes;
}

std::vector<double> unpack(const ValueType &type, llvm::ArrayRef<char> bytes) {
  std::vector<double> values(type.elements());
  for (size_t i = 0; i < values.size(); ++i)
    switch (type.element) {
    case ElementType::F64:
      values[i] = read<double>(bytes, i);
      break;
    case ElementType::F32:
      values[i] = read<float>(bytes, i);
      break;
    case ElementType::BF16:
    case ElementType::F16: {
      llvm::APFloat wide(semantics(type.element),
                         llvm::APInt(16, read<uint16_t>(bytes, i)));
      bool lost;
      wide.convert(llvm::APFloat::IEEEdouble(),
                   llvm::APFloat::rmNearestTiesToEven, &lost);
      values[i] = wide.convertToDouble();
      break;
    }
    case ElementType::I64:
      values[i] = read<int64_t>(bytes, i);
      break;
    case ElementType::I32:
      values[i] = read<int32_t>(bytes, i);
      break;
    case ElementType::I8:
    case ElementType::I1:
      values[i] = read<int8_t>(bytes, i);
      break;
    }
  return values;
}

std::unique_ptr<MLIRContext> makeContext() {
  DialectRegistry registry;
  registerAllDialects(registry);
  return std::make_unique<MLIRContext>(registry,
                                       MLIRContext::Threading::DISABLED);
}

static bool isFloat(ElementType type) {
  return type == ElementType::F64 || type == ElementType::F32 ||
         type == ElementType::BF16 || type == ElementType::F16;
}

void compareWithInterpreter(llvm::StringRef source, const Comparison &how,
                            const Values &given) {
  std::unique_ptr<MLIRContext> context = makeContext();
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(source, context.get());
  ASSERT_TRUE(module) << "does not parse";
  OwningOpRef<ModuleOp> reference(cast<ModuleOp>((*module)->clone()));

  CompileOptions options;
  options.from = how.from;
  options.codegen.isa = how.isa;
  llvm::Expected<Artifact> artifact = compileToArtifact(*module, options);
  ASSERT_TRUE(static_cast<bool>(artifact))
      << llvm::toString(artifact.takeError());
  // Through its bytes, as programs come from the cache.
  artifact = readArtifact(writeArtifact(*artifact));
  ASSERT_TRUE(static_cast<bool>(artifact))
      << llvm::toString(artifact.takeError());
  llvm::Expected<std::unique_ptr<Program>> program =
      options.target->load(*artifact, how.loaded);
  ASSERT_TRUE(static_cast<bool>(program))
      << llvm::toString(program.takeError());
  if (!how.loaded.empty()) {
    ASSERT_EQ((*program)->isa(), how.loaded);
  }
  ASSERT_EQ((*program)->signatures().size(), 1u);
  const Signature &signature = (*program)->signatures().front();

  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<std::vector<char>> memory;
  std::vector<const void *> arguments;
  std::vector<void *> results;
  llvm::SmallVector<HostTensor> tensors;
  for (auto [i, type] : llvm::enumerate(signature.arguments)) {
    std::vector<double> values(type.elements());
    auto fixed = given.find(i);
    if (fixed != given.end()) {
      ASSERT_EQ(fixed->second.size(), values.size());
      values = fixed->second;
    } else {
      for (double &value : values)
        value = isFloat(type.element) ? uniform(random) : random() % 2;
    }
    memory.push_back(pack(type, values));
    // Both see the numbers as rounded to the type.
    values = unpack(type, memory.back());
    HostTensor tensor(isFloat(type.element), type.shape);
    if (isFloat(type.element))
      llvm::copy(values, tensor.mutableF().begin());
    else
      for (size_t k = 0; k < values.size(); ++k)
        tensor.mutableI()[k] = static_cast<int64_t>(values[k]);
    tensors.push_back(tensor);
  }
  for (std::vector<char> &bytes : memory)
    arguments.push_back(bytes.data());
  std::vector<std::vector<char>> out;
  for (const ValueType &type : signature.results)
    // Whatever is not written shows.
    out.emplace_back(type.bytes(), char(0x55));
  for (std::vector<char> &bytes : out)
    results.push_back(bytes.data());

  auto function = reference->lookupSymbol<func::FuncOp>(signature.name);
  FailureOr<llvm::SmallVector<HostTensor>> expected =
      Interpreter::call(function, tensors);
  ASSERT_TRUE(succeeded(expected)) << "the interpreter fails";
  llvm::Error error =
      (*program)->run(signature.name, arguments, results, how.threads);
  ASSERT_FALSE(static_cast<bool>(error)) << llvm::toString(std::move(error));

  for (auto [r, type] : llvm::enumerate(signature.results)) {
    std::vector<double> actual = unpack(type, out[r]);
    for (size_t k = 0; k < actual.size(); ++k) {
      double want = isFloat(type.element) ? (*expected)[r].f()[k]
                                          : double((*expected)[r].i()[k]);
      if (std::isnan(want) && std::isnan(actual[k]))
        continue;
      if (type.element == ElementType::I1)
        want = want != 0;
      ASSERT_LE(std::abs(actual[k] - want),
                how.tolerance * (1 + std::abs(want)))
          << "result " << r << ", element " << k << ": " << actual[k]
          << " instead of " << want;
    }
  }
}

} // namespace drawloom::test
