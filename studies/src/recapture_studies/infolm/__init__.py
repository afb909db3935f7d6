"""Colombo, Clavel and Piantanida 2022, InfoLM: A New Metric to Evaluate Summarization and Data2Text Generation."""
