//===- Sources.cpp - reading, linking and specialising programs -----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Compiler/Compiler.h"
#include "lib/Compiler/Inputs.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Graph/OpenExtents.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace drawloom {

/// Moves the ops of `source` into `target`. A declaration gives way to a
/// definition of the same type; two definitions of one name are an error.
static LogicalResult link(ModuleOp source, ModuleOp target) {
  for (Operation &op : llvm::make_early_inc_range(*source.getBody())) {
    if (auto symbol = dyn_cast<SymbolOpInterface>(op)) {
      auto function = dyn_cast<func::FuncOp>(op);
      Operation *other =
          SymbolTable::lookupSymbolIn(target, symbol.getNameAttr());
      if (auto otherFunction = dyn_cast_or_null<func::FuncOp>(other);
          otherFunction && function) {
        if (function.getFunctionType() != otherFunction.getFunctionType()) {
          InFlightDiagnostic diagnostic =
              function.emitError("@") << symbol.getName() << " has type "
                                      << function.getFunctionType() << " here";
          diagnostic.attachNote(otherFunction.getLoc())
              << "and " << otherFunction.getFunctionType() << " here";
          return diagnostic;
        }
        if (function.isExternal())
          continue;
        if (otherFunction.isExternal()) {
          // The declaration's visibility is what the program asked for.
          function.setVisibility(otherFunction.getVisibility());
          otherFunction.erase();
          other = nullptr;
        }
      }
      if (other) {
        InFlightDiagnostic diagnostic =
            op.emitError("@") << symbol.getName() << " is defined twice";
        diagnostic.attachNote(other->getLoc()) << "first defined here";
        return diagnostic;
      }
    }
    op.moveBefore(target.getBody(), target.getBody()->end());
  }
  return success();
}

/// Parses each of `sources` by `parse` and links them.
template <typename T>
static OwningOpRef<ModuleOp>
parseAll(ArrayRef<T> sources, MLIRContext &context,
         function_ref<OwningOpRef<ModuleOp>(const T &, ParserConfig)> parse) {
  // Whoever wrote the program has its line; what passes had made of it by then
  // is for those who write passes.
  context.printOpOnDiagnostic(false);
  OwningOpRef<ModuleOp> program;
  for (const T &source : sources) {
    OwningOpRef<ModuleOp> module = parse(source, ParserConfig(&context));
    if (!module)
      return {};
    if (!program)
      program = std::move(module);
    else if (failed(link(*module, *program)))
      return {};
  }
  return program;
}

static LogicalResult checkNesting(StringRef name, StringRef text,
                                  MLIRContext *context) {
  std::optional<DeepNesting> deep = findDeepNesting(text);
  if (!deep)
    return success();
  return emitError(FileLineColLoc::get(context, name, deep->line, deep->column))
         << deep->message;
}

OwningOpRef<ModuleOp> parseSources(ArrayRef<Source> sources,
                                   MLIRContext &context) {
  return parseAll<Source>(
      sources, context,
      [](const Source &source, ParserConfig config) -> OwningOpRef<ModuleOp> {
        if (failed(checkNesting(source.name, source.contents,
                                config.getContext())))
          return {};
        return parseSourceString<ModuleOp>(source.contents, config,
                                           source.name);
      });
}

OwningOpRef<ModuleOp> parseSourceFiles(ArrayRef<std::string> files,
                                       MLIRContext &context) {
  return parseAll<std::string>(
      files, context,
      [](const std::string &file,
         ParserConfig config) -> OwningOpRef<ModuleOp> {
        llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> buffer =
            readInput(file);
        if (!buffer) {
          emitError(UnknownLoc::get(config.getContext()))
              << llvm::toString(buffer.takeError());
          return {};
        }
        if (failed(checkNesting(file, (*buffer)->getBuffer(),
                                config.getContext())))
          return {};
        llvm::SourceMgr manager;
        manager.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
        return parseSourceFile<ModuleOp>(manager, config);
      });
}

LogicalResult keepOnly(ModuleOp module, StringRef entry) {
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal())
      function.setVisibility(function.getSymName() == entry
                                 ? SymbolTable::Visibility::Public
                                 : SymbolTable::Visibility::Private);
  PassManager passes(module.getContext());
  passes.addPass(createSymbolDCEPass());
  return passes.run(module);
}

/// Upstream folds a transpose that exchanges nothing to its operand, even where
/// more is known of the operand's extents than the result's type says, and
/// loops carry a value of another type then. Folds it while both types are the
/// same.
static void foldIdleTransposes(ModuleOp module) {
  module.walk([](linalg::TransposeOp op) {
    if (!isIdentityPermutation(op.getPermutation()) ||
        op->getNumResults() != 1 ||
        op->getResultTypes()[0] != op.getInput().getType())
      return;
    op->getResult(0).replaceAllUsesWith(op.getInput());
    op->erase();
  });
}

LogicalResult specializeShapes(ModuleOp module, StringRef entry,
                               ArrayRef<std::vector<int64_t>> shapes) {
  auto function = module.lookupSymbol<func::FuncOp>(entry);
  if (!function)
    return module.emitError("there is no function @") << entry;
  if (shapes.size() != function.getNumArguments())
    return function.emitError("takes ")
           << function.getNumArguments()
           << " arguments, but shapes were given for " << shapes.size();
  foldIdleTransposes(module);
  // What refers to it, calls and requests of derivatives, passes tensors of
  // unknown extents on: to a copy that keeps them.
  if (!SymbolTable::symbolKnownUseEmpty(function, module)) {
    func::FuncOp open = function.clone();
    open.setPrivate();
    StringAttr name = SymbolTable(module).insert(open);
    if (failed(SymbolTable::replaceAllSymbolUses(function, name, module)))
      return function.emitError("cannot be told from a copy of its own");
  }
  // A program may have tensors without an op of the dialect that casts them.
  module.getContext()->loadDialect<tensor::TensorDialect>();
  SmallVector<Type> inputs;
  OpBuilder builder(function.getBody());
  for (auto [argument, shape] :
       llvm::zip_equal(function.getArguments(), shapes)) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || type.hasStaticShape()) {
      inputs.push_back(argument.getType());
      continue;
    }
    if (type.getRank() != static_cast<int64_t>(shape.size()))
      return function.emitError("argument ")
             << argument.getArgNumber() << " has rank " << type.getRank()
             << ", but the shape given has rank " << shape.size();
    for (auto [i, extent] : llvm::enumerate(shape))
      if (!type.isDynamicDim(i) && type.getDimSize(i) != extent)
        return function.emitError("argument ")
               << argument.getArgNumber() << " has extent "
               << type.getDimSize(i) << " in dimension " << i << ", but "
               << extent << " was given";
    SmallVector<int64_t> given;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (type.isDynamicDim(dim))
        given.push_back(dim);
    function.setArgAttr(argument.getArgNumber(), givenDimsAttr,
                        builder.getDenseI64ArrayAttr(given));
    auto known = RankedTensorType::get(shape, type.getElementType());
    argument.setType(known);
    // The body was written for the type with unknown extents; canonicalization
    // carries the known ones on from this cast.
    auto unknown =
        tensor::CastOp::create(builder, argument.getLoc(), type, argument);
    argument.replaceAllUsesExcept(unknown, unknown);
    inputs.push_back(known);
  }
  function.setType(FunctionType::get(module.getContext(), inputs,
                                     function.getResultTypes()));
  return success();
}

} // namespace drawloom
