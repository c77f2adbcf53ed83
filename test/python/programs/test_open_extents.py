# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that leave extents open and refer to each other: each can be called, for any extents."""

import ml_dtypes
import numpy as np
import pytest

import drawloom

LOSS_AND_GRADIENT = """
func.func @loss(%x: tensor<?x2xf32>) -> tensor<f32> {
  %y = kan.square %x : tensor<?x2xf32>
  %l = loss.mse %x, %y : tensor<?x2xf32> -> tensor<f32>
  return %l : tensor<f32>
}
func.func @gradient(%x: tensor<?x2xf32>) -> (tensor<f32>, tensor<?x2xf32>) {
  %l, %d = ad.value_and_grad @loss(%x) wrt [0] : (tensor<?x2xf32>) -> (tensor<f32>, tensor<?x2xf32>)
  return %l, %d : tensor<f32>, tensor<?x2xf32>
}
func.func @twice(%x: tensor<?x2xf32>) -> tensor<f32> {
  %a = call @loss(%x) : (tensor<?x2xf32>) -> tensor<f32>
  %b = arith.addf %a, %a : tensor<f32>
  return %b : tensor<f32>
}
"""


def test_each_function_is_called_for_its_own_shapes(rng):
    module = drawloom.compile(LOSS_AND_GRADIENT)
    for rows in (3, 1, 5):
        x = rng.uniform(-1, 1, (rows, 2)).astype(np.float32)
        loss = np.mean((x - x * x).astype(np.float64) ** 2)
        slope = 2 * (x - x * x) * (1 - 2 * x) / x.size
        assert abs(module.loss(x) - loss) < 1e-6
        assert abs(module.twice(x) - 2 * loss) < 2e-6
        value, gradient = module.gradient(x)
        assert abs(value - loss) < 1e-6 and np.abs(gradient - slope).max() < 1e-6

OPEN_MLP = """
func.func @forward(%x: tensor<?x12xELEMENT>, %w: tensor<12x20xELEMENT>, %v: tensor<20x5xELEMENT>) -> tensor<?x5xELEMENT> {
  %first = arith.constant 0 : index
  %rows = tensor.dim %x, %first : tensor<?x12xELEMENT>
  %zero = arith.constant 0.0 : ELEMENT
  %e = tensor.empty(%rows) : tensor<?x20xELEMENT>
  %f = linalg.fill ins(%zero : ELEMENT) outs(%e : tensor<?x20xELEMENT>) -> tensor<?x20xELEMENT>
  %z = linalg.matmul ins(%x, %w : tensor<?x12xELEMENT>, tensor<12x20xELEMENT>) outs(%f : tensor<?x20xELEMENT>) -> tensor<?x20xELEMENT>
  %h = kan.silu %z : tensor<?x20xELEMENT>
  %g = tensor.empty(%rows) : tensor<?x5xELEMENT>
  %k = linalg.fill ins(%zero : ELEMENT) outs(%g : tensor<?x5xELEMENT>) -> tensor<?x5xELEMENT>
  %y = linalg.matmul ins(%h, %v : tensor<?x20xELEMENT>, tensor<20x5xELEMENT>) outs(%k : tensor<?x5xELEMENT>) -> tensor<?x5xELEMENT>
  return %y : tensor<?x5xELEMENT>
}
func.func private @loss(%x: tensor<?x12xELEMENT>, %t: tensor<?x5xELEMENT>, %w: tensor<12x20xELEMENT>, %v: tensor<20x5xELEMENT>) -> tensor<LOSS> {
  %y = call @forward(%x, %w, %v) : (tensor<?x12xELEMENT>, tensor<12x20xELEMENT>, tensor<20x5xELEMENT>) -> tensor<?x5xELEMENT>
  %l = loss.mse %y, %t : tensor<?x5xELEMENT> -> tensor<LOSS>
  return %l : tensor<LOSS>
}
func.func @train(%x: tensor<?x12xELEMENT>, %t: tensor<?x5xELEMENT>, %w: tensor<12x20xELEMENT>, %v: tensor<20x5xELEMENT>)
    -> (tensor<LOSS>, tensor<?x12xELEMENT>, tensor<12x20xELEMENT>, tensor<20x5xELEMENT>) {
  %l, %dx, %dw, %dv = ad.value_and_grad @loss(%x, %t, %w, %v) wrt [0, 2, 3]
    : (tensor<?x12xELEMENT>, tensor<?x5xELEMENT>, tensor<12x20xELEMENT>, tensor<20x5xELEMENT>)
      -> (tensor<LOSS>, tensor<?x12xELEMENT>, tensor<12x20xELEMENT>, tensor<20x5xELEMENT>)
  return %l, %dx, %dw, %dv : tensor<LOSS>, tensor<?x12xELEMENT>, tensor<12x20xELEMENT>, tensor<20x5xELEMENT>
}
"""
# Around each size of tile, primes, and more rows than there are blocks for.
ROWS = (0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 509, 4097, 9001)


def open_module(element, isa=None):
    loss = element if element == "f64" else "f32"
    return drawloom.compile(OPEN_MLP.replace("ELEMENT", element).replace("LOSS", loss), isa=isa)


def arguments_for(rng, rows, dtype):
    return [rng.uniform(-1, 1, shape).astype(dtype) for shape in ((rows, 12), (rows, 5), (12, 20), (20, 5))]


def bits(results):
    return [np.asarray(one).tobytes() for one in (results if isinstance(results, tuple) else (results,))]


ISAS = ("avx2", "avx512", "baseline")


def runs_here(isa):
    try:
        drawloom.compile("func.func @f() { return }", isa=isa)
    except drawloom.TargetError:
        return False
    return True


@pytest.mark.parametrize("element,dtype", [("f32", np.float32), ("f64", np.float64), ("f16", np.float16), ("bf16", ml_dtypes.bfloat16)])
def test_one_program_has_the_bits_of_one_for_each_extent(rng, element, dtype):
    any_rows, exact = open_module(element), open_module(element)
    for rows in ROWS:
        arguments = arguments_for(rng, rows, dtype)
        expected = exact._compile("train", [one.shape for one in arguments]).call(arguments, None, 1)
        assert bits(any_rows.train(*arguments)) == bits(expected), rows
    assert any_rows.train._any and len(any_rows.train._compiled) <= 1, "it was compiled for some extents alone"


@pytest.mark.parametrize("isa", ["amx", "avx512bf16", "avx2"])
def test_sums_of_pairs_have_the_bits_of_one_program_for_each_extent(rng, isa):
    """Processors add products of bf16 two by two, where there are pairs of rows."""
    if not runs_here(isa):
        pytest.skip(f"no {isa} here")
    module = drawloom.compile("""
func.func @gradient(%x: tensor<?x64xbf16>, %dy: tensor<?x48xbf16>) -> tensor<64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x48xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x48xf32>) -> tensor<64x48xf32>
  %dw = linalg.contract indexing_maps = [affine_map<(r, i, j) -> (r, i)>, affine_map<(r, i, j) -> (r, j)>, affine_map<(r, i, j) -> (i, j)>]
    ins(%x, %dy : tensor<?x64xbf16>, tensor<?x48xbf16>) outs(%start : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %dw : tensor<64x48xf32>
}
""", isa=isa)
    for rows in (16, 21, 22, 63, 191):
        arguments = [rng.uniform(-1, 1, shape).astype(ml_dtypes.bfloat16) for shape in ((rows, 64), (rows, 48))]
        assert bits(module.gradient(*arguments)) == bits(module._compile("gradient", [one.shape for one in arguments]).call(arguments, None, 1)), rows
    assert module.gradient._any


BESIDE_ROWS = {
    "what is handed on": ("-> (tensor<?x8xf32>, tensor<f32>)", "", "%a", "%x, %l : tensor<?x8xf32>, tensor<f32>"),
    "how many there are": ("-> tensor<f32>", """
  %first = arith.constant 0 : index
  %rows = tensor.dim %x, %first : tensor<?x8xf32>
  %count = arith.index_cast %rows : index to i32
  %number = arith.sitofp %count : i32 to f32
  %all = tensor.splat %number : tensor<129xf32>
  %c = arith.addf %all, %a : tensor<129xf32>""", "%c", "%l : tensor<f32>"),
    "their sum": ("-> tensor<f32>", """
  %zero = arith.constant 0.0 : f32
  %s = linalg.generic {
    indexing_maps = [affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i)>],
    iterator_types = ["parallel", "reduction", "reduction"]
  } ins(%x : tensor<?x8xf32>) outs(%a : tensor<129xf32>) {
  ^bb0(%in: f32, %sum: f32):
    %next = arith.addf %sum, %in : f32
    linalg.yield %next : f32
  } -> tensor<129xf32>""", "%s", "%l : tensor<f32>"),
}


@pytest.mark.parametrize("given", BESIDE_ROWS)
def test_sums_beside_the_rows_have_the_same_bits(rng, given):
    """A sum that has no rows is cut alike in both programs, be there rows or none."""
    types, body, of, results = BESIDE_ROWS[given]
    module = drawloom.compile(f"""
func.func @f(%x: tensor<?x8xf32>, %a: tensor<129xf32>, %b: tensor<129xf32>) {types} {{{body}
  %l = loss.mse {of}, %b : tensor<129xf32> -> tensor<f32>
  return {results}
}}""")
    for rows in (0, 1, 5, 100):
        for _ in range(4):
            arguments = [rng.uniform(-1, 1, shape).astype(np.float32) for shape in ((rows, 8), 129, 129)]
            expected = module._compile("f", [one.shape for one in arguments]).call(arguments, None, 1)
            assert bits(module.f(*arguments)) == bits(expected), rows
    assert module.f._any


def test_rows_within_other_sums_have_the_same_bits(rng):
    """Each of eight outer steps adds the rows of a tile, however many it has."""
    module = drawloom.compile("""
func.func @f(%x: tensor<?x8x4xf32>) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %y = linalg.generic {
    indexing_maps = [affine_map<(i, j, k) -> (j, i, k)>, affine_map<(i, j, k) -> ()>],
    iterator_types = ["reduction", "reduction", "reduction"]
  } ins(%x : tensor<?x8x4xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%in: f32, %sum: f32):
    %next = arith.addf %sum, %in : f32
    linalg.yield %next : f32
  } -> tensor<f32>
  return %y : tensor<f32>
}""")
    for rows in (1, 7, 9, 63, 64, 65, 127, 200):
        x = rng.uniform(-1, 1, (rows, 8, 4)).astype(np.float32)
        assert bits(module.f(x)) == bits(module._compile("f", [x.shape]).call([x], None, 1)), rows
    assert module.f._any


def test_what_is_the_same_in_all_columns_rounds_alike(rng):
    """A product that does not change in a loop moves out of it; its sum rounds with it all the same. Here columns are open."""
    matrix = "tensor<128x?xf32>"
    module = drawloom.compile(f"""
func.func private @loss(%s: tensor<f32>, %x: {matrix}) -> tensor<f32> {{
  %one = arith.constant 1 : index
  %columns = tensor.dim %x, %one : {matrix}
  %value = tensor.extract %s[] : tensor<f32>
  %e = tensor.empty(%columns) : {matrix}
  %filled = linalg.fill ins(%value : f32) outs(%e : {matrix}) -> {matrix}
  %y = kan.elu %filled : {matrix}
  %z = math.expm1 %y : {matrix}
  %l = loss.mse %z, %x : {matrix} -> tensor<f32>
  return %l : tensor<f32>
}}
func.func private @gradient(%s: tensor<f32>, %x: {matrix}) -> (tensor<f32>, {matrix}) {{
  %r:3 = ad.value_and_grad @loss(%s, %x) wrt [0, 1] : (tensor<f32>, {matrix}) -> (tensor<f32>, tensor<f32>, {matrix})
  return %r#1, %r#2 : tensor<f32>, {matrix}
}}
func.func @second(%s: tensor<f32>, %x: {matrix}, %c: tensor<f32>, %d: {matrix}) -> (tensor<f32>, {matrix}) {{
  %r:4 = ad.vjp @gradient(%s, %x) cotangents(%c, %d) wrt [0, 1]
    : (tensor<f32>, {matrix}) -> (tensor<f32>, {matrix}, tensor<f32>, {matrix})
  return %r#2, %r#3 : tensor<f32>, {matrix}
}}""")
    for columns in (1, 5, 8, 13, 64, 77):
        arguments = [rng.uniform(-1, 1, shape).astype(np.float32) for shape in ((), (128, columns), (), (128, columns))]
        expected = module._compile("second", [np.shape(one) for one in arguments]).call(arguments, None, 1)
        assert bits(module.second(*arguments)) == bits(expected), columns
    assert module.second._any


@pytest.mark.parametrize("isa", ISAS)
def test_every_instruction_set_takes_any_extents(rng, isa):
    if not runs_here(isa):
        pytest.skip(f"this machine does not run {isa}")
    any_rows, exact = open_module("f32", isa), open_module("f32", isa)
    for rows in (0, 1, 9, 64, 130, 4097):
        arguments = arguments_for(rng, rows, np.float32)
        expected = exact._compile("train", [one.shape for one in arguments]).call(arguments, None, 1)
        for threads in (1, 2, 3):
            assert bits(any_rows.train(*arguments, threads=threads)) == bits(expected), (rows, threads)


def test_any_extents_agree_with_numpy(rng):
    module = open_module("f64")
    for rows in (1, 77, 1000):
        x, t, w, v = arguments_for(rng, rows, np.float64)
        z = x @ w
        s = 1 / (1 + np.exp(-z))
        y = (z * s) @ v
        slope = 2 * (y - t) / y.size
        loss, dx, dw, dv = module.train(x, t, w, v)
        dz = (slope @ v.T) * (s + z * s * (1 - s))
        # To first order in u = 2^-53 a result is off by at most u for each rounding on its longest way (products of 12, 20 and 5 terms,
        # a sum over rows, 40 for exp, the quotient and what is between), times what the same formula gives for absolute values. What
        # z is off by, in |x| |w|, comes on through silu and its slope, whose derivatives are below 1.1 and 0.5. NumPy is off by as much.
        share = 2 * 2.0**-53 * (12 + 20 + 5 + 5 + rows + 40)
        about_z = abs(x) @ abs(w)
        about_h = abs(z * s) + 1.1 * about_z
        about_y = about_h @ abs(v) + abs(t)
        about_slope = 2 * about_y / y.size
        about_dz = (about_slope @ abs(v).T) * (s + abs(z) * s * (1 - s) + 0.5 * about_z)
        for ours, theirs, about in ((loss, np.mean((y - t) ** 2), 2 * np.mean(about_y**2)), (dx, dz @ w.T, about_dz @ abs(w).T),
                                    (dw, x.T @ dz, abs(x).T @ about_dz), (dv, (z * s).T @ slope, about_h.T @ about_slope)):
            assert np.all(abs(ours - theirs) <= share * about), rows


def test_extents_that_must_agree_are_named(rng):
    module = open_module("f32")
    x, t, w, v = arguments_for(rng, 4, np.float32)
    module.train(x, t, w, v)
    with pytest.raises(drawloom.CallError, match=r"argument 1 of @train takes float32\[\?, 5\], where \? is 4, but is float32\[3, 5\]"):
        module.train(x, t[:3], w, v)
    with pytest.raises(drawloom.CallError, match=r"result 0 of @forward takes float32\[4, 5\], but is float32\[3, 5\]"):
        module.forward(x, w, v, out=np.empty((3, 5), np.float32))


def test_extents_that_cannot_stay_open_are_compiled_one_by_one(rng):
    """A transposed tensor has its rows elsewhere: no block program is made of it."""
    module = drawloom.compile("""
func.func @turn(%x: tensor<?x3xf32>) -> tensor<3x?xf32> {
  %first = arith.constant 0 : index
  %rows = tensor.dim %x, %first : tensor<?x3xf32>
  %e = tensor.empty(%rows) : tensor<3x?xf32>
  %y = linalg.transpose ins(%x : tensor<?x3xf32>) outs(%e : tensor<3x?xf32>) permutation = [1, 0]
  return %y : tensor<3x?xf32>
}""")
    for rows in (1, 5):
        x = rng.uniform(-1, 1, (rows, 3)).astype(np.float32)
        np.testing.assert_array_equal(module.turn(x), x.T)


def test_sums_over_two_open_extents_have_the_bits_of_one_program_for_each(rng):
    """Both lie side by side, and are summed as the elements that they have together."""
    module = drawloom.compile("""
func.func @loss(%x: tensor<?x?xf32>, %t: tensor<?x?xf32>) -> tensor<f32> {
  %l = loss.mse %x, %t : tensor<?x?xf32> -> tensor<f32>
  return %l : tensor<f32>
}""")
    before = drawloom.cache.statistics().compiled
    cases = [rng.uniform(-1, 1, (2, *shape)).astype(np.float32) for shape in ((5, 7), (33, 3), (1, 1), (0, 4), (4, 0), (64, 64), (63, 65), (1, 4097), (509, 17))]
    found = [module.loss(x, t) for x, t in cases]
    assert drawloom.cache.statistics().compiled - before == 1
    for (x, t), loss in zip(cases, found):
        assert bits(loss) == bits(module._compile("loss", [x.shape, t.shape]).call([x, t], None, 1)), x.shape
        if x.size > 0:
            # Each term rounds twice, and each sum once.
            terms = (x.astype(np.float64) - t) ** 2
            assert abs(loss - terms.mean()) <= 2.0**-24 * (x.size + 5) * terms.mean()


def test_what_treats_two_open_extents_differently_is_compiled_one_by_one(rng, tmp_path):
    module = drawloom.compile("""
func.func @sums(%x: tensor<?x?xf32>) -> tensor<?xf32> {
  %c1 = arith.constant 1 : index
  %columns = tensor.dim %x, %c1 : tensor<?x?xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%columns) : tensor<?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.reduce ins(%x : tensor<?x?xf32>) outs(%z : tensor<?xf32>) dimensions = [0]
    (%a: f32, %b: f32) {
      %c = arith.addf %a, %b : f32
      linalg.yield %c : f32
    }
  return %s : tensor<?xf32>
}""")
    for shape in ((5, 7), (33, 3)):
        x = rng.uniform(-1, 1, shape).astype(np.float32)
        # Each of the additions rounds.
        assert (np.abs(module.sums(x) - x.astype(np.float64).sum(0)) <= 2.0**-24 * shape[0] * np.abs(x).sum(0, dtype=np.float64)).all()
    with pytest.raises(drawloom.Error, match="has an open extent"):
        module.save(tmp_path / "sums.drawloom")


def test_a_saved_program_takes_any_extents(rng, tmp_path):
    module = open_module("f32")
    module.save(tmp_path / "mlp.drawloom")
    loaded = drawloom.load(tmp_path / "mlp.drawloom")
    for rows in (3, 0, 1, 64, 200, 17, 8, 1000, 63, 65):
        arguments = arguments_for(rng, rows, np.float32)
        assert bits(loaded.train(*arguments)) == bits(module.train(*arguments))


def test_ops_compile_once_for_all_numbers_of_rows(rng):
    torch = pytest.importorskip("torch")
    import drawloom.torch
    from drawloom import ops

    built = []
    original = ops._build
    layer = drawloom.torch.nn.FusedMLP(6, 3, width=10, hidden_layers=1, activation="silu")
    try:
        ops._build = lambda *given: built.append(given) or original(*given)
        for rows in (5, 1, 64, 3, 100, 5, 7):
            x = torch.tensor(rng.uniform(-1, 1, (rows, 6)).astype(np.float32), requires_grad=True)
            y = layer(x)
            with torch.no_grad():
                (w, v), (b, c) = ([one.double() for one in several] for several in (layer.weights, layer.biases))
                z = x.double() @ w.T + b
                h = torch.nn.functional.silu(z)
                # As above, of f32 against float64: products of 6 and 10 terms, two biases, 20 for silu, whose slope is below 1.1.
                about = (h.abs() + 1.1 * (x.double().abs() @ w.abs().T + b.abs())) @ v.abs().T + c.abs()
                assert ((y - (h @ v.T + c)).abs() <= 2.0**-24 * (6 + 10 + 2 + 20) * about).all()
            y.square().sum().backward()
    finally:
        ops._build = original
    assert len(built) == 2, "the layer and its gradient"


def test_some_of_the_rows_are_not_all(rng):
    module = drawloom.compile("""
func.func @half(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %h = arith.divui %n, %c2 : index
  %s = tensor.extract_slice %x[0, 0] [%h, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
  %y = arith.addf %s, %s : tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}""")
    for rows in (10, 7, 1):
        x = rng.uniform(-1, 1, (rows, 8)).astype(np.float32)
        assert np.array_equal(module.half(x), 2 * x[:rows // 2])


def test_rows_behind_rows_are_compiled_for_each_number(rng):
    module = drawloom.compile("""
func.func @both(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %s = tensor.concat dim(0) %x, %y : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %r = arith.negf %s : tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}""")
    for rows in ((3, 4), (1, 7)):
        x, y = (rng.uniform(-1, 1, (n, 8)).astype(np.float32) for n in rows)
        assert np.array_equal(module.both(x, y), -np.concatenate((x, y)))


def test_sums_of_all_elements_have_the_bits_of_known_rows(rng):
    """Written as one op: the rows that are left over are no other sum."""
    def text(rows):
        return f"""func.func @sum(%x: tensor<{rows}x3xf32>, %start: tensor<f32>) -> tensor<f32> {{
  %y = linalg.reduce {{ arith.addf }} ins(%x : tensor<{rows}x3xf32>) outs(%start : tensor<f32>) dimensions = [0, 1]
  return %y : tensor<f32>
}}"""
    module = drawloom.compile(text("?"))
    start = np.array(0.5, np.float32)
    for rows in (0, 1, 7, 16, 33, 63, 200):
        x = rng.uniform(-1, 1, (rows, 3)).astype(np.float32)
        exact = module._compile("sum", [x.shape, start.shape])
        assert np.asarray(module.sum(x, start)).tobytes() == np.asarray(exact.call([x, start], None, 1)).tobytes(), rows
