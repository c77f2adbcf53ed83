//===- Plan.cpp - what stays in memory, and what leaves it ----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Memory/Plan.h"
#include <algorithm>
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
  /// When each was put, and when each was got.
  std::vector<double> written, taken;
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
  written.assign(order.size(), 0);
  taken.assign(order.size(), 0);
}

void Links::put(size_t gap) {
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
  written[placeOf[gap]] = writesUntil;
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

/// A plan in the making.
class Planner {
public:
  Planner(const MemoryModel &model, const MemoryRates &rates, bool stores,
          double dearness);
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
  bool canCut(size_t gap) const;
  bool canCompute(size_t gap) const;
  void choose(size_t gap, GapChoice choice);
  double gainOf(size_t gap, GapChoice choice) const;
  std::vector<size_t> withIt(size_t gap, GapChoice choice) const;
  std::optional<std::pair<size_t, GapChoice>> bestAt(int64_t step) const;

  const MemoryModel &model;
  const MemoryRates &rates;
  bool stores;
  /// What a store's time counts, in that of computing again.
  double dearness;
  double total;
  int64_t stored = 0;
  /// Bytes at each step.
  std::vector<int64_t> alive;
  std::vector<std::vector<size_t>> gapsOfValue;
  /// Of each value, the steps at which something computed again needs it.
  std::vector<std::vector<int64_t>> pins;
  /// Of each run, the gaps that it gives a value to, and how many chosen ones
  /// need it.
  std::vector<std::vector<size_t>> gapsOfRun;
  std::vector<int64_t> needed;
};

Planner::Planner(const MemoryModel &model, const MemoryRates &rates,
                 bool stores, double dearness)
    : choices(model.gaps.size(), GapChoice::Keep), model(model), rates(rates),
      stores(stores), dearness(dearness),
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
  gapsOfRun.resize(model.runs.size());
  needed.resize(model.runs.size());
  for (size_t i = 0; i < model.gaps.size(); ++i) {
    const MemoryGap &gap = model.gaps[i];
    gapsOfValue[static_cast<size_t>(gap.value)].push_back(i);
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
  return dearness * (copies + late);
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
  if (gap.runs.empty())
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

/// The gaps that a choice is for: an op that is run again gives all its values.
std::vector<size_t> Planner::withIt(size_t gap, GapChoice choice) const {
  if (choice == GapChoice::Store)
    return {gap};
  std::vector<size_t> gaps;
  for (size_t other :
       gapsOfRun[static_cast<size_t>(model.gaps[gap].runs.front())])
    if (choices[other] == GapChoice::Keep && canCut(other) && canCompute(other))
      gaps.push_back(other);
  return gaps;
}

/// Bytes by the steps for which they are free, for each second that it costs.
double Planner::gainOf(size_t gap, GapChoice choice) const {
  double free = 0;
  for (size_t other : withIt(gap, choice))
    free += static_cast<double>(model.gaps[other].bytes) *
            static_cast<double>(model.gaps[other].to - model.gaps[other].from);
  return free / (costOf(gap, choice) + 1e-9);
}

/// The gap around `step` that gives most for its time.
std::optional<std::pair<size_t, GapChoice>>
Planner::bestAt(int64_t step) const {
  std::optional<std::pair<size_t, GapChoice>> best;
  double most = -1;
  for (size_t i = 0; i < model.gaps.size(); ++i) {
    const MemoryGap &gap = model.gaps[i];
    if (choices[i] != GapChoice::Keep || gap.from >= step || gap.to <= step ||
        !canCut(i))
      continue;
    for (GapChoice choice : {GapChoice::Again, GapChoice::Store}) {
      if (choice == GapChoice::Again ? !canCompute(i) : !stores)
        continue;
      double gain = gainOf(i, choice);
      if (gain > most) {
        most = gain;
        best = {i, choice};
      }
    }
  }
  return best;
}

bool Planner::cutTo(int64_t limit) {
  for (;;) {
    int64_t step = peakStep();
    if (alive[static_cast<size_t>(step)] <= limit)
      return true;
    auto best = bestAt(step);
    if (!best)
      return false;
    // One of them may be what another one needs.
    for (size_t gap : withIt(best->first, best->second))
      if (canCut(gap) && (best->second == GapChoice::Store || canCompute(gap)))
        choose(gap, best->second);
  }
}

void Planner::improve(int64_t limit) {
  // The dearest first.
  std::vector<size_t> cut;
  for (size_t i = 0; i < choices.size(); ++i)
    if (choices[i] != GapChoice::Keep)
      cut.push_back(i);
  std::stable_sort(cut.begin(), cut.end(), [&](size_t a, size_t b) {
    return costOf(a, choices[a]) > costOf(b, choices[b]);
  });
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
  int64_t work = 20'000'000 / static_cast<int64_t>(model.seconds.size() + 1);
  double time = simulate(model, choices, rates).seconds;
  for (size_t i : cut) {
    GapChoice now = choices[i];
    GapChoice other =
        now == GapChoice::Store ? GapChoice::Again : GapChoice::Store;
    bool possible = now != GapChoice::Keep &&
                    (other == GapChoice::Again ? canCompute(i) : stores);
    if (!possible || --work < 0)
      continue;
    choose(i, other);
    double changed = simulate(model, choices, rates).seconds;
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

/// A plan that fits, if that can be; else one that needs as little as it can.
static std::unique_ptr<Planner> tryPlan(const MemoryModel &model,
                                        int64_t budget,
                                        const MemoryRates &rates, bool stores,
                                        double dearness) {
  // Buffers side by side may take more than their bytes.
  for (int64_t limit = budget;;) {
    auto planner = std::make_unique<Planner>(model, rates, stores, dearness);
    bool isCut = planner->cutTo(limit);
    if (isCut)
      planner->improve(limit);
    int64_t over = planner->arenaBytes() - budget;
    if (over <= 0 || !isCut)
      return planner;
    limit -= over;
  }
}

MemoryPlan planMemory(const MemoryModel &model, int64_t budget,
                      const MemoryRates &rates, bool stores) {
  MemoryPlan plan;
  plan.bytesBefore = layOutArena(model.buffers).bytes;
  plan.secondsBefore =
      std::accumulate(model.seconds.begin(), model.seconds.end(), 0.0);
  std::unique_ptr<Planner> best;
  // How far the links are behind shows only at the end: several weights of a
  // store's time are tried.
  for (double dearness : {1.0, 4.0, 16.0}) {
    std::unique_ptr<Planner> planner =
        plan.bytesBefore <= budget
            ? std::make_unique<Planner>(model, rates, stores, dearness)
            : tryPlan(model, budget, rates, stores, dearness);
    auto rank = [&](const Planner &some) {
      int64_t bytes = some.arenaBytes();
      return std::pair(std::max<int64_t>(0, bytes - budget),
                       simulate(model, some.choices, rates).seconds);
    };
    if (!best || rank(*planner) < rank(*best))
      best = std::move(planner);
    if (!stores || plan.bytesBefore <= budget)
      break;
  }
  plan.choices = best->choices;
  plan.bytes = best->arenaBytes();
  plan.fits = plan.bytes <= budget;
  plan.bindingStep = best->peakStep();
  PlanTime time = simulate(model, plan.choices, rates);
  plan.seconds = time.seconds;
  plan.stall = time.stall;
  for (size_t i = 0; i < plan.choices.size(); ++i)
    if (plan.choices[i] == GapChoice::Store)
      plan.stored += model.gaps[i].bytes;
  return plan;
}

} // namespace drawloom
