//===- ExpandScans.cpp - recurrent cells, parallel along tokens -----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Interfaces/ScalarBuilder.h"
#include "dialects/LinRec/LinRec.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Differentiate/ReverseMode.h"
#include "passes/Recurrent/Passes.h"
#include <limits>

using namespace mlir;
using drawloom::linrec::NonlinearScanOp;

namespace drawloom {

#define GEN_PASS_DEF_EXPANDSCANS
#include "passes/Recurrent/Passes.h.inc"

using Values = SmallVector<Value>;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

namespace {

/// The Jacobian of a cell's states, by rows, in the region of a scan; null
/// where it is 0.
using Matrix = SmallVector<Value>;

/// Writes scans, and ops beside them, for the one that is expanded.
class Expansion {
public:
  Expansion(NonlinearScanOp op, OpBuilder &b)
      : op(op), b(b), loc(op.getLoc()), n(op.numStates()) {}

protected:
  /// Inserts the derivative of a clone's states by states before the
  /// terminator.
  FailureOr<Matrix> jacobian(NonlinearScanOp cell);
  /// The scan s' = A s + b of tensors, the matrix by rows with null for 0. Its
  /// outputs are the states before each token or behind it.
  NonlinearScanOp affine(ValueRange initial, ArrayRef<Value> matrix,
                         ValueRange vectors, bool givesBefore);
  /// A scan without a body.
  NonlinearScanOp scan(ValueRange initial, ValueRange inputs,
                       ValueRange parameters, TypeRange outputs, bool reverse);
  RankedTensorType tensorType(ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, op.cellType());
  }

  NonlinearScanOp op;
  OpBuilder &b;
  Location loc;
  unsigned n;
};

/// `segments`.
class Segments : Expansion {
public:
  Segments(NonlinearScanOp op, OpBuilder &b) : Expansion(op, b) {}
  /// The results of the op.
  FailureOr<Values> build(int64_t count);

private:
  struct Scanned {
    Values outputs, finals;
  };
  /// Tokens from `from` on, `count` segments of `length` each.
  FailureOr<Scanned> parts(ValueRange initial, int64_t from, int64_t count,
                           int64_t length);
  /// The tokens from `from` on, one after another.
  Scanned rest(ValueRange initial, int64_t from, int64_t length);
  Values tokensOf(ValueRange values, int64_t from, int64_t length);
  Value reshaped(Value value, ArrayRef<int64_t> shape);
  /// What the tokens of each segment do: s becomes M s + v. The finals of the
  /// scan are v, and the entries of M where `leads`, from 0 and I on.
  NonlinearScanOp transfer(ValueRange inputs, int64_t count,
                           NonlinearScanOp cell, const Matrix &slopes,
                           ArrayRef<bool> leads);
  /// The states before each segment, [B * S, D].
  FailureOr<Values> statesBefore(ValueRange initial, ValueRange inputs,
                                 int64_t count);

  int64_t sequences = 0, tokens = 0, channels = 0;
};

/// `newton`.
class Newton : Expansion {
public:
  Newton(NonlinearScanOp op, OpBuilder &b) : Expansion(op, b) {}
  FailureOr<Values> build();
  /// Without tokens there is nothing to solve.
  Values buildEmpty();

private:
  /// The op, token after token.
  NonlinearScanOp plainScan();
  /// The states before each token, inputs and parameters: what a cell takes.
  Values cellInputs(OpBuilder &builder, ValueRange states);
  /// The states behind each token, after one more step.
  FailureOr<Values> step(OpBuilder &builder, ValueRange states);
  /// Copies the cell into the body of an op whose elements are the states
  /// before a token, then the inputs and the parameters.
  Values cell(OpBuilder &builder, ValueRange elements);
  /// The largest of differences of states, in units of max(1, |state|), where
  /// `differences` gives both sides of each for the elements of `ins`.
  using Differences =
      llvm::function_ref<std::pair<Values, Values>(OpBuilder &, ValueRange)>;
  Value largest(OpBuilder &builder, ValueRange ins, ArrayRef<AffineMap> maps,
                Differences differences);
  /// The largest change of a state.
  Value change(OpBuilder &builder, ValueRange from, ValueRange to);
  /// Outputs, and the residual.
  Values evaluate(OpBuilder &builder, ValueRange states);
  AffineMap everywhere() { return b.getMultiDimIdentityMap(3); }
  SmallVector<AffineMap> cellMaps();
  /// The difference of two states in units of max(1, |to|), or `most` if that
  /// is more.
  static Value worse(ScalarBuilder &s, Value from, Value to, Value most);
  Value element(OpBuilder &builder, Value scalarTensor) {
    return tensor::ExtractOp::create(builder, loc, scalarTensor, ValueRange());
  }

  RankedTensorType states;
};

struct ExpandScans : impl::ExpandScansBase<ExpandScans> {
  using ExpandScansBase::ExpandScansBase;

  void runOnOperation() override;
};

} // namespace

FailureOr<Matrix> Expansion::jacobian(NonlinearScanOp cell) {
  Block &block = cell.getCell().front();
  Matrix result;
  for (unsigned i = 0; i < n; ++i) {
    IRRewriter inner(b.getContext());
    inner.setInsertionPoint(block.getTerminator());
    Values seeds(block.getTerminator()->getNumOperands());
    seeds[i] = ScalarBuilder(inner, loc).constant(1.0, cell.newStates()[i]);
    FailureOr<Values> row =
        ReverseMode(inner, block).run(seeds, cell.stateArguments());
    if (failed(row))
      return failure();
    llvm::append_range(result, *row);
  }
  return result;
}

NonlinearScanOp Expansion::scan(ValueRange initial, ValueRange inputs,
                                ValueRange parameters, TypeRange outputs,
                                bool reverse) {
  return NonlinearScanOp::create(b, loc, outputs, initial.getTypes(),
                                 TypeRange(), initial, inputs, parameters,
                                 reverse ? b.getUnitAttr() : UnitAttr(),
                                 IntegerAttr(), IntegerAttr(), FloatAttr());
}

NonlinearScanOp Expansion::affine(ValueRange initial, ArrayRef<Value> matrix,
                                  ValueRange vectors, bool givesBefore) {
  Values inputs(vectors);
  for (Value entry : matrix)
    if (entry)
      inputs.push_back(entry);
  NonlinearScanOp result =
      scan(initial, inputs, ValueRange(), vectors.getTypes(), op.getReverse());
  OpBuilder::InsertionGuard guard(b);
  Block *body = b.createBlock(&result.getCell());
  for (unsigned i = 0; i < n + inputs.size(); ++i)
    body->addArgument(op.cellType(), loc);
  auto states = body->getArguments().take_front(n);
  ScalarBuilder s(b, loc);
  Values yielded;
  unsigned entry = 2 * n;
  for (unsigned i = 0; i < n; ++i) {
    Value sum = body->getArgument(n + i);
    for (unsigned j = 0; j < n; ++j)
      if (matrix[i * n + j])
        sum = s.fma(body->getArgument(entry++), states[j], sum);
    yielded.push_back(sum);
  }
  Values after = yielded;
  if (givesBefore)
    llvm::append_range(yielded, states);
  else
    llvm::append_range(yielded, after);
  linrec::YieldOp::create(b, loc, yielded);
  return result;
}

//===----------------------------------------------------------------------===//
// Segments
//===----------------------------------------------------------------------===//

Value Segments::reshaped(Value value, ArrayRef<int64_t> shape) {
  RankedTensorType from = typeOf(value), to = from.clone(shape);
  if (from == to)
    return value;
  bool expands = to.getRank() > from.getRank();
  // A dimension [B * S] is [B, S], or the other way round; or [B, T] is
  // [B * S, T / S], by way of one dimension.
  if (from.getRank() == to.getRank()) {
    SmallVector<int64_t> flat = {from.getDimSize(0) * from.getDimSize(1),
                                 from.getDimSize(2)};
    return reshaped(reshaped(value, flat), shape);
  }
  SmallVector<ReassociationIndices> groups = {{0, 1}, {2}};
  if (expands)
    return tensor::ExpandShapeOp::create(b, loc, to, value, groups);
  return tensor::CollapseShapeOp::create(b, loc, to, value, groups);
}

Values Segments::tokensOf(ValueRange values, int64_t from, int64_t length) {
  Values result;
  for (Value value : values) {
    RankedTensorType type = typeOf(value).clone({sequences, length, channels});
    SmallVector<OpFoldResult> offsets(3, b.getIndexAttr(0)),
        ones(3, b.getIndexAttr(1)), sizes;
    offsets[1] = b.getIndexAttr(from);
    for (int64_t extent : type.getShape())
      sizes.push_back(b.getIndexAttr(extent));
    result.push_back(length == tokens
                         ? value
                         : Value(tensor::ExtractSliceOp::create(
                               b, loc, type, value, offsets, sizes, ones)));
  }
  return result;
}

/// Where the product of any number of these matrices, and the identity, may
/// have an entry: where a path of entries leads.
static SmallVector<bool> reachOf(const Matrix &slopes, unsigned n) {
  SmallVector<bool> leads(n * n);
  for (unsigned i = 0; i < n; ++i)
    for (unsigned j = 0; j < n; ++j)
      leads[i * n + j] = i == j || slopes[i * n + j];
  for (unsigned k = 0; k < n; ++k)
    for (unsigned i = 0; i < n; ++i)
      for (unsigned j = 0; j < n; ++j)
        leads[i * n + j] =
            leads[i * n + j] || (leads[i * n + k] && leads[k * n + j]);
  return leads;
}

NonlinearScanOp Segments::transfer(ValueRange inputs, int64_t count,
                                   NonlinearScanOp cell, const Matrix &slopes,
                                   ArrayRef<bool> leads) {
  RankedTensorType type = tensorType({sequences * count, channels});
  auto filled = [&](double value) {
    return arith::ConstantOp::create(
        b, loc,
        DenseElementsAttr::get(type, b.getFloatAttr(op.cellType(), value)));
  };
  Values first;
  for (unsigned i = 0; i < n; ++i)
    first.push_back(filled(0.0));
  for (unsigned i = 0; i < n * n; ++i)
    if (leads[i])
      first.push_back(filled(i / n == i % n ? 1.0 : 0.0));
  NonlinearScanOp result =
      scan(first, inputs, op.getParameters(), TypeRange(), op.getReverse());
  OpBuilder::InsertionGuard guard(b);
  Block *body = b.createBlock(&result.getCell());
  IRMapping mapping;
  Values matrix(n * n);
  for (Value argument : cell.stateArguments())
    mapping.map(argument, body->addArgument(op.cellType(), loc));
  for (unsigned i = 0; i < n * n; ++i)
    if (leads[i])
      matrix[i] = body->addArgument(op.cellType(), loc);
  for (Value argument : cell.getCell().getArguments().drop_front(n))
    mapping.map(argument, body->addArgument(op.cellType(), loc));
  for (Operation &nested : cell.getCell().front().without_terminator())
    b.clone(nested, mapping);
  ScalarBuilder s(b, loc);
  Values yielded;
  for (Value state : cell.newStates())
    yielded.push_back(mapping.lookupOrDefault(state));
  for (unsigned i = 0; i < n; ++i)
    for (unsigned j = 0; j < n; ++j) {
      if (!leads[i * n + j])
        continue;
      Value sum;
      for (unsigned k = 0; k < n; ++k) {
        Value slope = slopes[i * n + k], entry = matrix[k * n + j];
        if (!slope || !entry)
          continue;
        slope = mapping.lookupOrDefault(slope);
        sum = sum ? s.fma(slope, entry, sum) : s.mul(slope, entry);
      }
      yielded.push_back(sum ? sum : s.constant(0.0, matrix[i * n + j]));
    }
  linrec::YieldOp::create(b, loc, yielded);
  return result;
}

FailureOr<Values> Segments::statesBefore(ValueRange initial, ValueRange inputs,
                                         int64_t count) {
  auto copy = cast<NonlinearScanOp>(b.clone(*op));
  FailureOr<Matrix> slopes = jacobian(copy);
  if (failed(slopes)) {
    copy.erase();
    return failure();
  }
  SmallVector<bool> leads = reachOf(*slopes, n);
  NonlinearScanOp moves = transfer(inputs, count, copy, *slopes, leads);
  copy.erase();
  Values finals;
  for (Value value : moves.getFinals())
    finals.push_back(reshaped(value, {sequences, count, channels}));
  Values matrix(n * n);
  unsigned entry = n;
  for (unsigned i = 0; i < n * n; ++i)
    if (leads[i])
      matrix[i] = finals[entry++];
  NonlinearScanOp along =
      affine(initial, matrix, ArrayRef<Value>(finals).take_front(n),
             /*givesBefore=*/true);
  Values before;
  for (Value output : along.getOutputs())
    before.push_back(reshaped(output, {sequences * count, channels}));
  return before;
}

FailureOr<Segments::Scanned> Segments::parts(ValueRange initial, int64_t from,
                                             int64_t count, int64_t length) {
  SmallVector<int64_t> cut = {sequences * count, length, channels};
  Values inputs;
  for (Value input : tokensOf(op.getInputs(), from, count * length))
    inputs.push_back(reshaped(input, cut));
  FailureOr<Values> before = statesBefore(initial, inputs, count);
  if (failed(before))
    return failure();
  SmallVector<Type> types;
  for (Value output : op.getOutputs())
    types.push_back(typeOf(output).clone(cut));
  NonlinearScanOp inner =
      scan(*before, inputs, op.getParameters(), types, op.getReverse());
  IRMapping mapping;
  op.getCell().cloneInto(&inner.getCell(), mapping);
  Scanned result;
  for (Value output : inner.getOutputs())
    result.outputs.push_back(
        reshaped(output, {sequences, count * length, channels}));
  int64_t last = op.getReverse() ? 0 : count - 1;
  SmallVector<OpFoldResult> ones(3, b.getIndexAttr(1));
  for (Value final : inner.getFinals()) {
    Value all = reshaped(final, {sequences, count, channels});
    result.finals.push_back(tensor::ExtractSliceOp::create(
        b, loc, tensorType({sequences, channels}), all,
        ArrayRef<OpFoldResult>{b.getIndexAttr(0), b.getIndexAttr(last),
                               b.getIndexAttr(0)},
        ArrayRef<OpFoldResult>{b.getIndexAttr(sequences), b.getIndexAttr(1),
                               b.getIndexAttr(channels)},
        ones));
  }
  return result;
}

Segments::Scanned Segments::rest(ValueRange initial, int64_t from,
                                 int64_t length) {
  SmallVector<Type> types;
  for (Value output : op.getOutputs())
    types.push_back(typeOf(output).clone({sequences, length, channels}));
  NonlinearScanOp inner = scan(initial, tokensOf(op.getInputs(), from, length),
                               op.getParameters(), types, op.getReverse());
  IRMapping mapping;
  op.getCell().cloneInto(&inner.getCell(), mapping);
  return {Values(inner.getOutputs()), Values(inner.getFinals())};
}

FailureOr<Values> Segments::build(int64_t count) {
  RankedTensorType state = typeOf(op.getInitial().front());
  sequences = state.getDimSize(0);
  channels = state.getDimSize(1);
  tokens = typeOf(op.getInputs().front()).getDimSize(1);
  int64_t length = tokens / count, cut = length * count;
  Scanned main, tail;
  Values initial(op.getInitial());
  if (cut < tokens && op.getReverse()) {
    tail = rest(initial, cut, tokens - cut);
    initial = tail.finals;
  }
  FailureOr<Scanned> found = parts(initial, 0, count, length);
  if (failed(found))
    return failure();
  main = *found;
  if (cut < tokens && !op.getReverse())
    tail = rest(main.finals, cut, tokens - cut);
  Values results;
  for (auto [i, output] : llvm::enumerate(op.getOutputs())) {
    Value value = main.outputs[i];
    if (cut < tokens) {
      SmallVector<OpFoldResult> offsets(3, b.getIndexAttr(0)),
          ones(3, b.getIndexAttr(1));
      Value whole = tensor::EmptyOp::create(b, loc, typeOf(output).getShape(),
                                            typeOf(output).getElementType());
      whole = tensor::InsertSliceOp::create(
          b, loc, value, whole, offsets, tensor::getMixedSizes(b, loc, value),
          ones);
      offsets[1] = b.getIndexAttr(cut);
      value = tensor::InsertSliceOp::create(
          b, loc, tail.outputs[i], whole, offsets,
          tensor::getMixedSizes(b, loc, tail.outputs[i]), ones);
    }
    results.push_back(value);
  }
  bool endsInTail = cut < tokens && !op.getReverse();
  llvm::append_range(results, endsInTail ? tail.finals : main.finals);
  return results;
}

//===----------------------------------------------------------------------===//
// Newton's iteration
//===----------------------------------------------------------------------===//

Values Newton::cellInputs(OpBuilder &builder, ValueRange now) {
  Values result;
  for (auto [value, first] : llvm::zip_equal(now, op.getInitial()))
    result.push_back(
        NonlinearScanOp::before(builder, loc, value, first, op.getReverse()));
  llvm::append_range(result, op.getInputs());
  llvm::append_range(result, op.getParameters());
  return result;
}

SmallVector<AffineMap> Newton::cellMaps() {
  SmallVector<AffineMap> maps(n + op.getInputs().size(), everywhere());
  maps.append(op.getParameters().size(),
              AffineMap::get(3, 0, {b.getAffineDimExpr(2)}, b.getContext()));
  return maps;
}

Value Newton::worse(ScalarBuilder &s, Value from, Value to, Value most) {
  Value size = s.maximum(s.abs(to), s.constant(1.0, to));
  Value difference = s.abs(s.sub(to, from));
  return s.maximum(most, s.div(difference, size));
}

Value Newton::largest(OpBuilder &builder, ValueRange ins,
                      ArrayRef<AffineMap> maps, Differences differences) {
  Value zero = arith::ConstantOp::create(builder, loc,
                                         builder.getZeroAttr(op.cellType()));
  Value empty =
      tensor::EmptyOp::create(builder, loc, ArrayRef<int64_t>(), op.cellType());
  Value most = linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
  SmallVector<AffineMap> all(maps);
  all.push_back(AffineMap::get(3, 0, b.getContext()));
  SmallVector<utils::IteratorType> loops(3, utils::IteratorType::reduction);
  auto generic = linalg::GenericOp::create(
      builder, loc, most.getType(), ins, most, all, loops,
      [&](OpBuilder &inner, Location at, ValueRange elements) {
        ScalarBuilder s(inner, at);
        Value result = elements.back();
        auto [from, to] = differences(inner, elements.drop_back());
        for (auto [one, other] : llvm::zip_equal(from, to))
          result = worse(s, one, other, result);
        linalg::YieldOp::create(inner, at, result);
      });
  return generic.getResult(0);
}

Value Newton::change(OpBuilder &builder, ValueRange from, ValueRange to) {
  Values ins(from);
  llvm::append_range(ins, to);
  SmallVector<AffineMap> maps(2 * n, everywhere());
  return element(
      builder, largest(builder, ins, maps, [&](OpBuilder &, ValueRange e) {
        return std::pair(Values(e.take_front(n)), Values(e.drop_front(n)));
      }));
}

Values Newton::cell(OpBuilder &builder, ValueRange elements) {
  IRMapping mapping;
  ScalarBuilder s(builder, loc);
  for (auto [argument, element] :
       llvm::zip(op.getCell().getArguments(), elements))
    mapping.map(argument, s.convert(element, op.cellType()));
  for (Operation &nested : op.getCell().front().without_terminator())
    builder.clone(nested, mapping);
  Values result;
  for (Value value : op.getCell().front().getTerminator()->getOperands())
    result.push_back(mapping.lookup(value));
  return result;
}

FailureOr<Values> Newton::step(OpBuilder &builder, ValueRange now) {
  Values ins = cellInputs(builder, now);
  // The cell with its Jacobian: A, and b = f(h) - A h.
  auto copy = cast<NonlinearScanOp>(builder.clone(*op));
  FailureOr<Matrix> slopes = jacobian(copy);
  if (failed(slopes)) {
    copy.erase();
    return failure();
  }
  Values outs;
  for (unsigned i = 0; i < n * n; ++i)
    if ((*slopes)[i])
      outs.push_back(tensor::EmptyOp::create(builder, loc, states.getShape(),
                                             op.cellType()));
  unsigned entries = outs.size();
  for (unsigned i = 0; i < n; ++i)
    outs.push_back(tensor::EmptyOp::create(builder, loc, states.getShape(),
                                           op.cellType()));
  SmallVector<AffineMap> maps = cellMaps();
  maps.append(outs.size(), everywhere());
  SmallVector<utils::IteratorType> loops(3, utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      builder, loc, ValueRange(outs).getTypes(), ins, outs, maps, loops,
      [&](OpBuilder &inner, Location at, ValueRange elements) {
        ScalarBuilder s(inner, at);
        IRMapping mapping;
        for (auto [argument, element] :
             llvm::zip(copy.getCell().getArguments(), elements))
          mapping.map(argument, s.convert(element, op.cellType()));
        for (Operation &nested : copy.getCell().front().without_terminator())
          inner.clone(nested, mapping);
        Values yielded;
        for (Value slope : *slopes)
          if (slope)
            yielded.push_back(mapping.lookupOrDefault(slope));
        for (unsigned i = 0; i < n; ++i) {
          Value sum = mapping.lookup(copy.newStates()[i]);
          for (unsigned j = 0; j < n; ++j)
            if (Value slope = (*slopes)[i * n + j])
              sum = s.fma(s.neg(mapping.lookupOrDefault(slope)), elements[j],
                          sum);
          yielded.push_back(sum);
        }
        linalg::YieldOp::create(inner, at, yielded);
      });
  copy.erase();
  OpBuilder::InsertionGuard guard(b);
  b.restoreInsertionPoint(builder.saveInsertionPoint());
  Values matrix(n * n);
  unsigned entry = 0;
  for (unsigned i = 0; i < n * n; ++i)
    if ((*slopes)[i])
      matrix[i] = generic.getResult(entry++);
  NonlinearScanOp next =
      affine(op.getInitial(), matrix, generic.getResults().drop_front(entries),
             /*givesBefore=*/false);
  next.setSegmentsAttr(op.getSegmentsAttr());
  return Values(next.getOutputs());
}

Values Newton::evaluate(OpBuilder &builder, ValueRange now) {
  Values ins = cellInputs(builder, now), outs;
  SmallVector<AffineMap> maps = cellMaps();
  Values results;
  if (!op.getOutputs().empty()) {
    SmallVector<AffineMap> outer = maps;
    for (Value output : op.getOutputs()) {
      outs.push_back(tensor::EmptyOp::create(builder, loc, states.getShape(),
                                             typeOf(output).getElementType()));
      outer.push_back(everywhere());
    }
    SmallVector<utils::IteratorType> loops(3, utils::IteratorType::parallel);
    auto generic = linalg::GenericOp::create(
        builder, loc, ValueRange(outs).getTypes(), ins, outs, outer, loops,
        [&](OpBuilder &inner, Location at, ValueRange elements) {
          Values made = cell(inner, elements), yielded;
          ScalarBuilder s(inner, at);
          for (auto [value, out] :
               llvm::zip_equal(ArrayRef<Value>(made).drop_front(n), outs))
            yielded.push_back(s.convert(value, typeOf(out).getElementType()));
          linalg::YieldOp::create(inner, at, yielded);
        });
    llvm::append_range(results, generic.getResults());
  }
  // The residual, in units of max(1, |state|).
  unsigned first = ins.size();
  llvm::append_range(ins, now);
  maps.append(n, everywhere());
  results.push_back(
      largest(builder, ins, maps, [&](OpBuilder &inner, ValueRange elements) {
        Values made = cell(inner, elements);
        made.truncate(n);
        return std::pair(made, Values(elements.drop_front(first)));
      }));
  return results;
}

NonlinearScanOp Newton::plainScan() {
  NonlinearScanOp plain =
      scan(op.getInitial(), op.getInputs(), op.getParameters(),
           op.getOutputs().getTypes(), op.getReverse());
  IRMapping mapping;
  op.getCell().cloneInto(&plain.getCell(), mapping);
  return plain;
}

Values Newton::buildEmpty() {
  Values results(plainScan().getResults());
  for (Value report : op.getReport())
    results.push_back(arith::ConstantOp::create(
        b, loc, cast<TypedAttr>(b.getZeroAttr(report.getType()))));
  return results;
}

FailureOr<Values> Newton::build() {
  RankedTensorType state = typeOf(op.getInitial().front());
  int64_t tokens = typeOf(op.getInputs().front()).getDimSize(1);
  states = tensorType({state.getDimSize(0), tokens, state.getDimSize(1)});
  auto scalar = [&](TypedAttr value) -> Value {
    return arith::ConstantOp::create(b, loc, value);
  };
  auto number = [&](double value) {
    return scalar(b.getFloatAttr(op.cellType(), value));
  };
  Value tolerance = number(op.toleranceOrDefault());
  Value zero = scalar(b.getIndexAttr(0)), one = scalar(b.getIndexAttr(1));
  Value most = scalar(b.getIndexAttr(op.mostSteps(tokens)));
  Values carried;
  for (unsigned i = 0; i < n; ++i) {
    Value empty =
        tensor::EmptyOp::create(b, loc, states.getShape(), op.cellType());
    carried.push_back(
        linalg::FillOp::create(b, loc, number(0.0), empty).getResult(0));
  }
  carried.push_back(number(std::numeric_limits<double>::infinity()));
  carried.push_back(number(0.0));
  bool found = true;
  auto loop = scf::ForOp::create(
      b, loc, zero, most, one, carried,
      [&](OpBuilder &outer, Location at, Value, ValueRange now) {
        // NaN goes on until the steps are used up, and then fails the test.
        Value goesOn = arith::CmpFOp::create(
            outer, at, arith::CmpFPredicate::UGT, now[n], tolerance);
        auto branch = scf::IfOp::create(
            outer, at, goesOn,
            [&](OpBuilder &inner, Location) {
              FailureOr<Values> next = step(inner, now.take_front(n));
              found = found && succeeded(next);
              Values yielded =
                  succeeded(next) ? *next : Values(now.take_front(n));
              yielded.push_back(
                  change(inner, now.take_front(n), ArrayRef<Value>(yielded)));
              ScalarBuilder s(inner, at);
              yielded.push_back(s.add(now[n + 1], 1.0));
              scf::YieldOp::create(inner, at, yielded);
            },
            [&](OpBuilder &inner, Location) {
              scf::YieldOp::create(inner, at, now);
            });
        scf::YieldOp::create(outer, at, branch.getResults());
      });
  if (!found)
    return failure();
  ValueRange solved = loop.getResults().take_front(n);
  Values evaluated = evaluate(b, solved);
  Value residual = evaluated.pop_back_val();
  Value size = element(b, residual);
  Value converged =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLE, size, tolerance);
  SmallVector<OpFoldResult> ones(3, b.getIndexAttr(1));
  auto results = scf::IfOp::create(
      b, loc, converged,
      [&](OpBuilder &inner, Location at) {
        Values yielded = evaluated;
        for (Value value : solved)
          yielded.push_back(tensor::ExtractSliceOp::create(
              inner, at, state, value,
              ArrayRef<OpFoldResult>{
                  b.getIndexAttr(0),
                  b.getIndexAttr(op.getReverse() ? 0 : tokens - 1),
                  b.getIndexAttr(0)},
              ArrayRef<OpFoldResult>{b.getIndexAttr(state.getDimSize(0)),
                                     b.getIndexAttr(1),
                                     b.getIndexAttr(state.getDimSize(1))},
              ones));
        scf::YieldOp::create(inner, at, yielded);
      },
      [&](OpBuilder &inner, Location at) {
        OpBuilder::InsertionGuard guard(b);
        b.restoreInsertionPoint(inner.saveInsertionPoint());
        scf::YieldOp::create(b, at, plainScan().getResults());
      });
  Values all(results.getResults());
  all.push_back(tensor::FromElementsOp::create(
      b, loc, cast<RankedTensorType>(op.getReport()[0].getType()),
      loop.getResult(n + 1)));
  all.push_back(residual);
  return all;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Whether the tokens of an op can be cut: a call does not choose extents, and
/// inputs say how many tokens there are.
static bool canBeCut(NonlinearScanOp op) {
  if (op.getInputs().empty())
    return false;
  auto isKnown = [](Value value) { return typeOf(value).hasStaticShape(); };
  return llvm::all_of(op->getOperands(), isKnown) &&
         llvm::all_of(op->getResults(), isKnown);
}

void ExpandScans::runOnOperation() {
  SmallVector<NonlinearScanOp> work;
  auto isAsked = [](NonlinearScanOp op) {
    return op.getNewton() || op.getSegments();
  };
  auto collect = [&](Operation *root) {
    root->walk([&](NonlinearScanOp op) {
      if (isAsked(op))
        work.push_back(op);
    });
  };
  collect(getOperation());
  while (!work.empty()) {
    NonlinearScanOp op = work.pop_back_val();
    bool isKnown = canBeCut(op);
    int64_t tokens = isKnown ? typeOf(op.getInputs().front()).getDimSize(1) : 0;
    bool isEmpty =
        tokens == 0 || typeOf(op.getInitial().front()).getDimSize(0) == 0;
    if (!isKnown && op.getNewton()) {
      op.emitOpError("is solved for all tokens at once, whose number a call "
                     "chooses; leave 'newton' out, or compile it for known "
                     "extents");
      return signalPassFailure();
    }
    if (lockstep && op.getNewton()) {
      op.emitOpError("is solved by Newton's iteration, a loop around kernels, "
                     "which programs for GPUs do not have; leave 'newton' out");
      return signalPassFailure();
    }
    int64_t count = std::min<int64_t>(op.getSegments().value_or(1), tokens);
    if (!op.getNewton() && (isEmpty || count < 2)) {
      op.removeSegmentsAttr();
      continue;
    }
    OpBuilder builder(op);
    FailureOr<Values> results = !op.getNewton()
                                    ? Segments(op, builder).build(count)
                                : isEmpty ? Newton(op, builder).buildEmpty()
                                          : Newton(op, builder).build();
    if (failed(results))
      return signalPassFailure();
    op->replaceAllUsesWith(*results);
    op.erase();
    // What was written may ask for segments itself.
    work.clear();
    collect(getOperation());
  }
}

} // namespace drawloom
