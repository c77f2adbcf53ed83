# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Linear recurrences: gated linear attention and its family, under the names and signatures of flash-linear-attention 0.6.

`linear_recurrence` is the one op; every other function says a model with it, but for `short_convolution`, which stands in front of
many. Layouts are [batch, tokens, heads, size], states
[sequences, heads, K, V] in float32 (float64 for float64), but for those of `short_convolution`, [sequences, D, W] in the type of x, and
of models whose functions say otherwise. `cu_seqlens` packs sequences: batch 1, sequence i has the tokens
cu_seqlens[i] to cu_seqlens[i + 1] - 1, possibly none. Everything is differentiable once, initial and final states included.
The fused_recurrent_* names compute as the others do: a program is compiled for each number of tokens, one among them.

Arguments that say how flash-linear-attention computes on a GPU are taken and have no effect: backend, chunk_size, chunk_indices,
cu_seqlens_cpu, disable_recompute, checkpoint_level, use_graph and max_num_seqs.

`patch_fla` makes the layers and models of an installed flash-linear-attention run on the CPU with these functions.
"""

from .._fla import patch_fla
from . import _conv, _delta, _elementwise, _linear, _low_rank, _slots
from ._conv import *  # noqa: F403
from ._delta import *  # noqa: F403
from ._elementwise import *  # noqa: F403
from ._linear import *  # noqa: F403
from ._low_rank import *  # noqa: F403
from ._op import linear_recurrence
from ._slots import *  # noqa: F403

__all__ = ["linear_recurrence", "patch_fla", *_conv.__all__, *_delta.__all__, *_elementwise.__all__, *_linear.__all__, *_low_rank.__all__,
           *_slots.__all__]
