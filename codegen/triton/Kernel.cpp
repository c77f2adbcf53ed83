//===- Kernel.cpp - a kernel's regions and control flow -------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/triton/KernelBuilder.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace drawloom;
using namespace drawloom::triton;

/// Triton's own limit.
static constexpr int64_t kMaxElements = 1 << 20;

KernelBuilder::KernelBuilder(std::vector<TtirBuffer> &buffers,
                             const DenseMap<Value, HostView> &hostViews,
                             func::FuncOp function, const TtirOptions &options)
    : buffers(buffers), hostViews(hostViews), function(function),
      print(function.getContext(), options.dotPrecision) {}

LogicalResult KernelBuilder::refuse(Operation *op, const Twine &why) {
  return op->emitError("no TTIR for '") << op->getName() << "': " << why;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

void KernelBuilder::bind(Value value, Entry entry) {
  entries[value] = std::move(entry);
  scopes.back().push_back(value);
}

void KernelBuilder::closeScope() {
  for (Value value : scopes.back())
    entries.erase(value);
  scopes.pop_back();
}

Ssa KernelBuilder::pointerTo(int64_t buffer) {
  for (auto [parameter, name] : llvm::zip(parameters, parameterNames))
    if (parameter.isBuffer && parameter.index == buffer)
      return name;
  Type element =
      mlir::parseType(buffers[buffer].element, print.i1().getContext());
  Ssa pointer{"%arg" + std::to_string(parameters.size()),
              elementInMemory(element),
              {},
              /*pointer=*/true};
  parameters.push_back({true, buffer, typeText(pointer)});
  parameterNames.push_back(pointer);
  return pointer;
}

FailureOr<Entry> KernelBuilder::entryOf(Value value, Operation *user) {
  if (auto found = entries.find(value); found != entries.end())
    return found->second;
  // What stands around the kernel: memory, arguments, and scalars that each
  // kernel computes for itself.
  if (auto found = hostViews.find(value); found != hostViews.end()) {
    const HostView &host = found->second;
    Root &root = roots.emplace_back();
    root.host = host;
    View view;
    view.root = &root;
    view.offset = host.offset;
    for (auto [size, stride] : llvm::zip(host.shape, host.strides))
      view.dimensions.push_back({size, stride, {}});
    Type element = cast<ShapedType>(value.getType()).getElementType();
    view.isBit = element.isInteger(1);
    root.readPointer.element = elementInText(element);
    if (host.kind == HostView::Kind::Buffer)
      root.readPointer = pointerTo(host.buffer);
    return Entry(view);
  }
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() == &function.getBody().front() &&
        argument.getType().isIntOrIndexOrFloat()) {
      Ssa scalar{"%arg" + std::to_string(parameters.size()),
                 elementInText(argument.getType()),
                 {}};
      parameters.push_back(
          {false, int64_t(argument.getArgNumber()), typeText(scalar)});
      parameterNames.push_back(scalar);
      // Parameters hold in every region.
      entries[value] = scalar;
      return Entry(scalar);
    }
  } else if (Operation *op = value.getDefiningOp();
             op && !forall->isProperAncestor(op) && op != forall) {
    if (failed(emit(op)))
      return failure();
    return entries.lookup(value);
  }
  return refuse(user, "an operand is neither memory nor computed here");
}

FailureOr<Ssa> KernelBuilder::scalarOf(Value value, Operation *user) {
  FailureOr<Entry> entry = entryOf(value, user);
  if (failed(entry))
    return failure();
  if (auto *scalar = std::get_if<Ssa>(&*entry))
    return *scalar;
  return refuse(user, "an operand is no scalar");
}

FailureOr<Ssa> KernelBuilder::scalarOf(OpFoldResult value, Operation *user) {
  if (auto attribute = dyn_cast<Attribute>(value))
    return print.constant(print.i64(), cast<IntegerAttr>(attribute).getInt());
  return scalarOf(cast<Value>(value), user);
}

FailureOr<Tile> KernelBuilder::tileOf(Value value, Operation *user) {
  FailureOr<Entry> entry = entryOf(value, user);
  if (failed(entry))
    return failure();
  if (auto *tile = std::get_if<Tile>(&*entry))
    return *tile;
  if (auto *scalar = std::get_if<Ssa>(&*entry))
    return Tile{*scalar, {}, true};
  return load(std::get<View>(*entry), user);
}

FailureOr<View> KernelBuilder::viewOf(Value value, Operation *user) {
  FailureOr<Entry> entry = entryOf(value, user);
  if (failed(entry))
    return failure();
  if (auto *view = std::get_if<View>(&*entry))
    return *view;
  return refuse(user, "an operand is a tile, where only memory can stand");
}

void KernelBuilder::bindCarried(Value value, const std::string &name) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return bind(value, Ssa{name, elementInText(value.getType()), {}});
  bind(value, Tile{Ssa{name, elementInText(type.getElementType()),
                       paddedShape(type.getShape())},
                   SmallVector<int64_t>(type.getShape())});
}

//===----------------------------------------------------------------------===//
// What is carried in memory
//===----------------------------------------------------------------------===//

/// The value whose memory `value` still is, after insertions in place.
static Value origin(Value value) {
  while (true) {
    Value next;
    if (auto insert = value.getDefiningOp<tensor::InsertSliceOp>())
      next = insert.getDest();
    else if (auto scatter = value.getDefiningOp<block::ScatterOp>())
      next = scatter.getDest();
    else if (auto loop = value.getDefiningOp<scf::ForOp>()) {
      unsigned i = cast<OpResult>(value).getResultNumber();
      if (origin(loop.getYieldedValues()[i]) != loop.getRegionIterArg(i))
        return value;
      next = loop.getInitArgs()[i];
    } else if (auto branch = value.getDefiningOp<scf::IfOp>()) {
      unsigned i = cast<OpResult>(value).getResultNumber();
      next = origin(branch.thenYield().getOperand(i));
      if (next != origin(branch.elseYield().getOperand(i)) ||
          branch->isAncestor(next.getParentBlock()->getParentOp()))
        return value;
    } else {
      return value;
    }
    value = next;
  }
}

static bool isStatic(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return !shaped || shaped.hasStaticShape();
}

FailureOr<SmallVector<Ssa>> KernelBuilder::yielded(OperandRange values,
                                                   ArrayRef<bool> inPlace,
                                                   Operation *at) {
  SmallVector<Ssa> out;
  for (auto [i, value] : llvm::enumerate(values)) {
    if (inPlace[i]) {
      FailureOr<View> view = viewOf(value, at);
      if (failed(view))
        return failure();
      if (view->version != view->root->version)
        return refuse(at, "a tensor that is kept in memory is overwritten "
                          "after the state that is passed on");
      continue;
    }
    FailureOr<Tile> tile = tileOf(value, at);
    if (failed(tile))
      return failure();
    out.push_back(tile->value);
  }
  return out;
}

static std::string names(ArrayRef<Ssa> values) {
  std::string out;
  for (const Ssa &value : values)
    out += (out.empty() ? "" : ", ") + value.name;
  return out;
}

static std::string types(ArrayRef<Ssa> values) {
  std::string out;
  for (const Ssa &value : values)
    out += (out.empty() ? "" : ", ") + typeText(value);
  return out;
}

static Ssa carriedSsa(Type type, const std::string &name) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return {name, elementInText(type), {}};
  return {name, elementInText(tensor.getElementType()),
          paddedShape(tensor.getShape())};
}

/// "%5" or "%5#2".
static std::string resultName(const std::string &base, size_t i, size_t count) {
  return count == 1 ? base : base + "#" + std::to_string(i);
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

LogicalResult KernelBuilder::emitFor(scf::ForOp op) {
  SmallVector<bool> inPlace;
  std::vector<Entry> memory;
  SmallVector<Ssa> inits;
  for (auto [i, init] : llvm::enumerate(op.getInitArgs())) {
    FailureOr<Entry> entry = entryOf(init, op);
    if (failed(entry))
      return failure();
    auto *view = std::get_if<View>(&*entry);
    inPlace.push_back(view && view->root->writable &&
                      origin(op.getYieldedValues()[i]) ==
                          op.getRegionIterArg(i));
    memory.push_back(*entry);
    if (inPlace.back())
      continue;
    if (!isStatic(init.getType()))
      return refuse(op, "a tensor of dynamic shape is carried");
    FailureOr<Tile> tile = tileOf(init, op);
    if (failed(tile))
      return failure();
    inits.push_back(tile->value);
  }
  FailureOr<Ssa> lower = scalarOf(op.getLowerBound(), op);
  FailureOr<Ssa> upper = scalarOf(op.getUpperBound(), op);
  FailureOr<Ssa> step = scalarOf(op.getStep(), op);
  if (failed(lower) || failed(upper) || failed(step))
    return failure();

  std::string base = print.fresh(), counter = print.fresh();
  SmallVector<Ssa> carried;
  for (const Ssa &init : inits) {
    carried.push_back(init);
    carried.back().name = print.fresh();
  }
  std::string head;
  if (!inits.empty())
    head = base + (inits.size() > 1 ? ":" + std::to_string(inits.size()) : "") +
           " = ";
  head += "scf.for " + counter + " = " + lower->name + " to " + upper->name +
          " step " + step->name;
  if (!inits.empty()) {
    std::string pairs;
    for (auto [name, init] : llvm::zip(carried, inits))
      pairs += (pairs.empty() ? "" : ", ") + name.name + " = " + init.name;
    head += " iter_args(" + pairs + ") -> (" + types(inits) + ")";
  }
  print.open(head + " : " + typeText(*lower) + " {");
  ++loopDepth;
  scopes.emplace_back();
  bind(op.getInductionVar(), Ssa{counter, lower->element, {}});
  unsigned tile = 0;
  for (auto [i, argument] : llvm::enumerate(op.getRegionIterArgs())) {
    if (!inPlace[i]) {
      bindCarried(argument, carried[tile++].name);
      continue;
    }
    View view = std::get<View>(memory[i]);
    if (view.version != view.root->version || view.loopDepth != loopDepth - 1)
      return refuse(op, "a tensor that is kept in memory was overwritten "
                        "before the loop");
    view.version = ++view.root->version;
    view.loopDepth = loopDepth;
    bind(argument, view);
  }
  for (Operation &inner : op.getBody()->without_terminator())
    if (failed(emit(&inner)))
      return failure();
  auto yield = cast<scf::YieldOp>(op.getBody()->getTerminator());
  FailureOr<SmallVector<Ssa>> results =
      yielded(yield.getOperands(), inPlace, op);
  if (failed(results))
    return failure();
  if (!results->empty())
    print.line("scf.yield " + names(*results) + " : " + types(*results));
  closeScope();
  --loopDepth;
  print.close();
  tile = 0;
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    if (!inPlace[i]) {
      bindCarried(result, resultName(base, tile++, inits.size()));
      continue;
    }
    View view = std::get<View>(memory[i]);
    view.version = ++view.root->version;
    bind(result, view);
  }
  return success();
}

LogicalResult KernelBuilder::emitIf(scf::IfOp op) {
  FailureOr<Ssa> condition = scalarOf(op.getCondition(), op);
  if (failed(condition))
    return failure();
  SmallVector<bool> inPlace;
  std::vector<Entry> memory;
  SmallVector<Ssa> results;
  for (Value result : op.getResults()) {
    Value from = origin(result);
    memory.emplace_back();
    inPlace.push_back(false);
    if (from != result) {
      FailureOr<Entry> entry = entryOf(from, op);
      if (failed(entry))
        return failure();
      auto *view = std::get_if<View>(&*entry);
      if (view && view->root->writable) {
        inPlace.back() = true;
        memory.back() = *entry;
        continue;
      }
    }
    if (!isStatic(result.getType()))
      return refuse(op, "a tensor of dynamic shape is a result");
    results.push_back(carriedSsa(result.getType(), ""));
  }
  std::string base = print.fresh();
  std::string head = "scf.if " + condition->name;
  if (!results.empty())
    head = base +
           (results.size() > 1 ? ":" + std::to_string(results.size()) : "") +
           " = " + head + " -> (" + types(results) + ")";
  print.open(head + " {");

  SmallVector<int64_t> before, after;
  for (Root &root : roots)
    before.push_back(root.version);
  for (Region *region : {&op.getThenRegion(), &op.getElseRegion()}) {
    if (region == &op.getElseRegion()) {
      if (region->empty())
        break;
      print.close("} else {");
      print.indentMore();
      for (auto [i, version] : llvm::enumerate(before))
        roots[i].version = version;
    }
    scopes.emplace_back();
    for (Operation &inner : region->front().without_terminator())
      if (failed(emit(&inner)))
        return failure();
    FailureOr<SmallVector<Ssa>> values =
        yielded(region->front().getTerminator()->getOperands(), inPlace, op);
    if (failed(values))
      return failure();
    if (!values->empty())
      print.line("scf.yield " + names(*values) + " : " + types(*values));
    closeScope();
    for (auto [i, root] : llvm::enumerate(roots)) {
      if (i >= before.size())
        before.push_back(0);
      if (i >= after.size())
        after.push_back(0);
      after[i] = std::max(after[i], root.version);
    }
  }
  print.close();
  for (auto [i, root] : llvm::enumerate(roots))
    root.version = after[i] == before[i] ? after[i] : after[i] + 1;
  unsigned tile = 0;
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    if (!inPlace[i]) {
      bindCarried(result, resultName(base, tile++, results.size()));
      continue;
    }
    View view = std::get<View>(memory[i]);
    view.version = view.root->version;
    bind(result, view);
  }
  return success();
}

LogicalResult KernelBuilder::emitWhile(scf::WhileOp op) {
  SmallVector<Ssa> inits, results;
  for (Value init : op.getInits()) {
    if (!isStatic(init.getType()))
      return refuse(op, "a tensor of dynamic shape is carried");
    FailureOr<Tile> tile = tileOf(init, op);
    if (failed(tile))
      return failure();
    inits.push_back(tile->value);
  }
  for (Value result : op.getResults()) {
    if (!isStatic(result.getType()))
      return refuse(op, "a tensor of dynamic shape is a result");
    results.push_back(carriedSsa(result.getType(), ""));
  }
  std::string base = print.fresh();
  std::string head, pairs;
  SmallVector<std::string> arguments;
  for (const Ssa &init : inits) {
    arguments.push_back(print.fresh());
    pairs += (pairs.empty() ? "" : ", ") + arguments.back() + " = " + init.name;
  }
  if (!results.empty())
    head = base +
           (results.size() > 1 ? ":" + std::to_string(results.size()) : "") +
           " = ";
  print.open(head + "scf.while (" + pairs + ") : (" + types(inits) + ") -> (" +
             types(results) + ") {");
  ++loopDepth;
  scopes.emplace_back();
  for (auto [argument, name] : llvm::zip(op.getBeforeArguments(), arguments))
    bindCarried(argument, name);
  for (Operation &inner : op.getBeforeBody()->without_terminator())
    if (failed(emit(&inner)))
      return failure();
  scf::ConditionOp condition = op.getConditionOp();
  FailureOr<Ssa> flag = scalarOf(condition.getCondition(), op);
  SmallVector<bool> nothing(
      std::max(results.size(), op.getYieldOp().getNumOperands() + size_t(0)),
      false);
  FailureOr<SmallVector<Ssa>> passed =
      yielded(condition.getArgs(), nothing, op);
  if (failed(flag) || failed(passed))
    return failure();
  print.line(
      "scf.condition(" + flag->name + ")" +
      (passed->empty() ? "" : " " + names(*passed) + " : " + types(*passed)));
  closeScope();
  print.close("} do {");
  print.indentMore();
  scopes.emplace_back();
  std::string block;
  for (auto [argument, result] : llvm::zip(op.getAfterArguments(), results)) {
    std::string name = print.fresh();
    bindCarried(argument, name);
    block += (block.empty() ? "" : ", ") + name + ": " + typeText(result);
  }
  if (!block.empty())
    print.line("^bb0(" + block + "):");
  for (Operation &inner : op.getAfterBody()->without_terminator())
    if (failed(emit(&inner)))
      return failure();
  FailureOr<SmallVector<Ssa>> next =
      yielded(op.getYieldOp().getOperands(), nothing, op);
  if (failed(next))
    return failure();
  print.line("scf.yield " + names(*next) + " : " + types(*next));
  closeScope();
  --loopDepth;
  print.close();
  for (auto [i, result] : llvm::enumerate(op.getResults()))
    bindCarried(result, resultName(base, i, results.size()));
  return success();
}

//===----------------------------------------------------------------------===//
// One op
//===----------------------------------------------------------------------===//

LogicalResult KernelBuilder::emit(Operation *op) {
  if (isa<linalg::LinalgOp>(op))
    return emitLinalg(cast<linalg::LinalgOp>(op));
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](arith::ConstantOp constant) -> LogicalResult {
        auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
        if (!dense) {
          bind(op->getResult(0),
               print.constant(cast<TypedAttr>(constant.getValue())));
          return success();
        }
        SmallVector<int64_t> extents(dense.getType().getShape());
        if (!dense.isSplat())
          return refuse(op, "a tensor of several constants inside of a block; "
                            "define it outside of the scf.forall");
        bind(op->getResult(0),
             Tile{print.constant(dense.getSplatValue<TypedAttr>(),
                                 paddedShape(extents)),
                  extents});
        return success();
      })
      .Case([&](tensor::EmptyOp empty) {
        View view;
        view.root = &roots.emplace_back();
        for (int64_t size : empty.getType().getShape())
          view.dimensions.push_back({size, 0, {}});
        view.root->readPointer.element =
            elementInText(empty.getType().getElementType());
        bind(empty.getResult(), view);
        return success();
      })
      .Case(
          [&](tensor::ExtractSliceOp slice) { return emitExtractSlice(slice); })
      .Case([&](tensor::InsertSliceOp slice) { return emitInsertSlice(slice); })
      .Case([&](tensor::ExtractOp extract) { return emitExtract(extract); })
      .Case<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp>(
          [&](auto) { return emitReshape(op); })
      .Case([&](tensor::FromElementsOp elements) -> LogicalResult {
        if (elements.getElements().size() != 1)
          return refuse(op, "several elements");
        FailureOr<Ssa> scalar = scalarOf(elements.getElements()[0], op);
        if (failed(scalar))
          return failure();
        SmallVector<int64_t> extents(elements.getType().getShape());
        bind(elements, Tile{print.broadcast(*scalar, extents), extents, true});
        return success();
      })
      .Case([&](tensor::SplatOp splat) -> LogicalResult {
        if (!splat.getType().hasStaticShape())
          return refuse(op, "a dynamic shape");
        FailureOr<Ssa> scalar = scalarOf(splat.getInput(), op);
        if (failed(scalar))
          return failure();
        SmallVector<int64_t> extents(splat.getType().getShape());
        bind(splat,
             Tile{print.broadcast(*scalar, paddedShape(extents)), extents});
        return success();
      })
      .Case([&](tensor::DimOp dim) -> LogicalResult {
        std::optional<int64_t> index = dim.getConstantIndex();
        if (!index)
          return refuse(op, "a dimension that is not constant");
        auto type = cast<RankedTensorType>(dim.getSource().getType());
        if (!type.isDynamicDim(*index)) {
          bind(dim, print.constant(print.i64(), type.getDimSize(*index)));
          return success();
        }
        FailureOr<View> view = viewOf(dim.getSource(), op);
        if (failed(view))
          return failure();
        bind(dim, view->dimensions[*index].dynamicSize);
        return success();
      })
      .Case([&](block::GatherOp gather) { return emitGather(gather); })
      .Case([&](block::ScatterOp scatter) { return emitScatter(scatter); })
      .Case([&](block::ScanOp scan) { return emitScan(scan); })
      .Case([&](block::SolveTriangularOp solve) { return emitSolve(solve); })
      .Case([&](scf::ForOp loop) { return emitFor(loop); })
      .Case([&](scf::IfOp branch) { return emitIf(branch); })
      .Case([&](scf::WhileOp loop) { return emitWhile(loop); })
      .Case<affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp>(
          [&](auto apply) -> LogicalResult {
            AffineMap map = apply.getAffineMap();
            SmallVector<Ssa> operands;
            for (Value operand : op->getOperands()) {
              FailureOr<Ssa> scalar = scalarOf(operand, op);
              if (failed(scalar))
                return failure();
              operands.push_back(*scalar);
            }
            auto dimensions = ArrayRef(operands).take_front(map.getNumDims());
            auto symbols = ArrayRef(operands).drop_front(map.getNumDims());
            Ssa out;
            for (AffineExpr expression : map.getResults()) {
              FailureOr<Ssa> value =
                  emitAffine(expression, dimensions, symbols, op);
              if (failed(value))
                return failure();
              bool isMax = isa<affine::AffineMaxOp>(op);
              out = out ? print.same(isMax ? "arith.maxsi" : "arith.minsi",
                                     {out, *value})
                        : *value;
            }
            bind(op->getResult(0), out);
            return success();
          })
      .Default([&](Operation *) -> LogicalResult {
        if (isa<scf::ForallOp>(op))
          return refuse(op, "blocks inside of a block");
        if (isa<linalg::AggregatedOpInterface>(op))
          return refuse(op, "it is made of loops over single elements");
        if (!isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) ||
            op->getNumResults() != 1)
          return refuse(op, "it has no counterpart");
        SmallVector<Ssa> operands;
        SmallVector<int64_t> extents;
        if (auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType()))
          extents.assign(type.getShape().begin(), type.getShape().end());
        for (Value operand : op->getOperands()) {
          FailureOr<Tile> tile = tileOf(operand, op);
          if (failed(tile))
            return failure();
          operands.push_back(tile->value);
        }
        FailureOr<Ssa> result = emitElementwise(op, operands);
        if (failed(result))
          return failure();
        if (isa<RankedTensorType>(op->getResult(0).getType()))
          bind(op->getResult(0), Tile{*result, extents});
        else
          bind(op->getResult(0), *result);
        return success();
      });
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

LogicalResult KernelBuilder::emitStores(scf::ForallOp forall) {
  bool waited = false;
  for (Operation &op : forall.getTerminator().getYieldingOps()) {
    auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(op);
    if (!insert)
      return refuse(&op, "only slices are stored");
    FailureOr<View> root = viewOf(insert.getDest(), insert);
    FailureOr<Entry> source = entryOf(insert.getSource(), insert);
    if (failed(root) || failed(source))
      return failure();
    if (auto *view = std::get_if<View>(&*source);
        view && view->root->writable && view->version > 0) {
      // What is stored was kept in memory: it must stand where it belongs.
      auto slice =
          dyn_cast_or_null<OffsetSizeAndStrideOpInterface>(view->slice);
      if (view->root != root->root || view->version != view->root->version ||
          !slice || view->sliceDepth != 1 ||
          slice.getMixedOffsets() != insert.getMixedOffsets() ||
          slice.getMixedStrides() != insert.getMixedStrides())
        return refuse(insert, "a tensor that is kept in memory is stored "
                              "elsewhere than where it was taken from");
      continue;
    }
    FailureOr<Tile> tile = tileOf(insert.getSource(), insert);
    if (failed(tile))
      return failure();
    View whole = *root;
    whole.version = whole.root->version;
    FailureOr<View> slot =
        sliceOfView(cast<OffsetSizeAndStrideOpInterface>(&op), whole,
                    insert.getDroppedDims());
    if (failed(slot))
      return failure();
    // Another thread may still have to read what was there.
    bool inPlace =
        slot->root->readPointer.name == slot->root->writePointer.name;
    if (inPlace && slot->root->wasRead && !waited) {
      print.barrier();
      waited = true;
    }
    if (failed(store(*slot, *tile, {}, insert)))
      return failure();
  }
  return success();
}

/// The number of blocks; nothing where it is not constant.
static std::optional<int64_t> countBlocks(scf::ForallOp op) {
  int64_t count = 1;
  for (auto [lower, upper, step] :
       llvm::zip(op.getMixedLowerBound(), op.getMixedUpperBound(),
                 op.getMixedStep())) {
    std::optional<int64_t> l = getConstantIntValue(lower);
    std::optional<int64_t> u = getConstantIntValue(upper);
    std::optional<int64_t> s = getConstantIntValue(step);
    if (!l || !u || !s)
      return std::nullopt;
    count *= std::max<int64_t>(0, llvm::divideCeilSigned(*u - *l, *s));
  }
  return count;
}

LogicalResult KernelBuilder::emitPiece(const Piece &piece, Ssa id) {
  scf::ForallOp op = piece.forall;
  forall = op;
  // Blocks are numbered with the last dimension running fastest.
  for (int64_t i = op.getRank() - 1; i >= 0; --i) {
    int64_t lower = *getConstantIntValue(op.getMixedLowerBound()[i]);
    int64_t upper = *getConstantIntValue(op.getMixedUpperBound()[i]);
    int64_t step = *getConstantIntValue(op.getMixedStep()[i]);
    Ssa own = id;
    if (i > 0) {
      Ssa count = print.constant(print.i64(),
                                 llvm::divideCeilSigned(upper - lower, step));
      own = print.same("arith.remsi", {id, count});
      id = print.same("arith.divsi", {id, count});
    }
    if (step != 1)
      own = print.same("arith.muli", {own, print.constant(print.i64(), step)});
    if (lower != 0)
      own = print.same("arith.addi", {own, print.constant(print.i64(), lower)});
    bind(op.getInductionVar(i), own);
  }
  for (auto [output, argument] :
       llvm::zip(piece.outputs, op.getRegionIterArgs())) {
    Root &root = roots.emplace_back();
    root.host = output.initial;
    root.writable = true;
    root.covered = output.covered;
    root.writePointer = pointerTo(output.result.buffer);
    root.readPointer = output.initial.kind == HostView::Kind::Buffer
                           ? pointerTo(output.initial.buffer)
                           : Ssa{};
    root.readPointer.element =
        output.initial.kind == HostView::Kind::Buffer
            ? root.writePointer.element
            : elementInText(
                  cast<ShapedType>(argument.getType()).getElementType());
    View view;
    view.root = &root;
    view.offset = output.result.offset;
    view.isBit =
        cast<ShapedType>(argument.getType()).getElementType().isInteger(1);
    for (auto [size, stride] :
         llvm::zip(output.result.shape, output.result.strides))
      view.dimensions.push_back({size, stride, {}});
    bind(argument, view);
  }
  for (Operation &inner : op.getBody()->without_terminator())
    if (failed(emit(&inner)))
      return failure();
  return emitStores(op);
}

FailureOr<TtirKernel> KernelBuilder::build(ArrayRef<Piece> pieces,
                                           StringRef name) {
  TtirKernel kernel;
  kernel.name = name.str();
  kernel.grid = 0;
  bool failedAny = false;
  Ssa id = print.convertInteger(print.programId(), print.i64());
  for (const Piece &piece : pieces) {
    std::optional<int64_t> count = countBlocks(piece.forall);
    if (!count)
      return refuse(piece.forall, "the number of blocks is not constant");
    if (*count < 1 || *count > std::numeric_limits<int32_t>::max())
      return refuse(piece.forall, "the number of blocks is " + Twine(*count));
    Ssa own = id;
    if (pieces.size() > 1) {
      Ssa start = print.constant(print.i64(), kernel.grid);
      Ssa isHere = print.both(
          print.compare("arith.cmpi", "sge", id, start),
          print.compare("arith.cmpi", "slt", id,
                        print.constant(print.i64(), kernel.grid + *count)));
      print.open("scf.if " + isHere.name + " {");
      own = print.same("arith.subi", {id, start});
    }
    scopes.emplace_back();
    // The other pieces are still looked at, for what else is refused.
    failedAny |= failed(emitPiece(piece, own));
    while (!scopes.empty())
      closeScope();
    loopDepth = 0;
    if (pieces.size() > 1)
      print.close();
    kernel.grid += *count;
  }
  if (failedAny)
    return failure();
  if (print.largestTensor() > kMaxElements)
    return refuse(forall, "a tile of " + Twine(print.largestTensor()) +
                              " elements, above Triton's limit of " +
                              Twine(kMaxElements));

  std::string head;
  for (auto [parameter, ssa] : llvm::zip(parameters, parameterNames))
    head += (head.empty() ? "" : ", ") + ssa.name + ": " + typeText(ssa) +
            (parameter.isBuffer ? " {tt.divisibility = 16 : i32}" : "");
  kernel.text = "module {\n  tt.func public @" + kernel.name + "(" + head +
                ") {\n" + print.body() + "    tt.return\n  }\n}\n";
  kernel.parameters = parameters;
  int64_t elements = print.largestTensor();
  kernel.warps = elements <= 256 ? 1 : elements <= 1024 ? 2 : 4;
  if (elements > 8192)
    kernel.warps = 8;
  if (print.hasDots())
    kernel.warps = std::max<int64_t>(kernel.warps, 4);
  return kernel;
}
