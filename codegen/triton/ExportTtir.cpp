//===- ExportTtir.cpp - programs as Triton kernels ------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program becomes kernels over tiles and a plan of launches, as for a GPU,
// and these are printed before anything is spread over threads.
//
//===----------------------------------------------------------------------===//

#include "codegen/triton/ExportTtir.h"
#include "codegen/nvptx/GpuTarget.h"
#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/launch/LaunchPlan.h"
#include "codegen/nvptx/shared/SharedMemory.h"
#include "codegen/triton/KernelExport.h"
#include "dialects/Drawloom/Attributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace drawloom;
using namespace drawloom::triton;
using nvptx::LaunchOperand;

//===----------------------------------------------------------------------===//
// Signatures
//===----------------------------------------------------------------------===//

static FailureOr<TtirBuffer> bufferOf(func::FuncOp function,
                                      TtirBuffer::Kind kind, int64_t index,
                                      RankedTensorType type) {
  const char *what =
      kind == TtirBuffer::Kind::Result ? "a result" : "an argument";
  if (!type.hasStaticShape())
    return function.emitError("no TTIR for ")
           << what << " of dynamic shape: " << type;
  if (type.getNumElements() == 0 && kind == TtirBuffer::Kind::Result)
    return function.emitError("no TTIR for a result without elements: ")
           << type;
  return TtirBuffer{
      kind, index, type.getShape().vec(), textOf(type.getElementType()), {}};
}

/// Tensors of several constants become arguments, which are memory: buffers of
/// their own.
static void passConstants(func::FuncOp function, TtirFunction &to) {
  SmallVector<arith::ConstantOp> constants;
  function.walk([&](arith::ConstantOp op) {
    auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
    if (dense && isa<RankedTensorType>(op.getType()) && !dense.isSplat() &&
        !dense.getElementType().isInteger(1))
      constants.push_back(op);
  });
  for (arith::ConstantOp op : constants) {
    auto dense = cast<DenseElementsAttr>(op.getValue());
    auto type = cast<RankedTensorType>(op.getType());
    FailureOr<TtirBuffer> buffer = bufferOf(
        function, TtirBuffer::Kind::Constant, function.getNumArguments(), type);
    ArrayRef<char> bytes = dense.getRawData();
    buffer->data.assign(bytes.begin(), bytes.end());
    to.buffers.push_back(*buffer);
    (void)function.insertArgument(function.getNumArguments(), type, {},
                                  op.getLoc());
    op.replaceAllUsesWith(function.getArguments().back());
    op.erase();
  }
}

/// The buffers of arguments, constants and results.
static FailureOr<TtirFunction> signatureOf(func::FuncOp function) {
  TtirFunction out;
  out.name = function.getName().str();
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type && !argument.getType().isIntOrIndexOrFloat())
      return function.emitError("no TTIR for an argument of type ")
             << argument.getType();
    if (!type)
      continue;
    FailureOr<TtirBuffer> buffer = bufferOf(
        function, TtirBuffer::Kind::Argument, argument.getArgNumber(), type);
    if (failed(buffer))
      return failure();
    out.buffers.push_back(*buffer);
  }
  passConstants(function, out);
  for (auto [i, result] : llvm::enumerate(function.getResultTypes())) {
    auto type = dyn_cast<RankedTensorType>(result);
    if (!type)
      return function.emitError("no TTIR for a function that returns ")
             << result << ": only tensors of static shape";
    FailureOr<TtirBuffer> buffer =
        bufferOf(function, TtirBuffer::Kind::Result, i, type);
    if (failed(buffer))
      return failure();
    out.buffers.push_back(*buffer);
  }
  return out;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

namespace {
/// Exports the launches of one function.
class LaunchExport {
public:
  LaunchExport(TtirFunction function, ModuleOp module,
               const TtirOptions &options)
      : out(std::move(function)), module(module), options(options) {}
  FailureOr<TtirFunction> run(const nvptx::LaunchEntry &entry);

private:
  TtirParameter parameterOf(const LaunchOperand &operand);
  /// Of memory that is written.
  TtirParameter written(const LaunchOperand &operand, ArrayRef<int64_t> shape,
                        const std::string &element);
  FailureOr<TtirKernel> kernelOf(const nvptx::LaunchStep &step);
  TtirKernel copyOf(const nvptx::LaunchStep &step);

  TtirFunction out;
  ModuleOp module;
  const TtirOptions &options;
  /// What was written last from a byte of the workspace on.
  llvm::DenseMap<int64_t, int64_t> workspace;
};
} // namespace

TtirParameter LaunchExport::parameterOf(const LaunchOperand &operand) {
  if (operand.kind == LaunchOperand::Scalar)
    return {false, operand.value, {}};
  if (operand.kind == LaunchOperand::Workspace)
    return {true, workspace.at(operand.value), {}};
  bool isResult = operand.kind == LaunchOperand::Result;
  auto found = llvm::find_if(out.buffers, [&](const TtirBuffer &buffer) {
    return isResult == (buffer.kind == TtirBuffer::Kind::Result) &&
           buffer.kind != TtirBuffer::Kind::Temporary &&
           buffer.index == operand.value;
  });
  return {true, found - out.buffers.begin(), {}};
}

TtirParameter LaunchExport::written(const LaunchOperand &operand,
                                    ArrayRef<int64_t> shape,
                                    const std::string &element) {
  if (operand.kind != LaunchOperand::Workspace)
    return parameterOf(operand);
  // What is updated in place stays where it is.
  auto known = workspace.find(operand.value);
  if (known == workspace.end() ||
      out.buffers[known->second].element != element ||
      ShapedType::getNumElements(out.buffers[known->second].shape) !=
          ShapedType::getNumElements(shape)) {
    workspace[operand.value] = out.buffers.size();
    out.buffers.push_back(
        {TtirBuffer::Kind::Temporary, 0, shape.vec(), element, {}});
  }
  return parameterOf(operand);
}

FailureOr<TtirKernel> LaunchExport::kernelOf(const nvptx::LaunchStep &step) {
  auto kernel = module.lookupSymbol<func::FuncOp>(step.kernel);
  if (failed(checkKernel(kernel)))
    return failure();
  int64_t inputs = kernel->getAttrOfType<IntegerAttr>(inputsAttr).getInt();
  std::vector<TtirParameter> operands;
  for (auto [i, operand] : llvm::enumerate(step.operands)) {
    auto type = dyn_cast<MemRefType>(kernel.getArgument(i).getType());
    operands.push_back(
        static_cast<int64_t>(i) < inputs
            ? parameterOf(operand)
            : written(operand, type.getShape(), textOf(type.getElementType())));
  }
  nvptx::insertBarriers(kernel,
                        [](Value buffer) { return !isHeldAsTile(buffer); });
  return KernelExport(out.buffers, kernel, options).run(operands);
}

TtirKernel LaunchExport::copyOf(const nvptx::LaunchStep &step) {
  constexpr int64_t most = 1024;
  TtirParameter from = parameterOf(step.operands[0]);
  const TtirBuffer buffer = out.buffers[from.index];
  TtirParameter to = written(step.operands[1], buffer.shape, buffer.element);
  int64_t count = ShapedType::getNumElements(buffer.shape);
  int64_t block = std::min(most, powerOfTwoAbove(count));
  return copyKernel(out.name + "_copy_" + std::to_string(out.kernels.size()),
                    buffer.element, count, block, {from, to},
                    module.getContext());
}

FailureOr<TtirFunction> LaunchExport::run(const nvptx::LaunchEntry &entry) {
  if (llvm::any_of(entry.steps, [](const nvptx::LaunchStep &step) {
        return step.transfer || step.product;
      }))
    return module.emitError("no TTIR for values that leave the device, or "
                            "products by a library");
  bool failedAny = false;
  for (const nvptx::LaunchStep &step : entry.steps) {
    FailureOr<TtirKernel> kernel = step.kernel.empty()
                                       ? FailureOr<TtirKernel>(copyOf(step))
                                       : kernelOf(step);
    failedAny |= failed(kernel);
    if (succeeded(kernel))
      out.kernels.push_back(std::move(*kernel));
  }
  if (failedAny)
    return failure();
  return std::move(out);
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

static LogicalResult inlineCalls(ModuleOp module) {
  PassManager passes(module->getName());
  passes.addPass(createInlinerPass());
  passes.addPass(createSymbolDCEPass());
  return passes.run(module);
}

static LogicalResult makeTiles(ModuleOp module) {
  PassManager passes(module->getName());
  nvptx::NvptxBlockToTileOptions tiles;
  tiles.maxGrid = std::numeric_limits<int32_t>::max();
  tiles.keepWhile = true;
  nvptx::addTilePasses(passes, tiles);
  return passes.run(module);
}

FailureOr<std::vector<TtirFunction>>
triton::exportTtir(ModuleOp module, const TtirOptions &options) {
  if (!llvm::is_contained({"ieee", "tf32", "tf32x3"},
                          StringRef(options.dotPrecision)))
    return module.emitError("there is no precision of products '")
           << options.dotPrecision << "': ieee, tf32, tf32x3";
  OwningOpRef<ModuleOp> copy = module.clone();
  if (failed(inlineCalls(*copy)))
    return failure();
  std::map<std::string, TtirFunction> functions;
  for (auto function : copy->getOps<func::FuncOp>()) {
    if (!function.isPublic() || function.isExternal())
      continue;
    FailureOr<TtirFunction> signature = signatureOf(function);
    if (failed(signature))
      return failure();
    functions[signature->name] = *signature;
  }
  if (functions.empty())
    return module.emitError("no public function to export");
  if (failed(makeTiles(*copy)))
    return failure();
  llvm::Expected<nvptx::LaunchPlan> plan = nvptx::planOf(*copy);
  if (!plan)
    return module.emitError(llvm::toString(plan.takeError()));
  std::vector<TtirFunction> out;
  for (const nvptx::LaunchEntry &entry : plan->entries) {
    auto signature = functions.find(entry.signature.name);
    if (signature == functions.end())
      continue;
    FailureOr<TtirFunction> function =
        LaunchExport(std::move(signature->second), *copy, options).run(entry);
    if (failed(function))
      return failure();
    out.push_back(std::move(*function));
  }
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
