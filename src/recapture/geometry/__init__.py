"""From two arrays of vectors: nearest-neighbour radii and who lies inside whose spheres, exactly.

`points` holds one set, `products` turns tiles of it into distance bounds, `radii` finds each row's nearest
neighbours in its own set, `overlap` counts memberships between two sets, `parallel` runs the tiles.
"""
