# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether numbers are right: their errors, and where the worst one is."""

import numpy as np


def as_float64(array):
    """Numbers of an array; words of 16 bits are bf16."""
    if array.dtype in (np.dtype(np.uint16), np.dtype("V2")):
        return (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return array.astype(np.float64)


def largest(array):
    return np.max(np.abs(array))


def rms(array):
    """The root of the mean square."""
    return np.sqrt(np.mean(array**2))


def plain(number):
    """A number that JSON has, or the word for it."""
    return float(number) if np.isfinite(number) else str(number)


def error_of(results, expected, size):
    """The size of the error of the worst result, as a share of the expected numbers' own; infinite where something is not
    finite."""
    def one(result, expected):
        if result.shape != expected.shape:
            return float("inf")
        if not expected.size:
            return 0.0
        error = size(result - expected)
        return float(error / max(size(expected), 1e-30)) if np.isfinite(error) else float("inf")
    return max(one(*pair) for pair in zip(results, expected, strict=True))


def worst(results, expected):
    """The element that is furthest off, as a share of its result's largest: which, what it is and should be; what is not finite
    goes first."""
    found = None
    for number, (result, right) in enumerate(zip(results, expected, strict=True)):
        if not right.size or result.shape != right.shape:
            continue
        with np.errstate(invalid="ignore"):
            off = np.abs(result - right) / max(largest(right), 1e-30)
        off[~np.isfinite(off)] = np.inf
        at = np.unravel_index(np.argmax(off), off.shape)
        if found is None or off[at] > found["error"]:
            found = {"result": number, "index": [int(i) for i in at], "is": plain(result[at]), "should_be": plain(right[at]),
                     "error": off[at], "share_as_wrong": float(np.mean(off >= 0.5 * off[at]))}
    return found and {**found, "error": plain(found["error"])}


class Verdict:
    """Collects what was checked. Wrong, if anything was."""

    def __init__(self):
        self.wrong, self.said, self.data = False, [], {}

    def note(self, right, text):
        self.wrong |= not right
        self.said.append(text if right else f"WRONG: {text}")

    def compare(self, results, expected, size, tolerance, what):
        error = error_of(results, expected, size)
        self.note(error <= tolerance, f"{size.__name__} error {error:.1e} from {what}, tolerance {tolerance:.0e}")
        self.data.setdefault("errors", {})[what] = plain(error)
        if not error <= tolerance:
            self.data["worst"] = worst(results, expected)

    def result(self):
        # What is wrong comes first.
        said = sorted(self.said, key=lambda text: not text.startswith("WRONG"))
        return "wrong" if self.wrong else "ok", "; ".join(said), self.data
