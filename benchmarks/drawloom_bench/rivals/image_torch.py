# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The network of examples/image in plain PyTorch: the same initial values,
batches and optimizer, to compare the result and the speed with.

    drawloom-bench image-torch                  # eager
    drawloom-bench image-torch --compile        # under torch.compile

The last line has the form of drawloom-image's;
its steps_per_s leaves out the first five steps, in which torch compiles.
"""

import math
import time

import numpy as np
import torch

from drawloom_bench import ROOT

LEVELS, COARSEST, FINEST, FEATURES, ENTRIES = 12, 16, 512, 2, 1 << 15
OCTAVES = 12
WIDTH, GROUPS = 64, 8
# examples/image/Initial.cpp has these coefficients, and says why.
NUMERATOR = (0.0179166562, 0.5, 2.1936825, 2.9216014, 1.4243858, 0.22693666)
DENOMINATOR = (0.0, 5.8432029, 0.0, 0.45387331)

# The generator of examples/image/Random.h.
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def mix(z):
    """The finaliser of splitmix64 (Steele, Lea, Flood, OOPSLA 2014)."""
    with np.errstate(over="ignore"):
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def random_bits(seed, stream, first, count):
    """Values first .. first+count-1 of a stream: examples/image/Random.h."""
    with np.errstate(over="ignore"):
        key = mix(np.uint64(seed) + np.uint64(stream + 1) * GOLDEN)
        index = np.arange(first + 1, first + 1 + count, dtype=np.uint64)
        return mix(key + index * GOLDEN)


def uniform(seed, stream, count, bound):
    bits = random_bits(seed, stream, 0, count) >> np.uint64(11)
    return ((bits.astype(np.float64) * 2.0**-52 - 1.0) * bound).astype(np.float32)


class Batches:
    """Random permutations of the pixels, one after the other, cut into
    batches: examples/image/Samples.cpp."""

    def __init__(self, pixels, seed):
        self.pixels, self.seed, self.epoch = pixels, seed, -1

    def shuffle(self, epoch):
        n = self.pixels
        bounds = np.arange(n, dtype=np.uint64) + np.uint64(1)
        bits = random_bits(self.seed, 0, epoch * n, n) >> np.uint64(32)
        targets = (bits * bounds >> np.uint64(32)).tolist()
        order = list(range(n))
        for i in range(n - 1, 0, -1):
            j = targets[i]
            order[i], order[j] = order[j], order[i]
        self.order, self.epoch = np.array(order), epoch

    def __call__(self, step, size):
        parts, sample = [], step * size
        while sample < (step + 1) * size:
            epoch, first = divmod(sample, self.pixels)
            if epoch != self.epoch:
                self.shuffle(epoch)
            take = min(self.pixels - first, (step + 1) * size - sample)
            parts.append(self.order[first : first + take])
            sample += take
        return torch.from_numpy(np.concatenate(parts))


def grid_levels():
    """Scale, row length and hashing of each level: see kan.grid_encode."""
    growth = (FINEST / COARSEST) ** (1 / (LEVELS - 1))
    for level in range(LEVELS):
        scale = COARSEST * growth**level - 1
        if abs(scale - round(scale)) < 1e-6:
            scale = round(scale)
        row = math.ceil(scale) + 2
        yield float(np.float32(scale)), row, row * row > ENTRIES


def grid_encode(xy, tables):
    features = []
    for table, (scale, row, hashed) in zip(tables, grid_levels()):
        position = xy * scale + 0.5
        cell = torch.floor(position)
        fraction = position - cell
        cell = cell.to(torch.int64)
        value = 0
        for dy in (0, 1):
            for dx in (0, 1):
                cx, cy = cell[:, 0] + dx, cell[:, 1] + dy
                if hashed:
                    entry = (cx ^ (cy * 2654435761)) & (ENTRIES - 1)
                else:
                    entry = cx + cy * row
                wx = fraction[:, 0] if dx else 1 - fraction[:, 0]
                wy = fraction[:, 1] if dy else 1 - fraction[:, 1]
                value = value + (wx * wy)[:, None] * table[entry]
        features.append(value)
    return torch.cat(features, 1)


def frequency_encode(xy, tables):
    """sin and cos of 2^k pi x for each coordinate and k < 12, interleaved."""
    k = torch.pow(2.0, torch.arange(OCTAVES)) * math.pi
    t = xy[:, :, None] * k
    return torch.stack([torch.sin(t), torch.cos(t)], 3).reshape(len(xy), -1)


def rational(x, a, b):
    """P(x) / (1 + sum |b_j| |x|^j), coefficients a[8, 6] and b[8, 4]."""
    # Not abs(): its derivative at 0 is 0 in torch, 1 in kan.rational, and two
    # coefficients of the denominator start at 0.
    a = a.repeat_interleave(WIDTH // GROUPS, 0)
    b = torch.where(b >= 0, b, -b).repeat_interleave(WIDTH // GROUPS, 0)
    s = torch.where(x >= 0, x, -x)
    p = a[:, -1].expand_as(x)
    for i in reversed(range(a.shape[1] - 1)):
        p = p * x + a[:, i]
    q = b[:, -1] * s
    for j in reversed(range(b.shape[1] - 1)):
        q = (q + b[:, j]) * s
    return p / (q + 1)


ACTIVATIONS = {
    "rational": rational,
    "relu": lambda x, a, b: torch.relu(x),
    "silu": lambda x, a, b: torch.nn.functional.silu(x),
}
ENCODINGS = {"grid": grid_encode, "frequency": frequency_encode}


def initial_values(encoding, seed):
    """In the order of network.mlir's arguments: examples/image/Initial.cpp."""
    features = LEVELS * FEATURES if encoding == "grid" else 4 * OCTAVES
    tables = (LEVELS, ENTRIES, FEATURES) if encoding == "grid" else (1, 1, 2)

    def drawn(index, shape, bound):
        return uniform(seed, 1 + index, math.prod(shape), bound).reshape(shape)

    def hidden(index, inputs):
        return [
            drawn(index, (inputs, WIDTH), math.sqrt(3.0 * 2.0 / inputs)),
            np.zeros(WIDTH, np.float32),
            np.tile(np.float32(NUMERATOR), (GROUPS, 1)),
            np.tile(np.float32(DENOMINATOR), (GROUPS, 1)),
        ]

    values = [drawn(0, tables, 1e-4), *hidden(1, features), *hidden(5, WIDTH)]
    values.append(drawn(9, (WIDTH, 3), math.sqrt(3.0 * 1.0 / WIDTH)))
    values.append(np.zeros(3, np.float32))
    return [torch.from_numpy(v).requires_grad_() for v in values]


def train(picture, args):
    """Trains on picture[height, width, 3] (bytes). Returns the learnt picture
    (floats), the losses and the steps per second after the first five."""
    height, width, _ = picture.shape
    rgb = torch.from_numpy(picture.reshape(-1, 3).astype(np.float32) / np.float32(255))
    y, x = np.divmod(np.arange(width * height), width)
    centres = np.stack([(x + 0.5) / width, (y + 0.5) / height], 1)
    xy = torch.from_numpy(centres.astype(np.float32))

    parameters = initial_values(args.encoding, args.seed)
    encode, activation = ENCODINGS[args.encoding], ACTIVATIONS[args.activation]

    def predict(xy):
        t, w1, b1, p1, q1, w2, b2, p2, q2, w3, b3 = parameters
        h = activation(torch.addmm(b1, encode(xy, t), w1), p1, q1)
        h = activation(torch.addmm(b2, h, w2), p2, q2)
        return torch.addmm(b3, h, w3)

    def mean_squared_error(xy, rgb):
        return torch.mean((predict(xy) - rgb) ** 2)

    loss_of = torch.compile(mean_squared_error) if args.compile else mean_squared_error
    # The rates and constants of network.mlir.
    rates = [1e-2] + [5e-3] * (len(parameters) - 1)
    optimizer = torch.optim.AdamW(
        [{"params": [p], "lr": r} for p, r in zip(parameters, rates)],
        betas=(0.9, 0.99), eps=1e-12, weight_decay=0.0, fused=True)  # fmt: skip

    batches = Batches(width * height, args.seed)
    warm_up = min(5, args.steps - 1)
    losses, began, warm = [], time.perf_counter(), 0.0
    for step in range(args.steps):
        pixels = batches(step, args.batch)
        for group, rate in zip(optimizer.param_groups, rates):
            group["lr"] = rate * 0.5 * (1 + math.cos(math.pi * step / args.steps))
        loss = loss_of(xy[pixels], rgb[pixels])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if step + 1 == warm_up:
            warm = time.perf_counter() - began
        if (step + 1) % 100 == 0:
            print(f"step {step + 1}  loss {loss.item():.3e}", flush=True)
    speed = (args.steps - warm_up) / (time.perf_counter() - began - warm)
    with torch.no_grad():
        learnt = torch.cat([predict(part) for part in xy.split(1 << 14)]).clamp(0, 1)
    return learnt.reshape(height, width, 3).numpy(), losses, speed


def arguments(parser):
    parser.add_argument("--activation", choices=ACTIVATIONS, default="rational")
    parser.add_argument("--encoding", choices=ENCODINGS, default="grid")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--batch", type=int, default=1 << 14)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--image", default=ROOT / "examples/image/astronaut.png")
    parser.add_argument("--output", help="where to write the learnt picture (PNG)")
    parser.add_argument("--compile", action="store_true", help="use torch.compile")


def main(args):
    from PIL import Image

    torch.set_num_threads(args.threads)
    picture = np.asarray(Image.open(args.image).convert("RGB"))
    began = time.perf_counter()
    learnt, losses, speed = train(picture, args)
    seconds = time.perf_counter() - began
    if args.output:
        Image.fromarray(np.round(learnt * 255).astype(np.uint8)).save(args.output)
    error = np.mean((learnt.astype(np.float64) - picture / 255.0) ** 2)
    print(
        f"result: psnr_db={-10 * math.log10(error):.2f} steps={args.steps} "
        f"steps_per_s={speed:.2f} seconds={seconds:.2f}"
    )
