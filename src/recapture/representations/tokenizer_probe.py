"""Whether a tokenizer knows any words: one whose files are lost makes the same unknown piece of all of them."""

from __future__ import annotations

from typing import Any

from ..errors import InputError

# Some of the most frequent words of languages in the scripts that most models were made for, and the letters of
# proteins and of DNA. A model is made for few of them: it has to know most of one line.
PROBE = (
    "the and a was then on in of to is",
    "cat dog tree red green under ran sat",
    "de la que el en y los se un por",
    "der die und in den von zu das mit sich",
    "le les des et est une dans pour qui sur",
    "и в не на что он с как это по",
    "και το να του η της με που στο για",
    "في من على إلى أن هذا التي كان مع لا",
    "של את על לא הוא זה עם כי אל היא",
    "के में की है और से को का पर यह",
    "এবং করে এই থেকে একটি তার না হয় জন্য ও",
    "มี ใน ที่ เป็น ของ และ ได้ ไม่ ให้ จะ",
    "的 一 是 不 了 在 人 有 我 他",
    "の に は を た が で て と し",
    "이 그 는 을 의 에 있다 하는 수 것",
    "და არის რომ ეს იყო მის მე არ",
    "և է որ ի մեջ այդ ու նա",
    "M K T A Y I A K Q R",
    "A C G T",
)
_ENOUGH = 0.5


def check_tokenizer(tokenizer: Any, name: str) -> None:
    """Refuse a tokenizer that does not know at least half of the words of any line."""
    unknown = getattr(tokenizer, "unk_token_id", None)
    plain = getattr(tokenizer, "encode_batch", None) if not callable(tokenizer) else None
    if plain is not None:  # a tokenizer without a model's settings
        unknown = next(filter(None, map(tokenizer.token_to_id, ("[UNK]", "<unk>"))), None)
    elif not callable(tokenizer):  # lists of words, which know their own
        return

    def known(words: list[str]) -> float:
        if plain is not None:
            rows = [row.ids for row in plain(words, add_special_tokens=False)]
        else:
            rows = tokenizer(words, add_special_tokens=False)["input_ids"]
        return sum(bool(row) and unknown not in row for row in rows) / len(words)

    # One after the other: nearly every tokenizer knows the first line.
    if not any(known(line.split()) >= _ENOUGH for line in PROBE):
        raise InputError(
            f"{name} has a tokenizer that knows hardly a word in any of {len(PROBE)} probes of languages and scripts: "
            "are its files there (tokenizer.json, or a vocabulary)?"
        )
