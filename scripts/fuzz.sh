#!/usr/bin/env bash
# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# scripts/fuzz.sh [N]
# scripts/fuzz.sh programs [--seconds=S] [--count=N] [--seed=FIRST] [options]
#
# The first form builds the libFuzzer targets with clang++-22 and AddressSanitizer, in
# build-fuzz, and runs each on N inputs (default: 100000) that are mutations of
# the checked-in corpus: test/**/*.mlir for the parser and the verifiers, arrays
# that NumPy wrote for the .npy and .npz readers, compiled programs, their
# object files, bundles and launch plans for what loads them. An input that crashes is kept
# in build-fuzz/findings and makes the exit status non-zero.
#
# The second runs random programs in what scripts/build.sh built (in
# DRAWLOOM_BUILD_DIR, else in build): values, gradients and second derivatives
# of each are compared with torch in float64 and with the interpreter. Programs
# that fail are kept in build-fuzz/findings, as they are and shrunk, and make the
# exit status non-zero. A seed is a program; scripts/fuzz.sh programs --help
# lists the options (--family=recurrences, --target=emulator, --isa=avx2, ...).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

if [ "${1:-}" = programs ]; then
  shift
  build=${DRAWLOOM_BUILD_DIR:-$root/build}
  export DRAWLOOM_BUILD_DIR=$build DRAWLOOM_CACHE=
  export PYTHONPATH=$root/test/python:$build/python${PYTHONPATH:+:$PYTHONPATH}
  [ -x "$build/bin/drawloom-run" ] || die "fuzz.sh: no drawloom-run in $build/bin; run scripts/build.sh first"
  exec .venv/bin/python -m programs.random_programs.fuzz "$@"
fi

runs=100000
for argument in "$@"; do
  case "$argument" in
  -h | --help) usage "scripts/fuzz.sh"; exit 0 ;;
  *[!0-9]* | "") die "fuzz.sh: '$argument' is not a number of inputs; see scripts/fuzz.sh --help" ;;
  *) runs=$argument ;;
  esac
done

scripts/setup.sh
build=$(build_folder fuzz)
scripts/build.sh --preset=fuzz parser-fuzzer npy-fuzzer program-fuzzer

corpus=$build/corpus
mkdir -p $corpus/parser $corpus/npy $corpus/program $build/findings
.venv/bin/python scripts/fuzz_corpus.py $corpus

# Debian's LLVM is not instrumented, see scripts/test.sh.
export ASAN_OPTIONS=detect_container_overflow=0:detect_leaks=0
status=0
for fuzzer in parser npy program; do
  say "$fuzzer-fuzzer: $runs inputs"
  $build/bin/$fuzzer-fuzzer -runs="$runs" -seed=1 -max_len=$([ $fuzzer = program ] && echo 65536 || echo 8192) -len_control=0 -timeout=30 -rss_limit_mb=4096 \
    -print_final_stats=1 -artifact_prefix=$build/findings/$fuzzer- $corpus/$fuzzer || status=1
done
[ $status = 0 ] && say "No input crashed" || say "Inputs that crashed: $build/findings"
exit $status
