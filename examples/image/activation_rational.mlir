// P(x) / Q(x) of degrees 5 and 4, with its own coefficients for each 8 units.
func.func private @activation(%x: tensor<?x64xf32>, %p: tensor<8x6xf32>, %q: tensor<8x4xf32>) -> tensor<?x64xf32> {
  %y = kan.rational %x, %p, %q form(abs_terms) : tensor<?x64xf32>, tensor<8x6xf32>, tensor<8x4xf32>
  return %y : tensor<?x64xf32>
}
