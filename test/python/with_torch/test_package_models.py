# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of packages, with random weights, under torch.compile(model, backend="drawloom"): values and gradients are those of eager execution."""

import pytest
import torch
import transformers
from torch import nn

import drawloom.torch as dt
from with_torch.backend_checks import assert_same, fresh, small  # noqa: F401

WIDTH, EXAMPLES, TOKENS = 32, 2, 8
TEXT = {"vocab_size": 50, "hidden_size": WIDTH, "num_hidden_layers": 1, "num_attention_heads": 4, "intermediate_size": 48, "max_position_embeddings": 16}
DECODER = {**TEXT, "num_key_value_heads": 2, "use_cache": False, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
IMAGE = {"hidden_size": WIDTH, "num_hidden_layers": 1, "num_attention_heads": 4, "intermediate_size": 48, "image_size": 8, "patch_size": 4}
T5 = {"vocab_size": 50, "d_model": WIDTH, "d_kv": 8, "d_ff": 48, "num_layers": 1, "num_heads": 4, "use_cache": False, "decoder_start_token_id": 0,
      "pad_token_id": 0}
GPT = {"vocab_size": 50, "n_embd": WIDTH, "n_layer": 1, "n_head": 4, "n_positions": 16, "use_cache": False}
WHISPER = {"vocab_size": 50, "num_mel_bins": 6, "d_model": WIDTH, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 4,
           "decoder_attention_heads": 4, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48, "max_source_positions": 8, "max_target_positions": 8,
           "use_cache": False, "decoder_start_token_id": 1, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}

# (the class, its configuration's class and options, the names of its inputs)
MODELS = {
    "bert": ("BertModel", "BertConfig", TEXT, ["input_ids"]),
    "electra": ("ElectraModel", "ElectraConfig", {**TEXT, "embedding_size": 16}, ["input_ids"]),
    "albert": ("AlbertModel", "AlbertConfig", {**TEXT, "embedding_size": 16}, ["input_ids"]),
    "distilbert": ("DistilBertModel", "DistilBertConfig", {"vocab_size": 50, "dim": WIDTH, "n_layers": 1, "n_heads": 4, "hidden_dim": 48,
                                                           "max_position_embeddings": 16}, ["input_ids"]),
    "deberta": ("DebertaV2Model", "DebertaV2Config", {**TEXT, "relative_attention": True, "position_buckets": 4, "pos_att_type": ["p2c", "c2p"]},
                ["input_ids"]),
    "gpt2": ("GPT2LMHeadModel", "GPT2Config", GPT, ["input_ids"]),
    "gpt_neox": ("GPTNeoXForCausalLM", "GPTNeoXConfig", {name: one for name, one in DECODER.items() if name != "num_key_value_heads"}, ["input_ids"]),
    "bloom": ("BloomForCausalLM", "BloomConfig", {"vocab_size": 50, "hidden_size": WIDTH, "n_layer": 1, "n_head": 4, "use_cache": False}, ["input_ids"]),
    "falcon": ("FalconForCausalLM", "FalconConfig", {"vocab_size": 50, "hidden_size": WIDTH, "num_hidden_layers": 1, "num_attention_heads": 4,
                                                     "use_cache": False}, ["input_ids"]),
    "llama": ("LlamaForCausalLM", "LlamaConfig", DECODER, ["input_ids"]),
    "mistral": ("MistralForCausalLM", "MistralConfig", {**DECODER, "sliding_window": 4}, ["input_ids"]),
    "qwen3": ("Qwen3ForCausalLM", "Qwen3Config", {**DECODER, "head_dim": 8}, ["input_ids"]),
    "gemma2": ("Gemma2ForCausalLM", "Gemma2Config", {**DECODER, "head_dim": 8, "sliding_window": 4, "query_pre_attn_scalar": 8}, ["input_ids"]),
    "phi": ("PhiForCausalLM", "PhiConfig", DECODER, ["input_ids"]),
    "t5": ("T5ForConditionalGeneration", "T5Config", {**T5, "feed_forward_proj": "gated-gelu"}, ["input_ids", "decoder_input_ids"]),
    "mamba": ("MambaForCausalLM", "MambaConfig", {"vocab_size": 50, "hidden_size": WIDTH, "num_hidden_layers": 1, "state_size": 4, "use_cache": False},
              ["input_ids"]),
    "rwkv": ("RwkvForCausalLM", "RwkvConfig", {"vocab_size": 50, "hidden_size": WIDTH, "num_hidden_layers": 2, "use_cache": False}, ["input_ids"]),
    "vit": ("ViTModel", "ViTConfig", IMAGE, ["pixel_values"]),
    "convnext": ("ConvNextModel", "ConvNextConfig", {"hidden_sizes": [16, 24], "depths": [1, 1], "num_stages": 2}, ["pixel_values"]),
    "swin": ("SwinModel", "SwinConfig", {"image_size": 8, "patch_size": 1, "embed_dim": 16, "depths": [1, 1], "num_heads": [2, 4], "window_size": 4},
             ["pixel_values"]),
    "whisper": ("WhisperModel", "WhisperConfig", WHISPER, ["input_features", "decoder_input_ids"])}


class Called(nn.Module):
    """A model's results as tensors, from inputs by position."""

    def __init__(self, model, names):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *inputs):
        found = self.model(**dict(zip(self.names, inputs)), return_dict=True).to_tuple()
        return [one for one in found if isinstance(one, torch.Tensor) and one.is_floating_point()]


def no_dropout(config):
    for name, value in list(vars(config).items()):
        if any(word in name for word in ("dropout", "pdrop", "drop_path", "layerdrop")) and isinstance(value, float):
            setattr(config, name, 0.0)
    return config


def input_of(name):
    if name == "pixel_values":
        return torch.randn(EXAMPLES, 3, 8, 8)
    return torch.randn(EXAMPLES, 6, 16) if name == "input_features" else torch.randint(3, 50, (EXAMPLES, TOKENS))


@pytest.mark.parametrize("name", MODELS)
def test_a_model_has_the_values_and_gradients_of_eager_execution(name, small):  # noqa: F811
    made, config, options, names = MODELS[name]
    model = Called(getattr(transformers, made)(no_dropout(getattr(transformers, config)(**options))), names)
    with torch.no_grad():
        for one in model.parameters():  # New biases are 0.
            one.add_(0.02 * torch.randn_like(one))
    inputs = [input_of(one) for one in names]
    assert any(part.by == "drawloom" for part in dt.explain(model, *inputs).parts)
    torch._dynamo.reset()
    assert_same(model, inputs, eps=2.0 ** -24)


