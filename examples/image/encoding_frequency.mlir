// Sine and cosine of pi x, 2 pi x, 4 pi x, ... 2048 pi x, and of y. Nothing is
// learnt here, so that %t is not used.
func.func private @encode(%xy: tensor<?x2xf32>, %t: tensor<?x?x2xf32>) -> tensor<?x?xf32> {
  %y = kan.frequency_encode %xy {octaves = 12} : tensor<?x2xf32> -> tensor<?x48xf32>
  %features = tensor.cast %y : tensor<?x48xf32> to tensor<?x?xf32>
  return %features : tensor<?x?xf32>
}
