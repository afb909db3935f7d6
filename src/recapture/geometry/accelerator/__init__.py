"""Spheres on a device of torch's: the same counts as `overlap`, to the last integer.

`bounds` rounds rows to half precision with a proved margin, `near_pairs` finds the few pairs that may count in one
fused pass over all products, `spheres` decides those from exact distances.
"""
