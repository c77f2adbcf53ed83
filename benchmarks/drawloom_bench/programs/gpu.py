# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs whose GPU kernels are counted, checked and timed: text, arguments, what is ideal.

A case is a program in one element type. `rows` is what grows: rows of a network, tokens, nodes. Arguments are NumPy
arrays; bf16 is uint16 there, as everywhere in Drawloom.
"""

import numpy as np

import dense
import inputs
import irregular
import narrow
from drawloom_bench.programs import kan as kan_programs

# By the numbers that plans have for element types: f64, f32, bf16, f16, i64, i32, i8, i1 (include/drawloom/runtime/Artifact.h).
PLAN_BYTES = [8, 4, 2, 2, 8, 4, 1, 1]
# Of a result's largest magnitude, from float64.
TOLERANCES = {"f32": 2e-5, "bf16": 2e-2, "f16": 3e-3}
# A unit in the last place of a number, as a share of it at most: 7 and 10 bits follow the first. A CPU rounds networks in the
# same places, of sums in another order: a rounding goes the other way at times and moves a number by this. So this is also what
# the root of the mean square of all differences may be, as a share of the results' own (the bound of test/python/on_gpus/test_emulated.py).
LAST_PLACES = {"bf16": 2.0**-7, "f16": 2.0**-10}


def store(array, element):
    """The numbers in an element type."""
    if element == "bf16":
        return inputs.as_bf16(array)
    return np.asarray(array, {"f32": np.float32, "f16": np.float16}[element])


def plan_bytes(kind):
    """Of an argument or result of a plan."""
    return PLAN_BYTES[kind["element"]] * int(np.prod(kind["shape"], dtype=np.int64))


def tensor(*shape, element="f32"):
    return f"tensor<{''.join(f'{n}x' for n in shape)}{element}>"


class Case:
    """`text(rows)` is the program with the public function `entry`, `arguments(rng, rows)` what it takes;
    `products(rows)` is the number of multiply-adds that tensor cores should do, `fused(rows)` of those of f32 products,
    which they cannot; 0 where none should. Of launches with `counted` rows, all where it is left out, the emulator runs `blocks`
    blocks, to count accesses. `label` stands for the element type in the key; `recurrence` is the kind of a linear recurrence.
    Results are checked with `small` rows, a block or a few; with `middle`, more blocks than a device has multiprocessors, and a last
    one that is not full where the program allows it; and with all."""

    def __init__(self, name, element, entry, text, arguments, rows, small, products=lambda rows: 0, fused=lambda rows: 0,
                 blocks=4, quick=False, counted=None, label=None, recurrence=None, *, middle):
        self.name, self.element, self.entry = name, element, entry
        self.label, self.recurrence = label or element, recurrence
        self.text, self.arguments, self.products, self.fused = text, arguments, products, fused
        self.rows, self.middle, self.small, self.blocks, self.quick = rows, middle, small, blocks, quick
        self.counted = counted or rows
        # From float64; None where no bound can be given.
        self.tolerance = TOLERANCES[element]
        # From the results of a CPU, for networks in half precision.
        self.rounded = LAST_PLACES.get(element) if name.startswith("MLP") else None

    @property
    def key(self):
        return f"{self.name} {self.label}"


def rational(element, entry, channels=768, groups=8, quick=False):
    x, a, b = (tensor(*s, element=element) for s in (("ROWS", channels), (groups, 6), (groups, 4)))
    plain = kan_programs.only(kan_programs.rational("ROWS", channels, groups), entry).replace("f32", element)
    assert x in plain and a in plain and b in plain

    def arguments(rng, rows):
        out = [inputs.normal(rng, rows, channels)]
        if entry == "train":
            out.append(inputs.normal(rng, rows, channels))
        out += [inputs.normal(rng, groups, 6, scale=0.3), inputs.normal(rng, groups, 4, scale=0.3)]
        return [store(one, element) for one in out]

    return Case(f"rational {'forward' if entry == 'forward' else 'backward'}", element, entry,
                lambda rows: plain.replace("ROWS", str(rows)), arguments, 1 << 16, 48, quick=quick, middle=5003)


def mlp(element, entry, activation="relu", width=64, layers=5, quick=False):
    """Dense layers of one width, all of it in the element type: half-precision products are added up in f32 and rounded
    once."""
    def text(rows):
        x, w, b = (tensor(*s, element=element) for s in ((rows, width), (width, width), (width,)))
        a, d = tensor(8, 6, element=element), tensor(8, 4, element=element)
        names, types, body, last = [], [], "", "%x"
        for i in range(layers):
            names += [f"%w{i}", f"%b{i}"]
            types += [w, b]
            body += f"""
  %e{i} = tensor.empty() : {x}
  %c{i} = linalg.broadcast ins(%b{i} : {b}) outs(%e{i} : {x}) dimensions = [0]
  %s{i} = linalg.matmul ins({last}, %w{i} : {x}, {w}) outs(%c{i} : {x}) -> {x}"""
            last = f"%s{i}"
            if i + 1 < layers:
                if activation == "relu":
                    body += f"\n  %h{i} = kan.relu {last} : {x}"
                else:
                    body += f"\n  %h{i} = kan.rational {last}, %n{i}, %d{i} form(abs_sum) : {x}, {a}, {d}"
                    names += [f"%n{i}", f"%d{i}"]
                    types += [a, d]
                last = f"%h{i}"
        parameters = ", ".join(f"{n}: {t}" for n, t in zip(names, types))
        results, count = ", ".join([x, *types]), len(names)
        private = " private" if entry == "train" else ""
        out = f"func.func{private} @forward(%x: {x}, {parameters}) -> {x} {{{body}\n  return {last} : {x}\n}}\n"
        if entry == "train":
            out += f"""func.func @train(%x: {x}, %dy: {x}, {parameters}) -> ({x}, {results}) {{
  %y, %g:{count + 1} = ad.vjp @forward(%x, {", ".join(names)}) cotangents(%dy) wrt {list(range(count + 1))}
    : ({x}, {", ".join(types)}) -> ({x}, {results})
  return %y, {", ".join(f"%g#{i}" for i in range(count + 1))} : {x}, {results}
}}
"""
        return out

    def arguments(rng, rows):
        out = [store(inputs.normal(rng, rows, width), element) for _ in range(2 if entry == "train" else 1)]
        for i in range(layers):
            out += [store(inputs.normal(rng, width, width, scale=width**-0.5), element),
                    store(inputs.normal(rng, width, scale=0.1), element)]
            if activation == "rational" and i + 1 < layers:
                # Near to x, so that numbers neither vanish nor grow, nor cancel.
                fading = np.float32(0.1) / np.float32(4) ** np.arange(6, dtype=np.float32)
                linear = np.eye(6, dtype=np.float32)[1]
                out += [store(linear + fading * inputs.normal(rng, 8, 6), element),
                        store(fading[1:5] * inputs.normal(rng, 8, 4), element)]
        return out

    def products(rows):
        return rows * layers * width * width * (3 if entry == "train" else 1)

    case = Case(f"MLP {width} {activation} {entry}", element, entry, text, arguments, 1 << 18, 192,
                blocks=1 if entry == "train" else 4, quick=quick, middle=20011, **{"fused" if element == "f32" else "products": products})
    if case.rounded and entry == "train":
        # The reference rounds nothing in between. On the way to a gradient each layer rounds four times (z and h, and their
        # gradients), each by half a unit in the last place at most, and weights of variance 1 / width keep sizes: to first order
        # the sum of these. Where a rounding puts a number on the other side of ReLU's zero, its gradient jumps: no bound.
        case.tolerance = None if activation == "relu" else 4 * layers * case.rounded / 2
    return case


def adamw(quick=False):
    p = tensor("ROWS")
    text = f"""func.func @step(%p: {p}, %g: {p}, %m: {p}, %v: {p}, %rate: f32, %step: i64) -> ({p}, {p}, {p}) {{
  %n, %q, %r = opt.adamw params(%p) grads(%g) first(%m) second(%v) lr(%rate : f32) step(%step : i64)
    weight_decay [0.01] : {p}
  return %n, %q, %r : {p}, {p}, {p}
}}
"""

    def arguments(rng, rows):
        return [inputs.normal(rng, rows), inputs.normal(rng, rows), inputs.normal(rng, rows, scale=0.1),
                np.abs(inputs.normal(rng, rows, scale=0.01)), np.float32(1e-3), np.int64(7)]

    return Case("AdamW", "f32", "step", lambda rows: text.replace("ROWS", str(rows)), arguments, 1 << 24, 5000, quick=quick,
                middle=300007)


def gla():
    """`rows` tokens in two sequences, 16 heads; the small one has 2."""
    def heads(rows):
        return 16 if rows > 1000 else 2

    def arguments(rng, rows):
        return inputs.gla(rng, heads(rows), (rows // 4, rows - rows // 4))

    return Case("GLA chunks", "f32", "gla", lambda rows: irregular.gla(heads(rows), rows, 2), arguments, 1 << 14, 200,
                # Per token and head: with the state twice, with half of a chunk twice.
                fused=lambda rows: rows * heads(rows) * (2 * 64 * 64 + 2 * 32 * 64), blocks=2, middle=3001)


def gla_steps():
    """As `gla`, in bf16 and another form."""
    def heads(rows):
        return 16 if rows > 1000 else 2

    def arguments(rng, rows):
        q, k, v, *rest = inputs.gla(rng, heads(rows), (rows // 4, rows - rows // 4))
        return [*map(inputs.as_bf16, (q, k, v)), *rest]

    # Per token and head: with the state twice; scores of 16 tokens, five times, and these with the values.
    return Case("GLA steps", "bf16", "gla_steps", lambda rows: narrow.gla_steps(heads(rows), rows, 2), arguments, 1 << 14, 200,
                products=lambda rows: rows * heads(rows) * (2 * 64 * 64 + 5 * 16 * 64 + 16 * 64), blocks=2, middle=3001)


def rgcn():
    """`rows` nodes, 4 edges a node, 5 relations."""
    def make(rng, rows):
        return inputs.rgcn(rng, rows, 5, *inputs.random_graph(rng, rows, 4 * rows, 5))

    def text(rows):
        return irregular.rgcn(**make(np.random.default_rng(11), rows)[1])

    return Case("RGCN layer", "f32", "rgcn", text, lambda rng, rows: make(np.random.default_rng(11), rows)[0], 1 << 14, 64,
                fused=lambda rows: rows * 6 * 64 * 64, blocks=32, quick=True, middle=2144)


def rgcn_segments():
    """As `rgcn`, in bf16 and another form."""
    def make(rows):
        rng = np.random.default_rng(11)
        return inputs.rgcn_segments(rng, rows, 5, *inputs.random_graph(rng, rows, 4 * rows, 5))

    # Of the products with W_r, those of segments that there are.
    return Case("RGCN segments", "bf16", "rgcn_segments", lambda rows: narrow.rgcn_segments(**make(rows)[1]),
                lambda rng, rows: make(rows)[0], 1 << 14, 128,
                products=lambda rows: (make(rows)[1]["messages"] + rows) * 64 * 64, blocks=16, middle=1 << 13)


def lora():
    def arguments(rng, rows):
        return [inputs.normal(rng, rows, 768), inputs.normal(rng, 768, 768, scale=0.03), inputs.normal(rng, 768, 16, scale=0.1),
                inputs.normal(rng, 16, 768)]

    return Case("LoRA 768", "f32", "lora", lambda rows: dense.lora(rows, 768, 768, 16), arguments, 1 << 13, 64,
                fused=lambda rows: rows * 768 * (768 + 2 * 16), quick=True, middle=768)


def block_sparse():
    """`rows` is a multiple of 32; a block row has 4 blocks on average."""
    def sizes(rows):
        return rows // 32, 4 * (rows // 32)

    def text(rows):
        return irregular.block_sparse(sizes(rows)[0], sizes(rows)[0], sizes(rows)[1])

    def arguments(rng, rows):
        blocks, stored = sizes(rows)
        starts = np.sort(np.concatenate([[0, stored], rng.integers(0, stored, blocks - 1)])).astype(np.int32)
        return [inputs.normal(rng, stored, 32, 32, scale=0.2), starts, rng.integers(0, blocks, stored).astype(np.int32),
                inputs.normal(rng, rows, 64)]

    return Case("block-sparse product", "f32", "block_sparse", text, arguments, 1 << 14, 128,
                fused=lambda rows: sizes(rows)[1] * 32 * 32 * 64, blocks=64, quick=True, middle=6400)


def csr():
    """`rows` rows and columns, 8 numbers a row on average."""
    def arguments(rng, rows):
        starts, columns = inputs.compressed_rows(rng, rows, rows, 8 * rows, skew=True)
        return [inputs.normal(rng, 8 * rows), starts, columns, inputs.normal(rng, rows, 64)]

    return Case("CSR product", "f32", "csr", lambda rows: irregular.csr(rows, rows, 8 * rows), arguments, 1 << 14, 64,
                blocks=128, quick=True, middle=5008)


def cases():
    out = []
    for element in ("f32", "bf16", "f16"):
        out += [rational(element, "forward", quick=element == "bf16"), rational(element, "train")]
    for element in ("f32", "bf16"):
        for activation in ("relu", "rational"):
            for entry in ("forward", "train"):
                out.append(mlp(element, entry, activation, quick=(element, entry) == ("bf16", "forward")))
        for width in (16, 32, 128):
            out += [mlp(element, entry, width=width) for entry in ("forward", "train")]
    # Which are cases of this module.
    from drawloom_bench.programs import gpu_graphs, gpu_structured

    return [*out, adamw(quick=True), gla(), gla_steps(), rgcn(), rgcn_segments(), lora(), block_sparse(), csr(), *gpu_graphs.cases(),
            *gpu_structured.cases()]
