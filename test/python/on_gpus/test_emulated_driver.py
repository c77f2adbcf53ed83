# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The emulated CUDA driver, called as programs call the real one."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

from support.emulated_driver import (
    ARENA,
    INVALID_VALUE,
    LAUNCH_FAILED,
    LIBRARY,
    NO_BINARY_FOR_GPU,
    NOT_READY,
    OUT_OF_MEMORY,
    CudaError,
    Driver,
    install,
    needs_driver,
)
from support.runner import ROOT

pytestmark = needs_driver

THREADS = 64

# y[i] = factor * x[block's mirror image of i], through shared memory.
KERNELS = (
    ARENA
    + """
llvm.func @mirror(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %factor: f32, %g: !llvm.ptr<1>, %p: !llvm.ptr<1>)
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64>} {
  %last = llvm.mlir.constant(63 : i32) : i32
  %size = llvm.mlir.constant(64 : i32) : i32
  %smem = llvm.mlir.addressof @global_smem : !llvm.ptr<3>
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %block = nvvm.read.ptx.sreg.ctaid.x : i32
  %base = llvm.mul %block, %size : i32
  %i = llvm.add %base, %tid : i32
  %px = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %v = llvm.load %px : !llvm.ptr<1> -> f32
  %s = llvm.getelementptr %smem[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
  llvm.store %v, %s : f32, !llvm.ptr<3>
  nvvm.barrier0
  %o = llvm.sub %last, %tid : i32
  %t = llvm.getelementptr %smem[%o] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
  %w = llvm.load %t : !llvm.ptr<3> -> f32
  %m = llvm.fmul %w, %factor : f32
  %py = llvm.getelementptr %y[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  llvm.store %m, %py : f32, !llvm.ptr<1>
  llvm.return
}
"""
)


@pytest.fixture(scope="module")
def driver():
    return Driver()


@pytest.fixture(autouse=True)
def kernels(driver, tmp_path, monkeypatch):
    monkeypatch.setenv("DRAWLOOM_EMULATED_MODULES", f"/nowhere:{tmp_path}")
    monkeypatch.setenv("DRAWLOOM_EMULATOR_LOG", str(tmp_path / "log"))
    yield
    driver.reset()


def mirror(driver, tmp_path, text=KERNELS, image=b"an image"):
    return driver.function(driver.load(install(tmp_path, image, text)), "mirror")


def arguments(x, y, factor=2.0):
    return [ctypes.c_uint64(x), ctypes.c_uint64(y), ctypes.c_float(factor)]


def expected(x, factor=2.0):
    return (factor * x.reshape(-1, THREADS)[:, ::-1]).reshape(-1)


@pytest.fixture
def arrays(driver, rng):
    x = rng.standard_normal(3 * THREADS).astype(np.float32)
    return x, driver.upload(x), driver.alloc(x.nbytes)


def raised(code, call, *values):
    with pytest.raises(CudaError) as error:
        call(*values)
    assert error.value.code == code


def test_launch_computes(driver, tmp_path, arrays):
    x, px, py = arrays
    driver.launch(mirror(driver, tmp_path), arguments(px, py), THREADS, (3, 1, 1), shared=256)
    np.testing.assert_array_equal(driver.download(py, x), expected(x))


def test_extended_launch_and_packed_arguments(driver, tmp_path, arrays):
    x, px, py = arrays
    function = mirror(driver, tmp_path)

    class Configuration(ctypes.Structure):
        _fields_ = [(f"n{i}", ctypes.c_uint) for i in range(7)]
        _fields_ += [("stream", ctypes.c_void_p), ("attributes", ctypes.c_void_p), ("count", ctypes.c_uint)]

    configuration = Configuration(3, 1, 1, THREADS, 1, 1, 256, None, None, 0)
    packed = np.zeros(1, dtype=np.dtype([("x", "u8"), ("y", "u8"), ("f", "f4"), ("g", "u8"), ("p", "u8")], align=True))
    packed[0] = (px, py, 3.0, 0, 0)
    size = ctypes.c_size_t(packed.nbytes)
    extra = (ctypes.c_void_p * 5)(1, packed.ctypes.data, 2, ctypes.addressof(size), 0)
    driver.LaunchKernelEx(ctypes.byref(configuration), function, None, extra)
    np.testing.assert_array_equal(driver.download(py, x), expected(x, 3.0))


def test_unknown_image_says_where_was_looked(driver, tmp_path, monkeypatch, capfd):
    monkeypatch.delenv("DRAWLOOM_EMULATOR_LOG")
    raised(NO_BINARY_FOR_GPU, driver.load, b"another image")
    note = capfd.readouterr().err
    assert "executes no machine code" in note and str(tmp_path) in note and ".mlir" in note


def find_ptxas():
    wheels = ROOT.glob(".venv/lib/python3*/site-packages/triton/backends/nvidia/bin/ptxas")
    return shutil.which("ptxas") or next((str(path) for path in wheels), None)


@pytest.mark.skipif(find_ptxas() is None, reason="no ptxas here")
def test_cubin_is_found_by_the_hash_of_its_file(driver, tmp_path, arrays):
    x, px, py = arrays
    (tmp_path / "k.ptx").write_text(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry mirror() .reqntid 64 { ret; }\n"
    )
    subprocess.run([find_ptxas(), "-arch=sm_80", "k.ptx", "-o", "k.cubin"], cwd=tmp_path, check=True)
    function = mirror(driver, tmp_path, image=(tmp_path / "k.cubin").read_bytes())
    driver.launch(function, arguments(px, py), THREADS, (3, 1, 1), shared=256)
    np.testing.assert_array_equal(driver.download(py, x), expected(x))


def test_faults_arrive_at_the_next_synchronisation_and_stay(driver, tmp_path, arrays):
    x, px, py = arrays
    function = mirror(driver, tmp_path, KERNELS.replace("nvvm.barrier0", ""), b"without a barrier")
    driver.launch(function, arguments(px, py), THREADS, (3, 1, 1), shared=256)
    raised(LAUNCH_FAILED, driver.CtxSynchronize)
    raised(LAUNCH_FAILED, driver.download, py, x)
    log = (tmp_path / "log").read_text()
    assert "race on byte" in log and "@mirror" in log and ".mlir:" in log
    driver.reset()
    driver.CtxSynchronize()


def test_accesses_behind_an_allocation_are_faults(driver, tmp_path, arrays):
    x, px, py = arrays
    driver.launch(mirror(driver, tmp_path), arguments(px, py), THREADS, (4, 1, 1), shared=256)
    raised(LAUNCH_FAILED, driver.CtxSynchronize)
    assert "of the allocation of 768 bytes in front of it" in (tmp_path / "log").read_text()


@pytest.mark.parametrize("accepted", [False, True])
def test_pointers_of_the_host(driver, tmp_path, monkeypatch, accepted, rng):
    monkeypatch.setenv("DRAWLOOM_EMULATED_HOST_POINTERS", "1" if accepted else "0")
    x = rng.standard_normal(THREADS).astype(np.float32)
    y = np.zeros_like(x)
    pointer = ctypes.c_uint64()
    if not accepted:
        raised(INVALID_VALUE, driver.PointerGetAttribute, ctypes.byref(pointer), 3, x.ctypes.data)
    else:
        driver.PointerGetAttribute(ctypes.byref(pointer), 3, x.ctypes.data)
        assert pointer.value == x.ctypes.data
    driver.launch(mirror(driver, tmp_path), arguments(x.ctypes.data, y.ctypes.data), THREADS, shared=256)
    if not accepted:
        raised(LAUNCH_FAILED, driver.CtxSynchronize)
    else:
        driver.CtxSynchronize()
        np.testing.assert_array_equal(y, expected(x))


def test_launches_that_hardware_refuses(driver, tmp_path, arrays):
    x, px, py = arrays
    function = mirror(driver, tmp_path)
    raised(INVALID_VALUE, driver.launch, function, arguments(px, py), 32)
    raised(INVALID_VALUE, driver.launch, function, arguments(px, py), THREADS, (0, 1, 1))
    # More than 48 KB must be asked for.
    raised(INVALID_VALUE, driver.launch, function, arguments(px, py), THREADS, (1, 1, 1), 50000)
    driver.FuncSetAttribute(function, 8, 50000)
    driver.launch(function, arguments(px, py), THREADS, (1, 1, 1), 50000)
    raised(INVALID_VALUE, driver.FuncSetAttribute, function, 8, 1 << 20)


def test_streams_wait_for_events(driver, tmp_path, monkeypatch, arrays):
    monkeypatch.setenv("DRAWLOOM_EMULATED_DEFER", "1")
    x, px, py = arrays
    pz = driver.alloc(x.nbytes)
    function = mirror(driver, tmp_path)
    first, second = driver.stream(), driver.stream()
    event, last = ctypes.c_void_p(), ctypes.c_void_p()
    driver.EventCreate(ctypes.byref(event), 0)
    driver.EventCreate(ctypes.byref(last), 0)
    driver.launch(function, arguments(px, py), THREADS, (3, 1, 1), 256, first)
    driver.EventRecord(event, first)
    driver.StreamWaitEvent(second, event, 0)
    driver.launch(function, arguments(py, pz), THREADS, (3, 1, 1), 256, second)
    out = np.zeros_like(x)
    driver.MemcpyDtoHAsync_v2(out.ctypes.data_as(ctypes.c_void_p), pz, x.nbytes, second)
    driver.EventRecord(last, second)
    # Nothing has happened so far, as a program that forgets to wait finds out.
    raised(NOT_READY, driver.EventQuery, last)
    assert not out.any()
    driver.EventSynchronize(last)
    np.testing.assert_array_equal(out, 4 * x)
    milliseconds = ctypes.c_float()
    driver.EventElapsedTime(ctypes.byref(milliseconds), event, last)
    assert milliseconds.value >= 0


def test_graphs_record_launches_and_replay_them(driver, tmp_path, arrays):
    x, px, py = arrays
    function = mirror(driver, tmp_path)
    stream, graph, executable = driver.stream(), ctypes.c_void_p(), ctypes.c_void_p()
    driver.MemsetD8_v2(py, 0, x.nbytes)
    driver.StreamBeginCapture_v2(stream, 0)
    driver.launch(function, arguments(px, py), THREADS, (3, 1, 1), 256, stream)
    driver.launch(function, arguments(py, px), THREADS, (3, 1, 1), 256, stream)
    driver.StreamEndCapture(stream, ctypes.byref(graph))
    assert not driver.download(py, x).any()
    driver.GraphInstantiateWithFlags(ctypes.byref(executable), graph, 0)
    for _ in range(3):
        driver.GraphLaunch(executable, stream)
    driver.StreamSynchronize(stream)
    np.testing.assert_array_equal(driver.download(px, x), 64 * x)


def test_injected_faults(driver, tmp_path, monkeypatch, arrays):
    x, px, py = arrays
    function = mirror(driver, tmp_path)
    monkeypatch.setenv("DRAWLOOM_EMULATED_FAULT", "out-of-memory")
    raised(OUT_OF_MEMORY, driver.alloc, 16)
    monkeypatch.setenv("DRAWLOOM_EMULATED_FAULT", "late-failure")
    driver.launch(function, arguments(px, py), THREADS, (3, 1, 1), 256)
    raised(LAUNCH_FAILED, driver.CtxSynchronize)
    driver.reset()
    version, address, status = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_int()
    found = []
    for fault in ("", "old-driver"):
        monkeypatch.setenv("DRAWLOOM_EMULATED_FAULT", fault)
        driver.DriverGetVersion(ctypes.byref(version))
        driver.library.cuGetProcAddress_v2(
            b"cuLaunchKernelEx", ctypes.byref(address), 12000, ctypes.c_uint64(0), ctypes.byref(status)
        )
        found.append((version.value, bool(address.value), status.value))
    assert found == [(13000, True, 0), (11000, False, 1)]


def test_functions_are_found_by_their_plain_names(driver):
    address = ctypes.c_void_p()
    for name in ("cuMemAlloc", "cuMemcpyHtoDAsync", "cuLaunchKernel", "cuStreamBeginCapture", "cuGetProcAddress"):
        driver.GetProcAddress(name.encode(), ctypes.byref(address), 12000, 0)
        assert address.value


def test_library_exports_the_drivers_functions_only():
    lines = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], capture_output=True, text=True, check=True).stdout
    names = [line.split()[-1] for line in lines.splitlines()]
    assert len(names) > 80 and all(name.startswith("cu") for name in names)


def test_every_op_of_kernels_becomes_machine_code(driver, tmp_path, monkeypatch):
    # One of them is of that generation.
    monkeypatch.setenv("DRAWLOOM_EMULATED_CAPABILITY", "100")
    text = (ROOT / "test/codegen/emulator/every-op-of-kernels-is-emulated.mlir").read_text()
    driver.function(driver.load(install(tmp_path, b"every op", text)), "k")
