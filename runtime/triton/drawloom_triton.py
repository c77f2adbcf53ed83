# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of a Drawloom bundle, launched by Triton 3.6.

    python drawloom_triton.py FOLDER kernels.py

writes a module that needs nothing else of Drawloom: one function for each kernel of the bundle, to be called as
functions with @triton.jit are, kernels.add[grid](x, y, n), also through torch.library.wrap_triton. Triton's own runtime
loads and launches; its compiler never runs. docs/gpu-triton.md says more.
"""

import json
import pathlib

from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import CompiledKernel
from triton.runtime.jit import JITFunction

BUNDLE_VERSION = 1


class BundleError(RuntimeError):
    """A bundle that cannot be used; the message says why."""


def read_manifest(folder):
    """The manifest of a bundle, its version checked."""
    path = pathlib.Path(folder) / "bundle.json"
    try:
        manifest = json.loads(path.read_text())
        version = manifest["drawloom_bundle"]
    except OSError as error:
        raise BundleError(f"the bundle '{folder}' cannot be read: {error}") from None
    except (ValueError, KeyError, TypeError):
        raise BundleError(f"the manifest '{path}' is cut off, damaged, or not Drawloom's") from None
    if version != BUNDLE_VERSION:
        raise BundleError(f"the bundle '{folder}' is of version {version}, this reads version {BUNDLE_VERSION}; "
                          "make it anew")
    return manifest


def choose_architecture(manifest, capability):
    """The part of the manifest whose cubins run best on a device of capability 10 * major + minor.

    That of the device itself, else the newest of its generation; code for `a` architectures runs on no other device.
    Triton loads no PTX, so kernels without a cubin do not count.
    """
    usable = [
        one for one in manifest["architectures"] if all("cubin" in kernel for kernel in one["kernels"]) and
        (one["capability"] == capability or not one["specific"] and one["capability"] // 10 == capability // 10 and
         one["capability"] < capability)
    ]
    if not usable:
        names = ", ".join(one["name"] for one in manifest["architectures"])
        raise BundleError(f"no cubin of the bundle runs on a device of capability {capability / 10}; it is for {names}")
    return max(usable, key=lambda one: (one["specific"], one["capability"]))


def kernel_files(folder, architecture, kernel):
    """What Triton calls a kernel's metadata group: names of files to their paths here."""
    folder = pathlib.Path(folder).resolve() / architecture
    group = json.loads((folder / f"__grp__{kernel}.json").read_text())
    return {name: str(folder / path) for name, path in group["child_paths"].items()}


def compiled_kernel(folder, kernel, capability, src=None):
    """A kernel of a bundle as Triton's own CompiledKernel. `src` tells the launcher the types of the arguments."""
    architecture = choose_architecture(read_manifest(folder), capability)
    files = kernel_files(folder, architecture["name"], kernel)
    digest = json.loads(pathlib.Path(files[f"{kernel}.json"]).read_text())["hash"]
    return CompiledKernel(src, files, digest)


class BundledKernel(JITFunction):
    """A function with @triton.jit whose code comes from a bundle; its body is never compiled."""

    def __init__(self, function, folder):
        self.folder = pathlib.Path(folder).resolve()
        kernels = [one for part in read_manifest(self.folder)["architectures"] for one in part["kernels"]]
        described = {one["name"]: one for one in kernels}.get(function.__name__)
        if described is None:
            names = ", ".join(sorted({one["name"] for one in kernels}))
            raise BundleError(f"the bundle '{self.folder}' has no kernel '{function.__name__}'; it has {names}")
        self.described = described["parameters"]
        # A number that Triton specializes, as 1, is no argument any more. Of pointers it looks at the alignment only.
        numbers = [one["name"] for one in self.described if one["kind"] != "ptr"]
        super().__init__(function, do_not_specialize=numbers)

    def run(self, *args, grid, warmup, **kwargs):
        given = dict(zip((one["name"] for one in self.described), args), **kwargs)
        self._refuse_overlaps(given)
        return super().run(*args, grid=grid, warmup=warmup, **kwargs)

    def _refuse_overlaps(self, given):
        """Kernels read inputs again whenever that is convenient: what they write must be nobody else's."""
        ranges = []
        for one in self.described:
            pointer = given.get(one["name"])
            address = pointer.data_ptr() if hasattr(pointer, "data_ptr") else pointer
            if one["kind"] == "ptr" and one.get("bytes") and address:
                ranges.append((address, address + one["bytes"], one.get("written", False), one["name"]))
        for begin, end, written, name in ranges:
            for other_begin, other_end, _, other in ranges:
                if written and name != other and begin < other_end and other_begin < end:
                    raise BundleError(
                        f"kernel '{self.__name__}': argument '{name}' (0x{begin:x} to 0x{end - 1:x}), which the kernel "
                        f"writes, overlaps argument '{other}' (0x{other_begin:x} to 0x{other_end - 1:x}): give it memory "
                        "of its own")

    def create_binder(self):
        binder = super().create_binder()
        self.compile = self._load
        return binder

    def _load(self, src, target: GPUTarget, options=None, _env_vars=None):
        for index, parameter in enumerate(self.described):
            given = src.signature[parameter["name"]]
            pointer = given.startswith("*")
            if pointer != (parameter["kind"] == "ptr"):
                raise BundleError(f"argument '{parameter['name']}' of kernel '{self.__name__}' is of Triton's type "
                                  f"{given}, the kernel takes {parameter['kind']}")
            aligned = dict(src.attrs.get((index, ), ())).get("tt.divisibility", 1)
            if pointer and parameter.get("align", 1) > aligned:
                raise BundleError(f"argument '{parameter['name']}' of kernel '{self.__name__}' must be aligned to "
                                  f"{parameter['align']} bytes; copy it")
        if target.backend != "cuda":
            raise BundleError(f"the kernels of '{self.folder}' are for CUDA, Triton runs on {target.backend}")
        return compiled_kernel(self.folder, self.__name__, target.arch, src)


def bundled(folder):
    """Decorates the declaration of a kernel of the bundle in `folder`."""
    return lambda function: BundledKernel(function, folder)


# What is above is copied into the modules that are written.

KINDS = {"i1": "u1", "f16": "fp16", "f32": "fp32", "f64": "fp64"}


def declare(kernel):
    """The Python declaration of a kernel."""
    parameters = [
        one["name"] if one["kind"] == "ptr" else f"{one['name']}: \"{KINDS.get(one['kind'], one['kind'])}\""
        for one in kernel["parameters"]
    ]
    for one in kernel["parameters"]:
        if not one["name"].isidentifier():
            raise BundleError(f"parameter '{one['name']}' of kernel '{kernel['name']}' is no name in Python")
    return (f"@bundled(FOLDER)\ndef {kernel['name']}({', '.join(parameters)}):\n"
            f"    # {kernel['threads']} threads a block, {kernel['shared_bytes']} bytes of shared memory\n"
            "    tl.static_assert(False, \"the code of this kernel comes from its bundle; it cannot be compiled\")\n")


def module_text(folder):
    """The text of a module with every kernel of the bundle."""
    loader = pathlib.Path(__file__).read_text().split("# What is above is copied")[0]
    loader = loader.replace(__doc__, "Kernels of a Drawloom bundle. Written by drawloom_triton.py; not to be edited.")
    kernels = {one["name"]: one for part in read_manifest(folder)["architectures"] for one in part["kernels"]}
    text = loader + f"FOLDER = {str(pathlib.Path(folder).resolve())!r}\n"
    return text + "".join("\n\n" + declare(kernel) for kernel in kernels.values())


if __name__ == "__main__":
    import sys
    if len(sys.argv) != 3:
        sys.exit("usage: drawloom_triton.py FOLDER MODULE.py")
    try:
        pathlib.Path(sys.argv[2]).write_text(module_text(sys.argv[1]))
    except (BundleError, OSError) as error:
        sys.exit(f"drawloom_triton.py: {error}")
