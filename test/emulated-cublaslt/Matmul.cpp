//===- Matmul.cpp - products on the CPU, in the order of a stream ---------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Library.h"
#include <cmath>
#include <cstring>
#include <memory>

using namespace drawloom::cublaslt;

// The emulated driver's.
extern "C" {
int cuCtxGetCurrent(void **context);
int cuMemGetAddressRange_v2(uint64_t *base, size_t *bytes, uint64_t pointer);
int cuLaunchHostFunc(void *stream, void (*function)(void *), void *data);
}

namespace {

float widen(const void *from, int type) {
  if (type == F32) {
    float value;
    std::memcpy(&value, from, sizeof(value));
    return value;
  }
  uint16_t bits;
  std::memcpy(&bits, from, sizeof(bits));
  if (type == BF16) {
    uint32_t wide = uint32_t(bits) << 16;
    float value;
    std::memcpy(&value, &wide, sizeof(value));
    return value;
  }
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  float value = exponent == 31 ? (fraction ? NAN : INFINITY)
                : exponent == 0
                    ? std::ldexp(float(fraction), -24)
                    : std::ldexp(float(fraction + 1024), exponent - 25);
  return bits & 0x8000 ? -value : value;
}

/// Rounds to the nearest, ties to even.
void narrow(void *to, int type, float value) {
  uint32_t wide;
  std::memcpy(&wide, &value, sizeof(wide));
  if (type == F32) {
    std::memcpy(to, &wide, sizeof(wide));
    return;
  }
  uint16_t bits;
  if (type == BF16) {
    bits = static_cast<uint16_t>((wide + 0x7fff + (wide >> 16 & 1)) >> 16);
    if (std::isnan(value))
      bits = 0x7fff;
  } else {
    double magnitude = std::fabs(static_cast<double>(value));
    if (std::isnan(value)) {
      bits = 0x7fff;
    } else if (magnitude >= 65520) {
      bits = 0x7c00;
    } else {
      // In units of the last place: nearbyint rounds ties to even.
      int exponent = magnitude < 0x1p-14 ? -14 : std::ilogb(magnitude);
      auto units = static_cast<int>(
          std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
      bits =
          magnitude < 0x1p-14
              ? static_cast<uint16_t>(units)
              : static_cast<uint16_t>(((exponent + 15) << 10) + units - 1024);
    }
    if (std::signbit(value))
      bits |= 0x8000;
  }
  std::memcpy(to, &bits, sizeof(bits));
}

struct Range {
  const char *name;
  uint64_t begin;
  int64_t bytes;
  uint64_t end() const { return begin + static_cast<uint64_t>(bytes); }
  bool meets(const Range &other) const {
    return begin < other.end() && other.begin < end();
  }
};

/// Why memory cannot be used; empty where it can.
std::string refusalOf(const Range &range) {
  uint64_t base = 0;
  size_t size = 0;
  if (cuMemGetAddressRange_v2(&base, &size, range.begin) != 0)
    return std::string(range.name) + " is not in the device's memory";
  if (range.end() > base + size)
    return std::string(range.name) + ", of " + std::to_string(range.bytes) +
           " bytes, ends behind its allocation";
  return "";
}

struct Work {
  Descriptor descriptor;
  Layout layouts[4];
  const char *a, *b, *c;
  char *d;
  float *workspace;
  int64_t parts;
  float alpha, beta;
  std::vector<Range> ranges;

  void run() const;
  float element(const char *matrix, const Layout &layout, int64_t batch,
                int64_t row, int64_t column) const {
    int64_t offset =
        batch * layout.batchStride + column * layout.leadingDimension + row;
    return widen(matrix + offset * static_cast<int64_t>(bytesOf(layout.type)),
                 layout.type);
  }
};

void Work::run() const {
  // What is freed too early is found when the work is done.
  for (const Range &range : ranges)
    if (std::string why = refusalOf(range); !why.empty()) {
      refuse(ExecutionFailed, "cublasLtMatmul", why + " any more");
      return;
    }
  const auto &[la, lb, lc, ld] = layouts;
  auto m = static_cast<int64_t>(ld.rows), n = static_cast<int64_t>(ld.columns);
  auto k = static_cast<int64_t>(descriptor.transposeA ? la.rows : la.columns);
  for (int64_t batch = 0; batch < ld.batch; ++batch)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < m; ++i) {
        float *partial = workspace + ((batch * n + j) * m + i) * parts;
        float sum = 0;
        for (int64_t part = 0; part < parts; ++part) {
          float some = 0;
          for (int64_t p = part * k / parts; p < (part + 1) * k / parts; ++p)
            some = std::fma(descriptor.transposeA ? element(a, la, batch, p, i)
                                                  : element(a, la, batch, i, p),
                            descriptor.transposeB ? element(b, lb, batch, j, p)
                                                  : element(b, lb, batch, p, j),
                            some);
          // Through the workspace, so that what spoils it shows.
          if (parts > 1)
            partial[part] = some;
          sum += parts > 1 ? partial[part] : some;
        }
        float value = alpha * sum;
        // C is not read where it is multiplied by zero.
        if (beta != 0)
          value += beta * element(c, lc, batch, i, j);
        if (descriptor.epilogue & 4)
          value += widen(static_cast<const char *>(descriptor.bias) +
                             (batch * descriptor.biasStride + i) *
                                 static_cast<int64_t>(bytesOf(ld.type)),
                         ld.type);
        if (descriptor.epilogue & 2)
          value = value > 0 || std::isnan(value) ? value : 0;
        // The tanh form, as the library has it.
        if (descriptor.epilogue & 32) {
          double x = value;
          value =
              static_cast<float>(x / 2 *
                                 (1 + std::tanh(0.79788456080286536 *
                                                (x + 0.044715 * x * x * x))));
        }
        int64_t offset = batch * ld.batchStride + j * ld.leadingDimension + i;
        narrow(d + offset * static_cast<int64_t>(bytesOf(ld.type)), ld.type,
               value);
      }
}

/// What a call gives beside objects of the library.
struct Call {
  const void *a, *b, *c;
  void *d;
  const Algorithm *algorithm;
  void *workspace;
  size_t workspaceBytes;
};

int refused(Status status, const std::string &why) {
  return refuse(status, "cublasLtMatmul", why);
}

/// Copies what the handles stand for.
int findObjects(void *handle, void *operation, void *const (&layouts)[4],
                Work &work) {
  Library &library = Library::get();
  std::lock_guard<std::mutex> lock(library.mutex);
  auto *descriptor = static_cast<Descriptor *>(operation);
  if (!library.handles.count(handle) || !library.descriptors.count(descriptor))
    return refused(InvalidValue, "no such handle or descriptor");
  work.descriptor = *descriptor;
  for (int i = 0; i < 4; ++i) {
    auto *layout = static_cast<Layout *>(layouts[i]);
    if (!library.layouts.count(layout))
      return refused(InvalidValue, "no such layout");
    work.layouts[i] = *layout;
  }
  return Success;
}

/// Whether the algorithm was chosen for such a product and such addresses.
int checkAlgorithm(const Call &call, const Work &work) {
  const auto &[la, lb, lc, ld] = work.layouts;
  const Algorithm *algorithm = call.algorithm;
  if (!algorithm || algorithm->data[Magic] != magic ||
      algorithm->data[Problem] != hashOf(work.descriptor, la, lb, lc, ld))
    return refused(NotSupported, "the algorithm is not one for this product");
  const void *pointers[] = {call.a, call.b, call.c, call.d};
  for (int i = 0; i < 4; ++i) {
    auto alignment = algorithm->data[Alignments] >> 16 * i & 0xffff;
    if (reinterpret_cast<uintptr_t>(pointers[i]) % alignment)
      return refused(InvalidValue,
                     std::string(1, "ABCD"[i]) + " is not a multiple of the " +
                         std::to_string(alignment) +
                         " bytes that the algorithm was chosen for");
  }
  return Success;
}

Range range(const char *name, const void *pointer, int64_t bytes) {
  return {name, reinterpret_cast<uintptr_t>(pointer), bytes};
}

/// Collects the memory of the operands. Nothing may overlap D.
int addOperands(const Call &call, Work &work) {
  const auto &[la, lb, lc, ld] = work.layouts;
  const Descriptor &descriptor = work.descriptor;
  std::vector<Range> &ranges = work.ranges;
  ranges = {range("A", call.a, la.bytes()), range("B", call.b, lb.bytes()),
            range("D", call.d, ld.bytes())};
  if (ranges[2].meets(ranges[0]) || ranges[2].meets(ranges[1]))
    return refused(InvalidValue, "D is in the memory of A or B");
  // The same memory is allowed, of the same layout.
  Range addend = range("C", call.c, lc.bytes());
  if (call.c != call.d && addend.meets(ranges[2]))
    return refused(InvalidValue, "C overlaps D");
  if (call.c == call.d && (lc.leadingDimension != ld.leadingDimension ||
                           lc.batchStride != ld.batchStride))
    return refused(InvalidValue, "C is D in another layout");
  ranges.push_back(addend);
  if (!(descriptor.epilogue & 4))
    return Success;
  auto bytes = static_cast<int64_t>(bytesOf(ld.type));
  ranges.push_back(range(
      "the bias", descriptor.bias,
      ((ld.batch - 1) * descriptor.biasStride + static_cast<int64_t>(ld.rows)) *
          bytes));
  if (reinterpret_cast<uintptr_t>(descriptor.bias) %
      static_cast<uintptr_t>(bytes))
    return refused(InvalidValue, "the bias is not aligned to its elements");
  if (ranges.back().meets(ranges[2]))
    return refused(InvalidValue, "D is in the memory of the bias");
  return Success;
}

/// Adds the memory of the workspace, which nothing may overlap.
int addWorkspace(const Call &call, Work &work) {
  if (call.workspaceBytes > 0) {
    if (!call.workspace || reinterpret_cast<uintptr_t>(call.workspace) % 16)
      return refused(InvalidValue, "the workspace is null or misaligned");
    Range scratch = range("the workspace", call.workspace,
                          static_cast<int64_t>(call.workspaceBytes));
    for (const Range &other : work.ranges)
      if (scratch.meets(other))
        return refused(InvalidValue,
                       std::string("the workspace meets ") + other.name);
    work.ranges.push_back(scratch);
  }
  if (call.algorithm->data[WorkspaceBytes] > call.workspaceBytes)
    return refused(InvalidValue, "the workspace is smaller than the "
                                 "algorithm's");
  return Success;
}

/// Puts the work behind what the stream has to do.
int enqueue(std::unique_ptr<Work> work, void *stream) {
  // Kept for good: a graph may run it again at any time.
  static std::mutex mutex;
  static auto *all = new std::vector<std::unique_ptr<Work>>;
  Work *kept = work.get();
  {
    std::lock_guard<std::mutex> lock(mutex);
    all->push_back(std::move(work));
  }
  int code = cuLaunchHostFunc(
      stream, [](void *data) { static_cast<Work *>(data)->run(); }, kept);
  if (code)
    return refused(ExecutionFailed,
                   "the stream gives error " + std::to_string(code));
  return Success;
}

} // namespace

DRAWLOOM_CUBLASLT_API
cublasLtMatmul(void *handle, void *operation, const void *alpha, const void *a,
               void *aLayout, const void *b, void *bLayout, const void *beta,
               const void *c, void *cLayout, void *d, void *dLayout,
               const Algorithm *algorithm, void *workspace,
               size_t workspaceBytes, void *stream) {
  Call call{a, b, c, d, algorithm, workspace, workspaceBytes};
  auto work = std::make_unique<Work>();
  if (int status = findObjects(handle, operation,
                               {aLayout, bLayout, cLayout, dLayout}, *work))
    return status;
  const auto &[la, lb, lc, ld] = work->layouts;
  std::string why = mismatch(work->descriptor, la, lb, lc, ld);
  if (!why.empty())
    return refused(InvalidValue, why);
  if (!alpha || !beta || !a || !b || !c || !d)
    return refused(InvalidValue, "a null pointer");
  if (int status = checkAlgorithm(call, *work))
    return status;
  if (int status = addOperands(call, *work))
    return status;
  if (int status = addWorkspace(call, *work))
    return status;
  for (const Range &other : work->ranges)
    if (std::string refusal = refusalOf(other); !refusal.empty())
      return refused(InvalidValue, refusal);
  void *context = nullptr;
  if (cuCtxGetCurrent(&context) != 0 || !context)
    return refused(NotInitialized, "no context is current");
  std::memcpy(&work->alpha, alpha, sizeof(float));
  std::memcpy(&work->beta, beta, sizeof(float));
  work->a = static_cast<const char *>(a);
  work->b = static_cast<const char *>(b);
  work->c = static_cast<const char *>(c);
  work->d = static_cast<char *>(d);
  work->workspace = static_cast<float *>(workspace);
  work->parts = static_cast<int64_t>(algorithm->data[Parts]);
  return enqueue(std::move(work), stream);
}
