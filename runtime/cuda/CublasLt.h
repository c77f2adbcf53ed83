//===- CublasLt.h - the functions of cuBLASLt that are used -----*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The library's interface is declared here, so that CUDA's headers are not
// needed to build. Names, types and numbers are those of the library's
// documented binary interface, the same in versions 12 and 13. The emulated
// library of the tests includes this file, too.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_CUDA_CUBLASLT_H
#define DRAWLOOM_RUNTIME_CUDA_CUBLASLT_H

#include <cstddef>
#include <cstdint>

namespace drawloom::runtime::cublaslt {

enum Status : int {
  success = 0,
  notInitialized = 1,
  allocationFailed = 3,
  invalidValue = 7,
  architectureMismatch = 8,
  executionFailed = 13,
  notSupported = 15,
};

/// cudaDataType.
enum DataType : int { real32 = 0, real16 = 2, bfloat16 = 14 };

/// cublasComputeType_t: f32 accumulators, and f32 operands in full precision.
constexpr int computeF32 = 68;

enum Operation : int32_t { plain = 0, transposed = 1 };

enum Epilogue : uint32_t {
  noEpilogue = 1,
  epilogueRelu = 2,
  epilogueBias = 4,
  epilogueGelu = 32, ///< The tanh form.
};

/// cublasLtReductionScheme_t. In-place partial sums are added in order of
/// arrival; those in the workspace, in a fixed order.
enum ReductionScheme : uint32_t {
  noReduction = 0,
  reductionInPlace = 1,
  reductionOfComputeType = 2,
  reductionOfOutputType = 4,
};

enum LayoutAttribute : int {
  layoutType = 0,
  layoutOrder = 1,
  layoutRows = 2,
  layoutColumns = 3,
  layoutLeadingDimension = 4,
  layoutBatchCount = 5,  ///< int32_t
  layoutBatchStride = 6, ///< int64_t, elements
};

enum DescriptorAttribute : int {
  descriptorPointerMode = 2,
  descriptorTransposeA = 3, ///< int32_t
  descriptorTransposeB = 4,
  descriptorEpilogue = 7,    ///< uint32_t
  descriptorBiasPointer = 8, ///< const void *
  descriptorBiasStride = 10, ///< int64_t
  descriptorBiasType = 26,   ///< int32_t
};

enum PreferenceAttribute : int {
  preferenceWorkspaceBytes = 1,   ///< uint64_t
  preferenceReductionSchemes = 3, ///< uint32_t
  preferenceAlignmentA = 5,       ///< uint32_t, bytes
  preferenceAlignmentB = 6,
  preferenceAlignmentC = 7,
  preferenceAlignmentD = 8,
};

struct Algorithm {
  uint64_t data[8];
};

struct HeuristicResult {
  Algorithm algorithm;
  size_t workspaceBytes;
  int state;
  float waves;
  int reserved[4];
};
static_assert(sizeof(HeuristicResult) == 96);

// F(member, symbol, result, parameters). Descriptors are void * here.
#define DRAWLOOM_CUBLASLT_FUNCTIONS(F)                                         \
  F(getVersion, cublasLtGetVersion, size_t, ())                                \
  F(getStatusName, cublasLtGetStatusName, const char *, (int))                 \
  F(getStatusString, cublasLtGetStatusString, const char *, (int))             \
  F(create, cublasLtCreate, int, (void **handle))                              \
  F(destroy, cublasLtDestroy, int, (void *handle))                             \
  F(descriptorCreate, cublasLtMatmulDescCreate, int,                           \
    (void **descriptor, int computeType, int scaleType))                       \
  F(descriptorDestroy, cublasLtMatmulDescDestroy, int, (void *descriptor))     \
  F(descriptorSet, cublasLtMatmulDescSetAttribute, int,                        \
    (void *descriptor, int attribute, const void *value, size_t bytes))        \
  F(layoutCreate, cublasLtMatrixLayoutCreate, int,                             \
    (void **layout, int type, uint64_t rows, uint64_t columns,                 \
     int64_t leadingDimension))                                                \
  F(layoutDestroy, cublasLtMatrixLayoutDestroy, int, (void *layout))           \
  F(layoutSet, cublasLtMatrixLayoutSetAttribute, int,                          \
    (void *layout, int attribute, const void *value, size_t bytes))            \
  F(preferenceCreate, cublasLtMatmulPreferenceCreate, int,                     \
    (void **preference))                                                       \
  F(preferenceDestroy, cublasLtMatmulPreferenceDestroy, int,                   \
    (void *preference))                                                        \
  F(preferenceSet, cublasLtMatmulPreferenceSetAttribute, int,                  \
    (void *preference, int attribute, const void *value, size_t bytes))        \
  F(getHeuristic, cublasLtMatmulAlgoGetHeuristic, int,                         \
    (void *handle, void *descriptor, void *a, void *b, void *c, void *d,       \
     void *preference, int wanted, HeuristicResult *results, int *count))      \
  F(multiply, cublasLtMatmul, int,                                             \
    (void *handle, void *descriptor, const void *alpha, const void *a,         \
     void *aLayout, const void *b, void *bLayout, const void *beta,            \
     const void *c, void *cLayout, void *d, void *dLayout,                     \
     const Algorithm *algorithm, void *workspace, size_t workspaceBytes,       \
     void *stream))

} // namespace drawloom::runtime::cublaslt

#endif // DRAWLOOM_RUNTIME_CUDA_CUBLASLT_H
