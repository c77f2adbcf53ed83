//===- Chunk.h - what a recurrence does in one chunk ---------- -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DIALECTS_LINREC_CHUNK_CHUNK_H
#define DRAWLOOM_DIALECTS_LINREC_CHUNK_CHUNK_H

#include "dialects/LinRec/Chunk/Recurrence.h"
#include "dialects/LinRec/Chunk/Tiles.h"

namespace drawloom::linrec {

/// The tokens of one chunk of one head, as tiles of the type to compute in.
/// Rows past the end of a sequence are zeros. Absent operands are null; a
/// constant decay becomes a decay of each token.
struct ChunkTiles {
  mlir::Value q, k, v;        // [C, K], [C, K], [C, V]
  mlir::Value decay;          // [C], [C, K] or [C, V]
  mlir::Value beta;           // [C]
  mlir::Value erase, lowrank; // [C, K]
  mlir::Value bonus;          // [K]
  mlir::Value rates;          // [K, V]
};

/// Tiles of a chunk after the preparation that is common to all forms:
///
///   e_t = a_t (D_t S_{t-1}) or, erasing before the decay, a_t S_{t-1}
///   S_t = D_t S_{t-1} + k_t^T w_t + b_t^T e_t      (b null: -k)
///   o_t = q_t S_t or, reading before the update, q_t S_{t-1}
struct CoreTiles {
  mlir::Value q; // Multiplied by the scale.
  mlir::Value k, w;
  mlir::Value g; // At most 0, unless there are rates.
  mlir::Value a, b, rates;
};

/// Gradients of core tiles, and of the state before the chunk.
struct CoreGradients {
  mlir::Value q, k, w, g, a, b, rates, state;
};

struct ChunkGradients {
  mlir::Value q, k, v, decay, rates, beta, erase, lowrank, bonus, state;
};

/// An algorithm for the core of a chunk.
class ChunkForm {
public:
  ChunkForm(Tiles &t, const Recurrence &form, int64_t size)
      : t(t), form(form), size(size) {}
  virtual ~ChunkForm() = default;

  struct Outcome {
    mlir::Value o, state;
    /// Values that `backward` would otherwise recompute.
    Tiles::Values kept = {};
  };
  /// Returns the shapes of the values that `forward` keeps.
  virtual llvm::SmallVector<llvm::SmallVector<int64_t>> keptShapes() {
    return {};
  }
  /// Computes the outputs (if requested) and the state after the chunk.
  virtual Outcome forward(const CoreTiles &in, mlir::Value state,
                          bool outputs) = 0;
  struct States {
    mlir::Value before, after;
    /// As returned by `forward`, or empty.
    Tiles::Values kept = {};
  };
  /// Computes the gradients from the states around the chunk, and the gradients
  /// of its outputs and of the state after it.
  virtual CoreGradients backward(const CoreTiles &in, const States &states,
                                 mlir::Value dO, mlir::Value dState) = 0;

protected:
  bool readsBefore() const { return static_cast<bool>(form.bonus); }

  Tiles &t;
  const Recurrence &form;
  int64_t size;
};

/// Makes the form that goes token by token: exact for any decay.
std::unique_ptr<ChunkForm> tokenForm(Tiles &t, const Recurrence &form,
                                     int64_t size);

/// Makes the form of matrix products: for decays of each token, or none; and
/// for decays of keys that do not fall far below 1 within a chunk.
std::unique_ptr<ChunkForm> matrixForm(Tiles &t, const Recurrence &form,
                                      int64_t size);

/// Makes the default form: matrix products where that is numerically harmless,
/// else token by token.
std::unique_ptr<ChunkForm> splitForm(Tiles &t, const Recurrence &form,
                                     int64_t size);

/// Returns whether a bound on decays of keys makes matrix products harmless in
/// every chunk of this size.
bool isMildByBound(const Recurrence &form, int64_t size);

/// Computes a whole chunk of `in` by `core`.
ChunkForm::Outcome chunkForward(Tiles &t, const Recurrence &form,
                                ChunkForm &core, const ChunkTiles &in,
                                mlir::Value state, bool outputs);
ChunkGradients chunkBackward(Tiles &t, const Recurrence &form, ChunkForm &core,
                             const ChunkTiles &in,
                             const ChunkForm::States &states, mlir::Value dO,
                             mlir::Value dState);

} // namespace drawloom::linrec

#endif // DRAWLOOM_DIALECTS_LINREC_CHUNK_CHUNK_H
