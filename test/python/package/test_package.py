# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Python package without a framework: compiling, calling, derivatives, errors, the cache."""

import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest
import torch

import drawloom

TEXT = """
func.func @silu(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = kan.silu %x : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
func.func @scaled(%x: tensor<4x8xf32>, %s: f32) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %f = linalg.fill ins(%s : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = arith.mulf %x, %f : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
"""
OPEN = """
func.func @loss(%x: tensor<?x8xf64>, %t: tensor<?x8xf64>) -> tensor<f64> {
  %y = kan.tanh %x : tensor<?x8xf64>
  %l = loss.mse %y, %t : tensor<?x8xf64> -> tensor<f64>
  return %l : tensor<f64>
}
"""


@pytest.fixture(scope="module")
def module():
    return drawloom.compile(TEXT)


@pytest.fixture
def x(rng):
    return rng.standard_normal((4, 8)).astype(np.float32)


# Half a unit in the last place, relative to a number: the error of one rounding.
U32, U64 = 2.0**-24, 2.0**-53
# silu(x) = x (e / (1 + e)) for e = exp(-|x|), with 1 for the numerator where x >= 0. MathAccuracyTest holds exp to 1.5 units, which
# are at most 3 u; a quotient e / (1 + e) takes over no more than that. A sum, a quotient and a product add one each.
SILU = 6 * U32
# Of tanh in float64, 2 units are granted to either side.
TANH = 4 * U64


def silu(x):
    x = x.astype(np.float64)
    return x / (1 + np.exp(-x))


def test_results_are_of_the_kind_of_the_arguments(module, x):
    jax = pytest.importorskip("jax")
    for array, kind in ((x, np.ndarray), (torch.from_numpy(x), torch.Tensor), (jax.numpy.asarray(x), jax.Array)):
        y = module.silu(array)
        assert isinstance(y, kind)
        np.testing.assert_array_equal(np.asarray(y), module.silu(x))
    np.testing.assert_allclose(module.silu(x), silu(x), rtol=SILU)


def test_arrays_that_are_not_dense_are_read_as_they_are(module, x):
    wide = np.zeros((4, 16), np.float32)
    wide[:, ::2] = x
    for view in (np.asfortranarray(x), wide[:, ::2], np.ascontiguousarray(x[::-1, ::-1])[::-1, ::-1],
                 np.broadcast_to(x[:1], (4, 8)), torch.from_numpy(x).t().contiguous().t()):
        np.testing.assert_array_equal(np.asarray(module.silu(view)), module.silu(np.array(view)))


def test_numbers_stand_for_scalars(module, x):
    np.testing.assert_array_equal(module.scaled(x, 2), x * 2)
    np.testing.assert_array_equal(module.scaled(x, np.float32(0.5)), x * np.float32(0.5))


def test_results_go_to_arrays_that_are_given(module, x):
    y = np.empty((4, 8), np.float32)
    assert module.silu(x, out=y) is y
    np.testing.assert_array_equal(y, module.silu(x))


def read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


@pytest.mark.parametrize("call, error, words", [
    (lambda m, x: m.silu(), TypeError, "takes 1 arguments (float32[4, 8]), but 0 are given"),
    (lambda m, x: m.silu(x.astype(np.float64)), TypeError, "takes float32[4, 8], but is float64[4, 8]"),
    (lambda m, x: m.silu(x[:2]), ValueError, "takes float32[4, 8], but is float32[2, 8]"),
    (lambda m, x: m.silu("x"), TypeError, "is a str, which is no array"),
    (lambda m, x: m.silu(torch.from_numpy(x).requires_grad_()), TypeError, "requires a gradient"),
    (lambda m, x: m.silu(torch.empty(4, 8, device="meta")), ValueError, "meta"),
    (lambda m, x: m.silu(x, out=x), ValueError, "share memory"),
    (lambda m, x: m.silu(x, out=read_only(x)), TypeError, "read-only"),
    (lambda m, x: m.silu(x, out=np.empty((8, 4), np.float32).T), ValueError, "dense"),
    (lambda m, x: m.silu(x, out=(x, x)), TypeError, "length"),
    (lambda m, x: m.scaled(x, "a"), TypeError, "is a str"),
    (lambda m, x: m.nope, AttributeError, "it has @silu, @scaled"),
    (lambda m, x: m(x), ValueError, "several functions"),
    (lambda m, x: drawloom.compile(TEXT, entry="nope"), ValueError, "no function @nope"),
    (lambda m, x: drawloom.compile(TEXT, target="tpu"), drawloom.TargetError, "'cpu', 'cuda', 'emulator'"),
    (lambda m, x: drawloom.compile(TEXT, threads=0), ValueError, "number of threads"),
    (lambda m, x: drawloom.grad(m), ValueError, "name the one to differentiate"),
    (lambda m, x: drawloom.grad(m, "silu", wrt=(1,)), ValueError, "wrt is (1,)"),
    (lambda m, x: drawloom.grad(m, "silu", order=0), ValueError, "order is 0"),
])
def test_what_does_not_fit_is_refused(module, x, call, error, words):
    before = x.copy()
    with pytest.raises(error) as caught:
        call(module, x)
    assert words in str(caught.value)
    np.testing.assert_array_equal(x, before)


def test_a_wrong_program_is_an_error_with_its_place():
    with pytest.raises(drawloom.CompileError) as caught:
        drawloom.compile("func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> {\n  return %y : tensor<3xf32>\n}")
    error = pickle.loads(pickle.dumps(caught.value))
    assert error.location == "source:2:10" and error.phase == "parse"
    assert "undeclared SSA value" in error.message


def test_open_extents_take_any_shape(rng):
    loss = drawloom.compile(OPEN)
    for rows in (1, 3, 64):
        x, t = rng.standard_normal((2, rows, 8))
        difference = np.tanh(x) - t
        # d = tanh(x) - t has an absolute error of TANH + u |d|, so that the mean of d^2 is wrong by 2 TANH / rms(d) + 3 u
        # (difference, square, quotient) and u for each term of the sum, relatively; NumPy's as well.
        tolerance = 2 * (2 * TANH / np.sqrt(np.mean(difference**2)) + (3 + x.size) * U64)
        np.testing.assert_allclose(loss.loss(x, t), np.mean(difference**2), rtol=tolerance)
    with pytest.raises(ValueError, match=r"takes float64\[\?, 8\], where \? is 3, but is float64\[3, 7\]"):
        loss.loss(np.zeros((3, 7)), np.zeros((3, 8)))


def test_grad_is_the_derivative_of_any_order(rng):
    module = drawloom.compile(OPEN)
    x, t, v = rng.standard_normal((3, 5, 8))
    tx = torch.tensor(x, requires_grad=True)

    def loss(x):
        return ((torch.tanh(x) - torch.tensor(t))**2).mean()

    expected, = torch.autograd.grad(loss(tx), tx)
    value, gradient = drawloom.grad(module, "loss")(x, t)
    difference = np.tanh(x) - t
    far, mean = np.max(np.abs(difference)), 2 / x.size
    np.testing.assert_allclose(value, loss(tx).item(), rtol=2 * (2 * TANH / np.sqrt(np.mean(difference**2)) + (3 + x.size) * U64))
    # dL/dx = 2/n d (1 - y^2) for y = tanh(x): d is wrong by TANH + u |d|, 1 - y^2 <= 1 by 2 TANH + 2 u, and there are 3 products.
    first = 2 * mean * (TANH + far * (2 * TANH + 6 * U64))
    np.testing.assert_allclose(gradient, expected, rtol=0, atol=first)
    hessian = torch.autograd.functional.hvp(loss, tx, torch.tensor(v))[1]
    gradient, product = drawloom.grad(module, "loss", order=2)(x, t, v)
    np.testing.assert_allclose(gradient, expected, rtol=0, atol=first)
    # H v = 2/n ((1 - y^2)^2 - 2 d y (1 - y^2)) v: the square is wrong by 2 (2 TANH + 2 u) + u. Of the second part, |2 y (1 - y^2)|
    # <= 0.77 has the error of d, and |d| that of 2 y (1 - y^2), 2 TANH + 2 (2 TANH + 2 u) + 2 u. Then a difference and 3 products
    # of what is at most 1 + 0.77 |d|.
    second = 4 * TANH + 5 * U64 + 0.77 * (TANH + far * U64) + far * (6 * TANH + 6 * U64) + 4 * U64 * (1 + 0.77 * far)
    np.testing.assert_allclose(product, hessian, rtol=0, atol=2 * mean * np.max(np.abs(v)) * second)


def test_grad_says_what_its_arguments_and_results_are(module, x):
    gradient = drawloom.grad(module, "scaled")
    takes = "argument 0: float32[4, 8], argument 1: float32[], cotangent of result 0: float32[4, 8]"
    assert repr(gradient) == f"<drawloom function @scaled_grad({takes}) -> (result 0: float32[4, 8], gradient of argument 0: float32[4, 8])>"
    with pytest.raises(drawloom.CallTypeError) as caught:
        gradient(x, 2.0)
    assert str(caught.value) == f"@scaled_grad takes 3 arguments ({takes}), but 2 are given"
    second = repr(drawloom.grad(drawloom.compile(OPEN), "loss", wrt=(0, 1), order=2))
    assert "cotangent of the gradient of argument 0: float64[?, 8], cotangent of the gradient of argument 1: float64[?, 8])" in second
    assert "-> (gradient of argument 0: float64[?, 8], gradient of argument 1: float64[?, 8], order-2 gradient of argument 0:" in second


def test_grad_of_a_function_of_scalars():
    module = drawloom.compile("""
func.func @f(%x: f64, %n: i32, %y: tensor<f64>) -> (f64, tensor<f64>) {
  %times = arith.sitofp %n : i32 to f64
  %square = arith.mulf %x, %x : f64
  %p = arith.mulf %square, %times : f64
  return %p, %y : f64, tensor<f64>
}""")
    value, same, gradient = drawloom.grad(module, "f")(3.0, 4, np.float64(7))
    assert (value, same, gradient) == (36, 7, 24)


def test_grad_of_a_function_that_is_no_loss_takes_cotangents(module, x):
    y, dx = drawloom.grad(module, "silu")(x, np.ones_like(x))
    s = 1 / (1 + np.exp(-x.astype(np.float64)))
    np.testing.assert_array_equal(y, module.silu(x))
    # s is wrong by SILU at most, 1 - s by that and one rounding, times |x|; the product with s < 1 and the sums round 4 times what is
    # at most 1.1.
    np.testing.assert_allclose(dx, s * (1 + x * (1 - s)), rtol=0, atol=1.1 * SILU + np.max(np.abs(x)) * (SILU + 2 * U32) + 4.4 * U32)


@pytest.mark.parametrize("options", [{}, {"threads": 1}], ids=["threads of torch", "one thread"])
@pytest.mark.parametrize("name", ["silu", "open"])
def test_torch_compile_leaves_a_call_to_python(name, options):
    module = drawloom.compile(TEXT + OPEN.replace("@loss", "@open").replace("f64", "f32"))

    def f(x):
        return (module.silu(x + 1, **options) if name == "silu" else module.open(x + 1, x, **options)) * 2

    x = torch.randn(4, 8)
    torch._dynamo.reset()
    compiled = torch.compile(f, backend="eager")
    for _ in range(2):
        torch.testing.assert_close(compiled(x), f(x), rtol=0, atol=0)
    torch._dynamo.reset()
    with pytest.raises(Exception, match="torch.library.custom_op with a register_fake"):
        torch.compile(f, backend="eager", fullgraph=True)(x)


def test_an_op_around_a_call_stays_in_the_graph_of_torch_compile(module):
    op = torch.library.custom_op("drawloom_test::silu", lambda x: module.silu(x), mutates_args=(), schema="(Tensor x) -> Tensor")
    op.register_fake(torch.empty_like)
    x = torch.randn(4, 8)
    torch._dynamo.reset()
    compiled = torch.compile(lambda x: op(x + 1) * 2, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(x), module.silu(x + 1) * 2, rtol=0, atol=0)


def test_threads_share_a_module_and_its_compilation(rng):
    module, results, errors = drawloom.compile(OPEN), {}, []
    x = rng.standard_normal((64, 8))

    def work(i):
        try:
            for _ in range(50):
                results[i] = float(module.loss(x[:1 + i % 4], x[:1 + i % 4]))
        except Exception as error:  # noqa: BLE001 (what a thread raises is the test's failure)
            errors.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not errors
    assert all(results[i] == results[i % 4] for i in range(8))


def test_a_child_process_goes_on():
    code = """
import os, sys, numpy as np, drawloom
text = '''func.func @f(%x: tensor<64xf32>) -> tensor<64xf32> {
  %y = kan.silu %x : tensor<64xf32>
  return %y : tensor<64xf32>
}'''
module = drawloom.compile(text)
x = np.ones(64, np.float32)
before = module.f(x)
child = os.fork()
if child == 0:
    same = (module.f(x) == before).all() and (drawloom.compile(text.replace("silu", "tanh")).f(x) != before).all()
    os._exit(0 if same else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_importing_the_package_imports_no_framework():
    code = "import sys, drawloom; sys.exit(any(name in sys.modules for name in ('torch', 'jax', 'numpy')))"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("DRAWLOOM_CACHE", str(tmp_path / "cache"))
    return tmp_path


def test_the_cache_is_listed_checked_and_cleared(cache):
    drawloom.compile(TEXT)
    info = drawloom.cache.info()
    assert info.folder == str(cache / "cache") and info.entries == 1 and info.bytes > 1000
    assert drawloom.cache.verify() == {}
    entry, = (cache / "cache").glob("llvmcache-*")
    whole = entry.read_bytes()
    for damaged in (whole[:-1], whole[:100], whole[:200] + bytes([whole[200] ^ 1]) + whole[201:], b""):
        entry.write_bytes(damaged)
        assert list(drawloom.cache.verify()) == [str(entry)]
    assert drawloom.cache.clear() == 1 and drawloom.cache.info().entries == 0


def test_a_damaged_entry_is_a_warning_and_is_compiled_again(cache, x):
    code = "import drawloom, sys; drawloom.compile(open(sys.argv[1]).read()); print(drawloom.cache.info().entries)"
    (cache / "p.mlir").write_text(TEXT)

    def run():
        return subprocess.run([sys.executable, "-c", code, cache / "p.mlir"], check=True, capture_output=True, text=True)

    run()
    entry, = (cache / "cache").glob("llvmcache-*")
    entry.write_bytes(entry.read_bytes()[:-7])
    assert "is not used" in run().stderr
    assert run().stderr == ""


def test_an_exported_cache_serves_elsewhere(cache):
    drawloom.compile(TEXT)
    assert drawloom.cache.export(cache / "programs.tar") == 1
    assert drawloom.cache.import_(cache / "programs.tar", cache / "other") == 1
    assert getattr(drawloom.cache, "import")(cache / "programs.tar", cache / "other") == 0
    assert drawloom.cache.verify(cache / "other") == {} and drawloom.cache.info(cache / "other").entries == 1
    whole = (cache / "programs.tar").read_bytes()
    (cache / "programs.tar").write_bytes(whole[:len(whole) // 2])
    with pytest.raises(drawloom.Error, match="programs.tar"):
        drawloom.cache.import_(cache / "programs.tar", cache / "third")
    assert drawloom.cache.info(cache / "third").entries == 0


def test_a_cache_that_cannot_be_written_costs_a_warning(cache):
    (cache / "file").write_text("")
    with pytest.warns(RuntimeWarning, match="not kept in the cache"):
        module = drawloom.compile(TEXT.replace("@silu", "@other"), cache=cache / "file" / "below")
    assert module.functions == ["other", "scaled"]


def test_files_and_lists_of_sources_are_linked(tmp_path, x):
    (tmp_path / "a.mlir").write_text("func.func private @silu(%x: tensor<4x8xf32>) -> tensor<4x8xf32>\n"
                                     "func.func @twice(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {\n"
                                     "  %y = call @silu(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>\n"
                                     "  %z = call @silu(%y) : (tensor<4x8xf32>) -> tensor<4x8xf32>\n"
                                     "  return %z : tensor<4x8xf32>\n}\n")
    (tmp_path / "b.mlir").write_text(TEXT)
    module = drawloom.compile([tmp_path / "a.mlir", str(tmp_path / "b.mlir")], entry="twice")
    # At what silu gives, from -0.28, silu makes a relative error no more than 1.3 times as large: 1 + y (1 - s(y)).
    np.testing.assert_allclose(module(x), silu(silu(x)), rtol=1.3 * SILU + SILU)
    with pytest.raises(FileNotFoundError):
        drawloom.compile(tmp_path / "c.mlir")


def test_a_saved_module_is_loaded_without_compiling(tmp_path, module, x):
    path = tmp_path / "program.drawloom"
    drawloom.compile(TEXT, isa="all").save(path)
    loaded = drawloom.load(path)
    assert loaded.functions == module.functions
    np.testing.assert_array_equal(loaded.silu(x), module.silu(x))
    with pytest.raises(ValueError, match="no program to differentiate"):
        drawloom.grad(loaded, "silu")
    whole = path.read_bytes()
    for size in (0, 10, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(drawloom.FileError, match="program.drawloom"):
            drawloom.load(path)
    with pytest.raises(OSError, match="No such file"):
        drawloom.load(tmp_path / "none")


INTERRUPTED = """
import os, signal, threading
import drawloom

# Functions that take seconds to compile together, and would compile: the signal comes first, on any machine.
text = "\\n".join(f'''func.func @f{i}(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {{
  %h = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%b : tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = kan.gelu %h : tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}}''' for i in range(1000))
# Who started this process may have had interrupts ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    drawloom.compile(text, cache=False)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_ctrl_c_stops_a_compilation():
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=300)
    assert (done.stdout, done.stderr) == ("interrupted\n", "")
