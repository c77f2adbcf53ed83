//===- Recurrence.h - what the ops of a recurrence share ------ -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DIALECTS_LINREC_CHUNK_RECURRENCE_H
#define DRAWLOOM_DIALECTS_LINREC_CHUNK_RECURRENCE_H

#include "dialects/Interfaces/MachineFacts.h"
#include "dialects/LinRec/LinRec.h"
#include <array>
#include <cmath>
#include <optional>

namespace drawloom::linrec {

enum class DecayKind { None, Constant, Scalar, Key, Value };

/// Operands and attributes of `linrec.scan` or of its gradient. Absent operands
/// are null. Valid only for ops that verify.
struct Recurrence {
  mlir::Value q, k, v, decay, rates, beta, erase, lowrank, bonus, initial,
      starts;
  double scale;
  DecayKind decayKind = DecayKind::None;
  bool eraseBeforeDecay;
  std::optional<double> decayBound;
  std::optional<int64_t> chunk, segments, valueBlocks, checkpointInterval;
  /// Number of rows of keys and values per row of queries and decays.
  int64_t steps;
  int64_t heads, keySize, valueSize;
  /// Whether blocks have memory of their own, as on GPUs.
  bool ownMemory;
  /// Whether to multiply by the inverses of triangular systems, forward and
  /// backward, instead of solving the systems for all values: on targets where
  /// operands of products are rounded anyway, and tensor cores make products
  /// cheap.
  bool inverts;

  template <typename Op>
  explicit Recurrence(Op op)
      : q(op.getQ()), k(op.getK()), v(op.getV()), decay(op.getDecay()),
        rates(op.getRates()), beta(op.getBeta()), erase(op.getErase()),
        lowrank(op.getLowrank()), bonus(op.getBonus()),
        initial(op.getInitial()), starts(op.getStarts()),
        eraseBeforeDecay(op.getEraseBeforeDecay()), chunk(op.getChunk()),
        segments(op.getSegments()), valueBlocks(op.getValueBlocks()),
        checkpointInterval(op.getCheckpointInterval()),
        steps(op.getStepsPerToken().value_or(1)) {
    heads = type(v).getShape().take_back(2).front();
    keySize = type(q).getShape().back();
    valueSize = type(v).getShape().back();
    scale = op.getScale() ? op.getScale()->convertToDouble()
                          : 1 / std::sqrt(static_cast<double>(keySize));
    if (op.getDecayBound())
      decayBound = op.getDecayBound()->convertToDouble();
    ownMemory = machineFactsOf(op).blockBytes > 0;
    inverts = ownMemory && erases() && type(v).getElementType().isBF16();
    if (!decay)
      return;
    int64_t rank = type(decay).getRank();
    decayKind = rank == 1                  ? DecayKind::Constant
                : rank < type(v).getRank() ? DecayKind::Scalar
                : op.getDecayAlongValues() ? DecayKind::Value
                                           : DecayKind::Key;
  }

  static mlir::RankedTensorType type(mlir::Value value) {
    return mlir::cast<mlir::RankedTensorType>(value.getType());
  }

  /// Returns all operands, null if absent, and whether each has a dimension of
  /// tokens (or would have one if there were more than one token).
  std::array<std::pair<mlir::Value, bool>, 10> perToken() const {
    bool decays = decayKind != DecayKind::Constant;
    return {{{q, true},
             {k, true},
             {v, true},
             {decay, decays},
             {rates, false},
             {beta, true},
             {erase, true},
             {lowrank, true},
             {bonus, false},
             {initial, false}}};
  }

  bool erases() const { return beta || erase; }

  /// Returns the number of heads of the state that share a head of `x`, which
  /// is q or k.
  int64_t group(mlir::Value x) const { return heads / type(x).getDimSize(2); }

  /// Returns the operands that have gradients, in order.
  llvm::SmallVector<mlir::Value> differentiable() const {
    llvm::SmallVector<mlir::Value> all = {q, k, v};
    for (mlir::Value value :
         {decay, rates, beta, erase, lowrank, bonus, initial})
      if (value)
        all.push_back(value);
    return all;
  }
};

} // namespace drawloom::linrec

#endif // DRAWLOOM_DIALECTS_LINREC_CHUNK_RECURRENCE_H
