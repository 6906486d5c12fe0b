#!/usr/bin/env python3
"""What `stowagepy.estimate` says of a training step, and what it takes on a GPU (docs/python.md).

  PYTHONPATH=WHEEL_FOLDER bench/torch_estimate.py [--only gpt2,vit] [--explain] [--json FILE]

Needs torch with CUDA and the package; nothing else. For each model:
  1. the estimate, from the model on the meta device: nothing is computed and nothing allocated;
  2. a process that trains it in eager mode, AdamW, and reads torch.cuda.max_memory_allocated: of forward and
     backward, and of the whole step. Memory that libraries keep (cuBLAS's workspace) is what is still allocated after
     everything else is gone; it is measured, and added to the estimate.
With --explain the step runs once more, op by op: for each op the bytes before it, after it, and the most in between, beside
those of the plan. The largest differences are printed with their op.
"""

import argparse
import difflib
import gc
import json
import math
import platform
import subprocess
import sys
import time


def attention(torch, q, k, v, causal):
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)


def self_attention(torch, width, heads, causal):
    nn = torch.nn

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv = nn.Linear(width, 3 * width)
            self.out = nn.Linear(width, width)

        def forward(self, x):
            batch, length, _ = x.shape
            q, k, v = self.qkv(x).view(batch, length, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
            y = attention(torch, q, k, v, causal)
            return self.out(y.transpose(1, 2).reshape(batch, length, width))

    return Attention()


def block(torch, width, heads, causal):
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.attention = self_attention(torch, width, heads, causal)
            self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

        def forward(self, x):
            x = x + self.attention(self.norm1(x))
            return x + self.mlp(self.norm2(x))

    return Block()


def gpt2(torch):
    nn, width, vocabulary = torch.nn, 768, 50304

    class GPT(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(512, width)
            self.blocks = nn.ModuleList(block(torch, width, 12, True) for _ in range(12))
            self.norm = nn.LayerNorm(width)
            self.head = nn.Linear(width, vocabulary, bias=False)
            self.head.weight = self.tokens.weight

        def forward(self, tokens, targets):
            x = self.tokens(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
            for each in self.blocks:
                x = each(x)
            logits = self.head(self.norm(x))
            return nn.functional.cross_entropy(logits.view(-1, vocabulary), targets.view(-1))

    return GPT().to(torch.bfloat16), lambda: tokens_of(torch, vocabulary, 8, 512)


def tokens_of(torch, vocabulary, batch, length):
    made = torch.zeros(batch, length, dtype=torch.int64)
    return made, made.clone()


def rms_norm(torch, width):
    class RMSNorm(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(width))

        def forward(self, x):
            wide = x.float()
            return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)).to(x.dtype) * self.weight

    return RMSNorm()


def llama_layer(torch, width, heads, kv, hidden):
    def linear(rows, columns):
        return torch.nn.Linear(rows, columns, bias=False)

    def rotate(x, cos, sin):
        half = x.shape[-1] // 2
        return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin

    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = rms_norm(torch, width), rms_norm(torch, width)
            self.q, self.k, self.v = linear(width, width), linear(width, kv * 64), linear(width, kv * 64)
            self.gate, self.up = linear(width, hidden), linear(width, hidden)
            self.o, self.down = linear(width, width), linear(hidden, width)

        def forward(self, x, cos, sin):
            batch, length, _ = x.shape
            h = self.norm1(x)
            q = rotate(self.q(h).view(batch, length, heads, 64).transpose(1, 2), cos, sin)
            k = rotate(self.k(h).view(batch, length, kv, 64).transpose(1, 2), cos, sin)
            v = self.v(h).view(batch, length, kv, 64).transpose(1, 2)
            k, v = (each.repeat_interleave(heads // kv, 1) for each in (k, v))
            x = x + self.o(attention(torch, q, k, v, True).transpose(1, 2).reshape(batch, length, width))
            h = self.norm2(x)
            return x + self.down(torch.nn.functional.silu(self.gate(h)) * self.up(h))

    return Layer()


def llama(torch):
    nn, width, vocabulary, length = torch.nn, 2048, 32000, 2048

    class Llama(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens = nn.Embedding(vocabulary, width)
            self.layers = nn.ModuleList(llama_layer(torch, width, 32, 8, 8192) for _ in range(16))
            self.norm, self.head = rms_norm(torch, width), nn.Linear(width, vocabulary, bias=False)
            self.register_buffer("cos", torch.zeros(length, 64))
            self.register_buffer("sin", torch.zeros(length, 64))

        def forward(self, tokens, targets):
            x = self.tokens(tokens)
            for layer in self.layers:
                x = layer(x, self.cos, self.sin)
            logits = self.head(self.norm(x))
            return nn.functional.cross_entropy(logits.view(-1, vocabulary), targets.view(-1))

    return Llama().to(torch.bfloat16), lambda: tokens_of(torch, vocabulary, 2, length)


def moe(torch):
    nn, width, experts, vocabulary = torch.nn, 1024, 8, 32000

    class Experts(nn.Module):
        """Every expert sees every token; the router weighs them."""

        def __init__(self):
            super().__init__()
            self.router = nn.Linear(width, experts)
            self.experts = nn.ModuleList(
                nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)) for _ in range(experts)
            )

        def forward(self, x):
            weights = torch.softmax(self.router(x), -1)
            chosen, places = torch.topk(weights, 2, dim=-1)
            gates = torch.zeros_like(weights).scatter(-1, places, chosen)
            return sum(gates[..., i, None] * expert(x) for i, expert in enumerate(self.experts))

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.attention, self.experts = self_attention(torch, width, 16, True), Experts()

        def forward(self, x):
            x = x + self.attention(self.norm1(x))
            return x + self.experts(self.norm2(x))

    class MoE(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens = nn.Embedding(vocabulary, width)
            self.layers = nn.ModuleList(Layer() for _ in range(6))
            self.head = nn.Linear(width, vocabulary, bias=False)

        def forward(self, tokens, targets):
            x = self.tokens(tokens)
            for layer in self.layers:
                x = layer(x)
            return nn.functional.cross_entropy(self.head(x).view(-1, vocabulary), targets.view(-1))

    return MoE().to(torch.bfloat16), lambda: tokens_of(torch, vocabulary, 4, 512)


def resnet50(torch):
    nn = torch.nn

    class Bottleneck(nn.Module):
        def __init__(self, entry, width, stride):
            super().__init__()
            self.conv1, self.bn1 = nn.Conv2d(entry, width, 1, bias=False), nn.BatchNorm2d(width)
            self.conv2, self.bn2 = nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width)
            self.conv3, self.bn3 = nn.Conv2d(width, 4 * width, 1, bias=False), nn.BatchNorm2d(4 * width)
            self.relu = nn.ReLU(inplace=True)
            self.shortcut = None
            if stride > 1 or entry != 4 * width:
                self.shortcut = nn.Sequential(nn.Conv2d(entry, 4 * width, 1, stride, bias=False), nn.BatchNorm2d(4 * width))

        def forward(self, x):
            y = self.relu(self.bn1(self.conv1(x)))
            y = self.relu(self.bn2(self.conv2(y)))
            y = self.bn3(self.conv3(y))
            y += x if self.shortcut is None else self.shortcut(x)
            return self.relu(y)

    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    entry = 64
    for width, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for i in range(count):
            layers.append(Bottleneck(entry, width, stride if i == 0 else 1))
            entry = 4 * width
    body = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000))
    return classifier(torch, body), lambda: images_of(torch, 64, 224)


def classifier(torch, body):
    class Classifier(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.body = body

        def forward(self, images, classes):
            return torch.nn.functional.cross_entropy(self.body(images), classes)

    return Classifier()


def images_of(torch, batch, side, dtype=None):
    return torch.zeros(batch, 3, side, side, dtype=dtype), torch.zeros(batch, dtype=torch.int64)


def unet(torch):
    nn = torch.nn

    def pair(entry, width):
        layers = []
        for channels in (entry, width):
            layers += [nn.Conv2d(channels, width, 3, 1, 1), nn.GroupNorm(8, width), nn.SiLU()]
        return nn.Sequential(*layers)

    class UNet(nn.Module):
        def __init__(self, widths=(64, 128, 256, 512)):
            super().__init__()
            entries = (3, *widths[:-1])
            self.down = nn.ModuleList(pair(entry, width) for entry, width in zip(entries, widths))
            self.middle = pair(widths[-1], widths[-1])
            self.up = nn.ModuleList(pair(2 * width, max(width // 2, widths[0])) for width in reversed(widths))
            self.out = nn.Conv2d(widths[0], 3, 1)

        def forward(self, images, noise):
            x, skips = images, []
            for each in self.down:
                x = each(x)
                skips.append(x)
                x = nn.functional.max_pool2d(x, 2)
            x = self.middle(x)
            for each in self.up:
                x = nn.functional.interpolate(x, scale_factor=2.0)
                x = each(torch.cat((x, skips.pop()), 1))
            return nn.functional.mse_loss(self.out(x), noise)

    return UNet(), lambda: (torch.zeros(4, 3, 256, 256), torch.zeros(4, 3, 256, 256))


def vit(torch):
    nn, width = torch.nn, 768

    class ViT(nn.Module):
        def __init__(self):
            super().__init__()
            self.patches = nn.Conv2d(3, width, 16, 16)
            self.first = nn.Parameter(torch.zeros(1, 1, width))
            self.places = nn.Parameter(torch.zeros(1, 197, width))
            self.blocks = nn.Sequential(*(block(torch, width, 12, False) for _ in range(12)))
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 1000)

        def forward(self, images):
            x = self.patches(images).flatten(2).transpose(1, 2)
            x = torch.cat((self.first.expand(x.shape[0], -1, -1), x), 1) + self.places
            return self.head(self.norm(self.blocks(x))[:, 0])

    return classifier(torch, ViT()).to(torch.bfloat16), lambda: images_of(torch, 32, 224, torch.bfloat16)


MODELS = {"gpt2": gpt2, "llama": llama, "moe": moe, "resnet50": resnet50, "unet": unet, "vit": vit}


def estimated(torch, name):
    """The estimate, on the meta device; and how long it took."""
    import stowagepy

    with torch.device("meta"):
        model, inputs = MODELS[name](torch)
        given = inputs()
    start = time.perf_counter()
    step = stowagepy.estimate(model, *given, device=DEVICE, time_limit=10.0)
    return step, time.perf_counter() - start


def on_device(torch, name):
    torch.manual_seed(1)
    with torch.device(DEVICE):
        model, inputs = MODELS[name](torch)
        given = inputs()
    return model.train(), given


def measured(torch, name):
    """The most bytes allocated in forward and backward, in the whole step, and what libraries keep."""
    cuda = torch.cuda
    model, given = on_device(torch, name)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-6)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = model(*given)
        loss.backward()
        del loss

    step()  # libraries load, the optimizer makes its state
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    cuda.synchronize()
    between = cuda.memory_allocated()
    cuda.reset_peak_memory_stats()
    step()
    cuda.synchronize()
    both = cuda.max_memory_allocated()
    optimizer.step()
    cuda.synchronize()
    whole = cuda.max_memory_allocated()
    del model, given, optimizer
    gc.collect()
    return {"forward_backward": both, "whole": whole, "between_steps": between, "libraries": cuda.memory_allocated()}


def watched(torch, name):
    """What is allocated before, during and after each op of a step."""
    from torch.utils._python_dispatch import TorchDispatchMode

    cuda, found = torch.cuda, []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            before = cuda.memory_allocated()
            cuda.reset_peak_memory_stats()
            out = function(*args, **(kwargs or {}))
            kind = function._schema.name.removeprefix("aten::")
            found.append((kind, before, cuda.max_memory_allocated(), cuda.memory_allocated()))
            return out

    model, given = on_device(torch, name)
    for _ in range(2):
        found.clear()
        model.zero_grad(set_to_none=True)
        gc.collect()
        with torch.autograd.set_multithreading_enabled(False), Watch():
            model(*given).backward()
    return found


def live_by_op(step):
    """By op of the plan's graph that has a task: kind, and the bytes live during it."""
    graph = json.loads(step.plan.graph.to_json())
    tensors, ops = graph["tensors"], graph["ops"]

    def root(tensor):
        while "view_of" in tensors[tensor]:
            tensor = tensors[tensor]["view_of"]["tensor"]
        return tensor

    lives = {}
    for at, op in enumerate(ops):
        for tensor in () if op.get("no_task") else (*op.get("inputs", []), *op.get("outputs", [])):
            lives.setdefault(root(tensor), [at, at])[1] = at
    for number, tensor in enumerate(tensors):
        flags = tensor.get("flags", [])
        if "output" in flags and root(number) in lives:
            lives[root(number)][1] = len(ops)
        if "input" in flags:
            lives[number] = [0, len(ops)]
    change = [0] * (len(ops) + 2)
    for tensor, (first, last) in lives.items():
        if {"constant", "variable"} & set(tensors[tensor].get("flags", [])):
            continue
        size = -(-tensors[tensor]["size"] // 512) * 512
        change[first] += size
        change[last + 1] -= size
    total, result = 0, []
    for at, op in enumerate(ops):
        total += change[at]
        if not op.get("no_task"):
            result.append((op["kind"], total, op.get("scope", ""), op["name"]))
    return result


def matched(step, name):
    """The ops that both sides have, in order: what the plan has live and what the GPU has, without what is always there."""
    found, planned = child(name, "watch"), live_by_op(step)
    always = step.parameters + step.buffers + found["libraries"]
    ops = found["ops"]
    matcher = difflib.SequenceMatcher(None, [each[0] for each in planned], [each[0] for each in ops], autojunk=False)
    rows = []
    for start, other, length in matcher.get_matching_blocks():
        for (kind, live, scope, op), (_, before, most, after) in zip(planned[start : start + length], ops[other : other + length]):
            rows.append(
                {"kind": kind, "op": f"{op} in {scope or name}", "plan": live, "gpu": most - always, "own": most - max(before, after)}
            )
    return rows, len(planned)


def explain(step, name):
    """Prints where the plan and the GPU differ most, op by op."""
    rows, count = matched(step, name)
    print(f"  {len(rows)} of {count} ops of the plan found on the GPU; at the peak of each side:")
    for side in ("plan", "gpu"):
        row = max(rows, key=lambda each, side=side: each[side])
        both = f"planned {mib(row['plan'])}, GPU {mib(row['gpu'])}, of which {mib(row['own'])} for itself"
        print(f"    {side:<6}{row['op']}: {both}")
    print("  what ops need for themselves while they run, the largest of each kind:")
    largest = {}
    for row in sorted(rows, key=lambda each: -each["own"]):
        largest.setdefault(row["kind"], row)
    for row in list(largest.values())[:5]:
        print(f"    {mib(row['own']):>12}  {row['op']}")
    print("  where the difference changes most from one op to the next, without what ops need for themselves:")
    apart = [row["gpu"] - row["own"] - row["plan"] for row in rows]
    for i in sorted(range(1, len(rows)), key=lambda i: -abs(apart[i] - apart[i - 1]))[:8]:
        print(f"    {mib(apart[i] - apart[i - 1]):>12}  at {rows[i]['op']}")


def mib(size):
    return f"{size / 2**20:.1f} MiB"


def child(name, what):
    process = subprocess.run([sys.executable, __file__, "--child", f"{what}:{name}"], capture_output=True, text=True)
    if process.returncode:
        raise SystemExit(f"{name}: {process.stderr[-2000:]}")
    return json.loads(process.stdout.splitlines()[-1])


def run_child(torch, command):
    what, name = command.split(":")
    if what == "measure":
        print(json.dumps(measured(torch, name)))
        return
    found = watched(torch, name)
    gc.collect()
    print(json.dumps({"ops": found, "libraries": torch.cuda.memory_allocated()}))


def compare(torch, name):
    step, seconds = estimated(torch, name)
    real = child(name, "measure")
    both = step.parameters + step.buffers + step.optimizer + step.plan.peak + real["libraries"]
    whole = step.total + real["libraries"]
    return step, {
        "model": name,
        "ops": len(step.plan.graph.op_names),
        "seconds": seconds,
        "libraries": real["libraries"],
        "between": real["between_steps"],
        "static": step.static,
        "proven": step.plan.proven,
        "planned": both,
        "measured": real["forward_backward"],
        "planned_whole": whole,
        "measured_whole": real["whole"],
    }


def main():
    global DEVICE
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default=",".join(MODELS))
    parser.add_argument("--explain", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("--estimate-only", action="store_true", help="without a GPU")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    import torch

    if options.child:
        return run_child(torch, options.child)
    if options.estimate_only:
        DEVICE = "cpu"
        for name in options.only.split(","):
            step, seconds = estimated(torch, name)
            print(f"{step}\n  ({len(step.plan.graph.op_names)} ops, {seconds:.1f} s, proven {step.plan.proven})\n", flush=True)
        return None
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, Python {platform.python_version()}; MiB")
    head = ("model", "ops", "s", "libraries", "fwd+bwd plan", "GPU", "off by", "step plan", "GPU", "off by")
    print("".join(f"{each:>13}" for each in head), flush=True)
    rows = []
    for name in options.only.split(","):
        step, row = compare(torch, name)
        rows.append(row)
        cells = [name, row["ops"], f"{row['seconds']:.1f}", f"{row['libraries'] / 2**20:.1f}"]
        for planned, found in ((row["planned"], row["measured"]), (row["planned_whole"], row["measured_whole"])):
            cells += [f"{planned / 2**20:.1f}", f"{found / 2**20:.1f}", f"{100 * (planned / found - 1):+.2f}%"]
        print("".join(f"{each:>13}" for each in cells), flush=True)
        if options.explain:
            explain(step, name)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
    worst = max((abs(math.log(row["planned"] / row["measured"])) for row in rows), default=0)
    print(f"forward and backward: within {100 * (math.exp(worst) - 1):.2f}% on all {len(rows)} models")
    return None


DEVICE = "cuda"

if __name__ == "__main__":
    main()
