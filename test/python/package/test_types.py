# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Types and docstrings: what type checkers, editors and help() see of the package."""

import ast
import inspect
import re
import subprocess
import sys

import pytest

from support.runner import BUILD

RIGHT = """
import pathlib
import drawloom
import drawloom.jax
import drawloom.torch
import numpy as np

module: drawloom.Module = drawloom.compile(["text", b"bytecode", pathlib.Path("a.mlir")], threads=2, cache=pathlib.Path("x"))
loss: drawloom.Function = module.loss
y = loss(np.ones(3), 2.0, out=np.empty(3), threads=1)
drawloom.load_plugin(pathlib.Path("smooth.so"))
module = drawloom.compile("text", insert_passes=["structured:cse"])
gradient: drawloom.Function = drawloom.grad(module, "loss", wrt=(0, 1), order=2)
shapes: list[tuple[str, tuple[int, ...]]] = gradient.arguments
kept: int = drawloom.cache.info().entries + drawloom.cache.export("x.tar")
try:
    module.save(pathlib.Path("x"))
except drawloom.Error as error:
    place: str = error.location
layer = drawloom.torch.nn.FusedMLP(3, 1, width=32, activation="silu")
rate = drawloom.torch.optim.AdamW(layer.parameters(), lr=1e-3)
encode = drawloom.jax.frequency_encode(np.ones((2, 3)), octaves=4)
"""

# Each is refused, with these words.
WRONG = [
    ("drawloom.compile(3)", 'Argument 1 to "compile" has incompatible type "int"'),
    ('drawloom.compile("x", threads="2")', 'Argument "threads" to "compile" has incompatible type "str"'),
    ('drawloom.compile("x", insert_passes=1)', 'Argument "insert_passes" to "compile" has incompatible type "int"'),
    ('drawloom.compile("x", "f")', 'Too many positional arguments for "compile"'),
    ('drawloom.compile("x").f("text")', 'Argument 1 to "__call__" of "Function" has incompatible type "str"'),
    ('drawloom.compile("x").f.nonsense', '"Function" has no attribute "nonsense"'),
    ("drawloom.grad(drawloom.load)", 'Argument 1 to "grad" has incompatible type'),
    ("drawloom.cache.info().size", '"Info" has no attribute "size"'),
    ("drawloom.complie('x')", "Module not callable"),
    ("drawloom.torch.nn.FusedMLP(3)", 'Missing positional argument "out_features"'),
    ("drawloom.torch.nn.Rational(8, groups='2')", 'Argument "groups" to "Rational" has incompatible type "str"'),
    ("drawloom.torch.fuse()", 'Missing positional argument "model"'),
    ("drawloom.jax.rational(1.0, 2.0, 3.0, form=4)", 'Argument "form" to "rational" has incompatible type "int"'),
    ("drawloom.jax.fused_mpl", 'has no attribute "fused_mpl"'),
]


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """What mypy says of a right program, of one line for each of WRONG, and of the package's own files."""
    pytest.importorskip("mypy")
    folder = tmp_path_factory.mktemp("types")
    (folder / "right.py").write_text(RIGHT)
    (folder / "wrong.py").write_text("import drawloom, drawloom.torch, drawloom.jax\n" +
                                     "".join(code + "\n" for code, _ in WRONG))
    # The frameworks' own types take minutes to read.
    (folder / "mypy.ini").write_text("[mypy]\nshow_error_codes = False\n[mypy-torch.*,jax.*,numpy.*,ml_dtypes.*]\n"
                                     "follow_imports = skip\n")

    def mypy(*arguments):
        done = subprocess.run([sys.executable, "-m", "mypy", "--config-file", folder / "mypy.ini", "--cache-dir",
                               folder / "cache", *arguments], cwd=folder, capture_output=True, text=True)
        assert done.returncode in (0, 1) and not done.stderr, done.stdout + done.stderr
        return done.stdout

    return {"programs": mypy("right.py", "wrong.py"), "package": mypy("-p", "drawloom")}


def test_a_right_program_is_accepted(checked):
    assert not re.findall(r"^right.*", checked["programs"], re.MULTILINE)


@pytest.mark.parametrize("line", range(len(WRONG)), ids=[code for code, _ in WRONG])
def test_a_wrong_program_is_refused(checked, line):
    said = re.findall(rf"^wrong\.py:{line + 2}: error: (.*)", checked["programs"], re.MULTILINE)
    assert len(said) == 1 and WRONG[line][1] in said[0], said


def test_the_packages_own_types_hold(checked):
    assert checked["package"].startswith("Success"), checked["package"]


def public():
    """(name, object) of all functions, classes and methods that the documentation offers."""
    import drawloom
    import drawloom.jax
    import drawloom.torch

    for module in (drawloom, drawloom.cache, drawloom.torch, drawloom.torch.functional, drawloom.torch.nn, drawloom.torch.optim,
                   drawloom.jax, drawloom.jax.functional):
        yield module.__name__, module
        for name in module.__all__:
            thing = getattr(module, name)
            if not callable(thing):
                continue
            yield f"{module.__name__}.{name}", thing
            for key, member in vars(thing).items() if inspect.isclass(thing) else ():
                member = member.fget if isinstance(member, property) else inspect.unwrap(member) if callable(member) else None
                if member and (key in ("__init__", "__call__") or not key.startswith("_")):
                    yield f"{module.__name__}.{name}.{key}", member


PUBLIC = dict(public())


@pytest.mark.parametrize("name", PUBLIC)
def test_what_is_public_has_a_docstring_and_types(name):
    thing, last = PUBLIC[name], name.rpartition(".")[2]
    # A constructor is described by its class, forward by the class's first lines.
    assert inspect.getdoc(thing) or last in ("__init__", "__call__", "forward", "extra_repr")
    if not inspect.isfunction(thing):
        return
    signature = inspect.signature(thing)
    untyped = [parameter.name for parameter in signature.parameters.values()
               if parameter.annotation is parameter.empty and parameter.name != "self"]
    assert not untyped
    assert signature.return_annotation is not signature.empty


def test_the_stub_of_the_extension_names_what_it_has():
    from drawloom import _drawloom

    stub = ast.parse((BUILD / "python/drawloom/_drawloom.pyi").read_text())
    in_stub = {}
    for node in stub.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            in_stub[node.name] = node
        elif isinstance(node, ast.AnnAssign):
            in_stub[node.target.id] = node
    assert set(in_stub) == {name for name in dir(_drawloom) if not name.startswith("_")}
    functions = [(name, node) for name, node in in_stub.items() if isinstance(node, ast.FunctionDef)]
    for name, node in in_stub.items():
        if not isinstance(node, ast.ClassDef):
            continue
        assert ast.get_docstring(node), name
        methods = [member for member in node.body if isinstance(member, ast.FunctionDef)]
        assert {member.name for member in methods if not member.name.startswith("_")} == {
            key for key in vars(getattr(_drawloom, name)) if not key.startswith("_")}
        functions += [(f"{name}.{member.name}", member) for member in methods if member.name != "__init__"]
    for name, node in functions:
        assert ast.get_docstring(node), name
        assert node.returns, name
        assert all(one.annotation for one in node.args.args if one.arg != "self"), name


def test_the_package_says_that_it_is_typed():
    assert (BUILD / "python/drawloom/py.typed").exists()
