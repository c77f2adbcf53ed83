//===- Update.cpp - optimizers' updates in place, piece by piece ----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Update.h"
#include "OpenMp.h"
#include <algorithm>
#include <atomic>
#include <cstring>

namespace drawloom::python {

namespace {

/// One call of an optimizer's functions on the pieces of tensors.
class Update {
public:
  Update(const PiecesBySize &pieces,
         const std::vector<std::vector<uintptr_t>> &tensors, double rate,
         int64_t step)
      : pieces(pieces), tensors(tensors), largest(*pieces.front().second),
        inputs(largest.arguments.size() - 2), rate(rate),
        rateSingle(static_cast<float>(rate)), step(step) {
    // Results are the parameter and what belongs to it, without the gradient,
    // which is the second argument.
    updated.push_back(0);
    for (size_t i = 2; i < inputs; ++i)
      updated.push_back(i);
  }

  void cut(const std::vector<int64_t> &counts);
  /// Returns the error of the first call that fails.
  DrawloomError *run(unsigned threads);

private:
  /// Small tensors are many, and each is one piece: a piece runs on one thread,
  /// and threads share the pieces.
  struct Piece {
    size_t tensor;
    int64_t at, used, size;
    const Function *function;
  };
  /// A piece of the results is written here while it is in the cache, and then
  /// copied over the arguments: results and arguments must not be one memory.
  struct Scratch {
    std::vector<std::vector<char>> results, padded;
    std::vector<DrawloomBuffer> arguments, outputs;
  };

  /// The bytes of one element of an argument or a result.
  int64_t bytesOf(const std::vector<Type> &types, size_t i) const {
    return types[i].bytes / pieces.front().first;
  }
  char *place(const Piece &piece, size_t argument, int64_t bytes) const {
    return reinterpret_cast<char *>(tensors[piece.tensor][argument]) +
           piece.at * bytes;
  }
  Scratch makeScratch() const;
  void bind(const Piece &piece, Scratch &scratch);
  void copyBack(const Piece &piece, const Scratch &scratch) const;

  const PiecesBySize &pieces;
  const std::vector<std::vector<uintptr_t>> &tensors;
  const Function &largest;
  size_t inputs;
  /// The argument that each result takes the place of.
  std::vector<size_t> updated;
  double rate;
  float rateSingle;
  int64_t step;
  std::vector<Piece> list;
  int64_t most = 0;
};

void Update::cut(const std::vector<int64_t> &counts) {
  for (size_t t = 0; t < tensors.size(); ++t)
    for (int64_t at = 0; at < counts[t];) {
      int64_t left = counts[t] - at;
      auto fits = std::find_if(
          pieces.begin(), pieces.end(),
          [&](const auto &candidate) { return candidate.first <= left; });
      const auto &[size, function] =
          fits != pieces.end() ? *fits : pieces.back();
      int64_t used = std::min(size, left);
      list.push_back({t, at, used, size, function.get()});
      most = std::max(most, size);
      at += used;
    }
}

Update::Scratch Update::makeScratch() const {
  Scratch scratch;
  int64_t least = pieces.back().first;
  for (size_t i = 0; i < updated.size(); ++i)
    scratch.results.emplace_back(
        static_cast<size_t>(most * bytesOf(largest.results, i)));
  for (size_t i = 0; i < inputs; ++i)
    scratch.padded.emplace_back(
        static_cast<size_t>(least * bytesOf(largest.arguments, i)));
  scratch.arguments.reserve(inputs + 2);
  scratch.outputs.reserve(updated.size());
  return scratch;
}

/// Fills the arguments and results of a call. What is shorter than the
/// function's piece is padded with zeros.
void Update::bind(const Piece &piece, Scratch &scratch) {
  auto &[results, padded, arguments, outputs] = scratch;
  arguments.clear();
  outputs.clear();
  for (size_t i = 0; i < inputs; ++i) {
    int64_t bytes = bytesOf(largest.arguments, i);
    char *data = place(piece, i, bytes);
    if (piece.used < piece.size) {
      std::memset(padded[i].data(), 0, padded[i].size());
      std::memcpy(padded[i].data(), data,
                  static_cast<size_t>(piece.used * bytes));
      data = padded[i].data();
    }
    arguments.push_back({data, static_cast<size_t>(piece.size * bytes)});
  }
  bool isDouble = largest.arguments[inputs].element == DRAWLOOM_F64;
  arguments.push_back(
      {isDouble ? static_cast<void *>(&rate) : static_cast<void *>(&rateSingle),
       isDouble ? sizeof(double) : sizeof(float)});
  arguments.push_back({&step, sizeof(step)});
  for (size_t i = 0; i < results.size(); ++i)
    outputs.push_back(
        {results[i].data(),
         static_cast<size_t>(piece.size * bytesOf(largest.results, i))});
}

void Update::copyBack(const Piece &piece, const Scratch &scratch) const {
  for (size_t i = 0; i < updated.size(); ++i) {
    int64_t bytes = bytesOf(largest.results, i);
    std::memcpy(place(piece, updated[i], bytes), scratch.results[i].data(),
                static_cast<size_t>(piece.used * bytes));
  }
}

DrawloomError *Update::run(unsigned threads) {
  std::vector<Scratch> scratches(
      std::clamp<size_t>(threads, 1, std::max<size_t>(list.size(), 1)));
  for (Scratch &scratch : scratches)
    scratch = makeScratch();
  std::atomic<size_t> workers{0};
  std::atomic<size_t> next{0};
  std::atomic<DrawloomError *> failure{nullptr};
  auto work = [&] {
    Scratch &scratch = scratches[workers++];
    for (size_t index; !failure && (index = next++) < list.size();) {
      const Piece &piece = list[index];
      bind(piece, scratch);
      if (DrawloomError *error =
              drawloomCall(piece.function->handle, scratch.arguments.data(),
                           scratch.arguments.size(), scratch.outputs.data(),
                           scratch.outputs.size(), 1)) {
        DrawloomError *none = nullptr;
        if (!failure.compare_exchange_strong(none, error))
          drawloomErrorDestroy(error);
        return;
      }
      copyBack(piece, scratch);
    }
  };
  {
    Unlocked unlocked;
    onOpenMpThreads(static_cast<unsigned>(scratches.size()), work);
  }
  return failure;
}

} // namespace

void updateInPlace(const PiecesBySize &pieces,
                   const std::vector<std::vector<uintptr_t>> &tensors,
                   const std::vector<int64_t> &counts, double rate,
                   int64_t step, unsigned threads) {
  Update update(pieces, tensors, rate, step);
  update.cut(counts);
  if (DrawloomError *failure = update.run(threads))
    raise(failure);
}

} // namespace drawloom::python
