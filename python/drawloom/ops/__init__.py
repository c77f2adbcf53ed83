# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ops that frameworks see, as programs. What is here knows neither torch nor JAX, and both are built on it.

A family of ops is a file of this folder that registers a Family: the types of its results and MLIR text of its forward
pass. All derivatives, of any order, follow from that text: a Spec names an op with its attributes and the derivatives that
are taken of it, and `function` compiles the spec for given types.
"""

import functools
import json
from dataclasses import dataclass, replace

from .. import _library
from .._errors import CallError, CallTypeError
from .._module import type_text


@dataclass(frozen=True)
class Array:
    """The type of an argument or result: the element type's name ("float32") and the shape."""

    dtype: str
    shape: tuple

    @property
    def text(self):
        return type_text(self.dtype, self.shape)


@dataclass(frozen=True)
class Family:
    """check(attributes, arguments): raises CallError where the types of the arguments do not fit, and says what would.
    results(attributes, arguments) -> [Array]: the types of the results; extents may be symbols.
    body(attributes, arguments, results, names) -> (lines, values): MLIR text of the forward pass on arguments called `names`."""

    name: str
    check: callable
    results: callable
    body: callable


families = {}


def register(name, check, results, body):
    families[name] = Family(name, check, results, body)


def check(spec, arguments):
    """Raises CallError where these types do not fit the spec's op (derivatives aside)."""
    if spec.family not in families:
        raise CallError(f"there is no op '{spec.family}'; there are {', '.join(families)}")
    x = arguments[0]
    if x.dtype not in ("float32", "bfloat16", "float16", "float64"):
        raise CallTypeError(f"{spec.family}: x is {x.dtype}; it is float32, float64, bfloat16 or float16")
    families[spec.family].check(dict(spec.attributes), arguments)


@dataclass(frozen=True)
class Derivative:
    """A vector-Jacobian product: gradients of the arguments `wrt`, given cotangents of the results `given`; those of all
    other results are zero. Its arguments are those of what it is the derivative of, then the cotangents."""

    wrt: tuple
    given: tuple


@dataclass(frozen=True)
class Spec:
    """An op with its attributes, pairs of a name and a value, and the derivatives taken of it, one of the other."""

    family: str
    attributes: tuple = ()
    derivatives: tuple = ()

    def vjp(self, wrt, given):
        return replace(self, derivatives=self.derivatives + (Derivative(tuple(wrt), tuple(given)),))

    def __str__(self):
        """Text that `parse` reads; the same for equal specs. Programs that a framework exports carry it."""
        return json.dumps([self.family, dict(self.attributes), [[one.wrt, one.given] for one in self.derivatives]])

    @staticmethod
    def parse(text):
        try:
            family, attributes, derivatives = json.loads(text)
            return Spec(family, tuple(attributes.items()),
                        tuple(Derivative(tuple(wrt), tuple(given)) for wrt, given in derivatives))
        except (ValueError, AttributeError, TypeError):
            raise CallError(f"'{text}' does not name a Drawloom op and its derivatives") from None

    def results(self, arguments):
        """The types of its results for arguments of these types."""
        return self._types(arguments)[-1][1]

    def _types(self, arguments):
        """(arguments, results) of the op and of each derivative; `arguments` are those of the last."""
        count = len(arguments) - sum(len(derivative.given) for derivative in self.derivatives)
        given = list(arguments[:count])
        levels = [(given, families[self.family].results(dict(self.attributes), given))]
        for derivative in self.derivatives:
            given, gives = levels[-1]
            levels.append((given + [gives[j] for j in derivative.given], [given[i] for i in derivative.wrt]))
        return levels


def text(spec, arguments):
    """The spec as MLIR text, of which @main is the only public function."""
    family = families[spec.family]
    levels = spec._types(arguments)
    lines = []
    for level, (given, gives) in enumerate(levels):
        last = level == len(levels) - 1
        name = "main" if last else f"level{level}"
        names = [f"%x{i}" for i in range(len(given))]
        parameters = ", ".join(f"{n}: {one.text}" for n, one in zip(names, given))
        results = ", ".join(one.text for one in gives)
        lines.append(f"func.func {'' if last else 'private '}@{name}({parameters}) -> ({results}) {{")
        if level == 0:
            body, values = family.body(dict(spec.attributes), given, gives, names)
            lines += body
        else:
            derivative = spec.derivatives[level - 1]
            inner, values = levels[level - 1][1], []
            count = len(levels[level - 1][0])
            cotangents = []
            for j, one in enumerate(inner):
                if j in derivative.given:
                    cotangents.append(names[count + derivative.given.index(j)])
                else:
                    lines.append(f"  %z{j} = arith.constant dense<0.0> : {one.text}")
                    cotangents.append(f"%z{j}")
            lines.append(f"  %r:{len(inner) + len(gives)} = ad.vjp @level{level - 1}({', '.join(names[:count])}) "
                         f"cotangents({', '.join(cotangents)}) wrt {list(derivative.wrt)}\n"
                         f"    : ({', '.join(one.text for one in given[:count])}) -> "
                         f"({', '.join(one.text for one in inner + gives)})")
            values = [f"%r#{len(inner) + i}" for i in range(len(gives))]
        lines.append(f"  return {', '.join(values)} : {results}\n}}")
    return "\n".join(lines)


@functools.lru_cache(maxsize=4096)
def function(spec, arguments, target="cpu", isa=None):
    """The extension module's function for a spec and a tuple of argument types; compiled the first time, unless the cache on
    disk has it."""
    source = text(spec, list(arguments))
    name = ".".join([spec.family, *("vjp" for _ in spec.derivatives)]) + ".mlir"
    return _library.build(_library.compiler(target, isa), [(name, source.encode())], []).functions[0]


# Each registers its families.
from . import encodings, mlp, rational  # noqa: E402, F401
