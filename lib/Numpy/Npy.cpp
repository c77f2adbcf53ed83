//===- Npy.cpp - read and write the .npy format ---------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Numpy/Numpy.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include <optional>

using namespace llvm;

namespace drawloom::numpy {

static constexpr StringLiteral magic = "\x93NUMPY";
/// NumPy writes headers of 128 bytes or a few hundred; its own reader refuses
/// more than 10000.
static constexpr size_t longestHeader = 10000;

int64_t Array::elements() const {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

std::string Array::typeName() const {
  switch (kind) {
  case 'b':
    return "bool";
  case 'f':
    return "float" + utostr(elementBytes * 8);
  case 'i':
    return "int" + utostr(elementBytes * 8);
  case 'u':
    return "uint" + utostr(elementBytes * 8);
  default:
    return "void" + utostr(elementBytes * 8);
  }
}

std::string shapeText(ArrayRef<int64_t> shape) {
  return "[" +
         join(map_range(shape, [](int64_t d) { return itostr(d); }), ", ") +
         "]";
}

namespace {
/// What the header says.
struct Header {
  std::string type;
  bool fortranOrder = false;
  std::vector<int64_t> shape;
};

/// Reads the Python dictionary of a header:
/// {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
class HeaderParser {
public:
  explicit HeaderParser(StringRef text) : text(text) {}

  Expected<Header> parse() {
    Header header;
    bool hasType = false, hasOrder = false, hasShape = false;
    if (!consume("{"))
      return error("expected '{'");
    while (!consume("}")) {
      std::optional<StringRef> key = quoted();
      if (!key || !consume(":"))
        return error("expected a key in quotes and ':'");
      if (*key == "descr") {
        if (peek("["))
          return error("structured types are not supported");
        std::optional<StringRef> type = quoted();
        if (!type)
          return error("'descr' is not a type");
        header.type = type->str();
        hasType = true;
      } else if (*key == "fortran_order") {
        header.fortranOrder = consume("True");
        if (!header.fortranOrder && !consume("False"))
          return error("'fortran_order' is neither True nor False");
        hasOrder = true;
      } else if (*key == "shape") {
        if (!parseShape(header.shape))
          return error("'shape' is not a tuple of extents");
        hasShape = true;
      } else {
        return error("unknown key '" + *key + "'");
      }
      consume(",");
    }
    skipSpace();
    if (!text.empty())
      return error("text after '}'");
    if (!hasType || !hasOrder || !hasShape)
      return error("'descr', 'fortran_order' or 'shape' is missing");
    return header;
  }

private:
  static Error error(const Twine &what) {
    return createStringError("the .npy header is malformed: " + what);
  }
  void skipSpace() { text = text.ltrim(" \n\t"); }
  bool peek(StringRef token) {
    skipSpace();
    return text.starts_with(token);
  }
  bool consume(StringRef token) {
    skipSpace();
    return text.consume_front(token);
  }
  std::optional<StringRef> quoted() {
    skipSpace();
    if (text.empty() || (text.front() != '\'' && text.front() != '"'))
      return std::nullopt;
    size_t end = text.find(text.front(), 1);
    if (end == StringRef::npos)
      return std::nullopt;
    StringRef inner = text.slice(1, end);
    text = text.drop_front(end + 1);
    return inner;
  }
  bool parseShape(std::vector<int64_t> &shape) {
    if (!consume("("))
      return false;
    while (!consume(")")) {
      skipSpace();
      uint64_t extent;
      if (text.consumeInteger(10, extent) || extent > INT64_MAX)
        return false;
      // Files that Python 2 wrote.
      text.consume_front("L");
      shape.push_back(extent);
      if (!consume(",") && !peek(")"))
        return false;
    }
    return true;
  }

  StringRef text;
};
} // namespace

/// Fills kind and elementBytes; `swapped` tells big-endian elements.
static Error parseType(StringRef type, Array &array, bool &swapped) {
  StringRef rest = type;
  char order = rest.empty() ? 0 : rest.front();
  if (StringRef("<>|=").contains(order))
    rest = rest.drop_front();
  swapped = order == '>';
  array.kind = rest.empty() ? 0 : rest.front();
  if (array.kind == 'O')
    return createStringError("arrays of Python objects are not supported");
  bool known = !rest.drop_front(rest.empty() ? 0 : 1)
                    .getAsInteger(10, array.elementBytes);
  switch (array.kind) {
  case 'f':
    known &= is_contained({2u, 4u, 8u}, array.elementBytes);
    break;
  case 'i':
  case 'u':
    known &= is_contained({1u, 2u, 4u, 8u}, array.elementBytes);
    break;
  case 'b':
    known &= array.elementBytes == 1;
    break;
  case 'V':
    known &= array.elementBytes == 1 || array.elementBytes == 2;
    break;
  default:
    known = false;
  }
  if (!known)
    return createStringError("element type '" + type + "' is not supported");
  return Error::success();
}

static void swapBytes(Array &array) {
  for (size_t i = 0; i + array.elementBytes <= array.bytes.size();
       i += array.elementBytes)
    std::reverse(array.bytes.begin() + i,
                 array.bytes.begin() + i + array.elementBytes);
}

/// From first index fastest to last index fastest.
static void toRowMajor(Array &array) {
  size_t width = array.elementBytes, rank = array.shape.size();
  std::vector<int64_t> strides(rank), index(rank, 0);
  int64_t stride = 1;
  for (size_t d = 0; d < rank; ++d) {
    strides[d] = stride;
    stride *= array.shape[d];
  }
  std::string ordered(array.bytes.size(), '\0');
  int64_t from = 0;
  for (int64_t to = 0, end = array.elements(); to < end; ++to) {
    std::copy_n(array.bytes.data() + from * width, width,
                ordered.data() + to * width);
    for (size_t d = rank; d-- > 0;) {
      from += strides[d];
      if (++index[d] < array.shape[d])
        break;
      from -= strides[d] * index[d];
      index[d] = 0;
    }
  }
  array.bytes = std::move(ordered);
}

Expected<Array> parseNpy(StringRef contents) {
  StringRef rest = contents;
  if (!rest.consume_front(magic))
    return createStringError(
        "not a .npy file: it does not begin with \\x93NUMPY");
  if (rest.size() < 2)
    return createStringError("the .npy file ends within its header");
  unsigned major = static_cast<unsigned char>(rest[0]);
  rest = rest.drop_front(2);
  if (major < 1 || major > 3)
    return createStringError("version " + Twine(major) +
                             " of the .npy format is not known");
  size_t lengthBytes = major == 1 ? 2 : 4;
  if (rest.size() < lengthBytes)
    return createStringError("the .npy file ends within its header");
  size_t length = major == 1 ? support::endian::read16le(rest.data())
                             : support::endian::read32le(rest.data());
  rest = rest.drop_front(lengthBytes);
  if (length > longestHeader)
    return createStringError("the .npy header claims " + Twine(length) +
                             " bytes; at most " + Twine(longestHeader) +
                             " are read");
  if (rest.size() < length)
    return createStringError("the .npy file ends within its header");

  Expected<Header> header = HeaderParser(rest.take_front(length)).parse();
  if (!header)
    return header.takeError();
  rest = rest.drop_front(length);

  Array array;
  bool swapped;
  if (Error error = parseType(header->type, array, swapped))
    return error;
  array.shape = std::move(header->shape);
  bool overflow = false;
  int64_t needed = array.elementBytes;
  for (int64_t extent : array.shape)
    overflow |= MulOverflow(needed, extent, needed);
  if (overflow)
    return createStringError("shape " + shapeText(array.shape) +
                             " has more elements than fit into 64 bits");
  if (rest.size() != static_cast<uint64_t>(needed))
    return createStringError(
        "shape " + shapeText(array.shape) + " of " + array.typeName() +
        " needs " + Twine(needed) + " bytes of data, but the .npy file has " +
        Twine(rest.size()) +
        (rest.size() < static_cast<uint64_t>(needed) ? " (truncated?)" : ""));
  array.bytes = rest.str();
  if (swapped)
    swapBytes(array);
  if (header->fortranOrder && array.shape.size() > 1)
    toRowMajor(array);
  return array;
}

std::string formatNpy(const Array &array) {
  std::string shape;
  for (int64_t extent : array.shape)
    shape += itostr(extent) + (array.shape.size() == 1 ? "," : ", ");
  if (array.shape.size() > 1)
    shape.resize(shape.size() - 2);
  std::string header = "{'descr': '";
  header += array.elementBytes == 1 ? '|' : '<';
  header += array.kind;
  header += utostr(array.elementBytes) +
            "', 'fortran_order': False, 'shape': (" + shape + "), }";
  // Data starts at a multiple of 64 bytes, so that it can be mapped.
  size_t before = magic.size() + 4;
  header.append(63 - (before + header.size()) % 64, ' ');
  header += '\n';
  std::string contents = magic.str();
  contents += '\x01';
  contents += '\x00';
  contents += static_cast<char>(header.size() & 255);
  contents += static_cast<char>(header.size() >> 8);
  return contents + header + array.bytes;
}

} // namespace drawloom::numpy
