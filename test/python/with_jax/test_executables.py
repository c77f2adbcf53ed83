# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Executables that call programs hold in other processes than the one that made them."""

import subprocess
import sys

import numpy as np

SETTING = """
import pickle, sys
import jax, numpy as np
import drawloom.jax as dj
from drawloom import ops
from jax.experimental.serialize_executable import deserialize_and_load, serialize
folder = sys.argv[1]
x = np.linspace(-1, 1, 24, dtype="float32").reshape(3, 8)
a, b = np.full((2, 6), 0.3, "float32"), np.full((2, 4), 0.2, "float32")
gradient = jax.jit(jax.grad(lambda *arguments: dj.rational(*arguments).sum(), (0, 1, 2)))
def keep(name, values): np.savez(folder + "/" + name, *values)
"""
FIRST = """
with open(folder + "/executable", "wb") as file:
    pickle.dump(serialize(gradient.lower(x, a, b).compile()), file)
keep("first", gradient(x, a, b))
"""
SECOND = """
def refuse(*_): raise AssertionError("nothing is compiled here")
ops.function = refuse
with open(folder + "/executable", "rb") as file:
    keep("second", deserialize_and_load(*pickle.load(file))(x, a, b))
"""
CACHED = """
jax.config.update("jax_compilation_cache_dir", folder + "/cache")
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
seen = []
jax.monitoring.register_event_listener(lambda event, **_: seen.append(event))
keep(sys.argv[2], gradient(x, a, b))
print("hits", seen.count("/jax/compilation_cache/cache_hits"))
"""


def run(code, *arguments):
    done = subprocess.run([sys.executable, "-c", SETTING + code, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def equal(folder, one, other):
    with np.load(folder / f"{one}.npz") as u, np.load(folder / f"{other}.npz") as v:
        return len(u.files) == 3 and all(np.array_equal(u[name], v[name]) for name in u.files)


def test_an_executable_that_another_process_loads_compiles_from_its_own_text(tmp_path):
    run(FIRST, tmp_path)
    run(SECOND, tmp_path)
    assert equal(tmp_path, "first", "second")


def test_executables_in_jaxs_cache_serve_another_process(tmp_path):
    assert run(CACHED, tmp_path, "first") == "hits 0\n"
    assert int(run(CACHED, tmp_path, "second").split()[1]) > 0
    assert equal(tmp_path, "first", "second")


def test_an_executable_has_no_address_in_it(tmp_path):
    """Two processes, which the system gives different addresses, make the same module."""
    texts = {run("print(gradient.lower(x, a, b).as_text())", tmp_path) for _ in range(2)}
    assert len(texts) == 1 and "drawloom_call_1" in texts.pop()
