"""The papers' experiments, repeated with recapture: one folder for each paper, one file that declares `STUDY` each."""
