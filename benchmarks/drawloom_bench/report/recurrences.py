# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What gpu-recurrences writes into docs/gpu-recurrences.md. Nothing here measures."""

from drawloom_bench import RESULTS, ROOT
from drawloom_bench.report.kernels import over
from drawloom_bench.report.tables import head, line, mean, number, replaced

PAGE = ROOT / "docs" / "gpu-recurrences.md"
TABLES = RESULTS / "gpu-recurrences.md"
MAIN = "sm_90a"
GROUPS = ["tensor", "shared", "global", "MUFU", "SHFL", "local"]
MIX = ["instr", "tensor", "shared", "global", "MUFU", "shuffles", "local", "other"]
# What the package refuses to run where the table has it, by architecture.
REFUSED = {"sm_90a": "chunk_bwd_kernel_dqkwg"}


def token_heads(results):
    shape = results["shape"]
    return shape["batch"] * shape["tokens"] * shape["heads"]


def kibibytes(n):
    return f"{n / 1024:.1f}".removesuffix(".0")


def launches(row, entry):
    return row["forward"] + (row["backward"] if entry == "train" else [])


def total(kernels, what):
    return sum(kernel["run"][what] for kernel in kernels)


def mix(run, count):
    """All instructions of a token and head, by group, and those in none."""
    groups = [run[group] for group in GROUPS]
    return [number(value / count) for value in (run["all"], *groups, run["all"] - sum(groups))]


def pairs(results, cells):
    """Each cell with our rows and theirs, by architecture, of those that have any."""
    for cell in cells:
        ours, theirs = results["cases"].get(cell.case.key, {}), results["fla"].get(cell.rival_key, {})
        if ours or theirs:
            yield cell, ours, theirs


def known(row, part):
    return bool(row) and "error" not in row and bool(row.get(part))


def star(kernels, arch):
    return "*" if any(kernel["name"] == REFUSED.get(arch) for kernel in kernels) else ""


def why(row):
    if not row:
        return "not compiled"
    return f"fails: {row['error']}" if "error" in row else "turns of loops not found"


def ratios(results, cells, arch, element):
    """Ours over theirs of one architecture and type: instructions, and estimates, where both are known."""
    found = []
    for cell, ours, theirs in pairs(results, cells):
        mine, other = ours.get(arch, {}), theirs.get(arch, {})
        if cell.element == element and known(mine, "run") and known(other, "forward"):
            found.append((mine["run"]["all"] / total(launches(other, cell.entry), "all"),
                          mine["estimate"]["us"]["sum"] / other["estimate"][cell.entry]["sum"]))
    return found


def average(results, cells, arch, element):
    found = ratios(results, cells, arch, element)
    if not found:
        return f"{arch}, {element}: no cell has counts of both sides."
    instructions, times = (mean(list(one)) for one in zip(*found))
    return (f"{arch}, {element}: {len(found)} cells, geometric means: instructions {instructions:.2f}, estimates {times:.2f}; fewer "
            f"instructions in {sum(a <= 1 for a, _ in found)}, a smaller estimate in {sum(b <= 1 for _, b in found)}.")


def summary(results, cells, arch):
    count = token_heads(results)
    lines = head([f"{arch}", "kernels", "regs", "spill B", "instr", "estimate us", "binds", "of the roof", "FLA: kernels", "regs", "local",
                  "instr", "estimate us", "instr, ours / FLA", "estimate, ours / FLA"])
    for cell, ours, theirs in pairs(results, cells):
        mine, other = ours.get(arch, {}), theirs.get(arch, {})
        if "error" in mine or not mine:
            cells_of_ours = [why(mine), *[""] * 6]
        else:
            given = mine.get("estimate")
            cells_of_ours = [len(mine["kernels"]), over(mine, "registers", max), over(mine, "spills"),
                             *([number(mine["run"]["all"] / count), given["us"]["sum"], given["binds"],
                                f"{100 * given['roof'] / given['us']['sum']:.0f} %"] if given else [why(mine), "-", "-", "-"])]
        cells_of_theirs, both = [why(other), *[""] * 4], ["-", "-"]
        if known(other, "forward"):
            kernels = launches(other, cell.entry)
            least = other["estimate"][cell.entry]["sum"]
            cells_of_theirs = [f"{len(kernels)}{star(kernels, arch)}", max(kernel["registers"] for kernel in kernels),
                               sum(kernel["local"] for kernel in kernels), number(total(kernels, "all") / count), least]
            if known(mine, "run"):
                both = [f"{mine['run']['all'] / total(kernels, 'all'):.2f}", f"{mine['estimate']['us']['sum'] / least:.2f}"]
        lines.append(line([cell.case.key, *cells_of_ours, *cells_of_theirs, *both]))
    return "\n".join(lines) + "\n"


def our_table(results, cells, arch):
    count = token_heads(results)
    lines = head([f"ours, {arch}", "kernels", "regs", "spill B", "shared KiB", *MIX, "bank cycles / ideal",
                  "estimate us: issue, tensor, shared, bytes -> sum", "compile ms"])
    for cell, ours, _ in pairs(results, cells):
        row = ours.get(arch, {})
        if not row or "error" in row:
            lines.append(line([cell.case.key, why(row), *[""] * 14]))
            continue
        actual, ideal = row.get("shared") or (0, 0)
        given = row.get("estimate")
        times = "-"
        if given:
            us = given["us"]
            times = f"{given['device']}: {us['issue']}, {us['tensor']}, {us['shared']}, {us['bytes']} -> {us['sum']}"
        lines.append(line([
            cell.case.key, len(row["kernels"]), over(row, "registers", max), over(row, "spills"), kibibytes(over(row, "shared", max)),
            *(mix(row["run"], count) if row.get("run") else [why(row), *["-"] * (len(MIX) - 1)]),
            f"{actual / ideal:.2f}" if ideal else "-", times, sum(sum(kernel["milliseconds"]) for kernel in row["kernels"].values())]))
    return "\n".join(lines) + "\n"


def their_table(results, cells, arch):
    """Each launch of the forward and of the backward pass once."""
    count = token_heads(results)
    lines = head([f"flash-linear-attention, {arch}", "pass", "kernel", "setting", "offered", "regs", "local accesses", "shared KiB",
                  *MIX, "bytes"])
    for cell, _, theirs in pairs(results, cells):
        row = theirs.get(arch, {})
        if cell.entry == "train" or cell.element == "tf32":  # Both are there with forward and f32.
            continue
        if not known(row, "forward"):
            lines.append(line([cell.rival_key, why(row), *[""] * (len(MIX) + 7)]))
            continue
        for part in ("forward", "backward"):
            for kernel in row[part]:
                tuned, warps, stages = kernel["setting"]
                blocks = "".join(f"{name} {value}, " for name, value in tuned.items())
                lines.append(line([
                    cell.rival_key, part, kernel["name"] + star([kernel], arch), f"{blocks}{warps} warps, {stages} stages",
                    kernel["offered"], kernel["registers"], kernel["local"], kibibytes(kernel["shared"]),
                    *mix(kernel["run"], count), number(kernel["bytes"] / count)]))
            run = {what: total(row[part], what) for what in ("all", *GROUPS)}
            lines.append(line([cell.rival_key, part, "all", "", "", max(kernel["registers"] for kernel in row[part]),
                               sum(kernel["local"] for kernel in row[part]), kibibytes(max(kernel["shared"] for kernel in row[part])),
                               *mix(run, count), number(sum(kernel["bytes"] for kernel in row[part]) / count)]))
    return "\n".join(lines) + "\n"


def pages(results, cells, architectures):
    """By file, what it should hold now."""
    main_first = sorted(architectures, key=lambda arch: arch != MAIN)
    elements = list(dict.fromkeys(cell.element for cell in cells))
    averages = "\n".join(f"- {average(results, cells, arch, element)}" for arch in main_first for element in elements)
    text = replaced(PAGE.read_text(), "summary", "\n".join([summary(results, cells, MAIN), "Ours over theirs:\n", averages, ""]), "gpu-recurrences")
    detail = []
    for arch in main_first:
        if arch != MAIN:
            detail += [f"### {arch}\n", summary(results, cells, arch)]
        detail += [f"### {arch}: ours, a token and head\n", our_table(results, cells, arch),
                   f"### {arch}: flash-linear-attention's kernels, a token and head\n", their_table(results, cells, arch)]
    return {PAGE: text,
            TABLES: "# Linear recurrences on GPUs, counted\n\nWritten by `benchmarks/drawloom-bench gpu-recurrences`; `docs/gpu-recurrences.md` says what each "
                    "column is. *other* is what is in no\ngroup: arithmetic, addresses, moves, barriers, branches. *bytes* are those of a "
                    "kernel's tensors.\n\n" + "\n".join(detail)}


def write(results, cells, architectures):
    for path, text in pages(results, cells, architectures).items():
        path.write_text(text)
