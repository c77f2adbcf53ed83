# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kan suite's rivals in PyTorch, each in the form that PyTorch likes best."""

import torch

from drawloom_bench.programs.kan import ADAM
from drawloom_bench.rivals.kan_formulas import rational


def grouped(x, a, b):
    """Rows by channels in groups; inductor's best form."""
    groups = a.shape[0]
    y = rational(x.view(x.shape[0], groups, -1), a[None, :, None], b[None, :, None])
    return y.view(x.shape)


def spread(x, a, b):
    """One coefficient for each channel; eager's best form (its broadcasts of 8 channels are slow)."""
    width = x.shape[1] // a.shape[0]
    return rational(x, a.repeat_interleave(width, 0), b.repeat_interleave(width, 0))


def network(activation, encode=None):
    """Dense layers as in kan_programs.Mlp."""

    def forward(x, *parameters):
        x = encode(x) if encode else x
        at = 0
        while at < len(parameters):
            x = torch.addmm(parameters[at + 1], x, parameters[at])
            at += 2
            if at == len(parameters):
                return x
            if activation == "relu":
                x = torch.relu(x)
            else:
                x = (grouped if torch.compiler.is_compiling() else spread)(x, parameters[at], parameters[at + 1])
                at += 2

    return forward


def mean_squares(y, t):
    return torch.mean((y - t) ** 2)


def loss_function(forward, loss_of, compiled):
    def loss(x, t, *parameters):
        return loss_of(forward(x, *parameters), t)

    return torch.compile(loss) if compiled else loss


def loss_gradients(forward, loss_of, x, t, parameters, compiled):
    parameters, loss = [p.clone().requires_grad_() for p in parameters], loss_function(forward, loss_of, compiled)

    def run():
        value = loss(x, t, *parameters)
        return [value, *torch.autograd.grad(value, parameters)]

    return run


def step(forward, loss_of, x, t, parameters, rate, compiled):
    """A step of Adam. Its parameters move from run to run."""
    parameters = [p.clone().requires_grad_() for p in parameters]
    optimizer = torch.optim.Adam(parameters, lr=rate, betas=(ADAM["beta1"], ADAM["beta2"]), eps=ADAM["epsilon"], fused=True)
    loss = loss_function(forward, loss_of, compiled)

    def run():
        value = loss(x, t, *parameters)
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        return [value, *parameters]

    return run


def frequency_encode(octaves):
    def encode(xy):
        k = torch.pow(2.0, torch.arange(octaves)) * torch.pi
        t = xy[:, :, None] * k
        return torch.stack([torch.sin(t), torch.cos(t)], 3).reshape(len(xy), -1)

    return encode
