"""Publicly distributed data turned into the layout that the studies read.

    python -m recapture_studies.convert NAME DOWNLOADED FOLDER

NAME is a data folder such as xnli_en_genres, DOWNLOADED where the files that docs/data.md names lie, FOLDER the one
that --data will name. Nothing is fetched, no code of the data's authors is run, and no pickle is opened.
"""

from __future__ import annotations

import csv
import gzip
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import recapture as rc

from .files import NAME, TEXTS, described, json_of, lines_of, of_kind, shown, write
from .mark_evaluate.moses import detokenised
from .words import nearest_names

Rows = Iterable[dict[str, Any]]
Files = dict[str, Rows]
"""By name of the file in the data folder."""


def convert(name: str, downloaded: Path, folder: Path) -> list[Path]:
    """Write the data folder `name` under `folder`; the files that were written."""
    if name not in CONVERTERS:
        raise rc.InputError(f"no conversion for {name!r}: {nearest_names(name, CONVERTERS)}")
    if not downloaded.is_dir():
        raise rc.InputError(f"{downloaded} is no folder: it should hold the files that docs/data.md names for {name}")
    content = {file: list(rows) for file, rows in CONVERTERS[name](downloaded).items()}
    target = folder / name
    target.mkdir(parents=True, exist_ok=True)
    for file, rows in content.items():
        if file.endswith(".tsv"):
            lines = ["\t".join(rows[0]), *("\t".join(map(str, row.values())) for row in rows)] if rows else []
        else:
            lines = [json.dumps(row, ensure_ascii=False) for row in rows]
        encoded = "".join(f"{line}\n" for line in lines).encode()
        write(target / file, gzip.compress(encoded, mtime=0) if file.endswith(".gz") else encoded)
    return [target / file for file in content]


def _found(folder: Path, *patterns: str) -> list[Path]:
    """Files by the first pattern that has some, wherever they lie below the folder."""
    for pattern in patterns:
        files = sorted(path for path in folder.rglob(pattern) if path.is_file())
        if files:
            return files
    raise rc.InputError(f"{folder} has no file {patterns[0]}")


def _one(folder: Path, *patterns: str) -> Path:
    """The one file of that name."""
    first, *others = _found(folder, *patterns)
    if others:
        raise rc.InputError(f"{first} and {others[0]} could both be meant: leave one of them")
    return first


def _number(text: str, path: Path, field: str) -> float:
    try:
        number = float(text)
        if math.isfinite(number):
            return number
    except ValueError:
        pass
    raise rc.InputError(f"{path}: {field} is no number but {text!r}")


def _table(path: Path, columns: Sequence[str], delimiter: str = ",") -> list[dict[str, str]]:
    """The rows of a CSV or TSV file with a head that names these columns."""
    quoting: Any = csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL
    reader = csv.DictReader((line for _, line in lines_of(path)), delimiter=delimiter, quoting=quoting, strict=True)
    rows = []
    try:
        absent = [column for column in columns if column not in (reader.fieldnames or ())]
        if absent:
            raise rc.InputError(f"{path} has no column {absent[0]!r}")
        for row in reader:
            further = row.get(None) or ()  # DictReader's key of cells beyond the head
            if any(further) or any(row[column] is None for column in columns):
                raise rc.InputError(f"{path} line {reader.line_num}: the row has not as many cells as the first one")
            rows.append(row)
    except csv.Error as error:
        raise rc.InputError(f"{path} line {reader.reader.line_num}: broken row: {error}") from None
    return rows


def _json_list(path: Path, fields: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The objects of one array, with these fields of these kinds."""
    items = json_of("".join(line for _, line in lines_of(path)), str(path))
    for field, kind in fields.items():
        if not isinstance(items, list) or not all(isinstance(item, dict) and field in item for item in items):
            raise rc.InputError(f"{path} is no list of objects with the field {field!r}")
        for number, item in enumerate(items, 1):
            if not of_kind(item[field], kind):
                what = f"{field!r} must be {described(kind)}, not {shown(item[field])}"
                raise rc.InputError(f"{path} element {number}: {what}")
    listed: list[dict[str, Any]] = items
    return listed


def _xnli(downloaded: Path) -> Files:
    def rows() -> Iterator[dict[str, Any]]:
        number = 0
        for split in ("dev", "test"):
            before = None
            path = _one(downloaded, f"my.genre.{split}.tsv")
            for row in _table(path, ("genre", "label", "sentence1_en", "sentence2_en"), "\t"):
                head = {"split": split, "genre": row["genre"]}
                if row["sentence1_en"] != before:  # a premise stands before its three hypotheses
                    before = row["sentence1_en"]
                    yield {**head, "role": "premise", "label": None, "pair": number, "text": before}
                yield {**head, "role": "hypothesis", "label": row["label"], "pair": number, "text": row["sentence2_en"]}
                number += 1

    return {"sentences.jsonl.gz": rows()}


def _brown(downloaded: Path) -> Files:
    def rows() -> Iterator[dict[str, Any]]:
        cats = _one(downloaded, "cats.txt")
        for _, line in lines_of(cats):
            file, _, genre = line.strip().partition(" ")
            if not genre:
                continue
            number = 0
            for _, sentence in lines_of(cats.parent / file):
                tokens = [token.rpartition("/")[0] for token in sentence.split()]
                if tokens:
                    text = detokenised(" ".join(tokens).replace("``", '"').replace("''", '"'))
                    yield {"genre": genre, "file": file, "n": number, "tokens": len(tokens), "text": text}
                    number += 1

    return {"sentences.jsonl.gz": rows()}


def _abstract(downloaded: Path) -> Files:
    path = _one(downloaded, "abstract48S.json")
    by_image: dict[str, list[str]] = {}
    for item in _json_list(path, {"image_id": NAME, "caption": str}):
        by_image.setdefault(str(item["image_id"]), []).append(item["caption"])
    return {"contexts.jsonl.gz": ({"id": image, "references": texts} for image, texts in by_image.items())}


def _captions(downloaded: Path) -> Files:
    path = _one(downloaded, "dataset.json")
    items = _json_list(path, {"references": TEXTS, "candidates": TEXTS})
    return {
        "captions.jsonl.gz": (
            {"id": number, "references": item["references"], "candidates": item["candidates"]}
            for number, item in enumerate(items)
        )
    }


def _references(path: Path) -> dict[str, list[str]]:
    """The wordings of each meaning representation, in the order of the file."""
    by_meaning: dict[str, list[str]] = {}
    for row in _table(path, ("mr", "ref")):
        by_meaning.setdefault(row["mr"], []).append(row["ref"])
    return by_meaning


def _e2e_dev(downloaded: Path) -> Files:
    path = _one(downloaded, "devset.csv")
    references = _references(path)
    outputs = [
        [line.rstrip("\n") for _, line in lines_of(file)] for file in _found(downloaded, "*seed*/predictions.epoch*")
    ]
    for texts, file in zip(outputs, _found(downloaded, "*seed*/predictions.epoch*"), strict=True):
        if len(texts) != len(references):
            raise rc.InputError(f"{file} has {len(texts)} lines; {path} has {len(references)} meaning representations")
    return {
        "contexts.jsonl.gz": (
            {"id": at, "mr": meaning, "references": texts, "candidates": [lines[at] for lines in outputs]}
            for at, (meaning, texts) in enumerate(references.items())
        )
    }


def _e2e_test(downloaded: Path) -> Files:
    path = _one(downloaded, "testset_w_refs.csv")
    references = _references(path)
    place = {meaning: at for at, meaning in enumerate(references)}

    def outputs() -> Iterator[dict[str, Any]]:
        rated = {
            name for criterion in ("naturalness", "quality") for row in ratings(criterion) for name in row["systems"]
        }
        for file in (path for path in _found(downloaded, "primary/*.tsv") if path.stem in rated):
            for number, line in lines_of(file):
                meaning, _, text = line.rstrip("\r\n").partition("\t")
                meaning, text = meaning.strip('"'), text.strip('"')
                if meaning in place:
                    yield {"system": file.stem, "id": place[meaning], "output": text}
                elif number > 1:  # the first line may be a head
                    raise rc.InputError(f"{file} line {number}: its meaning representation is not in {path.name}")

    def ratings(criterion: str) -> Iterator[dict[str, Any]]:
        file = _one(downloaded, f"human_ratings/{criterion}.csv", f"{criterion}.csv")
        columns = [f"{what}{at}" for what in ("sys", criterion) for at in range(1, 6)]
        for row in _table(file, ("mr_id", *columns)):
            yield {
                "id": int(_number(row["mr_id"], file, "mr_id")) - 1,
                "systems": [row[f"sys{at}"] for at in range(1, 6)],
                "scores": [_number(row[f"{criterion}{at}"], file, criterion) for at in range(1, 6)],
            }

    return {
        "test_refs.jsonl.gz": (
            {"id": place[meaning], "mr": meaning, "references": texts} for meaning, texts in references.items()
        ),
        "outputs.jsonl.gz": outputs(),
        "human_naturalness.jsonl.gz": ratings("naturalness"),
        "human_quality.jsonl.gz": ratings("quality"),
    }


def _first_result(item: dict[str, Any], path: Path) -> str:
    results = item["generated_result"]
    if not isinstance(results, dict) or not isinstance(results.get("0"), str):
        raise rc.InputError(f"{path}: generated_result has no text '0'")
    return str(results["0"])


def _continuations(downloaded: Path) -> Files:
    def rows(domain: str) -> Iterator[dict[str, Any]]:
        path = _one(downloaded, f"{domain}_contrastive_k_*_alpha_0.6_result.json")
        for item in _json_list(path, {"prefix_text": str, "reference_text": str, "generated_result": object}):
            yield {
                "prompt": item["prefix_text"],
                "human": item["reference_text"],
                "gpt2xl_contrastive_search": _first_result(item, path),
            }

    votes = _one(downloaded, "human_evaluation_annotations.json")
    return {
        "book.jsonl.gz": rows("book"),
        "wikitext.jsonl.gz": rows("wikitext"),
        "human_pairwise.jsonl.gz": _json_list(votes, {"prompt": str, "domain": str, "human_annotation": dict}),
    }


def _translations(downloaded: Path) -> Files:
    """WMT17: files of one text a line, and two kinds of judgement. The texts stay as they are stored."""

    def texts(path: Path) -> list[str]:
        return [line.rstrip("\r\n") for _, line in lines_of(path)]

    pairs = sorted({path.parent.name for path in _found(downloaded, "system-outputs/*-en/newstest2017.*")})
    references = {}
    for pair in pairs:
        path = _one(downloaded, f"newstest2017-{pair.replace('-', '')}-ref.en*")
        references[pair] = texts(path)

    def outputs() -> Iterator[dict[str, Any]]:
        for pair in pairs:
            for path in _found(downloaded, f"system-outputs/{pair}/newstest2017.*.{pair}"):
                system = path.name.removeprefix("newstest2017.").removesuffix(f".{pair}")
                lines = texts(path)
                if len(lines) != len(references[pair]):
                    raise rc.InputError(f"{path} has {len(lines)} lines; its reference has {len(references[pair])}")
                for number, text in enumerate(lines, 1):
                    yield {"lp": pair, "system": system, "sid": number, "hyp": text}

    def segment_judgements() -> Iterator[dict[str, Any]]:
        for pair in pairs:
            path = _one(downloaded, f"testset_{pair}.tsv")
            for row in _table(path, ("LP", "translation", "reference", "HUMAN_score"), "\t"):
                score = _number(row["HUMAN_score"], path, "HUMAN_score")
                yield {"lp": pair, "reference": row["reference"], "hyp": row["translation"], "human_da": score}

    judged = _one(downloaded, "DA-syslevel.csv")
    systems = [row for row in _table(judged, ("LP", "HUMAN", "SYSTEM"), " ") if row["LP"] in references]
    return {
        "segments.jsonl.gz": (
            {"lp": pair, "sid": number, "reference": text}
            for pair, lines in references.items()
            for number, text in enumerate(lines, 1)
        ),
        "outputs.jsonl.gz": outputs(),
        "system_da.tsv": ({"lp": row["LP"], "system": row["SYSTEM"], "human_da": row["HUMAN"]} for row in systems),
        "segment_da.jsonl": segment_judgements(),
    }


def _descriptions(downloaded: Path) -> Files:
    """WebNLG+ 2020: the n-th line of a submission describes the test item called Idn; raters' names are left out."""
    from xml.etree import ElementTree

    path = _one(downloaded, "rdf-to-text-generation-test-data-with-refs-en.xml")
    try:
        entries = ElementTree.parse(path).iter("entry")
        references = {
            int(entry.get("eid", "").removeprefix("Id")): [lex.text or "" for lex in entry.iter("lex")]
            for entry in entries
        }
    except (ElementTree.ParseError, ValueError) as error:
        raise rc.InputError(f"{path} is no test set of WebNLG: {error}") from None
    outputs = {}
    for file in _found(downloaded, "rdf2text/en/*/primary.en"):
        lines = [line.rstrip("\r\n") for _, line in lines_of(file)]
        if len(lines) != len(references):
            raise rc.InputError(f"{file} has {len(lines)} lines; {path} has {len(references)} entries")
        outputs[file.parent.name] = lines

    def judged() -> Iterator[dict[str, Any]]:
        for file in _found(downloaded, "human-evaluation/results/en/*/primary.json"):
            system = file.parent.name
            try:
                by_item = json_of("".join(line for _, line in lines_of(file)), str(file))
                for item, by_rater in by_item.items():
                    ratings = [[float(one[name]) for name in _CRITERIA] for one in by_rater.values()]
                    means = [sum(column) / len(column) for column in zip(*ratings, strict=True)]
                    yield {
                        "system": system,
                        "id": int(item),
                        "references": references[int(item)],
                        "output": outputs[system][int(item) - 1] if system in outputs else None,
                        "human_mean": dict(zip(_CRITERIA, means, strict=True)),
                    }
            except rc.InputError:
                raise
            except (ValueError, KeyError, IndexError, AttributeError, TypeError, OverflowError) as error:
                raise rc.InputError(f"{file} holds no ratings as the challenge gives them: {error!r}") from None

    return {
        "outputs.jsonl.gz": (
            {"system": system, "id": number, "output": text}
            for system, lines in outputs.items()
            for number, text in enumerate(lines, 1)
        ),
        "human_eval.jsonl.gz": judged(),
    }


_CRITERIA = ("Correctness", "DataCoverage", "Fluency", "Relevance", "TextStructure")

CONVERTERS: dict[str, Callable[[Path], Files]] = {
    "xnli_en_genres": _xnli,
    "brown_genres": _brown,
    "abstract48s": _abstract,
    "captions_coco1000": _captions,
    "e2e_dev_multi": _e2e_dev,
    "e2e_nlg": _e2e_test,
    "gpt2xl_contrastive_search": _continuations,
    "wmt17_to_english": _translations,
    "webnlg2020_en": _descriptions,
}


def main(arguments: list[str] | None = None) -> int:
    given = sys.argv[1:] if arguments is None else arguments
    if len(given) != 3:
        print("usage: python -m recapture_studies.convert NAME DOWNLOADED FOLDER; NAME: " + ", ".join(CONVERTERS))
        return 2
    try:
        for path in convert(given[0], Path(given[1]), Path(given[2])):
            print(f"wrote {path}")
    except rc.InputError as error:
        print(f"recapture: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
