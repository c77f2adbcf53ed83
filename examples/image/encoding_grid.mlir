// 12 grids over the picture, from 16 x 16 to 512 x 512 cells: 2 learnt features
// at each corner, interpolated between the corners. A grid with more corners
// than 2^15 keeps them in a hash table of that size.
func.func private @encode(%xy: tensor<?x2xf32>, %t: tensor<?x?x2xf32>) -> tensor<?x?xf32> {
  %tables = tensor.cast %t : tensor<?x?x2xf32> to tensor<12x32768x2xf32>
  %y = kan.grid_encode %xy, %tables {base_resolution = 16, finest_resolution = 512}
    : tensor<?x2xf32>, tensor<12x32768x2xf32> -> tensor<?x24xf32>
  %features = tensor.cast %y : tensor<?x24xf32> to tensor<?x?xf32>
  return %features : tensor<?x?xf32>
}
