#!/usr/bin/env bash
# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# scripts/check.sh [--all]
#
# The gates beside the tests: formatting, licence headers, no path of one
# person's machine, mistakes in Python, sizes of files, functions and classes,
# pages generated from ODS, clang-tidy.
#
#   --all   clang-tidy on every file; without it, on those that changed
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

tidy=()
for argument in "$@"; do
  case "$argument" in
  --all) tidy=(--all) ;;
  -h | --help) usage "scripts/check.sh"; exit 0 ;;
  *) die "check.sh: unknown option '$argument'; see scripts/check.sh --help" ;;
  esac
done

failed=0
fail() {
  printf 'FAILED: %s\n' "$*" >&2
  failed=1
}

say "clang-format"
git ls-files '*.cpp' '*.h' | xargs -r clang-format-22 --dry-run --Werror ||
  fail "run: git ls-files '*.cpp' '*.h' | xargs clang-format-22 -i"

say "ruff"
.venv/bin/ruff check --quiet . || fail "run: .venv/bin/ruff check --fix"

say "Licence headers"
without=$(git ls-files '*.cpp' '*.h' '*.td' '*.html' '*.py' '*.py.in' '*.sh' '*.cmake' '*CMakeLists.txt' '.ci/*' |
  xargs -r grep -L 'SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception')
[ -z "$without" ] || fail "no licence header in: $without"

say "Paths of one machine"
paths=$(git grep -nE '(^|[^[:alnum:]_.])/(work|root|home)/' -- . ':!scripts/check.sh' ':!LICENSE')
[ -z "$paths" ] || fail "absolute paths in the tree:
$paths"

say "File length"
long=$(git ls-files '*.cpp' '*.h' '*.td' '*.py' 'lib/*.html' | xargs -r wc -l | awk '$2 != "total" && $1 > 900')
[ -z "$long" ] || fail "files above 900 lines:
$long"

say "Sizes of functions and classes"
python3 scripts/sizes.py || fail "functions or classes that are too large; see scripts/sizes.py --help"

say "Reference pages from ODS"
scripts/build.sh drawloom-doc || fail "the documentation does not build"

say "clang-tidy"
python3 scripts/tidy.py "${tidy[@]}" || fail "clang-tidy"

exit $failed
