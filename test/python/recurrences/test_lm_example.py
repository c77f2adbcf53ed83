# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""examples/lm: its models compute the same with Drawloom, in plain torch and token by token; small runs learn, stop and go on."""

import copy
import json
import signal
import subprocess
import sys

import pytest
import torch
import torch.nn.functional as F
from PIL import Image

from recurrences import references as tokens
from recurrences.test_linear_recurrences import ratio
from support.runner import ROOT

FOLDER, COMMON = ROOT / "examples" / "lm", ROOT / "examples" / "common"
SCRIPT = FOLDER / "lm.py"
RECURRENCES = ("gla", "retnet", "mamba2", "gdn", "kda", "rwkv7")
CELLS = ("gru", "lstm")
MODELS = (*RECURRENCES, *CELLS, "transformer")
SMALL = ["--width=32", "--layers=2", "--heads=2", "--context=48", "--batch=4", "--threads=1", "--sample=12"]


@pytest.fixture(scope="module", autouse=True)
def modules():
    """The example's modules, whose names others have, too."""
    names = ("lm", "model", "curves", "reference", "text", "axes", "progress")
    before = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    sys.path[:0] = [str(FOLDER), str(COMMON)]
    yield
    for path in (FOLDER, COMMON):
        while str(path) in sys.path:
            sys.path.remove(str(path))
    for name in names:
        sys.modules.pop(name, None)
    sys.modules.update(before)
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A text that is quick to learn."""
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_bytes(b"".join(b"There are %d green bottles hanging on the wall. " % (i % 10) for i in range(4000)))
    return path


def small(kind, ops, **sizes):
    import model

    return model.make(kind, ops, **{"width": 32, "layers": 2, "heads": 2, "seed": 0, **sizes})


def run(*arguments):
    return subprocess.run([sys.executable, SCRIPT, *map(str, arguments)], capture_output=True, text=True, timeout=600)


@pytest.mark.parametrize("kind", (*RECURRENCES, *CELLS))
def test_a_model_computes_the_same_with_drawloom_and_in_plain_torch(kind):
    import reference

    from drawloom.torch import linrec

    # 100 tokens are no multiple of a chunk of either.
    pieces = torch.randint(256, (2, 100), generator=torch.Generator().manual_seed(1))
    ours, plain, wide = small(kind, linrec), small(kind, reference), small(kind, reference).double()
    with torch.no_grad():
        # Gates and decays that differ from token to token as those of trained models do.
        for i, one in enumerate(ours.parameters()):
            one += 0.1 * one.abs().mean().clamp(min=0.1) * torch.randn(one.shape, generator=torch.Generator().manual_seed(i))
    for one in (plain, wide):
        one.load_state_dict(ours.state_dict())
    results = []
    for one in (ours, plain, wide):
        logits, _ = one(pieces)
        F.cross_entropy(logits.flatten(0, 1), pieces.flatten()).backward()
        results.append([logits.detach(), *(p.grad for p in one.parameters() if p.grad is not None)])
    assert len(results[0]) == len(results[2]) > 10
    for found, rounded, expected in zip(*results):
        # Gradients of a head's decay are sums over all tokens that nearly cancel: plain torch in float32 loses digits there as well.
        assert found.dtype == torch.float32 and ratio(found, expected) < max(5e-6, ratio(rounded, expected))


@pytest.mark.parametrize("strength", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("kind", RECURRENCES)
def test_the_reference_is_the_recurrence_of_the_papers(kind, strength):
    import reference

    torch.manual_seed(0)
    b, t, h, k, v = 2, 70, 2, 8, 12
    q, values = torch.randn(b, t, h, k).double(), torch.randn(b, t, h, v).double()
    keys = F.normalize(torch.randn(b, t, h, k).double(), dim=-1)
    state, beta = torch.randn(b, h, k, v).double(), torch.rand(b, t, h).double()
    of_heads, of_keys = -strength * torch.rand(b, t, h).double(), -strength * torch.rand(b, t, h, k).double()
    scale = k ** -0.5
    unit = F.normalize(q, dim=-1)
    if kind == "gla":
        found, expected = (reference.chunk_gla(q, keys, values, of_keys, initial_state=state),
                           tokens.gated_linear_attention(q, keys, values, of_keys, state, scale))
    elif kind == "retnet":
        found, expected = (reference.chunk_retention(q, keys, values, initial_state=state),
                           tokens.retention(q, keys, values, 1 - torch.exp2(-5 - torch.arange(h).double()), state, scale))
    elif kind == "mamba2":
        step, a_log, skip = F.softplus(strength * beta), torch.randn(h).double(), torch.randn(h).double()
        found, expected = (reference.chunk_mamba2(values, strength * beta, -a_log.exp(), keys[:, :, :1], q[:, :, :1], D=skip,
                                                  dt_bias=torch.zeros(h).double(), initial_states=state.mT),
                           tokens.mamba2(values, step, a_log, keys[:, :, :1], q[:, :, :1], skip, state))
        found = found[0], found[1].mT
    elif kind == "gdn":
        found, expected = (reference.chunk_gated_delta_rule(unit, keys, values, of_heads, beta, initial_state=state),
                           tokens.gated_delta_rule(unit, keys, values, of_heads.exp(), beta, state, scale))
    elif kind == "kda":
        found, expected = (reference.chunk_kda(unit, keys, values, of_keys, beta, initial_state=state),
                           tokens.kimi_delta_attention(unit, keys, values, of_keys.exp(), beta, state, scale))
    else:
        w, rate, share = strength * torch.randn(b, t, h, k).double(), torch.rand(b, t, h, k).double(), torch.rand(h, k).double()
        found, expected = (reference.chunk_rwkv7(q, -torch.exp(torch.tensor(-0.5).double()) * w.sigmoid(), keys * (1 + (rate - 1) * share),
                                                 values, -keys, keys * rate, initial_state=state),
                           tokens.rwkv7(q, keys, values, w, keys, rate, share, state))
    # The reference adds 1e-6 to the squares of what it normalizes.
    for one, other in zip(found, expected):
        assert ratio(one, other) < (1e-5 if kind in ("gdn", "kda") else 1e-12)


@pytest.mark.parametrize("kind", MODELS)
def test_byte_after_byte_gives_what_the_whole_text_gives(kind):
    from drawloom.torch import linrec

    one, memory, logits = small(kind, linrec), None, []
    pieces = torch.randint(256, (2, 40), generator=torch.Generator().manual_seed(2))
    with torch.no_grad():
        expected, _ = one(pieces)
        for t in range(pieces.shape[1]):
            last, memory = one(pieces[:, t:t + 1], memory)
            logits.append(last)
        assert ratio(torch.cat(logits, 1), expected.double()) < 1e-5
        if kind != "transformer":
            # And in two halves.
            first, memory = one(pieces[:, :17])
            second, _ = one(pieces[:, 17:], memory)
            assert ratio(torch.cat((first, second), 1), expected.double()) < 1e-5


@pytest.mark.parametrize("kind", MODELS)
def test_no_byte_depends_on_a_later_one(kind):
    import reference

    one = small(kind, reference)
    pieces = torch.randint(256, (1, 40), generator=torch.Generator().manual_seed(3))
    changed = pieces.clone()
    changed[0, 25] += 1 - 2 * (changed[0, 25] == 255)
    with torch.no_grad():
        a, b = one(pieces)[0], one(changed)[0]
    assert torch.equal(a[:, :25], b[:, :25]) and (a[:, 25:] - b[:, 25:]).abs().amax(-1).min() > 0


@pytest.mark.parametrize("width, layers, heads", [(256, 4, 4), (128, 2, 2), (512, 6, 8)])
def test_all_models_have_the_size_of_the_transformer(width, layers, heads):
    import model

    with torch.device("meta"):
        sizes = [model.parameters(model.LanguageModel(kind, None, width=width, layers=layers, heads=heads,
                                                      hidden=model.same_size(kind, width, layers, heads))) for kind in MODELS]
    assert max(abs(size / sizes[-1] - 1) for size in sizes) < 0.005


def options(*arguments):
    import lm

    return lm.parse([*SMALL, *map(str, arguments)])


@pytest.mark.parametrize("kind", MODELS)
def test_every_model_learns(kind, written):
    import lm
    import text

    from drawloom.torch import linrec

    given = options(f"--text={written}", "--steps=40", "--rate=0.01")
    data = text.read(written, 200)
    with lm.Interrupt() as interrupt:
        _, history = lm.train(given, data, kind, linrec, 0, interrupt, kind)
    assert [one["step"] for one in history] == list(range(1, 41))
    # Bytes at random are 8 bits each. The last is of all of the held-out text.
    assert history[0]["loss"] > 7.5 and history[-1]["loss"] < 3.5 and history[-1]["held out"] < 3.5


def test_a_run_leaves_figures_samples_and_a_picture(tmp_path, capsys):
    done = run(*SMALL, "--steps=30", "--rate=0.01", f"--output={tmp_path}")
    assert done.returncode == 0, done.stderr[-2000:]
    assert "GLA, " in done.stdout and "Transformer, " in done.stdout and "In the beginning " in done.stdout
    assert "a training step of GLA with Drawloom" in done.stdout and "its recurrence in plain torch" in done.stdout
    summary = json.loads((tmp_path / "summary.json").read_text())
    ours, theirs = summary["models"]["GLA"], summary["models"]["Transformer"]
    assert abs(ours["parameters"] / theirs["parameters"] - 1) < 0.02
    assert ours["decoding, ms a byte"] > 0.05 and ours["sample"].startswith("In the beginning ") and len(ours["sample"]) > 20
    assert 2 < ours["bits per byte"] < 4.5 and 2 < theirs["bits per byte"] < 4.5
    with Image.open(tmp_path / "curves.png") as picture:
        assert picture.size == (1120, 600) and len(picture.getcolors(1 << 20)) > 8

    # The Transformer stands in the figures already: another model joins it there, and in the picture.
    import lm

    lm.main([*SMALL, "--steps=30", "--rate=0.01", "--model=retnet", f"--output={tmp_path}"])
    assert "trained with these settings before" in capsys.readouterr().out
    assert set(json.loads((tmp_path / "summary.json").read_text())["models"]) == {"GLA", "Transformer", "RetNet"}
    # Nothing is left to train.
    lm.main([*SMALL, "--steps=30", "--rate=0.01", "--no-rivals", "--resume", f"--output={tmp_path}"])
    assert "after step 30 of 30" in capsys.readouterr().out
    assert json.loads((tmp_path / "summary.json").read_text())["models"]["GLA"]["bits per byte"] == ours["bits per byte"]


def test_seeds_compare_drawloom_with_the_reference(tmp_path, written):
    done = run(*SMALL, "--model=gdn", "--steps=20", "--seeds=2", f"--text={written}", f"--output={tmp_path}")
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads((tmp_path / "gdn-seeds.json").read_text())["bits per byte"]
    assert len(found["Drawloom"]) == len(found["plain torch"]) == 2 and found["Drawloom"][0] != found["Drawloom"][1]
    assert max(abs(a - b) for a, b in zip(found["Drawloom"], found["plain torch"])) < 0.01
    assert "± " in done.stdout and "times as long" in done.stdout


def test_a_run_that_was_stopped_goes_on_to_the_same_end(tmp_path, written, monkeypatch):
    import lm
    import text

    from drawloom.torch import linrec

    data, checkpoint = text.read(written, 200), tmp_path / "gla.pt"
    given = options(f"--text={written}", "--steps=12")
    with lm.Interrupt() as interrupt:
        straight, expected = lm.train(given, data, "gla", linrec, 0, interrupt, "straight")

    step = lm.step_of

    def press_control_c(model, optimizer, pieces, spill):
        loss = step(model, optimizer, pieces, spill)
        if press_control_c.left == 0:
            signal.raise_signal(signal.SIGINT)
        press_control_c.left -= 1
        return loss

    press_control_c.left = 4
    monkeypatch.setattr(lm, "step_of", press_control_c)
    with lm.Interrupt() as interrupt:
        _, history = lm.train(given, data, "gla", linrec, 0, interrupt, "stopped", checkpoint)
        assert len(history) == 5 and history[-1]["held out"] is not None and interrupt.asked
        # A second one ends at once.
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    monkeypatch.setattr(lm, "step_of", step)
    resumed = copy.copy(given)
    resumed.resume = True
    with lm.Interrupt() as interrupt:
        model, history = lm.train(resumed, data, "gla", linrec, 0, interrupt, "resumed", checkpoint)
    assert [one["loss"] for one in history] == [one["loss"] for one in expected]
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), straight.parameters()))
    resumed.rate = 1.0
    with lm.Interrupt() as interrupt, pytest.raises(text.TextError, match="with rate 0.002, not 1.0"):
        lm.train(resumed, data, "gla", linrec, 0, interrupt, "other", checkpoint)


def refused(capsys, *arguments):
    """How the example ends in this process, and what it says."""
    import lm

    with pytest.raises(SystemExit) as end:
        lm.main([*SMALL, *map(str, arguments)])
    # sys.exit with words prints them and ends with 1.
    return (1, end.value.code) if isinstance(end.value.code, str) else (end.value.code, capsys.readouterr().err)


def test_no_text_says_what_to_install(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    code, words = refused(capsys, f"--output={tmp_path}")
    assert code == 1 and "apt-get install --no-install-recommends bible-kjv" in words
    program = tmp_path / "bible"
    for script, expected in (("echo 'Ge1:1 In the beginning'", "printed 1 chapters and 1 verses; there are 1189 and 31102"),
                             ("echo nothing", "printed a line that is no verse: b'nothing'"),
                             ("echo broken >&2; exit 3", "the program 'bible' failed (3): broken")):
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        code, words = refused(capsys, f"--output={tmp_path}")
        assert code == 1 and expected in words


def test_chapters_of_the_bible_are_held_out_whole():
    import text

    learnt, held = (bytes(one.tolist()) for one in text.read(None, 1000))
    assert len(learnt) > 3.9e6 and len(held) > 2e5
    # The twentieth chapter is the twentieth of Genesis.
    assert held.startswith(b"And Abraham journeyed from thence toward the south country") and held[:60] not in learnt
    assert learnt.startswith(b"In the beginning God created the heaven and the earth.\n") and b"Ge1:1" not in learnt


def test_what_cannot_be_is_refused(tmp_path, capsys):
    short = tmp_path / "short.txt"
    short.write_text("too short " * 100)
    for arguments, code, words in ((["--steps=0"], 2, "--steps is 0; it is 1 or more"),
                                   (["--width=36"], 2, "--width is 36; it is a multiple of 8, 4 times --heads"),
                                   (["--model=elman"], 2, "invalid choice: 'elman'"),
                                   (["--temperature=0"], 2, "--temperature is 0.0; it is more than 0"),
                                   (["--seeds=0"], 2, "--seeds is 0; it is 1 or more"),
                                   (["--step=9"], 2, "unrecognized arguments"),
                                   (["--model=transformer", "--reference"], 2, "the Transformer has no recurrence"),
                                   (["--seeds=2", "--resume"], 2, "--seeds keeps no checkpoints"),
                                   (["--prompt="], 2, "--prompt is empty"),
                                   (["--offload-optimizer"], 2, "--offload-optimizer needs --offload"),
                                   ([f"--text={tmp_path / 'none.txt'}"], 1, "No such file"),
                                   ([f"--text={short}"], 1, "0 of them held out for the test; --batch and --context need 193"),
                                   (["--model=mamba2", "--width=8", "--heads=1"], 1, "Take a larger --width")):
        ended, said = refused(capsys, f"--output={tmp_path}", *arguments)
        assert ended == code and words in said, (arguments, said)


def test_training_with_what_is_saved_on_a_disk_has_the_same_losses(written, tmp_path):
    """And where layers are computed again."""
    size = ("--width=128", "--layers=2", "--heads=2", "--context=2048", "--batch=1", "--threads=1", "--sample=2", "--steps=2", "--no-rivals",
            "--text", written)
    losses = {}
    for name, more in {"plain": (), "offload": ("--offload", tmp_path, "--memory=16MiB"), "recompute": ("--recompute",),
                       "both": ("--offload", tmp_path, "--memory=16MiB", "--recompute"),
                       "states": ("--offload", tmp_path, "--memory=16MiB", "--offload-optimizer")}.items():
        done = run(*size, *more, "--output", tmp_path / name)
        assert done.returncode == 0, done.stderr
        assert ("of a memory of 16 MiB" in done.stdout) == (tmp_path / name / "offload.png").exists() == ("--offload" in more)
        (one,) = json.loads((tmp_path / name / "summary.json").read_text())["models"].values()
        losses[name] = [step["loss"] for step in one["history"]]
        assert ("steps     2 of optimizers" in done.stdout) == ("--offload-optimizer" in more)
    assert losses["plain"] == losses["offload"] == losses["recompute"] == losses["both"]
    # Another AdamW takes the first step: each parameter is rounded otherwise.
    assert losses["states"][0] == losses["plain"][0] and losses["states"][1] == pytest.approx(losses["plain"][1], rel=1e-5)
