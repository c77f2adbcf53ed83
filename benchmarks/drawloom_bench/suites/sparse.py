# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cases of the sparse suite: sparse weights, weights in codes, and rows with adapters of their own, called from PyTorch. Rivals: MKL's
sparse product (torch.sparse), gathered blocks and torch.bmm under torch.compile, the dense matrix that SLTrain's authors build in each
step, decoding in PyTorch in front of its product, and a loop over adapters."""

import numpy as np

from drawloom_bench.suites.case import TRAIN_RTOL, Case, normal, torch_call, torch_run


def _torch(rng, *shape):
    import torch

    return torch.from_numpy(normal(rng, *shape))


def _mask(rng, rows, columns, density):
    return rng.random((rows, columns)) < density


def csr(width, rows, density):
    def make(training):
        import torch

        import drawloom.torch
        from drawloom.structured import Pattern, sparse

        rng = np.random.default_rng(0)
        mask = _mask(rng, width, width, density)
        pattern = Pattern.of_mask(mask)
        values, x, cotangent = _torch(rng, len(pattern)), _torch(rng, rows, width), _torch(rng, rows, width)
        leaves = pattern.leaves("p", torch.from_numpy)
        # As MKL has it at its best: W^T in CSR times x^T.
        turned, order = Pattern.of_coordinates(*np.nonzero(mask)[::-1], (width, width))
        order = torch.from_numpy(order)

        def theirs():
            with torch.no_grad():
                w = torch.sparse_csr_tensor(*map(torch.from_numpy, turned.arrays[:2]), values[order], (width, width))
                y = (w @ x.T).T.contiguous()
                if not training:
                    return [y]
                back = torch.sparse_csr_tensor(*leaves_of_rows, values, (width, width))
                dx = (back @ cotangent.T).T.contiguous()
                dv = torch.sparse.sampled_addmm(back, x.T, cotangent, beta=0).values()
                return [y, dx, dv]

        leaves_of_rows = leaves["p_row_starts"], leaves["p_columns"]

        def ours(x, v):
            return drawloom.torch.structured_linear(x, sparse("v", "p"), {**leaves, "v": v})

        return {"drawloom": torch_run(ours, (x, values), cotangent if training else None), "mkl": theirs}

    count = round(density * width * width)
    return [Case(f"CSR {width}, {1 - density:.0%} sparse, {rows} rows{', gradients' if training else ''}", (3 if training else 1) * 2 * count * rows,
                 8 * rows * width, lambda _, training=training: make(training), "2.5", TRAIN_RTOL) for training in (False, True)]


def bsr(width, rows, block, each):
    """`each` blocks in each column, so that torch.bmm takes them."""
    def make(training):
        import torch

        import drawloom.torch
        from drawloom.structured import Pattern, sparse

        rng = np.random.default_rng(0)
        count = width // block
        mask = np.zeros((count, count), bool)
        for column in range(count):
            mask[rng.choice(count, each, replace=False), column] = True
        pattern = Pattern.of_mask(mask)
        values, x, cotangent = _torch(rng, len(pattern), block, block), _torch(rng, rows, width), _torch(rng, rows, width)
        leaves = pattern.leaves("p", torch.from_numpy)
        order, sources = leaves["p_order"].long(), leaves["p_rows"].long()

        def product(x, values):
            gathered = x.reshape(rows, count, block)[:, sources].reshape(rows, count, each * block).transpose(0, 1)
            return torch.bmm(gathered, values[order].reshape(count, each * block, block)).transpose(0, 1).reshape(rows, width)

        def step(forward):
            return torch_run(forward, (x, values), cotangent if training else None)

        return {"drawloom": step(lambda x, v: drawloom.torch.structured_linear(x, sparse("v", "p"), {**leaves, "v": v})),
                "eager": step(product), "compile": step(torch.compile(product))}

    operations = 2 * (width // block) * each * block * block * rows
    return [Case(f"BSR {block} of {width}, {1 - each * block / width:.0%} sparse, {rows} rows{', gradients' if training else ''}",
                 (3 if training else 1) * operations, 8 * rows * width, lambda _, training=training: make(training), "1.2" if training else "1.3",
                 TRAIN_RTOL) for training in (False, True)]


def sltrain(width, rows, rank, density):
    def make(_):
        import torch

        import drawloom.torch

        rng = np.random.default_rng(0)
        torch.manual_seed(0)
        layer = drawloom.torch.nn.SLTrainLinear(width, width, rank, density, bias=False, seed=0)
        layer.b.data.normal_()
        x, cotangent = _torch(rng, rows, width).requires_grad_(), _torch(rng, rows, width)
        trained = [layer.a, layer.b, layer.values]
        starts = layer.pattern_row_starts
        flat = torch.repeat_interleave(torch.arange(width), starts[1:] - starts[:-1]) * width + layer.pattern_columns

        def dense(x):
            w = 16 / rank * (layer.a @ layer.b)
            return x @ w.reshape(-1).scatter_add(0, flat, layer.values).reshape(width, width)

        return {name: torch_call(lambda forward=forward: forward(x), [x, *trained], cotangent) for name, forward in (("drawloom", layer), ("eager", dense))}

    return [Case(f"SLTrain {rank} + {density:.0%}, {width}, {rows} rows, gradients", 3 * rows * (4 * width * rank + 2 * density * width * width),
                 16 * rows * width, make, "2.5", TRAIN_RTOL)]


def adapters(width, rows, count, rank):
    def make(training):
        import torch

        import drawloom.torch
        from drawloom.structured import dense

        rng = np.random.default_rng(0)
        x, cotangent, w = _torch(rng, rows, width), _torch(rng, rows, width), _torch(rng, width, width)
        a, b = (_torch(rng, *shape) for shape in ((count, rank, width), (count, width, rank)))
        which, each = torch.arange(rows, dtype=torch.int32) // (rows // count), rows // count

        def ours(x, a, b):
            return drawloom.torch.adapted_linear(x, dense("w").T, {"w": w}, a, b, which)

        def loop(x, a, b):
            parts = [part @ a[i].T @ b[i].T for i, part in enumerate(x.split(each))]
            return torch.nn.functional.linear(x, w) + torch.cat(parts)

        return {name: torch_run(function, (x, a, b), cotangent if training else None) for name, function in (("drawloom", ours), ("loop", loop))}

    operations = 2 * rows * width * width + 4 * rows * rank * width
    return [Case(f"{count} adapter{'s' if count > 1 else ''} of rank {rank}, {rows} x {width}{', gradients' if training else ''}", (2 if training else 1) * operations,
                 8 * rows * width, lambda _, training=training: make(training), "1", TRAIN_RTOL) for training in (False, True)]


CASES = [*csr(2048, 1024, 0.05), *csr(2048, 1024, 0.01), *bsr(2048, 1024, 64, 6), *sltrain(1024, 1024, 128, 0.03), *adapters(2048, 2048, 1, 16),
         *adapters(2048, 2048, 64, 16)]
