# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One program, compiled and interpreted, against the oracle."""

from __future__ import annotations

import dataclasses
import pathlib
import tempfile

import ml_dtypes
import numpy as np
import torch

from support.runner import ToolError, tool

from .oracle import EPSILON
from .program import to_array

THREADS = (1, 2, 3)


@dataclasses.dataclass
class Verdict:
    """What came of a program. `kind` is "right", or "refused" (it does not compile), "wrong" (compiled code is off, or its bits
    depend on threads, or on whether extents are open), "oracles" (the interpreter and torch differ, or the interpreter fails)."""

    kind: str = "right"
    detail: str = ""
    values: int = 0
    gradients: int = 0
    second: int = 0


def everything(program):
    """The program with one more function, which gives the results of all others, one after another."""
    functions = program.functions()
    counts = {"f": len(program.graph.outputs)}
    counts["g"] = counts["f"] + len(program.wrt)
    counts["h"] = len(program.wrt)
    _, _, types = functions[-1]
    output_types = program.graph.output_types()
    gradient_types = [program.graph.input_types()[i] for i in program.wrt]
    result_types = {"f": output_types, "g": output_types + gradient_types, "h": gradient_types}
    lines, values, all_types = [], [], []
    for name, _, taken in functions:
        results = ", ".join(map(str, result_types[name]))
        arguments = ", ".join(f"%x{i}" for i in range(len(taken)))
        lines.append(f"  %{name}:{counts[name]} = call @{name}({arguments}) : ({', '.join(map(str, taken))}) -> ({results})")
        values += [f"%{name}#{i}" for i in range(counts[name])]
        all_types += result_types[name]
    parameters = ", ".join(f"%x{i}: {t}" for i, t in enumerate(types))
    listed = ", ".join(map(str, all_types))
    return (program.text() + f"\nfunc.func @everything({parameters}) -> ({listed}) {{\n" + "\n".join(lines)
            + f"\n  return {', '.join(values)} : {listed}\n}}\n")


def interpret(program):
    """The results of each function in the float64 interpreter, by name."""
    name, arguments, types = program.functions()[-1]
    with tempfile.TemporaryDirectory(prefix="drawloom-program-") as folder:
        folder = pathlib.Path(folder)
        (folder / "program.mlir").write_text(everything(program))
        inputs = []
        for i, (data, type) in enumerate(zip(arguments, types)):
            array = data.to(torch.float32).numpy().astype(ml_dtypes.bfloat16).view(np.uint16) if type.element == "bf16" \
                else to_array(data, type).numpy()
            np.save(folder / f"{i}.npy", array)
            inputs.append(f"--input={folder / f'{i}.npy'}")
        tool("drawloom-run", folder / "program.mlir", "--entry=everything", "--target=interpreter", "--float64",
             f"--output={folder / 'results.npz'}", *inputs)
        with np.load(folder / "results.npz") as saved:
            results = [torch.from_numpy(np.array(saved[name])) for name in saved.files]
    found = {}
    for name, expected in program.expected().items():
        found[name], results = results[:len(expected.values)], results[len(expected.values):]
    return found


def as_list(results):
    """Results as torch tensors; those of functions without arguments are NumPy's, and its bfloat16 is not torch's."""
    return [x if isinstance(x, torch.Tensor) else torch.as_tensor(x.astype(np.float32) if x.dtype == ml_dtypes.bfloat16 else x)
            for x in (results if isinstance(results, tuple) else (results,))]


def same_bits(left, right):
    return all(torch.equal(a.contiguous().view(-1).view(torch.uint8), b.contiguous().view(-1).view(torch.uint8))
               if a.numel() else a.shape == b.shape for a, b in zip(left, right))


def check(program, target="cpu", isa=None, spoil=None):
    """The verdict on a program. `spoil` changes the results of compiled code, to see that this is noticed."""
    import drawloom

    expected = program.expected()
    verdict = Verdict(values=1, gradients=int(bool(program.wrt)), second=int(program.direction is not None))
    try:
        module = drawloom.compile(program.text(), target=target, isa=isa, cache=False)
        functions = {name: getattr(module, name) for name, _, _ in program.functions()}
        compiled = {}
        for name, arguments, types in program.functions():
            arrays = [to_array(x, t) for x, t in zip(arguments, types)]
            compiled[name] = [as_list(functions[name](*arrays, threads=n)) for n in (THREADS if target == "cpu" else (1,))]
            if functions[name]._any:
                exact = module._compile(name, [array.shape for array in arrays])
                if not same_bits(compiled[name][0], as_list(exact.call(arrays, None, 1))):
                    return dataclasses.replace(verdict, kind="wrong", detail=f"@{name}: other bits than the program for these extents")
    except drawloom.Error as error:
        return dataclasses.replace(verdict, kind="refused", detail=str(error))
    if spoil:
        spoil(compiled)
    for name, runs in compiled.items():
        wrong = expected[name].difference(runs[0])
        if wrong:
            return dataclasses.replace(verdict, kind="wrong", detail=f"@{name}, {wrong}")
        for n, run in zip(THREADS[1:], runs[1:]):
            if not same_bits(runs[0], run):
                return dataclasses.replace(verdict, kind="wrong", detail=f"@{name}: other bits on {n} threads than on one")
    try:
        interpreted = interpret(program)
    except ToolError as error:
        return dataclasses.replace(verdict, kind="oracles", detail=f"the interpreter: {error}")
    # Differentiation comes before interpretation, and rounds constants to their types.
    epsilon = None if program.wrt else EPSILON["f64"]
    terms = max((t.count() for t in program.graph.all_types()), default=1)
    for name, results in interpreted.items():
        wrong = expected[name].difference(results, epsilon, terms)
        if wrong:
            return dataclasses.replace(verdict, kind="oracles", detail=f"the interpreter, @{name}, {wrong}")
    return verdict
