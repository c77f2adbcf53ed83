//===- Names.cpp - what callers name arguments and results by -------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Compiler/Names.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace drawloom {

static std::string textOf(Attribute name) {
  auto text = dyn_cast_or_null<StringAttr>(name);
  return text ? text.str() : "";
}

ValueNames namesOf(FunctionOpInterface function) {
  ValueNames names;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    names.arguments.push_back(textOf(function.getArgAttr(i, nameAttr)));
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    names.results.push_back(textOf(function.getResultAttr(i, nameAttr)));
  return names;
}

/// Also a file's name, and a key in the tools' command lines.
static bool isName(StringRef text) {
  return !text.empty() && text.front() != '.' && text.front() != '-' &&
         !llvm::isDigit(text.front()) && llvm::all_of(text, [](char c) {
           return llvm::isAlnum(c) || c == '_' || c == '.' || c == '-';
         });
}

/// Of the arguments or the results of a function.
static LogicalResult check(FunctionOpInterface function, StringRef kind,
                           unsigned count,
                           function_ref<Attribute(unsigned)> nameAt) {
  llvm::StringSet<> seen;
  for (unsigned i = 0; i < count; ++i) {
    Attribute name = nameAt(i);
    if (!name)
      continue;
    std::string text = textOf(name);
    if (!isName(text))
      return function.emitError()
             << kind << " " << i << " of @" << function.getName()
             << " is named " << name
             << "; a name begins with a letter or '_' and has letters, digits, "
                "'_', '.' and '-'";
    if (!seen.insert(text).second)
      return function.emitError()
             << "two " << kind << "s of @" << function.getName()
             << " are named " << name << "; give each a name of its own";
  }
  return success();
}

LogicalResult verifyNames(ModuleOp module) {
  for (auto function : module.getOps<FunctionOpInterface>())
    if (failed(check(
            function, "argument", function.getNumArguments(),
            [&](unsigned i) { return function.getArgAttr(i, nameAttr); })) ||
        failed(check(
            function, "result", function.getNumResults(),
            [&](unsigned i) { return function.getResultAttr(i, nameAttr); })))
      return failure();
  return success();
}

FailureOr<FunctionNames> takeNames(ModuleOp module) {
  if (failed(verifyNames(module)))
    return failure();
  FunctionNames names;
  auto nameId = StringAttr::get(module.getContext(), nameAttr);
  for (auto function : module.getOps<FunctionOpInterface>()) {
    if (!function.isExternal())
      names[function.getName()] = namesOf(function);
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      function.removeArgAttr(i, nameId);
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      function.removeResultAttr(i, nameId);
  }
  return names;
}

void giveNames(const ValueNames &names, Signature &signature) {
  auto give = [](const std::vector<std::string> &from,
                 std::vector<ValueType> &to) {
    for (auto [name, type] : llvm::zip(from, to))
      type.name = name;
  };
  give(names.arguments, signature.arguments);
  give(names.results, signature.results);
}

void giveNames(const FunctionNames &names, Artifact &artifact) {
  for (Artifact::Variant &variant : artifact.variants)
    for (Artifact::Entry &entry : variant.entries)
      if (auto known = names.find(entry.signature.name); known != names.end())
        giveNames(known->second, entry.signature);
}

} // namespace drawloom
