# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""drawloom.jax.jit: parts of a function that work row by row are programs of Drawloom, XLA compiles the rest.

The function's jaxpr is cut before its derivative is taken. An equation is supported for `rows`, the first extents of a batch, if what it
computes of a row depends on no other (_recorder, _primitives). Rows begin at products with matrices: what such a product gives has rows, so has
what is computed of it, and so has what it is computed of. Connected equations are a region; one that is worth it becomes one call of a
program, whose derivatives are Drawloom's own. XLA gets the function with these calls in it.
"""

from __future__ import annotations

import functools
import heapq
import math
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax
from jax.extend.core import ClosedJaxpr

from .._errors import CallError, CallTypeError
from ..ops import Spec, formulas, tracing
from ..ops.regions import FEWEST, Part, Unsupported, in_words, worth
from ._call import call_anywhere
from ._primitives import is_product
from ._recorder import CHECKPOINTS, Equation, Flat, Recorder

__all__ = ["Explanation", "explain", "jit"]

_FEWEST = FEWEST


@dataclass
class Explanation:
    """What became of a function: its `parts`, each Drawloom's or XLA's."""

    parts: list[Part] = field(default_factory=list)

    def __str__(self) -> str:
        return in_words(self.parts)


@dataclass(eq=False)
class _Region:
    """Equations that become one program: those, its inputs, names with how many extents are rows, the names it gives, and its spec."""

    equations: list
    count: int
    inputs: list
    outputs: list
    spec: Spec
    products: list
    effects: frozenset = frozenset()

    def evaluate(self, values):
        flat = [one.reshape(self.count, *one.shape[lead:]) if lead > 1 else one for one, (_, lead) in zip(values, self.inputs)]
        results = call_anywhere(self.spec, *flat)
        return [(one if one.shape == name.aval.shape else one.reshape(name.aval.shape)) != 0 if name.aval.dtype == bool
                else one.reshape(name.aval.shape) for one, name in zip(results, self.outputs)]

    @property
    def reads(self):
        return [name for name, _ in self.inputs]


class _Checkpoint:
    """A call of jax.checkpoint, in which there are regions, too."""

    def __init__(self, equation):
        self.inputs, self.outputs, self.effects, self.params = equation.inputs, equation.outputs, equation.effects, equation.params
        self.graph = _Graph(Flat(ClosedJaxpr(equation.params["jaxpr"], ()), outside=1))
        self.parts = self.graph.cut()

    def evaluate(self, values):
        return jax.checkpoint(lambda *arrays: self.graph.run(arrays), prevent_cse=self.params["prevent_cse"], policy=self.params["policy"])(*values)


class _Graph:
    """A flat jaxpr, and the regions that are taken out of it so far."""

    def __init__(self, flat: Flat) -> None:
        self.flat = flat
        self.units: list[Any] = list(flat.equations)
        # By equation, why it stays with XLA.
        self.why: dict[Any, str] = {}
        self._remove_unread()
        # What depends on a product with a matrix is no matrix that all rows share.
        self.computed: set[Any] = set()
        for one in flat.equations:
            if one.primitive.name == "dot_general" or self.computed & set(one.inputs):
                self.computed |= set(one.outputs)

    def _remove_unread(self):
        needed = set(self.flat.outputs)
        for one in reversed(self.units):
            if one.effects or needed & set(one.outputs):
                needed |= set(one.inputs)
        self.units = [one for one in self.units if one.effects or needed & set(one.outputs)]

    def counts(self) -> list[int]:
        """How many rows there are of products with matrices, those with most to compute first."""
        work: dict[int, int] = {}
        for one in self.flat.equations:
            if one.primitive.name == "dot_general":
                (contracted, _), (batch, _) = one.params["dimension_numbers"]
                shape = one.inputs[0].aval.shape
                count = math.prod(shape[:len(shape) - len(contracted)])
                if not batch and all(isinstance(extent, int) for extent in shape) and count and is_product(one, count):
                    work[count] = work.get(count, 0) + one.outputs[0].aval.size * math.prod(shape[d] for d in contracted)
        return sorted(work, key=lambda count: -work[count])

    def supported(self, count: int) -> set[Any]:
        """The equations that can be part of a program of so many rows; notes why others cannot."""
        recorder = Recorder(tracing.Program(), count, self.flat.known, open=True)
        found: set[Any] = set()
        failed: set[Any] = set()

        def write(one):
            try:
                if one.primitive.name == "dot_general" and one.inputs[1] in self.computed:
                    raise Unsupported("both sides of a product are computed")
                recorder.write(one)
                if not any(recorder.items[name].rows for name in one.outputs):
                    raise Unsupported("it has no rows")
                found.add(one)
            except Unsupported as error:
                failed.add(one)
                self.why[one] = error.reason
            except (CallError, CallTypeError) as error:
                failed.add(one)
                self.why[one] = error.message

        equations = [one for one in self.units if not isinstance(one, _Region) and not one.effects
                     and not all(name in self.flat.known for name in one.outputs)]
        before = -1
        while before != len(found) + len(failed):
            before = len(found) + len(failed)
            for one in equations:
                if one not in found and one not in failed and (is_product(one, count) or any(
                        name in recorder.items and recorder.items[name].rows for name in one.inputs)):
                    write(one)
            wanted = {name for name, lead in recorder.inputs if lead >= 0}
            for one in reversed(equations):
                if one not in found and one not in failed and wanted & set(one.outputs):
                    write(one)
                    wanted = {name for name, lead in recorder.inputs if lead >= 0}
        return found

    def order(self, units: list[Any]) -> tuple[list[Any], dict[Any, list[Any]]]:
        """Units in an order in which each has what it reads."""
        makes = {name: i for i, one in enumerate(units) for name in one.outputs}
        needs = [{makes[name] for name in (one.reads if isinstance(one, _Region) else one.inputs) if name in makes} - {i} for i, one in enumerate(units)]
        effects = [i for i, one in enumerate(units) if one.effects]
        for before, one in zip(effects, effects[1:]):
            needs[one].add(before)
        users: dict[int, list[int]] = {}
        for i, those in enumerate(needs):
            for one in those:
                users.setdefault(one, []).append(i)
        left = [len(those) for those in needs]
        ready, done = [i for i, number in enumerate(left) if not number], []
        heapq.heapify(ready)
        while ready:
            i = heapq.heappop(ready)
            done.append(i)
            for one in users.get(i, ()):
                left[one] -= 1
                if not left[one]:
                    heapq.heappush(ready, one)
        assert len(done) == len(units), "regions need one another"
        return [units[i] for i in done], {units[i]: [units[j] for j in needs[i]] for i in done}

    def regions(self, supported: set[Any]) -> list[list[Any]]:
        """Connected equations of which none needs the others by way of what is not supported."""
        units, needs = self.order(self.units)
        level: dict[Any, int] = {}
        group: dict[Any, list] = {}
        for one in units:
            level[one] = max([level[other] + (other in supported and one not in supported) for other in needs[one]], default=0)
            if one not in supported:
                continue
            group[one] = [one]
            for other in needs[one]:
                if other in supported and level[other] == level[one] and group[other] is not group[one]:
                    joined = group[other] + group[one]
                    for member in joined:
                        group[member] = joined
        place = {one: i for i, one in enumerate(units)}
        return [sorted(members, key=place.__getitem__) for members in {id(members): members for members in group.values()}.values()]

    def region(self, members, count):
        """The region that these equations are."""
        inside = set(members)
        read = set(self.flat.outputs)
        for one in self.units:
            if one not in inside:
                read |= set(one.reads if isinstance(one, _Region) else one.inputs)
        recorder = Recorder(tracing.Program(), count, self.flat.known, open=True)
        # Programs have their inputs in the order in which equations read them; an array of floats with rows is first.
        scout = Recorder(tracing.Program(), count, self.flat.known, open=True)
        for one in members:
            scout.write(one)
        inputs = sorted(scout.inputs, key=lambda one: (one[1] < 0, one[0].aval.dtype == bool))
        if not inputs or inputs[0][1] < 0 or inputs[0][0].aval.dtype == bool:
            raise Unsupported("no input of floats has the rows")
        for name, lead in inputs:
            recorder.take(name, lead)
        outputs = []
        for one in members:
            recorder.write(one)
            outputs += [name for name in one.outputs if name in read]
        if not outputs:
            raise Unsupported("nothing of it is read")
        for name in outputs:
            item = recorder.items[name]
            if not item.rows:
                raise Unsupported("it gives an array that all rows share")
            recorder.program.result(formulas.number_in(item.value, "float32") if item.dtype == "bool" else item.value.to(item.dtype))
        return _Region(members, count, inputs, outputs, Spec("rows", recorder.program.attributes()), recorder.program.products)

    def cut(self) -> list[Part]:
        """Takes the regions out that are worth it; the parts in words."""
        found: list[Any] = []
        left: list[Any] = []
        for count in self.counts():
            for members in self.regions(self.supported(count)):
                try:
                    region = self.region(members, count)
                    taken, why = worth(region.products, count, _FEWEST)
                except Unsupported as error:
                    taken, why = False, error.reason
                inside = set(members)
                if taken:
                    self.units = [region, *(one for one in self.units if one not in inside)]
                    found.append((inside, Part([_named(one) for one in members], "drawloom", why, str(count))))
                elif any(is_product(one, count) for one in members):
                    left.append((members, why, str(count)))
        for members, why, rows in left:
            # What XLA had for one number of rows may be Drawloom's for another, or told already.
            members = [one for one in members if not any(one in inside for inside, _ in found)]
            if members:
                found.append((set(members), Part([_named(one) for one in members], "xla", why, rows)))
        told = {one for inside, _ in found for one in inside}
        parts = [part for _, part in found]
        reasons: dict[str, list[str]] = {}
        for i, one in enumerate(self.units):
            if isinstance(one, Equation) and one.primitive.name in CHECKPOINTS:
                self.units[i] = inner = _Checkpoint(one)
                parts += inner.parts
                continue
            if not isinstance(one, _Region) and one not in told and not all(name in self.flat.known for name in one.outputs):
                reasons.setdefault(self.why.get(one, "no product of rows is near it"), []).append(_named(one))
        return parts + [Part(names, "xla", why) for why, names in reasons.items()]

    def run(self, arrays: list[Any]) -> list[Any]:
        units, _ = self.order(self.units)
        values: dict[Any, Any] = {**self.flat.consts, **dict(zip(self.flat.inputs, arrays))}
        for one in units:
            given = [values[name] for name in (one.reads if isinstance(one, _Region) else one.inputs)]
            values.update(zip(one.outputs, one.evaluate(given)))
        return [values[name] for name in self.flat.outputs]


def _named(equation):
    place = equation.place
    return f"{equation.name}{f' ({place})' if place else ''}"


_looking = threading.local()


def _planned(function):
    """The function, whose regions are calls of programs, where it is traced."""
    @functools.wraps(function)
    def planned(*arguments: Any, **options: Any) -> Any:
        leaves, tree = jax.tree_util.tree_flatten((arguments, options))
        moving = [i for i, one in enumerate(leaves) if isinstance(one, jax.core.Tracer)]
        made: Any = None

        def flat(*arrays):
            nonlocal made
            given = list(leaves)
            for i, one in zip(moving, arrays):
                given[i] = one
            those, named = jax.tree_util.tree_unflatten(tree, given)
            results, made = jax.tree_util.tree_flatten(function(*those, **named))
            return results

        arrays = [leaves[i] for i in moving]
        graph = _Graph(Flat(jax.make_jaxpr(flat)(*arrays), outside=1))
        parts = graph.cut()
        found = getattr(_looking, "found", None)
        if found is not None:
            found.parts += parts
        return jax.tree_util.tree_unflatten(made, graph.run(arrays))

    return planned


# By what jit has made: the function, and the options of jax.jit.
_ORIGINAL = "_drawloom_original"


def jit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """jax.jit, where parts of the function that work row by row between products of matrices are programs of Drawloom, with derivatives of their
    own. XLA compiles the rest. `options` are those of jax.jit, static_argnames say. Takes part in grad and jvp to any order, vmap, and
    jax.jit of what is around it. `explain` says what becomes of a function."""
    if function is None:
        return functools.partial(jit, **options)
    if not callable(function):
        raise CallTypeError(f"jit compiles functions, not a {type(function).__name__}")
    planned = _planned(function)
    setattr(planned, _ORIGINAL, (function, options))
    return jax.jit(planned, **options)


def explain(function: Callable[..., Any], *arguments: Any, **named: Any) -> Explanation:
    """What drawloom.jax.jit makes of a call of a function with these arguments: which equations are programs of Drawloom, which XLA's, and why.
    The function, which may have been through drawloom.jax.jit, is traced, and not run."""
    original = getattr(getattr(function, "__wrapped__", None), _ORIGINAL, None)
    function, options = original or (function, {})
    options = {name: one for name, one in options.items() if name.startswith("static_")}
    before, found = getattr(_looking, "found", None), Explanation()
    _looking.found = found
    try:
        jax.jit(_planned(function), **options).eval_shape(*arguments, **named)
    finally:
        _looking.found = before
    return found
