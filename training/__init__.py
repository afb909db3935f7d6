"""How the masked language models of recapture-weights were trained; not part of a package. See README.md here."""
