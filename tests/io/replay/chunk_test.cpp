#include "tribo/io/replay/chunk.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "tests/support/replay_reader.h"

namespace tribo {
namespace {

using detail::ReplayContact;
using detail::ReplayFrame;
using test::DecodedChunk;

constexpr double kQuantum = 0x1p-16;

std::vector<ReplayFrame> random_frames(std::size_t count, Index bodies, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal;
  const auto vector = [&] { return Vec3(normal(engine), normal(engine), normal(engine)); };
  std::vector<ReplayFrame> frames(count);
  for (std::size_t f = 0; f < count; ++f) {
    ReplayFrame& frame = frames[f];
    frame.time = 0.1 * static_cast<double>(f);
    frame.step = static_cast<std::int64_t>(f) * 7;
    frame.islands = 3, frame.iterations = 12, frame.missed_islands = f == 2 ? 1 : 0;
    frame.error = 1e-7, frame.solve_time = 1e-4, frame.step_time = 2e-4;
    frame.kinetic = normal(engine), frame.potential = normal(engine), frame.penetration = 1e-9;
    for (Index b = 0; b < bodies; ++b) {
      const Vec3 x = 10.0 * vector();
      frame.position.insert(frame.position.end(), x.data(), x.data() + 3);
      Quat q(normal(engine), normal(engine), normal(engine), normal(engine));
      q.normalize();
      frame.rotation.insert(frame.rotation.end(), {q.w(), q.x(), q.y(), q.z()});
    }
    for (std::size_t c = 0; c < f % 4; ++c) {
      frame.contacts.push_back({.position = vector(),
                                .normal = vector().normalized(),
                                .impulse = std::pow(10.0, normal(engine)) * vector(),
                                .velocity = vector(),
                                .gap = 1e-4 * normal(engine),
                                .friction = 0.7,
                                .error = 1e-8,
                                .pressure = 1e3 * static_cast<double>(c),
                                .geom_a = 1,
                                .geom_b = static_cast<Index>(70000 + c),
                                .island = static_cast<Index>(c) - 1,
                                .state = static_cast<ContactState>(c % 3)});
    }
  }
  return frames;
}

DecodedChunk round_trip(const std::vector<ReplayFrame>& frames, Index bodies) {
  return test::decode_chunk(detail::encode_chunk(frames, bodies, kQuantum));
}

TEST(Chunk, HoldsTheNumbersOfTheFrames) {
  const auto frames = random_frames(9, 5, 1);
  const DecodedChunk chunk = round_trip(frames, 5);
  ASSERT_EQ(chunk.frames, 9u);
  EXPECT_EQ(chunk.bodies, 5u);
  EXPECT_EQ(chunk.quantum, kQuantum);
  for (std::size_t f = 0; f < 9; ++f) {
    EXPECT_EQ(chunk.time[f], frames[f].time);
    EXPECT_EQ(chunk.step[f], 7 * f);
    EXPECT_EQ(chunk.contact_count[f], f % 4);
    EXPECT_EQ(chunk.missed[f], f == 2 ? 1u : 0u);
    EXPECT_EQ(chunk.iterations[f], 12u);
    EXPECT_EQ(chunk.error[f], 1e-7f);
    EXPECT_EQ(chunk.kinetic[f], frames[f].kinetic);
    EXPECT_EQ(chunk.potential[f], frames[f].potential);
  }
}

TEST(Chunk, PosesAreWithinTheQuantum) {
  const auto frames = random_frames(6, 4, 2);
  const DecodedChunk chunk = round_trip(frames, 4);
  for (std::size_t f = 0; f < 6; ++f) {
    for (std::size_t k = 0; k < 12; ++k) {
      EXPECT_NEAR(chunk.position[12 * f + k] * kQuantum, frames[f].position[k], 0.5001 * kQuantum);
    }
    for (std::size_t b = 0; b < 4; ++b) {
      const std::int16_t* q = chunk.rotation.data() + 16 * f + 4 * b;
      const double* given = frames[f].rotation.data() + 4 * b;
      EXPECT_GE(q[0], 0);
      double dot = 0.0;
      for (int k = 0; k < 4; ++k) dot += q[k] / 32767.0 * given[k];
      EXPECT_NEAR(std::abs(dot), 1.0, 1e-4);  // the same rotation, of either sign
    }
  }
}

TEST(Chunk, ContactsAreWithinTheirRounding) {
  const auto frames = random_frames(8, 2, 3);
  const DecodedChunk chunk = round_trip(frames, 2);
  std::size_t c = 0;
  for (const ReplayFrame& frame : frames) {
    for (const ReplayContact& given : frame.contacts) {
      for (std::size_t k = 0; k < 3; ++k) {
        const auto e = static_cast<Eigen::Index>(k);
        EXPECT_NEAR(chunk.contact_position[3 * c + k], given.position[e], 1.01 * kQuantum);
        EXPECT_NEAR(chunk.normal[3 * c + k] / 32767.0, given.normal[e], 1.6e-5);
        EXPECT_NEAR(chunk.contact_impulse[3 * c + k], given.impulse[e], 2e-4 * given.impulse.norm());
        EXPECT_NEAR(chunk.contact_velocity[3 * c + k], given.velocity[e], 5e-3 * given.velocity.norm());
      }
      EXPECT_NEAR(chunk.gap[c], given.gap, 2.1e-3 * std::abs(given.gap));
      EXPECT_EQ(chunk.friction[c], 0.7f);
      EXPECT_NEAR(chunk.contact_error[c], 1e-8, 7e-10);
      EXPECT_NEAR(chunk.pressure[c], given.pressure, 5e-3 * given.pressure);
      EXPECT_EQ(chunk.geoms[2 * c], 1u);
      EXPECT_EQ(chunk.geoms[2 * c + 1], static_cast<std::uint32_t>(given.geom_b));
      EXPECT_EQ(chunk.island[c], static_cast<std::uint32_t>(given.island));
      EXPECT_EQ(chunk.state[c], static_cast<std::uint8_t>(given.state));
      ++c;
    }
  }
  EXPECT_EQ(c, chunk.contacts);
}

TEST(Chunk, WhatIsNotANumberStaysUnknown) {
  auto frames = random_frames(3, 2, 4);
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  frames[1].position[4] = kNan;
  frames[1].rotation[5] = kNan;
  frames[1].error = kNan;
  frames[2].contacts[0].velocity = Vec3::Constant(kNan);
  frames[2].contacts[0].error = kNan;
  frames[2].contacts[0].impulse = Vec3(1.0, std::numeric_limits<double>::infinity(), 0.0);
  const DecodedChunk chunk = round_trip(frames, 2);
  EXPECT_EQ(chunk.position[6 + 4], std::numeric_limits<std::int32_t>::min());
  EXPECT_NEAR(chunk.position[12 + 4] * kQuantum, frames[2].position[4], kQuantum);  // the next frame is whole
  EXPECT_EQ(chunk.rotation[8 + 4], 32767);
  EXPECT_TRUE(std::isnan(chunk.error[1]));
  EXPECT_TRUE(std::isnan(chunk.contact_velocity[3]));
  EXPECT_TRUE(std::isnan(chunk.contact_error[1]));
  EXPECT_TRUE(std::isinf(chunk.contact_impulse[4]));
}

TEST(Chunk, FarAwayIsAsFarAsItGoes) {
  auto frames = random_frames(1, 1, 5);
  frames[0].position = {1e9, -1e9, 0.0};
  const DecodedChunk chunk = round_trip(frames, 1);
  EXPECT_EQ(chunk.position[0], std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(chunk.position[1], -std::numeric_limits<std::int32_t>::max());
}

TEST(Chunk, MayBeEmpty) {
  EXPECT_EQ(round_trip({}, 3).frames, 0u);
  EXPECT_EQ(round_trip(random_frames(2, 0, 6), 0).frames, 2u);
}

TEST(Chunk, Base64OfEveryLength) {
  std::mt19937 engine(7);
  for (std::size_t size = 0; size < 20; ++size) {
    std::string bytes(size, '\0');
    for (char& c : bytes) c = static_cast<char>(engine());
    EXPECT_EQ(test::from_base64(detail::base64(bytes)), bytes);
  }
  EXPECT_EQ(detail::base64("Man"), "TWFu");  // RFC 4648
  EXPECT_EQ(detail::base64("fo"), "Zm8=");
}

}  // namespace
}  // namespace tribo
