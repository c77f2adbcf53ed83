#!/usr/bin/env bash
# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Checks and times our kernels on a GPU. benchmarks/gpu.sh --help teaches.
exec "$(dirname "${BASH_SOURCE[0]}")/drawloom-bench" gpu "$@"
