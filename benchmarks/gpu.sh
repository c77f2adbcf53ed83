#!/usr/bin/env bash
# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# benchmarks/gpu.sh --pack FOLDER         on a machine with a build: write what a GPU machine needs
# FOLDER/benchmarks/gpu.sh [--only WORDS] there: check every kernel, then time it beside its rivals; needs Python with NumPy
#   [--flashkat FOLDER] [--fla FOLDER]    and the driver, for rivals torch and triton, a checkout of FlashKAT, and
#                                         flash-linear-attention
# benchmarks/gpu.sh --emulated [--quick]  check the same kernels on the emulated driver, without times
#
# The last line is "N passed, M failed"; the exit status is non-zero when one failed.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=$here/../.venv/bin/python
[ -x "$python" ] || python=python3
exec "$python" "$here/gpu_run.py" "$@"
