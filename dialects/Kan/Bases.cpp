//===- Bases.cpp - the table of bases -------------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The formulas are those of kan.edge_layer's description (KanEdges.td), which
// names the sources.
//
//===----------------------------------------------------------------------===//

#include "dialects/Kan/Bases.h"
#include <array>

namespace drawloom::kan {

namespace {

constexpr double pi = 3.14159265358979323846;

/// A basis whose parameters are used as they are given.
struct AsGiven {
  template <typename Number>
  static Numbers<Number> prepare(Parameters<Number> parameters, BasisSize) {
    Numbers<Number> all;
    for (const Numbers<Number> &one : parameters)
      all.append(one.begin(), one.end());
    return all;
  }
};

//===----------------------------------------------------------------------===//
// Splines
//===----------------------------------------------------------------------===//

/// 1 / (to - from), and 0 where these are equal.
template <typename Number> Number inverseOfGap(Number from, Number to) {
  Number zero = constant(0, from), one = constant(1, from);
  Number gap = to - from;
  Number divisor = chooseBelow(zero, gap, gap, one);
  return chooseBelow(zero, gap, one / divisor, zero);
}

/// x, moved into an interval; NaN stays.
template <typename Number> Number within(Number x, Number low, Number high) {
  Number above = chooseBelow(x, low, low, x);
  return chooseBelow(high, above, high, above);
}

/// The functions of an interval, the one that ends with it first, by Cox and de
/// Boor's recurrence:
///   N_{r,p} = rise_{p-r} N_{r-1,p-1} / gap + fall_{r+1} N_{r,p-1} / gap.
/// `rise(j)` is the distance of x to the j-th knot in front of the interval's
/// end, `fall(j)` that to the j-th knot behind its beginning, from 1 on;
/// `inverse` is 1 / gap, by p and the two distances that it is the sum of.
template <typename Number>
Numbers<Number>
inInterval(int64_t order, Number like, llvm::function_ref<Number(int64_t)> rise,
           llvm::function_ref<Number(int64_t)> fall,
           llvm::function_ref<Number(int64_t, Number, Number)> inverse) {
  Numbers<Number> b{constant(1, like)};
  for (int64_t p = 1; p <= order; ++p) {
    Numbers<Number> next;
    Number rising = constant(0, like);
    for (int64_t r = 0; r < p; ++r) {
      Number left = rise(p - r), right = fall(r + 1);
      Number share = b[r] * inverse(p, left, right);
      next.push_back(multiplyAdd(right, share, rising));
      rising = left * share;
    }
    next.push_back(rising);
    b = next;
  }
  return b;
}

/// The functions of interval number `interval`, which is clamped to the
/// window's place; where it is not there, neither are some functions.
template <typename Number>
Window<Number> windowOf(Number interval, const Numbers<Number> &pieces,
                        Number none, BasisSize size) {
  int64_t order = size.order;
  Number zero = constant(0, interval);
  Number last = constant(size.functions - order - 1, interval);
  Number first = interval - static_cast<double>(order);
  Number start = within(first, zero, last);
  Number shift = first - start;
  Numbers<Number> moved;
  for (int64_t j = 0; j <= order; ++j) {
    Number one = none;
    for (int64_t piece = 0; piece <= order; ++piece)
      one = chooseEqual(shift, j - piece, pieces[piece], one);
    moved.push_back(one);
  }
  return {start, moved};
}

/// Cox and de Boor's recurrence:
///   B_{i,0} = 1 where t_i <= x < t_{i+1},
///   B_{i,p} = w_{i,p} B_{i,p-1} + (1 - w_{i+1,p}) B_{i+1,p-1},
///   w_{i,p} = (x - t_i) / (t_{i+p} - t_i).
struct BSpline {
  static int64_t knots(BasisSize size) {
    return size.functions + size.order + 1;
  }

  /// The knots, then the inverse gaps by p and i.
  template <typename Number>
  static Numbers<Number> withGaps(Numbers<Number> knots, BasisSize size) {
    Numbers<Number> all = knots;
    for (int64_t p = 1; p <= size.order; ++p)
      for (int64_t i = 0; i + p < static_cast<int64_t>(knots.size()); ++i)
        all.push_back(inverseOfGap(knots[i], knots[i + p]));
    return all;
  }

  template <typename Number>
  static Numbers<Number> prepare(Parameters<Number> parameters,
                                 BasisSize size) {
    return withGaps(parameters[0], size);
  }

  template <typename Number>
  static Numbers<Number> values(Number x, llvm::ArrayRef<Number> prepared,
                                BasisSize size) {
    int64_t count = knots(size);
    llvm::ArrayRef<Number> knot = prepared.take_front(count);
    llvm::ArrayRef<Number> inverse = prepared.drop_front(count);
    Number zero = constant(0, x), one = constant(1, x);
    Numbers<Number> reached, distance, b;
    // Outside all functions are 0, however far.
    Number inside = within(x, knot.front(), knot.back());
    for (Number t : knot) {
      reached.push_back(chooseBelow(x, t, zero, one));
      distance.push_back(inside - t);
    }
    for (int64_t i = 0; i + 1 < count; ++i)
      b.push_back(reached[i] - reached[i + 1]);
    for (int64_t p = 1; p <= size.order; ++p) {
      Numbers<Number> rising;
      for (int64_t i = 0; i + p < count; ++i) {
        Number w = distance[i] * inverse[i];
        rising.push_back(w * b[i]);
      }
      inverse = inverse.drop_front(count - p);
      Numbers<Number> next;
      for (int64_t i = 0; i + p + 1 < count; ++i) {
        Number falling = b[i + 1] - rising[i + 1];
        next.push_back(rising[i] + falling);
      }
      b = next;
    }
    return b;
  }

  template <typename Number>
  static Numbers<Number> prepareWindow(Parameters<Number> parameters,
                                       BasisSize) {
    return parameters[0];
  }

  /// The last knot that x has reached says which interval it is in, and the
  /// 2 p knots that its functions need.
  template <typename Number>
  static Window<Number> window(Number x, llvm::ArrayRef<Number> knot,
                               BasisSize size) {
    int64_t order = size.order, count = knots(size);
    auto at = [&](int64_t j) {
      return knot[std::clamp<int64_t>(j, 0, count - 1)];
    };
    Number zero = constant(0, x), one = constant(1, x);
    // t_{i-p+1} .. t_{i+p} of interval i.
    Number interval = zero;
    Numbers<Number> near;
    for (int64_t j = 1 - order; j <= order; ++j)
      near.push_back(at(j));
    for (int64_t i = 1; i + 1 < count; ++i) {
      interval = interval + chooseBelow(x, knot[i], zero, one);
      for (int64_t j = 0; j < 2 * order; ++j)
        near[j] = chooseBelow(x, knot[i], near[j], at(i + 1 - order + j));
    }
    Number inside = within(x, knot.front(), knot.back());
    Number there = chooseBelow(x, knot.back(), one, zero);
    there = chooseBelow(x, knot.front(), zero, there);
    Numbers<Number> pieces = inInterval<Number>(
        order, x, [&](int64_t j) { return inside - near[order - j]; },
        [&](int64_t j) { return near[order - 1 + j] - inside; },
        [&](int64_t, Number left, Number right) {
          Number gap = left + right;
          Number divisor = chooseBelow(zero, gap, gap, one);
          return one / divisor;
        });
    for (Number &piece : pieces)
      piece = piece * there;
    return windowOf(interval, pieces, inside * 0.0, size);
  }
};

/// Knots at equal distances h, `order` of them in front of a and behind b.
struct UniformBSpline : BSpline {
  template <typename Number>
  static Numbers<Number> prepare(Parameters<Number> parameters,
                                 BasisSize size) {
    Number h = distance(parameters[0], size);
    Numbers<Number> all;
    for (int64_t j = 0; j < knots(size); ++j)
      all.push_back(
          multiplyAdd(h, constant(j - size.order, h), parameters[0][0]));
    for (int64_t p = 1; p <= size.order; ++p)
      all.append(knots(size) - p, 1.0 / (h * static_cast<double>(p)));
    return all;
  }

  /// a and 1 / h.
  template <typename Number>
  static Numbers<Number> prepareWindow(Parameters<Number> parameters,
                                       BasisSize size) {
    return {parameters[0][0], 1.0 / distance(parameters[0], size)};
  }

  /// In the interval at its share f the gaps of the recurrence are p h.
  template <typename Number>
  static Window<Number> window(Number x, llvm::ArrayRef<Number> prepared,
                               BasisSize size) {
    int64_t order = size.order;
    // Counted from the first knot; beyond both ends there is nothing.
    Number u = (x - prepared[0]) * prepared[1] + static_cast<double>(order);
    u = within(u, constant(-1, x),
               constant(static_cast<double>(size.functions + order), x));
    Number interval = floorOf(u);
    Number f = u - interval;
    Numbers<Number> pieces = inInterval<Number>(
        order, x, [&](int64_t j) { return f + (j - 1.0); },
        [&](int64_t j) { return static_cast<double>(j) - f; },
        [&](int64_t p, Number, Number) { return constant(1.0 / p, x); });
    // NaN stays.
    return windowOf(interval, pieces, f * 0.0, size);
  }

private:
  template <typename Number>
  static Number distance(const Numbers<Number> &domain, BasisSize size) {
    Number width = domain[1] - domain[0];
    return width * (1.0 / (size.functions - size.order));
  }
};

/// The hat of knot k is f_{k-1} - f_k, where f_j rises from 0 at t_j to 1 at
/// t_{j+1} and stays; the first goes on below 0 and the last above 1.
struct PiecewiseLinear {
  template <typename Number>
  static Numbers<Number> prepare(Parameters<Number> parameters,
                                 BasisSize size) {
    const Numbers<Number> &t = parameters[0];
    Numbers<Number> all = t;
    for (int64_t j = 0; j + 1 < size.functions; ++j)
      all.push_back(inverseOfGap(t[j], t[j + 1]));
    return all;
  }

  template <typename Number>
  static Numbers<Number> values(Number x, llvm::ArrayRef<Number> prepared,
                                BasisSize size) {
    Number zero = constant(0, x), one = constant(1, x);
    Numbers<Number> hats;
    Number before = one;
    int64_t last = size.functions - 1;
    for (int64_t j = 0; j < last; ++j) {
      Number f = (x - prepared[j]) * prepared[size.functions + j];
      if (j > 0)
        f = chooseBelow(f, zero, zero, f);
      if (j + 1 < last)
        f = chooseBelow(one, f, one, f);
      hats.push_back(before - f);
      before = f;
    }
    hats.push_back(before);
    return hats;
  }
};

//===----------------------------------------------------------------------===//
// Polynomials
//===----------------------------------------------------------------------===//

/// p_{k+1} = (a x + b) p_k - c p_{k-1}.
template <typename Number> struct Step {
  Number a, b, c;
};

/// `Row::step(k)` has the three numbers of step k, where b is 0 behind the
/// first one; p_0 is `Row::first`.
template <typename Row> struct FixedRecurrence : AsGiven {
  template <typename Number>
  static Numbers<Number> values(Number x, llvm::ArrayRef<Number>,
                                BasisSize size) {
    Numbers<Number> p{constant(Row::first, x)};
    for (int64_t k = 0; k + 1 < size.functions; ++k) {
      Step<double> step = Row::step(k);
      if (k == 0) {
        p.push_back(x * (step.a * Row::first) + step.b * Row::first);
        continue;
      }
      Number factor = x * step.a;
      Number back = p[k - 1] * -step.c;
      p.push_back(multiplyAdd(factor, p[k], back));
    }
    return p;
  }
};

struct FirstIsOne {
  static constexpr double first = 1;
};
struct Bessel : FirstIsOne {
  static Step<double> step(int64_t k) {
    return {2.0 * k + 1, k == 0 ? 1.0 : 0.0, -1};
  }
};
struct Chebyshev : FirstIsOne {
  static Step<double> step(int64_t k) { return {k == 0 ? 1.0 : 2.0, 0, 1}; }
};
struct ChebyshevSecond : FirstIsOne {
  static Step<double> step(int64_t) { return {2, 0, 1}; }
};
struct Fibonacci : FirstIsOne {
  static Step<double> step(int64_t) { return {1, 0, -1}; }
};
struct Hermite : FirstIsOne {
  static Step<double> step(int64_t k) { return {2, 0, 2.0 * k}; }
};
struct HermiteE : FirstIsOne {
  static Step<double> step(int64_t k) { return {1, 0, 1.0 * k}; }
};
struct Legendre : FirstIsOne {
  static Step<double> step(int64_t k) {
    return {(2.0 * k + 1) / (k + 1), 0, k / (k + 1.0)};
  }
};
struct Lucas {
  static constexpr double first = 2;
  static Step<double> step(int64_t k) { return {k == 0 ? 0.5 : 1.0, 0, -1}; }
};
struct Monomial : FirstIsOne {
  static Step<double> step(int64_t) { return {1, 0, 0}; }
};

/// The numbers of the steps come from parameters: a, b, c of each in turn.
template <typename Row> struct Recurrence {
  template <typename Number>
  static Numbers<Number> prepare(Parameters<Number> parameters,
                                 BasisSize size) {
    Numbers<Number> all;
    for (int64_t k = 0; k + 1 < size.functions; ++k) {
      Step<Number> step = Row::step(parameters, k);
      all.append({step.a, step.b, step.c});
    }
    return all;
  }

  template <typename Number>
  static Numbers<Number> values(Number x, llvm::ArrayRef<Number> prepared,
                                BasisSize size) {
    Numbers<Number> p{constant(1, x)};
    for (int64_t k = 0; k + 1 < size.functions; ++k) {
      Number factor = multiplyAdd(x, prepared[3 * k], prepared[3 * k + 1]);
      if (k == 0) {
        p.push_back(factor);
        continue;
      }
      Number back = prepared[3 * k + 2] * p[k - 1];
      p.push_back(factor * p[k] - back);
    }
    return p;
  }
};

struct Gegenbauer {
  template <typename Number>
  static Step<Number> step(Parameters<Number> parameters, int64_t k) {
    Number a = parameters[0][0];
    double inverse = 1 / (k + 1.0);
    Number c = (a * 2.0 + (k - 1.0)) * inverse;
    return {(a + k) * (2 * inverse), constant(0, a), c};
  }
};
struct Laguerre {
  template <typename Number>
  static Step<Number> step(Parameters<Number> parameters, int64_t k) {
    Number a = parameters[0][0];
    double inverse = 1 / (k + 1.0);
    Number b = (a + (2.0 * k + 1)) * inverse;
    return {constant(-inverse, a), b, (a + k) * inverse};
  }
};
struct Jacobi {
  template <typename Number>
  static Step<Number> step(Parameters<Number> parameters, int64_t k) {
    Number a = parameters[0][0], b = parameters[0][1];
    Number sum = a + b, difference = a - b;
    if (k == 0)
      return {(sum + 2.0) * 0.5, difference * 0.5, constant(0, a)};
    double n = k + 1.0;
    Number s = sum + 2 * n;
    Number scale = 1.0 / ((sum + n) * (2 * n));
    Number inner = 1.0 / (s - 2.0);
    Number rise = (s - 1.0) * s;
    Number squares = sum * difference;
    Number shift = (s - 1.0) * squares;
    Number left = a + (n - 1), right = b + (n - 1);
    Number back = left * right * s * 2.0;
    Number both = scale * inner;
    return {rise * scale, shift * both, back * both};
  }
};
struct ThreeTerm {
  template <typename Number>
  static Step<Number> step(Parameters<Number> parameters, int64_t k) {
    return {parameters[0][k], parameters[1][k], parameters[2][k]};
  }
};

/// By de Casteljau's scheme, which only adds products of two numbers of [0, 1]
/// there.
struct Bernstein : AsGiven {
  template <typename Number>
  static Numbers<Number> values(Number x, llvm::ArrayRef<Number>,
                                BasisSize size) {
    Number rest = 1.0 - x;
    Numbers<Number> b{constant(1, x)};
    for (int64_t degree = 1; degree < size.functions; ++degree) {
      Numbers<Number> next{b[0] * rest};
      for (int64_t k = 1; k < degree; ++k) {
        Number left = b[k - 1] * x;
        next.push_back(multiplyAdd(b[k], rest, left));
      }
      next.push_back(b[degree - 1] * x);
      b = next;
    }
    return b;
  }
};

//===----------------------------------------------------------------------===//
// Quotients and waves
//===----------------------------------------------------------------------===//

struct Rational : AsGiven {
  template <typename Number>
  static Numbers<Number> values(Number x, llvm::ArrayRef<Number> prepared,
                                BasisSize size) {
    Number sum = prepared.back();
    for (Number b : llvm::reverse(prepared.drop_back()))
      sum = multiplyAdd(sum, x, b);
    Number power = 1.0 / (magnitude(sum * x) + 1.0);
    Numbers<Number> all{power};
    for (int64_t k = 1; k < size.functions; ++k) {
      power = power * x;
      all.push_back(power);
    }
    return all;
  }
};

/// Angle k is the sum of two of half the size, so that errors grow with log k.
struct Fourier : AsGiven {
  template <typename Number>
  static Numbers<Number> values(Number x, llvm::ArrayRef<Number>,
                                BasisSize size) {
    Numbers<Number> c{cosine(x)}, s{sine(x)};
    for (int64_t k = 2; k <= size.functions / 2; ++k) {
      int64_t i = k / 2 - 1, j = k - k / 2 - 1;
      Number both = s[i] * s[j];
      Number mixed = s[i] * c[j];
      Number cosineOfSum = c[i] * c[j] - both;
      Number sineOfSum = multiplyAdd(c[i], s[j], mixed);
      c.push_back(cosineOfSum);
      s.push_back(sineOfSum);
    }
    c.append(s);
    return c;
  }
};

//===----------------------------------------------------------------------===//
// One formula for each function
//===----------------------------------------------------------------------===//

/// `Row::value` is the formula of one function, by its `Row::count` numbers.
/// Prepared are all numbers of the first function, then of the second one.
template <typename Row> struct Pointwise {
  template <typename Number>
  static Numbers<Number> prepare(Parameters<Number> parameters,
                                 BasisSize size) {
    Numbers<Number> all;
    for (int64_t k = 0; k < size.functions; ++k) {
      std::array<Number, Row::count> numbers = [&] {
        if constexpr (Row::count == 2)
          return std::array<Number, 2>{at(parameters[0], k),
                                       at(parameters[1], k)};
        else
          return std::array<Number, 3>{
              at(parameters[0], k), at(parameters[1], k), at(parameters[2], k)};
      }();
      Row::prepare(numbers);
      all.append(numbers.begin(), numbers.end());
    }
    return all;
  }

  template <typename Number>
  static Numbers<Number> values(Number x, llvm::ArrayRef<Number> prepared,
                                BasisSize size) {
    Numbers<Number> all;
    for (int64_t k = 0; k < size.functions; ++k)
      all.push_back(
          Row::value(x, prepared.slice(k * Row::count, Row::count), size));
    return all;
  }

private:
  template <typename Number>
  static Number at(const Numbers<Number> &numbers, int64_t k) {
    return numbers.size() == 1 ? numbers[0] : numbers[k];
  }
};

/// Functions of v = (x - t) / s.
template <typename Shape> struct Bump {
  static constexpr size_t count = 2;
  template <typename Number>
  static void prepare(std::array<Number, 2> &numbers) {
    numbers[1] = 1.0 / numbers[1];
  }
  template <typename Number>
  static Number value(Number x, llvm::ArrayRef<Number> numbers, BasisSize) {
    Number v = (x - numbers[0]) * numbers[1];
    return Shape::of(v);
  }
};

template <typename Number> Number bell(Number v) {
  return exponential(v * v * -0.5);
}

struct Gaussian {
  template <typename Number> static Number of(Number v) {
    return exponential(-(v * v));
  }
};
struct Multiquadric {
  template <typename Number> static Number of(Number v) {
    return root(v * v + 1.0);
  }
};
struct InverseMultiquadric {
  template <typename Number> static Number of(Number v) {
    return 1.0 / root(v * v + 1.0);
  }
};
struct SechSquared {
  template <typename Number> static Number of(Number v) {
    Number t = tangent(v);
    return 1.0 - t * t;
  }
};
struct GaussianDerivative {
  template <typename Number> static Number of(Number v) {
    Number height = bell(v);
    return -(v * height);
  }
};
struct MexicanHat {
  template <typename Number> static Number of(Number v) {
    double scale = 2 / (std::sqrt(3.0) * std::pow(pi, 0.25));
    Number square = v * v;
    Number shape = (1.0 - square) * scale;
    Number height = bell(v);
    return shape * height;
  }
};
struct Morlet {
  template <typename Number> static Number of(Number v) {
    Number wave = cosine(v * 5.0);
    Number height = bell(v);
    return wave * height;
  }
};
/// Near 0 by its series, whose error is below 1e-17 there.
struct Shannon {
  template <typename Number> static Number of(Number v) {
    Number near = constant(0.5, v), one = constant(1, v);
    Number distance = magnitude(v);
    Number square = v * v;
    Number small = chooseBelow(distance, near, square, constant(0, v));
    Number series = one;
    for (int n = 14; n > 0; n -= 2)
      series = multiplyAdd(series * (-1.0 / (n * (n + 1))), small, one);
    Number divisor = chooseBelow(distance, near, one, v);
    Number quotient = sine(v) / divisor;
    return chooseBelow(distance, near, series, quotient);
  }
};

struct Sine {
  static constexpr size_t count = 2;
  template <typename Number> static void prepare(std::array<Number, 2> &) {}
  template <typename Number>
  static Number value(Number x, llvm::ArrayRef<Number> numbers, BasisSize) {
    return sine(multiplyAdd(x, numbers[0], numbers[1]));
  }
};

struct ReluProduct {
  static constexpr size_t count = 3;
  template <typename Number> static void prepare(std::array<Number, 3> &) {}
  template <typename Number>
  static Number value(Number x, llvm::ArrayRef<Number> numbers,
                      BasisSize size) {
    Number zero = constant(0, x);
    Number left = x - numbers[0], right = numbers[1] - x;
    left = chooseBelow(left, zero, zero, left);
    right = chooseBelow(right, zero, zero, right);
    Number product = left * right * numbers[2];
    Number power = product;
    for (int64_t p = 1; p < size.order; ++p)
      power = power * product;
    return power;
  }
};

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

int64_t one(BasisSize) { return 1; }
int64_t two(BasisSize) { return 2; }
int64_t asOrder(BasisSize size) { return size.order; }
int64_t forEach(BasisSize size) { return size.functions; }

template <typename Formula>
BasisFamily family(llvm::SmallVector<BasisParameter> parameters = {}) {
  BasisFamily made;
  made.parameters = std::move(parameters);
  made.written = {Formula::template prepare<Written>,
                  Formula::template values<Written>};
  made.evaluated = {Formula::template prepare<double>,
                    Formula::template values<double>};
  made.leastFunctions = [](int64_t) -> int64_t { return 1; };
  return made;
}

template <typename Row> BasisFamily polynomials() {
  return family<FixedRecurrence<Row>>();
}

template <typename Shape> BasisFamily bumps() {
  BasisFamily made =
      family<Pointwise<Bump<Shape>>>({{"center", forEach}, {"width", forEach}});
  made.isPointwise = true;
  return made;
}

template <typename Formula>
BasisFamily splines(llvm::SmallVector<BasisParameter> parameters) {
  BasisFamily made = family<Formula>(std::move(parameters));
  made.written.prepareWindow = Formula::template prepareWindow<Written>;
  made.written.window = Formula::template window<Written>;
  made.evaluated.prepareWindow = Formula::template prepareWindow<double>;
  made.evaluated.window = Formula::template window<double>;
  made.leastOrder = 1;
  made.leastFunctions = [](int64_t order) { return order + 1; };
  return made;
}

BasisFamily makeFamily(Basis basis) {
  switch (basis) {
  case Basis::bspline:
    return splines<BSpline>({{"knots", BSpline::knots}});
  case Basis::uniform_bspline:
    return splines<UniformBSpline>({{"domain", two}});
  case Basis::piecewise_linear: {
    BasisFamily made = family<PiecewiseLinear>({{"knots", forEach}});
    made.leastFunctions = [](int64_t) -> int64_t { return 2; };
    return made;
  }
  case Basis::bernstein:
    return family<Bernstein>();
  case Basis::bessel:
    return polynomials<Bessel>();
  case Basis::chebyshev:
    return polynomials<Chebyshev>();
  case Basis::chebyshev_second:
    return polynomials<ChebyshevSecond>();
  case Basis::fibonacci:
    return polynomials<Fibonacci>();
  case Basis::gegenbauer:
    return family<Recurrence<Gegenbauer>>({{"exponent", one}});
  case Basis::hermite:
    return polynomials<Hermite>();
  case Basis::hermite_e:
    return polynomials<HermiteE>();
  case Basis::jacobi:
    return family<Recurrence<Jacobi>>({{"exponents", two}});
  case Basis::laguerre:
    return family<Recurrence<Laguerre>>({{"exponent", one}});
  case Basis::legendre:
    return polynomials<Legendre>();
  case Basis::lucas:
    return polynomials<Lucas>();
  case Basis::monomial:
    return polynomials<Monomial>();
  case Basis::three_term:
    return family<Recurrence<ThreeTerm>>(
        {{"scales", forEach}, {"shifts", forEach}, {"backs", forEach}});
  case Basis::rational: {
    BasisFamily made = family<Rational>({{"denominator", asOrder}});
    made.leastOrder = 1;
    return made;
  }
  case Basis::fourier: {
    BasisFamily made = family<Fourier>();
    made.leastFunctions = [](int64_t) -> int64_t { return 2; };
    made.multiple = 2;
    return made;
  }
  case Basis::sine: {
    BasisFamily made =
        family<Pointwise<Sine>>({{"frequency", forEach}, {"phase", forEach}});
    made.isPointwise = true;
    return made;
  }
  case Basis::gaussian:
    return bumps<Gaussian>();
  case Basis::inverse_multiquadric:
    return bumps<InverseMultiquadric>();
  case Basis::multiquadric:
    return bumps<Multiquadric>();
  case Basis::relu_product: {
    BasisFamily made = family<Pointwise<ReluProduct>>(
        {{"start", forEach}, {"end", forEach}, {"scale", forEach}});
    made.isPointwise = true;
    made.leastOrder = 1;
    return made;
  }
  case Basis::sech_squared:
    return bumps<SechSquared>();
  case Basis::gaussian_derivative:
    return bumps<GaussianDerivative>();
  case Basis::mexican_hat:
    return bumps<MexicanHat>();
  case Basis::morlet:
    return bumps<Morlet>();
  case Basis::shannon:
    return bumps<Shannon>();
  }
  llvm_unreachable("unknown basis");
}

} // namespace

const BasisFamily &basisFamily(Basis basis) {
  static const std::vector<BasisFamily> table = [] {
    std::vector<BasisFamily> made;
    for (uint32_t i = 0; i <= getMaxEnumValForBasis(); ++i)
      made.push_back(makeFamily(static_cast<Basis>(i)));
    return made;
  }();
  return table[static_cast<size_t>(basis)];
}

} // namespace drawloom::kan
