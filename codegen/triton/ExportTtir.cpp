//===- ExportTtir.cpp - block programs as Triton kernels ------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between kernels there is memory: this file decides which tensor lies in which
// buffer, and which kernels may work in place.
//
//===----------------------------------------------------------------------===//

#include "codegen/triton/ExportTtir.h"
#include "codegen/triton/KernelBuilder.h"
#include "codegen/triton/Prepare.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace drawloom;
using namespace drawloom::triton;

/// Pieces of work that share a kernel: ops of one, and how many.
static constexpr int64_t kSmallOps = 80;
static constexpr size_t kPieces = 32;

static std::string text(Type type) {
  std::string out;
  llvm::raw_string_ostream(out) << type;
  return out;
}

namespace {
/// Exports one function, kernel by kernel.
class FunctionExport {
public:
  FunctionExport(func::FuncOp function, const TtirOptions &options)
      : function(function), options(options) {
    result.name = function.getName().str();
  }
  FailureOr<TtirFunction> run();

private:
  int64_t addBuffer(TtirBuffer::Kind kind, int64_t index,
                    RankedTensorType type);
  LogicalResult addView(Operation *op);
  LogicalResult addKernel(scf::ForallOp forall);
  LogicalResult flush();
  void addReads(Value value, llvm::DenseSet<int64_t> &reads);
  FailureOr<KernelBuilder::Output> place(scf::ForallOp forall, unsigned i);
  bool isReadAfter(int64_t buffer, scf::ForallOp forall, Value init);

  func::FuncOp function;
  const TtirOptions &options;
  TtirFunction result;
  DenseMap<Value, HostView> views;
  /// The pieces of the next kernel, and the buffers that they touch.
  std::vector<KernelBuilder::Piece> pending;
  llvm::DenseSet<int64_t> pendingReads, pendingWrites;
};
} // namespace

int64_t FunctionExport::addBuffer(TtirBuffer::Kind kind, int64_t index,
                                  RankedTensorType type) {
  TtirBuffer buffer;
  buffer.kind = kind;
  buffer.index = index;
  buffer.shape.assign(type.getShape().begin(), type.getShape().end());
  buffer.element = text(type.getElementType());
  result.buffers.push_back(buffer);
  return result.buffers.size() - 1;
}

LogicalResult FunctionExport::addView(Operation *op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  HostView view;
  view.shape.assign(type.getShape().begin(), type.getShape().end());
  view.strides.assign(type.getRank(), 0);
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!dense)
      return op->emitError("no TTIR for a constant that is not dense");
    if (dense.isSplat()) {
      view.kind = HostView::Kind::Splat;
      view.splatAttribute = cast<TypedAttr>(dense.getSplatValue<Attribute>());
    } else {
      if (type.getElementType().isInteger(1))
        return op->emitError("no TTIR for a tensor of several i1 constants");
      view = HostView::whole(addBuffer(TtirBuffer::Kind::Constant, 0, type),
                             type.getShape());
      ArrayRef<char> bytes = dense.getRawData();
      result.buffers.back().data.assign(bytes.begin(), bytes.end());
    }
  } else if (auto fill = dyn_cast<linalg::FillOp>(op)) {
    view.kind = HostView::Kind::Splat;
    view.splat = fill.value();
  } else if (!isa<tensor::EmptyOp>(op)) {
    const HostView &source = views.at(op->getOperand(0));
    SmallVector<int64_t> extents = view.shape;
    view = source;
    view.shape = extents;
    if (source.kind != HostView::Kind::Buffer) {
      view.strides.assign(extents.size(), 0);
    } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      llvm::SmallBitVector dropped = slice.getDroppedDims();
      view.strides.clear();
      for (auto [i, offset, stride] : llvm::enumerate(
               slice.getStaticOffsets(), slice.getStaticStrides())) {
        if (ShapedType::isDynamic(offset) || ShapedType::isDynamic(stride))
          return op->emitError("no TTIR for 'tensor.extract_slice': between "
                               "blocks, its place is not constant");
        view.offset += offset * source.strides[i];
        if (!dropped[i])
          view.strides.push_back(stride * source.strides[i]);
      }
    } else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
      std::optional<SmallVector<int64_t>> strides = collapsedStrides(
          source.shape, source.strides, collapse.getReassociationIndices());
      if (!strides) {
        // Not contiguous: a copy is.
        Value copy = copyByBlocks(op, op->getOperand(0));
        for (Operation *next = copy.getDefiningOp(); next; next = nullptr) {
          if (auto empty = copy.getDefiningOp<scf::ForallOp>()
                               .getOutputs()[0]
                               .getDefiningOp())
            if (failed(addView(empty)))
              return failure();
          if (failed(addKernel(cast<scf::ForallOp>(next))))
            return failure();
        }
        op->setOperand(0, copy);
        return addView(op);
      }
      view.strides = *strides;
    } else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
      view.strides = expandedStrides(source.strides, extents,
                                     expand.getReassociationIndices());
    }
  }
  if (ShapedType::isDynamicShape(type.getShape()) &&
      view.kind == HostView::Kind::Buffer)
    return op->emitError("no TTIR for '")
           << op->getName() << "': a dynamic shape between blocks";
  views[op->getResult(0)] = view;
  return success();
}

/// An offset that is a multiple of one block number: the number and the factor.
static std::optional<std::pair<Value, int64_t>>
blockMultiple(Value offset, scf::ForallOp forall) {
  if (llvm::is_contained(forall.getInductionVars(), offset))
    return std::pair(offset, int64_t(1));
  if (auto product = offset.getDefiningOp<arith::MulIOp>()) {
    std::optional<int64_t> factor = getConstantIntValue(product.getRhs());
    if (factor &&
        llvm::is_contained(forall.getInductionVars(), product.getLhs()))
      return std::pair(product.getLhs(), *factor);
  }
  if (auto apply = offset.getDefiningOp<affine::AffineApplyOp>()) {
    AffineMap map = apply.getAffineMap();
    if (map.getNumInputs() != 1 ||
        !llvm::is_contained(forall.getInductionVars(), apply->getOperand(0)))
      return std::nullopt;
    AffineExpr input = map.getNumDims()
                           ? getAffineDimExpr(0, map.getContext())
                           : getAffineSymbolExpr(0, map.getContext());
    AffineExpr out = map.getResult(0);
    if (out == input)
      return std::pair(apply->getOperand(0), int64_t(1));
    if (auto product = dyn_cast<AffineBinaryOpExpr>(out);
        product && product.getKind() == AffineExprKind::Mul &&
        product.getLHS() == input)
      if (auto factor = dyn_cast<AffineConstantExpr>(product.getRHS()))
        return std::pair(apply->getOperand(0), factor.getValue());
  }
  return std::nullopt;
}

/// Whether the stores of a result write each of its elements.
static bool coversAll(scf::ForallOp forall, unsigned output) {
  BlockArgument argument = forall.getRegionIterArgs()[output];
  for (Operation &op : forall.getTerminator().getYieldingOps()) {
    auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(op);
    if (!insert || insert.getDest() != argument)
      continue;
    // Tensors in memory may be written in part.
    Value source = insert.getSource();
    if (auto loop = source.getDefiningOp<scf::ForOp>())
      source =
          loop.getYieldedValues()[cast<OpResult>(source).getResultNumber()];
    auto slice = source.getDefiningOp<tensor::ExtractSliceOp>();
    bool ofOutput = slice && isa<BlockArgument>(slice.getSource());
    if (!insert.getSourceType().hasStaticShape() || ofOutput ||
        (!slice && !source.getDefiningOp<linalg::LinalgOp>()))
      return false;
    auto type = cast<RankedTensorType>(argument.getType());
    llvm::SmallPtrSet<Value, 4> used;
    for (auto [i, offset, size] :
         llvm::enumerate(insert.getMixedOffsets(), insert.getMixedSizes())) {
      std::optional<int64_t> extent = getConstantIntValue(size);
      if (!extent)
        return false;
      if (getConstantIntValue(offset) == 0 && *extent == type.getDimSize(i))
        continue;
      auto value = dyn_cast<Value>(offset);
      auto multiple = value ? blockMultiple(value, forall) : std::nullopt;
      if (!multiple || !used.insert(multiple->first).second)
        return false;
      unsigned dimension = cast<BlockArgument>(multiple->first).getArgNumber();
      std::optional<int64_t> lower =
          getConstantIntValue(forall.getMixedLowerBound()[dimension]);
      std::optional<int64_t> upper =
          getConstantIntValue(forall.getMixedUpperBound()[dimension]);
      std::optional<int64_t> step =
          getConstantIntValue(forall.getMixedStep()[dimension]);
      if (lower != 0 || !upper || !step ||
          *extent != multiple->second * *step ||
          multiple->second * *upper < type.getDimSize(i))
        return false;
    }
    return true;
  }
  return false;
}

/// Whether a block reads only that part of a result's initial value that it
/// stores to.
static bool readsOwnPart(scf::ForallOp forall, unsigned output) {
  BlockArgument argument = forall.getRegionIterArgs()[output];
  tensor::ParallelInsertSliceOp store;
  for (Operation &op : forall.getTerminator().getYieldingOps())
    if (auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(op);
        insert && insert.getDest() == argument)
      store = insert;
  for (Operation *user : argument.getUsers()) {
    if (user == store)
      continue;
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    if (!slice || !store ||
        slice.getMixedOffsets() != store.getMixedOffsets() ||
        slice.getMixedSizes() != store.getMixedSizes() ||
        slice.getMixedStrides() != store.getMixedStrides()) {
      // A single block stores everything that it reads.
      bool single = llvm::all_of(llvm::zip(forall.getMixedLowerBound(),
                                           forall.getMixedUpperBound(),
                                           forall.getMixedStep()),
                                 [](auto bounds) {
                                   auto [lower, upper, step] = bounds;
                                   return getConstantIntValue(lower) == 0 &&
                                          getConstantIntValue(upper) == 1 &&
                                          getConstantIntValue(step) == 1;
                                 });
      if (!single)
        return false;
    }
  }
  return true;
}

bool FunctionExport::isReadAfter(int64_t buffer, scf::ForallOp forall,
                                 Value init) {
  Block &block = function.getBody().front();
  for (auto &[value, view] : views) {
    if (view.kind != HostView::Kind::Buffer || view.buffer != buffer)
      continue;
    for (OpOperand &use : value.getUses()) {
      Operation *user = block.findAncestorOpInBlock(*use.getOwner());
      // Scalars are read by whichever kernel uses them.
      if (isa_and_nonnull<tensor::ExtractOp>(user))
        return true;
      if (!user || forall->isBeforeInBlock(user))
        return true;
      if (user != forall || (use.getOwner() == forall && value == init))
        continue;
      return true;
    }
  }
  return false;
}

FailureOr<KernelBuilder::Output> FunctionExport::place(scf::ForallOp forall,
                                                       unsigned i) {
  Value init = forall.getOutputs()[i];
  auto type = dyn_cast<RankedTensorType>(init.getType());
  if (!type || !type.hasStaticShape())
    return forall.emitError("no TTIR for 'scf.forall': a result of dynamic "
                            "shape");
  if (type.getNumElements() == 0)
    return forall.emitError("no TTIR for 'scf.forall': a result without "
                            "elements");
  KernelBuilder::Output output;
  output.initial = views.at(init);
  output.covered = coversAll(forall, i);
  bool usesTwice = llvm::count(forall.getOutputs(), init) > 1;
  bool isRead = llvm::any_of(forall.getRegionIterArgs()[i].getUsers(),
                             [](Operation *user) {
                               return !isa<tensor::ParallelInsertSliceOp>(user);
                             });
  switch (output.initial.kind) {
  case HostView::Kind::Undefined:
    break;
  case HostView::Kind::Splat:
    if (output.covered)
      break;
    [[fallthrough]];
  case HostView::Kind::Buffer: {
    HostView whole = HostView::whole(output.initial.buffer, type.getShape());
    bool isWhole = output.initial.kind == HostView::Kind::Buffer &&
                   output.initial.offset == 0 &&
                   whole.strides == output.initial.strides &&
                   ShapedType::getNumElements(
                       result.buffers[output.initial.buffer].shape) ==
                       type.getNumElements();
    bool reusable = isWhole &&
                    result.buffers[output.initial.buffer].kind ==
                        TtirBuffer::Kind::Temporary &&
                    !usesTwice && readsOwnPart(forall, i) &&
                    !isReadAfter(output.initial.buffer, forall, init);
    if (output.covered && !(reusable && isRead)) {
      // In a block, an output is what it was before any block: what is read of
      // it can be read from there.
      for (Operation *user :
           llvm::make_early_inc_range(forall.getRegionIterArgs()[i].getUsers()))
        if (auto slice = dyn_cast<tensor::ExtractSliceOp>(user))
          slice.getSourceMutable().assign(init);
      output.initial = {};
      break;
    }
    if (reusable) {
      output.inPlace = true;
      output.result = output.initial;
      return output;
    }
    if (isRead && !readsOwnPart(forall, i))
      return forall.emitError("no TTIR for 'scf.forall': blocks read the "
                              "initial value of result ")
             << i << " where other blocks store";
    // A copy of its own, which it may overwrite.
    Value copy = copyByBlocks(forall, init);
    auto copying = copy.getDefiningOp<scf::ForallOp>();
    if (failed(addView(copying.getOutputs()[0].getDefiningOp())) ||
        failed(addKernel(copying)))
      return failure();
    forall.getOutputsMutable()[i].set(copy);
    output.inPlace = true;
    output.initial = output.result = views.at(copy);
    return output;
  }
  }
  output.result = HostView::whole(
      addBuffer(TtirBuffer::Kind::Temporary, 0, type), type.getShape());
  return output;
}

/// Whether a forall may share a kernel with others: little straight-line work.
static bool isSmall(scf::ForallOp forall) {
  int64_t ops = 0;
  WalkResult result = forall.getBody()->walk([&](Operation *op) {
    bool isProduct =
        isa<linalg::LinalgOp>(op) &&
        linalg::isaContractionOpInterface(cast<linalg::LinalgOp>(op));
    if (isProduct || isa<LoopLikeOpInterface>(op) || ++ops > kSmallOps)
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return !result.wasInterrupted();
}

/// The buffers that a value is read from by a kernel: its own, or those that
/// scalars are computed from.
void FunctionExport::addReads(Value value, llvm::DenseSet<int64_t> &reads) {
  if (auto found = views.find(value); found != views.end()) {
    const HostView &view = found->second;
    if (view.kind == HostView::Kind::Buffer)
      reads.insert(view.buffer);
    else if (view.splat)
      addReads(view.splat, reads);
    return;
  }
  Operation *op = value.getDefiningOp();
  if (op && op->getBlock() == &function.getBody().front())
    for (Value operand : op->getOperands())
      addReads(operand, reads);
}

LogicalResult FunctionExport::flush() {
  if (pending.empty())
    return success();
  KernelBuilder builder(result.buffers, views, function, options);
  FailureOr<TtirKernel> kernel = builder.build(
      pending, result.name + "_" + std::to_string(result.kernels.size()));
  pending.clear();
  pendingReads.clear();
  pendingWrites.clear();
  if (failed(kernel))
    return failure();
  result.kernels.push_back(*kernel);
  return success();
}

LogicalResult FunctionExport::addKernel(scf::ForallOp forall) {
  KernelBuilder::Piece piece{forall, {}};
  for (unsigned i = 0; i < forall.getNumResults(); ++i) {
    FailureOr<KernelBuilder::Output> output = place(forall, i);
    if (failed(output)) {
      // Later kernels are still looked at, for what else is refused.
      for (Value value : forall.getResults())
        views[value] = HostView();
      return failure();
    }
    piece.outputs.push_back(*output);
  }
  llvm::DenseSet<int64_t> reads, writes;
  forall->walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      addReads(operand, reads);
  });
  for (const KernelBuilder::Output &output : piece.outputs) {
    writes.insert(output.result.buffer);
    if (output.initial.kind == HostView::Kind::Buffer)
      reads.insert(output.initial.buffer);
  }
  auto meets = [](const llvm::DenseSet<int64_t> &a,
                  const llvm::DenseSet<int64_t> &b) {
    return llvm::any_of(a, [&](int64_t buffer) { return b.contains(buffer); });
  };
  bool small = isSmall(forall);
  bool ordered = meets(reads, pendingWrites) || meets(writes, pendingWrites) ||
                 meets(writes, pendingReads);
  bool failedBefore =
      (!small || ordered || pending.size() == kPieces) && failed(flush());
  for (auto [value, output] : llvm::zip(forall.getResults(), piece.outputs))
    views[value] = output.result;
  pending.push_back(std::move(piece));
  pendingReads.insert(reads.begin(), reads.end());
  pendingWrites.insert(writes.begin(), writes.end());
  return failure(failedBefore || (!small && failed(flush())));
}

/// Puts work that nothing orders side by side, what may share a kernel first.
static void sortByDependence(func::FuncOp function) {
  Block &block = function.getBody().front();
  DenseMap<Operation *, int64_t> levels;
  SmallVector<std::pair<std::pair<int64_t, int64_t>, Operation *>> order;
  for (Operation &op : block.without_terminator()) {
    int64_t level = 0;
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *definition = operand.getDefiningOp();
            definition && definition->getBlock() == &block)
          level = std::max(level, levels.lookup(definition));
    });
    auto forall = dyn_cast<scf::ForallOp>(op);
    levels[&op] = level + (forall ? 1 : 0);
    order.push_back({{levels[&op], !forall           ? 2
                                   : isSmall(forall) ? 0
                                                     : 1},
                     &op});
  }
  llvm::stable_sort(
      order, [](const auto &a, const auto &b) { return a.first < b.first; });
  for (auto &[key, op] : order)
    op->moveBefore(block.getTerminator());
}

FailureOr<TtirFunction> FunctionExport::run() {
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type) {
      if (!argument.getType().isIntOrIndexOrFloat())
        return function.emitError("no TTIR for an argument of type ")
               << argument.getType();
      continue;
    }
    if (!type.hasStaticShape())
      return function.emitError("no TTIR for an argument of dynamic shape: ")
             << type;
    views[argument] = HostView::whole(
        addBuffer(TtirBuffer::Kind::Argument, argument.getArgNumber(), type),
        type.getShape());
  }
  if (failed(blockAllWork(function)))
    return failure();
  sortByDependence(function);
  bool failedAny = false;
  // Copies that place() adds stand in front of the op that is at work.
  for (Operation &op : function.getBody().front().without_terminator()) {
    if (auto forall = dyn_cast<scf::ForallOp>(op)) {
      if (!forall.getNumResults() || !views.count(forall.getResult(0)))
        failedAny |= failed(addKernel(forall));
      continue;
    }
    if (op.getNumResults() != 1 ||
        !isa<TensorType>(op.getResult(0).getType()) ||
        views.count(op.getResult(0)))
      continue;
    failedAny |= failed(addView(&op));
  }
  failedAny |= failed(flush());
  if (failedAny)
    return failure();
  Operation *terminator = function.getBody().front().getTerminator();
  for (auto [i, value] : llvm::enumerate(terminator->getOperands())) {
    TtirBuffer &buffer = result.buffers[views.at(value).buffer];
    buffer.kind = TtirBuffer::Kind::Result;
    buffer.index = i;
  }
  return result;
}

FailureOr<std::vector<TtirFunction>>
triton::exportTtir(ModuleOp module, const TtirOptions &options) {
  StringRef entry = options.entry;
  if (!llvm::is_contained({"ieee", "tf32", "tf32x3"},
                          StringRef(options.dotPrecision)))
    return module.emitError("there is no precision of products '")
           << options.dotPrecision << "': ieee, tf32, tf32x3";
  OwningOpRef<ModuleOp> copy = module.clone();
  if (failed(simplifyForTtir(*copy)))
    return failure();
  std::vector<TtirFunction> out;
  bool failedAny = false;
  for (func::FuncOp function : copy->getOps<func::FuncOp>()) {
    if (entry.empty() ? !function.isPublic() || function.isExternal()
                      : function.getName() != entry)
      continue;
    FailureOr<TtirFunction> exported = FunctionExport(function, options).run();
    failedAny |= failed(exported);
    if (succeeded(exported))
      out.push_back(std::move(*exported));
  }
  if (failedAny)
    return failure();
  if (out.empty())
    return module.emitError("no public function to export")
           << (entry.empty() ? "" : " is named '" + entry.str() + "'");
  return out;
}

//===----------------------------------------------------------------------===//
// Description
//===----------------------------------------------------------------------===//

static llvm::json::Value toJson(const TtirFunction &function) {
  static const char *const kinds[] = {"argument", "result", "temporary",
                                      "constant"};
  llvm::json::Array buffers, kernels;
  for (const TtirBuffer &buffer : function.buffers) {
    llvm::json::Object object{{"kind", kinds[int(buffer.kind)]},
                              {"index", buffer.index},
                              {"shape", llvm::json::Array(buffer.shape)},
                              {"element", buffer.element}};
    if (buffer.kind == TtirBuffer::Kind::Constant)
      object["data"] = llvm::toHex(buffer.data, /*LowerCase=*/true);
    buffers.push_back(std::move(object));
  }
  for (const TtirKernel &kernel : function.kernels) {
    llvm::json::Array parameters;
    for (const TtirParameter &parameter : kernel.parameters)
      parameters.push_back(llvm::json::Object{
          {parameter.isBuffer ? "buffer" : "argument", parameter.index},
          {"type", parameter.type}});
    kernels.push_back(
        llvm::json::Object{{"name", kernel.name},
                           {"grid", llvm::json::Array{kernel.grid, 1, 1}},
                           {"num_warps", kernel.warps},
                           {"num_stages", kernel.stages},
                           {"parameters", std::move(parameters)},
                           {"ttir", kernel.text}});
  }
  return llvm::json::Object{{"name", function.name},
                            {"buffers", std::move(buffers)},
                            {"kernels", std::move(kernels)}};
}

llvm::json::Value triton::toJson(ArrayRef<TtirFunction> functions) {
  llvm::json::Array array;
  for (const TtirFunction &function : functions)
    array.push_back(::toJson(function));
  return llvm::json::Object{{"functions", std::move(array)}};
}
