"""From two arrays of vectors: nearest-neighbour radii and who lies inside whose spheres, exactly.

`points` holds one checked set (`arrays`) with equal rows folded (`distinct`), `products` turns tiles into distance
bounds, `search` finds each row's nearest rows in its own set and `neighbours` their radii, `overlap` counts memberships
between two sets, `parallel` runs the tiles.

The same under many labellings of one pool (`labels`): `pooled` lists every sample's neighbours in order, `walks` goes
along the lists under 64 labellings at a time (`bits`), `relabelled` counts memberships; `kernels`, `pooled_kernel`,
`gaussians` and `pooled_gaussians` serve MMD and Fréchet; `clusters` and `kmeans` cluster pooled samples, `histograms`
counts them; `triangles` ranks edges.
"""
