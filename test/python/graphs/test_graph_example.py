# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The examples of examples/graph, in small: a wordnet of a few hundred synsets and an index of a few hundred packages, which both
libraries learn alike."""

import importlib
import random
import re
import subprocess
import sys

import pytest

pytest.importorskip("torch_geometric")
import numpy  # noqa: E402
import torch  # noqa: E402
from PIL import Image  # noqa: E402

from support.runner import ROOT  # noqa: E402

FOLDER = ROOT / "examples" / "graph"
SCRIPT = FOLDER / "wordnet.py"
FILES = {"noun": ("n", 240), "verb": ("v", 40), "adj": ("a", 20), "adv": ("r", 10)}


def write_wordnet(folder):
    """Files as in wndb(5): a licence in front, then synsets, each with pointers to others of its file."""
    draw = random.Random(0)
    for name, (kind, count) in FILES.items():
        lines = ["  1 A licence, whose lines begin with two blanks."]
        for i in range(count):
            others = [j for j in range(count) if j != i]
            pointers = [f"{draw.choice('@+!')} {8 * draw.choice(others):08d} {kind} 0000" for _ in range(3)]
            # The satellites of an adjective point back to it, by another letter.
            of_kind = "s" if kind == "a" and i % 2 else kind
            lines.append(f"{8 * i:08d} {draw.choice((5, 6, 15, 18, 20, 26)):02d} {of_kind} 02 word_{i} 0 other_{i} 1 {len(pointers):03d} "
                         f"{' '.join(pointers)} | what it means | and more")
        (folder / f"data.{name}").write_text("\n".join(lines) + "\n", "utf-8")


@pytest.fixture(scope="module")
def wordnet(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wordnet")
    write_wordnet(folder)
    return folder


def write_index(path, packages=400):
    """As Packages of an archive: each package depends on some of its section, and on the library of all."""
    draw = random.Random(1)
    sections = ("games", "python", "sound", "oldlibs")
    entries = []
    for i in range(packages):
        own = i % len(sections)
        others = [f"{sections[own]}-{draw.randrange(own, packages, len(sections))}" for _ in range(3)]
        lines = [f"Package: {sections[own]}-{i}", f"Section: contrib/{sections[own]}", "Tag: not::read,", " not::here",
                 f"Depends: {others[0]} (>= 1.0), {others[1]}:any | games-0, missing", f"Suggests: {others[2]} [amd64]",
                 f"Description: word{draw.randrange(20)} of: {draw.choice('abcdef')}{own}"]
        entries.append("\n".join(lines))
    path.write_text("\n\n".join(entries) + "\n", "utf-8")


def run(*arguments, script=SCRIPT):
    return subprocess.run([sys.executable, script, *map(str, arguments)], capture_output=True, text=True, timeout=600)


def imported(name):
    sys.path.insert(0, str(FOLDER))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.pop(0)


def test_both_libraries_learn_alike_and_pictures_are_left(wordnet, tmp_path):
    done = run(f"--wordnet={wordnet}", "--steps=30", "--seeds=1", "--threads=1", "--batch=64", "--negatives=64", "--width=16",
               f"--output={tmp_path}")
    assert done.returncode == 0, done.stderr[-2000:]
    # Of both, from the same first values on the same links. The family's study asks for losses within 1e-3 for 50 steps (A12); each is
    # printed with three digits behind the point, which is off 5e-4 at most.
    losses = [[float(one) for one in re.findall(rf"{name}, seed 0: step \d+/30  loss (\d+\.\d+)", done.stderr)]
              for name in ("Drawloom", "torch_geometric")]
    assert len(losses[0]) == len(losses[1]) >= 10 and losses[0][-1] < losses[0][0]
    assert max(abs(one - other) for one, other in zip(*losses)) <= 1e-3 + 2 * 5e-4
    assert len(re.findall(r"MRR 0\.\d+, ", done.stdout)) == 2
    assert "times as fast as torch_geometric" in done.stdout
    for name in ("curves", "synsets"):
        with Image.open(tmp_path / f"{name}.png") as picture:
            assert min(picture.size) > 200 and len(picture.getcolors(1 << 20)) > 8


def test_links_are_read_as_they_stand(wordnet):
    links = imported("links")
    key, (word, file), pointers = links.parse(
        "00001740 03 n 02 entity 0 being_there 0 002 ~ 00001930 n 0000 + 00692329 a 0101 | that | which is", "n")
    assert (key, word, file) == (("n", "00001740"), "entity", 3)
    assert pointers == [("~", ("n", "00001930")), ("+", ("a", "00692329"))]
    data = links.read(wordnet)
    every = {tuple(link) for part in (data.train, data.validation, data.test) for link in part.T.tolist()}
    assert len(every) == data.train.shape[1] + data.validation.shape[1] + data.test.shape[1]
    both_ways = [(a, r, b) for a, r, b in every if data.relations[r] in ("derivation", "antonym") and (b, r, a) in every]
    assert not both_ways, "links without a direction stand once"
    degree = [0] * data.nodes
    for a, _, b in every:
        degree[a] += 1
        degree[b] += 1
    assert min(degree) >= 2


def test_a_missing_wordnet_is_said(tmp_path):
    done = run(f"--wordnet={tmp_path / 'nowhere'}")
    assert done.returncode == 1 and "apt-get install wordnet-base" in done.stderr and "Traceback" not in done.stderr


def test_numbers_that_cannot_be_are_refused():
    for argument, words in (("--steps=0", "it is 1 or more"), ("--step=3", "unrecognized")):
        done = run(argument)
        assert done.returncode == 2 and words in done.stderr


@pytest.mark.parametrize("workers", [0, 2])
def test_sections_are_learnt_alike_from_sampled_batches(tmp_path, workers):
    write_index(tmp_path / "Packages")
    done = run(f"--index={tmp_path / 'Packages'}", "--epochs=10", "--threads=1", "--batch=64", "--fanout=2", "--width=16",
               f"--workers={workers}", f"--output={tmp_path}", script=FOLDER / "packages.py")
    assert done.returncode == 0, done.stderr[-2000:]
    losses = [[float(one) for one in re.findall(rf"{name}, seed 0: step \d+/50  loss (\d+\.\d+)", done.stderr)]
              for name in ("Drawloom", "torch_geometric")]
    # As of WordNet.
    assert len(losses[0]) == len(losses[1]) >= 10 and losses[0][-1] < 0.7 * losses[0][0]
    assert max(abs(one - other) for one, other in zip(*losses)) <= 1e-3 + 2 * 5e-4
    shares = {name.strip(): float(share) for name, share in re.findall(r"^(\w+(?: alone)?) +accuracy (\S+),", done.stdout, re.MULTILINE)}
    assert set(shares) == {"Drawloom", "torch_geometric", "words alone"}
    assert "times as fast as torch_geometric" in done.stdout
    for name in ("packages", "packages-curves"):
        with Image.open(tmp_path / f"{name}.png") as picture:
            assert min(picture.size) > 200 and len(picture.getcolors(1 << 20)) > 8


def test_an_index_is_read_as_it_stands(tmp_path):
    index = imported("index")
    assert index.named("a (>= 1) | b:any, c [amd64],  d") == {"a", "b", "c", "d"}
    write_index(tmp_path / "Packages")
    data = index.read(tmp_path / "Packages")
    assert len(data.names) == 400 and sorted(data.sections) == ["games", "oldlibs", "python", "sound"]
    edges = set(zip(data.source.tolist(), data.target.tolist(), data.relation.tolist()))
    assert len(edges) == len(data.source)
    relations = len(index.RELATIONS)
    assert all((b, a, (r + relations) % (2 * relations)) in edges for a, b, r in edges), "each edge has its way back"
    parts = numpy.concatenate([data.train, data.validation, data.test])
    assert numpy.array_equal(numpy.sort(parts), numpy.arange(400))
    # Sums of squares of counts are exact; their root and the quotient are rounded once each, to 24 bits.
    numpy.testing.assert_allclose(numpy.linalg.norm(data.words.astype(float), axis=1), 1, rtol=2 * 2.0 ** -24)


def test_sampled_edges_are_edges_and_no_more_than_asked_for(tmp_path):
    index, sampling = imported("index"), imported("sampling")
    write_index(tmp_path / "Packages")
    data = index.read(tmp_path / "Packages")
    known = set(zip(data.source.tolist(), data.target.tolist(), data.relation.tolist()))
    neighbours = sampling.Neighbours(data, 16, fanout=3)
    seeds = numpy.arange(5, 45)
    batch = neighbours.sample(seeds, numpy.random.default_rng(0))
    assert numpy.array_equal(batch.nodes[:batch.count].numpy(), seeds) and len(set(batch.nodes.tolist())) == len(batch.nodes)
    found = [tuple(edge) for edge in zip(*batch.nodes[batch.edge_index].tolist(), batch.edge_type.tolist())]
    assert len(set(found)) == len(found) and set(found) <= known
    assert 1 <= torch.bincount(batch.edge_index[1]).max() <= 3
    # Whatever has few edges has all of them: the seeds, and their sources.
    degree = numpy.bincount(data.target, minlength=400)
    inner = set(seeds.tolist()) | {u for u, v, _ in found if v in set(seeds.tolist())}
    assert all((numpy.array([v for _, v, _ in found]) == node).sum() == degree[node] for node in inner if degree[node] <= 3)
    assert batch.graph.num_edges == len(found) and batch.graph.num_src == len(batch.nodes)


def test_a_missing_index_is_said(tmp_path):
    done = run(f"--index={tmp_path / 'nowhere'}", script=FOLDER / "packages.py")
    assert done.returncode == 1 and "apt-get update" in done.stderr and "Traceback" not in done.stderr
