# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of files that are larger than memory, as tensors."""

from __future__ import annotations

from typing import Any

import numpy
import torch
from torch import Tensor

from .._errors import CallError, FileError
from .._table import FeatureTable as _FeatureTable


class FeatureTable(_FeatureTable):
    __doc__ = _FeatureTable.__doc__

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        try:
            torch.from_numpy(numpy.empty(0, self.dtype))
        except (TypeError, ValueError):
            raise FileError(f"'{self.path}' has rows of {self.dtype}, of which there are no tensors") from None

    def _numbers(self, ids: Any) -> Any:
        if not isinstance(ids, Tensor):
            return super()._numbers(ids)
        if ids.device.type != "cpu":
            raise CallError(f"FeatureTable: numbers of rows are on {ids.device.type}; they are in main memory")
        return ids.detach().numpy()

    def _array(self, rows: Any) -> Any:
        return torch.from_numpy(rows)
