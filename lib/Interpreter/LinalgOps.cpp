//===- LinalgOps.cpp - structured operations ------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/Access.h"
#include "lib/Interpreter/PointBody.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <cmath>

using namespace mlir;

namespace drawloom::interpreter {

namespace {
struct PreparedLinalg : Prepared {
  SmallVector<AffineMap> maps;
  AffineMap shapesToLoops;
  PointBody body;
};

/// One execution of a LinalgOp.
class LinalgRun {
public:
  LinalgRun(Call &call)
      : call(call), op(call.as<linalg::LinalgOp>()),
        prepared(call.prepared<PreparedLinalg>()) {}
  LogicalResult run();

private:
  LogicalResult findExtents();
  LogicalResult findAccesses();
  LogicalResult loop();
  LogicalResult inner(PointBody::Evaluator &evaluator,
                      MutableArrayRef<int64_t> point);
  void innerMultiplyAdd(const std::array<unsigned, 3> &arguments);

  Call &call;
  linalg::LinalgOp op;
  PreparedLinalg &prepared;
  SmallVector<HostTensor, 4> values;
  SmallVector<int64_t, 6> extents;
  SmallVector<Access, 4> accesses;
};
} // namespace

static FailureOr<std::shared_ptr<Prepared>> prepareLinalg(Operation *operation,
                                                          Compiler &compiler) {
  auto op = cast<linalg::LinalgOp>(operation);
  auto prepared = std::make_shared<PreparedLinalg>();
  prepared->maps = op.getIndexingMapsArray();
  prepared->shapesToLoops = op.getShapesToLoopsMap();
  if (!prepared->shapesToLoops)
    return operation->emitOpError(
        "has loops whose extents do not follow from the operands' shapes");
  FailureOr<PointBody> body = PointBody::prepare(*op.getBlock(), compiler);
  if (failed(body))
    return failure();
  prepared->body = std::move(*body);
  return std::shared_ptr<Prepared>(std::move(prepared));
}

LogicalResult LinalgRun::findExtents() {
  SmallVector<int64_t> shapes;
  for (const HostTensor &value : values)
    llvm::append_range(shapes, value.shape());
  for (AffineExpr expr : prepared.shapesToLoops.getResults()) {
    std::optional<int64_t> extent = evaluateAffine(expr, shapes, {});
    if (!extent || *extent < 0)
      return call.error() << "has no defined loop extents";
    extents.push_back(*extent);
  }
  return success();
}

LogicalResult LinalgRun::findAccesses() {
  bool empty = llvm::is_contained(extents, 0);
  for (auto [i, value] : llvm::enumerate(values)) {
    AffineMap map = prepared.maps[i];
    if (map.getNumResults() != value.rank())
      return call.error() << "operand #" << i << " has rank " << value.rank()
                          << ", but its indexing map has "
                          << map.getNumResults() << " results";
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (loop && extents[loop.getPosition()] != value.dim(dim))
        return call.error()
               << "operand #" << i << " has size " << value.dim(dim)
               << " in dimension " << dim << ", but the loop over it has "
               << extents[loop.getPosition()] << " iterations";
    }
    accesses.push_back(Access::create(map, value.shape(), extents));
    if (empty)
      continue;
    if (std::optional<Access::OutOfRange> bad = accesses.back().outOfRange())
      return call.error() << "operand #" << i << " is accessed at index "
                          << bad->index << " of dimension " << bad->dim
                          << ", whose size is " << value.dim(bad->dim);
  }
  return success();
}

/// The innermost loop of a contraction; most of the time of whole programs is
/// spent here.
void LinalgRun::innerMultiplyAdd(const std::array<unsigned, 3> &arguments) {
  auto [ia, ib, ic] = arguments;
  const double *a = accesses[ia].floats() + accesses[ia].position();
  const double *b = accesses[ib].floats() + accesses[ib].position();
  double *c = accesses[ic].mutableFloats() + accesses[ic].position();
  int64_t strideA = accesses[ia].innerStride();
  int64_t strideB = accesses[ib].innerStride();
  int64_t strideC = accesses[ic].innerStride();
  int64_t extent = extents.empty() ? 1 : extents.back();
  for (int64_t k = 0; k < extent; ++k)
    c[k * strideC] += a[k * strideA] * b[k * strideB];
}

LogicalResult LinalgRun::inner(PointBody::Evaluator &evaluator,
                               MutableArrayRef<int64_t> point) {
  unsigned inputs = op.getNumDpsInputs();
  unsigned arguments = prepared.body.numArguments();
  int64_t extent = point.empty() ? 1 : extents.back();
  for (int64_t k = 0; k < extent; ++k) {
    if (!point.empty())
      point.back() = k;
    for (unsigned i = 0; i < arguments; ++i)
      if (prepared.body.reads(i))
        evaluator.argument(i) = accesses[i].load(point);
    if (failed(evaluator.evaluate(point)))
      return failure();
    for (unsigned i = inputs; i < values.size(); ++i)
      accesses[i].store(point, evaluator.yielded(i - inputs));
    for (Access &access : accesses)
      access.step();
  }
  return success();
}

LogicalResult LinalgRun::loop() {
  if (llvm::is_contained(extents, 0))
    return success();
  std::optional<std::array<unsigned, 3>> multiplyAdd =
      prepared.body.multiplyAdd();
  if (!llvm::all_of(accesses, [](Access &access) { return access.linear(); }))
    multiplyAdd = std::nullopt;
  PointBody::Evaluator evaluator(prepared.body, call.machine, call.frame);
  SmallVector<int64_t, 6> point(extents.size(), 0);
  MutableArrayRef<int64_t> outer(point);
  if (!point.empty())
    outer = outer.drop_back();
  do {
    if (!point.empty())
      point.back() = 0;
    for (Access &access : accesses)
      access.moveTo(point);
    if (multiplyAdd)
      innerMultiplyAdd(*multiplyAdd);
    else if (failed(inner(evaluator, point)))
      return failure();
  } while (advance(outer, ArrayRef(extents).take_front(outer.size())));
  return success();
}

LogicalResult LinalgRun::run() {
  // What is in memory is read as a whole before and written back behind.
  SmallVector<std::optional<View>, 4> views;
  unsigned inputs = op.getNumDpsInputs();
  for (auto [i, arg] : llvm::enumerate(call.args)) {
    views.emplace_back();
    if (!isa<MemRefType>(call.op()->getOperand(i).getType())) {
      values.push_back(std::move(arg));
      continue;
    }
    views.back() = call.view(i);
    FailureOr<HostTensor> value = call.machine.read(call.op(), *views.back());
    if (failed(value))
      return failure();
    values.push_back(std::move(*value));
  }
  if (failed(findExtents()) || failed(findAccesses()))
    return failure();
  for (unsigned i = inputs; i < values.size(); ++i)
    accesses[i].bindMutable(values[i]);
  for (unsigned i = 0; i < inputs; ++i)
    accesses[i].bind(values[i]);
  if (failed(loop()))
    return failure();
  for (unsigned i = inputs; i < values.size(); ++i) {
    if (!views[i])
      call.yield(std::move(values[i]));
    else if (failed(call.machine.write(call.op(), *views[i], values[i])))
      return failure();
  }
  return success();
}

static LogicalResult runLinalg(Call &call) { return LinalgRun(call).run(); }

const Handler &linalgHandler() {
  static const Handler handler{runLinalg, prepareLinalg, /*ownsRegions=*/true};
  return handler;
}

static LogicalResult runIndex(Call &call) {
  call.yield(HostTensor::scalar(
      call.machine.point[call.as<linalg::IndexOp>().getDim()]));
  return success();
}

/// exp(x - max x) / sum of the same, along one dimension.
static LogicalResult runSoftmax(Call &call) {
  auto op = call.as<linalg::SoftmaxOp>();
  const HostTensor &input = call.args[0];
  if (input.shape() != call.args[1].shape())
    return call.error() << "has an input of shape " << indexText(input.shape())
                        << " and an output of shape "
                        << indexText(call.args[1].shape());
  HostTensor result = input;
  auto strides = stridesOf(input.shape());
  int64_t dim = op.getDimension(), stride = strides[dim];
  int64_t extent = input.dim(dim);
  SmallVector<int64_t> lines(input.shape()), line(input.rank(), 0);
  lines[dim] = 1;
  MutableArrayRef<double> data = result.mutableF();
  if (input.size() != 0) {
    do {
      double *x = data.data() + input.offset(line);
      double largest = x[0], sum = 0.0;
      // A NaN spreads over its line, as it does in max(x).
      for (int64_t k = 0; k < extent; ++k)
        largest = std::isnan(x[k * stride]) ? x[k * stride]
                                            : std::max(largest, x[k * stride]);
      for (int64_t k = 0; k < extent; ++k)
        sum += x[k * stride] = std::exp(x[k * stride] - largest);
      for (int64_t k = 0; k < extent; ++k)
        x[k * stride] /= sum;
    } while (advance(line, lines));
  }
  if (isa<MemRefType>(op.getInput().getType()))
    return call.error() << "is executed on tensors only";
  call.yield(std::move(result));
  return success();
}

void addLinalgOps(Registry &registry) {
  registry["linalg.index"] = {runIndex};
  registry["linalg.softmax"] = {runSoftmax};
}

} // namespace drawloom::interpreter
