#!/usr/bin/env bash
# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# scripts/setup.sh [--build-only]
#
# Installs what Drawloom needs: Debian packages (with apt-get, as root or by
# sudo; otherwise prints the command) and, in .venv, the pinned Python packages
# that only the tests need. A second run finds everything and ends at once.
#
#   --build-only   what building and running need, without the tests' packages
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

tests=1
for argument in "$@"; do
  case "$argument" in
  --build-only) tests=0 ;;
  -h | --help) usage "scripts/setup.sh"; exit 0 ;;
  *) die "setup.sh: unknown option '$argument'; see scripts/setup.sh --help" ;;
  esac
done

# docs/dependencies.md says what each is for.
packages=(cmake ninja-build clang-22 g++ ccache libcairo2-dev libstb-dev liburing-dev libzip-dev libzstd-dev
  lld-22 llvm-22-dev libmlir-22-dev mlir-22-tools nlohmann-json3-dev zlib1g-dev)
if [ "$tests" = 1 ]; then
  packages+=(bible-kjv bochs bochsbios vgabios chromium clang-format-22 clang-tidy-22 fonts-dejavu-core git
    libclang-rt-22-dev libgtest-dev python3 python3-dev python3-venv universal-ctags)
fi

command -v dpkg-query >/dev/null ||
  die "this script knows Debian's packages only; the names to look for on another system: ${packages[*]}"

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] && continue
  # A Python that brings venv along (pyenv, a container's own) serves as well.
  case "$package" in
  python3-venv) python3 -c 'import ensurepip, venv' 2>/dev/null && continue ;;
  python3-dev) python3 -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' 2>/dev/null && continue ;;
  python3 | git) command -v "$package" >/dev/null && continue ;;
  esac
  missing+=("$package")
done

if [ ${#missing[@]} -gt 0 ]; then
  say "Missing Debian packages: ${missing[*]}"
  if [ "$(id -u)" = 0 ]; then
    as_root=()
  elif command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
    as_root=(sudo)
  else
    die "they need root to install. Run:
  apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
  fi
  export DEBIAN_FRONTEND=noninteractive
  "${as_root[@]}" apt-get update -q ||
    echo "warning: apt-get update failed; trying with the package lists that are here" >&2
  for package in "${missing[@]}"; do
    candidate=$(LC_ALL=C apt-cache policy "$package" | sed -n 's/ *Candidate: //p')
    if [ -z "$candidate" ] || [ "$candidate" = "(none)" ]; then
      case "$package" in
      *-22*) die "no package source of this machine has '$package' (LLVM 22.1).
Debian 12 has it in bookworm-security; enable that suite in /etc/apt/sources.list.d,
or add the LLVM project's own source, suite llvm-toolchain-bookworm-22 of apt.llvm.org,
then run this script again." ;;
      *) die "no package source of this machine has '$package'" ;;
      esac
    fi
  done
  "${as_root[@]}" apt-get install -y -q --no-install-recommends "${missing[@]}" ||
    die "apt-get could not install: ${missing[*]}"
fi

if [ "$tests" = 1 ]; then
  # The stamp holds what was installed last: an unchanged list costs nothing.
  if ! cmp -s test/requirements.txt .venv/installed-requirements.txt; then
    say "Python packages for the tests, into .venv"
    [ -x .venv/bin/python ] || python3 -m venv .venv ||
      die "python3 -m venv failed; the package python3-venv brings it"
    .venv/bin/python -m pip install --disable-pip-version-check -r test/requirements.txt ||
      die "pip could not install test/requirements.txt"
    cp test/requirements.txt .venv/installed-requirements.txt
  fi
fi
