# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""pykeen's R-GCN with DistMult on its data sets Kinships and UMLS, and the same model whose messages Drawloom computes.

    pip install pykeen==1.11.1
    drawloom-bench graph-completion                    # three seeds of each data set
    drawloom-bench graph-completion --epochs 20 --seeds 1 --dataset umls

Parameters, their first values, dropout of edges, negative samples, the loss and the evaluation are pykeen's own; only the sums over edges
are not. Prints the filtered mean reciprocal rank on pykeen's own test split, and the seconds of training.
"""

import logging
import statistics
import time
import warnings

import torch

from drawloom_bench import BenchError


def representations():
    """By name: pykeen's own, and the same whose messages Drawloom computes."""
    try:
        from pykeen.nn.message_passing import RGCNRepresentation
    except ImportError:
        raise BenchError("it needs pykeen: pip install pykeen==1.11.1") from None

    from drawloom.torch import Graph
    from drawloom.torch.nn import RGCNConv

    class Computed(RGCNRepresentation):
        """The layers of pykeen's representation, their messages as those of one graph that has each edge in both directions."""

        def _real_forward_all(self):
            if self.enriched_embeddings is not None:
                return self.enriched_embeddings
            x = self.entity_embeddings(indices=None)
            edges = torch.stack([self.sources, self.targets, self.edge_types])
            if self.training and self.edge_dropout is not None:
                edges = edges[:, torch.rand(edges.shape[1]) > self.edge_dropout]
            source, target, relation = edges
            relations = self.layers[0].fwd.num_relations
            # One by the edges of a relation into the target of the triple, in both directions.
            place = target * relations + relation
            share = 1.0 / torch.bincount(place, minlength=len(x) * relations)[place]
            # What pykeen calls forward adds to a triple's source.
            graph = Graph(torch.cat([target, source]), torch.cat([source, target]), torch.cat([relation, relation + relations]),
                          num_src=len(x), num_dst=len(x), num_relations=2 * relations)
            for layer in self.layers:
                weight = torch.cat([one.relation_representations(indices=None) for one in (layer.fwd, layer.bwd)])
                with torch.random.fork_rng():
                    conv = RGCNConv(*weight.shape[1:], 2 * relations, aggr="sum", root_weight=False, bias=False)
                x = layer.dropout(layer.self_loop(x)) + torch.func.functional_call(
                    conv, {"weight": weight}, (x, graph), {"edge_weight": torch.cat([share, share])})
                if layer.activation is not None:
                    x = layer.activation(x)
            if self.cache:
                self.enriched_embeddings = x
            return x

    return {"pykeen": RGCNRepresentation, "drawloom": Computed}


def model(representation, width):
    """R-GCN as pykeen.models.RGCN makes it, with one of the representations."""
    from pykeen.models import ERModel

    class Model(ERModel):
        def __init__(self, *, triples_factory, **options):
            shape = {"shape": width, "initializer": "xavier_uniform"}
            super().__init__(triples_factory=triples_factory, interaction="distmult", entity_representations=representation,
                             entity_representations_kwargs={"triples_factory": triples_factory, "entity_representations_kwargs": shape,
                                                            "decomposition": "bases", "edge_weighting": "inverseindegree"},
                             relation_representations_kwargs=shape, **options)

    return Model


def run(dataset, representation, seed, options):
    from pykeen.pipeline import pipeline

    start = time.perf_counter()
    result = pipeline(dataset=dataset, model=model(representation, options.width), random_seed=seed, loss="softplus",
                      optimizer="adam", optimizer_kwargs={"lr": 0.01}, training_loop="slcwa", negative_sampler_kwargs={"num_negs_per_pos": 10},
                      training_kwargs={"num_epochs": options.epochs, "batch_size": 1024, "use_tqdm": False, "use_tqdm_batch": False},
                      evaluation_kwargs={"use_tqdm": False}, evaluator_kwargs={"filtered": True}, device="cpu")
    return result.metric_results.get_metric("both.realistic.inverse_harmonic_mean_rank"), time.perf_counter() - start, result.losses


def arguments(parser):
    parser.add_argument("--dataset", action="append", choices=["kinships", "umls"], help="both, where nothing is said")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--width", type=int, default=64, help="of embeddings")
    parser.add_argument("--threads", type=int, default=1)


def main(options):
    torch.set_num_threads(options.threads)
    logging.disable(logging.WARNING)
    warnings.filterwarnings("ignore")
    contenders = representations()
    from pykeen.datasets import get_dataset

    for name in options.dataset or ["kinships", "umls"]:
        dataset, found = get_dataset(dataset=name), {"pykeen": [], "drawloom": []}
        for seed in range(options.seeds):
            for kind, representation in contenders.items():
                rank, seconds, losses = run(dataset, representation, seed, options)
                found[kind].append((rank, seconds))
                print(f"{name:<9} seed {seed}  {kind:<9} MRR {rank:.4f}  {seconds:6.1f} s  last loss {losses[-1]:.5f}", flush=True)
        means = {kind: [statistics.mean(values) for values in zip(*runs)] for kind, runs in found.items()}
        print(f"{name:<9} means   drawloom MRR {means['drawloom'][0]:.4f}, pykeen {means['pykeen'][0]:.4f}; "
              f"{means['pykeen'][1] / means['drawloom'][1]:.2f} x its speed", flush=True)
