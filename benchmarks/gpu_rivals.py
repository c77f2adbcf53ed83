# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What else does the programs on a GPU: torch (its products are cuBLAS's), torch.compile, Triton from our TTIR, FlashKAT,
flash-linear-attention.

Each rival of a case is a function without arguments that puts one run on the default stream. One that is missing or fails is
named with the reason and has no time.
"""

import dataclasses
import gzip
import importlib
import json
import pathlib
import sys
import tempfile
import warnings

import numpy as np


class RivalError(RuntimeError):
    pass


@dataclasses.dataclass
class Folders:
    """Where rivals are that cannot be installed everywhere: a checkout, and a folder of packages. Nothing where a rival is left out
    or Python finds it."""
    flashkat: pathlib.Path | None = None
    fla: pathlib.Path | None = None

    def check(self):
        """Raises a RivalError where a folder does not hold what it should."""
        if self.flashkat:
            flashkat(self.flashkat)
        if self.fla and not (pathlib.Path(self.fla) / "fla" / "ops").is_dir():
            raise RivalError(f"--fla: '{self.fla}' has no package 'fla'; name the folder of: pip install --no-deps --target FOLDER "
                             "flash-linear-attention fla-core")


# ---------------------------------------------------------------------------
# torch, and what it calls
# ---------------------------------------------------------------------------


def to_torch(torch, array, element):
    tensor = torch.from_numpy(array.copy() if array.ndim else array.reshape(1).copy()).cuda()
    return tensor.view(torch.bfloat16) if element == "bf16" and array.dtype == "uint16" else tensor


def rational(torch, x, a, b):
    """P(x) / (1 + sum |b_i| |x|^(i+1)) by Horner, a group of channels each."""
    groups, shape = a.shape[0], x.shape
    x = x.reshape(shape[0], groups, -1)
    p = a[:, 5, None]
    for k in (4, 3, 2, 1, 0):
        p = p * x + a[:, k, None]
    size, b = x.abs(), b.abs()
    q = b[:, 3, None]
    for k in (2, 1, 0):
        q = q * size + b[:, k, None]
    return (p / (1 + q * size)).reshape(shape)


def mlp(torch, per, activation):
    def network(x, p):
        for i in range(0, len(p), per):
            x = torch.addmm(p[i + 1], x, p[i])
            if i + 2 < len(p):
                x = activation(x, *p[i + 2:i + per])
        return x
    return network


def step_of(torch, network, x, parameters, cotangent):
    """One run: with all gradients where there is a cotangent."""
    if cotangent is None:
        def run():
            with torch.no_grad():
                network(x, parameters)
        return run
    leaves = [t.detach().requires_grad_() for t in (x, *parameters)]
    return lambda: torch.autograd.grad(network(leaves[0], leaves[1:]), leaves, cotangent, allow_unused=True)


def of_torch(torch, case, arguments):
    """By name, what makes a run."""
    if case.recurrence:
        return {}
    tensors = [to_torch(torch, array, case.element) for array in arguments]
    trains = case.entry == "train"
    x, cotangent, parameters = tensors[0], tensors[1] if trains else None, tensors[2 if trains else 1:]
    networks = {}
    if case.name.startswith("rational"):
        networks["torch"] = lambda x, p: rational(torch, x, *p)
    elif case.name.startswith("MLP"):
        rationals = "rational" in case.name
        per = 4 if rationals else 2
        networks["torch (cuBLAS)"] = mlp(torch, per, (lambda x, a, b: rational(torch, x, a, b)) if rationals else torch.relu)
        if rationals:
            # The block that a rational one replaces: other numbers, the same products.
            networks["GELU block (cuBLAS)"] = mlp(torch, per, lambda x, a, b: torch.nn.functional.gelu(x))
    elif case.name == "AdamW":
        parameter = torch.nn.Parameter(tensors[0])
        parameter.grad = tensors[1]
        return {"torch fused": torch.optim.AdamW([parameter], lr=1e-3, weight_decay=0.01, fused=True).step}
    elif case.name.startswith("LoRA"):
        x, w, a, b = tensors
        return {"torch (cuBLAS)": lambda: torch.addmm(x @ w, x @ a, b)}
    elif case.name.startswith("CSR"):
        values, starts, columns, x = tensors
        matrix = torch.sparse_csr_tensor(starts, columns, values, (case.rows, case.rows))
        return {"torch (cuSPARSE)": lambda: matrix @ x}
    elif case.name.startswith("block-sparse"):
        values, starts, columns, x = tensors
        matrix = torch.sparse_bsr_tensor(starts, columns, values, (case.rows, case.rows))
        return {"torch (BSR)": lambda: matrix @ x}
    else:
        return {}
    out = {name: step_of(torch, network, x, parameters, cotangent) for name, network in networks.items()}
    first = next(iter(networks))
    out["torch.compile"] = step_of(torch, torch.compile(networks[first]), x, parameters, cotangent)
    return out


# ---------------------------------------------------------------------------
# FlashKAT: its public code, from a folder that the caller names
# ---------------------------------------------------------------------------


def flashkat(folder):
    """FlashKAT's rational function (x of three dimensions, numerators, denominators) from a checkout of it."""
    folder = pathlib.Path(folder)
    if not (folder / "rational_kat").is_dir():
        raise RivalError(f"--flashkat: '{folder}' has no package 'rational_kat'; name a checkout of github.com/OSU-STARLAB/FlashKAT")
    sys.path.insert(0, str(folder))
    try:
        module = importlib.import_module("rational_kat.kernels.flash_rational_triton")
        return module.FlashRationalTriton1DGroup.apply
    except Exception as error:  # What a stranger's module raises when it is imported.
        raise RivalError(f"--flashkat: importing rational_kat from '{folder}' fails: {type(error).__name__}: {error}") from None
    finally:
        sys.path.remove(str(folder))


def of_flashkat(torch, case, arguments, folder):
    if not case.name.startswith("rational") or not folder:
        return {}
    apply = flashkat(folder)
    tensors = [to_torch(torch, array, case.element) for array in arguments]
    trains = case.entry == "train"

    def network(x, p):
        return apply(x[None], *p)[0]

    return {"FlashKAT": step_of(torch, network, tensors[0], tensors[2 if trains else 1:], tensors[1] if trains else None)}


# ---------------------------------------------------------------------------
# flash-linear-attention
# ---------------------------------------------------------------------------


def of_fla(torch, case, arguments, folder):
    if not case.recurrence:
        return {}
    if folder and str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    try:
        from fla.ops.gated_delta_rule import chunk_gated_delta_rule
        from fla.ops.gla import chunk_gla
        from fla.ops.simple_gla import chunk_simple_gla
    except ImportError as error:
        raise RivalError(f"flash-linear-attention is not there ({error}); see --fla") from None
    operator = {"gla": chunk_gla, "scalar": chunk_simple_gla, "gated_delta": chunk_gated_delta_rule}[case.recurrence]
    tensors = [to_torch(torch, array, case.element) for array in arguments]
    cotangent = tensors.pop() if case.entry == "train" else None
    return {"flash-linear-attention": step_of(torch, lambda q, rest: operator(q, *rest)[0], tensors[0], tensors[1:], cotangent)}


# ---------------------------------------------------------------------------
# Triton, from the text that we exported
# ---------------------------------------------------------------------------


def read_exported(path):
    """What a pack holds of a program for Triton: an entry of --mlir-to-ttir-json."""
    with gzip.open(path, "rt") as file:
        return json.load(file)


def write_exported(path, function):
    with gzip.GzipFile(path, "wb", mtime=0) as file:
        file.write(json.dumps(function).encode())


def compile_exported(function, target=None, most=None):
    """Triton's kernels of an exported function, for a target (the device where None), at most so many."""
    import triton
    out = []
    with tempfile.TemporaryDirectory(prefix="drawloom-ttir-") as name:
        for kernel in function["kernels"][:most]:
            path = pathlib.Path(name) / f"{kernel['name']}.ttir"
            path.write_text(kernel["ttir"])
            out.append(triton.compile(str(path), target=target,
                                      options={"num_warps": kernel["num_warps"], "num_stages": kernel["num_stages"]}))
    return out


def of_triton(torch, case, arguments, path):
    if not path.exists():
        return {}
    function = read_exported(path)
    types = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16, "i1": torch.int8,
             "i8": torch.int8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64, "index": torch.int64}
    memory = []
    for buffer in function["buffers"]:
        kind = types[buffer["element"]]
        if buffer["kind"] == "argument":
            memory.append(to_torch(torch, arguments[buffer["index"]], buffer["element"]).contiguous())
        elif buffer["kind"] == "constant":
            raw = np.frombuffer(bytes.fromhex(buffer["data"]), np.uint8).copy()
            memory.append(torch.from_numpy(raw).cuda().view(kind))
        else:
            memory.append(torch.empty(buffer["shape"], dtype=kind, device="cuda"))
    launches = []
    for kernel, compiled in zip(function["kernels"], compile_exported(function)):
        values = [memory[p["buffer"]] if "buffer" in p else arguments[p["argument"]].item() for p in kernel["parameters"]]
        launches.append((compiled[tuple(kernel["grid"])], values))

    def run():
        for launch, values in launches:
            launch(*values)
    run.results = [m for m, b in zip(memory, function["buffers"]) if b["kind"] == "result"]
    return {"Triton": run}


# ---------------------------------------------------------------------------


def times(case, arguments, exported, folders, microseconds, say):
    """Microseconds by rival; empty without torch. `microseconds(run)` measures run(times)."""
    try:
        import torch
    except ImportError:
        say("no rivals: Python has no torch")
        return {}
    out = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        makers = (lambda: of_torch(torch, case, arguments), lambda: of_triton(torch, case, arguments, exported),
                  lambda: of_flashkat(torch, case, arguments, folders.flashkat), lambda: of_fla(torch, case, arguments, folders.fla))
        for maker in makers:
            try:
                steps = maker()
            except Exception as error:  # A rival that fails is no reason to stop.
                say(f"{case.key}: a rival fails: {(str(error).splitlines() or [type(error).__name__])[0][:160]}")
                continue
            for name, step in steps.items():
                try:
                    def run(count, step=step):
                        for _ in range(count):
                            step()
                    run(3)
                    out[name] = microseconds(run)
                except Exception as error:
                    say(f"{case.key}: {name} fails: {(str(error).splitlines() or [type(error).__name__])[0][:160]}")
            del steps
        torch.cuda.empty_cache()
    return out


def check_exported(path):
    """Without a GPU: whether Triton takes the largest kernel of an exported program, for sm_90. None without Triton."""
    try:
        from triton.backends.compiler import GPUTarget
    except ImportError:
        return None
    function = read_exported(path)
    largest = max(function["kernels"], key=lambda kernel: kernel["grid"][0])
    compiled, = compile_exported({"kernels": [largest]}, GPUTarget("cuda", 90, 32))
    return largest["name"], len(compiled.asm["cubin"])
