"""One file per kind of encoder, each with a `KIND` declaration at its end; a new file here is found by itself."""
