//===- Differentiate.cpp - replace requests for derivatives ---------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Ad/Ad.h"
#include "dialects/Interfaces/MachineFacts.h"
#include "dialects/Interfaces/ScalarBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Differentiate/Passes.h"
#include "passes/Differentiate/ReverseMode.h"

using namespace mlir;

namespace drawloom {

#define GEN_PASS_DEF_DIFFERENTIATEPASS
#include "passes/Differentiate/Passes.h.inc"

static bool isRequest(Operation *op) {
  return isa<ad::ValueAndGradOp, ad::VjpOp>(op);
}

/// What both kinds of request have in common.
namespace {
struct Request {
  explicit Request(Operation *op) : op(op) {
    if (auto grad = dyn_cast<ad::ValueAndGradOp>(op)) {
      callee = grad.getCalleeAttr();
      wrt = grad.getWrt();
      arguments = grad.getArguments();
    } else {
      auto vjp = cast<ad::VjpOp>(op);
      callee = vjp.getCalleeAttr();
      wrt = vjp.getWrt();
      arguments = vjp.getArguments();
      cotangents = vjp.getCotangents();
    }
  }
  Operation *op;
  FlatSymbolRefAttr callee;
  ArrayRef<int64_t> wrt;
  SmallVector<Value> arguments, cotangents;
};

class Differentiate : public impl::DifferentiatePassBase<Differentiate> {
public:
  using DifferentiatePassBase::DifferentiatePassBase;
  void runOnOperation() override;

private:
  /// Replaces the requests in `func`, innermost first.
  LogicalResult visitFunction(func::FuncOp func);
  /// Visits `callee` and what it calls, so that it can be differentiated.
  LogicalResult visitCallee(Operation *user, func::FuncOp callee);
  LogicalResult replaceRequest(Operation *op);
  LogicalResult inlineCalls(func::FuncOp func);
  /// Makes `func` return gradients too, and take cotangents if it has to.
  LogicalResult extendByGradients(func::FuncOp func, const Request &request);
  LogicalResult simplify(func::FuncOp func);
  func::FuncOp lookup(FlatSymbolRefAttr name) {
    return SymbolTable(getOperation()).lookup<func::FuncOp>(name.getAttr());
  }

  DenseSet<Operation *> finished, waiting;
  SetVector<Operation *> callees;
};
} // namespace

LogicalResult Differentiate::visitCallee(Operation *user, func::FuncOp callee) {
  callees.insert(callee);
  if (waiting.contains(callee))
    return user->emitError("'@")
           << callee.getName()
           << "' is recursive and cannot be differentiated; write the "
              "repetition as scf.for";
  // Calls first: what is called must hold no request when it is inlined.
  waiting.insert(callee);
  LogicalResult result = success();
  callee.walk([&](func::CallOp call) {
    func::FuncOp target = lookup(call.getCalleeAttr());
    if (target && !target.isExternal())
      result = visitCallee(call, target);
    return failed(result) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (succeeded(result))
    result = visitFunction(callee);
  waiting.erase(callee);
  return result;
}

LogicalResult Differentiate::visitFunction(func::FuncOp func) {
  if (!finished.insert(func).second)
    return success();
  SmallVector<Operation *> requests;
  func.walk([&](Operation *op) {
    if (isRequest(op))
      requests.push_back(op);
  });
  if (requests.empty())
    return success();
  bool outermost = waiting.insert(func).second;
  LogicalResult result = success();
  for (Operation *op : requests) {
    result = visitCallee(op, lookup(Request(op).callee));
    if (succeeded(result))
      result = replaceRequest(op);
    if (failed(result))
      break;
  }
  if (outermost)
    waiting.erase(func);
  return succeeded(result) ? simplify(func) : failure();
}

LogicalResult Differentiate::inlineCalls(func::FuncOp func) {
  IRRewriter rewriter(&getContext());
  SmallVector<func::CallOp> calls;
  func.walk([&](func::CallOp call) { calls.push_back(call); });
  while (!calls.empty()) {
    func::CallOp call = calls.pop_back_val();
    func::FuncOp callee = lookup(call.getCalleeAttr());
    if (!callee || callee.isExternal())
      continue; // An error later, if a derivative depends on it.
    if (!callee.getBody().hasOneBlock())
      return callee.emitError("cannot be differentiated: '@")
             << callee.getName()
             << "' branches between blocks; use scf.if and scf.for";
    IRMapping mapping;
    mapping.map(callee.getArguments(), call.getOperands());
    rewriter.setInsertionPoint(call);
    for (Operation &op : callee.front().without_terminator())
      rewriter.clone(op, mapping)->walk([&](func::CallOp inner) {
        calls.push_back(inner);
      });
    SmallVector<Value> results;
    for (Value value : callee.front().getTerminator()->getOperands())
      results.push_back(mapping.lookupOrDefault(value));
    rewriter.replaceOp(call, results);
  }
  return success();
}

LogicalResult Differentiate::extendByGradients(func::FuncOp func,
                                               const Request &request) {
  if (!func.getBody().hasOneBlock())
    return func.emitError("cannot be differentiated: '@")
           << request.callee.getValue()
           << "' branches between blocks; use scf.if and scf.for";
  bool hasCalls = !func.getBody().getOps<func::CallOp>().empty();
  if (failed(inlineCalls(func)))
    return failure();
  // A value that several calls compute, such as a function's beside its own
  // derivative's, gets one cotangent and one way back, not one for each call.
  // Afterwards the ways back differ, and could not be merged any more.
  OpPassManager merge(func::FuncOp::getOperationName());
  merge.addPass(createCSEPass());
  if (hasCalls && failed(runPipeline(merge, func)))
    return failure();
  IRRewriter rewriter(&getContext());
  Block &body = func.front();
  Operation *end = body.getTerminator();
  rewriter.setInsertionPoint(end);

  SmallVector<Value> wrt;
  for (int64_t index : request.wrt)
    wrt.push_back(body.getArgument(index));
  SmallVector<Value> cotangents(end->getNumOperands());
  if (isa<ad::VjpOp>(request.op)) {
    for (auto [i, cotangent] : llvm::enumerate(request.cotangents))
      cotangents[i] =
          body.addArgument(cotangent.getType(), request.op->getLoc());
  } else {
    Value loss = end->getOperand(0);
    cotangents[0] =
        ScalarBuilder(rewriter, request.op->getLoc()).constant(1.0, loss);
  }
  FailureOr<SmallVector<Value>> gradients =
      ReverseMode(rewriter, body).run(cotangents, wrt);
  if (failed(gradients))
    return failure();

  rewriter.setInsertionPoint(end);
  SmallVector<Value> results(end->getOperands());
  for (auto [gradient, value] : llvm::zip_equal(*gradients, wrt))
    results.push_back(gradient ? gradient
                               : zerosLike(rewriter, value.getLoc(), value));
  end->setOperands(results);
  func.removeArgAttrsAttr();
  func.removeResAttrsAttr();
  func.setType(rewriter.getFunctionType(body.getArgumentTypes(),
                                        ValueRange(results).getTypes()));
  return success();
}

/// Moves constants that are the same everywhere, such as the cotangent of the
/// loss, from the inputs of structured ops into their bodies.
static void moveConstantsIntoBodies(func::FuncOp func) {
  func.walk([](linalg::GenericOp generic) {
    OpBuilder builder(generic.getContext());
    builder.setInsertionPointToStart(generic.getBody());
    for (OpOperand *input : generic.getDpsInputOperands()) {
      BlockArgument argument = generic.getMatchingBlockArgument(input);
      SplatElementsAttr splat;
      if (argument.use_empty() ||
          !matchPattern(input->get(), m_Constant(&splat)))
        continue;
      auto value = cast<TypedAttr>(splat.getSplatValue<Attribute>());
      argument.replaceAllUsesWith(
          arith::ConstantOp::create(builder, generic.getLoc(), value));
    }
  });
}

LogicalResult Differentiate::simplify(func::FuncOp func) {
  moveConstantsIntoBodies(func);
  // Inputs of structured ops that are not read any more.
  RewritePatternSet patterns(&getContext());
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  if (failed(applyPatternsGreedily(func, std::move(patterns))))
    return failure();
  OpPassManager pipeline(func::FuncOp::getOperationName());
  pipeline.addPass(createCSEPass());
  pipeline.addPass(createCanonicalizerPass());
  pipeline.addPass(createCSEPass());
  return runPipeline(pipeline, func);
}

LogicalResult Differentiate::replaceRequest(Operation *op) {
  Request request(op);
  ModuleOp module = getOperation();
  func::FuncOp callee = lookup(request.callee);
  func::FuncOp work = callee.clone();
  work.setPrivate();
  SymbolTable(module).insert(work);

  LogicalResult result = success();
  {
    // Errors point into the callee; say who wanted its derivative.
    ScopedDiagnosticHandler handler(&getContext(), [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
        diagnostic.attachNote(op->getLoc())
            << "while differentiating '@" << request.callee.getValue() << "'";
      return failure();
    });
    result = extendByGradients(work, request);
  }
  if (succeeded(result))
    result = simplify(work);
  if (succeeded(result)) {
    IRRewriter rewriter(&getContext());
    fuseCotangentSums(rewriter, work);
    SmallVector<Value> arguments(request.arguments);
    llvm::append_range(arguments, request.cotangents);
    Operation *end = work.front().getTerminator();
    rewriter.inlineBlockBefore(&work.front(), op, arguments);
    rewriter.replaceOp(op, end->getOperands());
    rewriter.eraseOp(end);
  }
  work.erase();
  return result;
}

void Differentiate::runOnOperation() {
  MachineFacts given;
  given.lockstep = lockstep;
  ScopedMachineFacts scope(getOperation(),
                           machineFactsOf(getOperation(), given));
  SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
  for (func::FuncOp func : functions)
    if (failed(visitFunction(func)))
      return signalPassFailure();
  // A function goes before the functions that it calls.
  for (bool changed = true; changed;) {
    changed = false;
    for (Operation *callee : llvm::to_vector(callees)) {
      if (SymbolTable::getSymbolVisibility(callee) !=
              SymbolTable::Visibility::Private ||
          !SymbolTable::symbolKnownUseEmpty(callee, getOperation()))
        continue;
      callees.remove(callee);
      callee->erase();
      changed = true;
    }
  }
}

} // namespace drawloom
