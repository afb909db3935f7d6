"""What the first call in a process spends, piece by piece, each in processes of their own.

    python -m benchmarks startup   # on the best device here, or on the one that RECAPTURE_DEVICE names

Every row is measured several times: the first time files may come from a slow disk, the least shows the work itself.
"The model's own" is the least that any program does with that model: torch, a context on the device, transformers'
class of the model, tokenizer, weights, one forward pass.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from .made_encoder import folder, sentences

ROUNDS = 2
BAR = 3.0
_HEAD = """
import json, sys, time
import os
os.environ["TQDM_DISABLE"] = "1"
model, device, texts = sys.argv[1], sys.argv[2], json.load(open(sys.argv[3]))
steps, since, worked = [], time.perf_counter(), time.process_time()
def lap(name):
    global since, worked
    if device.startswith("cuda") and "torch" in sys.modules and sys.modules["torch"].cuda.is_initialized():
        sys.modules["torch"].cuda.synchronize()
    steps.append((name, (time.perf_counter() - since, time.process_time() - worked)))
    since, worked = time.perf_counter(), time.process_time()
"""
_TAIL = """
print("steps " + json.dumps(steps))
"""
_TORCH = """
import torch
lap("import torch")
torch.zeros(1, device=device).item()
lap("context on the device")
"""
_VECTORS = """
import numpy as np
import recapture as rc
rng = np.random.default_rng(0)
rows = [rng.standard_normal((400, 384), np.float32) for _ in range(2)]
lap("import of NumPy and recapture")
rc.evaluate(rows[0], {"c": rows[1]}, ceiling=False%s)
lap("rc.evaluate of vectors%s, first")
rc.evaluate(rows[0], {"c": rows[1]}, ceiling=False%s)
lap("rc.evaluate of vectors%s, second")
"""
CHILDREN = {
    "the model's own": _TORCH
    + """
from transformers.models.bert.modeling_bert import BertModel
lap("import of transformers' model class")
from tokenizers import Tokenizer
tokenizer = Tokenizer.from_file(model + "/tokenizer.json")
tokenizer.enable_truncation(256)
tokenizer.enable_padding()
lap("tokenizer")
from transformers.utils import logging
logging.set_verbosity_error()
loaded = BertModel.from_pretrained(model, local_files_only=True).float().eval()
lap("weights")
loaded.to(device)
lap("to the device")
rows = tokenizer.encode_batch(texts[:32])
ids = torch.tensor([row.ids for row in rows]).to(device)
mask = torch.tensor([row.attention_mask for row in rows]).to(device)
with torch.inference_mode():
    loaded(input_ids=ids, attention_mask=mask).last_hidden_state.sum().item()
    lap("first forward")
    loaded(input_ids=ids, attention_mask=mask).last_hidden_state.sum().item()
    lap("(second forward)")
""",
    "sentence-transformers' own": _TORCH
    + """
import sentence_transformers
lap("import sentence_transformers")
loaded = sentence_transformers.SentenceTransformer(model, device=device, local_files_only=True)
lap("model")
loaded.encode(texts[:32], show_progress_bar=False)
lap("first encode")
loaded.encode(texts[:32], show_progress_bar=False)
lap("(second encode)")
""",
    "rc.encode": """
import recapture as rc
lap("import recapture")
rc.encode(texts[:32], model, cache=False, device=device)
lap("rc.encode, first")
rc.encode(texts[:32], model, cache=False, device=device)
lap("(another encoder of the same name)")
""",
    "rc.evaluate of texts": """
import recapture as rc
lap("import recapture")
rc.evaluate(texts[:16], {"c": texts[16:32]}, encoder=model, cache=False, device=device, ceiling=False)
lap("rc.evaluate of texts, first")
rc.evaluate(texts[:16], {"c": texts[16:32]}, encoder=model, cache=False, device=device, ceiling=False)
lap("(the same again)")
""",
    "after libraries, context and classes": _TORCH
    + """
from transformers.models.bert.modeling_bert import BertModel
lap("import of transformers' model class")
import recapture as rc
from recapture.representations.encoder import resolve_encoder
lap("import of recapture's encoders")
encoder = resolve_encoder(model, device=device)
lap("find the encoder")
encoder.identity()
lap("hash its files")
encoder._load()
lap("load it")
encoder.encode_batch(texts[:32])
lap("first batch")
encoder.encode_batch(texts[:32])
lap("(second batch)")
encoder.facts(texts[:32])
lap("facts about texts")
""",
    "rc.evaluate of vectors, device named": _VECTORS
    % (", device=device", ", device named", ", device=device", ", device named"),
    "rc.evaluate of vectors": _VECTORS % ("", "", "", ""),
}
_PROFILED = """
import cProfile, pstats
watched = cProfile.Profile()
import recapture as rc
watched.enable()
rc.evaluate(texts[:16], {"c": texts[16:32]}, encoder=model, cache=False, device=device, ceiling=False)
watched.disable()
pstats.Stats(watched, stream=sys.stdout).sort_stats("tottime").print_stats(25)
"""


def child(program: str, arguments: list[str], *flags: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *flags, "-c", _HEAD + program + _TAIL, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    if done.returncode:
        print(done.stderr[-2000:], flush=True)
    return done


def steps_of(output: str) -> dict[str, tuple[float, float]]:
    """Seconds on the clock and seconds of work of each step."""
    line = next((line for line in output.splitlines() if line.startswith("steps ")), "steps []")
    return {name: tuple(spent) for name, spent in json.loads(line[6:])}


def measure(name: str, program: str, arguments: list[str]) -> tuple[float, float, float]:
    """Prints each step; returns the sums of steps without brackets: the first, the least, the least work."""
    runs = [steps_of(child(program, arguments).stdout) for _ in range(ROUNDS)]
    print(f"{name}: seconds the first time, at least, and at least of work (of all threads)")
    steps = list(runs[0])
    of_run = [[run.get(step, (0.0, 0.0)) for step in steps] for run in runs]
    rows = [
        (each[0][0], min(clock for clock, _ in each), min(work for _, work in each))
        for each in zip(*of_run, strict=True)
    ]
    kept = [row for step, row in zip(steps, rows, strict=True) if not step.startswith("(")]
    sums = (sum(row[0] for row in kept), sum(row[1] for row in kept), sum(row[2] for row in kept))
    for step, row in (*zip(steps, rows, strict=True), ("together", sums)):
        print(f"  {step:<60} " + " ".join(f"{number:8.2f}" for number in row), flush=True)
    return sums


def by_package(arguments: list[str], statement: str) -> None:
    """Which packages' own lines take the time of an import."""
    done = child(statement, arguments, "-X", "importtime")
    own: Counter[str] = Counter()
    for line in done.stderr.splitlines():
        if line.startswith("import time:") and "[us]" not in line:
            alone, _, module = line.removeprefix("import time:").split("|")
            parts = module.strip().split(".")
            own[".".join(parts[:2]) if parts[0] in ("torch", "transformers") else parts[0]] += int(alone)
    listed = ", ".join(f"{name} {spent / 1e6:.2f}" for name, spent in own.most_common(25))
    print(f"`{statement.strip().splitlines()[-1]}`, {sum(own.values()) / 1e6:.2f} s by package: {listed}", flush=True)


def bytecode(arguments: list[str], place: str) -> None:
    """Whether packages are compiled anew in every process, because nobody could keep what was compiled."""
    program = """
import torch
from transformers.models.bert.modeling_bert import BertModel
lap("import torch and transformers' model class")
import pathlib
files = [m.__spec__.cached for m in list(sys.modules.values()) if getattr(getattr(m, "__spec__", None), "cached", None)]
steps.append(("files", (len(files), 0)))
steps.append(("kept", (sum(pathlib.Path(file).is_file() for file in files), 0)))
"""
    usual = steps_of(child(program, arguments).stdout)
    kept, files = usual.pop("kept")[0], usual.pop("files")[0]
    print(f"bytecode is kept of {kept} of {files} files; seconds of work of {next(iter(usual))}:")
    for name, (_, spent) in usual.items():
        own = {"PYTHONPYCACHEPREFIX": f"{place}/bytecode", "PYTHONDONTWRITEBYTECODE": ""}
        first, second = (steps_of(child(program, arguments, **own).stdout)[name][1] for _ in range(2))
        print(
            f"  as it is {spent:.2f}; with an own folder of bytecode: first {first:.2f}, then {second:.2f}", flush=True
        )


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        device = os.environ.get("RECAPTURE_DEVICE") or best_device()
        model, what = folder(place)
        texts = f"{place}/texts.json"
        Path(texts).write_text(json.dumps(sentences(model, 200)), encoding="utf-8")
        print(f"start-up, device {device}, {what}, {ROUNDS} processes each")
        arguments = [model, device, texts]
        bytecode(arguments, place)
        sums = {name: measure(name, program, arguments) for name, program in CHILDREN.items()}
        for place_of, which in enumerate(("first time", "least", "least work")):
            own = sums["the model's own"][place_of]
            for name in ("sentence-transformers' own", "rc.encode", "rc.evaluate of texts"):
                beyond = sums[name][place_of] - own
                print(f"  {f'{name}, beyond the model itself, {which}':<60} {beyond:8.2f} s   (bar: below {BAR:g})")
        by_package(arguments, "import torch\nfrom transformers.models.bert.modeling_bert import BertModel")
        by_package(arguments, "import sentence_transformers")
        print(child(_PROFILED, arguments).stdout)


def best_device() -> str:
    answer = "import torch; print('cuda' if torch.cuda.is_available() else 'cpu')"
    return subprocess.run([sys.executable, "-c", answer], capture_output=True, text=True, check=True).stdout.strip()
