"""Which texts: what a candidate invented, lost, repeats and copied, as lists that hold against chance."""
