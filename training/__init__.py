"""How the masked language models of recapture-weights were trained; not part of any package. See README.md in this folder."""
