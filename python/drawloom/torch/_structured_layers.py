# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers with structured weights."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Integral, Real

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils.weak import WeakTensorKeyDictionary

from .._errors import CallError
from ..structured import Term, block_diagonal, dense, kronecker, permute
from . import functional


class StructuredLinear(torch.nn.Module):
    """y = x W + bias with a weight that is known by how it is made, `drawloom.torch.structured_linear`.

    term     W, an expression of `drawloom.structured`
    leaves   the arrays that it is made of, by name: what is a torch.nn.Parameter trains, other tensors are buffers
    bias     a Parameter or tensor [out], or None

    x [..., in] -> y [..., out]. What trains are parameters of their own shapes, so gradients and optimizer states have these.
    """

    def __init__(self, term: Term, leaves: Mapping[str, torch.Tensor], bias: torch.Tensor | None = None, *, association: str = "auto") -> None:
        super().__init__()
        missing = [name for name in term.leaves if name not in leaves]
        if missing or set(leaves) - set(term.leaves):
            raise CallError(f"StructuredLinear: the leaves of {term} are {', '.join(term.leaves)}, not {', '.join(leaves)}")
        self.in_features, self.out_features = term.shape({name: tuple(leaf.shape) for name, leaf in leaves.items()})
        self.term, self.association = term, association
        self.register_buffer("_merged", None, persistent=False)
        self._keep("bias", bias)
        self._names = []
        for name in term.leaves:
            # Under its own name, unless a module has that for something else.
            attribute = name
            while hasattr(self, attribute) or attribute in term.leaves and attribute != name:
                attribute = f"{attribute}_"
            self._names.append((name, attribute))
            self._keep(attribute, leaves[name])

    def _keep(self, name, tensor):
        if tensor is None or isinstance(tensor, torch.nn.Parameter):
            self.register_parameter(name, tensor)
        else:
            self.register_buffer(name, tensor)

    def _leaves(self):
        return {name: getattr(self, attribute) for name, attribute in self._names}

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self._merged is None:
            return self._by_parts(x)
        if torch.is_grad_enabled() and any(parameter.requires_grad for parameter in self.parameters()):
            raise CallError(f"{type(self).__name__}: the layer is merged, so its parameters would get no gradient; call unmerge_(), or compute "
                            "under torch.no_grad()")
        return torch.nn.functional.linear(x, self._merged, self.bias)

    def _by_parts(self, x):
        return self._multiply(x, self.bias)

    def _multiply(self, x, bias):
        return functional.structured_linear(x, self.term, self._leaves(), bias, association=self.association)

    def materialize(self) -> torch.Tensor:
        """The weight as torch.nn.Linear keeps it, [out, in]."""
        roles = self.term.roles
        first = next((leaf for name, leaf in self._leaves().items() if roles[name] == "number"), self.bias)
        options = {} if first is None else {"dtype": first.dtype, "device": first.device}
        return functional.structured_linear(torch.eye(self.in_features, **options), self.term, self._leaves(),
                                            association=self.association).T

    def merge(self) -> torch.nn.Linear:
        """A torch.nn.Linear with the weight as it is now."""
        with torch.no_grad():
            weight = self.materialize().contiguous()
            layer = torch.nn.Linear(self.in_features, self.out_features, bias=self.bias is not None, device=weight.device, dtype=weight.dtype)
            layer.weight.copy_(weight)
            if self.bias is not None:
                layer.bias.copy_(self.bias)
        return layer

    @property
    def merged(self) -> bool:
        """Whether `merge_` was called."""
        return self._merged is not None

    def merge_(self) -> StructuredLinear:
        """Makes the weight as it is now, which from here on is all that a row is multiplied by. The parts stay as they are beside it, so
        that `unmerge_` gives back every bit of them. For inference: gradients are refused."""
        if self.merged:
            raise CallError(f"{type(self).__name__}: the layer is merged already; unmerge_() first takes the merged weight away")
        with torch.no_grad():
            self._merged = self.materialize().contiguous()
        return self

    def unmerge_(self) -> StructuredLinear:
        """The opposite of `merge_`."""
        if not self.merged:
            raise CallError(f"{type(self).__name__}: the layer is not merged; merge_() does that")
        self._merged = None
        return self

    def _load_from_state_dict(self, *arguments):
        if self.merged:
            raise CallError(f"{type(self).__name__}: the layer is merged, and would go on with the weight from before; call unmerge_(), load, "
                            "and merge_() again")
        super()._load_from_state_dict(*arguments)

    def extra_repr(self) -> str:
        return f"{self.in_features}, {self.out_features}, {self.term}, bias={self.bias is not None}"


def _count(layer, name, value, least=1):
    if not isinstance(value, Integral) or value < least:
        raise CallError(f"{layer}: {name} is {value!r}; it is a number from {least}")


def _uniform(shape, inputs, options):
    bound = 1 / math.sqrt(inputs)
    return torch.nn.Parameter(torch.empty(shape, **options).uniform_(-bound, bound))


class PeftLayer(StructuredLinear):
    """What layers with PEFT's parameters share: dropout of the adapter's rows, and their states under PEFT's names."""

    #: What PEFT calls the parameters, and what of the base is in its layer's state.
    _peft = {"lora_a": "lora_A", "lora_b": "lora_B"}
    _peft_base: tuple[str, ...] = ("weight", "bias")
    scale: float
    lora_a: torch.nn.Parameter
    lora_b: torch.nn.Parameter

    def _set_adapter(self, scale, dropout):
        if not isinstance(dropout, Real) or not 0 <= dropout < 1:
            raise CallError(f"{type(self).__name__}: dropout is {dropout!r}; it is a probability below 1")
        self.scale, self.dropout = scale, float(dropout)

    def _frozen_product(self, x, bias):
        """Rows times the base alone."""
        raise NotImplementedError

    def _by_parts(self, x):
        if not (self.training and self.dropout):
            return super()._by_parts(x)
        # The adapter has rows of its own, so it shares no blocks with the base.
        narrow = torch.nn.functional.linear(torch.nn.functional.dropout(x, self.dropout), self.lora_a.to(x.dtype))
        y = self._frozen_product(x, self.bias)
        return torch.addmm(y.reshape(-1, self.out_features), narrow.reshape(-1, narrow.shape[-1]), self.lora_b.to(x.dtype).T,
                           alpha=self.scale).view(y.shape)

    def extra_repr(self) -> str:
        return super().extra_repr() + (f", dropout={self.dropout:g}" if self.dropout else "")

    def _peft_names(self, adapter):
        """Of what PEFT's state dicts have for this layer, by our names."""
        def name(theirs):
            if adapter is not None:
                return f"{theirs}.{adapter}.weight"
            return theirs if theirs == "lora_magnitude_vector" else f"{theirs}.weight"

        base = {own: f"base_layer.{own}" for own in self._peft_base if getattr(self, own) is not None}
        return {**({} if adapter is None else base), **{own: name(theirs) for own, theirs in self._peft.items()}}

    def peft_state_dict(self, adapter: str | None = "default") -> dict[str, torch.Tensor]:
        """The state under the names of PEFT's layer with an adapter of this name; None: those of PEFT's files, which have no base."""
        return {theirs: getattr(self, own).detach() for own, theirs in self._peft_names(adapter).items()}

    def load_peft_state_dict(self, state: Mapping[str, torch.Tensor], adapter: str | None = "default") -> None:
        """The opposite of `peft_state_dict`. The base stays as it is where `state` has none; entries of other adapters are passed over. The
        scale is none of the state: r, alpha and rslora are PEFT's r, lora_alpha and use_rslora."""
        what, names = type(self).__name__, self._peft_names(adapter)
        if self.merged:
            raise CallError(f"{what}: the layer is merged, and would go on with the weight from before; call unmerge_(), load, and merge_() again")
        for own, theirs in names.items():
            if theirs in state:
                if state[theirs].shape != getattr(self, own).shape:
                    raise CallError(f"{what}: '{theirs}' has the shape {list(state[theirs].shape)}, but {own} {list(getattr(self, own).shape)}")
            elif own in self._peft:
                raise CallError(f"{what}: there is no '{theirs}' in the state; it has {', '.join(state) or 'nothing'}")
        for theirs in state:
            kind, _, rest = theirs.partition(".")
            other = adapter is not None and kind.startswith("lora_") and rest.partition(".")[0] != adapter
            if theirs not in names.values() and not other:
                raise CallError(f"{what}: the layer has nothing for '{theirs}'; it takes {', '.join(names.values())}")
        with torch.no_grad():
            for own, theirs in names.items():
                if theirs in state:
                    getattr(self, own).copy_(state[theirs])


class LoRALinear(PeftLayer):
    """A frozen linear layer with a low-rank adapter: y = x W^T + (alpha / r) x A^T B^T + bias (arXiv 2106.09685).

    base      the torch.nn.Linear that is adapted; its weight and bias become buffers
    r, alpha  the rank and the scale's numerator; `rslora` divides it by sqrt(r) instead (arXiv 2312.03732)
    dropout   the probability with which, in training, an element of the adapter's x is zero; the base's x is as it is

    Trains `lora_a` [r, in], drawn as torch.nn.Linear's weight, and `lora_b` [out, r], which starts at zero. One program computes
    both products with the base's, forward and backward.
    """

    def __init__(self, base: torch.nn.Linear, r: int = 8, alpha: float = 16.0, *, rslora: bool = False, dropout: float = 0.0) -> None:
        name = type(self).__name__
        _count(name, "r", r)
        if not isinstance(base, torch.nn.Linear):
            raise CallError(f"{name}: the base is a torch.nn.Linear, not a {type(base).__name__}")
        weight = base.weight.detach()
        options = {"dtype": weight.dtype, "device": weight.device}
        scale = alpha / (math.sqrt(r) if rslora else r)
        super().__init__((dense("weight") + scale * (dense("lora_b") @ dense("lora_a"))).T, {
            "weight": weight, "lora_b": torch.nn.Parameter(torch.zeros(base.out_features, r, **options)),
            "lora_a": _uniform((r, base.in_features), base.in_features, options)}, None if base.bias is None else base.bias.detach())
        self._set_adapter(scale, dropout)

    def _frozen_product(self, x, bias):
        return torch.nn.functional.linear(x, self.weight, bias)


# Of a weight: (what tells that it is as it was, the squared length of each row).
_squares: WeakTensorKeyDictionary = WeakTensorKeyDictionary()


def _squared_rows(weight):
    """The squared length of each row, in float32 or float64. Those of a weight that has not changed are known: the storage is the same,
    which the weak reference keeps others from being taken for, and so is the number of changes that torch counts."""
    def compute():
        return torch.linalg.vector_norm(weight, dim=1, dtype=torch.promote_types(weight.dtype, torch.float32)).square()

    # What trains changes anyhow, and torch does not count what its fused optimizers change.
    if (weight.requires_grad or torch.compiler.is_compiling() or torch._C._functorch.maybe_current_level() is not None
            or weight.is_inference() or type(weight) not in (torch.Tensor, torch.nn.Parameter)):
        return compute()
    now = (StorageWeakRef(weight.untyped_storage()), weight._version, weight.storage_offset(), weight.shape, weight.stride(), weight.dtype)
    known = _squares.get(weight)
    if known is None or known[0] != now:
        known = _squares[weight] = now, compute()
    return known[1]


class RowLengths(PeftLayer):
    """What DoRA's layers share: the rows of base and adapter, V, have the lengths `magnitude`, and those of V itself count as constants."""

    _peft = {**PeftLayer._peft, "magnitude": "lora_magnitude_vector"}

    def _start(self):
        # V is W: lora_b is zero.
        self.magnitude = torch.nn.Parameter(self._lengths().to(self.lora_a.dtype))

    def _of_base(self):
        """The squares of the lengths of W's rows, in float32 or float64, and W A^T."""
        raise NotImplementedError

    def _lengths(self):
        """|V_o|, in float32 or float64."""
        with torch.no_grad(), torch.autocast(self.lora_a.device.type, enabled=False):
            squares, inner = self._of_base()
            a, b = self.lora_a.to(squares.dtype), self.lora_b.to(squares.dtype)
            changed = squares + ((2 * self.scale * inner.to(squares.dtype) + self.scale ** 2 * (b @ (a @ a.T))) * b).sum(1)
            # What rounding leaves of a row that the adapter takes away is not negative, and no row has the length zero to divide by.
            limits = torch.finfo(squares.dtype)
            return torch.maximum(changed, limits.eps * squares).clamp_min(limits.tiny).sqrt()

    def _factors(self, dtype):
        return (self.magnitude / self._lengths()).to(dtype)

    def _by_parts(self, x):
        drops = self.training and self.dropout
        kept = torch.nn.functional.dropout(x, self.dropout) if drops else x
        z = self._multiply(kept, None)
        # The gradient of the factors takes z, which is kept: no product is computed again for it.
        factors, bias = self._factors(z.dtype), None if self.bias is None else self.bias.to(z.dtype)
        # What is dropped goes through the base as it is.
        rest = self._frozen_product(x - kept, bias) if drops else bias
        return z * factors if rest is None else torch.addcmul(rest, z, factors)

    def materialize(self) -> torch.Tensor:
        """The weight as torch.nn.Linear keeps it, [out, in]."""
        weight = super().materialize()
        return self._factors(weight.dtype)[:, None] * weight


class DoRALinear(RowLengths, LoRALinear):
    """A frozen linear layer with a low-rank adapter whose rows have lengths that train (arXiv 2402.09353):

        y = x V^T diag(m / |V_o|) + bias,   V = W + (alpha / r) B A

    The arguments are LoRALinear's. Trains `lora_a` [r, in], `lora_b` [out, r] and `magnitude` m [out], which starts as the lengths of the
    rows of W. The lengths of V count as constants in gradients (section 4.3), as in PEFT. They are made without V, in closed form:

        |V_o|^2 = |W_o|^2 + 2 s ((W A^T) * B)_o + s^2 ((B A A^T) * B)_o     (sums along the rank; s = alpha / r)

    where |W_o|^2 is computed again only when W changed. Torch's count of changes tells that, and a new storage: who writes to W past
    these (`weight.data.add_`, NumPy's view, an optimizer with fused=True that trains the base's own parameter) calls
    torch.autograd.graph.increment_version(layer.weight).
    """

    def __init__(self, base: torch.nn.Linear, r: int = 8, alpha: float = 16.0, *, rslora: bool = False, dropout: float = 0.0) -> None:
        super().__init__(base, r, alpha, rslora=rslora, dropout=dropout)
        self._start()

    def _of_base(self):
        return _squared_rows(self.weight), self.weight @ self.lora_a.to(self.weight.dtype).T


class MonarchLinear(StructuredLinear):
    """A Monarch matrix (arXiv 2204.00595): two block-diagonal matrices with a permutation between them.

    `blocks` divides in_features and out_features. x is seen as [blocks, in / blocks]; block k of `first`
    [blocks, in / blocks, blocks] gives `blocks` elements, the q-th of each go through block q of `second` [blocks, blocks, out / blocks],
    and y[s blocks + q] is element s of these. 2 blocks (in + out) multiplications and additions a row instead of 2 in out.
    """

    def __init__(self, in_features: int, out_features: int, blocks: int, *, bias: bool = True,
                 device: torch.device | str | int | None = None, dtype: torch.dtype | None = None) -> None:
        for name, value in (("in_features", in_features), ("out_features", out_features), ("blocks", blocks)):
            _count("MonarchLinear", name, value)
        if in_features % blocks or out_features % blocks:
            raise CallError(f"MonarchLinear: {blocks} blocks do not divide {in_features} inputs and {out_features} outputs")
        options = {"device": device, "dtype": dtype or torch.get_default_dtype()}
        k, n = in_features // blocks, out_features // blocks
        super().__init__(block_diagonal("first") @ permute([blocks, blocks], [1, 0]) @ block_diagonal("second") @ permute([blocks, n], [1, 0]),
                         {"first": _uniform((blocks, k, blocks), k, options), "second": _uniform((blocks, blocks, n), blocks, options)},
                         _uniform((out_features,), in_features, options) if bias else None)


class KroneckerLinear(StructuredLinear):
    """A weight that is the Kronecker product of two small ones: W[a K2 + b, c N2 + d] = left[a, c] right[b, d].

    left, right  their extents, (K1, N1) and (K2, N2); x [..., K1 K2] -> y [..., N1 N2]
    """

    def __init__(self, left: Sequence[int], right: Sequence[int], *, bias: bool = True, device: torch.device | str | int | None = None,
                 dtype: torch.dtype | None = None) -> None:
        for name, extents in (("left", left), ("right", right)):
            if len(extents) != 2:
                raise CallError(f"KroneckerLinear: {name} is {list(extents)}; it is a pair of extents")
            for value in extents:
                _count("KroneckerLinear", f"an extent of {name}", value)
        options = {"device": device, "dtype": dtype or torch.get_default_dtype()}
        inputs = left[0] * right[0]
        super().__init__(kronecker(dense("left"), dense("right")), {"left": _uniform(tuple(left), left[0], options),
                                                                    "right": _uniform(tuple(right), right[0], options)},
                         _uniform((left[1] * right[1],), inputs, options) if bias else None)
