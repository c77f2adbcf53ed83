# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""drawloom.jax on four devices of the host. The cases are those of on_four_devices.py."""

import pathlib
import pickle
import subprocess
import sys

import pytest

EVERYWHERE = "()"


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    file = tmp_path_factory.mktemp("jax") / "found"
    script = pathlib.Path(__file__).with_name("on_four_devices.py")
    done = subprocess.run([sys.executable, script, file], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return pickle.loads(file.read_bytes())


def case(found, name):
    result = found[name]
    assert "failed" not in result, result.get("failed")
    assert result.get("error", 0) < 1e-12
    return result


def test_rows_stay_where_they_are_and_gradients_of_parameters_are_summed(found):
    result = case(found, "rows_under_jit")
    assert result["gathers"] == 0 and result["sums"] >= 1
    assert result["specs"] == [EVERYWHERE, "('d',)", *[EVERYWHERE] * 4]


def test_two_dimensions_of_rows_are_split_along_two_axes(found):
    result = case(found, "two_dimensions_of_rows_under_jit")
    assert result["gathers"] == 0 and result["specs"][1] == "('a', 'b')"


def test_second_derivatives_are_split_along_rows(found):
    assert case(found, "second_derivatives_under_jit")["gathers"] == 0


def test_rows_that_do_not_divide_are_not_summed_with_padding(found):
    case(found, "rows_that_do_not_divide")


def test_channels_and_parameters_that_are_split_are_gathered(found):
    assert case(found, "split_channels_are_gathered")["gathers"] > 0


def test_gradients_of_coefficients_are_summed(found):
    assert case(found, "tables_under_jit")["gathers"] == 0


def test_several_results_of_rows_stay_where_they_are(found):
    result = case(found, "several_results_under_jit")
    assert result["gathers"] == 0 and result["specs"] == [EVERYWHERE, "('d',)", *[EVERYWHERE] * 4]


@pytest.mark.parametrize("name", ["shard_map", "shard_map_without_checks", "gradients_within_shard_map",
                                  "shard_map_over_one_axis_of_two"])
def test_shard_map_gives_the_values_of_one_device(found, name):
    case(found, name)


def test_axes_of_explicit_meshes_are_in_the_results_types(found):
    result = case(found, "explicit_axes")
    assert "4@d,4,3" in result["type"] and result["specs"][1:3] == ["('d', None, None)", "(None, None)"]
    assert result["gathers"] == 0


def test_derivatives_along_directions_are_split_along_explicit_axes(found):
    assert case(found, "explicit_axes_with_directions")["gathers"] == 0


def test_each_shard_has_the_bits_of_a_call_on_its_rows(found):
    assert case(found, "the_bits_of_each_shard_are_those_of_one_device")["same"]


def test_recurrences_are_split_over_the_batch(found):
    result = case(found, "recurrence_over_batch")
    assert result["gathers"] == 0 and result["sums"] >= 1
    assert result["specs"] == {"loss": EVERYWHERE, "decay": EVERYWHERE, "bonus": EVERYWHERE,
                               **dict.fromkeys(("q", "k", "v", "initial"), "('d',)")}


@pytest.mark.parametrize("name", ["recurrence_over_heads", "recurrence_over_batch_and_heads", "recurrence_over_heads_that_share_queries",
                                  "recurrence_of_packed_sequences_over_heads", "short_convolution_over_batch_and_channels",
                                  "a_model_over_batch"])
def test_recurrences_stay_where_they_are(found, name):
    assert case(found, name)["gathers"] == 0


@pytest.mark.parametrize("name", ["recurrence_over_batch_where_heads_share_queries_in_groups",
                                  "recurrence_of_a_batch_that_does_not_divide", "recurrence_within_shard_map"])
def test_recurrences_give_the_values_of_one_device(found, name):
    case(found, name)


def test_recurrences_along_explicit_axes(found):
    result = case(found, "recurrence_along_explicit_axes")
    assert result["types"] == ["float64[4@d,9,4,6]", "float64[4@d,4,8,6]"] and result["gathers"] == 0
