"""What was made of texts, kept in memory up to a limit: the texts not used for longest go first, held ones stay."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Generic, TypeVar

Text = TypeVar("Text", bound=Hashable)
Made = TypeVar("Made")


class Kept(Generic[Text, Made]):
    """Entries by text, or by what a model sees of it. All that one call asks for is kept, however large it is; only
    older entries are removed.

    Texts that will be asked for again can be held: they stay until they were released as often as they were held, so
    that nothing is made twice. most_held: bytes up to which that is so (None: all); what is beyond is kept as the rest.
    """

    def __init__(self, size: Callable[[Made], int], limit: int, most_held: int | None = None) -> None:
        self._entries: OrderedDict[Text, Made] = OrderedDict()
        self._held: dict[Text, Made] = {}
        self._times: Counter[Text] = Counter()
        self._size = size
        self._limit = limit
        self._most_held = most_held
        self._bytes = 0
        self._bytes_held = 0

    def allow(self, limit: int, most_held: int | None) -> None:
        """From now on keep and hold up to so many bytes."""
        self._limit, self._most_held = limit, most_held

    def change(self, into: Callable[[Made], Made]) -> None:
        """Replace every entry by what is made of it, which is as large."""
        for entries in (self._entries, self._held):
            for text, entry in entries.items():
                entries[text] = into(entry)

    def missing(self, texts: Sequence[Text]) -> list[Text]:
        """Distinct texts that are not here; those that are here will be removed last."""
        absent = []
        for text in dict.fromkeys(texts):
            if text in self._entries:
                self._entries.move_to_end(text)
            elif text not in self._held:
                absent.append(text)
        return absent

    def hold(self, texts: Iterable[Text]) -> None:
        """Keep these, whether they are here yet or not, until they are released."""
        for text in texts:
            self._times[text] += 1
            if text in self._entries and self._fits(self._entries[text]):
                entry = self._entries.pop(text)
                self._bytes -= self._size(entry)
                self.put(text, entry)

    def release(self, texts: Iterable[Text]) -> None:
        """Undo `hold` once for each of them."""
        for text in texts:
            self._times[text] -= 1
            if self._times[text] <= 0:
                del self._times[text]
                if text in self._held:
                    entry = self._held.pop(text)
                    self._bytes_held -= self._size(entry)
                    self.put(text, entry)

    def put(self, text: Text, entry: Made) -> None:
        if text in self._times and self._fits(entry):
            self._held[text] = entry
            self._bytes_held += self._size(entry)
        else:
            self._entries[text] = entry
            self._bytes += self._size(entry)

    def make_room(self, keep: int) -> None:
        """Forget old entries until the rest is within the limit, but none of the newest `keep`, and none held."""
        while self._bytes > self._limit and len(self._entries) > keep:
            _, old = self._entries.popitem(last=False)
            self._bytes -= self._size(old)

    def __getitem__(self, text: Text) -> Made:
        return self._held[text] if text in self._held else self._entries[text]

    def _fits(self, entry: Made) -> bool:
        return self._most_held is None or self._bytes_held + self._size(entry) <= self._most_held
