//===- SliceChain.h - structured ops on a part of their values -------- -*- C++
//-*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block program reads a tensor by slices of slices, and where rows are
// missing by rows that it names: the steps of a cut. A structured op that made
// the tensor can make the part alone, from the same cut of what it reads.
//
// linalg's own tiling makes a slice of one op. It knows no rows by number, and
// leaves dimensions of extent 1 where a slice takes a single index, so that
// each op would have to be made smaller again; several steps and several ops at
// once are as short from scratch.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_PASSES_BLOCK_FUSION_SLICECHAIN_H
#define DRAWLOOM_PASSES_BLOCK_FUSION_SLICECHAIN_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace drawloom {

/// What a step does to one dimension.
struct DimCut {
  enum Kind {
    Whole, ///< Nothing.
    Part,  ///< `size` entries from `offset` on.
    Index, ///< The entry at `offset`; the dimension is gone.
    Rows,  ///< The rows that the step names, 0 for negative numbers.
  };
  Kind kind = Whole;
  mlir::OpFoldResult offset, size;

  bool operator==(const DimCut &other) const {
    return kind == other.kind && offset == other.offset && size == other.size;
  }
};

/// One slice, or rows gathered by number.
struct SliceStep {
  /// For each dimension of the value, those that earlier steps took included.
  llvm::SmallVector<DimCut> dims;
  /// The numbers of `Rows`.
  mlir::Value rows;
  /// Numbers of this step are known before this op.
  mlir::Operation *at;

  bool touches() const {
    return llvm::any_of(
        dims, [](const DimCut &dim) { return dim.kind != DimCut::Whole; });
  }
};

using SliceChain = llvm::SmallVector<SliceStep>;

/// The cut that a chain of slices, perhaps with a gather behind it, makes of
/// the first one's source, or that a chain of slices and an insertion or
/// scattering behind them writes. Nothing where strides are not 1. Steps that
/// take all that is there are left out.
std::optional<SliceChain> cutOf(llvm::ArrayRef<mlir::Operation *> chain);

/// The same cut of what lies along loops as `map` says (a projected
/// permutation), by loop.
SliceChain onLoops(const SliceChain &cut, mlir::AffineMap map);
/// And of an operand that lies along loops as `map` says.
SliceChain onOperand(const SliceChain &loops, mlir::AffineMap map);

/// The extents of a tensor after a cut; dynamic where they are not known.
llvm::SmallVector<int64_t> shapeAfter(const SliceChain &cut,
                                      mlir::RankedTensorType type);

/// Whether a cut can be read from memory: rows are gathered along the first
/// dimension that is left.
bool canRead(const SliceChain &cut);

/// Whether an op computes each part of its results from the same part of its
/// operands, and is no product of matrices. It may ask where it is.
bool canBeCut(mlir::Operation *op);

/// The cut of what `op` gives other dimensions to, whose parts are those of its
/// result. Nothing where a part lies along several dimensions that were one.
/// Without a builder, offsets are those of the last of such dimensions only.
std::optional<SliceChain> cutOfSource(mlir::tensor::ExpandShapeOp op,
                                      const SliceChain &cut,
                                      mlir::OpBuilder *builder = nullptr);

/// What a part of gathered rows is made of.
struct GatherCut {
  SliceChain source; ///< All rows, of which these are gathered.
  SliceChain rows;   ///< Of the numbers of rows.
};
/// Nothing where a single row is taken.
std::optional<GatherCut> cutOfGather(const SliceChain &cut);

/// Operations that an op does in one iteration, an addition being one. A rough
/// measure: what a processor has an instruction for, slow or fast, or a
/// polynomial of some fifteen terms.
double operationsOf(mlir::linalg::LinalgOp op);

/// Writes parts of values.
class PartBuilder {
public:
  /// With `packs`, rows with gaps between them are copied together before slow
  /// operations read them. For results that lie in rows of another distance:
  /// processors let a load wait for an earlier store where the last twelve bits
  /// of both addresses are alike, as they often are then, and an exponential
  /// that is to be stored takes long.
  PartBuilder(mlir::RewriterBase &rewriter,
              const llvm::SmallPtrSetImpl<mlir::Operation *> &computed,
              bool packs)
      : b(rewriter), computed(computed), packs(packs) {}

  /// The part of a value: what is known of it, or computed by its op where that
  /// is one of those to compute, or read.
  mlir::Value part(mlir::Value value, const SliceChain &cut);
  /// The same, with zeros in rows that a negative number names.
  mlir::Value maskedPart(mlir::OpResult value, const SliceChain &cut);
  /// The parts of an op's results, by the cut of its loops.
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
