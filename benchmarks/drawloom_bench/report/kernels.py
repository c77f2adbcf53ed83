# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What gpu-kernels writes into the documentation: a summary for readers, and a picture; and the tables beside the results. Nothing here measures."""

import math

from drawloom_bench import RESULTS, ROOT
from drawloom_bench.report.tables import head, line, mean, number, replaced

PAGE, OVERVIEW = ROOT / "docs" / "gpu-kernels.md", ROOT / "docs" / "gpu.md"
PICTURE = ROOT / "docs" / "images" / "gpu-kernels.svg"
TABLES = RESULTS / "gpu-kernels.md"
# The architecture of summaries: that of the device that times are estimated for.
MAIN = "sm_90a"


def over(row, cell, combine=sum):
    return combine(kernel[cell] for kernel in row["kernels"].values())


def mean_width(row, cell):
    found = [(int(width), n) for kernel in row["kernels"].values() for width, n in kernel[cell].items()]
    return round(sum(w * n for w, n in found) / sum(n for _, n in found), 2) if found else 0


def ratio(row, space):
    """Actual over ideal, 0 where nothing was counted."""
    actual, ideal = row.get(space) or (0, 0)
    return round(actual / ideal, 3) if ideal else 0


def counts_text(found):
    return " ".join(f"{n}x{width}" for width, n in found.items()) or "-"


def a_row(row, rows, what="all"):
    """Warp instructions that a row of the program takes; None where they were not counted."""
    return row["run"][what] / rows if row and row.get("run") else None


def beside(ours, theirs, rows, what="all"):
    """Ours over Triton's; None where one of them is missing."""
    ours, theirs = a_row(ours, rows, what), a_row(theirs, rows, what)
    return ours / theirs if ours and theirs else None


def estimated(row):
    """The estimate of a row; None without one, or where it is of before roofs were in it."""
    given = row.get("estimate")
    return given if given and "roof" in given else None


def share(row):
    """Per cent of the estimate that the roof is."""
    given = estimated(row)
    return f"{100 * given['roof'] / given['us']['sum']:.0f} %" if given and given["us"]["sum"] else "-"


def spilled(row):
    return row and "error" not in row and row["local"] > 0


def entries(results):
    """Key, rows a case has, our row and Triton's for an architecture, of all that compile."""
    for key, rows in results["cases"].items():
        yield key, results["rows"].get(key, 1), rows, results["triton"].get(key, {})


def averages(results, arch):
    """Sentences about the ratios of an architecture."""
    ratios = {key: beside(rows.get(arch, {}), theirs.get(arch, {}), n) for key, n, rows, theirs in entries(results)}
    ratios = {key: value for key, value in ratios.items() if value}
    if not ratios:
        return "no program has counts of both sides"
    clean = [value for key, value in ratios.items() if not spilled(results["triton"][key][arch])]
    not_more = sum(value <= 1 for value in ratios.values())
    return (f"geometric mean {mean(list(ratios.values())):.2f} over {len(ratios)} programs. In {not_more} of the {len(ratios)}, our kernels execute no more "
            f"instructions than Triton's. Over the {len(clean)} programs that Triton compiles without local memory, the mean is {mean(clean):.2f}")


def rival_cells(ours, theirs, rows):
    """Instructions a row: ours, Triton's, the ratio."""
    mine, others = a_row(ours, rows), a_row(theirs, rows)
    found = beside(ours, theirs, rows)
    mark = "*" if spilled(theirs) else ""
    return [number(mine) if mine else "-", number(others) + mark if others else "-", f"{found:.2f}" if found else "-"]


def overview(results):
    """What docs/gpu.md says of the table."""
    return f"Instructions of our kernels divided by those of Triton's, {MAIN}: {averages(results, MAIN)}.\n"


def summary(results):
    """Of each program what a reader asks first."""
    lines = head([f"program, {MAIN}", "regs", "spill B", "tensor run / ideal", "bytes a load / store", "bank cycles / ideal",
                  "estimate us", "binds", "roof us", "of the roof", "instr a row: ours", "Triton", "ratio"])
    for key, rows, ours, theirs in entries(results):
        row = ours.get(MAIN, {"error": "not counted"})
        if "error" in row:
            lines.append(line([key, f"fails: {row['error']}", *[""] * 11]))
            continue
        given = estimated(row)
        lines.append(line([
            key, over(row, "registers", max), over(row, "spills"), executed_tensor(row),
            f"{number(mean_width(row, 'loads'))} / {number(mean_width(row, 'stores'))}", ratio(row, "shared") or "-",
            *([given["us"]["sum"], given["binds"], given["roof"], share(row)] if given else ["-"] * 4),
            *rival_cells(row, theirs.get(MAIN), rows)]))
    lines += ["", f"Instructions of our kernels divided by those of Triton's, {MAIN}: {averages(results, MAIN)}. A star: Triton's kernels use local memory."]
    for arch in sorted({arch for _, _, ours, _ in entries(results) for arch in ours} - {MAIN}):
        lines.append(f"\n{arch}: {averages(results, arch)}.")
    return "\n".join(lines) + "\n"


def executed_tensor(row):
    if not row["tensor_ideal"]:
        return "-"
    return f"{row['run']['tensor'] / row['tensor_ideal']:.2f}" if row.get("run") else "?"


def our_table(results, arch):
    lines = head(["program", "kernels", "regs", "spill B", "local", "shared B", "instr all / loop", "tensor in code; run / ideal", "loads",
                  "copies", "stores", "bank cycles / ideal", "sectors / ideal", "compile ms",
                  "estimate us: issue, tensor, shared, bytes -> sum"])
    for key, _, ours, _ in entries(results):
        if arch not in ours:
            continue
        row = ours[arch]
        if "error" in row:
            lines.append(line([key, f"fails: {row['error']}", *[""] * 13]))
            continue
        main, times, given = row["kernels"][row["main"]], "-", row.get("estimate")
        if given:
            us = given["us"]
            times = (f"{given['device']}: {us['issue']}, {us['tensor']}, {us['shared']}, {us['bytes']} -> {us['sum']} "
                     f"({given['binds']})")
        lines.append(line([
            key, len(row["kernels"]), over(row, "registers", max), over(row, "spills"), over(row, "local"), main["shared"],
            f"{main['instructions']} / {main['loop'] or '-'}", f"{main['tensor']}; {executed_tensor(row)}",
            *(counts_text(main[cell]) for cell in ("loads", "copies", "stores")), ratio(row, "shared") or "-",
            ratio(row, "sectors") or "-", sum(sum(k["milliseconds"]) for k in row["kernels"].values()), times]))
    return "\n".join(lines) + "\n"


def triton_table(results, arch):
    lines = head(["program", "kernels", "warps, stages", "regs", "local", "shared B", "instr", "a row: instr", "tensor", "shared memory",
                  "MUFU", "shuffles"])
    for key, rows, ours, theirs in entries(results):
        if arch not in theirs:
            continue
        row, mine = theirs[arch], ours.get(arch, {})
        if "error" in row:
            lines.append(line([key, row["error"], *[""] * 10]))
            continue
        def cell(of, what):
            return "-" if a_row(of, rows, what) is None else number(a_row(of, rows, what))

        pairs = [f"{cell(mine, what)} / {cell(row, what)}" for what in ("all", "tensor", "shared", "MUFU", "SHFL")]
        lines.append(line([key, row["kernels"], ", ".join(map(str, row["config"])), row["registers"], row["local"], row["shared"],
                           row["instructions"], *pairs]))
    return "\n".join(lines) + "\n"


def tables(results, architectures):
    out = []
    for arch in architectures:
        out += [f"### {arch}: ours\n", our_table(results, arch), f"### {arch}: Triton's, and ours / Triton's a row\n",
                triton_table(results, arch)]
    return "\n".join(out)


# ---------------------------------------------------------------------------
# The picture: one line a program, ours over Triton's on a logarithmic axis
# ---------------------------------------------------------------------------


def picture(results):
    """Instructions a row, ours over Triton's, and the share of the roof of our estimate, as SVG."""
    found = [(key, beside(ours.get(MAIN, {}), theirs.get(MAIN, {}), rows), spilled(theirs.get(MAIN)), ours.get(MAIN, {}))
             for key, rows, ours, theirs in entries(results)]
    found = [one for one in found if one[1]]
    step, left, middle, width, top = 17, 190, 560, 800, 58
    height = top + step * len(found) + 34
    bound = max([4.0] + [max(value, 1 / value) for _, value, _, _ in found])
    half = (middle - 40 - left) / 2

    def x(value):
        return left + half + half * math.log(value) / math.log(bound)

    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">',
           f'<rect width="{width}" height="{height}" fill="white"/>',
           f'<text x="{left}" y="18" font-size="13" fill="#222">Instructions a row, ours / Triton ({MAIN}); left is fewer</text>',
           f'<text x="{middle}" y="18" font-size="13" fill="#222">Roof / estimate on an H200</text>',
           f'<circle cx="{left + 5}" cy="33" r="4" fill="#2b6cb0"/><text x="{left + 13}" y="37" fill="#444">fewer</text>',
           f'<circle cx="{left + 65}" cy="33" r="4" fill="#c05621"/><text x="{left + 73}" y="37" fill="#444">more</text>',
           f'<circle cx="{left + 125}" cy="33" r="3.5" fill="white" stroke="#444"/>'
           f'<text x="{left + 133}" y="37" fill="#444">hollow: Triton uses local memory</text>']
    bottom = top + step * len(found)
    for value in (0.0625, 0.125, 0.25, 0.5, 1, 2, 4, 8, 16):
        if 1 / bound <= value <= bound:
            svg += [f'<line x1="{x(value):.1f}" y1="{top - 8}" x2="{x(value):.1f}" y2="{bottom}" '
                    f'stroke="{"#555" if value == 1 else "#ddd"}"/>',
                    f'<text x="{x(value):.1f}" y="{bottom + 15}" text-anchor="middle" fill="#444">{value:g}</text>']
    for percent in (0, 50, 100):
        at = middle + 2 * percent
        svg += [f'<line x1="{at}" y1="{top - 8}" x2="{at}" y2="{bottom}" stroke="#ddd"/>',
                f'<text x="{at}" y="{bottom + 15}" text-anchor="middle" fill="#444">{percent} %</text>']
    for i, (key, value, local, row) in enumerate(found):
        y = top + step * i + step / 2
        colour = "#2b6cb0" if value <= 1 else "#c05621"
        svg.append(f'<text x="{left - 8}" y="{y + 4}" text-anchor="end" fill="#222">{key}</text>')
        svg.append(f'<line x1="{x(1):.1f}" y1="{y}" x2="{x(value):.1f}" y2="{y}" stroke="{colour}" stroke-width="2"/>')
        svg.append(f'<circle cx="{x(value):.1f}" cy="{y}" r="4" fill="{"white" if local else colour}" stroke="{colour}"/>')
        if given := estimated(row):
            part = min(given["roof"] / given["us"]["sum"], 1.0) if given["us"]["sum"] else 0
            svg.append(f'<rect x="{middle}" y="{y - 5}" width="{200 * part:.1f}" height="10" fill="#6b8fb5"/>')
    return "\n".join([*svg, "</svg>"]) + "\n"


def pages(results, architectures):
    """By file, what it should hold now."""
    return {PAGE: replaced(PAGE.read_text(), "summary", summary(results), "gpu-kernels"),
            TABLES: "# The GPU kernels, counted\n\nWritten by `benchmarks/drawloom-bench gpu-kernels`; `docs/gpu-kernels.md` says what each column is.\n\n"
                    + tables(results, architectures),
            OVERVIEW: replaced(OVERVIEW.read_text(), "kernel table", overview(results), "gpu-kernels"), PICTURE: picture(results)}
