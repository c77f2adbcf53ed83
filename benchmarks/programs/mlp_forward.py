#!/usr/bin/env python3
# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the forward pass of a narrow MLP with ReLU and biases as one block program.

    mlp_forward.py [--rows N] [--block-rows R] [--widths 32,64,64,64,64,16]

Each block takes R rows through all layers; `--rows` must be a multiple of it.
Arguments of @mlp: x, then weight and bias of each layer.
"""
import argparse


def program(rows, block, widths):
    layers = len(widths) - 1
    arguments = [f"%x: tensor<{rows}x{widths[0]}xf32>"]
    for i in range(layers):
        arguments += [f"%w{i}: tensor<{widths[i]}x{widths[i + 1]}xf32>", f"%b{i}: tensor<{widths[i + 1]}xf32>"]
    result = f"tensor<{rows}x{widths[-1]}xf32>"
    out = [
        "#rc = affine_map<(r, c) -> (r, c)>",
        "#c = affine_map<(r, c) -> (c)>",
        f"func.func @mlp({', '.join(arguments)}) -> {result} {{",
        "  %zero = arith.constant 0.0 : f32",
        f"  %e = tensor.empty() : {result}",
        f"  %y = scf.forall (%i) = (0) to ({rows}) step ({block}) shared_outs(%o = %e) -> ({result}) {{",
        f"    %h0 = tensor.extract_slice %x[%i, 0] [{block}, {widths[0]}] [1, 1]"
        f" : tensor<{rows}x{widths[0]}xf32> to tensor<{block}x{widths[0]}xf32>",
    ]
    for i in range(layers):
        t = f"tensor<{block}x{widths[i + 1]}xf32>"
        source = f"tensor<{block}x{widths[i]}xf32>"
        out += [
            f"    %e{i} = tensor.empty() : {t}",
            f"    %f{i} = linalg.fill ins(%zero : f32) outs(%e{i} : {t}) -> {t}",
            f"    %m{i} = linalg.matmul ins(%h{i}, %w{i} : {source}, tensor<{widths[i]}x{widths[i + 1]}xf32>)"
            f" outs(%f{i} : {t}) -> {t}",
            f"    %h{i + 1} = linalg.generic {{indexing_maps = [#rc, #c, #rc],"
            f' iterator_types = ["parallel", "parallel"]}}',
            f"        ins(%m{i}, %b{i} : {t}, tensor<{widths[i + 1]}xf32>) outs(%e{i} : {t}) {{",
            "    ^bb0(%a: f32, %b: f32, %u: f32):",
            "      %s = arith.addf %a, %b : f32",
        ]
        if i + 1 < layers:
            # As torch.relu does, this passes NaN on.
            out += [
                "      %p = arith.cmpf ugt, %s, %zero : f32",
                "      %r = arith.select %p, %s, %zero : f32",
                "      linalg.yield %r : f32",
            ]
        else:
            out += ["      linalg.yield %s : f32"]
        out += [f"    }} -> {t}"]
    out += [
        "    scf.forall.in_parallel {",
        f"      tensor.parallel_insert_slice %h{layers} into %o[%i, 0] [{block}, {widths[-1]}] [1, 1]"
        f" : tensor<{block}x{widths[-1]}xf32> into {result}",
        "    }",
        "  }",
        f"  return %y : {result}",
        "}",
    ]
    return "\n".join(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1 << 17, help="rows of x")
    parser.add_argument("--block-rows", type=int, default=64, help="rows that one block takes through all layers")
    parser.add_argument("--widths", default="32,64,64,64,64,16", help="columns of x, of each hidden layer, of the result")
    options = parser.parse_args()
    widths = [int(w) for w in options.widths.split(",")]
    if options.rows % options.block_rows:
        parser.error(f"--rows {options.rows} is not a multiple of --block-rows {options.block_rows}")
    print(program(options.rows, options.block_rows, widths))


if __name__ == "__main__":
    main()
