//===- Products.cpp - dense products by cuBLASLt --------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cuBLASLt's matrices are stored column by column. A matrix stored by rows is
// its transpose there, so that what is computed is the transposed product,
// with its operands exchanged; the bias of cuBLASLt, one number for each of its
// rows, so is one for each of our columns.
//
//===----------------------------------------------------------------------===//

#include "CublasLt.h"
#include "Device.h"
#include "drawloom/runtime/CudaProducts.h"
#include <array>
#include <climits>
#include <cstdlib>
#include <dlfcn.h>
#include <map>

namespace drawloom::runtime::cuda {

using namespace cublaslt;

namespace {

struct Functions {
#define DRAWLOOM_CUBLASLT(member, symbol, result, parameters)                  \
  result(*member) parameters; // NOLINT(bugprone-macro-parentheses)
  DRAWLOOM_CUBLASLT_FUNCTIONS(DRAWLOOM_CUBLASLT)
#undef DRAWLOOM_CUBLASLT
};

bool isElement(Kind kind) {
  return kind == Kind::F32 || kind == Kind::F16 || kind == Kind::BF16;
}

DataType typeOf(Kind kind) {
  return kind == Kind::F32 ? real32 : kind == Kind::F16 ? real16 : bfloat16;
}

/// The power of two that a pointer is a multiple of, at most 256.
uint32_t alignmentOf(const void *pointer) {
  auto bits = reinterpret_cast<uintptr_t>(pointer) | 256;
  return static_cast<uint32_t>(bits & (~bits + 1));
}

std::string describe(const Product &product) {
  std::string text =
      std::to_string(product.m) + "x" + std::to_string(product.n) + "x" +
      std::to_string(product.k) + " " + productKindName(product.operands);
  if (product.result != product.operands)
    text += std::string(" to ") + productKindName(product.result);
  if (product.batch != 1)
    text += ", " + std::to_string(product.batch) + " times";
  return "product " + text + " by cuBLASLt";
}

/// All that an algorithm depends on.
using Key = std::array<int64_t, 26>;

Key keyOf(const Product &p, const ProductOperands &o) {
  return {p.m,
          p.n,
          p.k,
          p.batch,
          static_cast<int64_t>(p.operands),
          static_cast<int64_t>(p.result),
          p.transposeLeft,
          p.transposeRight,
          p.leftStride,
          p.rightStride,
          p.addendStride,
          p.resultStride,
          p.leftBatch,
          p.rightBatch,
          p.addendBatch,
          p.resultBatch,
          p.addend,
          p.bias,
          p.relu,
          p.gelu,
          alignmentOf(o.left),
          alignmentOf(o.right),
          p.addend ? alignmentOf(o.addend) : 0,
          p.bias ? alignmentOf(o.bias) : 0,
          alignmentOf(o.result),
          static_cast<int64_t>(o.workspace ? o.workspaceBytes : 0)};
}

/// What is kept of a product: descriptors, and the algorithm chosen.
struct Prepared {
  explicit Prepared(const Functions &functions) : functions(functions) {}
  ~Prepared() {
    for (void *layout : {a, b, c, d})
      if (layout)
        functions.layoutDestroy(layout);
    if (descriptor)
      functions.descriptorDestroy(descriptor);
  }
  Prepared(const Prepared &) = delete;
  Prepared &operator=(const Prepared &) = delete;

  const Functions &functions;
  void *descriptor = nullptr;
  void *a = nullptr, *b = nullptr, *c = nullptr, *d = nullptr;
  Algorithm algorithm = {};
  /// The descriptor holds the bias's address, which is another in each call.
  std::mutex mutex;
};

} // namespace

struct ProductLibrary::State {
  std::shared_ptr<Device> device;
  Functions functions = {};
  void *handle = nullptr;
  std::mutex mutex;
  std::map<Key, std::unique_ptr<Prepared>> prepared;

  std::string describe(int code) const {
    const char *name = functions.getStatusName(code);
    const char *text = functions.getStatusString(code);
    std::string result = name ? name : "status " + std::to_string(code);
    if (text && *text)
      result += std::string(": ") + text;
    return result;
  }
  Result<Prepared *> prepare(const Product &product,
                             const ProductOperands &operands);
  int makeLayouts(Prepared &made, const Product &product) const;
  int makeDescriptor(Prepared &made, const Product &product,
                     const ProductOperands &operands) const;
  int choose(Prepared &made, const Product &product,
             const ProductOperands &operands, int &found) const;
};

ProductLibrary::ProductLibrary() : state(std::make_unique<State>()) {}

ProductLibrary::~ProductLibrary() {
  if (!state->handle)
    return;
  CurrentContext current(state->device->driver->api(), state->device->context);
  state->prepared.clear();
  if (current.code == cuda::success)
    state->functions.destroy(state->handle);
  // The library stays: it has kernels loaded.
}

const char *productKindName(Kind kind) {
  return kind == Kind::F32 ? "f32" : kind == Kind::F16 ? "f16" : "bf16";
}

std::optional<Kind> productKind(std::string_view name) {
  for (Kind kind : {Kind::F32, Kind::F16, Kind::BF16})
    if (name == productKindName(kind))
      return kind;
  return std::nullopt;
}

std::string productText(const Product &product) {
  return (product.batch != 1 ? std::to_string(product.batch) + " x " : "") +
         std::to_string(product.m) + "x" + std::to_string(product.n) + "x" +
         std::to_string(product.k) + " " + productKindName(product.operands);
}

size_t productWorkspaceBytes(unsigned capability) {
  return size_t(capability >= 90 ? 32 : 4) << 20;
}

Result<std::shared_ptr<ProductLibrary>>
ProductLibrary::open(std::shared_ptr<Device> device) {
  const char *given = std::getenv("DRAWLOOM_LIBCUBLASLT");
  std::vector<std::string> names{"libcublasLt.so.13", "libcublasLt.so.12",
                                 "libcublasLt.so"};
  if (given && *given)
    names = {given};
  void *library = nullptr;
  std::string name, why;
  for (const std::string &candidate : names) {
    library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library) {
      name = candidate;
      break;
    }
    const char *text = dlerror();
    why += (why.empty() ? "" : "; ") + std::string(text ? text : candidate);
  }
  const std::string wayOut =
      ". It comes with CUDA, and with the Python package nvidia-cublas; "
      "DRAWLOOM_LIBCUBLASLT names the library where the loader does not find "
      "it, and programs compiled with --dense-products=own do without";
  if (!library)
    return Status::error("there is no cuBLASLt: " + why + wayOut);
  std::shared_ptr<ProductLibrary> result(new ProductLibrary);
  State &state = *result->state;
  std::string missing;
  auto find = [&](const char *symbol) {
    void *address = dlsym(library, symbol);
    if (!address)
      missing += (missing.empty() ? "" : ", ") + std::string(symbol);
    return address;
  };
#define DRAWLOOM_CUBLASLT(member, symbol, result, parameters)                  \
  state.functions.member =                                                     \
      reinterpret_cast<decltype(Functions::member)>(find(#symbol));
  DRAWLOOM_CUBLASLT_FUNCTIONS(DRAWLOOM_CUBLASLT)
#undef DRAWLOOM_CUBLASLT
  if (!missing.empty())
    return Status::error("'" + name + "' lacks " + missing +
                         ": it is too old, or not cuBLASLt" + wayOut);
  result->newest = state.functions.getVersion();
  state.device = std::move(device);
  CurrentContext current(state.device->driver->api(), state.device->context);
  if (current.code != cuda::success)
    return Status::error("cuBLASLt cannot be used on " + state.device->name() +
                         ": " + state.device->driver->describe(current.code));
  if (int code = state.functions.create(&state.handle)) {
    state.handle = nullptr;
    return Status::error("cuBLASLt, '" + name + "', does not start on " +
                         state.device->name() + ": " + state.describe(code));
  }
  return result;
}

std::string checkProduct(const Product &p) {
  if (p.m < 0 || p.n < 0 || p.k < 0 || p.batch < 0)
    return "an extent is negative";
  if (p.m > INT32_MAX || p.n > INT32_MAX || p.k > INT32_MAX ||
      p.batch > INT32_MAX)
    return "an extent is above 2^31 - 1";
  if (!isElement(p.operands) || !isElement(p.result) ||
      (p.result != p.operands && p.result != Kind::F32))
    return "operands are f32, f16 or bf16, and the result is of their type or "
           "f32";
  if (p.relu && p.gelu)
    return "it has two functions at the end";
  if (p.m == 0 || p.n == 0 || p.batch == 0)
    return {};
  if (p.k == 0)
    return "it adds up no products";
  struct Matrix {
    const char *name;
    int64_t rows, columns, stride, batch;
    bool written;
  };
  std::vector<Matrix> matrices{
      {"left", p.transposeLeft ? p.k : p.m, p.transposeLeft ? p.m : p.k,
       p.leftStride, p.leftBatch, false},
      {"right", p.transposeRight ? p.n : p.k, p.transposeRight ? p.k : p.n,
       p.rightStride, p.rightBatch, false},
      {"result", p.m, p.n, p.resultStride, p.resultBatch, true}};
  if (p.addend)
    matrices.push_back(
        {"addend", p.m, p.n, p.addendStride, p.addendBatch, false});
  for (const Matrix &matrix : matrices) {
    if (matrix.stride < matrix.columns)
      return std::string("rows of the ") + matrix.name + " matrix, of " +
             std::to_string(matrix.columns) + " elements, are " +
             std::to_string(matrix.stride) + " apart";
    if (matrix.batch < 0)
      return std::string("the ") + matrix.name + " matrices go backwards";
    // Interleaved batches are fine as long as no two results meet.
    if (matrix.written && p.batch > 1 && matrix.batch < matrix.columns)
      return std::string("the ") + matrix.name + " matrices overlap";
  }
  return {};
}

int ProductLibrary::State::makeLayouts(Prepared &made, const Product &p) const {
  auto make = [&](void *&layout, Kind kind, int64_t rows, int64_t columns,
                  int64_t stride, int64_t batchStride) -> int {
    // By columns: the columns are ours' rows.
    int code = functions.layoutCreate(&layout, typeOf(kind),
                                      static_cast<uint64_t>(columns),
                                      static_cast<uint64_t>(rows), stride);
    if (code || p.batch == 1)
      return code;
    auto count = static_cast<int32_t>(p.batch);
    code = functions.layoutSet(layout, layoutBatchCount, &count, sizeof(count));
    return code ? code
                : functions.layoutSet(layout, layoutBatchStride, &batchStride,
                                      sizeof(batchStride));
  };
  int code = make(made.a, p.operands, p.transposeRight ? p.n : p.k,
                  p.transposeRight ? p.k : p.n, p.rightStride, p.rightBatch);
  if (!code)
    code = make(made.b, p.operands, p.transposeLeft ? p.k : p.m,
                p.transposeLeft ? p.m : p.k, p.leftStride, p.leftBatch);
  if (!code)
    code = make(made.c, p.result, p.m, p.n,
                p.addend ? p.addendStride : p.resultStride,
                p.addend ? p.addendBatch : p.resultBatch);
  return code ? code
              : make(made.d, p.result, p.m, p.n, p.resultStride, p.resultBatch);
}

int ProductLibrary::State::makeDescriptor(
    Prepared &made, const Product &p, const ProductOperands &operands) const {
  int code = functions.descriptorCreate(&made.descriptor, computeF32, real32);
  auto set = [&](DescriptorAttribute attribute, auto value) {
    if (!code)
      code = functions.descriptorSet(made.descriptor, attribute, &value,
                                     sizeof(value));
  };
  set(descriptorTransposeA,
      static_cast<int32_t>(p.transposeRight ? transposed : plain));
  set(descriptorTransposeB,
      static_cast<int32_t>(p.transposeLeft ? transposed : plain));
  uint32_t epilogue = (p.bias ? epilogueBias : 0u) |
                      (p.relu ? epilogueRelu : 0u) |
                      (p.gelu ? epilogueGelu : 0u);
  set(descriptorEpilogue, epilogue ? epilogue : uint32_t(noEpilogue));
  if (p.bias) {
    set(descriptorBiasPointer, operands.bias);
    set(descriptorBiasType, static_cast<int32_t>(typeOf(p.result)));
  }
  return code;
}

int ProductLibrary::State::choose(Prepared &made, const Product &p,
                                  const ProductOperands &operands,
                                  int &found) const {
  void *preference = nullptr;
  int code = functions.preferenceCreate(&preference);
  if (code)
    return code;
  auto set = [&](PreferenceAttribute attribute, auto value) {
    if (!code)
      code =
          functions.preferenceSet(preference, attribute, &value, sizeof(value));
  };
  set(preferenceWorkspaceBytes,
      static_cast<uint64_t>(operands.workspace ? operands.workspaceBytes : 0));
  set(preferenceAlignmentA, alignmentOf(operands.right));
  set(preferenceAlignmentB, alignmentOf(operands.left));
  set(preferenceAlignmentC,
      alignmentOf(p.addend ? operands.addend : operands.result));
  set(preferenceAlignmentD, alignmentOf(operands.result));
  HeuristicResult result = {};
  // Sums in parts by way of the workspace, in order; else none in parts. In
  // place they would be added by whoever comes.
  for (uint32_t schemes : {reductionOfComputeType, noReduction}) {
    set(preferenceReductionSchemes, schemes);
    if (code)
      break;
    int answer =
        functions.getHeuristic(handle, made.descriptor, made.a, made.b, made.c,
                               made.d, preference, 1, &result, &found);
    if (answer == cublaslt::success && found > 0 &&
        result.state == cublaslt::success)
      break;
    found = 0;
    if (answer != cublaslt::success && answer != notSupported)
      code = answer;
  }
  made.algorithm = result.algorithm;
  functions.preferenceDestroy(preference);
  return code;
}

Result<Prepared *>
ProductLibrary::State::prepare(const Product &product,
                               const ProductOperands &operands) {
  Key key = keyOf(product, operands);
  std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<Prepared> &slot = prepared[key];
  if (slot)
    return slot.get();
  auto made = std::make_unique<Prepared>(functions);
  int found = 0;
  int code = makeLayouts(*made, product);
  if (!code)
    code = makeDescriptor(*made, product, operands);
  if (!code)
    code = choose(*made, product, operands, found);
  if (code || found == 0)
    return Status::error(
        cuda::describe(product) + ": " +
        (code ? describe(code) : std::string("it has no algorithm for it")) +
        ". Compile with --dense-products=own");
  slot = std::move(made);
  return slot.get();
}

Status ProductLibrary::multiply(const Product &product,
                                const ProductOperands &operands, void *stream) {
  auto failed = [&](const std::string &why) {
    return Status::error(cuda::describe(product) + ": " + why);
  };
  if (std::string why = checkProduct(product); !why.empty())
    return failed(why);
  if (product.m == 0 || product.n == 0 || product.batch == 0)
    return {};
  Device &device = *state->device;
  const Driver &driver = *device.driver;
  CurrentContext current(driver.api(), device.context);
  if (current.code != cuda::success)
    return failed(driver.describe(current.code));
  struct Pointer {
    const char *name;
    const void *address;
    Kind kind;
    bool needed;
  };
  const Pointer pointers[] = {
      {"left", operands.left, product.operands, true},
      {"right", operands.right, product.operands, true},
      {"addend", operands.addend, product.result, product.addend},
      {"bias", operands.bias, product.result, product.bias},
      {"result", operands.result, product.result, true}};
  for (const Pointer &pointer : pointers) {
    if (!pointer.needed)
      continue;
    if (!pointer.address)
      return failed(std::string("operand '") + pointer.name + "' is null");
    if (alignmentOf(pointer.address) < (pointer.kind == Kind::F32 ? 4u : 2u))
      return failed(std::string("operand '") + pointer.name +
                    "' is not aligned to its elements");
    if (std::string why =
            device.whyNotReadable(reinterpret_cast<uint64_t>(pointer.address));
        !why.empty())
      return failed(std::string("operand '") + pointer.name + "' " + why);
  }
  if (operands.workspace && alignmentOf(operands.workspace) < 256)
    return failed("the workspace must be a multiple of 256 bytes");
  Result<Prepared *> prepared = state->prepare(product, operands);
  if (!prepared.ok())
    return prepared.status();
  const float one = 1, zero = 0;
  int code = cublaslt::success;
  {
    std::lock_guard<std::mutex> lock((*prepared)->mutex);
    if (product.bias)
      code = state->functions.descriptorSet(
          (*prepared)->descriptor, descriptorBiasPointer, &operands.bias,
          sizeof(operands.bias));
    if (!code)
      code = state->functions.multiply(
          state->handle, (*prepared)->descriptor, &one, operands.right,
          (*prepared)->a, operands.left, (*prepared)->b,
          product.addend ? &one : &zero,
          product.addend ? operands.addend : operands.result, (*prepared)->c,
          operands.result, (*prepared)->d, &(*prepared)->algorithm,
          operands.workspace, operands.workspace ? operands.workspaceBytes : 0,
          stream);
  }
  if (code)
    return failed(state->describe(code) + ". " + device.state->lastLaunch());
  device.state->remember(cuda::describe(product), Grid());
  if (device.state->blocking)
    if (int waited = driver.api().streamSynchronize(stream))
      return failed(driver.describe(waited));
  return {};
}

} // namespace drawloom::runtime::cuda
