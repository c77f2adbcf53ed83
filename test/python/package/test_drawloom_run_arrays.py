# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""drawloom-run reads what NumPy writes and the other way round."""

import subprocess

import numpy as np
import pytest

from support.runner import BUILD


def identity(folder, types):
    """A program that returns its arguments."""
    arguments = ", ".join(f"%x{i}: {kind}" for i, kind in enumerate(types))
    values = ", ".join(f"%x{i}" for i in range(len(types)))
    path = folder / "identity.mlir"
    path.write_text(f"func.func @f({arguments}) -> ({', '.join(types)}) {{\n"
                    f"  return {values} : {', '.join(types)}\n}}\n")
    return path


def run(program, *arguments):
    return subprocess.run([BUILD / "bin" / "drawloom-run", "--target=interpreter", program,
                           *map(str, arguments)], capture_output=True, text=True)


def through(folder, array, kind):
    program = identity(folder, [kind])
    np.save(folder / "in.npy", array)
    result = run(program, f"--input={folder / 'in.npy'}", f"--output={folder / 'out.npy'}")
    assert result.returncode == 0, result.stderr
    return np.load(folder / "out.npy")


@pytest.mark.parametrize("dtype, kind", [
    ("float64", "f64"), ("float32", "f32"), ("float16", "f16"),
    ("int64", "i64"), ("int32", "i32"), ("int8", "i8"), ("bool", "i1"),
])
def test_every_type_comes_back(tmp_path, dtype, kind):
    array = (np.arange(12).reshape(3, 4) % 2 if dtype == "bool" else np.arange(-6, 6).reshape(3, 4)).astype(dtype)
    result = through(tmp_path, array, f"tensor<3x4x{kind}>")
    assert result.dtype == array.dtype
    np.testing.assert_array_equal(result, array)


def test_bfloat16_bits_come_back(tmp_path):
    bits = (np.array([1.0, -2.5, 3e38], np.float32).view(np.uint32) >> 16).astype(np.uint16)
    result = through(tmp_path, bits, "tensor<3xbf16>")
    assert result.dtype == np.dtype("V2")
    np.testing.assert_array_equal(result.view(np.uint16), bits)


def test_scalars_have_no_dimensions(tmp_path):
    assert through(tmp_path, np.float32(2.5), "f32").shape == ()
    assert through(tmp_path, np.float32(2.5), "tensor<f32>") == 2.5


def test_empty_arrays_come_back(tmp_path):
    assert through(tmp_path, np.zeros((0, 3), np.float32), "tensor<0x3xf32>").shape == (0, 3)


def test_column_major_arrays_are_transposed(tmp_path):
    array = np.asfortranarray(np.arange(24, dtype=np.float32).reshape(2, 3, 4))
    np.testing.assert_array_equal(through(tmp_path, array, "tensor<2x3x4xf32>"), array)


def test_big_endian_arrays_are_swapped(tmp_path):
    array = np.arange(5, dtype=">f8")
    np.testing.assert_array_equal(through(tmp_path, array, "tensor<5xf64>"), array)


def test_nan_and_infinity_keep_their_place(tmp_path):
    array = np.array([np.nan, np.inf, -np.inf, -0.0], np.float32)
    result = through(tmp_path, array, "tensor<4xf32>")
    np.testing.assert_array_equal(result, array)
    assert np.signbit(result[3])


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_archives_give_arguments_in_their_order(tmp_path, save):
    save(tmp_path / "in.npz", b=np.float32(1), a=np.arange(3, dtype=np.int64))
    program = identity(tmp_path, ["f32", "tensor<3xi64>"])
    result = run(program, f"--input={tmp_path / 'in.npz'}", f"--output={tmp_path / 'out.npz'}")
    assert result.returncode == 0, result.stderr
    with np.load(tmp_path / "out.npz") as arrays:
        assert arrays.files == ["result0", "result1"]
        np.testing.assert_array_equal(arrays["result1"], np.arange(3))


def test_a_damaged_archive_is_named(tmp_path):
    np.savez(tmp_path / "in.npz", np.float32(1))
    whole = (tmp_path / "in.npz").read_bytes()
    (tmp_path / "in.npz").write_bytes(whole[:-30])
    result = run(identity(tmp_path, ["f32"]), f"--input={tmp_path / 'in.npz'}")
    assert result.returncode == 1
    assert f"cannot read '{tmp_path / 'in.npz'}': not a .npz file" in result.stderr


def test_pickled_objects_are_refused(tmp_path):
    np.save(tmp_path / "in.npy", np.array([{}], dtype=object), allow_pickle=True)
    result = run(identity(tmp_path, ["f32"]), f"--input={tmp_path / 'in.npy'}")
    assert result.returncode == 1
    assert "arrays of Python objects are not supported" in result.stderr


def test_outputs_are_replaced_whole(tmp_path):
    program = identity(tmp_path, ["f32"])
    (tmp_path / "out.npy").write_text("old")
    result = run(program, "--random", f"--output={tmp_path / 'out.npy'}")
    assert result.returncode == 0, result.stderr
    assert np.load(tmp_path / "out.npy").dtype == np.float32
    assert sorted(path.name for path in tmp_path.iterdir()) == ["identity.mlir", "out.npy"]


def test_several_results_make_a_folder(tmp_path):
    program = identity(tmp_path, ["f32", "i64"])
    result = run(program, "--random", f"--output={tmp_path / 'new' / 'folder'}")
    assert result.returncode == 0, result.stderr
    assert sorted(path.name for path in (tmp_path / "new" / "folder").iterdir()) == ["result0.npy", "result1.npy"]


def test_random_floats_fill_their_interval(tmp_path):
    program = identity(tmp_path, ["tensor<10000xf64>"])
    run(program, "--random", f"--output={tmp_path / 'out.npy'}")
    values = np.load(tmp_path / "out.npy")
    assert values.min() >= -1 and values.max() < 1
    assert abs(values.mean()) < 0.03 and abs(values.std() - 1 / np.sqrt(3)) < 0.02


def test_random_values_are_the_same_on_every_machine(tmp_path):
    program = identity(tmp_path, ["tensor<3xf64>"])
    run(program, "--random", "--seed=1", f"--output={tmp_path / 'out.npy'}")

    def mix(x):
        x = (x + 0x9E3779B97F4A7C15) % 2**64
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        x = (x ^ (x >> 27)) * 0x94D049BB133111EB % 2**64
        return x ^ (x >> 31)

    start = mix(mix(1))
    expected = [(mix((start + i) % 2**64) >> 11) * 2.0**-52 - 1 for i in range(3)]
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), expected)
