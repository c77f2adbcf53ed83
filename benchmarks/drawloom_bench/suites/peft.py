# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cases of the peft suite: a training step, forward and backward, of one layer of Hugging Face PEFT around a frozen
torch.nn.Linear(1024, 1024), computed by Drawloom (drawloom.torch.patch_peft) and by PEFT itself. Calls that Drawloom leaves to PEFT
take PEFT's time in both columns."""

import numpy as np

from drawloom_bench.suites.case import TRAIN_RTOL, Case, normal, torch_call

WIDTH = 1024

# (method, configuration, its options, goals of many and few rows)
LAYERS = [("LoRA", "Lora", {"r": 16, "lora_alpha": 32}, "1.2", "1.2"), ("DoRA", "Lora", {"r": 16, "lora_alpha": 32, "use_dora": True}, "1.7", "4"),
          ("VeRA", "Vera", {"r": 256}, "1.2", "1.2"), ("LoKr", "LoKr", {"r": 8, "alpha": 8}, "2.3", "3"),
          ("LoKr, both factors of low rank", "LoKr", {"r": 16, "alpha": 16, "decompose_factor": 8, "decompose_both": True}, "2.3", "3"),
          ("LoHa", "LoHa", {"r": 8, "alpha": 8}, "2.3", "3"), ("RandLoRA", "RandLora", {"r": 32}, "1.8", "1.2"),
          ("MiSS", "Miss", {"r": 64}, "1.1", "1.1"),
          ("MiSS mini", "Miss", {"r": 64, "mini_r": 64, "init_weights": "mini"}, "1.1", "1.1"), ("OFT", "OFT", {"oft_block_size": 32}, "1.15", "1.2"),
          ("BOFT", "BOFT", {"boft_block_size": 4}, "4.5", "20"), ("HiRA", "Hira", {"r": 32}, "1.8", "2"),
          ("SHiRA", "Shira", {"r": 32}, "1.2", "1.5"), ("GraLoRA", "Gralora", {"r": 32, "gralora_k": 2}, "1.2", "1.2")]


def case_of(rows, method, kind, options, goal):
    def make(_):
        import peft
        import torch

        from drawloom.torch import patch_peft, unpatch_peft

        rng = np.random.default_rng(0)
        x, cotangent = torch.from_numpy(normal(rng, rows, WIDTH)).requires_grad_(), torch.from_numpy(normal(rng, rows, WIDTH))
        torch.manual_seed(0)
        untrained = {"init_lora_weights" if kind == "Lora" else "init_weights": False}
        model = peft.get_peft_model(torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH)),
                                    getattr(peft, f"{kind}Config")(**{"target_modules": ["0"], **untrained, **options}))
        layer = model.base_model.model[0].train()
        trained = [parameter for parameter in layer.parameters() if parameter.requires_grad]

        def step(forward):
            return torch_call(lambda: forward(layer, x), [x, *trained], cotangent)

        theirs = type(layer).forward
        patch_peft()
        ours = type(layer).forward
        unpatch_peft()
        return {"drawloom": step(ours), "peft": step(theirs)}

    # What the frozen layer takes: its product, and that of its rows' gradient.
    return Case(f"{method}, {rows} rows", 4 * rows * WIDTH * WIDTH, 16 * rows * WIDTH, make, goal, TRAIN_RTOL)


CASES = [case_of(rows, method, kind, options, goals[few]) for few, rows in enumerate((1024, 128)) for method, kind, options, *goals in LAYERS]
