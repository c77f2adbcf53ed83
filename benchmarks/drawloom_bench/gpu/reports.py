# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What people read of results: a line for each stage and each failure while it runs, a table of times at the end; below 10 KB."""

from drawloom_bench.gpu.driver import FAILED
from drawloom_bench.gpu.stages import STAGES

# Bytes a second, multiply-adds a second in half precision and in f32, by what is in the device's name.
ROOFS = {"H200": (4.8e12, 494e12, 33.5e12), "H100": (3.35e12, 494e12, 33.5e12), "A100": (2.04e12, 156e12, 9.75e12)}
LINE, LINES = 160, 25


def cut(text):
    return text if len(text) <= LINE else text[:LINE - 3] + "..."


class Progress:
    """Prints while items run."""

    def __init__(self, out):
        self.out, self.stage, self.counts, self.seconds, self.failures = out, None, {}, 0, 0

    def say(self, record):
        stage = record["item"].split("/")[0]
        if stage != self.stage:
            self.end()
            self.stage = stage
        status = record["status"]
        self.counts[status] = self.counts.get(status, 0) + 1
        self.seconds += record["seconds"]
        if status in FAILED or stage in ("inventory", "diagnosis"):
            self.failures += 1
            if self.failures <= LINES:
                print(cut(f"{status.upper() if status in FAILED else status:7} {record['item']}: {record['says']}"), file=self.out, flush=True)
            elif self.failures == LINES + 1:
                print("...     more of these are in the file", file=self.out, flush=True)

    def end(self):
        if self.stage:
            counted = ", ".join(f"{count} {status}" for status, count in self.counts.items())
            print(f"{self.stage}: {counted}; {self.seconds:.0f} s of processes", file=self.out, flush=True)
        self.counts, self.seconds, self.stage = {}, 0, None


def is_failure(item, record):
    """Whether something of ours went wrong: rivals that fail are named, and are no failures."""
    return record["status"] in FAILED and item.split("/")[0] not in ("prepare", "rivals", "diagnosis")


def of_stage(results, stage):
    return {item.split("/", 1)[1]: record for item, record in results.items() if item.startswith(stage + "/")}


def roofs(results):
    """Bytes, half-precision and f32 multiply-adds a second of the device that the results are of, and whose figures: what probes
    measured counts before what its name says."""
    device = of_stage(results, "inventory").get("machine", {}).get("data", {}).get("device", "")
    named = next((values for part, values in ROOFS.items() if part in device), (None, None, None))
    measured = of_stage(results, "probes").get("copy", {}).get("data", {}).get("hbm_bytes_per_second")
    return (measured or named[0], *named[1:]), ("measured copies" if measured else "its name")


def table(results):
    """The times, ours beside the rivals', and the share of the roof."""
    times, rivals = of_stage(results, "times"), of_stage(results, "rivals")
    (rate, half, single), _ = roofs(results)
    lines = []
    for key, record in times.items():
        data = record.get("data", {})
        us = data.get("warm_us", data.get("eager_us"))
        if us is None:
            continue
        beside = {item.rsplit(" by ", 1)[1]: other["data"].get("warm_us", other["data"].get("eager_us")) for item, other in rivals.items()
                  if item.rsplit(" by ", 1)[0] == key and other["status"] == "ok"}
        # Another function is shown, but no rival.
        same = [value for name, value in beside.items() if not name.startswith("GELU")]
        share = "-"
        if rate and half and data.get("full"):
            least = max(data["bytes"] / rate, data["products"] / half, data["fused"] / single) * 1e6
            share = f"{100 * least / us:.0f} %"
        unsteady = "" if (data.get("clocks") or {}).get("steady", True) else " (clock fell)"
        lines.append(f"| {key} | {us:.1f}{unsteady} | {data.get('cold_us', float('nan')):.1f} | "
                     + (", ".join(f"{name} {value:.1f}" for name, value in beside.items()) or "-")
                     + f" | {f'{min(same) / us:.2f}' if same else '-'} | {share} |")
    if not lines:
        return ""
    return "\n".join(["| program | us | cold us | rivals, us | fastest rival / ours | share of the roof |", "|" + " --- |" * 6, *lines])


def summary(results):
    """The last line, and whether nothing failed."""
    counted = {}
    for item, record in results.items():
        if not item.startswith("diagnosis/"):
            counted[record["status"]] = counted.get(record["status"], 0) + 1
    failed = any(is_failure(item, record) for item, record in results.items())
    return ", ".join(f"{count} {status}" for status, count in sorted(counted.items())) or "nothing was run", not failed and bool(counted.get("ok"))


def whole(results):
    """What --read prints: stages, failures with their diagnoses, times."""
    lines = []
    for stage in STAGES:
        records = of_stage(results, stage)
        if not records:
            continue
        counted = {}
        for record in records.values():
            counted[record["status"]] = counted.get(record["status"], 0) + 1
        lines.append(f"{stage}: {', '.join(f'{count} {status}' for status, count in counted.items())}")
        for subject, record in records.items():
            if record["status"] in FAILED or stage == "inventory":
                lines.append(cut(f"  {record['status']} {subject}: {record['says']}"))
                explained = results.get(f"diagnosis/{stage}/{subject}")
                if explained:
                    lines.append(cut(f"    because {explained['says']}"))
    return "\n".join([*lines[:2 * LINES + len(STAGES)], table(results), summary(results)[0]])
