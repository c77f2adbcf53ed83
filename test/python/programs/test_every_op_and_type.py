# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every op of arith and math on every type, for every instruction set, on scalars, columns and vectors: all compile,
refer to nothing that a C library lacks, and agree with the interpreter."""

import functools
import re
import subprocess

import pytest

from support.runner import BUILD

FLOATS = ["f64", "f32", "bf16", "f16"]
INTEGERS = ["i64", "i32", "i8", "i1"]
ISAS = ["baseline", "avx2", "avx512", "avx512bf16", "amx"]
# A number, a column, a matrix with remainders, whole vectors.
SHAPES = ["", "3x1x", "5x7x", "64x"]

UNARY = """arith.negf math.absf math.acos math.acosh math.asin math.asinh math.atan math.atanh math.cbrt math.ceil
math.cos math.cosh math.erf math.erfc math.exp math.exp2 math.expm1 math.floor math.log math.log10 math.log1p math.log2
math.round math.roundeven math.rsqrt math.sin math.sinh math.sqrt math.tan math.tanh math.trunc""".split()
BINARY = """arith.addf arith.subf arith.mulf arith.divf arith.remf arith.minimumf arith.maximumf arith.minnumf
arith.maxnumf math.atan2 math.copysign math.powf""".split()
CLASSES = "math.isfinite math.isinf math.isnan math.isnormal".split()
INTEGER_UNARY = "math.absi math.ctpop math.ctlz math.cttz".split()
INTEGER_BINARY = """arith.addi arith.subi arith.muli arith.andi arith.ori arith.xori arith.maxsi arith.minsi
arith.maxui arith.minui arith.divsi arith.divui arith.remsi arith.remui arith.floordivsi arith.ceildivsi
arith.ceildivui arith.shli arith.shrsi arith.shrui""".split()
EXTENDED = "arith.mulsi_extended arith.mului_extended".split()


class Function:
    """A function of one op after the other, each one's result returned."""

    def __init__(self):
        self.arguments, self.lines, self.results = {}, [], []

    def argument(self, name, type):
        self.arguments[name] = type
        return name

    def op(self, text, result, results=1):
        name = f"%r{len(self.lines)}"
        self.lines.append(f"  {name}{':' + str(results) if results > 1 else ''} = {text}")
        for i in range(results):
            self.results.append((f"{name}#{i}" if results > 1 else name, result, text))
        return name

    def text(self):
        arguments = ", ".join(f"{name}: {type}" for name, type in self.arguments.items())
        types = ", ".join(type for _, type, _ in self.results)
        values = ", ".join(name for name, _, _ in self.results)
        return (f"func.func @f({arguments}) -> ({types}) {{\n" + "\n".join(self.lines)
                + f"\n  return {values} : {types}\n}}\n")


def float_ops(element):
    f = Function()
    for k, shape in enumerate(SHAPES):
        t = f"tensor<{shape}{element}>"
        x, y, z = (f.argument(f"%{name}{k}", t) for name in "xyz")
        n = f.argument(f"%n{k}", f"tensor<{shape}i32>")
        for op in UNARY:
            f.op(f"{op} {x} : {t}", t)
        for op in BINARY:
            f.op(f"{op} {x}, {y} : {t}", t)
        f.op(f"math.fma {x}, {y}, {z} : {t}", t)
        f.op(f"math.fpowi {x}, {n} : {t}, tensor<{shape}i32>", t)
        for op in CLASSES:
            f.op(f"{op} {x} : {t}", f"tensor<{shape}i1>")
        f.op(f"arith.cmpf olt, {x}, {y} : {t}", f"tensor<{shape}i1>")
        for other in FLOATS:
            width = {"f64": 64, "f32": 32}.get(other, 16) - {"f64": 64, "f32": 32}.get(element, 16)
            if width:
                u = f"tensor<{shape}{other}>"
                f.op(f"arith.{'extf' if width > 0 else 'truncf'} {x} : {t} to {u}", u)
        # Random numbers are below 1. A power of two rounds nothing.
        f.lines.append(f"  %c{k} = arith.constant dense<64.0> : {t}")
        large = f.op(f"arith.mulf {x}, %c{k} : {t}", t)
        positive = f.op(f"math.absf {large} : {t}", t)
        for other in INTEGERS:
            u = f"tensor<{shape}{other}>"
            i = f.argument(f"%{other}_{k}", u)
            f.op(f"arith.sitofp {i} : {u} to {t}", t)
            f.op(f"arith.uitofp {i} : {u} to {t}", t)
            if other != "i1":
                f.op(f"arith.fptosi {large} : {t} to {u}", u)
                f.op(f"arith.fptoui {positive} : {t} to {u}", u)
    return f


def integer_ops(element):
    f = Function()
    for k, shape in enumerate(SHAPES):
        t = f"tensor<{shape}{element}>"
        x, y = (f.argument(f"%{name}{k}", t) for name in "xy")
        for op in INTEGER_UNARY:
            f.op(f"{op} {x} : {t}", t)
        for op in INTEGER_BINARY:
            f.op(f"{op} {x}, {y} : {t}", t)
        for op in EXTENDED:
            f.op(f"{op} {x}, {y} : {t}", t, results=2)
        for predicate in ("eq", "slt", "uge"):
            f.op(f"arith.cmpi {predicate}, {x}, {y} : {t}", f"tensor<{shape}i1>")
        for other in INTEGERS:
            u = f"tensor<{shape}{other}>"
            if int(other[1:]) > int(element[1:]):
                f.op(f"arith.extsi {x} : {t} to {u}", u)
                f.op(f"arith.extui {x} : {t} to {u}", u)
            elif other != element:
                f.op(f"arith.trunci {x} : {t} to {u}", u)
    return f


@functools.cache
def function_of(element):
    return float_ops(element) if element in FLOATS else integer_ops(element)


@pytest.mark.parametrize("element", FLOATS + INTEGERS)
@pytest.mark.parametrize("isa", ISAS)
def test_object_links_with_the_c_library(tmp_path, isa, element):
    """Needs no processor with the set. gcc 12, say, has no conversion to bf16 to link to."""
    source, code = tmp_path / "f.mlir", tmp_path / "f.o"
    source.write_text(function_of(element).text())
    subprocess.run([BUILD / "bin" / "drawloom-translate", "--mlir-to-object", f"--isa={isa}", source, "-o", code],
                   check=True)
    subprocess.run(["cc", "-shared", "-Wl,-z,defs", code, "-lm", "-o", tmp_path / "f.so"], check=True)


@pytest.mark.parametrize("element", FLOATS + INTEGERS)
@pytest.mark.parametrize("isa", ISAS)
def test_values_agree_with_the_interpreter(tmp_path, isa, element):
    source, function = tmp_path / "f.mlir", function_of(element)
    source.write_text(function.text())
    done = subprocess.run([BUILD / "bin" / "drawloom-run", source, "--random", "--random-integers=1:7", f"--isa={isa}",
                           "--compare=interpreter"], capture_output=True, text=True)
    if "this machine cannot run" in done.stderr:
        pytest.skip(done.stderr.strip())
    wrong = [f"{function.results[int(number)][2]}: {line}"
             for number, line in re.findall(r"^result(\d+): (.*FAILED.*)$", done.stdout, re.M)]
    assert not wrong, "\n".join(wrong)
    assert done.returncode == 0, done.stderr
