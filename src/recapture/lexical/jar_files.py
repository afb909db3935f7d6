"""The tables of METEOR's own program: those that meteor-1.5.jar carries, and the paraphrase table beside it.

Nothing of the program is run: a jar is a zip archive, of which lists of words are read. Names are those in the archive:
function/english.words (a word in each line), nonbreaking/english.prefixes (words that keep their full stop),
synonym/english.synsets and synonym/english.exceptions (see `wordnet`). The paraphrases are data/paraphrase-en.gz in the
folder of the jar, which is where the program looks for them.

One thing is not followed: the program takes words for equal that have the same 32-bit hash ("an" and "c0" do).
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from ..errors import InputError
from .meteor_tokens import JarTokens
from .packed import is_archive, member

_JAR = "meteor-1.5.jar"
_WORDS = "function/english.words"
_PREFIXES = "nonbreaking/english.prefixes"
_SYNSETS = "synonym/english.synsets"
_TABLE = Path("data", "paraphrase-en.gz")
_NUMBERS_ONLY = "#NUMERIC_ONLY#"


class JarFiles:
    """The jar, a folder that holds it, or a folder into which it was unpacked."""

    def __init__(self, place: str | os.PathLike[str]) -> None:
        if not place:
            raise InputError("METEOR's own program is named by an empty file name")
        self.place = _found(Path(place))
        """The archive, or the folder with all that it held."""
        words, prefixes = (member(self.place, name) for name in (_WORDS, _PREFIXES))
        self._revision = hashlib.blake2b(words + b"\0" + prefixes, digest_size=16).hexdigest()
        self.function_words = frozenset(words.decode("utf-8", "replace").split())
        self.tokenize = JarTokens(_abbreviations(prefixes.decode("utf-8", "replace")))

    @property
    def synonyms(self) -> Path:
        return self.place if self.place.is_file() else (self.place / _SYNSETS).parent

    @property
    def paraphrases(self) -> Path:
        """The table's place; the folder of an unpacked jar may have it inside or beside itself."""
        for folder in (self.place, self.place.parent):
            if (folder / _TABLE).is_file():
                return folder / _TABLE
        raise InputError(
            f"there is no {_TABLE} in the folder of {self.place}, where METEOR keeps its paraphrases: name a table"
        )

    def identity(self) -> dict[str, str]:
        """Where the lists come from, and a digest of them."""
        return {"path": str(self.place), "revision": self._revision}


def _found(place: Path) -> Path:
    try:
        for archive in (place, place / _JAR):
            if is_archive(archive) and all(member(archive, name) for name in (_WORDS, _PREFIXES, _SYNSETS)):
                return archive
        if place.is_dir() and all((place / name).is_file() for name in (_WORDS, _PREFIXES, _SYNSETS)):
            return place
    except OSError as error:  # a folder that may not be looked into, a name that is too long
        raise InputError(f"{place} cannot be read: {error.strerror or error}") from None
    raise InputError(
        f"there is no METEOR at {place}: name {_JAR}, the folder that holds it, or a folder into which it was unpacked"
    )


def _abbreviations(lines: str) -> dict[str, bool]:
    """From word to whether it keeps its full stop only before numbers."""
    known = {}
    for line in lines.split("\n"):
        word, *after = line.split() or ["#"]
        if not word.startswith("#"):
            known[word] = after[:1] == [_NUMBERS_ONLY]
    return known
