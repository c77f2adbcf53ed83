# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Debian's package index: packages, what they say of each other, and the words that describe them."""

from __future__ import annotations

import collections
import dataclasses
import pathlib
import re
import subprocess
import zlib
from collections.abc import Iterator

import numpy as np

# The fields that name other packages (deb-control(5)).
RELATIONS = ("Depends", "Pre-Depends", "Recommends", "Suggests", "Enhances", "Breaks", "Conflicts", "Replaces")
FIELDS = {"Package", "Section", "Description", *RELATIONS}
WORDS = 256


@dataclasses.dataclass
class Data:
    """Edges go from the package that is named to the one that names it, and relations are numbered as above; then all the other way round,
    with the numbers that follow."""

    names: list[str]
    words: np.ndarray         # [packages, WORDS], float32
    sections: list[str]
    section: np.ndarray       # [packages], int64
    source: np.ndarray        # [edges], int64; so are the next two
    target: np.ndarray
    relation: np.ndarray
    train: np.ndarray         # numbers of packages
    validation: np.ndarray
    test: np.ndarray


def entries(text: str) -> Iterator[dict[str, str]]:
    """The fields above of each entry; lines that go on begin with a blank."""
    for entry in text.split("\n\n"):
        fields = dict(line.split(":", 1) for line in entry.split("\n") if line[:1].isalpha() and line.split(":", 1)[0] in FIELDS)
        if "Package" in fields and "Section" in fields:
            yield {name: value.strip() for name, value in fields.items()}


def named(field: str) -> set[str]:
    """The packages that "a (>= 1) | b, c:any" names."""
    return {re.split(r"[\s:(\[]", one.strip(), maxsplit=1)[0] for one in re.split(r"[,|]", field)} - {""}


def row(description: str) -> np.ndarray:
    """Words, each counted at a place and with a sign that its checksum says (feature hashing, arXiv 0902.2206); of length one."""
    counts = np.zeros(WORDS, np.float32)
    for word in re.findall(r"[a-z0-9+]+", description.lower()):
        number = zlib.crc32(word.encode())
        counts[number % WORDS] += 1 if number >> 31 else -1
    return counts / max(float(np.linalg.norm(counts)), 1e-9)


def text_of(index: pathlib.Path | None) -> str:
    """A file like Packages, or what APT knows."""
    if index is not None:
        return index.read_text("utf-8")
    return subprocess.run(["apt-cache", "dumpavail"], check=True, capture_output=True, text=True, encoding="utf-8").stdout


def read(index: pathlib.Path | None, seed: int = 0) -> Data:
    """Packages by name; a tenth each is kept to validate and to test."""
    found = {entry["Package"]: entry for entry in entries(text_of(index))}
    names = sorted(found)
    if len(names) < 20:
        raise ValueError(f"there are {len(names)} packages")
    number = {name: i for i, name in enumerate(names)}
    kinds = [found[name]["Section"].rpartition("/")[2] for name in names]
    sections = [kind for kind, _ in collections.Counter(kinds).most_common()]
    edges = sorted({(number[other], number[name], r) for name in names for r, field in enumerate(RELATIONS)
                    for other in named(found[name].get(field, "")) if other in number and other != name})
    source, target, relation = np.array(edges, np.int64).reshape(-1, 3).T
    order = np.random.default_rng(seed).permutation(len(names))
    part = len(names) // 10
    return Data(names, np.stack([row(found[name].get("Description", "")) for name in names]), sections,
                np.array([sections.index(kind) for kind in kinds]), np.concatenate([source, target]), np.concatenate([target, source]),
                np.concatenate([relation, relation + len(RELATIONS)]), order[2 * part:], order[:part], order[part:2 * part])


def without_edges(data: Data) -> Data:
    """The same packages, of which nothing is known but words."""
    none = np.zeros(0, np.int64)
    return dataclasses.replace(data, source=none, target=none, relation=none)
