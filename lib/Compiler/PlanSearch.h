//===- PlanSearch.h - plans until a workspace fits --------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_LIB_COMPILER_PLANSEARCH_H
#define DRAWLOOM_LIB_COMPILER_PLANSEARCH_H

#include <algorithm>
#include <cstdint>

namespace drawloom {

/// How often a program is planned for less than it may have, where it turns out
/// to need more, and how near two plans are between which there is no other.
inline constexpr int mostPlans = 8;
inline constexpr int64_t leastBetween = 64 * 1024;

/// What is planned for next, so that a workspace keeps to its budget.
class PlanSearch {
public:
  explicit PlanSearch(int64_t budget) : budget(budget), planned(budget) {}
  int64_t next() const { return planned; }
  /// No plan fits into what was planned for. False where that is the end.
  bool refused() {
    most = std::max(most, planned);
    return least != 0 && halve();
  }
  /// The plan has come to a workspace of so many bytes, which are too many.
  bool exceeded(int64_t workspace) {
    above = planned;
    least = least ? std::min(least, workspace) : workspace;
    if (most > 0)
      return halve();
    planned -= workspace - budget;
    return planned > 0 || halve();
  }
  /// The smallest workspace so far; 0: none.
  int64_t smallest() const { return least; }

private:
  bool halve() {
    planned = most + (above - most) / 2;
    return above - most > leastBetween;
  }

  int64_t budget, planned;
  /// The most that no plan fits, and the least that gave too much.
  int64_t most = 0, above = 0, least = 0;
};

} // namespace drawloom

#endif // DRAWLOOM_LIB_COMPILER_PLANSEARCH_H
