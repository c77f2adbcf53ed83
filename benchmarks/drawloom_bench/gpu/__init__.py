# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks and times GPU kernels where there is neither compiler nor LLVM; benchmarks/gpu.sh --help teaches."""
