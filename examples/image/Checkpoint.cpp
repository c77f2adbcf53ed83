//===- Checkpoint.cpp - a run that can be continued -----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "examples/image/Checkpoint.h"
#include "examples/image/Files.h"
#include "llvm/Support/DataExtractor.h"
#include "llvm/Support/EndianStream.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;
using namespace image;

static constexpr StringLiteral magic = "DRAWLOOM-IMAGE\n";
static constexpr uint32_t version = 1;

static void writeFloats(support::endian::Writer &writer,
                        ArrayRef<float> values) {
  writer.write<uint64_t>(values.size());
  writer.write(values);
}

static void writeString(support::endian::Writer &writer, StringRef string) {
  writer.write<uint64_t>(string.size());
  writer.OS << string;
}

Error image::writeCheckpoint(StringRef path, const Checkpoint &checkpoint) {
  std::string bytes;
  raw_string_ostream stream(bytes);
  support::endian::Writer writer(stream, endianness::little);
  const Settings &settings = checkpoint.settings;
  stream << magic;
  writer.write<uint32_t>(version);
  writer.write<uint8_t>(static_cast<uint8_t>(settings.activation));
  writer.write<uint8_t>(static_cast<uint8_t>(settings.encoding));
  writer.write<int64_t>(settings.steps);
  writer.write<int64_t>(settings.batch);
  writer.write<uint64_t>(settings.seed);
  writer.write<double>(settings.rate);
  writeString(writer, settings.image);
  writer.write<uint64_t>(checkpoint.picture);
  writer.write<uint64_t>(checkpoint.network);
  writeFloats(writer, checkpoint.losses);
  writer.write<uint64_t>(checkpoint.state.tensors.size());
  for (const Buffer &tensor : checkpoint.state.tensors)
    writeFloats(writer, tensor.values());
  // Last, so that two files of equal runs differ in their ends only.
  writer.write<double>(checkpoint.seconds);
  writer.write<uint64_t>(xxh3_64bits(bytes));
  return writeWhole(path, bytes);
}

namespace {
/// Reads field by field; after a read beyond the end all further ones give 0.
struct Reader {
  DataExtractor data;
  DataExtractor::Cursor cursor;

  explicit Reader(StringRef bytes)
      : data(bytes, /*IsLittleEndian=*/true, /*AddressSize=*/8), cursor(0) {}

  double f64() { return bit_cast<double>(data.getU64(cursor)); }
  std::string string() {
    return data.getBytes(cursor, data.getU64(cursor)).str();
  }
  /// A count of things of `size` bytes that the file has room for, or 0.
  uint64_t count(uint64_t size) {
    uint64_t n = data.getU64(cursor);
    uint64_t left = data.size() - std::min(data.size(), cursor.tell());
    return cursor && n <= left / size ? n : 0;
  }
  void floats(float *values, uint64_t n) {
    for (uint64_t i = 0; i < n; ++i)
      values[i] = bit_cast<float>(data.getU32(cursor));
  }
};
} // namespace

Expected<Checkpoint> image::readCheckpoint(StringRef path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> file =
      MemoryBuffer::getFile(path, /*IsText=*/false,
                            /*RequiresNullTerminator=*/false);
  if (!file)
    return makeError("cannot read the checkpoint '" + path +
                     "': " + file.getError().message());
  StringRef bytes = (*file)->getBuffer();
  if (!bytes.starts_with(magic))
    return makeError("'" + path + "' is not a checkpoint of drawloom-image");
  StringRef body = bytes.drop_back(std::min<size_t>(8, bytes.size()));
  Reader reader(bytes.drop_front(magic.size()));
  uint32_t fileVersion = reader.data.getU32(reader.cursor);
  if (reader.cursor && fileVersion != version) {
    consumeError(reader.cursor.takeError());
    return makeError("the checkpoint '" + path + "' has version " +
                     Twine(fileVersion) + ", and this program reads version " +
                     Twine(version));
  }
  // The hash comes before any use of the fields: after it they can be trusted.
  uint64_t hash = 0;
  if (bytes.size() >= magic.size() + 12)
    hash = support::endian::read64le(bytes.end() - 8);
  if (bytes.size() < magic.size() + 12 || hash != xxh3_64bits(body)) {
    consumeError(reader.cursor.takeError());
    return makeError("the checkpoint '" + path +
                     "' is truncated or damaged (its hash is wrong)");
  }

  Checkpoint checkpoint;
  Settings &settings = checkpoint.settings;
  settings.activation =
      static_cast<Activation>(reader.data.getU8(reader.cursor));
  settings.encoding = static_cast<Encoding>(reader.data.getU8(reader.cursor));
  settings.steps = reader.data.getU64(reader.cursor);
  settings.batch = reader.data.getU64(reader.cursor);
  settings.seed = reader.data.getU64(reader.cursor);
  settings.rate = reader.f64();
  settings.image = reader.string();
  checkpoint.picture = reader.data.getU64(reader.cursor);
  checkpoint.network = reader.data.getU64(reader.cursor);
  checkpoint.losses.resize(reader.count(sizeof(float)));
  reader.floats(checkpoint.losses.data(), checkpoint.losses.size());
  uint64_t tensors = reader.count(sizeof(uint64_t));
  for (uint64_t i = 0; i < tensors; ++i) {
    Buffer &tensor = checkpoint.state.tensors.emplace_back(
        static_cast<int64_t>(reader.count(sizeof(float))));
    reader.floats(tensor.data(), tensor.size());
  }
  checkpoint.seconds = reader.f64();
  if (Error error = reader.cursor.takeError())
    return makeError("the checkpoint '" + path +
                     "' is damaged: " + toString(std::move(error)));
  return checkpoint;
}

uint64_t image::checkpointBytes(const Settings &settings) {
  uint64_t floats = settings.steps;
  for (const std::vector<int64_t> &shape : parameterShapes(settings.encoding)) {
    uint64_t size = 3;
    for (int64_t extent : shape)
      size *= extent;
    floats += size;
  }
  return floats * sizeof(float) + 4096;
}
