# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times of contenders that take turns, so that a busy machine disturbs all alike."""

import time


def once(run):
    """Seconds of a call."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def calls_of(run, seconds, most=1 << 30):
    """How many calls take about so many seconds."""
    return max(1, min(most, int(seconds / max(once(run), 1e-9))))


def in_turns(runs, rounds, calls=1, apart=False):
    """Seconds of a call of each of `runs`, {name: function}, in several rounds. `calls` in a row, a number or one by name, give
    their mean, or each a figure of its own where they are timed apart. All have run once before."""
    times = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            count = calls[name] if isinstance(calls, dict) else calls
            if apart:
                times[name] += [once(run) for _ in range(count)]
                continue
            start = time.perf_counter()
            for _ in range(count):
                run()
            times[name].append((time.perf_counter() - start) / count)
    return times


def least(runs, rounds, calls=1):
    """Milliseconds of each: the least of several rounds, behind a first call that does not count."""
    for run in runs.values():
        run()
    return {name: 1e3 * min(seconds) for name, seconds in in_turns(runs, rounds, calls).items()}
