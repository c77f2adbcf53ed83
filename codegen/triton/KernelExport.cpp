//===- KernelExport.cpp - a kernel's regions and control flow -------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/triton/KernelExport.h"
#include "codegen/nvptx/Passes.h"
#include "dialects/Drawloom/Attributes.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace drawloom;
using namespace drawloom::triton;

/// Triton's own limit.
static constexpr int64_t kMaxElements = 1 << 20;

LogicalResult triton::refuse(Operation *op, const Twine &why) {
  return op->emitError("no TTIR for '") << op->getName() << "': " << why;
}

LogicalResult triton::checkKernel(func::FuncOp kernel) {
  if (kernel.isExternal())
    return kernel.emitError("no TTIR for a kernel without a body");
  bool isKnown = true;
  kernel->walk([&](Operation *op) {
    bool known =
        isa<arith::ArithDialect, math::MathDialect, tile::TileDialect>(
            op->getDialect()) ||
        isa<func::FuncOp, func::ReturnOp, scf::ForOp, scf::IfOp, scf::WhileOp,
            scf::YieldOp, scf::ConditionOp, memref::CastOp,
            memref::CollapseShapeOp, memref::DimOp, memref::ExpandShapeOp,
            memref::LoadOp, memref::SubViewOp>(op);
    known &= llvm::none_of(op->getResultTypes(), llvm::IsaPred<VectorType>);
    auto part = dyn_cast<memref::SubViewOp>(op);
    bool hasSteps =
        part &&
        llvm::any_of(llvm::zip(part.getStaticStrides(), part.getStaticSizes()),
                     [](auto pair) {
                       auto [stride, size] = pair;
                       return ShapedType::isDynamic(stride) && size != 1;
                     });
    if (known && !hasSteps)
      return;
    isKnown = false;
    (void)refuse(op, hasSteps ? "a stride that is not constant"
                              : "it has no counterpart");
  });
  return success(isKnown);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Ssa KernelExport::addParameter(const TtirParameter &parameter, Type type) {
  Ssa name{"%arg" + std::to_string(result.parameters.size()),
           parameter.isBuffer ? elementInMemory(type) : elementInText(type),
           {},
           parameter.isBuffer};
  head += (head.empty() ? "" : ", ") + name.name + ": " + typeText(name) +
          (parameter.isBuffer ? " {tt.divisibility = 16 : i32}" : "");
  result.parameters.push_back(parameter);
  result.parameters.back().type = typeText(name);
  return name;
}

Ssa KernelExport::scalarOf(OpFoldResult value) {
  if (auto attribute = dyn_cast<Attribute>(value))
    return print.constant(print.i64(), cast<IntegerAttr>(attribute).getInt());
  return scalarOf(cast<Value>(value));
}

Tile KernelExport::tileOf(Value value) {
  const Entry &entry = entries.at(value);
  if (const auto *tile = std::get_if<Tile>(&entry))
    return *tile;
  if (const auto *scalar = std::get_if<Ssa>(&entry))
    return {*scalar, {}, true};
  return views.load(std::get<View>(entry),
                    cast<MemRefType>(value.getType()).getShape());
}

void KernelExport::bindAs(Value value, const std::string &name) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  Ssa ssa{name, elementInText(getElementTypeOrSelf(value.getType())),
          type ? paddedShape(type.getShape()) : SmallVector<int64_t>()};
  if (type)
    entries[value] = Tile{ssa, SmallVector<int64_t>(type.getShape())};
  else
    entries[value] = ssa;
}

std::string KernelExport::bindFresh(Value value) {
  std::string name = print.fresh();
  bindAs(value, name);
  return name;
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

SmallVector<Ssa> KernelExport::carried(ValueRange values) {
  return llvm::map_to_vector(values,
                             [&](Value value) { return tileOf(value).value; });
}

/// "%5 = " or "%5:2 = ".
static std::string resultsText(const std::string &base, size_t count) {
  if (count == 0)
    return "";
  return base + (count > 1 ? ":" + std::to_string(count) : "") + " = ";
}

void KernelExport::bindResults(const std::string &base, ValueRange results) {
  for (auto [i, value] : llvm::enumerate(results))
    bindAs(value, results.size() == 1 ? base : base + "#" + std::to_string(i));
}

void KernelExport::emitYield(StringRef name, ValueRange values) {
  SmallVector<Ssa> yielded = carried(values);
  if (!yielded.empty())
    print.line(name.str() + " " + namesText(yielded) + " : " +
               typesText(yielded));
}

LogicalResult KernelExport::emitBody(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(emit(&op)))
      return failure();
  return success();
}

LogicalResult KernelExport::emitFor(scf::ForOp op) {
  SmallVector<Ssa> inits = carried(op.getInitArgs());
  Ssa lower = scalarOf(op.getLowerBound());
  std::string base = print.fresh();
  std::string text = resultsText(base, inits.size()) + "scf.for " +
                     bindFresh(op.getInductionVar()) + " = " + lower.name +
                     " to " + scalarOf(op.getUpperBound()).name + " step " +
                     scalarOf(op.getStep()).name;
  std::string pairs;
  for (auto [argument, init] : llvm::zip(op.getRegionIterArgs(), inits))
    pairs +=
        (pairs.empty() ? "" : ", ") + bindFresh(argument) + " = " + init.name;
  if (!inits.empty())
    text += " iter_args(" + pairs + ") -> (" + typesText(inits) + ")";
  print.open(text + " : " + typeText(lower) + " {");
  if (failed(emitBody(*op.getBody())))
    return failure();
  emitYield("scf.yield", op.getYieldedValues());
  print.close();
  bindResults(base, op.getResults());
  return success();
}

LogicalResult KernelExport::emitIf(scf::IfOp op) {
  std::string base = print.fresh();
  bindResults(base, op.getResults());
  std::string text = resultsText(base, op.getNumResults()) + "scf.if " +
                     scalarOf(op.getCondition()).name;
  if (op.getNumResults() > 0)
    text += " -> (" + typesText(carried(op.getResults())) + ")";
  print.open(text + " {");
  for (Region &region : op->getRegions()) {
    if (region.empty())
      continue;
    if (&region == &op.getElseRegion()) {
      print.close("} else {");
      print.indentMore();
    }
    if (failed(emitBody(region.front())))
      return failure();
    emitYield("scf.yield", region.front().getTerminator()->getOperands());
  }
  print.close();
  return success();
}

LogicalResult KernelExport::emitWhile(scf::WhileOp op) {
  SmallVector<Ssa> inits = carried(op.getInits());
  std::string base = print.fresh();
  bindResults(base, op.getResults());
  SmallVector<Ssa> results = carried(op.getResults());
  std::string pairs, block;
  for (auto [argument, init] : llvm::zip(op.getBeforeArguments(), inits))
    pairs +=
        (pairs.empty() ? "" : ", ") + bindFresh(argument) + " = " + init.name;
  print.open(resultsText(base, results.size()) + "scf.while (" + pairs +
             ") : (" + typesText(inits) + ") -> (" + typesText(results) +
             ") {");
  if (failed(emitBody(*op.getBeforeBody())))
    return failure();
  scf::ConditionOp condition = op.getConditionOp();
  emitYield("scf.condition(" + scalarOf(condition.getCondition()).name + ")",
            condition.getArgs());
  print.close("} do {");
  print.indentMore();
  for (auto [argument, value] : llvm::zip(op.getAfterArguments(), results))
    block += (block.empty() ? "" : ", ") + bindFresh(argument) + ": " +
             typeText(value);
  if (!block.empty())
    print.line("^bb0(" + block + "):");
  if (failed(emitBody(*op.getAfterBody())))
    return failure();
  emitYield("scf.yield", op.getYieldOp().getOperands());
  print.close();
  return success();
}

//===----------------------------------------------------------------------===//
// One op
//===----------------------------------------------------------------------===//

/// Ops with one result that is a tile, of operands that are.
LogicalResult KernelExport::emitShape(Operation *op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<int64_t> extents(type.getShape());
  Tile tile{{}, extents};
  if (auto splat = dyn_cast<tile::SplatOp>(op)) {
    // A constant that is repeated is one.
    auto constant = splat.getValue().getDefiningOp<arith::ConstantOp>();
    tile.value = constant ? print.constant(cast<TypedAttr>(constant.getValue()),
                                           paddedShape(extents))
                          : print.broadcast(scalarOf(splat.getValue()),
                                            paddedShape(extents));
  } else if (auto iota = dyn_cast<tile::IotaOp>(op)) {
    SmallVector<int64_t> shape = paddedShape(extents);
    Ssa line = print.iota(shape[iota.getDimension()], iota.getDimension(),
                          shape.size());
    tile.value = print.broadcast(
        convertInteger(print, line, elementInText(type.getElementType())),
        shape);
  } else if (auto slice = dyn_cast<tile::SliceOp>(op)) {
    Tile source = tileOf(slice.getSource());
    int64_t axis = slice.getDimension();
    Ssa one = tiles.take(
        source.value, print.constant(print.i32(), slice.getIndex(), {1}), axis);
    tile.value = print.reshape(one, paddedShape(extents));
  } else if (auto lookup = dyn_cast<tile::LookupOp>(op)) {
    tile.value = views.loadElements(viewOf(lookup.getSource()),
                                    carried(lookup.getIndices()), extents);
  } else if (isa<tile::ReshapeOp>(op)) {
    tile = tiles.reshape(tileOf(op->getOperand(0)), extents);
  } else if (isa<tile::LoadOp>(op)) {
    tile = views.load(viewOf(op->getOperand(0)), extents);
  } else {
    return refuse(op, "it has no counterpart");
  }
  entries[op->getResult(0)] = tile;
  return success();
}

LogicalResult KernelExport::emit(Operation *op) {
  if (op->getNumResults() == 1)
    if (auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
        type && type.getNumElements() == 0)
      return refuse(op, "a tile without elements");
  // The place of a store that makes a buffer out of a tile.
  if (isa<ViewLikeOpInterface>(op) && !entries.contains(op->getOperand(0)))
    return success();
  auto by = [this](auto method) {
    return [this, method](auto op) {
      (this->*method)(op);
      return success();
    };
  };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](scf::ForOp loop) { return emitFor(loop); })
      .Case([&](scf::IfOp branch) { return emitIf(branch); })
      .Case([&](scf::WhileOp loop) { return emitWhile(loop); })
      .Case<tile::AllocOp>(by(&KernelExport::emitAlloc))
      .Case<tile::StoreOp>(by(&KernelExport::emitStore))
      .Case<tile::GatherOp>(by(&KernelExport::emitGather))
      .Case<tile::ScatterOp>(by(&KernelExport::emitScatter))
      .Case<tile::BroadcastOp>(by(&KernelExport::emitBroadcast))
      .Case<tile::ReduceOp>(by(&KernelExport::emitReduce))
      .Case<tile::ScanOp>(by(&KernelExport::emitScan))
      .Case<tile::DotOp>(by(&KernelExport::emitDot))
      .Case<tile::SolveOp>(by(&KernelExport::emitSolve))
      .Case<memref::SubViewOp>(by(&KernelExport::emitSubview))
      .Case<memref::CastOp>(by(&KernelExport::emitCast))
      .Case<memref::ExpandShapeOp, memref::CollapseShapeOp>(
          [&](auto view) { return emitReshapedView(view), success(); })
      .Case([&](tile::BarrierOp) { return print.barrier(), success(); })
      .Case([&](tile::BlockIdOp id) {
        entries[id.getResult()] = program;
        return success();
      })
      .Case([&](memref::DimOp dim) {
        entries[dim.getResult()] = views.sizeOf(
            viewOf(dim.getSource()).dimensions[*dim.getConstantIndex()]);
        return success();
      })
      .Case([&](memref::LoadOp load) {
        entries[load.getResult()] = views.loadElements(
            viewOf(load.getMemRef()), carried(load.getIndices()), {});
        return success();
      })
      .Default([&](Operation *) -> LogicalResult {
        if (isa<tile::TileDialect>(op->getDialect()))
          return emitShape(op);
        if (op->getNumResults() != 1)
          return refuse(op, "it has no counterpart");
        FailureOr<Ssa> made =
            emitElementwise(print, op, carried(op->getOperands()));
        if (failed(made))
          return failure();
        Value value = op->getResult(0);
        if (auto type = dyn_cast<RankedTensorType>(value.getType()))
          entries[value] = Tile{*made, SmallVector<int64_t>(type.getShape())};
        else
          entries[value] = *made;
        return success();
      });
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

static std::string moduleText(const std::string &name,
                              const std::string &parameters,
                              const TtirPrinter &print) {
  return "module {\n  tt.func public @" + name + "(" + parameters + ") {\n" +
         print.body() + "    tt.return\n  }\n}\n";
}

FailureOr<TtirKernel> KernelExport::run(ArrayRef<TtirParameter> operands) {
  result.name = kernel.getName().str();
  result.grid = kernel->getAttrOfType<IntegerAttr>(gridAttr).getInt();
  for (auto [argument, operand] : llvm::zip(kernel.getArguments(), operands)) {
    if (argument.use_empty())
      continue;
    auto type = dyn_cast<MemRefType>(argument.getType());
    Ssa name = addParameter(operand, getElementTypeOrSelf(argument.getType()));
    if (type)
      entries[argument] = wholeView(type, name);
    else
      entries[argument] = name;
  }
  program = convertInteger(print, print.programId(), print.i64());
  if (failed(emitBody(kernel.getBody().front())))
    return failure();
  int64_t elements = print.largestTensor();
  if (elements > kMaxElements)
    return kernel.emitError("no TTIR for a tile of ")
           << elements << " elements, above Triton's limit of " << kMaxElements
           << ": cut it in the block program";
  result.text = moduleText(result.name, head, print);
  result.warps = elements <= 256 ? 1 : elements <= 1024 ? 2 : 4;
  if (elements > 8192)
    result.warps = 8;
  if (print.hasDots())
    result.warps = std::max<int64_t>(result.warps, 4);
  return result;
}

TtirKernel triton::copyKernel(const std::string &name, StringRef element,
                              int64_t count, int64_t block,
                              const std::vector<TtirParameter> &parameters,
                              MLIRContext *context) {
  TtirPrinter print(context, "ieee");
  Type type = elementInMemory(parseType(element, context));
  Ssa from{"%arg0", type, {}, /*pointer=*/true};
  Ssa to{"%arg1", type, {}, /*pointer=*/true};
  Ssa start = print.same("arith.muli",
                         {convertInteger(print, print.programId(), print.i64()),
                          print.constant(print.i64(), block)});
  Ssa places =
      print.same("arith.addi",
                 {print.splat(start, {block}),
                  convertInteger(print, print.iota(block, 0, 1), print.i64())});
  Ssa mask = print.compare("arith.cmpi", "slt", places,
                           print.constant(print.i64(), count, {block}));
  auto at = [&](const Ssa &pointer) {
    return print.addPointer(print.splat(pointer, {block}), places);
  };
  print.store(at(to),
              print.load(at(from), mask, print.constant(type, 0, {block})),
              mask);
  TtirKernel kernel;
  kernel.name = name;
  std::string aligned = " {tt.divisibility = 16 : i32}";
  kernel.text = moduleText(name,
                           "%arg0: " + typeText(from) + aligned +
                               ", %arg1: " + typeText(to) + aligned,
                           print);
  kernel.grid = llvm::divideCeil(count, block);
  kernel.parameters = parameters;
  for (TtirParameter &parameter : kernel.parameters)
    parameter.type = typeText(from);
  return kernel;
}
