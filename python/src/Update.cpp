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

void updateInPlace(
    const std::vector<std::pair<int64_t, std::shared_ptr<Function>>> &pieces,
    const std::vector<std::vector<uintptr_t>> &tensors,
    const std::vector<int64_t> &counts, double rate, int64_t step,
    unsigned threads) {
  const Function &largest = *pieces.front().second;
  size_t inputs = largest.arguments.size() - 2;
  // Results are the parameter and what belongs to it, without the gradient,
  // which is the second argument.
  std::vector<size_t> updated{0};
  for (size_t i = 2; i < inputs; ++i)
    updated.push_back(i);
  auto bytesOf = [&](const std::vector<Type> &types, size_t i) {
    return types[i].bytes / pieces.front().first;
  };
  int64_t least = pieces.back().first;
  auto rateSingle = static_cast<float>(rate);
  bool isDouble = largest.arguments[inputs].element == DRAWLOOM_F64;

  // Small tensors are many, and each is one piece: a piece runs on one thread,
  // and threads share the pieces.
  struct Piece {
    size_t tensor;
    int64_t at, used, size;
    const Function *function;
  };
  std::vector<Piece> list;
  int64_t most = 0;
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

  // A piece of the results is written here while it is in the cache, and then
  // copied over the arguments: results and arguments must not be one memory.
  struct Scratch {
    std::vector<std::vector<char>> results, padded;
    std::vector<DrawloomBuffer> arguments, outputs;
  };
  std::vector<Scratch> scratches(
      std::clamp<size_t>(threads, 1, std::max<size_t>(list.size(), 1)));
  for (Scratch &scratch : scratches) {
    for (size_t i = 0; i < updated.size(); ++i)
      scratch.results.emplace_back(
          static_cast<size_t>(most * bytesOf(largest.results, i)));
    for (size_t i = 0; i < inputs; ++i)
      scratch.padded.emplace_back(
          static_cast<size_t>(least * bytesOf(largest.arguments, i)));
    scratch.arguments.reserve(inputs + 2);
    scratch.outputs.reserve(updated.size());
  }
  std::atomic<size_t> workers{0};
  std::atomic<size_t> next{0};
  std::atomic<DrawloomError *> failure{nullptr};
  auto work = [&] {
    auto &[results, padded, arguments, outputs] = scratches[workers++];
    for (size_t index; !failure && (index = next++) < list.size();) {
      const Piece &piece = list[index];
      const std::vector<uintptr_t> &tensor = tensors[piece.tensor];
      arguments.clear();
      outputs.clear();
      for (size_t i = 0; i < inputs; ++i) {
        int64_t bytes = bytesOf(largest.arguments, i);
        auto *data = reinterpret_cast<char *>(tensor[i]) + piece.at * bytes;
        if (piece.used < piece.size) {
          std::memset(padded[i].data(), 0, padded[i].size());
          std::memcpy(padded[i].data(), data,
                      static_cast<size_t>(piece.used * bytes));
          data = padded[i].data();
        }
        arguments.push_back({data, static_cast<size_t>(piece.size * bytes)});
      }
      arguments.push_back({isDouble ? static_cast<void *>(&rate)
                                    : static_cast<void *>(&rateSingle),
                           isDouble ? sizeof(double) : sizeof(float)});
      arguments.push_back({&step, sizeof(step)});
      for (size_t i = 0; i < results.size(); ++i)
        outputs.push_back(
            {results[i].data(),
             static_cast<size_t>(piece.size * bytesOf(largest.results, i))});
      if (DrawloomError *error = drawloomCall(
              piece.function->handle, arguments.data(), arguments.size(),
              outputs.data(), outputs.size(), 1)) {
        DrawloomError *none = nullptr;
        if (!failure.compare_exchange_strong(none, error))
          drawloomErrorDestroy(error);
        return;
      }
      for (size_t i = 0; i < results.size(); ++i) {
        int64_t bytes = bytesOf(largest.results, i);
        std::memcpy(reinterpret_cast<char *>(tensor[updated[i]]) +
                        piece.at * bytes,
                    results[i].data(), static_cast<size_t>(piece.used * bytes));
      }
    }
  };
  {
    Unlocked unlocked;
    onOpenMpThreads(static_cast<unsigned>(scratches.size()), work);
  }
  if (failure)
    raise(failure);
}

} // namespace drawloom::python
