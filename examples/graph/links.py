# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""WordNet's synsets and the links between them."""

from __future__ import annotations

import collections
import dataclasses
import pathlib

import torch

# The pointers of its files (wninput(5)) that are read; the others are these the other way round.
RELATIONS = {"@": "hypernym", "@i": "instance of", "#m": "member of", "#p": "part of", "#s": "substance of", ";c": "topic", ";r": "region",
             ";u": "usage", "+": "derivation", "!": "antonym", "&": "similar to", "^": "also", "$": "verb group", "*": "entails",
             ">": "causes", "=": "attribute"}
SYMMETRIC = {"+", "!", "&", "^", "$", "="}
KINDS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}


@dataclasses.dataclass
class Data:
    """Links are [3, n]: the synset that one leads from, its relation, the synset that it leads to."""

    words: list[str]
    files: list[int]
    relations: list[str]
    train: torch.Tensor
    validation: torch.Tensor
    test: torch.Tensor

    @property
    def nodes(self) -> int:
        return len(self.words)


def parse(line: str, kind: str) -> tuple[tuple[str, str], tuple[str, int], list]:
    """Of a synset: its key, its first word and the number of its file, and its links (symbol, key)."""
    fields = line.split(" | ")[0].split()
    count = int(fields[3], 16)
    word, at = fields[4], 4 + 2 * count
    pointers = [(fields[at + 1 + 4 * i], (fields[at + 3 + 4 * i], fields[at + 2 + 4 * i])) for i in range(int(fields[at]))]
    return (kind, fields[0]), (word.replace("_", " "), int(fields[1])), pointers


def read(folder: pathlib.Path, seed: int = 0) -> Data:
    """Synsets with at least two links, and these split: 4 % each to validate and to test."""
    words, found = {}, set()
    for name, kind in KINDS.items():
        for line in (folder / f"data.{name}").read_text("utf-8").splitlines():
            if line.startswith("  "):
                continue
            key, words[key], pointers = parse(line, kind)
            for symbol, other in pointers:
                # Satellites of adjectives are adjectives.
                other = "a" if other[0] == "s" else other[0], other[1]
                if symbol in RELATIONS and other != key:
                    found.add((*sorted((key, other)), symbol) if symbol in SYMMETRIC else (key, other, symbol))
    while True:
        degree = collections.Counter(key for link in found for key in link[:2])
        few = {key for key, count in degree.items() if count < 2}
        if not few:
            break
        found = {link for link in found if link[0] not in few and link[1] not in few}
    keys = sorted(degree)
    number = {key: i for i, key in enumerate(keys)}
    symbols = sorted({link[2] for link in found}, key=list(RELATIONS).index)
    links = torch.tensor([(number[a], symbols.index(symbol), number[b]) for a, b, symbol in sorted(found)]).T
    order = torch.randperm(links.shape[1], generator=torch.Generator().manual_seed(seed))
    part = links.shape[1] // 25
    return Data([words[key][0] for key in keys], [words[key][1] for key in keys], [RELATIONS[symbol] for symbol in symbols],
                links[:, order[2 * part:]].contiguous(), links[:, order[:part]], links[:, order[part:2 * part]])
