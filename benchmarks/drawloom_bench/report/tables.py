# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables in Markdown, pages that are written in part, and files of figures."""

import json
import math
import pathlib
import sys


def line(cells):
    return "| " + " | ".join(str(cell).replace("|", "/") for cell in cells) + " |"


def head(cells):
    return [line(cells), "|" + " --- |" * len(cells)]


def show(cells):
    """Prints a row, as soon as it is known."""
    print(line(cells), flush=True)


def show_head(*cells):
    print("\n".join(head(cells)), flush=True)


def number(value):
    """Three digits that say something."""
    if value == 0:
        return "0"
    return f"{value:.0f}" if value >= 100 else f"{value:.{2 - math.floor(math.log10(value))}f}"


def mean(ratios):
    """The geometric one."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else 0.0


def replaced(text, name, content, by):
    """A page with this content between the markers of a benchmark's table."""
    begin, end = f"<!-- {name}: written by benchmarks/drawloom-bench {by} -->\n", f"<!-- end of the {name} -->\n"
    before, rest = text.split(begin)
    return before + begin + "\n" + content + "\n" + end + rest.split(end)[1]


def compact(parts):
    """JSON with one line for each row of {part: {key: {row: value}}}, so that a change of one shows as one; other parts in a line each."""
    def block(of):
        lines = []
        for key, rows in of.items():
            inside = ",\n".join(f"  {json.dumps(name)}: {json.dumps(row, separators=(',', ':'))}" for name, row in rows.items())
            lines.append(f" {json.dumps(key)}: {{\n{inside}\n }}")
        return "{\n" + ",\n".join(lines) + "\n}"

    nested = {name: bool(of) and all(isinstance(rows, dict) for rows in of.values()) for name, of in parts.items()}
    return "{" + ",\n".join(f"{json.dumps(name)}: {block(of) if nested[name] else json.dumps(of)}" for name, of in parts.items()) + "}\n"


def write_json(path, figures):
    """Figures, to the file that --json names."""
    if path:
        pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
        pathlib.Path(path).write_text(json.dumps(figures, indent=1) + "\n")
        print(f"figures: {path}", file=sys.stderr)
