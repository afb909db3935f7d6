"""What stands below a table of results: how many texts, which models, what the rows are, how sure they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .result import Result, short_p

Given = Mapping[str, Mapping[str, Result]]
CEILING = "ceiling"
_ARROWS = "↑ higher is better, ↓ lower is better"


def is_aligned(results: Given) -> bool:
    """Whether candidates met their own references, and not one set another."""
    return any("aligned" in result.details for by_metric in results.values() for result in by_metric.values())


def caption(results: Given) -> list[str]:
    return _of_aligned(results) if is_aligned(results) else _of_sets(results)


def _of_sets(results: Given) -> list[str]:
    columns = [next(iter(by_metric.values())) for by_metric in results.values()]
    first = columns[0]
    sizes = list(dict.fromkeys(column.sizes["candidate"] for column in columns))
    counted = ", ".join(f"{column.sizes['candidate']:,}" for column in columns) if len(sizes) > 1 else f"{sizes[0]:,}"
    encoder = _model(first.signature["encoder"])
    parts = [f"reference: {first.sizes['reference']:,} samples", f"candidates: {counted}", f"vectors: {encoder}"]
    parts += _neighbourhoods(next(iter(results.values())))
    balance = first.signature.get("balance")
    if balance:
        parts.append(f"means over {balance['draws']} subsamples of {balance['size']:,} a side, seed {balance['seed']}")
    sizes_matter = "frechet" in next(iter(results.values())) and first.inference.get("ceilings")
    note = (
        ["the Fréchet distance of smaller sets is larger: its ceiling looks worse than it is"] if sizes_matter else []
    )
    return ["; ".join(parts), *_how_sure(first), *note, _ARROWS]


def _model(identity: Any) -> str:
    if isinstance(identity, str):
        return identity
    # A model made of two has a revision of two parts.
    revision = "+".join(part[:12] for part in str(identity.get("revision", "unknown")).split("+"))
    return f"{identity['encoder']} (revision {revision})"


def _neighbourhoods(by_metric: Mapping[str, Result]) -> list[str]:
    ks = {name: result.signature["k"] for name, result in by_metric.items() if "k" in result.signature}
    return ["k: " + ", ".join(f"{name} {k}" for name, k in ks.items())] if ks else []


def _how_sure(result: Result) -> list[str]:
    """What ceilings, brackets and p stand for."""
    lines = []
    if made := result.inference.get("ceilings"):
        lines.append(
            f"{CEILING}: halves of the reference against each other ({made['size']:,} a side, "
            f"mean over {made['splits']} splits, seed {made['seed']})"
        )
    if made := result.inference.get("intervals"):
        lines.append(
            f"[low, high]: {made['level']:.0%} interval, delete-half jackknife ({made['half_samples']} half-samples, "
            f"seed {made['seed']})"
        )
    if made := result.inference.get("pvalues"):
        how = f"{made['labellings'] - 1:,} relabellings, seed {made['seed']}"
        how = f"all {made['labellings']:,} relabellings" if made["method"] == "exact" else how
        smallest = short_p(max(made["smallest"].values()))
        lines.append(f"p: of one common distribution, by {how} (smallest possible {smallest})")
    return lines


def _of_aligned(results: Given) -> list[str]:
    by_metric = next(iter(results.values()))
    signatures = {name: result.signature for name, result in by_metric.items()}
    shape = next(iter(by_metric.values())).details["aligned"]
    least, most = shape["least"], shape["most"]
    each = f"{least}" if least == most else f"{least} to {most}"
    parts = [f"items: {shape['items']:,}", f"references: {shape['references']:,} ({each} an item)"]
    for title, key in (("masked language model", "model"), ("word vectors", "encoder")):
        used = dict.fromkeys(_model(signature[key]) for signature in signatures.values() if key in signature)
        parts += [f"{title}: {', '.join(used)}"] if used else []
    lines = ["; ".join([*parts, *_neighbourhoods(by_metric)])]
    rules = _by_value(
        (signature["over_references"], name) for name, signature in signatures.items() if _joins(signature)
    )
    if most > 1 and rules:
        lines.append("of several references: " + "; ".join(f"{rule} for {names}" for rule, names in rules.items()))
    if "infolm" in signatures:
        lines.append(_infolm(signatures["infolm"]))
    lines += [_word_metric(name, signatures[name]) for name in ("bertscore", "moverscore") if name in signatures]
    lines += [f"{name}: sacrebleu {made['sacrebleu']}" for name, made in signatures.items() if "sacrebleu" in made]
    for name, result in by_metric.items():
        aside = [number for number in result.values if number not in result.details.get("main", result.values)]
        lines += [f"{name} has {len(aside)} further numbers: see json, csv or the scores of items"] if aside else []
    for system, metrics in results.items():
        for name, result in metrics.items():
            known = {at: count for at, count in result.details.get("scored", {}).items() if count < shape["items"]}
            for number in [at for at in known if at not in result.details.get("corpus", ())]:
                what = name if len(result.values) == 1 else f"{name} {number}"
                of = f"{known[number]} of {shape['items']} items"
                lines.append(f"{_one_line(system)}, {what}: the mean of {of}, the others have no score")
    return [*lines, *_bootstrap(by_metric), _ARROWS]


def _joins(signature: Mapping[str, Any]) -> bool:
    return "over_references" in signature


def _infolm(signature: Mapping[str, Any]) -> str:
    given = {name: signature[name] for name in ("alpha", "beta") if signature.get(name) is not None}
    parts = [
        ", ".join(signature["measure"]),
        "temperature " + ", ".join(f"{each:g}" for each in signature["temperature"]),
    ]
    parts += [f"{name} {value:g}" for name, value in given.items()]
    return "infolm: " + "; ".join([*parts, "idf of the references" if signature["idf"] != "none" else "no idf"])


def _word_metric(name: str, signature: Mapping[str, Any]) -> str:
    made = f"layer {signature['layer']}" if name == "bertscore" else f"{signature['ngram']}-grams"
    return f"{name}: {made}; {'idf of the references' if signature['idf'] != 'none' else 'no idf'}"


def _one_line(name: str) -> str:
    """A system's name may hold line ends, which would end a comment."""
    return " ".join(name.split())


def remarks(results: Given) -> list[str]:
    """Warnings of aligned texts, for tables that leave the screen: each once, with the systems it is about."""
    if not is_aligned(results):
        return []
    return [
        f"{', '.join(map(_one_line, systems))}: {warning} ({', '.join(metrics)})"
        for warning, systems, metrics in warned(results)
    ]


def warned(results: Given) -> Iterator[tuple[str, list[str], list[str]]]:
    """Each warning once, with the candidates and the metrics that have it."""
    seen: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for system, by_metric in results.items():
        for metric, result in by_metric.items():
            for warning in result.warnings:
                systems, metrics = seen.setdefault(warning, ({}, {}))
                systems[system] = metrics[metric] = None
    for warning, (systems, metrics) in seen.items():
        yield warning, list(systems), list(metrics)


def _bootstrap(by_metric: Mapping[str, Result]) -> list[str]:
    notes = {
        name: result.inference["intervals"] for name, result in by_metric.items() if "intervals" in result.inference
    }
    made = next((note for note in notes.values() if "level" in note), None)
    lines = []
    if made:
        lines.append(
            f"[low, high]: {made['level']:.0%} interval of the mean, bootstrap over items ({made['resamples']:,} "
            f"resamples, seed {made['seed']})"
        )
    without = [name for name, note in notes.items() if note.get("corpus_numbers")]
    if without:
        lines.append(f"no interval for numbers of the whole corpus, which are no means: {', '.join(without)}")
    return lines


def _by_value(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """{value: names that have it}"""
    grouped: dict[str, list[str]] = {}
    for value, name in pairs:
        grouped.setdefault(value, []).append(name)
    return {value: ", ".join(names) for value, names in grouped.items()}
