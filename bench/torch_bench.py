#!/usr/bin/env python3
"""PyTorch on a GPU, with its own allocators and with Stowage's (docs/torch.md): the same seeds, a process for each.

  bench/torch_bench.py --library build/release/adapters/torch/libstowage_torch.so [--only train,oom] [--json FILE]

Parts: `train`, a GPT-2-size model (random weights) on batches of varying lengths; `pace`, the same with batches so large that the GPU
is never idle, the allocators in turns: what a step takes; `generate`, with a key and value cache that grows; `oom`, a workload that needs 97% of a limited device; `capture`, `streams` and `mempool`, right or wrong. Prints a table for each and,
with --json, all figures. Exit code 1 when a result differs from the native allocator's, or a part fails that must not.
"""

import argparse
import hashlib
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
MIB = 2**20
ALLOCATORS = ["native", "expandable", "stowage", "stowage_ahead"]
LIMIT = 4096 * MIB  # of the device, in `oom`
WARM_UP = 2  # rounds that are not measured
TURNS = {"pace": 3}
PARTS = {"train": ALLOCATORS, "pace": ALLOCATORS, "generate": ALLOCATORS, "oom": ["native", "expandable", "stowage"], "capture": ["native", "stowage"],
         "streams": ["native", "stowage"], "mempool": ["native", "stowage_pool"]}
MUST_WORK = {"stowage", "stowage_ahead", "stowage_pool"}


# --------------------------------------------------------------------------------------------------------------- the model


def gpt(torch, layers=12, width=768, heads=12, vocabulary=50257, context=1024):
    """A GPT-2 of 124 million parameters. Attention is written out: deterministic, and it has the memory of its scores."""
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

        def forward(self, x, cache):
            batch, length, _ = x.shape
            split = self.qkv(self.norm1(x)).view(batch, length, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
            q, k, v = split[0], split[1], split[2]
            if cache is not None:
                k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
            scores = q @ k.transpose(-1, -2) * (width // heads) ** -0.5
            mask = torch.ones(length, k.shape[2], dtype=torch.bool, device=x.device).tril(k.shape[2] - length)
            weights = scores.masked_fill(~mask, float("-inf")).softmax(-1)
            x = x + self.out((weights @ v).transpose(1, 2).reshape(batch, length, width))
            return x + self.mlp(self.norm2(x)), (k, v)

    class Gpt(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
            self.blocks = nn.ModuleList(Block() for _ in range(layers))
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)

        def forward(self, tokens, caches=None):
            start = 0 if caches is None else caches[0][0].shape[2]
            x = self.tokens(tokens) + self.places(torch.arange(start, start + tokens.shape[1], device=tokens.device))
            kept = []
            for number, block in enumerate(self.blocks):
                x, cache = block(x, None if caches is None else caches[number])
                kept.append(cache)
            return self.head(self.norm(x)), kept

    return Gpt()


# --------------------------------------------------------------------------------------------------------------- workloads


class Worker:
    """One part with one allocator, in this process."""

    def __init__(self, allocator, library, part):
        self.stowage = None
        os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
        import torch

        if allocator.startswith("stowage"):
            sys.path[:0] = [str(pathlib.Path(library).resolve().parent), str(HERE.parent / "adapters" / "torch")]
            import stowage_torch

            self.stowage = stowage_torch
            if allocator != "stowage_pool":
                stowage_torch.enable(plan_ahead=allocator == "stowage_ahead", limit=LIMIT if part == "oom" else None, library=library)
        elif part == "oom":
            total = torch.cuda.get_device_properties(0).total_memory
            torch.cuda.set_per_process_memory_fraction(LIMIT / total)
        self.torch, self.library, self.allocator = torch, library, allocator
        self.peak_before = 0
        torch.use_deterministic_algorithms(True, warn_only=True)
        torch.utils.deterministic.fill_uninitialized_memory = False
        torch.manual_seed(1)

    def iteration(self, number):
        """The first round, a short one, allocates what stays; the second, as long as any, is the one that plans are made of."""
        import contextlib

        return self.stowage.iteration() if self.allocator == "stowage_ahead" and number > 0 else contextlib.nullcontext()

    def start_measuring(self):
        """Behind the warm-up: what is idle goes back, and peaks count from here."""
        self.torch.cuda.synchronize()
        self.peak_before = self.peak_reserved()
        self.torch.cuda.empty_cache()
        if self.allocator in ("stowage", "stowage_ahead"):
            self.stowage.reset_peaks()
        else:
            self.torch.cuda.reset_peak_memory_stats()

    def peak_reserved(self):
        if self.allocator in ("stowage", "stowage_ahead"):
            return self.stowage.stats()["reserved_peak_bytes"]
        return self.torch.cuda.max_memory_reserved()

    def train(self, steps=60, batch=8, shortest=64, longest=768):
        torch = self.torch
        model = gpt(torch).cuda()
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
        draw = random.Random(2)
        lengths = [shortest, longest] + [longest] + [draw.randint(shortest, longest) for _ in range(steps - 1)]
        losses, times = [], []
        for number, length in enumerate(lengths):
            if number == WARM_UP:
                self.start_measuring()
            tokens = torch.randint(50257, (batch, length + 1), generator=torch.Generator().manual_seed(length)).cuda()
            torch.cuda.synchronize()
            start = time.perf_counter()
            with self.iteration(number):
                with torch.autocast("cuda", torch.bfloat16):
                    logits = model(tokens[:, :-1])[0]  # the caches go
                    loss = torch.nn.functional.cross_entropy(logits.float().flatten(0, 1), tokens[:, 1:].flatten())
                del logits
                loss.backward()
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)
                losses.append(loss.item())
                del loss
            torch.cuda.synchronize()
            times.append(time.perf_counter() - start)
        return {"result": losses, "times": times[WARM_UP:]}

    def pace(self):
        return self.train(steps=30, batch=24, shortest=512, longest=1024)

    def generate(self, rounds=5, tokens=200):
        torch = self.torch
        model = gpt(torch).to(torch.bfloat16).cuda().eval()
        draw = random.Random(3)
        made, times = [], []
        for number in range(WARM_UP + rounds):
            if number == WARM_UP:
                self.start_measuring()
            prompt = 200 if number <= WARM_UP else draw.randint(16, 200)
            given = torch.randint(50257, (16, prompt), generator=torch.Generator().manual_seed(number)).cuda()
            torch.cuda.synchronize()
            start = time.perf_counter()
            with self.iteration(number), torch.no_grad():
                caches, answer = None, []
                for _ in range(tokens):
                    logits, caches = model(given, caches)
                    given = logits[:, -1].argmax(-1, keepdim=True)
                    answer.append(given)
                made.append(torch.cat(answer, 1).cpu().numpy().tobytes())
                del caches, answer, logits, given
            torch.cuda.synchronize()
            times.append(time.perf_counter() - start)
        return {"result": hashlib.sha256(b"".join(made)).hexdigest(), "times": times[WARM_UP:]}

    def oom(self):
        """Holes that are each too small, and 97% of the device in use at last."""
        torch = self.torch

        def filled(number, mib):
            return torch.full((mib * MIB // 4,), number, dtype=torch.int32, device="cuda")

        whole = filled(0, 58 * 64)
        del whole
        blocks = [filled(number, 64) for number in range(58)]
        blocks = blocks[::2]
        blocks += [filled(100 + number, 96) for number in range(22)]
        right = all(int(block.min()) == int(block.max()) for block in blocks)
        bytes_live = sum(block.numel() * 4 for block in blocks)
        return {"result": [right, [int(block[0]) for block in blocks]], "live_share": bytes_live / LIMIT}

    def churn(self, mib=64, count=8):
        """Ordinary memory comes and goes, all of it written."""
        for number in range(count):
            self.torch.full(((mib + number) * MIB // 4,), -1, dtype=self.torch.int32, device="cuda")

    def capture(self):
        torch = self.torch
        model = gpt(torch, layers=4).cuda().eval()
        given = torch.randint(50257, (4, 128), device="cuda")
        pool, graphs, outputs = torch.cuda.graph_pool_handle(), [], []
        with torch.no_grad():
            side = torch.cuda.Stream()
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                model(given)
            torch.cuda.current_stream().wait_stream(side)
            for part in (slice(0, 2), slice(2, 4)):  # two graphs that share a pool
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph, pool=pool):
                    outputs.append(model(given[part])[0])
                graphs.append(graph)
            equal = True
            for seed in range(5):
                self.churn()
                torch.cuda.empty_cache()
                torch.manual_seed(seed)
                given.copy_(torch.randint(50257, given.shape, device="cuda"))
                for graph in graphs:
                    graph.replay()
                self.churn()
                for number, part in enumerate((slice(0, 2), slice(2, 4))):
                    equal &= bool(torch.equal(outputs[number], model(given[part])[0]))
        before = self.stowage.stats()["reserved_bytes"] if self.stowage else 0
        del graphs, graph, outputs
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        after = self.stowage.stats()["reserved_bytes"] if self.stowage else 0
        return {"result": equal, "must_be": True, "returned_bytes": before - after}

    def streams(self):
        """Memory that another stream reads is not overwritten before it has."""
        torch = self.torch
        side, equal = torch.cuda.Stream(), True
        for number in range(20):
            block = torch.full((16 * MIB // 4,), number, dtype=torch.int32, device="cuda")
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                torch.cuda._sleep(20_000_000)
                copy = block.clone()
            block.record_stream(side)
            del block
            other = torch.full((16 * MIB // 4,), -1, dtype=torch.int32, device="cuda")
            torch.cuda.synchronize()
            equal &= int(copy.min()) == int(copy.max()) == number
            del copy, other
        return {"result": equal, "must_be": True}

    def mempool(self):
        torch = self.torch
        pools = [self.stowage.pool(library=self.library) if self.stowage else torch.cuda.MemPool() for _ in range(2)]
        kept = []
        for number in range(40):
            with torch.cuda.use_mem_pool(pools[number % 2]):
                kept.append(torch.full((5 * MIB // 4,), number, dtype=torch.int32, device="cuda"))
            self.churn(8, 2)
            if number % 5 == 4:
                del kept[number % 3]
        right = all(int(each.min()) == int(each.max()) for each in kept)
        reserved = self.stowage.stats()["reserved_bytes"] if self.stowage else None
        values = [int(each[0]) for each in kept]
        del kept, pools
        torch.cuda.empty_cache()
        left = self.stowage.stats()["requested_bytes"] if self.stowage else None
        return {"result": [right, values], "stowage_reserved_bytes": reserved, "stowage_left_bytes": left}


def work(part, allocator, library):
    worker = Worker(allocator, library, part)
    outcome = getattr(worker, part)()
    outcome["peak_reserved_later_bytes"] = worker.peak_reserved()
    outcome["peak_reserved_bytes"] = max(worker.peak_before, worker.peak_reserved())
    if worker.stowage and allocator != "stowage_pool":
        outcome["stowage"] = worker.stowage.stats()
    print("RESULT " + json.dumps(outcome))


# ----------------------------------------------------------------------------------------------------------------- control


def run(part, allocator, library):
    environment = dict(os.environ)
    if allocator == "expandable":
        environment["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"
    start = time.perf_counter()
    done = subprocess.run([sys.executable, __file__, "--worker", part, "--allocator", allocator, "--library", library], env=environment,
                          capture_output=True, text=True, timeout=300)
    line = next((line for line in done.stdout.splitlines() if line.startswith("RESULT ")), None)
    outcome = json.loads(line[7:]) if line and done.returncode == 0 else {"error": (done.stderr.strip().splitlines() or ["nothing was said"])[-1]}
    outcome["exit_code"], outcome["seconds"] = done.returncode, time.perf_counter() - start
    return outcome


def run_in_turns(part, library):
    """An outcome for each allocator; its times are the medians of all turns, step by step."""
    turns = [{allocator: run(part, allocator, library) for allocator in PARTS[part]} for _ in range(TURNS.get(part, 1))]
    outcomes = turns[0]
    for allocator, outcome in outcomes.items():
        bad = next((turn[allocator] for turn in turns if "error" in turn[allocator] or turn[allocator]["result"] != outcome["result"]), None)
        if bad:
            outcomes[allocator] = bad
        elif "times" in outcome:
            outcome["times"] = [statistics.median(times) for times in zip(*(turn[allocator]["times"] for turn in turns))]
    return outcomes


def compare(outcome, native):
    """What a table says of an outcome besides what it is."""
    if "error" in outcome:
        return
    expected = outcome.get("must_be", native.get("result", outcome["result"]))
    outcome["same"] = outcome["result"] == expected
    if "times" in outcome and "times" in native:
        skip = len(outcome["times"]) // 5  # sizes are new at first
        ratios = [ours / theirs for ours, theirs in zip(outcome["times"][skip:], native["times"][skip:])]
        outcome["time_ratio"] = statistics.median(ratios)


def show(part, outcomes):
    print(f"\n{part}\n| allocator | result | peak reserved MiB | after the warm-up | median time | time to native's | seconds in all |\n|---|---|---|---|---|---|---|")
    for allocator, outcome in outcomes.items():
        if "error" in outcome:
            print(f"| {allocator} | {outcome['error'][:150]} | | | | {outcome['seconds']:.1f} |")
            continue
        median = f"{statistics.median(outcome['times']) * 1e3:.2f} ms" if "times" in outcome else ""
        ratio = f"{outcome['time_ratio']:.4f}" if "time_ratio" in outcome else ""
        result = "same" if outcome["same"] else "DIFFERS"
        print(f"| {allocator} | {result} | {outcome['peak_reserved_bytes'] / MIB:.0f} | {outcome['peak_reserved_later_bytes'] / MIB:.0f} | {median} | {ratio} | {outcome['seconds']:.1f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, help="libstowage_torch.so")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, with commas between them")
    parser.add_argument("--json", help="a file for all figures")
    parser.add_argument("--worker", choices=list(PARTS), help=argparse.SUPPRESS)
    parser.add_argument("--allocator", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        return work(arguments.worker, arguments.allocator, arguments.library)
    everything, failed = {}, []
    for part in arguments.only.split(","):
        outcomes = everything[part] = run_in_turns(part, arguments.library)
        for allocator in PARTS[part]:
            compare(outcomes[allocator], outcomes["native"])
            if allocator in MUST_WORK and not outcomes[allocator].get("same"):
                failed.append(f"{part} with {allocator}")
        show(part, outcomes)
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(everything, indent=1))
    print("\nfailed: " + ", ".join(failed) if failed else "\nall as expected")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
