//===- Update.cpp - optimizers' updates in place, piece by piece ----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Update.h"
#include <algorithm>
#include <cstring>

namespace nb = nanobind;

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
  // A piece of the results is written here while it is in the cache, and then
  // copied over the arguments: results and arguments must not be one memory.
  std::vector<std::vector<char>> results, padded;
  for (const Type &type : largest.results)
    results.emplace_back(static_cast<size_t>(type.bytes));
  int64_t least = pieces.back().first;
  for (size_t i = 0; i < inputs; ++i)
    padded.emplace_back(
        static_cast<size_t>(least * bytesOf(largest.arguments, i)));
  auto rateSingle = static_cast<float>(rate);
  bool isDouble = largest.arguments[inputs].element == DRAWLOOM_F64;

  DrawloomError *error = nullptr;
  {
    Unlocked unlocked;
    for (size_t t = 0; t < tensors.size() && !error; ++t) {
      for (int64_t at = 0; at < counts[t] && !error;) {
        int64_t left = counts[t] - at;
        auto piece = std::find_if(
            pieces.begin(), pieces.end(),
            [&](const auto &candidate) { return candidate.first <= left; });
        bool whole = piece != pieces.end();
        int64_t size = whole ? piece->first : least;
        const Function &function =
            whole ? *piece->second : *pieces.back().second;
        int64_t used = std::min(size, left);
        std::vector<DrawloomBuffer> arguments, outputs;
        for (size_t i = 0; i < inputs; ++i) {
          int64_t bytes = bytesOf(largest.arguments, i);
          auto *data = reinterpret_cast<char *>(tensors[t][i]) + at * bytes;
          if (!whole) {
            std::memset(padded[i].data(), 0, padded[i].size());
            std::memcpy(padded[i].data(), data,
                        static_cast<size_t>(used * bytes));
            data = padded[i].data();
          }
          arguments.push_back({data, static_cast<size_t>(size * bytes)});
        }
        arguments.push_back({isDouble ? static_cast<void *>(&rate)
                                      : static_cast<void *>(&rateSingle),
                             isDouble ? sizeof(double) : sizeof(float)});
        arguments.push_back({&step, sizeof(step)});
        for (size_t i = 0; i < results.size(); ++i)
          outputs.push_back(
              {results[i].data(),
               static_cast<size_t>(size * bytesOf(largest.results, i))});
        error =
            drawloomCall(function.handle, arguments.data(), arguments.size(),
                         outputs.data(), outputs.size(), threads);
        for (size_t i = 0; i < results.size() && !error; ++i) {
          int64_t bytes = bytesOf(largest.results, i);
          std::memcpy(reinterpret_cast<char *>(tensors[t][updated[i]]) +
                          at * bytes,
                      results[i].data(), static_cast<size_t>(used * bytes));
        }
        at += used;
      }
    }
  }
  if (error)
    raise(error);
}

} // namespace drawloom::python
