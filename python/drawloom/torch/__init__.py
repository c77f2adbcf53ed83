# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Drawloom for PyTorch: functions, modules (drawloom.torch.nn), optimizers (drawloom.torch.optim) and linear recurrences
(drawloom.torch.linrec, differentiable once; drawloom.torch.context_parallel over processes) that are compiled, take part in autograd
to any order, and in torch.compile, torch.func, AMP, DDP and FSDP. They run on the CPU and on NVIDIA's GPUs."""

try:
    import torch as _torch
except ImportError as error:
    raise ImportError("drawloom.torch needs PyTorch: pip install torch") from error

if not hasattr(_torch.Tensor, "__dlpack_c_exchange_api__"):
    raise ImportError(f"drawloom.torch needs a PyTorch with DLPack's C functions, 2.10 or later; this one is {_torch.__version__}")

from .. import _drawloom  # noqa: E402
from . import context_parallel, linrec, nn, optim  # noqa: E402
from ._backend import Explanation, Part, explain  # noqa: E402
from ._cells import NewtonReport, Scanned, nonlinear_scan  # noqa: E402
from ._export import export  # noqa: E402
from ._fuse import fuse  # noqa: E402
from ._kan import kan_layer, kan_network, kan_network_along  # noqa: E402
from ._kan_edges import FORMULAS, Symbolic, fit_symbolic  # noqa: E402
from ._offload import offload, offload_probe  # noqa: E402
from ._op import op  # noqa: E402
from ._patch_kan import patch_kan, patch_kan_report, unpatch_kan  # noqa: E402
from ._peft import patch_peft, patch_peft_report, unpatch_peft  # noqa: E402
from ._pruned import as_n_of_m, as_sparse, prune, prune_n_of_m  # noqa: E402
from ._pyg import patch_pyg, patch_pyg_report, unpatch_pyg  # noqa: E402
from ._quantized import DoubleScales, QuantizedTensor, fake_quantize, quantize, read_gguf  # noqa: E402
from ._table import FeatureTable  # noqa: E402
from .functional import adapted_linear, frequency_encode, fused_mlp, fused_mlp_along, kat_mlp, rational, structured_linear  # noqa: E402
from .graph import Graph, message_passing, where  # noqa: E402

# One pool of threads for torch's ops and these.
_drawloom.use_openmp()

__all__ = [
    "DoubleScales", "Explanation", "FORMULAS", "FeatureTable", "Graph", "NewtonReport", "Part", "QuantizedTensor", "Scanned",
    "Symbolic", "adapted_linear", "as_n_of_m", "as_sparse", "context_parallel", "explain", "export", "fake_quantize", "fit_symbolic",
    "frequency_encode", "fuse", "fused_mlp", "fused_mlp_along", "kan_layer", "kan_network", "kan_network_along", "kat_mlp", "linrec",
    "message_passing", "nn", "nonlinear_scan", "offload", "offload_probe", "op", "optim", "patch_kan", "patch_kan_report",
    "patch_peft", "patch_peft_report", "patch_pyg", "patch_pyg_report", "prune", "prune_n_of_m", "quantize", "rational", "read_gguf",
    "structured_linear", "unpatch_kan", "unpatch_peft", "unpatch_pyg", "where",
]
