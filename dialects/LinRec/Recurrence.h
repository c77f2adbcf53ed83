//===- Recurrence.h - what the ops of a recurrence share ------ -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DIALECTS_LINREC_RECURRENCE_H
#define DRAWLOOM_DIALECTS_LINREC_RECURRENCE_H

#include "dialects/LinRec/LinRec.h"
#include <cmath>
#include <optional>

namespace drawloom::linrec {

enum class DecayKind { None, Constant, Scalar, Key, Value };

/// Operands and attributes of `linrec.scan`, which its gradient has, too.
/// Absent operands are null. Valid only for ops that verify.
struct Recurrence {
  mlir::Value q, k, v, decay, beta, erase, lowrank, bonus, initial, starts;
  double scale;
  DecayKind decayKind = DecayKind::None;
  bool eraseBeforeDecay;
  std::optional<double> decayBound;
  std::optional<int64_t> chunk;
  int64_t heads, keySize, valueSize;

  template <typename Op>
  explicit Recurrence(Op op)
      : q(op.getQ()), k(op.getK()), v(op.getV()), decay(op.getDecay()),
        beta(op.getBeta()), erase(op.getErase()), lowrank(op.getLowrank()),
        bonus(op.getBonus()), initial(op.getInitial()), starts(op.getStarts()),
        eraseBeforeDecay(op.getEraseBeforeDecay()), chunk(op.getChunk()) {
    heads = type(v).getDimSize(2);
    keySize = type(q).getDimSize(3);
    valueSize = type(v).getDimSize(3);
    scale = op.getScale() ? op.getScale()->convertToDouble()
                          : 1 / std::sqrt(static_cast<double>(keySize));
    if (op.getDecayBound())
      decayBound = op.getDecayBound()->convertToDouble();
    if (!decay)
      return;
    int64_t rank = type(decay).getRank();
    decayKind = rank == 1                  ? DecayKind::Constant
                : rank == 3                ? DecayKind::Scalar
                : op.getDecayAlongValues() ? DecayKind::Value
                                           : DecayKind::Key;
  }

  static mlir::RankedTensorType type(mlir::Value value) {
    return mlir::cast<mlir::RankedTensorType>(value.getType());
  }

  bool erases() const { return beta || erase; }

  /// How many heads of the state share a head of `x`, which is q or k.
  int64_t group(mlir::Value x) const { return heads / type(x).getDimSize(2); }

  /// The operands that have gradients, in order.
  llvm::SmallVector<mlir::Value> differentiable() const {
    llvm::SmallVector<mlir::Value> all = {q, k, v};
    for (mlir::Value value : {decay, beta, erase, lowrank, bonus, initial})
      if (value)
        all.push_back(value);
    return all;
  }
};

} // namespace drawloom::linrec

#endif // DRAWLOOM_DIALECTS_LINREC_RECURRENCE_H
