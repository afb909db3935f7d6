"""From texts to vectors.

`encode` is the whole stage in one call. `encoder` says what an encoder must offer and finds one by name, `encoders` has
one file per kind, `locate` and `folder` find model weights and read what they say about themselves. `vector_cache`
keeps vectors on disk, in the file of `database`, which repairs itself. `vectors` lets metrics take texts and arrays.
"""
