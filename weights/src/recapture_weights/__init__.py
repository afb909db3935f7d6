"""The masked language models recapture-minilm-head and recapture-minilm-mlm, in recapture-minilm.safetensors.

recapture finds that file by this package's place and never imports it.
"""
