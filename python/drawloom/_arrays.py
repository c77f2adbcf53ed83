# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays of the libraries that a call may come from: how their results are made."""

import sys


def _numpy_dtype(name):
    import numpy

    if name != "bfloat16":
        return numpy.dtype(name)
    try:
        import ml_dtypes
    except ImportError:
        from ._errors import CallTypeError

        raise CallTypeError("a result is bfloat16, which NumPy lacks: install ml_dtypes, or call with torch tensors") from None
    return numpy.dtype(ml_dtypes.bfloat16)


def kind(array_type):
    """The library that an array's type belongs to: "torch", "jax" or "numpy", which also stands for all others."""
    library = getattr(array_type, "__module__", "").partition(".")[0]
    return {"torch": "torch", "jaxlib": "jax", "jax": "jax"}.get(library, "numpy")


def maker(array_type, results):
    """(make, [arguments of make for each result], finish or None) for `results`, pairs of an element type's name and a
    shape. Called by the extension module, which remembers it."""
    library = kind(array_type)
    if library == "torch":
        torch = sys.modules["torch"]
        return _torch_empty, [(shape, getattr(torch, name)) for name, shape in results], None
    import numpy

    arguments = [(shape, _numpy_dtype(name)) for name, shape in results]
    if library == "jax":
        return numpy.empty, arguments, _to_jax
    return numpy.empty, arguments, None


def like(array):
    """What makes an array of the same library of one that has DLPack: its from_dlpack; None where it has none."""
    namespace = getattr(array, "__array_namespace__", None)
    namespace = namespace() if namespace else sys.modules.get(type(array).__module__.partition(".")[0])
    if kind(type(array)) == "jax":
        namespace = sys.modules["jax"].dlpack
    return getattr(namespace, "from_dlpack", None)


def _torch_empty(shape, dtype):
    return sys.modules["torch"].empty(shape, dtype=dtype)


def _to_jax(array):
    import jax

    try:
        return jax.dlpack.from_dlpack(array, copy=False)
    except Exception:  # bfloat16, and memory that JAX wants aligned otherwise: a copy.
        return jax.numpy.asarray(array)
