//===- SliceChain.h - structured ops on a part of their values -------- -*- C++
//-*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block program reads a tensor by slices of slices and, where its rows are
// sparse, by rows that it names: the steps of a cut. A structured op that made
// the tensor can compute just the part, from the same cut of its operands.
//
// linalg's own tiling slices one op at a time. It does not support rows by
// number, and keeps dimensions of extent 1 where a slice takes a single index,
// so that each op would have to be rank-reduced again. Handling several steps
// and ops at once takes about as much code from scratch.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_PASSES_BLOCK_FUSION_SLICECHAIN_H
#define DRAWLOOM_PASSES_BLOCK_FUSION_SLICECHAIN_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace drawloom {

/// The effect of a step on one dimension.
struct DimCut {
  enum Kind {
    Whole, ///< Unchanged.
    Part,  ///< `size` entries starting at `offset`.
    Index, ///< The entry at `offset`; the dimension is dropped.
    Rows,  ///< The rows that the step names; negative numbers give 0.
  };
  Kind kind = Whole;
  mlir::OpFoldResult offset, size;

  bool operator==(const DimCut &other) const {
    return kind == other.kind && offset == other.offset && size == other.size;
  }
};

/// One slice, or rows gathered by number.
struct SliceStep {
  /// One entry for each dimension of the value, including those dropped by
  /// earlier steps.
  llvm::SmallVector<DimCut> dims;
  /// The row numbers of `Rows`.
  mlir::Value rows;
  /// The values that this step uses are defined before this op.
  mlir::Operation *at;

  bool touches() const {
    return llvm::any_of(
        dims, [](const DimCut &dim) { return dim.kind != DimCut::Whole; });
  }
};

using SliceChain = llvm::SmallVector<SliceStep>;

/// Returns the cut that a chain of slices, possibly followed by a gather, makes
/// of its source, or that a chain of slices followed by an insertion or scatter
/// writes. Returns nothing if strides are not 1. Steps that take everything are
/// left out.
std::optional<SliceChain> cutOf(llvm::ArrayRef<mlir::Operation *> chain);

/// Returns, by loop, the cut of loops that corresponds to a cut of a value
/// indexed by `map` (a projected permutation).
SliceChain onLoops(const SliceChain &cut, mlir::AffineMap map);
/// Returns the cut of an operand indexed by `map` that corresponds to a cut of
/// the loops.
SliceChain onOperand(const SliceChain &loops, mlir::AffineMap map);

/// Returns the extents of a tensor after a cut; dynamic where unknown.
llvm::SmallVector<int64_t> shapeAfter(const SliceChain &cut,
                                      mlir::RankedTensorType type);

/// Returns whether a cut can be read from memory: rows must be gathered along
/// the first remaining dimension.
bool canRead(const SliceChain &cut);

/// Returns whether an op computes each part of its results from the same part
/// of its operands and is no matrix product. The op may use `linalg.index`.
bool canBeCut(mlir::Operation *op);

/// Returns the cut of the source of a reshape that corresponds to a cut of its
/// result. Returns nothing if a part spans several dimensions that were one.
/// Without a builder, only the offsets of the last of such dimensions are used.
std::optional<SliceChain> cutOfSource(mlir::tensor::ExpandShapeOp op,
                                      const SliceChain &cut,
                                      mlir::OpBuilder *builder = nullptr);

/// The cuts that make up a part of gathered rows.
struct GatherCut {
  SliceChain source; ///< The source rows from which rows are gathered.
  SliceChain rows;   ///< The row numbers.
};
/// Returns nothing if a single row is taken.
std::optional<GatherCut> cutOfGather(const SliceChain &cut);

/// Returns the operations of one iteration of an op, in units of an addition. A
/// rough measure: an operation with its own instruction, fast or slow, or a
/// polynomial of about fifteen terms.
double operationsOf(mlir::linalg::LinalgOp op);

/// Builds parts of values.
class PartBuilder {
public:
  /// With `packs`, rows with gaps between them are copied into contiguous
  /// memory before slow operations read them. This is for results whose rows
  /// have another stride: processors delay a load behind an earlier store if
  /// the low twelve bits of the addresses match, which is then frequent, and a
  /// store of a slow operation such as an exponential takes long.
  PartBuilder(mlir::RewriterBase &rewriter,
              const llvm::SmallPtrSetImpl<mlir::Operation *> &computed,
              bool packs)
      : b(rewriter), computed(computed), packs(packs) {}

  /// Returns the part of a value: one that is known already, or computed by the
  /// value's op if that is one of those to compute, or read from memory.
  mlir::Value part(mlir::Value value, const SliceChain &cut);
  /// Like part(), but with zeros in rows with negative numbers.
  mlir::Value maskedPart(mlir::OpResult value, const SliceChain &cut);
  /// Computes the parts of an op's results, given the cut of its loops.
  llvm::SmallVector<mlir::Value> compute(mlir::linalg::LinalgOp op,
                                         SliceChain loops, bool masked = false);

  void know(mlir::Value value, const SliceChain &cut, mlir::Value part) {
    known.push_back({value, cut, part});
  }

private:
  mlir::Value read(mlir::Value value, const SliceChain &cut);
  mlir::Value computePart(mlir::OpResult value, const SliceChain &cut,
                          bool masked);
  mlir::Value gatherPart(mlir::Operation *gather, const SliceChain &cut);

  struct Known {
    mlir::Value value;
    SliceChain cut;
    mlir::Value part;
  };
  mlir::RewriterBase &b;
  const llvm::SmallPtrSetImpl<mlir::Operation *> &computed;
  bool packs, packing = false;
  llvm::SmallVector<Known> known;
};

} // namespace drawloom

#endif // DRAWLOOM_PASSES_BLOCK_FUSION_SLICECHAIN_H
