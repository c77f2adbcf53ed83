#!/usr/bin/env python3
# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fills the starting corpus of scripts/fuzz.sh: fuzz_corpus.py FOLDER."""

import hashlib
import io
import json
import pathlib
import sys

import numpy


def write(folder, contents):
    (folder / hashlib.sha256(contents).hexdigest()[:16]).write_bytes(contents)


def without_line(folder, file):
    """Writes what follows the first line of a program or a bundle, behind the length of its description; gives it."""
    line, _, payload = file.partition(b"\n")
    write(folder / "program", int(line.split()[2]).to_bytes(2, "little") + payload)
    return payload


def main():
    folder = pathlib.Path(sys.argv[1])
    for path in sorted(pathlib.Path("test").rglob("*.mlir")):
        # Each part of a -split-input-file test is an input of its own.
        for part in path.read_text().split("// -----"):
            lines = [line for line in part.splitlines() if not line.strip().startswith("//")]
            text = "\n".join(lines).strip() + "\n"
            if 1 < len(text) <= 8192:
                write(folder / "parser", text.encode())
    arrays = [numpy.arange(6, dtype="<f4").reshape(2, 3), numpy.asfortranarray(numpy.eye(3)),
              numpy.zeros((0, 4), ">f8"), numpy.array(7, "i8"), numpy.array([True, False]),
              numpy.zeros(3, "V2"), numpy.zeros((2, 1, 2), "<f2")]
    for array in arrays:
        for save in (numpy.save, numpy.savez, numpy.savez_compressed):
            stream = io.BytesIO()
            save(stream, array)
            write(folder / "npy", stream.getvalue())
    for name in ("program-v3", "program-v4", "program-v5", "program-v6"):
        payload = without_line(folder, pathlib.Path(f"test/unit/runtime/Inputs/{name}.drawloom").read_bytes())
        for part in payload.split(b"\x7fELF")[1:]:
            write(folder / "program", b"\x7fELF" + part)
        if b"drawloom-bundle" in payload:
            bundle = without_line(folder, payload[payload.index(b"drawloom-bundle"):])
            manifest, _ = json.JSONDecoder().raw_decode(bundle.decode("latin-1"))
            for architecture in manifest["architectures"]:
                write(folder / "program", json.dumps(architecture["plan"]).encode())



if __name__ == "__main__":
    main()
