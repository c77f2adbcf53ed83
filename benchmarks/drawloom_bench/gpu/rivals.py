# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What else does the programs on a GPU: torch (its products are cuBLAS's), torch.compile, Triton from our TTIR, FlashKAT,
flash-linear-attention.

Each rival of a case is a function without arguments that puts one run on torch's current stream, and an item of its own.
"""

import ctypes
import dataclasses
import gzip
import importlib
import json
import pathlib
import sys
import tempfile
import warnings

import numpy as np

from drawloom_bench import BenchError
from drawloom_bench.gpu import cases, timing, watch
from drawloom_bench.gpu.device import Cuda, torch_on_device


class RivalError(BenchError):
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


def spread(network):
    """A function of x and its parameters as one list."""
    return lambda x, p: network(x, *p)


def step_of(torch, network, x, parameters, cotangent):
    """One run: with all gradients where there is a cotangent."""
    if cotangent is None:
        def run():
            with torch.no_grad():
                return network(x, parameters)
        return run
    leaves = [t.detach().requires_grad_() for t in (x, *parameters)]
    return lambda: torch.autograd.grad(network(leaves[0], leaves[1:]), leaves, cotangent, allow_unused=True)


def of_torch(torch, case, arguments):
    """By name, what makes a run."""
    from drawloom_bench.gpu import reference
    tensors = [to_torch(torch, array, case.element) for array in arguments]
    trains = case.entry == "train"
    x, cotangent, parameters = tensors[0], tensors[1] if trains else None, tensors[2 if trains else 1:]
    networks = {}
    if case.name.startswith("rational"):
        networks["torch"] = lambda x, p: reference.rational(x, *p)
    elif case.name.startswith("MLP"):
        rationals = "rational" in case.name
        per = 4 if rationals else 2
        networks["torch"] = spread(reference.mlp(per, reference.rational if rationals else torch.relu))
        if rationals:
            # The block that a rational one replaces: other numbers, the same products.
            networks["GELU block"] = spread(reference.mlp(per, lambda x, a, b: torch.nn.functional.gelu(x)))
    elif case.name == "AdamW":
        parameter = torch.nn.Parameter(tensors[0])
        parameter.grad = tensors[1]
        return {"torch": torch.optim.AdamW([parameter], lr=1e-3, weight_decay=0.01, fused=True).step}
    elif case.name.startswith("LoRA"):
        x, w, a, b = tensors
        return {"torch": lambda: torch.addmm(x @ w, x @ a, b, alpha=2)}
    elif case.name.startswith("CSR"):
        values, starts, columns, x = tensors
        matrix = torch.sparse_csr_tensor(starts, columns, values, (case.rows, case.rows))
        return {"torch": lambda: matrix @ x}
    elif case.name.startswith("block-sparse"):
        values, starts, columns, x = tensors
        matrix = torch.sparse_bsr_tensor(starts, columns, values, (case.rows, case.rows))
        return {"torch": lambda: matrix @ x}
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


def of(key, folder, folders):
    """The names of a case's rivals; `folders` are those of Folders, as a dictionary."""
    if cases.find(key).recurrence:
        return ["flash-linear-attention"]
    out = []
    if key.startswith(("rational", "MLP")):
        out = ["torch", "torch.compile"]
    elif key.startswith(("AdamW", "LoRA", "CSR", "block-sparse")):
        out = ["torch"]
    if key.startswith("MLP") and "rational" in key:
        out.append("GELU block")
    if key.startswith("rational") and folders.get("flashkat"):
        out.append("FlashKAT")
    return [*out, "Triton"] if (folder / "ttir.json.gz").exists() else out


def make(torch, case, rival, arguments, folder, folders):
    """What makes one run of a rival."""
    if rival == "Triton":
        found = of_triton(torch, case, arguments, folder / "ttir.json.gz")
    elif rival == "FlashKAT":
        found = of_flashkat(torch, case, arguments, folders["flashkat"])
    elif case.recurrence:
        found = of_fla(torch, case, arguments, folders.get("fla"))
    else:
        found = of_torch(torch, case, arguments)
    return found[rival]


def item(request):
    """Times a rival, or runs it a few times so that what it compiles is in its caches. Where no device is, Triton's kernels are compiled
    all the same."""
    case = cases.find(request["key"])
    folder, rival = pathlib.Path(request["folder"]), request["rival"]
    if request["emulated"] and rival == "Triton" and request["prepares"]:
        watch.phase("compiling")
        found = check_exported(folder / "ttir.json.gz")
        return ("ok", f"Triton compiles {found[0]}, {found[1]} bytes", {}) if found else ("skipped", "Python has no triton", {})
    torch = torch_on_device(request["emulated"])
    if isinstance(torch, str):
        return "skipped", torch, {}
    watch.phase("making arguments")
    arguments = cases.arguments(case, "full")
    stream = torch.cuda.Stream()
    with warnings.catch_warnings(), torch.cuda.stream(stream):
        warnings.simplefilter("ignore")
        watch.phase("compiling")
        run = make(torch, case, rival, arguments, folder, request["rivals"])
        for _ in range(3):
            run()
        torch.cuda.synchronize()
        if request["prepares"]:
            return "ok", "compiled, and run three times", {}
        cuda, handle = Cuda(), ctypes.c_void_p(stream.cuda_stream)

        def capture(work):
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=stream):
                work()
            return graph.replay
        found = timing.measure(cuda, handle, run, capture, **request["measure"])
    return "ok", timing.says(found), found


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
