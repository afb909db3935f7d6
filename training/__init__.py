"""How the masked language model that ships was trained; not part of the package. See README.md in this folder."""
