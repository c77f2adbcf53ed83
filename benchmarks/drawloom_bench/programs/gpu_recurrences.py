# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Linear recurrences that gpu-recurrences counts and gpu.sh checks and times, as cases (gpu.py)."""

import numpy as np

from drawloom_bench.programs import gpu as gpu_programs

KINDS = {"gla": "GLA", "scalar": "scalar gate", "gated_delta": "gated delta rule"}
# Of each sequence in the middle size: several chunks, and a part of one.
MIDDLE_TOKENS = 333


class Cell:
    """A recurrence with K, V and an element type, forward or with all gradients; "tf32" is f32 of which tensor cores may multiply
    rounded operands. Eight sequences of 2048 tokens and 16 heads are what a model of 2048 channels has, 128 blocks for some 100
    multiprocessors. `text(cell, rows)` is the program that is counted, what a user says where it is left out."""

    def __init__(self, kind, keys, values, element, entry, text=None, batch=8, tokens=2048, heads=16):
        self.kind, self.keys, self.values, self.element, self.entry = kind, keys, values, element, entry
        self.batch, self.tokens, self.heads = batch, tokens, heads
        self.numbers = "f32" if element == "tf32" else element
        self.rows, self.middle = batch * tokens * heads, batch * MIDDLE_TOKENS * heads
        # flash-linear-attention multiplies f32 as TF32.
        self.rival_key = f"{KINDS[kind]} {keys}x{values} {self.numbers}"
        # Multiply-adds of a token and head, at least: the state is written and read, and the gradients of q, k, v and of the state
        # take as much each; what is there is read, too, before a delta rule writes.
        products = keys * values * {"forward": 2, "train": 6}[entry]
        if kind == "gated_delta":
            products += keys * values * {"forward": 1, "train": 3}[entry]
        # Tensor cores multiply half as many of 32 bits at a time.
        products *= 2 if element == "tf32" else 1
        self.case = gpu_programs.Case(
            f"{KINDS[kind]} {keys}x{values} {entry}", self.numbers, entry, lambda rows: text(self, rows) if text else self.said(rows),
            self.arguments, self.rows, 2 * 64, label=element,
            # A block is a head of a sequence, and of gradients another: of two heads, one of each kind.
            blocks=1 if entry == "forward" else 2, counted=2 * tokens,
            quick=(kind, keys, values, element, entry) == ("gla", 64, 64, "bf16", "forward"), recurrence=kind,
            middle=self.middle, **{"fused" if element == "f32" else "products": lambda rows: rows * products})

    def shapes(self, rows):
        """Of each operand for so many tokens of all heads, and its element type. Where it is not the whole, it is one sequence of two
        heads; in the middle size all heads of shorter sequences. Decays are f32 for all types, as flash-linear-attention asks for."""
        part = {self.rows: (self.batch, self.tokens, self.heads),
                self.middle: (self.batch, MIDDLE_TOKENS, self.heads)}.get(rows, (1, rows // 2, 2))
        out = {"q": ((*part, self.keys), self.numbers), "k": ((*part, self.keys), self.numbers), "v": ((*part, self.values), self.numbers),
               "decay": ((*part, self.keys) if self.kind == "gla" else part, "f32")}
        if self.kind == "gated_delta":
            out["beta"] = part, self.numbers
        return out

    def said(self, rows):
        """The program as a user says it."""
        types = {name: gpu_programs.tensor(*shape, element=element) for name, (shape, element) in self.shapes(rows).items()}
        batch, _, heads, _ = self.shapes(rows)["v"][0]
        o, final = types["v"], gpu_programs.tensor(batch, heads, self.keys, self.values)
        parameters = ", ".join(f"%{name}: {kind}" for name, kind in types.items())
        names, kinds, count = ", ".join(f"%{name}" for name in types), ", ".join(types.values()), len(types)
        clauses = "decay(%decay)" + (" beta(%beta)" if self.kind == "gated_delta" else "")
        mild = " {decay_bound = -1.0 : f64}" if self.kind == "gla" else ""
        train = self.entry == "train"
        out = f"""func.func {"private " if train else ""}@forward({parameters}) -> {o} {{
  %o, %final = linrec.scan %q, %k, %v {clauses}{mild} : ({kinds}) -> ({o}, {final})
  return %o : {o}
}}
"""
        if train:
            out += f"""func.func @train({parameters}, %d_o: {o}) -> ({o}, {kinds}) {{
  %o, %d:{count} = ad.vjp @forward({names}) cotangents(%d_o) wrt {list(range(count))} : ({kinds}) -> ({o}, {kinds})
  return %o, {", ".join(f"%d#{i}" for i in range(count))} : {o}, {kinds}
}}
"""
        return f"module attributes {{drawloom.tf32}} {{\n{out}}}\n" if self.element == "tf32" else out

    def arguments(self, rng, rows):
        """Decays of a layer that was just made, log sigmoid / 16; keys have length 1, so that delta rules stay bounded."""
        out = {}
        for name, (shape, element) in self.shapes(rows).items():
            x = rng.standard_normal(shape, np.float32)
            if name == "k":
                x /= np.sqrt(np.float32(self.keys))
            elif name in ("decay", "beta"):
                np.exp(np.negative(x, out=x), out=x)
                x = -np.log1p(x) / 16 if name == "decay" else 1 / (1 + x)
            out[name] = gpu_programs.store(x, element)
        if self.entry == "train":
            out["d_o"] = gpu_programs.store(rng.standard_normal(self.shapes(rows)["v"][0], np.float32), self.numbers)
        return list(out.values())


def timed():
    """What a machine with a GPU times: two of the shapes that flash-linear-attention's own benchmarks have (65,536 tokens), and
    smaller ones."""
    large = [Cell(kind, 128, 256, "bf16", entry, tokens=8192) for kind in ("gla", "scalar") for entry in ("forward", "train")]
    return [cell.case for cell in [*large, Cell("gla", 64, 64, "bf16", "forward"),
                                   *(Cell("gated_delta", 128, 128, "bf16", entry) for entry in ("forward", "train"))]]
