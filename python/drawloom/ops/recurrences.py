# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Linear recurrences with a matrix as state. See drawloom.torch.linrec.linear_recurrence for the mathematics."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import TypeVar

from .. import _library
from .._errors import CallError, CallTypeError
from . import Array, between, open_extent, register

# The operands behind q, k and v, in the order of linrec.scan.
OPTIONAL = ("decay", "rates", "beta", "erase", "lowrank", "bonus", "initial", "starts")


def _named(attributes, arguments):
    """Arguments by name."""
    return dict(zip(("q", "k", "v", *attributes["operands"].split()), arguments))


def _state_type(dtype):
    return "float64" if dtype == "float64" else "float32"


def _sequences(given):
    if "starts" not in given:
        return given["v"].shape[0]
    return between(given["starts"].shape[0])


def refuse(error, text, function="linear_recurrence"):
    """The error, whose text has operands `so`: `says` gives them the names that they have where the caller knows them."""
    made = error(f"{function}: {text.replace('`', '')}")
    made.of_operands = text
    return made


_Model = TypeVar("_Model", bound=Callable)


def says(**names: str) -> Callable[[_Model], _Model]:
    """A decorator of functions that call the op, or each other: in errors, operands have the names of the function's parameters, and the
    function that was called is the one that is named."""
    names = {"decay": "g", "initial": "initial_state", "starts": "cu_seqlens", **names}

    def decorate(function):
        @functools.wraps(function)
        def named(*arguments, **options):
            try:
                return function(*arguments, **options)
            except CallError as error:
                if error.of_operands is None:
                    raise
                text = re.sub(r"`(\w+)`", lambda found: f"`{names.get(found[1], found[1])}`", error.of_operands)
                raise refuse(type(error), text, function.__name__) from None

        return named

    return decorate


def _expect(name, array, *shapes):
    if tuple(array.shape) not in [tuple(shape) for shape in shapes]:
        wanted = " or ".join(str(list(shape)) for shape in shapes)
        raise refuse(CallError, f"`{name}` has the shape {list(array.shape)}; it is {wanted}")


def _check(attributes, arguments):
    given = _named(attributes, arguments)
    q, k, v = given["q"], given["k"], given["v"]
    for name in "qkv":
        if len(given[name].shape) != 4:
            raise refuse(CallError, f"`{name}` has the shape {list(given[name].shape)}; it is [batch, tokens, heads, size]")
        if min(given[name].shape[2:]) < 1:
            raise refuse(CallError, f"`{name}` has the shape {list(given[name].shape)}; it has at least one head and one channel")
        if given[name].dtype != q.dtype:
            raise refuse(CallTypeError, f"`{name}` is {given[name].dtype}, but `q` is {q.dtype}")
    batch, rows, heads, values = v.shape
    keys, steps = q.shape[3], attributes["steps_per_token"]
    if steps is not None and steps < 1:
        raise refuse(CallError, f"steps_per_token is {steps}; it is at least 1, the rows of `k` and `v` for each of `q`")
    steps = steps or 1
    tokens = q.shape[1]
    for name in "qk":
        shape = given[name].shape
        wanted = (batch, rows) if name == "k" or steps == 1 else (batch, rows // steps)
        if tuple(shape[:2]) != wanted or rows % steps:
            ask = "batch and tokens are the same" if name == "k" or steps == 1 else f"`v` has {steps} steps for each token of `q`"
            raise refuse(CallError, f"`{name}` has the shape {list(shape)}, but `v` {list(v.shape)}: {ask}")
        if heads % shape[2]:
            raise refuse(CallError, f"`{name}` has {shape[2]} heads, which do not divide the {heads} of `v`")
    if k.shape[3] != keys:
        raise refuse(CallError, f"`q` has {keys} channels and `k` {k.shape[3]}; they have the same")
    per_token, per_key, per_value = (batch, tokens, heads), (batch, tokens, heads, keys), (batch, tokens, heads, values)
    per_step, per_step_key = (batch, rows, heads), (batch, rows, heads, keys)
    along = attributes["decay_side"]
    if along not in ("key", "value"):
        raise refuse(CallError, f"decay_side is '{along}'; it is 'key' or 'value'")
    for name, shapes in {"decay": ((heads,), per_token, per_key) if along == "key" else (per_value,),
                         "rates": ((heads, keys, values),), "beta": (per_step,),
                         "erase": (per_step_key,), "lowrank": (per_step_key,), "bonus": ((heads, keys),),
                         "initial": ((_sequences(given), heads, keys, values),)}.items():
        if name in given:
            _expect(name, given[name], *shapes)
            wide = given[name].dtype == "float64"
            if wide != (q.dtype == "float64") or "float" not in given[name].dtype:
                raise refuse(CallTypeError, f"`{name}` is {given[name].dtype}, but `q` is {q.dtype}: either all are float64 or none is")
    if "initial" in given and given["initial"].dtype != _state_type(q.dtype):
        raise refuse(CallTypeError, f"`initial` is {given['initial'].dtype}; for `q` of {q.dtype} it is {_state_type(q.dtype)}")
    if "starts" in given:
        starts = given["starts"]
        if len(starts.shape) != 1 or starts.shape[0] < 1 or starts.dtype not in ("int32", "int64"):
            raise refuse(CallError, f"`starts` is {starts.dtype} {list(starts.shape)}; it is int32 or int64, [sequences + 1]")
        if batch != 1:
            raise refuse(CallError, f"with `starts`, all sequences are packed into one batch entry, but there are {batch}")
    if "lowrank" in given and "erase" not in given:
        raise refuse(CallError, "`lowrank` writes back what `erase` reads, but there is no `erase`")
    if "erase" in given and "beta" in given:
        raise refuse(CallError, "beta stands for an erase of beta k; there is one of them, not both")
    if "bonus" in given and ("erase" in given or "beta" in given):
        raise refuse(CallError, "a bonus goes with neither beta nor erase")
    if steps > 1 and "bonus" in given:
        raise refuse(CallError, "a bonus does not go with steps_per_token: its tokens are read before they are written")
    if steps > 1 and "decay" in given and len(given["decay"].shape) == 1:
        raise refuse(CallError, "a decay of heads does not go with steps_per_token: the first step of a token decays, so it is given for "
                     "each token")
    if along == "value" and set(given) & {"beta", "erase", "bonus"}:
        raise refuse(CallError, "decays along values go with neither beta, erase nor bonus")
    if "rates" in given and along != "value":
        raise refuse(CallError, "rates say how elements of the state decay while the time of a value passes: decay is that time, with "
                     "decay_side='value'")
    if attributes["erase_before_decay"] and not set(given) & {"beta", "erase"}:
        raise refuse(CallError, "erase_before_decay says when beta or erase reads, but there is neither")
    bound, chunk = attributes["decay_bound"], attributes["chunk"]
    if bound is not None and not bound <= 0:
        raise refuse(CallError, f"decay_bound is {bound}; log-decays are 0 at most")
    if chunk is not None and chunk != 1 and (chunk < 16 or chunk % 16):
        raise refuse(CallError, f"chunk is {chunk}; it is 1 or a multiple of 16")
    segments = attributes["segments"]
    if segments is not None and segments < 1:
        raise refuse(CallError, f"segments is {segments}; it is at least 1")
    if segments is not None and "starts" in given:
        raise refuse(CallError, "segments do not go with `starts`: packed sequences are computed side by side already")
    blocks = attributes["value_blocks"]
    if blocks is not None and (blocks < 1 or v.shape[3] % blocks):
        raise refuse(CallError, f"value_blocks is {blocks}; it divides the size of values, {v.shape[3]}")
    interval = attributes["checkpoint_interval"]
    if interval is not None and interval < 1:
        raise refuse(CallError, f"checkpoint_interval is {interval}; it is at least 1, the number of chunks between the states that a "
                     "gradient keeps")


def check_starts(values, tokens, function="linear_recurrence", name="starts"):
    """Raises CallError where these starts of packed sequences, the argument `name` of a function, are not those of this number of
    tokens: compiled code relies on it."""
    if values[0] != 0 or values[-1] != tokens:
        raise refuse(CallError, f"`{name}` go from {values[0]} to {values[-1]}; they go from 0 to the number of tokens, {tokens}", function)
    for i in range(1, len(values)):
        if values[i] < values[i - 1]:
            raise refuse(CallError, f"`{name}` decrease: entry {i} is {values[i]} after {values[i - 1]}", function)


def _results(attributes, arguments):
    given = _named(attributes, arguments)
    q, v = given["q"], given["v"]
    state = (_sequences(given), v.shape[2], q.shape[3], v.shape[3])
    return [Array(v.dtype, (v.shape[0], q.shape[1], *v.shape[2:])), Array(_state_type(v.dtype), state)]


def _axes(attributes, arguments):
    """Sequences of a batch and heads are on their own. Queries or keys that all heads share are whole in every part; those that some
    share are not split, nor are packed sequences."""
    given = _named(attributes, arguments)
    batch = None if "starts" in given else "batch"
    shared = [given[name].shape[2] for name in "qk"]
    heads = "heads" if set(shared) <= {1, given["v"].shape[2]} else None

    def names(name, array):
        if name == "starts":
            return (None,)
        if name == "initial":
            return batch, heads, None, None
        if name == "bonus":
            return heads, None
        if name == "rates":
            return heads, None, None
        if len(array.shape) == 1:
            return (heads,)
        own = heads if array.shape[2] == given["v"].shape[2] else None
        return (batch, None, own, None)[:len(array.shape)]

    return [names(name, array) for name, array in given.items()], [(batch, None, heads, None), (batch, heads, None, None)]


def _body(attributes, arguments, results, names):
    by_name = _named(attributes, names)
    clauses = "".join(f" {name}({by_name[name]})" for name in OPTIONAL if name in by_name)
    inside = []
    if attributes["scale"] is not None:
        inside.append(f"scale = {float(attributes['scale'])!r} : f64")
    if attributes["decay_side"] == "value":
        inside.append("decay_along_values")
    if attributes["erase_before_decay"]:
        inside.append("erase_before_decay")
    if attributes["decay_bound"] is not None:
        inside.append(f"decay_bound = {float(attributes['decay_bound'])!r} : f64")
    if attributes["chunk"] is not None:
        inside.append(f"chunk = {attributes['chunk']} : i64")
    if attributes["segments"] is not None:
        inside.append(f"segments = {attributes['segments']} : i64")
    if attributes["value_blocks"] is not None:
        inside.append(f"value_blocks = {attributes['value_blocks']} : i64")
    if attributes["steps_per_token"] is not None:
        inside.append(f"steps_per_token = {attributes['steps_per_token']} : i64")
    if attributes["checkpoint_interval"] is not None:
        inside.append(f"checkpoint_interval = {attributes['checkpoint_interval']} : i64")
    braces = f" {{{', '.join(inside)}}}" if inside else ""
    given, gives = (", ".join(one.text for one in types) for types in (arguments, results))
    return [f"  %o, %final = linrec.scan {', '.join(names[:3])}{clauses}{braces}\n    : ({given}) -> ({gives})"], ["%o", "%final"]


def _opened(attributes, arguments):
    """Any numbers of sequences and tokens; but where there are fewer heads than processors that schedules are chosen for, these go by
    the numbers."""
    given = _named(attributes, arguments)
    sequences, heads = _sequences(given), given["v"].shape[2]
    cut = any((attributes[name] or 1) > 1 for name in ("segments", "value_blocks", "steps_per_token"))
    if cut or 0 < sequences * heads < _library.scheduled_processors():
        return None
    batch = 1 if "starts" in given else open_extent(0)
    per_token = {"q", "k", "v", "beta", "erase", "lowrank"} | ({"decay"} if "decay" in given and len(given["decay"].shape) > 1 else set())

    def opened(name, array):
        shape = array.shape
        if name in per_token:
            shape = (batch, open_extent(1), *shape[2:])
        elif name == "initial":
            shape = (open_extent(0), *shape[1:])
        elif name == "starts":
            shape = (open_extent(0, more=1),)
        return Array(array.dtype, shape)

    return [opened(name, array) for name, array in given.items()]


register("linear_recurrence", _check, _results, _body, _opened, rowwise=False, axes=_axes, once=True)
