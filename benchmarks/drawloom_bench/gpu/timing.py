# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times with CUDA graphs and events, on a stream of our own, with a cold and a warm L2 cache."""

import ctypes
import statistics

from drawloom_bench.gpu import watch
from drawloom_bench.gpu.device import Clocks

MEASUREMENTS, SECONDS = 7, 0.05
# Bytes that are written to take what is there out of the cache: four times as many as an H200 has.
FLUSH = 256 << 20
GRAPH_SECONDS, MOST_IN_A_GRAPH = 1e-3, 20


def repeat(cuda, stream, work, measurements, seconds):
    """The median time of work(), in microseconds."""
    once = max(cuda.seconds(work, stream), 1e-6)
    times = max(1, min(1000, int(seconds / once)))

    def several():
        for _ in range(times):
            work()
    return statistics.median(cuda.seconds(several, stream) / times for _ in range(measurements)) * 1e6


def measure(cuda, stream, put, capture, measurements=MEASUREMENTS, seconds=SECONDS, flush=FLUSH):
    """Microseconds of what put() puts on the stream: eager, by a graph of many (warm), by a graph that empties the cache first (cold,
    without the time of emptying); and the clocks meanwhile. capture(work) gives a function that replays. What cannot be captured has
    an eager time only, and the reason."""
    watch.phase("first run before timing")
    put()
    cuda.wait(stream)
    # Clocks rise when there is work.
    repeat(cuda, stream, put, 1, seconds)
    watch.phase("timing")
    out = {}
    with Clocks() as clocks:
        out["eager_us"] = repeat(cuda, stream, put, measurements, seconds)
        memory = cuda.allocate(flush)

        def empty():
            cuda.MemsetD32Async(memory, ctypes.c_uint(0), flush // 4, stream)

        def cold():
            empty()
            put()
        count = max(1, min(MOST_IN_A_GRAPH, int(GRAPH_SECONDS * 1e6 / max(out["eager_us"], 1e-3))))
        try:
            replay = capture(lambda: [put() for _ in range(count)])
            out["warm_us"] = repeat(cuda, stream, replay, measurements, seconds) / count
            alone, both = (repeat(cuda, stream, capture(work), measurements, seconds) for work in (empty, cold))
            out["cold_us"] = max(both - alone, 0.0)
        except Exception as error:  # Of torch's, too.
            out["not_captured"] = (str(error).splitlines() or [type(error).__name__])[0][:300]
        cuda.free(memory)
    out["clocks"] = clocks.found
    return {name: round(value, 3) if isinstance(value, float) else value for name, value in out.items()}


def capture_with(cuda, stream):
    def capture(work):
        graph = cuda.capture(stream, work)
        return lambda: cuda.GraphLaunch(graph, stream)
    return capture


def says(found):
    """One sentence of what `measure` found."""
    parts = [f"{name[:-3]} {found[name]:.1f} us" for name in ("warm_us", "cold_us", "eager_us") if name in found]
    if "not_captured" in found:
        parts.append(f"no graph: {found['not_captured']}")
    if found.get("clocks") and not found["clocks"]["steady"]:
        parts.append("the clock fell meanwhile")
    return ", ".join(parts)
