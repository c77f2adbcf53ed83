# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cases of the models suite: training steps of models that are written in plain PyTorch (programs/models.py), compiled by
torch.compile(model, backend="drawloom"), by torch.compile alone, and not compiled. A step is the loss and the gradients of all parameters.

Operations are those of products and attention, as torch.utils.flop_counter counts them; bytes are those of parameters and arguments.
first-steps measures how long the first step takes, everything compiled, with nothing in any cache."""

from drawloom_bench.programs.models import MODELS
from drawloom_bench.suites.case import TRAIN_RTOL, Case

# Angles of NeRF reach 5,000, where neighbours in float32 are 5e-4 apart; each layer of SIREN multiplies them by 30. Gradients of eager execution
# differ from those in float64 by 2e-3 and 2.5e-4; two ways to round differ by twice that at most.
RTOL = {"nerf": 5e-3, "siren": 5e-4}
BACKENDS = {"drawloom": "drawloom", "torch.compile": "inductor", "eager": None}


def parts(name):
    """(module, arguments, loss), the same ones each time."""
    import torch

    torch.manual_seed(0)
    return MODELS[name]()


def step_of(module, arguments, loss, backend):
    import torch

    function = torch.compile(module, backend=backend) if backend else module

    def step():
        value = loss(function(*arguments))
        parameters = list(module.parameters())
        return [value, *torch.autograd.grad(value, parameters, allow_unused=True)]

    return step


def operations_of(name):
    from torch.utils.flop_counter import FlopCounterMode

    module, arguments, loss = parts(name)
    with FlopCounterMode(display=False) as counter:
        step_of(module, arguments, loss, None)()
    return counter.get_total_flops(), 4 * sum(one.numel() for one in (*module.parameters(), *arguments))


class Model(Case):
    def __init__(self, name):
        self.name, self.goal, self.rtol = name, "1.0", RTOL.get(name, TRAIN_RTOL)
        self.counted = None

    @property
    def operations(self):
        self.counted = self.counted or operations_of(self.name)
        return self.counted[0]

    @property
    def bytes(self):
        return (self.operations, self.counted[1])[1]

    def make(self, options):
        import torch

        import drawloom.torch  # noqa: F401

        torch._dynamo.reset()
        return {backend: (lambda step: lambda: [one for one in step() if one is not None])(step_of(*parts(self.name), used))
                for backend, used in BACKENDS.items()}


CASES = [Model(name) for name in MODELS]
