# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random expressions of structured weights give what their matrices give, and exact gradients."""

import pytest

from structured import trees


@pytest.mark.parametrize("seed", range(24))
def test_tree(seed):
    assert not trees.failures(seed)


@pytest.mark.parametrize("seed", range(100, 108))
def test_tree_in_double_precision(seed):
    assert not trees.failures(seed, "f64")


@pytest.mark.parametrize("isa", ["avx2", "baseline"])
@pytest.mark.parametrize("seed", range(200, 206))
def test_tree_on_older_processors(seed, isa):
    assert not trees.failures(seed, isa=isa)


@pytest.mark.parametrize("seed", range(300, 306))
def test_tree_in_the_interpreter(seed):
    assert not trees.failures(seed, by="interpreter")


@pytest.mark.parametrize("seed", range(400, 412))
def test_tree_on_the_emulated_gpu(seed):
    assert not trees.failures(seed, by="emulator")
