# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""drawloom-image from outside: its options, files, errors and bits."""

import argparse
import re
import signal
import struct
import subprocess
import zlib

import numpy as np
import pytest

from drawloom_bench.rivals import image_torch as torch_side
from support.runner import BUILD, ROOT

PROGRAM = BUILD / "bin/drawloom-image"
SOURCES = ROOT / "examples/image"
PICTURES = ("comparison.png", "learnt.png", "loss.png", "activations.png")


def write_png(path, width, height, colour):
    """An RGB picture, from zlib alone: colour(x, y) gives three bytes."""

    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    rows = b"".join(
        b"\0" + b"".join(bytes(colour(x, y)) for x in range(width))
        for y in range(height)
    )
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )
    return path


@pytest.fixture
def picture(tmp_path):
    # Odd sizes, and fewer pixels than a batch: permutations meet inside one.
    return write_png(
        tmp_path / "small.png", 19, 13, lambda x, y: (13 * x, 19 * y, 255 - 10 * x)
    )


def command(folder, *options):
    return [PROGRAM, f"--output={folder}", "--batch=256", *map(str, options)]


def run(folder, *options):
    return subprocess.run(command(folder, *options), capture_output=True, text=True)


def the_error(result):
    """Of a run that has to fail: its only line that starts with `error:`."""
    assert result.returncode == 1, result.stderr
    assert result.stdout == ""
    errors = [l for l in result.stderr.splitlines() if l.startswith("error: ")]
    assert len(errors) == 1, result.stderr
    return errors[0]


def state(checkpoint):
    """A checkpoint's bytes without the time that the run took and the hash."""
    return checkpoint.read_bytes()[:-16]


def test_help_names_every_option_and_the_result_line():
    text = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True).stdout
    for option in (
        "activation batch checkpoint encoding image network output rate resume "
        "seed steps threads"
    ).split():
        assert f"--{option}" in text
    assert "result: psnr_db=" in text
    # Options of the libraries are not this program's.
    assert "--debug" not in text and "mlir" not in text.split("OPTIONS:")[1].replace(
        "network.mlir", ""
    )


def test_unknown_option_gets_a_suggestion():
    result = subprocess.run([PROGRAM, "--stpes=3"], capture_output=True, text=True)
    assert result.returncode == 1
    assert "Did you mean '--steps=3'?" in result.stderr


@pytest.mark.parametrize(
    "option, text",
    [
        ("--steps=0", "--steps must be at least 1"),
        ("--batch=0", "--batch must be between 1 and 16777216"),
        ("--rate=-1", "--rate must be positive"),
        ("--threads=5000", "--threads must be at most 1024"),
    ],
)
def test_value_out_of_range_is_an_error(tmp_path, option, text):
    result = subprocess.run([PROGRAM, option], capture_output=True, text=True)
    assert the_error(result) == "error: " + text


def test_missing_picture_is_an_error(tmp_path):
    error = the_error(run(tmp_path, f"--image={tmp_path}/none.png"))
    assert error.endswith("none.png': No such file or directory")


def test_file_that_is_no_picture_is_an_error(tmp_path):
    error = the_error(run(tmp_path, f"--image={__file__}"))
    assert "test_image_example.py' is not a PNG or JPEG picture" in error


def test_truncated_picture_is_an_error(tmp_path, picture):
    picture.write_bytes(picture.read_bytes()[:60])
    error = the_error(run(tmp_path, f"--image={picture}"))
    assert "is not a PNG or JPEG picture" in error


def test_output_folder_that_cannot_be_made_is_an_error(tmp_path, picture):
    (tmp_path / "file").write_text("")
    error = the_error(run(tmp_path / "file" / "out", f"--image={picture}"))
    assert "cannot create the folder" in error
    assert "choose another with --output" in error


def test_output_folder_that_cannot_be_written_to_is_an_error(picture):
    # Also for root, who may write to any ordinary folder.
    error = the_error(run("/proc/self", f"--image={picture}"))
    assert "cannot write to the folder '/proc/self'" in error


def test_missing_network_is_an_error(tmp_path, picture):
    error = the_error(run(tmp_path, f"--image={picture}", f"--network={tmp_path}"))
    assert "network.mlir': No such file or directory" in error


@pytest.mark.parametrize(
    "encoding, activation", [("grid", "rational"), ("frequency", "relu")]
)
def test_network_learns(tmp_path, picture, activation, encoding):
    result = run(
        tmp_path,
        f"--image={picture}",
        f"--activation={activation}",
        f"--encoding={encoding}",
        "--steps=100",
    )
    assert result.returncode == 0, result.stderr
    line = re.fullmatch(
        r"result: psnr_db=(\d+\.\d+) steps=100 steps_per_s=\d+\.\d+ seconds=\d+\.\d+\n",
        result.stdout,
    )
    assert line, result.stdout
    # Painting the mean colour everywhere gives 11 dB.
    assert float(line[1]) > 20
    for name in PICTURES:
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


def test_gpu_code_learns_as_the_processor_does(tmp_path, picture):
    """On the emulator of GPUs: the same losses but for the order of sums."""
    loss = {}
    for target in "cpu", "emulator":
        folder = tmp_path / target
        result = run(folder, f"--image={picture}", "--encoding=frequency", f"--target={target}", "--steps=3", "--batch=256")
        assert result.returncode == 0, result.stderr
        loss[target] = losses(folder / "checkpoint.bin")
    # 768 squares in another order: about sqrt(768) 2^-24 = 1.7e-6, which two steps of Adam carry on.
    np.testing.assert_allclose(loss["emulator"], loss["cpu"], rtol=1e-5)


def losses(checkpoint):
    """The losses that a checkpoint holds: Checkpoint.cpp has the layout."""
    data = checkpoint.read_bytes()
    at = 15 + 4 + 2 + 4 * 8
    at += 8 + struct.unpack_from("<Q", data, at)[0] + 2 * 8
    count = struct.unpack_from("<Q", data, at)[0]
    return np.frombuffer(data, "<f4", count, at + 8)


@pytest.mark.parametrize("activation", ["rational", "relu", "silu"])
@pytest.mark.parametrize("encoding", ["grid", "frequency"])
def test_training_follows_torch(tmp_path, activation, encoding):
    """Initial values, batches, gradients and Adam are those of torch."""
    width, height = 37, 23
    random = np.random.default_rng(5)
    pixels = random.integers(0, 256, (height, width, 3), dtype=np.uint8)
    image = write_png(tmp_path / "p.png", width, height, lambda x, y: pixels[y, x])
    options = [f"--activation={activation}", f"--encoding={encoding}", "--steps=12"]
    result = run(tmp_path, f"--image={image}", *options)
    assert result.returncode == 0, result.stderr
    parser = argparse.ArgumentParser()
    torch_side.arguments(parser)
    _, expected, _ = torch_side.train(
        pixels, parser.parse_args([*options, "--batch=256"])
    )
    # Rounding differs; each step of Adam makes the difference larger.
    np.testing.assert_allclose(
        losses(tmp_path / "checkpoint.bin"), expected, rtol=2e-3
    )


def interrupt(folder, *options):
    """Starts a run and sends Ctrl-C while it trains."""
    process = subprocess.Popen(
        command(folder, *options), stderr=subprocess.PIPE, text=True
    )
    for line in process.stderr:
        if line.startswith("compiled"):
            break
    # The message comes just before the training: steps take milliseconds.
    try:
        process.wait(0.5)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
    text = process.stderr.read()
    return process.wait(), text


def test_resumed_run_has_the_bits_of_an_uninterrupted_one(tmp_path, picture):
    options = (f"--image={picture}", "--steps=1500", "--seed=7")
    status, text = interrupt(tmp_path / "a", *options)
    assert status == 130, text
    at = int(re.search(r"interrupted after step (\d+) of 1500", text)[1])
    assert 0 < at < 1500
    resumed = run(tmp_path / "a", "--resume", "--threads=1")
    assert resumed.returncode == 0, resumed.stderr
    assert f"resumed at step {at}" in resumed.stderr
    whole = run(tmp_path / "b", *options, "--threads=2")
    assert whole.returncode == 0, whole.stderr
    assert state(tmp_path / "a/checkpoint.bin") == state(tmp_path / "b/checkpoint.bin")
    for name in ("learnt.png", "loss.png", "activations.png"):
        assert (tmp_path / "a" / name).read_bytes() == (
            tmp_path / "b" / name
        ).read_bytes()


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The output folder of a short run."""
    folder = tmp_path_factory.mktemp("finished")
    image = write_png(folder / "p.png", 16, 16, lambda x, y: (16 * x, 16 * y, 0))
    result = run(folder, f"--image={image}", "--steps=2", "--encoding=frequency")
    assert result.returncode == 0, result.stderr
    return folder


def test_finished_run_can_be_drawn_again(finished):
    (finished / "comparison.png").unlink()
    result = run(finished, "--resume")
    assert result.returncode == 0, result.stderr
    assert (finished / "comparison.png").exists()


def test_missing_checkpoint_is_an_error(tmp_path):
    error = the_error(run(tmp_path, "--resume"))
    assert "cannot read the checkpoint" in error


@pytest.mark.parametrize("length", [0, 10, 17, 30, 500, -1])
def test_truncated_checkpoint_is_an_error(finished, tmp_path, length):
    broken = tmp_path / "broken.bin"
    broken.write_bytes((finished / "checkpoint.bin").read_bytes()[:length])
    error = the_error(run(tmp_path, "--resume", f"--checkpoint={broken}"))
    assert "is truncated or damaged" in error or "is not a checkpoint" in error


def test_checkpoint_with_a_flipped_bit_is_an_error(finished, tmp_path):
    data = bytearray((finished / "checkpoint.bin").read_bytes())
    data[len(data) // 2] ^= 4
    broken = tmp_path / "broken.bin"
    broken.write_bytes(data)
    error = the_error(run(tmp_path, "--resume", f"--checkpoint={broken}"))
    assert "is truncated or damaged" in error


def test_checkpoint_of_another_version_is_an_error(finished, tmp_path):
    data = bytearray((finished / "checkpoint.bin").read_bytes())
    data[15] = 99
    other = tmp_path / "other.bin"
    other.write_bytes(data)
    error = the_error(run(tmp_path, "--resume", f"--checkpoint={other}"))
    assert "has version 99, and this program reads version 1" in error


def test_resuming_with_other_settings_is_an_error(finished):
    error = the_error(run(finished, "--resume", "--steps=3"))
    assert "--steps differs from the checkpoint's (2)" in error


def test_resuming_with_another_picture_is_an_error(finished, tmp_path, picture):
    checkpoint = finished / "checkpoint.bin"
    error = the_error(
        run(tmp_path, "--resume", f"--checkpoint={checkpoint}", f"--image={picture}")
    )
    assert "was made with another picture" in error


def test_resuming_with_a_changed_network_is_an_error(finished, tmp_path):
    for source in SOURCES.glob("*.mlir"):
        (tmp_path / source.name).write_text(source.read_text() + "\n")
    checkpoint = finished / "checkpoint.bin"
    error = the_error(
        run(tmp_path, "--resume", f"--checkpoint={checkpoint}", f"--network={tmp_path}")
    )
    assert "files have changed since the checkpoint was made" in error


def test_divergence_stops_with_the_step(tmp_path, picture):
    error = the_error(run(tmp_path, f"--image={picture}", "--rate=1e30"))
    assert re.search(r"the loss is \S+ at step \d+: training has diverged", error)
    assert "try a smaller --rate" in error
    # Nothing was saved over what might have been there.
    assert not (tmp_path / "checkpoint.bin").exists()


def test_failed_write_keeps_the_old_picture(finished):
    kept = finished / "learnt.png"
    before = kept.read_bytes()
    # A limit on the size of files stands in for a full disk.
    result = subprocess.run(
        ["bash", "-c", 'ulimit -f 8; trap "" XFSZ; exec "$@"', "bash"]
        + command(finished, "--resume"),
        capture_output=True,
        text=True,
    )
    assert "cannot write" in the_error(result)
    assert "File too large" in result.stderr
    assert kept.read_bytes() == before
    assert not list(finished.glob("*.tmp"))
