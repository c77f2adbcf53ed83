# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Python that the documentation prints runs as it is printed, in the package that pip installs."""

import os
import re
import subprocess
import sys
import tarfile

import pytest

from support.runner import BUILD, ROOT, SANITIZED

# Its name has the version of the interface.
LIBRARY = (BUILD / "lib/libdrawloom.so").resolve()


def blocks(page):
    return re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder that pip installed the package into, over the library of this build."""
    target = tmp_path_factory.mktemp("installed")
    # That of the folder `build` needs no word.
    named = [] if BUILD.resolve() == ROOT / "build" else [f"-Ccmake.define.DRAWLOOM_PREBUILT={BUILD.resolve()}"]
    done = subprocess.run([sys.executable, "-m", "pip", "install", "--no-deps", "--no-build-isolation", "--quiet",
                           "--disable-pip-version-check", "--target", target, *named,
                           f"-Cbuild-dir={tmp_path_factory.mktemp('wheel')}", ROOT], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    return target


def execute(code, installed, folder):
    """In a process of its own, in an empty folder, with the installed package in front of that of the build."""
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=300, env={
        **os.environ, "PYTHONPATH": str(installed), "DRAWLOOM_CACHE": str(folder / "cache"), "JAX_PLATFORMS": "cpu"})
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


@pytest.mark.parametrize("framework", ["torch", "jax"])
def test_the_snippets_of_the_readme_run(framework, installed, tmp_path):
    *of_torch, of_jax = blocks("README.md")
    assert len(of_torch) == 2 and "import jax" in of_jax
    execute("\n".join(of_torch) if framework == "torch" else of_jax, installed, tmp_path)


@pytest.mark.parametrize("page", ["docs/python.md", "docs/torch.md", "docs/graphs.md", "docs/linear-recurrences.md", "docs/jax.md", "docs/structured-weights.md",
                                  "docs/kan-layers.md", "docs/recurrent-cells.md", "docs/compiled-models.md", "docs/own-layers.md",
                                  "docs/offload.md", "docs/memory.md"])
def test_the_pages_code_runs_in_order(page, installed, tmp_path):
    found = blocks(page)
    assert found
    execute("\n".join(found), installed, tmp_path)


def test_the_tutorial_is_followed(installed, tmp_path):
    """Each command is run, also those of C++, and prints what the page says."""
    if SANITIZED:
        pytest.skip("programs that are not sanitized cannot load a library that is")
    subprocess.run(["cmake", "--install", BUILD, "--prefix", tmp_path / "prefix", "--component", "runtime"], check=True, capture_output=True)
    done = subprocess.run([sys.executable, ROOT / "scripts/check_page.py", ROOT / "docs/tutorial.md", f"--folder={tmp_path / 'page'}",
                           f"--prefix={tmp_path / 'prefix'}", "--at-least=6"], capture_output=True, text=True, timeout=600, env={
        **os.environ, "PYTHONPATH": str(installed), "DRAWLOOM_CACHE": str(tmp_path / "cache"),
        "PATH": os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]})
    assert done.returncode == 0, done.stderr[-4000:]


def test_the_package_holds_what_it_needs_and_no_more(installed):
    package = installed / "drawloom"
    held = {str(path.relative_to(package)) for path in package.rglob("*") if path.is_file() and path.suffix != ".pyc"}
    sources = ROOT / "python" / "drawloom"
    wanted = {str(path.relative_to(sources)) for path in sources.rglob("*") if path.suffix == ".py" or path.name == "py.typed"}
    extension, = (name for name in held if name.startswith("_drawloom.") and name.endswith(".so"))
    assert held == wanted | {extension, "_drawloom.pyi", LIBRARY.name}
    assert {path.name.partition("-")[0] for path in installed.iterdir()} == {"drawloom"}


def test_the_package_takes_the_library_of_the_build(installed):
    assert (installed / "drawloom" / LIBRARY.name).read_bytes() == LIBRARY.read_bytes()


def test_the_source_distribution_holds_the_tree(tmp_path):
    if not (ROOT / ".git").exists():
        pytest.skip("no git tree to compare with")
    code = "import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])"
    subprocess.run([sys.executable, "-c", code, tmp_path], cwd=ROOT, check=True, capture_output=True)
    path, = tmp_path.glob("drawloom-*.tar.gz")
    with tarfile.open(path) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    assert not {name for name in tracked if (ROOT / name).exists()} - held
    assert not [name for name in held if name.startswith(("build", ".venv", "output"))]


def test_the_installed_package_is_the_one_that_runs(installed, tmp_path):
    said = execute("import drawloom; print(drawloom.__file__, drawloom.__version__)", installed, tmp_path)
    assert str(installed) in said
    assert re.search(r"VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text().split("project(")[1]).group(1) in said
