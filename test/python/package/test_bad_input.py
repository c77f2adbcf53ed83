# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bad input gets one clear error and loses nothing: arrays of every kind, mixed installations, damaged files, interrupts, the end of
the interpreter. What the package does with arrays that are merely wrong in type or shape is in test_package."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

import numpy as np
import pytest
import torch

import drawloom
from support.runner import BUILD, ROOT

TEXT = """
func.func @silu(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = kan.silu %x : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
func.func @two(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %y = kan.silu %x : tensor<4x8xf32>
  %z = kan.tanh %x : tensor<4x8xf32>
  return %y, %z : tensor<4x8xf32>, tensor<4x8xf32>
}
func.func @numbers(%f: f32, %i: i8, %j: i32, %b: i1, %h: bf16) -> (f32, i8, i32, i1, bf16) {
  return %f, %i, %j, %b, %h : f32, i8, i32, i1, bf16
}
"""
OPEN = """
func.func @loss(%x: tensor<?x8xf64>, %w: tensor<3x8xf64>) -> tensor<f64> {
  %y = kan.tanh %x : tensor<?x8xf64>
  %l = loss.mse %y, %x : tensor<?x8xf64> -> tensor<f64>
  return %l : tensor<f64>
}
func.func @map(%x: tensor<?x8xf64>) -> tensor<?x8xf64> {
  %y = kan.silu %x : tensor<?x8xf64>
  return %y : tensor<?x8xf64>
}
"""


@pytest.fixture(scope="module")
def module():
    return drawloom.compile(TEXT)


@pytest.fixture
def x(rng):
    return rng.standard_normal((4, 8)).astype(np.float32)


# --- arrays -----------------------------------------------------------------------------------------------------------

def strided(shape, strides):
    return np.lib.stride_tricks.as_strided(np.zeros(64, np.float32), shape, strides)


@pytest.mark.parametrize("out", [
    lambda: strided((4, 8), (0, 4)), lambda: strided((4, 8), (4, 4)), lambda: strided((4, 8), (64, 8)),
    lambda: np.zeros((4, 8), np.float32)[::-1], lambda: torch.zeros(1, 8).expand(4, 8), lambda: torch.zeros(8, 4).t(),
], ids=["zero", "overlapping", "wide", "negative", "torch-zero", "torch-transposed"])
def test_results_with_strides_are_refused(module, x, out):
    out = out()
    with pytest.raises(ValueError, match="must be dense and row-major"):
        module.silu(x, out=out)
    assert not np.any(np.asarray(out))


@pytest.mark.parametrize("call", [
    lambda m, b: m.two(b[:4], out=(b[4:8], b[6:10])), lambda m, b: m.two(b[:4], out=(b[4:8], b[4:8])),
    lambda m, b: m.silu(b[:4], out=b[1:5]), lambda m, b: m.two(b[:4], out=(b[4:8], b[2:6])),
])
def test_results_that_share_memory_are_refused(module, call):
    memory = np.zeros((10, 8), np.float32)
    with pytest.raises(ValueError, match="share memory"):
        call(module, memory)
    assert not memory.any()


def test_a_result_may_take_the_place_of_an_argument_that_is_copied_first(module, x):
    columns = np.asfortranarray(x)
    memory = columns.T.reshape(4, 8)
    assert np.shares_memory(columns, memory)
    np.testing.assert_array_equal(module.silu(columns, out=memory), module.silu(x))


def test_results_never_go_to_what_does_not_change(module, x):
    jax = pytest.importorskip("jax")
    frozen = jax.numpy.zeros((4, 8))
    with pytest.raises(TypeError, match="an array of JAX: these never change"):
        module.silu(x, out=frozen)
    assert not frozen.any()
    with pytest.raises(TypeError, match="read-only"):
        module.silu(x, out=bytes(128))


@pytest.mark.parametrize("make", [torch._neg_view, lambda t: torch.complex(t, -t).conj().imag])
def test_tensors_that_are_to_be_negated_are_read_with_their_sign(module, make):
    import drawloom.torch as dt

    values = torch.randn(4, 8, generator=torch.Generator().manual_seed(0))
    negative, a, b = make(values), torch.full((1, 6), 0.3), torch.full((4, 4), 0.2)
    assert negative.is_neg()
    dense = negative.resolve_neg().clone()
    assert torch.equal(module.silu(negative), module.silu(dense))
    assert torch.equal(dt.rational(negative, a, b), dt.rational(dense, a, b))
    with pytest.raises(TypeError, match="cannot be written"):
        module.silu(values, out=negative)
    gradients = []
    for x in (negative, dense):
        leaf = a.clone().requires_grad_()
        dt.rational(x, leaf, b).backward(x)
        gradients.append(leaf.grad)
    assert torch.equal(*gradients)
    updated = []
    for gradient in (negative, dense):
        p = torch.nn.Parameter(torch.ones(4, 8))
        p.grad = gradient
        dt.optim.AdamW([p], lr=0.1).step()
        updated.append(p.detach())
    assert torch.equal(*updated)


def test_tensors_of_zeros_without_memory_are_zeros(module):
    assert torch.equal(module.silu(torch._efficientzerotensor((4, 8))), torch.zeros(4, 8))


@pytest.mark.parametrize("make, words", [
    (lambda x: x.to_sparse(), "layout torch.sparse_coo; x.to_dense()"),
    (lambda x: x.to_mkldnn(), "layout torch._mkldnn; x.to_dense()"),
    (lambda x: torch.nested.nested_tensor([x, x]), "cannot be read in place"),
    (lambda x: x.to(torch.complex64), "complex64"),
])
def test_tensors_without_dense_memory_are_refused(module, x, make, words):
    import drawloom.torch as dt

    tensor = make(torch.from_numpy(x))
    for call in (lambda: module.silu(tensor), lambda: dt.rational(tensor, torch.ones(1, 6), torch.ones(4, 4))):
        with pytest.raises(TypeError) as caught:
            call()
        assert words in str(caught.value) or tensor.is_complex()
        assert "\n" not in str(caught.value)


def test_tensors_without_numbers_are_refused(module, x):
    with pytest.raises(TypeError, match=re.escape("is on the device meta, which keeps no numbers; torch.empty_like(x, device='cpu')")):
        module.silu(torch.from_numpy(x).to("meta"))


@pytest.mark.parametrize("make, error, words", [
    (lambda x: x.astype(">f4"), TypeError, "native byte order"),
    (lambda x: x.astype(np.complex64), TypeError, "complex64"),
    (lambda x: x.astype(object), TypeError, "ndarray that cannot be read in place"),
    (lambda x: np.zeros((4, 8), [("a", "f4")]), TypeError, "ndarray that cannot be read in place"),
    (lambda x: np.ma.masked_array(x, mask=x > 0), TypeError, "mask would be lost"),
    (lambda x: np.frombuffer(b"0" * 129, np.uint8)[1:].view(np.float32).reshape(4, 8), ValueError, "not aligned to its elements"),
    (lambda x: x.tolist(), TypeError, "is a list, which is no array"),
    (lambda x: None, TypeError, "is a NoneType, which is no array"),
    (lambda x: b"0" * 128, ValueError, "takes float32[4, 8], but is uint8[128]"),
])
def test_arrays_that_cannot_be_read_are_refused(module, x, make, error, words):
    with pytest.raises(error, match=re.escape(words)) as caught:
        module.silu(make(x))
    assert isinstance(caught.value, drawloom.CallError) and "\n" not in str(caught.value)


class Exporter:
    shape = (4, 8)

    def __init__(self, error):
        self.error = error

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **_):
        raise self.error


def test_what_an_array_raises_is_said_and_an_interrupt_goes_on(module):
    with pytest.raises(TypeError, match="Exporter that cannot be read in place: RuntimeError: no way"):
        module.silu(Exporter(RuntimeError("no way")))
    with pytest.raises(KeyboardInterrupt):
        module.silu(Exporter(KeyboardInterrupt()))


@pytest.mark.parametrize("at, number, error, words", [
    (0, 10**400, ValueError, "is outside of its range"), (1, 128, ValueError, "takes int8: 128 is outside of its range"),
    (1, -129, ValueError, "outside"), (1, 1.0, TypeError, "takes int8: 1.0 is no integer"), (2, 2**31, ValueError, "outside"),
    (2, 2**64, ValueError, "outside"), (4, 1.0, TypeError, "array of rank 0"), (3, "a", TypeError, "is a str"),
])
def test_numbers_that_are_not_of_the_type_are_refused(module, at, number, error, words):
    arguments = [1.5, -128, 2**31 - 1, True, torch.tensor(1.0, dtype=torch.bfloat16)]
    assert [float(one) for one in module.numbers(*arguments)] == [1.5, -128, 2**31 - 1, 1, 1]
    arguments[at] = number
    with pytest.raises(error, match=words):
        module.numbers(*arguments)


def test_no_rows_are_rows_too():
    # With extents that are open, the compiler learns late that there are none.
    module = drawloom.compile(OPEN)
    x, w = np.zeros((0, 8)), np.ones((3, 8))
    assert module.map(x).shape == (0, 8)
    assert module.loss(x, w) == 0
    value, dx = drawloom.grad(module, "loss")(x, w)
    assert value == 0 and dx.shape == (0, 8)


@pytest.mark.parametrize("call, error, words", [
    (lambda m: drawloom.compile(3), TypeError, "the source is a int"),
    (lambda m: drawloom.compile(None), TypeError, "the source is a NoneType"),
    (lambda m: drawloom.compile([]), ValueError, "no source is given"),
    (lambda m: drawloom.compile(""), drawloom.CompileError, "no public function with a body"),
    (lambda m: drawloom.compile("func.func private @f()"), drawloom.CompileError, "no public function with a body"),
    (lambda m: drawloom.compile(TEXT, isa=3), TypeError, "isa is 3; it is a string"),
    (lambda m: drawloom.compile(TEXT, cache=3), TypeError, "cache is 3; it is the path"),
    (lambda m: drawloom.compile(TEXT, threads=1.5), ValueError, "threads is 1.5"),
    (lambda m: m.silu(np.zeros((4, 8), np.float32), threads=0), ValueError, "threads is 0"),
    (lambda m: m.silu(np.zeros((4, 8), np.float32), threads=10**12), ValueError, "threads is 1000000000000"),
    (lambda m: drawloom.load("a\0b"), ValueError, "no path has a null character"),
    (lambda m: m.save("a\0b"), ValueError, "no path has a null character"),
    (lambda m: m.save("/"), OSError, "'/' cannot be written"),
    (lambda m: drawloom.load("/"), OSError, "'/' cannot be read"),
    (lambda m: drawloom.grad(3, "f"), TypeError, "grad is given a int"),
    (lambda m: drawloom.grad(m, "silu", wrt="0"), TypeError, "wrt is ('0',)"),
    (lambda m: drawloom.grad(m, "numbers", wrt=1), TypeError, "argument 1 of @numbers is int8: it has no derivative"),
    (lambda m: drawloom.compile(OPEN).map([[1.0]]), TypeError, "is a list, which is no array"),
    (lambda m: drawloom.cache.export("/no/where.tar"), OSError, "cannot be exported to '/no/where.tar'"),
    (lambda m: drawloom.cache.import_("/no/where.tar", "/tmp"), OSError, "'/no/where.tar' cannot be imported"),
])
def test_calls_that_make_no_sense_are_refused(module, call, error, words):
    with pytest.raises(error) as caught:
        call(module)
    assert words in str(caught.value)
    assert isinstance(caught.value, drawloom.Error) and "\n" not in caught.value.message


def test_the_reproducer_shows_the_same(tmp_path):
    # What parses and cannot be compiled, and what does not parse.
    for name, text in (("parse", "func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> {\n  return %y : tensor<3xf32>\n}"),
                       ("shapes", "func.func @f(%x: tensor<3xi64>) -> tensor<?xi64> {\n  %0 = tensor.empty() : tensor<3xi64>\n"
                        "  %y = tensor.cast %0 : tensor<3xi64> to tensor<?xi64>\n  %z = math.ipowi %x, %x : tensor<3xi64>\n"
                        "  return %y : tensor<?xi64>\n}\nfunc.func @g(%x: tensor<*xf32>) -> tensor<*xf32> {\n"
                        "  return %x : tensor<*xf32>\n}")):
        path = tmp_path / f"{name}.mlir"
        path.write_text(text)
        with pytest.raises(drawloom.CompileError) as caught:
            drawloom.compile(path)
        error = caught.value
        command = shlex.split(error.reproducer)
        done = subprocess.run([BUILD / "bin" / command[0], *command[1:]], capture_output=True, text=True)
        assert done.returncode and error.message.partition("\n")[0] in done.stderr
        assert error.location.startswith(str(path)) and error.location in done.stderr


def test_the_reproducer_of_text_names_a_file_that_holds_it(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "a folder"))
    (tmp_path / "a folder").mkdir()
    text = "func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> {\n  return %y : tensor<3xf32>\n}"
    for _ in range(2):
        with pytest.raises(drawloom.CompileError) as caught:
            drawloom.compile(text)
        command = shlex.split(caught.value.reproducer)
        done = subprocess.run([BUILD / "bin" / command[0], *command[1:]], capture_output=True, text=True)
        assert done.returncode and caught.value.message in done.stderr and f"{command[1]}:2:10" in done.stderr
    # The same text, the same file.
    assert [path.read_text() for path in (tmp_path / "a folder").iterdir()] == [text]


def test_an_error_is_told_where_no_file_can_be_written(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    with pytest.raises(drawloom.CompileError, match="expected operation name"):
        drawloom.compile("func.func @f() {\n  1\n}")


# --- installations ----------------------------------------------------------------------------------------------------

def python(code, *arguments, **environment):
    return subprocess.run([sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, timeout=120,
                          env={**os.environ, **environment})


def test_a_library_of_another_version_is_one_clear_error(tmp_path):
    (tmp_path / "other.c").write_text("int drawloomApiVersion(void) { return 1000; }")
    subprocess.run(["cc", "-shared", "-fPIC", tmp_path / "other.c", "-o", tmp_path / "other.so"], check=True)
    done = python("import drawloom", LD_PRELOAD=str(tmp_path / "other.so"))
    assert done.returncode == 1
    assert "has version 1000 of its interface" in done.stderr and "two installations are mixed" in done.stderr


def test_a_missing_mlir_is_one_clear_error(tmp_path):
    (tmp_path / "libMLIR.so.22.1").write_text("no library")
    done = python("import drawloom", LD_LIBRARY_PATH=str(tmp_path))
    assert done.returncode == 1
    assert "ImportError: drawloom cannot load the shared libraries of MLIR and LLVM 22.1" in done.stderr
    assert "libmlir-22" in done.stderr


AGAIN = f"""
import sys, numpy as np
text = {TEXT!r}
import drawloom
silu, x = drawloom.compile(text).silu, np.ones((4, 8), np.float32)
for name in [name for name in sys.modules if name.partition(".")[0] == "drawloom"]:
    del sys.modules[name]
sys.path.insert(0, sys.argv[1])
import drawloom as other
assert other is not drawloom
assert (other.compile(text).silu(x) == silu(x)).all()
"""


def test_a_second_installation_is_refused_and_the_first_may_be_imported_again(tmp_path):
    shutil.copytree(BUILD / "python" / "drawloom", tmp_path / "drawloom")
    done = python(AGAIN, tmp_path)
    assert "two installations are mixed" in done.stderr and f"import '{tmp_path}/drawloom'" in done.stderr
    assert f"has the package '{BUILD}/python/drawloom'" in done.stderr
    assert python(AGAIN, BUILD / "python").stderr == ""


# --- files and the cache ----------------------------------------------------------------------------------------------

def test_a_file_cut_off_anywhere_is_refused(tmp_path):
    path = tmp_path / "program"
    drawloom.compile(OPEN.replace("?", "2"), isa="baseline").save(path)
    whole = path.read_bytes()
    # test/unit has each of the bytes; here every place where something new begins, and the rest in steps.
    sizes = [size for size in range(len(whole)) if size < 300 or size % 41 == 0 or size > len(whole) - 40]
    for size in sizes:
        with open(path, "wb") as file:
            file.write(whole[:size])
        with pytest.raises(drawloom.FileError):
            drawloom.load(path)
    path.write_bytes(whole)
    assert drawloom.load(path).functions == ["loss", "map"]


SHARING = f"""
import sys, numpy as np, drawloom
text = {TEXT!r}
x = np.linspace(-2, 2, 32, dtype=np.float32).reshape(4, 8)
for activation in ("silu", "gelu", "tanh"):
    sys.stdout.write(drawloom.compile(text.replace("silu", activation)).two(x)[0].tobytes().hex())
print(drawloom.cache.verify())
"""


def start(code, folder, **environment):
    return subprocess.Popen([sys.executable, "-W", "always", "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env={**os.environ, "DRAWLOOM_CACHE": str(folder), **environment})


def test_eight_processes_share_a_folder(tmp_path):
    running = [start(SHARING, tmp_path / "cache") for _ in range(8)]
    outputs = [process.communicate(timeout=120) for process in running]
    # What differs, not numbers of some thousand digits.
    ends = {(output[-40:], errors) for output, errors in outputs}
    assert len(ends) == 1 and ends.pop()[1] == "" and len(set(outputs)) == 1 and "{}" in outputs[0][0], ends
    assert drawloom.cache.info(tmp_path / "cache").entries == 3 and drawloom.cache.verify(tmp_path / "cache") == {}


def test_what_is_being_written_is_no_entry(tmp_path):
    """Another process may be at it."""
    unfinished = tmp_path / "llvmcache-0123-new-456789abcdef"
    unfinished.write_bytes(b"drawloom-artifact")
    assert drawloom.cache.verify(tmp_path) == {} and drawloom.cache.info(tmp_path).entries == 0
    assert drawloom.cache.clear(tmp_path) == 0 and not unfinished.exists()


@pytest.mark.parametrize("lacks, said", [
    ("no-create", "Read-only file system"), ("no-write", "No space left on device"),
    ("no-unnamed,no-link,no-locks", ""), ("no-unnamed,no-rename", "Input/output error"),
])
def test_a_folder_that_cannot_be_used_costs_a_warning(tmp_path, lacks, said):
    """read-only, full, on a network, failing"""
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "lacking.so", ROOT / "test/python/support/preload_file_system.c"], check=True)
    (tmp_path / "cache").mkdir()
    output, errors = start(SHARING, tmp_path / "cache", LD_PRELOAD=str(tmp_path / "lacking.so"), PRELOAD=lacks,
                           PRELOAD_FOLDER=str(tmp_path / "cache")).communicate(timeout=120)
    expected, _ = start(SHARING, "").communicate(timeout=120)
    assert output == expected
    if said:
        assert "RuntimeWarning: the program is not kept in the cache" in errors and said in errors
        assert drawloom.cache.info(tmp_path / "cache").entries == 0
    else:
        assert errors == "" and drawloom.cache.info(tmp_path / "cache").entries == 3


# --- interrupts, callbacks, the end ------------------------------------------------------------------------------------

def long_program(name="f", count=1500):
    lines = [f"  %y{i} = kan.silu %{f'y{i - 1}' if i else 'x'} : tensor<64x64xf32>" for i in range(count)]
    return "\n".join([f"func.func @{name}(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {{", *lines,
                      f"  return %y{count - 1} : tensor<64x64xf32>", "}"])


class Alarm(Exception):
    pass


@pytest.fixture
def alarm_while_compiling():
    """Sends this thread SIGALRM once it stands in a call of the package's extension: two looks see the same instruction."""
    main = threading.main_thread().ident
    stopped = threading.Event()

    def look():
        before = None
        while not stopped.wait(0.01):
            frame = sys._current_frames()[main]
            here = (frame.f_code, frame.f_lasti) if "/drawloom/" in frame.f_code.co_filename else None
            if here and here == before:
                signal.pthread_kill(main, signal.SIGALRM)
                return
            before = here

    thread = threading.Thread(target=look)
    handler = signal.getsignal(signal.SIGALRM)
    yield thread.start
    stopped.set()
    thread.join()
    signal.signal(signal.SIGALRM, handler)


@pytest.mark.parametrize("error", [KeyboardInterrupt, Alarm])
def test_what_a_signal_handler_raises_stops_the_compilation(error, x, module, tmp_path, alarm_while_compiling):
    def handle(*_):
        raise error

    signal.signal(signal.SIGALRM, handle)
    with pytest.raises(error):
        alarm_while_compiling()
        drawloom.compile(long_program(), entry="f", cache=tmp_path)
    # A compilation that heard nothing would have kept its program.
    assert drawloom.cache.info(tmp_path).entries == 0
    # What there was goes on, and so does the compiler.
    np.testing.assert_array_equal(drawloom.compile(TEXT.replace("@two", "@three")).silu(x), module.silu(x))


def test_an_interrupt_stops_the_main_thread_and_no_other(x, module, tmp_path, alarm_while_compiling):
    results = []
    other = threading.Thread(target=lambda: results.append(drawloom.compile(long_program("g", 100)).functions))

    def handle(*_):
        raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, handle)
    with pytest.raises(KeyboardInterrupt):
        other.start()
        alarm_while_compiling()
        drawloom.compile(long_program("h"), entry="h", cache=tmp_path)
    assert drawloom.cache.info(tmp_path).entries == 0
    other.join()
    assert results == [["g"]]


def test_a_warning_made_an_error_keeps_the_reason(tmp_path):
    (tmp_path / "file").write_text("")
    done = python("import sys, drawloom; drawloom.compile(sys.argv[1], cache=sys.argv[2])", TEXT, tmp_path / "file" / "below",
                  PYTHONWARNINGS="error::RuntimeWarning")
    assert done.returncode == 1 and "RuntimeWarning: the program is not kept in the cache" in done.stderr


EXIT = f"""
import atexit, sys, threading, weakref
import numpy as np, drawloom
text = {TEXT!r}
module, x = drawloom.compile(text), np.ones((4, 8), np.float32)

class Late:
    def __init__(self):
        self.module, self.me = drawloom.compile(text.replace("@two", "@late")), self
        self.module.silu(x)
    def __del__(self): print("late", float(self.module.silu(x)[0, 0]) > 0.7, flush=True)

late, kept = Late(), weakref.finalize(module, lambda: print("gone", flush=True))
atexit.register(lambda: print("atexit", drawloom.compile(text.replace("@two", "@end")).functions, flush=True))
function, bound = module.silu, module.silu.__call__
sys.modules["a_module_of_its_own"] = module
"""
CALLING = """
def work():
    while True:
        module.silu(x)

for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
"""
TORCH = """
import torch, drawloom.torch as dt
net = torch.nn.Sequential(dt.nn.FusedMLP(8, 8, width=16, hidden_layers=1), dt.nn.Rational(8))
optimizer = dt.optim.AdamW(net.parameters())
net(torch.ones(4, 8)).sum().backward()
optimizer.step()
pending = net(torch.ones(4, 8, requires_grad=True))
"""


@pytest.mark.parametrize("code, said", [
    (EXIT, ["atexit ['silu', 'end', 'numbers']", "late True", "gone"]), (EXIT + CALLING, None), (EXIT + TORCH, None)],
    ids=["objects", "threads", "torch"])
def test_the_interpreter_ends_whatever_is_still_there(code, said):
    done = python(code)
    assert done.returncode == 0 and done.stderr == ""
    assert said is None or sorted(done.stdout.splitlines()) == sorted(said)
