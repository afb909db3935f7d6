"""Six pairs of made-up texts in the words of the tiny models: repeats, one word, unknown words, equal texts."""

REFERENCES = [
    "the cat sat on the mat .",
    "a small red bird sang in the old tree , then slept .",
    "the dog ran",
    "fish",
    "the river is big and green and the fish is small",
    "the cat sat on the mat .",
]
CANDIDATES = [
    "the cat slept on a mat .",
    "a big green bird sang near the river !",
    "the dog ran to the tree and then the dog sat under the tree",
    "the fish ?",
    "mitubalo is in the river , the the the",
    "the cat sat on the mat .",
]
