#!/usr/bin/env bash
# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# scripts/test.sh [options]
#
# Sets up, builds and runs every test: lit, GoogleTest, pytest. The last line is
# "N passed, N failed"; the exit status is non-zero when one failed.
#
#   --preset=NAME   what is built and tested, as in scripts/build.sh: sanitize
#                   runs everything under AddressSanitizer and
#                   UndefinedBehaviorSanitizer. (Without it, the tests of the
#                   runtime and of the embedding library run under these, and
#                   under ThreadSanitizer.)
#   --no-setup      skip scripts/setup.sh
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

preset=developer
setup=1
for argument in "$@"; do
  case "$argument" in
  --preset=*) preset=${argument#*=} ;;
  --no-setup) setup=0 ;;
  -h | --help) usage "scripts/test.sh"; exit 0 ;;
  *) die "test.sh: unknown option '$argument'; see scripts/test.sh --help" ;;
  esac
done

[ "$setup" = 1 ] && scripts/setup.sh
scripts/build.sh --preset="$preset"
build=$(build_folder "$preset")

# Debian's LLVM is not instrumented: it moves containers across the border whose
# annotations AddressSanitizer would misread, and it keeps its registries alive.
export ASAN_OPTIONS=detect_container_overflow=0:detect_leaks=0:${ASAN_OPTIONS:-}
export UBSAN_OPTIONS=print_stacktrace=1:${UBSAN_OPTIONS:-}

jobs=$(nproc)
results=$build/test-results
rm -rf "$results"
mkdir -p "$results"

# A suite that fails must not keep the next one from running.
say "lit"
/usr/lib/llvm-22/bin/lit -sv -j "$jobs" --xunit-xml-output "$results/lit.xml" "$build/test" || true
say "GoogleTest"
(cd "$build" && ctest -j "$jobs" --output-on-failure --output-junit "$root/$results/gtest.xml") || true
say "pytest"
# Each worker holds torch and JAX.
DRAWLOOM_BUILD_DIR="$root/$build" .venv/bin/python -m pytest -q -p no:cacheprovider \
  -n auto --maxprocesses 4 --dist loadfile --junitxml "$results/pytest.xml" test/python || true

.venv/bin/python scripts/count_tests.py lit="$results/lit.xml" \
  GoogleTest="$results/gtest.xml" pytest="$results/pytest.xml"
