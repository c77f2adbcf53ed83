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

/// Max number of times that a program is planned for less memory than it may
/// have, if it turns out to need more; and the distance between two budgets
/// below which no further plan is tried.
inline constexpr int mostPlans = 8;
inline constexpr int64_t leastBetween = 64 * 1024;

/// Searches for the budget to plan for, such that the resulting workspace stays
/// within its own budget.
class PlanSearch {
public:
  explicit PlanSearch(int64_t budget) : budget(budget), planned(budget) {}
  int64_t next() const { return planned; }
  /// Records that no plan fits the current budget. Returns false when the
  /// search ends.
  bool refused() {
    most = std::max(most, planned);
    return least != 0 && halve();
  }
  /// Records that the plan led to a workspace of the given bytes, which is too
  /// large.
  bool exceeded(int64_t workspace) {
    above = planned;
    least = least ? std::min(least, workspace) : workspace;
    if (most > 0)
      return halve();
    planned -= workspace - budget;
    return planned > 0 || halve();
  }
  /// Returns the smallest workspace so far; 0 if there is none.
  int64_t smallest() const { return least; }

private:
  bool halve() {
    planned = most + (above - most) / 2;
    return above - most > leastBetween;
  }

  int64_t budget, planned;
  /// The largest budget that no plan fits, and the smallest whose workspace was
  /// too large.
  int64_t most = 0, above = 0, least = 0;
};

} // namespace drawloom

#endif // DRAWLOOM_LIB_COMPILER_PLANSEARCH_H
