# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What the scripts share; sourced, never run. Leaves the shell in the
# repository's root.

cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD

say() { printf '\n\033[1m==> %s\033[0m\n' "$*"; }
[ -t 1 ] || say() { printf '\n==> %s\n' "$*"; }

die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# The comment block at the top of a script, after the licence, is its --help.
usage() { sed -n '6,/^[^#]/{/^#/s/^# \{0,1\}//p}' "$1"; }

# Where a preset of CMakePresets.json is built.
build_folder() { [ "$1" = developer ] && echo build || echo "build-$1"; }

# One job a core, but no more than the memory carries: a source file that
# includes MLIR takes up to 1.5 GiB.
jobs_here() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/MemAvailable/ {print int($2 / 1572864)}' /proc/meminfo)
  [ "$memory" -lt 1 ] && memory=1
  [ "$cores" -lt "$memory" ] && echo "$cores" || echo "$memory"
}
