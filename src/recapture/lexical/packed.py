"""Files of a table that comes as a folder or as a zip archive."""

from __future__ import annotations

import zipfile
from pathlib import Path

from ..errors import InputError, first_line
from ..texts.reading import Source, no_limits, too_much

MOST_BYTES = 20_000_000
"""Of one file: four times the largest index of a WordNet. A list of words takes far more memory than its file."""


def member(place: Path, name: str) -> bytes:
    """A file of a folder, or of an archive, where its own name is enough; nothing where there is no such file."""
    if not place.is_file():
        file = place / name
        return Source(str(file)).content(MOST_BYTES) if file.is_file() else b""
    last = name.rpartition("/")[2]
    try:
        with zipfile.ZipFile(place) as packed:
            known = next((inside for inside in packed.infolist() if inside.filename.rpartition("/")[2] == last), None)
            if known is None:
                return b""
            with packed.open(known) as stream:  # what is there, not what the archive's list says, is counted
                content = stream.read(-1 if no_limits() else MOST_BYTES + 1)
    except Exception as error:  # damaged archives fail in more ways than can be listed
        raise InputError(f"{place}/{name} cannot be read: {first_line(error)}") from None
    if len(content) > MOST_BYTES and not no_limits():
        raise too_much(f"{place}/{name}", f"unpacks to more than {MOST_BYTES // 10**6} MB")
    return content


def is_archive(place: Path) -> bool:
    return place.is_file() and zipfile.is_zipfile(place)
