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
/// Rows past the end of a sequence are zeros. What the op lacks is null; a
/// constant decay is a decay of each token.
struct ChunkTiles {
  mlir::Value q, k, v;        // [C, K], [C, K], [C, V]
  mlir::Value decay;          // [C], [C, K] or [C, V]
  mlir::Value beta;           // [C]
  mlir::Value erase, lowrank; // [C, K]
  mlir::Value bonus;          // [K]
  mlir::Value rates;          // [K, V]
};

/// The same with what is common to all forms done:
///
///   e_t = a_t (D_t S_{t-1}) or, erasing before the decay, a_t S_{t-1}
///   S_t = D_t S_{t-1} + k_t^T w_t + b_t^T e_t      (b null: -k)
///   o_t = q_t S_t or, reading before the update, q_t S_{t-1}
struct CoreTiles {
  mlir::Value q; // times the scale
  mlir::Value k, w;
  mlir::Value g; // at most 0, but where there are rates
  mlir::Value a, b, rates;
};

/// Gradients of core tiles, and of the state before the chunk.
struct CoreGradients {
  mlir::Value q, k, w, g, a, b, rates, state;
};

struct ChunkGradients {
  mlir::Value q, k, v, decay, rates, beta, erase, lowrank, bonus, state;
};

/// How the core of a chunk is computed.
class ChunkForm {
public:
  ChunkForm(Tiles &t, const Recurrence &form, int64_t size)
      : t(t), form(form), size(size) {}
  virtual ~ChunkForm() = default;

  struct Outcome {
    mlir::Value o, state;
    /// What `backward` would otherwise compute again.
    Tiles::Values kept = {};
  };
  /// The shapes of what `forward` keeps.
  virtual llvm::SmallVector<llvm::SmallVector<int64_t>> keptShapes() {
    return {};
  }
  /// Outputs (where they are asked for) and the state after the chunk.
  virtual Outcome forward(const CoreTiles &in, mlir::Value state,
                          bool outputs) = 0;
  struct States {
    mlir::Value before, after;
    /// As `forward` gave it, or nothing.
    Tiles::Values kept = {};
  };
  /// From the states around the chunk, the gradients of its outputs and of the
  /// state after it.
  virtual CoreGradients backward(const CoreTiles &in, const States &states,
                                 mlir::Value dO, mlir::Value dState) = 0;

protected:
  bool readsBefore() const { return static_cast<bool>(form.bonus); }

  Tiles &t;
  const Recurrence &form;
  int64_t size;
};

/// Token after token: exact for any decay.
std::unique_ptr<ChunkForm> tokenForm(Tiles &t, const Recurrence &form,
                                     int64_t size);

/// Products of matrices: for decays of each token, or none; and for decays of
/// keys that do not go far below 1 within a chunk.
std::unique_ptr<ChunkForm> matrixForm(Tiles &t, const Recurrence &form,
                                      int64_t size);

/// Products of matrices where that is harmless, else token after token: what to
/// use.
std::unique_ptr<ChunkForm> splitForm(Tiles &t, const Recurrence &form,
                                     int64_t size);

/// Whether a bound of decays of keys makes products of matrices harmless in
/// every chunk of this size.
bool isMildByBound(const Recurrence &form, int64_t size);

/// A whole chunk of `in` by `core`.
ChunkForm::Outcome chunkForward(Tiles &t, const Recurrence &form,
                                ChunkForm &core, const ChunkTiles &in,
                                mlir::Value state, bool outputs);
ChunkGradients chunkBackward(Tiles &t, const Recurrence &form, ChunkForm &core,
                             const ChunkTiles &in,
                             const ChunkForm::States &states, mlir::Value dO,
                             mlir::Value dState);

} // namespace drawloom::linrec

#endif // DRAWLOOM_DIALECTS_LINREC_CHUNK_CHUNK_H
