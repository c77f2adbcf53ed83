# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The text that language models learn: the King James Bible, 4.1 MB of 1611, out of Debian's package bible-kjv; or a file."""

from __future__ import annotations

import pathlib
import re
import subprocess

import torch
from torch import Tensor

PACKAGE, PROGRAM, CHAPTERS, VERSES = "bible-kjv", "bible", 1189, 31102
HELD_OUT = 20  # one chapter of so many
PIECE = 4096   # bytes of a file, which has no chapters, in a piece


class TextError(Exception):
    """There is no text; the message says why and what to do."""


def bible() -> list[bytes]:
    """The chapters, a verse a line, without the numbers."""
    try:
        done = subprocess.run([PROGRAM, "-f", "-p", "/usr/lib", "gen1:1-rev22:21"], stdin=subprocess.DEVNULL, capture_output=True)
    except FileNotFoundError:
        raise TextError(f"the text comes from Debian's package {PACKAGE}, which is not installed. Run\n"
                        f"  apt-get install --no-install-recommends {PACKAGE}\n"
                        "or give a text of your own with --text FILE") from None
    if done.returncode:
        raise TextError(f"the program '{PROGRAM}' failed ({done.returncode}): {done.stderr.decode(errors='replace').strip()}")
    chapters: dict[bytes, list[bytes]] = {}
    for line in done.stdout.splitlines():
        verse = re.match(rb"(\w+:)\d+ +(.+)", line)
        if not verse:
            raise TextError(f"the program '{PROGRAM}' printed a line that is no verse: {line[:60]!r}")
        chapters.setdefault(verse[1], []).append(verse[2])
    verses = sum(map(len, chapters.values()))
    if (len(chapters), verses) != (CHAPTERS, VERSES):
        raise TextError(f"the program '{PROGRAM}' printed {len(chapters)} chapters and {verses} verses; there are {CHAPTERS} and "
                        f"{VERSES}. Install the package {PACKAGE} again, or give a text of your own with --text FILE")
    return [b"\n".join(chapter) + b"\n" for chapter in chapters.values()]


def file(path: pathlib.Path) -> list[bytes]:
    try:
        text = path.read_bytes()
    except OSError as error:
        raise TextError(f"--text {path}: {error.strerror}") from None
    return [text[i:i + PIECE] for i in range(0, len(text), PIECE)]


def read(path: pathlib.Path | None, least: int) -> tuple[Tensor, Tensor]:
    """Bytes to learn from and bytes held out, both at least `least`: every twentieth chapter is held out."""
    pieces = bible() if path is None else file(path)
    held = b"".join(pieces[HELD_OUT - 1::HELD_OUT])
    learnt = b"".join(piece for i, piece in enumerate(pieces) if i % HELD_OUT != HELD_OUT - 1)
    if min(len(learnt), len(held)) < least:
        raise TextError(f"the text has {len(learnt) + len(held)} bytes, {len(held)} of them held out for the test; --batch and --context "
                        f"need {least} there. Take a longer text or smaller numbers")
    return tuple(torch.frombuffer(bytearray(one), dtype=torch.uint8) for one in (learnt, held))
