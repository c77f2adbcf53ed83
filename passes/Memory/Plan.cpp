//===- Plan.cpp - what stays in memory, and what leaves it ----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Memory/Plan.h"
#include "llvm/ADT/DenseSet.h"
#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>

namespace drawloom {

/// The runs that are needed, each once.
static std::vector<int64_t> runsOf(const MemoryModel &model,
                                   const std::vector<GapChoice> &choices) {
  std::vector<int64_t> runs;
  for (size_t i = 0; i < choices.size(); ++i)
    if (choices[i] == GapChoice::Again)
      runs.insert(runs.end(), model.gaps[i].runs.begin(),
                  model.gaps[i].runs.end());
  std::sort(runs.begin(), runs.end());
  runs.erase(std::unique(runs.begin(), runs.end()), runs.end());
  return runs;
}

std::vector<Lifetime> cutBuffers(const MemoryModel &model,
                                 const std::vector<GapChoice> &choices) {
  std::vector<std::vector<size_t>> cuts(model.buffers.size());
  for (size_t i = 0; i < model.gaps.size(); ++i)
    if (choices[i] != GapChoice::Keep)
      cuts[static_cast<size_t>(model.gaps[i].buffer)].push_back(i);
  std::vector<Lifetime> pieces;
  for (size_t i = 0; i < model.buffers.size(); ++i) {
    Lifetime rest = model.buffers[i];
    std::sort(cuts[i].begin(), cuts[i].end(), [&](size_t a, size_t b) {
      return model.gaps[a].from < model.gaps[b].from;
    });
    for (size_t cut : cuts[i]) {
      pieces.push_back({rest.bytes, rest.first, model.gaps[cut].from});
      rest.first = model.gaps[cut].to;
    }
    pieces.push_back(rest);
  }
  for (int64_t run : runsOf(model, choices))
    if (const MemoryRun &known = model.runs[static_cast<size_t>(run)];
        known.bytes > 0)
      pieces.push_back({known.bytes, known.step, known.step});
  return pieces;
}

namespace {

/// What the store's two links do while a program runs.
class Links {
public:
  Links(const MemoryModel &model, const std::vector<GapChoice> &choices,
        const MemoryRates &rates);
  /// Time of the program.
  void compute(double seconds) { now += seconds; }
  void put(size_t gap);
  void get(size_t gap);

  double now = 0, stall = 0;

private:
  double roomFor(size_t place) const;

  const MemoryModel &model;
  const MemoryRates &rates;
  /// Stored gaps in the order in which they are got, and the bytes in front of
  /// each; the place of each gap among them.
  std::vector<size_t> order, placeOf;
  std::vector<double> before;
  /// When each is written, and when each was got.
  std::vector<double> written, taken;
  /// Of each value, when its bytes are on the disk; below 0: it was not stored.
  std::vector<double> valueWritten;
  double writesUntil = 0, readsUntil = 0;
};

Links::Links(const MemoryModel &model, const std::vector<GapChoice> &choices,
             const MemoryRates &rates)
    : model(model), rates(rates), placeOf(model.gaps.size()) {
  for (size_t i = 0; i < choices.size(); ++i)
    if (choices[i] == GapChoice::Store)
      order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return model.gaps[a].to < model.gaps[b].to;
  });
  before.push_back(0);
  for (size_t place = 0; place < order.size(); ++place) {
    placeOf[order[place]] = place;
    before.push_back(before.back() +
                     static_cast<double>(model.gaps[order[place]].bytes));
  }
  size_t count = 0;
  for (const MemoryGap &gap : model.gaps)
    count = std::max(count, static_cast<size_t>(gap.value) + 1);
  valueWritten.assign(count, -1);
  written.assign(order.size(), 0);
  taken.assign(order.size(), 0);
}

void Links::put(size_t gap) {
  double &ended = valueWritten[static_cast<size_t>(model.gaps[gap].value)];
  // A value is stored once, for all its gaps.
  if (ended >= 0) {
    written[placeOf[gap]] = ended;
    return;
  }
  double bytes = static_cast<double>(model.gaps[gap].bytes);
  now += bytes / rates.copy;
  writesUntil = std::max(writesUntil, now) + bytes / rates.write;
  // Half of the store's memory holds what is not written yet.
  double wait =
      writesUntil - now - static_cast<double>(rates.staging) / 2 / rates.write;
  if (wait > 0) {
    now += wait;
    stall += wait;
  }
  written[placeOf[gap]] = ended = writesUntil;
}

/// When the other half has room for what is got at `place`.
double Links::roomFor(size_t place) const {
  double limit = static_cast<double>(rates.staging) / 2;
  size_t first = place;
  while (first > 0 && before[place + 1] - before[first - 1] <= limit)
    --first;
  return first > 0 ? taken[first - 1] : 0;
}

void Links::get(size_t gap) {
  size_t place = placeOf[gap];
  double bytes = static_cast<double>(model.gaps[gap].bytes);
  // What is not written yet is still in the store's memory.
  if (written[place] < now) {
    double begin = std::max({readsUntil, roomFor(place), written[place]});
    readsUntil = begin + bytes / rates.read;
    if (readsUntil > now) {
      stall += readsUntil - now;
      now = readsUntil;
    }
  }
  now += bytes / rates.copy;
  taken[place] = now;
}

} // namespace

PlanTime simulate(const MemoryModel &model,
                  const std::vector<GapChoice> &choices,
                  const MemoryRates &rates) {
  std::vector<std::vector<size_t>> begins(model.seconds.size()),
      ends(model.seconds.size());
  for (size_t i = 0; i < choices.size(); ++i) {
    if (choices[i] != GapChoice::Store)
      continue;
    begins[static_cast<size_t>(model.gaps[i].from)].push_back(i);
    ends[static_cast<size_t>(model.gaps[i].to)].push_back(i);
  }
  std::vector<double> again(model.seconds.size());
  for (int64_t run : runsOf(model, choices)) {
    const MemoryRun &known = model.runs[static_cast<size_t>(run)];
    again[static_cast<size_t>(known.step)] += known.seconds;
  }
  Links links(model, choices, rates);
  for (size_t step = 0; step < model.seconds.size(); ++step) {
    for (size_t gap : ends[step])
      links.get(gap);
    links.compute(again[step] + model.seconds[step]);
    for (size_t gap : begins[step])
      links.put(gap);
  }
  return {links.now, links.stall};
}

namespace {

/// How a plan is looked for.
struct PlanStyle {
  /// What a store's time counts, in that of computing again.
  double dearness;
  /// Whether values that others are computed from stay as long as these are in
  /// memory themselves: what is computed again needs something to start from.
  bool protects;
  /// Whether anything is computed again.
  bool computes;
};

/// A plan in the making.
class Planner {
public:
  Planner(const MemoryModel &model, const MemoryRates &rates, bool stores,
          PlanStyle style);
  /// Cuts gaps until no step needs more than `limit`. False where it cannot.
  bool cutTo(int64_t limit);
  /// Gives back what is not needed for that, and changes what is faster
  /// otherwise.
  void improve(int64_t limit);
  int64_t arenaBytes() const;
  int64_t peakStep() const {
    return std::max_element(alive.begin(), alive.end()) - alive.begin();
  }

  std::vector<GapChoice> choices;

private:
  double costOf(size_t gap, GapChoice choice) const;
  double savedBy(size_t gap) const;
  bool canCut(size_t gap) const;
  bool canCompute(size_t gap) const;
  void choose(size_t gap, GapChoice choice);
  double gainOf(size_t gap, GapChoice choice) const;
  struct Cut {
    size_t gap;
    GapChoice choice;
    double gain;
  };
  std::vector<Cut> bestAt(int64_t step, bool protects) const;
  void cut(size_t gap, GapChoice choice);

  const MemoryModel &model;
  const MemoryRates &rates;
  bool stores;
  PlanStyle style;
  double total;
  int64_t stored = 0;
  /// Bytes at each step.
  std::vector<int64_t> alive;
  std::vector<std::vector<size_t>> gapsOfValue;
  /// Of each value, the steps at which something computed again needs it.
  std::vector<std::vector<int64_t>> pins;
  /// Of each value, how many gaps that are not cut could be computed from it.
  std::vector<int64_t> readers;
  /// Of each run, the gaps that it gives a value to, and how many chosen ones
  /// need it.
  std::vector<std::vector<size_t>> gapsOfRun;
  std::vector<int64_t> needed;
};

Planner::Planner(const MemoryModel &model, const MemoryRates &rates,
                 bool stores, PlanStyle style)
    : choices(model.gaps.size(), GapChoice::Keep), model(model), rates(rates),
      stores(stores), style(style),
      total(std::accumulate(model.seconds.begin(), model.seconds.end(), 0.0)),
      alive(std::max<size_t>(model.seconds.size(), 1)) {
  for (const Lifetime &buffer : model.buffers)
    for (int64_t step = buffer.first; step <= buffer.last; ++step)
      alive[static_cast<size_t>(step)] += buffer.bytes;
  size_t values = 0;
  for (const MemoryGap &gap : model.gaps) {
    values = std::max(values, static_cast<size_t>(gap.value) + 1);
    for (int64_t need : gap.needs)
      values = std::max(values, static_cast<size_t>(need) + 1);
  }
  gapsOfValue.resize(values);
  pins.resize(values);
  readers.resize(values);
  gapsOfRun.resize(model.runs.size());
  needed.resize(model.runs.size());
  for (size_t i = 0; i < model.gaps.size(); ++i) {
    const MemoryGap &gap = model.gaps[i];
    gapsOfValue[static_cast<size_t>(gap.value)].push_back(i);
    for (int64_t need : gap.needs)
      ++readers[static_cast<size_t>(need)];
    if (!gap.runs.empty())
      gapsOfRun[static_cast<size_t>(gap.runs.front())].push_back(i);
  }
}

/// Seconds that a choice adds. A store's links are busy for some time, which
/// nobody notices until they have no time left.
double Planner::costOf(size_t i, GapChoice choice) const {
  const MemoryGap &gap = model.gaps[i];
  if (choice == GapChoice::Again) {
    double seconds = 0;
    for (int64_t run : gap.runs)
      if (needed[static_cast<size_t>(run)] == 0)
        seconds += model.runs[static_cast<size_t>(run)].seconds;
    return seconds;
  }
  double bytes = static_cast<double>(gap.bytes);
  double copies = 2 * bytes / rates.copy;
  double transfer = bytes / rates.write + bytes / rates.read;
  double busy =
      static_cast<double>(stored) * (1 / rates.write + 1 / rates.read);
  double late =
      std::max(0.0, busy + transfer - total) - std::max(0.0, busy - total);
  return style.dearness * (copies + late);
}

/// Seconds that are saved where a gap is not cut any more.
double Planner::savedBy(size_t i) const {
  const MemoryGap &gap = model.gaps[i];
  double seconds = 0;
  if (choices[i] == GapChoice::Again) {
    for (int64_t run : gap.runs)
      if (needed[static_cast<size_t>(run)] == 1)
        seconds += model.runs[static_cast<size_t>(run)].seconds;
  } else {
    seconds = 2 * static_cast<double>(gap.bytes) / rates.copy;
  }
  return seconds;
}

bool Planner::canCut(size_t i) const {
  const MemoryGap &gap = model.gaps[i];
  for (int64_t pin : pins[static_cast<size_t>(gap.value)])
    if (gap.from < pin && pin < gap.to)
      return false;
  return true;
}

bool Planner::canCompute(size_t i) const {
  const MemoryGap &gap = model.gaps[i];
  if (gap.runs.empty() || !style.computes)
    return false;
  for (int64_t need : gap.needs)
    for (size_t other : gapsOfValue[static_cast<size_t>(need)])
      if (choices[other] != GapChoice::Keep &&
          model.gaps[other].from < gap.to && gap.to < model.gaps[other].to)
        return false;
  return true;
}

void Planner::choose(size_t i, GapChoice choice) {
  const MemoryGap &gap = model.gaps[i];
  auto isCut = [](GapChoice some) { return some != GapChoice::Keep; };
  int64_t change =
      (isCut(choices[i]) ? gap.bytes : 0) - (isCut(choice) ? gap.bytes : 0);
  if (change != 0)
    for (int64_t step = gap.from + 1; step < gap.to; ++step)
      alive[static_cast<size_t>(step)] += change;
  stored += (choice == GapChoice::Store ? gap.bytes : 0) -
            (choices[i] == GapChoice::Store ? gap.bytes : 0);
  for (int64_t need : gap.needs) {
    readers[static_cast<size_t>(need)] += isCut(choices[i]) - isCut(choice);
    std::vector<int64_t> &list = pins[static_cast<size_t>(need)];
    if (choice == GapChoice::Again)
      list.push_back(gap.to);
    else if (choices[i] == GapChoice::Again)
      list.erase(std::find(list.begin(), list.end(), gap.to));
  }
  for (int64_t run : gap.runs) {
    const MemoryRun &known = model.runs[static_cast<size_t>(run)];
    int64_t &count = needed[static_cast<size_t>(run)];
    int64_t before = count;
    count += (choice == GapChoice::Again) - (choices[i] == GapChoice::Again);
    alive[static_cast<size_t>(known.step)] +=
        (static_cast<int64_t>(count > 0) - static_cast<int64_t>(before > 0)) *
        known.bytes;
  }
  choices[i] = choice;
}

/// Bytes by the steps for which they are free, for each second that it costs.
double Planner::gainOf(size_t gap, GapChoice choice) const {
  auto freeOf = [&](size_t one) {
    const MemoryGap &known = model.gaps[one];
    return static_cast<double>(known.bytes) *
           static_cast<double>(known.to - known.from);
  };
  double free = 0;
  if (choice == GapChoice::Store)
    free = freeOf(gap);
  else // An op that is run again gives all its values.
    for (size_t other :
         gapsOfRun[static_cast<size_t>(model.gaps[gap].runs.front())])
      if (choices[other] == GapChoice::Keep && canCut(other) &&
          canCompute(other))
        free += freeOf(other);
  return free / (costOf(gap, choice) + 1e-9);
}

/// The gaps around `step` that give most for their time, the best first.
std::vector<Planner::Cut> Planner::bestAt(int64_t step, bool protects) const {
  std::vector<Cut> found;
  for (size_t i = 0; i < model.gaps.size(); ++i) {
    const MemoryGap &gap = model.gaps[i];
    if (choices[i] != GapChoice::Keep || gap.from >= step || gap.to <= step ||
        !canCut(i) || (protects && readers[static_cast<size_t>(gap.value)] > 0))
      continue;
    double again = canCompute(i) ? gainOf(i, GapChoice::Again) : -1;
    double store = stores ? gainOf(i, GapChoice::Store) : -1;
    if (std::max(again, store) >= 0)
      found.push_back({i, again >= store ? GapChoice::Again : GapChoice::Store,
                       std::max(again, store)});
  }
  // One by one, each gain is known exactly; of many, that would take too long.
  size_t count = std::min(found.size(), 1 + model.gaps.size() / 200);
  std::partial_sort(
      found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count),
      found.end(), [](const Cut &a, const Cut &b) {
        return std::pair(-a.gain, a.gap) < std::pair(-b.gain, b.gap);
      });
  found.resize(count);
  return found;
}

/// Makes a choice, for all values that it is for.
void Planner::cut(size_t gap, GapChoice choice) {
  if (choice == GapChoice::Store) {
    if (choices[gap] == GapChoice::Keep && canCut(gap))
      choose(gap, choice);
    return;
  }
  // One of them may be what another one needs.
  for (size_t other :
       gapsOfRun[static_cast<size_t>(model.gaps[gap].runs.front())])
    if (choices[other] == GapChoice::Keep && canCut(other) && canCompute(other))
      choose(other, choice);
}

bool Planner::cutTo(int64_t limit) {
  for (;;) {
    int64_t step = peakStep();
    if (alive[static_cast<size_t>(step)] <= limit)
      return true;
    std::vector<Cut> best = bestAt(step, style.protects);
    if (best.empty() && style.protects)
      best = bestAt(step, false);
    if (best.empty())
      return false;
    for (const Cut &one : best)
      if (alive[static_cast<size_t>(step)] > limit)
        cut(one.gap, one.choice);
  }
}

void Planner::improve(int64_t limit) {
  // The dearest first.
  std::vector<size_t> cut;
  for (size_t i = 0; i < choices.size(); ++i)
    if (choices[i] != GapChoice::Keep)
      cut.push_back(i);
  std::stable_sort(cut.begin(), cut.end(),
                   [&](size_t a, size_t b) { return savedBy(a) > savedBy(b); });
  for (size_t i : cut) {
    const MemoryGap &gap = model.gaps[i];
    bool fits = true;
    for (int64_t step = gap.from + 1; fits && step < gap.to; ++step)
      fits = alive[static_cast<size_t>(step)] + gap.bytes <= limit;
    if (fits)
      choose(i, GapChoice::Keep);
  }
  // By what the links really do; a bounded amount of work, not of time, so that
  // the plan is the same everywhere.
  int64_t work = 5'000'000 / static_cast<int64_t>(model.seconds.size() + 1);
  double time = simulate(model, choices, rates).seconds;
  for (size_t i : cut) {
    GapChoice now = choices[i];
    GapChoice other =
        now == GapChoice::Store ? GapChoice::Again : GapChoice::Store;
    bool possible = now != GapChoice::Keep &&
                    (other == GapChoice::Again ? canCompute(i) : stores);
    if (--work < 0)
      return;
    if (!possible)
      continue;
    choose(i, other);
    double changed = alive[static_cast<size_t>(peakStep())] <= limit
                         ? simulate(model, choices, rates).seconds
                         : time;
    if (changed < time)
      time = changed;
    else
      choose(i, now);
  }
  // What waits for the store, in the place of others that would not.
  for (size_t i : cut) {
    if (choices[i] != GapChoice::Store)
      continue;
    for (size_t other = 0; other < choices.size(); ++other) {
      if (choices[i] != GapChoice::Store || choices[other] != GapChoice::Keep ||
          !canCut(other) || --work < 0)
        continue;
      choose(i, GapChoice::Keep);
      choose(other, GapChoice::Store);
      double changed = alive[static_cast<size_t>(peakStep())] <= limit
                           ? simulate(model, choices, rates).seconds
                           : time;
      if (changed < time) {
        time = changed;
      } else {
        choose(other, GapChoice::Keep);
        choose(i, GapChoice::Store);
      }
    }
  }
}

int64_t Planner::arenaBytes() const {
  return layOutArena(cutBuffers(model, choices)).bytes;
}

} // namespace

namespace {
/// A plan that was tried.
struct Attempt {
  std::unique_ptr<Planner> planner;
  int64_t bytes;
  PlanTime time;

  /// Those that fit are better, then the faster ones.
  bool isBetter(const Attempt &other, int64_t budget) const {
    auto rank = [&](const Attempt &some) {
      return std::pair(std::max<int64_t>(0, some.bytes - budget),
                       some.time.seconds);
    };
    return rank(*this) < rank(other);
  }
};
} // namespace

/// A plan that fits, if that can be; else one that needs as little as it can.
static Attempt tryPlan(const MemoryModel &model, int64_t budget,
                       const MemoryRates &rates, bool stores, PlanStyle style) {
  // Buffers side by side may take more than their bytes.
  for (int64_t limit = budget;;) {
    auto planner = std::make_unique<Planner>(model, rates, stores, style);
    bool isCut = planner->cutTo(limit);
    if (isCut)
      planner->improve(limit);
    int64_t bytes = planner->arenaBytes();
    if (bytes <= budget || !isCut) {
      PlanTime time = simulate(model, planner->choices, rates);
      return {std::move(planner), bytes, time};
    }
    limit -= bytes - budget;
  }
}

MemoryPlan planMemory(const MemoryModel &model, int64_t budget,
                      const MemoryRates &rates, bool stores) {
  // How far the links are behind, and what is computed from what, shows only at
  // the end.
  static constexpr PlanStyle styles[] = {
      {1, false, true}, {1, true, true},   {1, false, false}, {4, false, true},
      {4, true, true},  {16, false, true}, {16, true, true}};
  MemoryPlan plan;
  plan.bytesBefore = layOutArena(model.buffers).bytes;
  plan.secondsBefore =
      std::accumulate(model.seconds.begin(), model.seconds.end(), 0.0);
  std::optional<Attempt> best;
  // Of many gaps, the first styles only: a plan takes a second at most.
  constexpr size_t many = 2000, few = 3;
  for (const PlanStyle &style : llvm::ArrayRef(styles).take_front(
           model.gaps.size() > many ? few : std::size(styles))) {
    if (!stores && (style.dearness > 1 || !style.computes))
      continue;
    // Without a cut, where all fits.
    int64_t limit = plan.bytesBefore <= budget
                        ? std::numeric_limits<int64_t>::max()
                        : budget;
    Attempt attempt = tryPlan(model, limit, rates, stores, style);
    if (!best || attempt.isBetter(*best, budget))
      best = std::move(attempt);
    if (plan.bytesBefore <= budget)
      break;
  }
  plan.choices = best->planner->choices;
  plan.bytes = best->bytes;
  plan.fits = plan.bytes <= budget;
  plan.bindingStep = best->planner->peakStep();
  plan.seconds = best->time.seconds;
  plan.stall = best->time.stall;
  llvm::DenseSet<int64_t> values;
  for (size_t i = 0; i < plan.choices.size(); ++i)
    if (plan.choices[i] == GapChoice::Store &&
        values.insert(model.gaps[i].value).second)
      plan.stored += model.gaps[i].bytes;
  return plan;
}

} // namespace drawloom
