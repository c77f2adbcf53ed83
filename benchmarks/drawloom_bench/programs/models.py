# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models that people train, written in plain PyTorch: nothing in them knows of Drawloom. `MODELS` has for each name a function that gives
(module, arguments, loss of the module's results)."""

import math

import torch
from torch import nn
from torch.nn import functional as F


def mlp(widths, activation, last=None):
    layers = []
    for i, (a, b) in enumerate(zip(widths, widths[1:])):
        layers.append(nn.Linear(a, b))
        if i + 2 < len(widths):
            layers.append(activation())
    return nn.Sequential(*layers, *([last] if last else []))


class Nerf(nn.Module):
    """Mildenhall et al., ECCV 2020: octaves of positions and directions, eight layers with a skip, density and colour."""

    def __init__(self, width=128):
        super().__init__()
        self.register_buffer("octaves", 2.0 ** torch.arange(10) * math.pi)
        self.first = nn.ModuleList([nn.Linear(63, width), *(nn.Linear(width, width) for _ in range(3))])
        self.second = nn.ModuleList([nn.Linear(width + 63, width), *(nn.Linear(width, width) for _ in range(3))])
        self.density, self.feature = nn.Linear(width, 1), nn.Linear(width, width)
        self.view, self.colour = nn.Linear(width + 27, width // 2), nn.Linear(width // 2, 3)

    def encode(self, x, octaves):
        angles = (x[:, :, None] * self.octaves[:octaves]).flatten(1)
        return torch.cat([x, torch.sin(angles), torch.cos(angles)], dim=-1)

    def forward(self, position, direction):
        p, d = self.encode(position, 10), self.encode(direction, 4)
        h = p
        for layer in self.first:
            h = F.relu(layer(h))
        h = torch.cat([h, p], dim=-1)
        for layer in self.second:
            h = F.relu(layer(h))
        density = F.softplus(self.density(h))
        h = F.relu(self.view(torch.cat([self.feature(h), d], dim=-1)))
        return torch.cat([torch.sigmoid(self.colour(h)), density], dim=-1)


class Sine(nn.Module):
    def forward(self, x):
        return torch.sin(30 * x)


class Net(nn.Module):
    """A chain, so that it has a forward of its own."""

    def __init__(self, chain):
        super().__init__()
        self.chain = chain

    def forward(self, x):
        return self.chain(x)


class Pinn(nn.Module):
    """u with the Laplacian of u, by forward mode twice, as torch.func has it."""

    def __init__(self):
        super().__init__()
        self.u = mlp([2, 64, 64, 64, 1], nn.Tanh)

    def forward(self, x):
        total = 0
        for d in range(2):
            along = torch.zeros_like(x)
            along[:, d] = 1.0
            first = lambda y: torch.func.jvp(self.u, (y,), (along,))[1]  # noqa: E731
            total = total + torch.func.jvp(first, (x,), (along,))[1]
        return total


class DeepONet(nn.Module):
    """Lu et al., Nature Machine Intelligence 2021: sums over products of a branch and a trunk."""

    def __init__(self):
        super().__init__()
        self.branch, self.trunk = mlp([100, 128, 128, 64], nn.GELU), mlp([2, 128, 128, 128, 64], nn.GELU)
        self.bias = nn.Parameter(torch.zeros(()))

    def forward(self, u, y):
        return torch.einsum("bp,np->bn", self.branch(u), self.trunk(y)) + self.bias


class ResidualBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.down(F.relu(self.up(self.norm(x))))


class TabularResNet(nn.Module):
    """Gorishniy et al., NeurIPS 2021, with layer norms."""

    def __init__(self, features=32, width=96, blocks=4):
        super().__init__()
        self.first, self.blocks = nn.Linear(features, width), nn.ModuleList([ResidualBlock(width) for _ in range(blocks)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 1)

    def forward(self, x):
        x = self.first(x)
        for block in self.blocks:
            x = block(x)
        return self.head(F.relu(self.norm(x)))


class Attention(nn.Module):
    def __init__(self, width, heads, causal):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (one.view(b, t, self.heads, c // self.heads).transpose(1, 2) for one in self.qkv(x).split(c, dim=-1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.out(y.transpose(1, 2).reshape(b, t, c))


class TransformerBlock(nn.Module):
    def __init__(self, width, heads, causal):
        super().__init__()
        self.norm1, self.attention, self.norm2 = nn.LayerNorm(width), Attention(width, heads, causal), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class FtTransformer(nn.Module):
    """The same paper: a token for each number of a row."""

    def __init__(self, features=16, width=64, blocks=2):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.randn(features, width)), nn.Parameter(torch.randn(features, width))
        self.blocks = nn.ModuleList([TransformerBlock(width, 4, False) for _ in range(blocks)])
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        x = x[:, :, None] * self.weight + self.bias
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean(1))


class Gpt(nn.Module):
    def __init__(self, width=128, blocks=2, tokens=256):
        super().__init__()
        self.embedding, self.positions = nn.Embedding(tokens, width), nn.Parameter(0.02 * torch.randn(128, width))
        self.blocks = nn.ModuleList([TransformerBlock(width, 4, True) for _ in range(blocks)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, tokens, bias=False)

    def forward(self, tokens):
        x = self.embedding(tokens) + self.positions
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class KanLayer(nn.Module):
    """Cubic splines on every edge by the recurrence of Cox and de Boor, as efficient-kan has it."""

    def __init__(self, inputs, outputs, grid=5, order=3):
        super().__init__()
        self.order = order
        step = 2 / grid
        self.register_buffer("grid", torch.arange(-order, grid + order + 1) * step - 1)
        self.base, self.coefficients = nn.Linear(inputs, outputs, bias=False), nn.Linear(inputs * (grid + order), outputs, bias=False)

    def forward(self, x):
        t, u = self.grid, x[..., None]
        basis = ((u >= t[:-1]) & (u < t[1:])).to(x.dtype)
        for k in range(1, self.order + 1):
            left = (u - t[:-k - 1]) / (t[k:-1] - t[:-k - 1]) * basis[..., :-1]
            basis = left + (t[k + 1:] - u) / (t[k + 1:] - t[1:-k]) * basis[..., 1:]
        return self.base(F.silu(x)) + self.coefficients(basis.flatten(-2))


class Rational(nn.Module):
    """Yang and Wang, ICLR 2025: P(x) / (1 + |Q(x)|) with coefficients for each group of channels."""

    def __init__(self, channels, groups=8):
        super().__init__()
        self.groups = groups
        self.a = nn.Parameter(torch.tensor([0.0, 1.0, 0.0, 0.1, 0.0, 0.02]).repeat(groups, 1))
        self.b = nn.Parameter(torch.tensor([0.1, 0.1, 0.1, 0.1]).repeat(groups, 1))

    def forward(self, x):
        y = x.unflatten(-1, (self.groups, -1))
        a, b = self.a[:, :, None], self.b[:, :, None]
        p = a[:, 5]
        for k in (4, 3, 2, 1, 0):
            p = p * y + a[:, k]
        q = b[:, 3]
        for k in (2, 1, 0):
            q = q * y + b[:, k]
        return (p / (1 + (q * y).abs())).flatten(-2)


class KatBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.act1, self.up, self.act2, self.down = Rational(width), nn.Linear(width, 4 * width), Rational(4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(self.act2(self.up(self.act1(self.norm(x)))))


class MixerBlock(nn.Module):
    """Tolstikhin et al., NeurIPS 2021."""

    def __init__(self, tokens, width):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.tokens, self.channels = mlp([tokens, 2 * tokens, tokens], nn.GELU), mlp([width, 4 * width, width], nn.GELU)

    def forward(self, x):
        x = x + self.tokens(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.channels(self.norm2(x))


class Vae(nn.Module):
    def __init__(self, inputs=784, hidden=256, latent=16):
        super().__init__()
        self.up, self.mean, self.spread = nn.Linear(inputs, hidden), nn.Linear(hidden, latent), nn.Linear(hidden, latent)
        self.first, self.second = nn.Linear(latent, hidden), nn.Linear(hidden, inputs)

    def forward(self, x, noise):
        h = F.relu(self.up(x))
        mean, spread = self.mean(h), self.spread(h)
        z = mean + noise * torch.exp(0.5 * spread)
        y = self.second(F.relu(self.first(z)))
        divergence = -0.5 * (1 + spread - mean.square() - spread.exp()).sum(-1)
        return F.binary_cross_entropy_with_logits(y, x, reduction="none").sum(-1) + divergence


class Diffusion(nn.Module):
    """Noise of points, predicted from the noisy points and sines of the time."""

    def __init__(self, inputs=2, width=128, layers=4):
        super().__init__()
        self.register_buffer("frequencies", torch.exp(-math.log(1e4) * torch.arange(32) / 32))
        self.time = mlp([64, width, width], nn.SiLU)
        self.first, self.last = nn.Linear(inputs, width), nn.Linear(width, inputs)
        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(layers)])

    def forward(self, x, t):
        angles = t[:, None] * self.frequencies
        time = self.time(torch.cat([angles.sin(), angles.cos()], dim=-1))
        h = self.first(x)
        for layer in self.layers:
            h = h + F.silu(layer(h + time))
        return self.last(h)


class ActorCritic(nn.Module):
    """The loss of proximal policy optimization on a batch of a continuous control task."""

    def __init__(self, observations=17, actions=6):
        super().__init__()
        self.actor, self.critic = mlp([observations, 64, 64, actions], nn.Tanh), mlp([observations, 64, 64, 1], nn.Tanh)
        self.spread = nn.Parameter(torch.zeros(actions))

    def forward(self, observation, action, before, advantage, value):
        change = (action - self.actor(observation)) / self.spread.exp()
        likelihood = (-0.5 * change.square() - self.spread - 0.5 * math.log(2 * math.pi)).sum(-1)
        ratio = (likelihood - before).exp()
        policy = torch.minimum(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage)
        return 0.5 * (self.critic(observation).squeeze(-1) - value).square() - policy


class GlaBlock(nn.Module):
    """Gated linear attention (Yang et al., ICML 2024) in chunks, and a gated MLP."""

    def __init__(self, width=128, heads=2, chunk=32):
        super().__init__()
        self.heads, self.chunk = heads, chunk
        self.norm1, self.norm2 = nn.RMSNorm(width), nn.RMSNorm(width)
        self.q, self.k, self.v, self.g = (nn.Linear(width, width, bias=False) for _ in range(4))
        self.out, self.gate, self.up, self.down = (nn.Linear(a, b, bias=False) for a, b in (
            (width, width), (width, 2 * width), (width, 2 * width), (2 * width, width)))

    def attention(self, x):
        b, t, c = x.shape

        def heads(y):
            return y.view(b, t // self.chunk, self.chunk, self.heads, c // self.heads).permute(0, 3, 1, 2, 4)

        q, k, v, g = heads(self.q(x)), heads(self.k(x)), heads(self.v(x)), F.logsigmoid(heads(self.g(x))) / 16
        total = g.cumsum(3)
        q, back = q * total.exp(), k * (-total).exp()
        mask = torch.ones(self.chunk, self.chunk, dtype=torch.bool, device=x.device).tril()
        inner = (q @ back.transpose(-1, -2)).masked_fill(~mask, 0) @ v
        keys = k * (total[:, :, :, -1:] - total).exp()
        state, outer = torch.zeros(b, self.heads, c // self.heads, c // self.heads, dtype=x.dtype), []
        for i in range(t // self.chunk):
            outer.append(q[:, :, i] @ state)
            state = state * total[:, :, i, -1, :, None].exp() + keys[:, :, i].transpose(-1, -2) @ v[:, :, i]
        y = inner + torch.stack(outer, 2)
        return self.out(y.permute(0, 2, 3, 1, 4).reshape(b, t, c))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        h = self.norm2(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


def _of(make, *shapes, loss=lambda y: y.square().mean()):
    return lambda: (make(), [torch.randn(shape) for shape in shapes], loss)


MODELS = {
    "nerf": _of(Nerf, (8192, 3), (8192, 3)),
    "siren": _of(lambda: Net(mlp([2, 128, 128, 128, 3], Sine)), (16384, 2)),
    "pinn": _of(Pinn, (4096, 2)),
    "deeponet": _of(DeepONet, (256, 100), (4096, 2)),
    "tabular_resnet": _of(TabularResNet, (4096, 32)),
    "ft_transformer": _of(FtTransformer, (512, 16)),
    "kan": _of(lambda: Net(nn.Sequential(KanLayer(8, 32), KanLayer(32, 32), KanLayer(32, 1))), (4096, 8)),
    "kat": _of(lambda: Net(nn.Sequential(KatBlock(64), KatBlock(64))), (4096, 64)),
    "mixer": _of(lambda: Net(nn.Sequential(*(MixerBlock(64, 128) for _ in range(2)))), (32, 64, 128)),
    "gpt": lambda: (Gpt(), [torch.randint(256, (16, 128))], lambda y: y.logsumexp(-1).mean()),
    "gla": _of(lambda: Net(nn.Sequential(GlaBlock(), GlaBlock())), (8, 256, 128)),
    "vae": lambda: (Vae(), [torch.rand(1024, 784), torch.randn(1024, 16)], lambda y: y.mean()),
    "diffusion": lambda: (Diffusion(), [torch.randn(8192, 2), torch.rand(8192)], lambda y: y.square().mean()),
    "actor_critic": _of(ActorCritic, (4096, 17), (4096, 6), (4096,), (4096,), (4096,), loss=lambda y: y.mean()),
}
