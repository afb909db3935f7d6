"""What was made of texts, kept in memory up to a limit: the texts not used for longest go first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

Made = TypeVar("Made")


class Kept(Generic[Made]):
    """Entries by text. All that one call asks for is kept, however large it is; only older entries are removed."""

    def __init__(self, size: Callable[[Made], int], limit: int) -> None:
        self._entries: OrderedDict[str, Made] = OrderedDict()
        self._size = size
        self._limit = limit
        self._bytes = 0

    def missing(self, texts: Sequence[str]) -> list[str]:
        """Distinct texts that are not here; those that are here will be removed last."""
        absent = []
        for text in dict.fromkeys(texts):
            if text in self._entries:
                self._entries.move_to_end(text)
            else:
                absent.append(text)
        return absent

    def put(self, text: str, entry: Made) -> None:
        self._entries[text] = entry
        self._bytes += self._size(entry)

    def make_room(self, keep: int) -> None:
        """Forget old entries until the rest is within the limit, but none of the newest `keep`."""
        while self._bytes > self._limit and len(self._entries) > keep:
            _, old = self._entries.popitem(last=False)
            self._bytes -= self._size(old)

    def __getitem__(self, text: str) -> Made:
        return self._entries[text]
