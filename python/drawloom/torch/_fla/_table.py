# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What of flash-linear-attention 0.6 is replaced, by the module that exports it."""

from __future__ import annotations

from collections.abc import Callable

from . import _forms

# Modules that the package flash-linear-attention adds to fla-core; they need transformers.
ALONE = ("fla.layers", "fla.models")

# By the functions of drawloom.torch.linrec with the same names.
RECURRENCES: dict[str, tuple[str, ...]] = {
    "fla.ops.abc": ("chunk_abc",),
    "fla.ops.comba": ("chunk_comba", "fused_recurrent_comba"),
    "fla.ops.delta_rule": ("chunk_delta_rule", "fused_recurrent_delta_rule"),
    "fla.ops.gated_delta_product": ("chunk_gated_delta_product",),
    "fla.ops.gated_delta_rule": ("chunk_gated_delta_rule", "fused_recurrent_gated_delta_rule"),
    "fla.ops.gated_oja_rule": ("chunk_gated_oja_rule", "fused_recurrent_gated_oja_rule"),
    "fla.ops.gdn2": ("chunk_gdn2", "fused_recurrent_gdn2"),
    "fla.ops.generalized_delta_rule": ("chunk_dplr_delta_rule", "chunk_iplr_delta_rule", "fused_recurrent_dplr_delta_rule",
                                       "fused_recurrent_iplr_delta_rule"),
    "fla.ops.gla": ("chunk_gla", "fused_recurrent_gla"),
    "fla.ops.gsa": ("chunk_gsa", "fused_recurrent_gsa"),
    "fla.ops.hgrn": ("chunk_hgrn", "fused_recurrent_hgrn"),
    "fla.ops.kda": ("chunk_kda", "fused_recurrent_kda"),
    "fla.ops.lightning_attn": ("chunk_lightning_attn", "fused_recurrent_lightning_attn"),
    "fla.ops.linear_attn": ("chunk_linear_attn", "fused_chunk_linear_attn", "fused_recurrent_linear_attn"),
    "fla.ops.retention": ("chunk_retention", "fused_chunk_retention", "fused_recurrent_retention", "parallel_retention"),
    "fla.ops.rwkv6": ("chunk_rwkv6", "fused_recurrent_rwkv6"),
    "fla.ops.rwkv7": ("chunk_rwkv7", "fused_mul_recurrent_rwkv7", "fused_recurrent_rwkv7"),
    "fla.ops.simple_gla": ("chunk_simple_gla", "fused_chunk_simple_gla", "fused_recurrent_simple_gla", "parallel_simple_gla"),
}

# By torch's own ops; a name is that of flash-linear-attention's own form in torch.
FORMS: dict[str, dict[str, Callable | str]] = {
    "fla.modules.activations.ops": {name: getattr(_forms, name) for name in (
        "bias_gelu_impl", "fast_gelu_impl", "logsigmoid", "powglu", "powglu_linear", "sigmoid", "sigmoidglu", "sigmoidglu_linear",
        "sqrelu", "swiglu", "swiglu_linear", "swish")},
    "fla.modules.causal_conv1d": {name: getattr(_forms, name) for name in ("causal_conv1d", "causal_conv1d_update")},
    "fla.modules.fused_cross_entropy.ops": {"cross_entropy_loss": _forms.cross_entropy_loss},
    "fla.modules.fused_kl_div.ops": {"fused_kl_div_loss": _forms.fused_kl_div_loss},
    "fla.modules.fused_linear_cross_entropy.ops": {"fused_linear_cross_entropy_loss": _forms.fused_linear_cross_entropy_loss},
    "fla.modules.norm.fused_norm_gate": {name: getattr(_forms, name) for name in (
        "layer_norm_gated", "layer_norm_swish_gate_linear", "rms_norm_gated", "rms_norm_swish_gate_linear")},
    "fla.modules.norm.l2norm": {"l2norm": _forms.l2norm},
    "fla.modules.norm.layernorm": {name: getattr(_forms, name) for name in (
        "group_norm", "group_norm_linear", "layer_norm", "layer_norm_linear", "rms_norm", "rms_norm_linear")},
    "fla.modules.norm.layernorm_gated": {name: getattr(_forms, name) for name in ("layernorm_fn", "rmsnorm_fn")},
    "fla.modules.rotary.ops": {"rotary_embedding": _forms.rotary_embedding},
    "fla.modules.token_shift": {"token_shift": _forms.token_shift},
    "fla.ops.attn": {"parallel_attn": _forms.parallel_attn},
    "fla.ops.attn.decoding": {"attn_decoding_one_step": "fla.ops.attn.naive.naive_attn_decoding"},
    "fla.ops.attnres": {"fused_attnres": _forms.fused_attnres},
    "fla.ops.gated_delta_rule.gate": {"fused_gdn_gate": _forms.fused_gdn_gate},
    "fla.ops.gsa.gate": {"fused_additive_gate": _forms.fused_additive_gate},
    "fla.ops.kda.gate": {"fused_kda_gate": _forms.fused_kda_gate},
    "fla.ops.rwkv7.channel_mixing": {"channel_mixing_rwkv7": _forms.channel_mixing_rwkv7},
    "fla.ops.rwkv7.fused_addcmul": {"fused_addcmul_rwkv7": _forms.fused_addcmul_rwkv7},
    "fla.ops.rwkv7.fused_k_update": {"fused_k_rwkv7": _forms.fused_k_rwkv7},
    "fla.ops.rwkv7.gate_output_correction": {"gate_output_correction": _forms.gate_output_correction},
    "fla.ops.utils.cumsum": {"chunk_local_cumsum": _forms.chunk_local_cumsum},
    "fla.ops.utils.pooling": {"mean_pooling": _forms.mean_pooling},
}

# Methods that look at the device before they call anything, or have a recurrence written out.
METHODS: dict[str, dict[str, Callable]] = {
    "fla.modules.fused_cross_entropy.ops": {"FusedCrossEntropyLoss.forward": _forms.fused_cross_entropy_forward},
    "fla.layers.mamba2": {"Mamba2.torch_forward": _forms.mamba2_forward},
}

# Modules that use another package for softmax attention, and what of it.
FLASH_ATTENTION = (("fla.layers.attn", "fla.layers.mla", "fla.layers.rodimus"), ("flash_attn_func", "flash_attn_varlen_func"))

# What is neither, by name; any other kernel says that it is one.
REFUSED: dict[str, tuple[str, ...]] = {
    "fla.modules.fused_bitlinear": ("layer_norm_linear_quant",),
    "fla.modules.grpo": ("fused_grpo_loss",),
    "fla.ops.based": ("fused_chunk_based", "parallel_based"),
    "fla.ops.cyfa": ("chunk_cyfa", "fused_recurrent_cyfa"),
    "fla.ops.deltaformer": ("deltaformer_attn",),
    "fla.ops.forgetting_attn": ("parallel_forgetting_attn",),
    "fla.ops.log_linear_attn": ("chunk_log_linear_attn",),
    "fla.ops.mesa_net": ("chunk_mesa_net", "mesa_net_decoding_one_step"),
    "fla.ops.moba": ("parallel_moba",),
    "fla.ops.momentum_delta_rule": ("chunk_momentum_delta_rule", "fused_recurrent_momentum_delta_rule"),
    "fla.ops.nsa": ("parallel_nsa",),
    "fla.ops.parallax": ("parallel_parallax",),
    "fla.ops.path_attn": ("parallel_path_attn",),
    "fla.ops.precond_gated_delta_rule": ("chunk_precond_gated_delta_rule", "fused_recurrent_precond_gated_delta_rule"),
    "fla.ops.precond_kda": ("chunk_precond_kda", "fused_recurrent_precond_kda"),
    "fla.ops.rebased": ("parallel_rebased",),
    "fla.ops.rwkv4": ("fused_recurrent_rwkv4",),
    "fla.ops.stickbreaking_attn": ("parallel_stickbreaking_attn",),
    "fla.ops.ttt": ("chunk_ttt_linear", "fused_chunk_ttt_linear"),
    "fla.ops.wall_attn": ("parallel_wall_attn", "parallel_wall_attn_decode"),
}
