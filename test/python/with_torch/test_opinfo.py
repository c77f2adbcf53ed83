# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's own samples of its ops (OpInfo), as ops of rows: values and gradients are torch's, or the call is refused with a reason."""

import collections

import pytest
import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree

import drawloom
import drawloom.torch as dt

U = 2.0**-53
# torch gives the mean and the deviation of its norm no gradients, though it says that they have some.
LEFT_OUT = ("native_layer_norm",)
# Samples of each op that are tried, from the first one on.
SAMPLES = 6
# How many of an op's samples programs have to have. Ops that are not here may be refused; they are tried all the same.
COVERED = """abs add addcdiv addcmul amax amin bfloat16 cat clamp clone cos cosh div double erf exp exp2 expm1 float floor half lerp log log10 log1p log2
log_softmax logsumexp maximum mean minimum mm mul narrow neg nn.functional.celu nn.functional.elu nn.functional.gelu nn.functional.glu
nn.functional.hardsigmoid nn.functional.hardswish nn.functional.hardtanh nn.functional.huber_loss nn.functional.layer_norm
nn.functional.leaky_relu nn.functional.linear nn.functional.logsigmoid nn.functional.mish nn.functional.normalize nn.functional.relu
nn.functional.relu6 nn.functional.rms_norm nn.functional.selu nn.functional.silu nn.functional.softmin nn.functional.softplus
nn.functional.softshrink nn.functional.softsign nn.functional.tanhshrink nn.functional.threshold permute positive pow reciprocal remainder
rsqrt rsub select sigmoid sign sin sinh softmax sqrt square squeeze stack std sub sum tan tanh unsqueeze var where""".split()


def program(op, sample):
    """(an op of Drawloom, torch's function, the tensors) of a sample whose input is [rows, channels]; None for others."""
    leaves, structure = _pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
    places = [i for i, one in enumerate(leaves) if isinstance(one, torch.Tensor)]
    tensors = [leaves[i] for i in places]
    if not tensors or tensors[0].dim() != 2 or any(one.dtype not in (torch.float64, torch.bool) or 0 in one.shape for one in tensors):
        return None
    rows = [j for j, one in enumerate(tensors) if one.dim() == 2 and one.shape[0] == tensors[0].shape[0]]
    order = rows + [j for j in range(len(tensors)) if j not in rows]

    def function(*given):
        filled = list(leaves)
        for one, j in zip(given, order):
            filled[places[j]] = one
        x, arguments, options = _pytree.tree_unflatten(filled, structure)
        return op.op(x, *arguments, **options)

    return dt.op(function, rows=len(rows)), function, [tensors[j].detach().clone().requires_grad_(tensors[j].is_floating_point()) for j in order]


def results(function, tensors):
    """Values, and the gradients of their sum with factors that differ."""
    values = function(*tensors)
    values = [one for one in (values if isinstance(values, (tuple, list)) else [values])]
    floats = [one for one in values if one.is_floating_point() and one.requires_grad]
    if not floats:
        return values
    total = sum((one.double() * torch.linspace(1, 2, one.numel(), dtype=torch.float64).reshape(one.shape)).sum() for one in floats)
    return values + list(torch.autograd.grad(total, [one for one in tensors if one.requires_grad], allow_unused=True))


# Roundings of one op: sums of at most 25 numbers and some 40 operations on each, forward and backward, in torch and here.
ROUNDINGS = 4 * (25 + 40)
STEP = 2.0**10 * U


def reach(function, tensors, expected):
    """How far a relative change of a number carries, measured by a change of all that is well above rounding. What reaches one result passes
    through the same numbers as what reaches another."""
    moved = [one.detach() * (1 + STEP * torch.sign(torch.randn_like(one))) if one.is_floating_point() else one.detach() for one in tensors]
    nearby = results(function, [one.requires_grad_(one.is_floating_point()) for one in moved])

    def change(one, other):
        if one is None or other is None or not other.is_floating_point():
            return 0.0
        both = one.isfinite() & other.isfinite()
        # A type of fewer bits rounds the change itself.
        unit = max(STEP, torch.finfo(other.dtype).eps)
        return ((one.double() - other.double())[both].abs().max() / unit).item() if both.any() else 0.0

    return max(map(change, nearby, expected))


def close(found, expected, reach):
    if (found is None) != (expected is None):
        return found is None or not found.count_nonzero()
    if found is None:
        return True
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return False
    if not found.is_floating_point():
        return torch.equal(found, expected)
    unit = torch.finfo(found.dtype).eps
    return torch.allclose(found, expected, rtol=ROUNDINGS * unit, atol=ROUNDINGS * unit * reach, equal_nan=True)


@pytest.fixture(scope="module")
def counts():
    yield (found := collections.Counter())
    print(f"OpInfo: {found['passed']} samples passed, {found['refused']} refused, {found['not tried']} without rows")


@pytest.mark.parametrize("op", [one for one in op_db if torch.float64 in one.dtypes and one.name not in LEFT_OUT], ids=lambda one: one.full_name)
def test_samples_are_computed_as_torch_does_or_refused(op, counts):
    passed = tried = 0
    torch.manual_seed(0)
    for sample in op.sample_inputs("cpu", torch.float64):
        made = program(op, sample)
        if made is None:
            counts["not tried"] += 1
            continue
        ours, function, tensors = made
        try:
            expected = results(function, tensors)
        except Exception:  # Samples of some ops are no calls by themselves.
            continue
        tried += 1
        try:
            found = results(ours, tensors)
        except (drawloom.CallError, drawloom.CallTypeError):
            counts["refused"] += 1
        except (IndexError, RuntimeError, ValueError) as error:  # torch's own: the sample goes with its number of rows alone.
            assert not isinstance(error, drawloom.Error), sample
            counts["refused"] += 1
        else:
            assert len(found) >= len(expected), sample
            far = reach(function, tensors, expected)
            assert all(close(one, other, far) for one, other in zip(found, expected)), sample
            # Of what torch gives no gradient it is 0.
            assert not any(one.count_nonzero() for one in found[len(expected):]), sample
            passed += 1
        if tried == SAMPLES:
            break
    counts["passed"] += passed
    assert op.full_name not in COVERED or passed or not tried
