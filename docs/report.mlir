// One training step of a classifier with batch normalisation: 16384 rows of 64
// features, two hidden layers of 128, 16 classes; loss, gradients, AdamW. The
// mean and the variance of a channel need all rows, so that the step is several
// kernels. docs/report.html is its report.

#rows = affine_map<(r, c) -> (r, c)>
#channels = affine_map<(r, c) -> (c)>
!x = tensor<16384x64xf32>
!h = tensor<16384x128xf32>
!y = tensor<16384x16xf32>
!labels = tensor<16384xi32>
!w1 = tensor<64x128xf32>
!w2 = tensor<128x128xf32>
!w3 = tensor<128x16xf32>
!c = tensor<128xf32>

func.func private @mean(%x: !h) -> !c {
  %zero = arith.constant dense<0.0> : !c
  %sum = linalg.reduce ins(%x : !h) outs(%zero : !c) dimensions = [0]
    (%a: f32, %b: f32) {
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    }
  %by = arith.constant dense<6.103515625e-05> : !c
  %mean = arith.mulf %sum, %by : !c
  return %mean : !c
}

// Of each channel over the rows: mean 0 and variance 1, then times %scale, plus
// %shift.
func.func private @normalise(%x: !h, %scale: !c, %shift: !c) -> !h {
  %empty = tensor.empty() : !h
  %mean = call @mean(%x) : (!h) -> !c
  %means = linalg.broadcast ins(%mean : !c) outs(%empty : !h) dimensions = [0]
  %centred = arith.subf %x, %means : !h
  %squares = arith.mulf %centred, %centred : !h
  %variance = call @mean(%squares) : (!h) -> !c
  %epsilon = arith.constant dense<1.0e-5> : !c
  %more = arith.addf %variance, %epsilon : !c
  %factor = math.rsqrt %more : !c
  %scaled = arith.mulf %factor, %scale : !c
  %y = linalg.generic {indexing_maps = [#rows, #channels, #channels, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%centred, %scaled, %shift : !h, !c, !c) outs(%empty : !h) {
  ^bb0(%v: f32, %s: f32, %b: f32, %out: f32):
    %m = arith.mulf %v, %s : f32
    %r = arith.addf %m, %b : f32
    linalg.yield %r : f32
  } -> !h
  return %y : !h
}

func.func private @loss(%x: !x, %labels: !labels, %w1: !w1, %s1: !c, %b1: !c, %w2: !w2, %s2: !c, %b2: !c, %w3: !w3) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : !h
  %none = arith.constant dense<0.0> : !y
  %z1 = linalg.matmul ins(%x, %w1 : !x, !w1) outs(%zero : !h) -> !h
  %n1 = call @normalise(%z1, %s1, %b1) : (!h, !c, !c) -> !h
  %h1 = kan.relu %n1 : !h
  %z2 = linalg.matmul ins(%h1, %w2 : !h, !w2) outs(%zero : !h) -> !h
  %n2 = call @normalise(%z2, %s2, %b2) : (!h, !c, !c) -> !h
  %h2 = kan.relu %n2 : !h
  %z3 = linalg.matmul ins(%h2, %w3 : !h, !w3) outs(%none : !y) -> !y
  %loss = loss.softmax_cross_entropy %z3, %labels : !y, !labels -> tensor<f32>
  return %loss : tensor<f32>
}

func.func @step(%x: !x, %labels: !labels, %rate: f32, %count: i64,
    %w1: !w1, %s1: !c, %b1: !c, %w2: !w2, %s2: !c, %b2: !c, %w3: !w3,
    %mw1: !w1, %ms1: !c, %mb1: !c, %mw2: !w2, %ms2: !c, %mb2: !c, %mw3: !w3,
    %vw1: !w1, %vs1: !c, %vb1: !c, %vw2: !w2, %vs2: !c, %vb2: !c, %vw3: !w3)
    -> (tensor<f32>, !w1, !c, !c, !w2, !c, !c, !w3, !w1, !c, !c, !w2, !c, !c, !w3, !w1, !c, !c, !w2, !c, !c, !w3) {
  %loss, %g:7 = ad.value_and_grad @loss(%x, %labels, %w1, %s1, %b1, %w2, %s2, %b2, %w3) wrt [2, 3, 4, 5, 6, 7, 8]
    : (!x, !labels, !w1, !c, !c, !w2, !c, !c, !w3) -> (tensor<f32>, !w1, !c, !c, !w2, !c, !c, !w3)
  %n:7, %m:7, %v:7 = opt.adamw
    params(%w1, %s1, %b1, %w2, %s2, %b2, %w3)
    grads(%g#0, %g#1, %g#2, %g#3, %g#4, %g#5, %g#6)
    first(%mw1, %ms1, %mb1, %mw2, %ms2, %mb2, %mw3)
    second(%vw1, %vs1, %vb1, %vw2, %vs2, %vb2, %vw3)
    lr(%rate : f32) step(%count : i64) weight_decay [0.01]
    {beta1 = 0.9, beta2 = 0.999, epsilon = 1.0e-8}
    : !w1, !c, !c, !w2, !c, !c, !w3
  return %loss, %n#0, %n#1, %n#2, %n#3, %n#4, %n#5, %n#6, %m#0, %m#1, %m#2, %m#3, %m#4, %m#5, %m#6, %v#0, %v#1, %v#2, %v#3, %v#4, %v#5, %v#6
    : tensor<f32>, !w1, !c, !c, !w2, !c, !c, !w3, !w1, !c, !c, !w2, !c, !c, !w3, !w1, !c, !c, !w2, !c, !c, !w3
}
