"""From two arrays of vectors: nearest-neighbour radii and who lies inside whose spheres, exactly.

`points` holds one checked set (`arrays`) with equal rows folded (`distinct`), `products` turns tiles into distance
bounds, `search` finds each row's nearest rows in its own set and `neighbours` their radii, `overlap` counts memberships
between two sets, `parallel` runs the tiles.

On a GPU (`devices` says when) the same integers: `half_rows` rounds rows with a proved margin, `near_pairs` finds the
few pairs that may count in one fused pass (`triton_pairs`), `device_spheres` decides those from exact distances.

The same under many labellings of one pool (`labels`): `pooled` lists every sample's neighbours in order, `walks` goes
along the lists under 64 labellings at a time (`bits`), `relabelled` counts memberships; `kernels`, `pooled_kernel`,
`gaussians` and `pooled_gaussians` serve MMD and Fréchet (on a GPU: `device_walks`, `device_kernels`,
`device_gaussians`); `clusters` and `kmeans` cluster pooled samples, `histograms`
counts them; `triangles` ranks edges.
"""
