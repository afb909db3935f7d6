"""From two arrays of vectors: nearest-neighbour radii and who lies inside whose spheres, exactly.

`points` holds one checked set (`arrays`) with equal rows folded (`distinct`), `products` turns tiles into distance
bounds, `search` finds each row's nearest rows in its own set and `neighbours` their radii, `overlap` counts memberships
between two sets, `parallel` runs the tiles.
"""
