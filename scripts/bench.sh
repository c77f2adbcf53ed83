#!/usr/bin/env bash
# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# scripts/bench.sh [kan|programs|dense|memory|soak|image] [arguments of the benchmark]
#
# Sets up, builds, and measures Drawloom against its rivals on this machine:
#
#   kan        activations, narrow and wide MLPs, whole training steps against
#              PyTorch and JAX in one process (benchmarks/run.py --suite kan)
#   programs   the hand-written block programs against PyTorch and MKL
#              (benchmarks/block_programs.py; --help lists its arguments)
#   dense      products of matrices alone against OpenBLAS, oneDNN, libxsmm and
#              MKL (benchmarks/dense_products.py)
#   memory     what a fused training step takes beyond its arguments and results
#              (benchmarks/memory.py)
#   soak       many calls and compilations on many threads, and the memory that
#              the process holds meanwhile (benchmarks/soak.cpp); fails where it
#              grows
#   image      the first example against the same network in PyTorch, eager and
#              under torch.compile, 200 steps each; arguments go to all three
#
# Without arguments, all. Run it on a machine that does nothing else.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

which=${1:-all}
[ $# -gt 0 ] && shift
case "$which" in
-h | --help) usage "scripts/bench.sh"; exit 0 ;;
all | kan | programs | dense | memory | soak | image) ;;
*) die "bench.sh: there is no benchmark '$which'; see scripts/bench.sh --help" ;;
esac

scripts/setup.sh
scripts/build.sh drawloom drawloom-run drawloom-image drawloom-soak

if [ "$which" = all ] || [ "$which" = kan ]; then
  say "The kan suite"
  .venv/bin/python benchmarks/run.py --suite kan "$@"
fi
if [ "$which" = all ] || [ "$which" = programs ]; then
  say "Block programs"
  .venv/bin/python benchmarks/block_programs.py "$@"
fi
if [ "$which" = all ] || [ "$which" = dense ]; then
  say "Dense products"
  .venv/bin/python benchmarks/dense_products.py "$@"
fi
if [ "$which" = all ] || [ "$which" = memory ]; then
  say "Memory of a training step"
  .venv/bin/python benchmarks/memory.py "$@"
fi
if [ "$which" = all ] || [ "$which" = soak ]; then
  say "Memory under many calls and compilations"
  build/bin/drawloom-soak "$@"
fi
if [ "$which" = all ] || [ "$which" = image ]; then
  say "Image: Drawloom"
  build/bin/drawloom-image --steps=200 "$@"
  say "Image: PyTorch, eager"
  .venv/bin/python benchmarks/image_torch.py --steps=200 "$@"
  say "Image: PyTorch, torch.compile"
  .venv/bin/python benchmarks/image_torch.py --steps=200 --compile "$@"
fi
