//===- OffloadDeviceTest.cpp - transfers of both devices ------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OffloadTesting.h"
#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <thread>
#include <vector>

using namespace drawloom::runtime::offload;

namespace {

struct Kind {
  const char *device;
  bool direct;
};

class OffloadDevice : public testing::TestWithParam<Kind> {
protected:
  void SetUp() override {
    Ways ways;
    ways.direct = GetParam().direct;
    std::string why;
    auto made = makeDevice(GetParam().device, &why, ways);
    if (!made.ok())
      GTEST_SKIP() << made.message();
    device = std::move(*made);
    EXPECT_STREQ(device->name(), GetParam().device);
    EXPECT_EQ(why, "");
  }
  void open(uint64_t bytes, const std::string &folder = testing::TempDir()) {
    auto facts = device->open(folder, bytes);
    ASSERT_TRUE(facts.ok()) << facts.message();
  }
  /// All of so many, by their ids.
  std::map<uint64_t, int64_t> reapAll(size_t count) {
    std::map<uint64_t, int64_t> results;
    Completion completions[7];
    uint64_t until = device->now() + 20 * second;
    while (results.size() < count && device->now() < until) {
      size_t got = device->reap(completions, 7, until);
      for (size_t i = 0; i < got; ++i)
        EXPECT_TRUE(
            results.emplace(completions[i].id, completions[i].result).second)
            << completions[i].id << " came back twice";
    }
    EXPECT_EQ(results.size(), count);
    EXPECT_EQ(device->underWay(), 0u);
    return results;
  }

  std::unique_ptr<Device> device;
};

/// The files are held against bytes in memory. No two transfers that are under
/// way touch the same bytes, since their order is not promised.
TEST_P(OffloadDevice, RandomTransfersComeBackOnceWithTheRightBytes) {
  constexpr size_t block = 4096, blocks = 512, most = 100, each = 64;
  std::mt19937_64 random(7);
  open(block * blocks);
  open(block * blocks);
  Pages memory(most * each * block);
  // Half of it is known to the device.
  device->registerMemory(memory.data, most / 2 * each * block);
  std::vector<std::vector<uint32_t>> held(2, std::vector<uint32_t>(blocks, 0));
  std::vector<std::vector<bool>> busy(2, std::vector<bool>(blocks, false));
  std::vector<bool> written(2 * blocks, false);
  struct Move {
    Transfer transfer;
    size_t place;
  };
  std::map<uint64_t, Move> moves;
  std::vector<size_t> places(most);
  for (size_t i = 0; i < most; ++i)
    places[i] = i;
  auto word = [&](size_t place, size_t i) {
    return reinterpret_cast<uint32_t *>(memory.data + place * each * block +
                                        i * block);
  };
  uint64_t id = 0, returned = 0;
  constexpr uint64_t all = 3000;
  while (returned < all) {
    std::vector<Transfer> batch;
    while (!places.empty() && id < all && random() % 4 != 0) {
      auto file = static_cast<unsigned>(random() % 2);
      size_t many = 1 + random() % (random() % 8 == 0 ? each : 4);
      size_t first = random() % (blocks - many);
      bool isWrite = random() % 2 == 0;
      bool isFree = true;
      for (size_t i = first; i < first + many; ++i)
        isFree =
            isFree && !busy[file][i] && (isWrite || written[file * blocks + i]);
      if (!isFree)
        continue;
      size_t place = places.back();
      places.pop_back();
      for (size_t i = 0; i < many; ++i) {
        busy[file][first + i] = true;
        for (size_t at = 0; at < block / 4; ++at)
          word(place, i)[at] =
              isWrite ? static_cast<uint32_t>(id << 8 | i) : ~0u;
        if (isWrite) {
          held[file][first + i] = static_cast<uint32_t>(id << 8 | i);
          written[file * blocks + first + i] = true;
        }
      }
      Transfer transfer{id,
                        isWrite ? Transfer::Kind::Write : Transfer::Kind::Read,
                        file,
                        first * block,
                        word(place, 0),
                        many * block};
      moves[id++] = {transfer, place};
      batch.push_back(transfer);
    }
    device->submit(batch.data(), batch.size());
    ASSERT_EQ(device->underWay(), moves.size());
    Completion completions[16];
    size_t got =
        device->reap(completions, 1 + random() % 16,
                     device->now() + (moves.empty() ? 0 : 10 * second));
    ASSERT_TRUE(got > 0 || moves.empty());
    for (size_t i = 0; i < got; ++i, ++returned) {
      auto found = moves.find(completions[i].id);
      ASSERT_NE(found, moves.end());
      auto [transfer, place] = found->second;
      moves.erase(found);
      ASSERT_EQ(completions[i].result, static_cast<int64_t>(transfer.count));
      size_t first = transfer.offset / block;
      for (size_t k = 0; k < transfer.count / block; ++k) {
        uint32_t value = held[transfer.file][first + k];
        for (size_t at = 0; at < block / 4; ++at)
          ASSERT_EQ(word(place, k)[at], value);
        busy[transfer.file][first + k] = false;
      }
      places.push_back(place);
    }
  }
  EXPECT_EQ(device->underWay(), 0u);
}

TEST_P(OffloadDevice, ReadsOverTheEndAreShort) {
  open(65536);
  Pages memory(131072);
  auto read = [&](uint64_t offset) {
    return resultOf(*device,
                    {1, Transfer::Kind::Read, 0, offset, memory.data, 131072});
  };
  EXPECT_EQ(read(0), 65536);
  EXPECT_EQ(read(61440), 4096);
  EXPECT_EQ(read(65536), 0);
  EXPECT_EQ(read(1 << 20), 0);
}

TEST_P(OffloadDevice, TransfersOfNoFileFail) {
  open(65536);
  Pages memory(4096);
  EXPECT_EQ(
      resultOf(*device, {1, Transfer::Kind::Read, 1, 0, memory.data, 4096}),
      -EBADF);
  EXPECT_EQ(resultOf(*device, {2, Transfer::Kind::Write, 0, 0, nullptr, 4096}),
            -EFAULT);
}

TEST_P(OffloadDevice, WaitsEndAtTheirTime) {
  Completion completion;
  uint64_t begin = device->now();
  EXPECT_EQ(device->reap(&completion, 1, begin + second / 20), 0u);
  uint64_t end = device->now();
  EXPECT_GE(end, begin + second / 20);
  EXPECT_LT(end, begin + 5 * second);
  EXPECT_EQ(device->reap(&completion, 1, 0), 0u);
  EXPECT_LT(device->now(), end + 5 * second);
}

TEST_P(OffloadDevice, WakeEndsOneWait) {
  Completion completion;
  uint64_t begin = device->now(), long_ = begin + 60 * second;
  // One that is yet to come.
  device->wake();
  EXPECT_EQ(device->reap(&completion, 1, long_), 0u);
  EXPECT_EQ(device->reap(&completion, 1, device->now() + second / 50), 0u);
  // One under way, even without an end.
  for (uint64_t until : {long_, UINT64_MAX}) {
    std::thread other([&] {
      ::usleep(20000);
      device->wake();
    });
    EXPECT_EQ(device->reap(&completion, 1, until), 0u);
    other.join();
  }
  EXPECT_LT(device->now(), begin + 20 * second);
}

TEST_P(OffloadDevice, ManyWakesFromManyThreadsAreHeard) {
  open(1 << 20);
  Pages memory(1 << 20);
  std::vector<std::thread> others;
  for (int i = 0; i < 4; ++i)
    others.emplace_back([&] {
      for (int k = 0; k < 500; ++k)
        device->wake();
    });
  for (uint64_t id = 0; id < 300; ++id)
    ASSERT_EQ(
        resultOf(*device, {id, Transfer::Kind::Write, 0, 0, memory.data, 4096}),
        4096);
  for (std::thread &other : others)
    other.join();
}

TEST_P(OffloadDevice, CancelledTransfersComeBackToo) {
  constexpr size_t many = 300, bytes = 1 << 16;
  open(many * bytes);
  Pages memory(bytes);
  std::memset(memory.data, 1, bytes);
  std::vector<Transfer> transfers;
  for (uint64_t id = 0; id < many; ++id)
    transfers.push_back(
        {id, Transfer::Kind::Write, 0, id * bytes, memory.data, bytes});
  device->submit(transfers.data(), many);
  for (uint64_t id = many; id-- > 0;)
    device->cancel(id);
  device->cancel(12345);
  size_t cancelled = 0;
  for (auto [id, result] : reapAll(many)) {
    EXPECT_TRUE(result == bytes || result == -ECANCELED) << result;
    cancelled += result == -ECANCELED;
  }
  // The last ones had not begun.
  EXPECT_GT(cancelled, many / 2);
}

TEST_P(OffloadDevice, IsDestroyedWithTransfersUnderWay) {
  constexpr size_t many = 200, bytes = 1 << 18;
  open(many * bytes);
  // A disk may use it behind the end of this test, even of the process: nobody
  // writes it again or frees it.
  static Pages &memory = *[] {
    auto *pages = new Pages(bytes);
    std::memset(pages->data, 1, bytes);
    return pages;
  }();
  std::vector<Transfer> transfers;
  for (uint64_t id = 0; id < many; ++id)
    transfers.push_back(
        {id, Transfer::Kind::Write, 0, id * bytes, memory.data, bytes});
  device->submit(transfers.data(), many);
  uint64_t begin = nanoseconds();
  device.reset();
  EXPECT_LT(nanoseconds(), begin + 30 * second);
}

/// As a store does that opens its files before its own thread runs.
TEST_P(OffloadDevice, IsMadeByOneThreadAndUsedByAnother) {
  open(1 << 20);
  Pages memory(1 << 20);
  device->registerMemory(memory.data, 1 << 20);
  std::thread other([&] {
    for (auto kind : {Transfer::Kind::Write, Transfer::Kind::Read})
      EXPECT_EQ(resultOf(*device, {1, kind, 0, 0, memory.data, 1 << 20}),
                1 << 20);
  });
  other.join();
  device.reset();
}

TEST_P(OffloadDevice, OutlivesAChildThatDestroysIt) {
  open(1 << 20);
  Pages memory(1 << 20);
  Transfer transfer{1, Transfer::Kind::Write, 0, 0, memory.data, 1 << 20};
  EXPECT_EQ(resultOf(*device, transfer), 1 << 20);
  uint64_t begin = nanoseconds();
  EXPECT_EQ(inChild([&] {
              device.reset();
              return std::string();
            }),
            "");
  EXPECT_LT(nanoseconds(), begin + 30 * second);
  EXPECT_EQ(resultOf(*device, transfer), 1 << 20);
}

INSTANTIATE_TEST_SUITE_P(All, OffloadDevice,
                         testing::Values(Kind{"io_uring", true},
                                         Kind{"io_uring", false},
                                         Kind{"threads", true},
                                         Kind{"threads", false}),
                         [](const auto &info) {
                           return std::string(info.param.device) +
                                  (info.param.direct ? "_direct" : "_cached");
                         });

TEST(OffloadDevices, HaveNames) {
  auto made = makeDevice("floppy", nullptr);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.message(),
            "'floppy' is no way to offload: there are 'io_uring', 'threads', "
            "'memory' for tests, and '' for the better of the first two here");
  for (const char *name : {"threads", "memory"})
    EXPECT_STREQ((*makeDevice(name, nullptr))->name(), name);
  std::string why = "?";
  auto best = makeDevice("", &why);
  ASSERT_TRUE(best.ok());
  EXPECT_EQ(why.empty(), std::string((*best)->name()) == "io_uring") << why;
}

} // namespace
