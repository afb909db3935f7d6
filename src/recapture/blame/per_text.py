"""One row for every text of both sides, with its place on the map: for spreadsheets and for tools that draw atlases."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..report.data_forms import json_lines
from ..report.report import Report

ENDINGS = (".jsonl", ".csv", ".parquet")


def check_texts_file(path: str | os.PathLike[str]) -> str:
    """The ending of the file's name, which tells its form; refused where it has none of them."""
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise InputError(f"cannot write {os.fspath(path)}: the name must end in {', '.join(ENDINGS)}")
    if ending == ".parquet":
        _parquet()
    return ending


def texts_file(records: Sequence[Mapping[str, Any]], path: str | os.PathLike[str]) -> str | bytes:
    """What such a file holds, by the ending of its name."""
    ending = check_texts_file(path)
    if ending == ".jsonl":
        return json_lines(records)
    if ending == ".csv":
        return Report("texts", [], records={"text": records}).to_csv()
    pyarrow = _parquet()
    stream = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([dict(record) for record in records]), stream)
    return stream.getvalue()


def _parquet() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise InputError('Parquet needs pyarrow: pip install "recapture[parquet]"') from None
    return pyarrow
