#include "tribo/problem/warm_start.h"

#include <gtest/gtest.h>

namespace tribo {
namespace {

constexpr char kContact = 'c', kUnilateral = 'u', kBilateral = 'b';

// Constraints of the given kinds and keys on one point.
ContactProblem with_keys(const std::vector<std::pair<char, std::uint64_t>>& constraints) {
  ContactProblemBuilder builder;
  builder.add_tree(Mat3::Identity(), Vec3::Zero());
  const std::vector<JacobianPiece> row{{0, Matrix::Ones(1, 3)}};
  for (const auto& [kind, key] : constraints) {
    if (kind == kContact) builder.add_contact(0.5, {{0, Mat3::Identity()}}, Vec3::Zero(), Vec3::Zero(), key);
    if (kind == kUnilateral) builder.add_unilateral(row, 0.0, 0.0, key);
    if (kind == kBilateral) builder.add_bilateral(row, 0.0, 0.0, key);
  }
  return builder.build();
}

TEST(WarmStart, FollowsTheKeys) {
  const ContactProblem before = with_keys({{kContact, 30}, {kUnilateral, 7}, {kContact, 10}});
  Vector impulse(7);
  impulse << 1, 2, 3, 4, 5, 6, 7;
  WarmStart warm;
  EXPECT_TRUE(warm.empty());
  warm.store(before, impulse);
  EXPECT_FALSE(warm.empty());

  const ContactProblem after = with_keys({{kContact, 10}, {kContact, 20}, {kUnilateral, 7}, {kContact, 30}});
  Vector carried = Vector::Constant(2, 99.0);
  EXPECT_EQ(warm.impulse_for(after, carried), 3);
  Vector expected(10);
  expected << 5, 6, 7, 0, 0, 0, 4, 1, 2, 3;
  EXPECT_EQ(carried, expected);
}

TEST(WarmStart, AnotherKindIsAnotherConstraint) {
  WarmStart warm;
  warm.store(with_keys({{kUnilateral, 1}, {kContact, 2}}), Vector::Ones(4));
  Vector carried;
  EXPECT_EQ(warm.impulse_for(with_keys({{kBilateral, 1}, {kUnilateral, 2}}), carried), 0);
  EXPECT_TRUE(carried.isZero(0.0));
}

TEST(WarmStart, ForgetsWhatWasStoredBefore) {
  WarmStart warm;
  warm.store(with_keys({{kContact, 1}, {kContact, 2}}), Vector::Ones(6));
  warm.store(with_keys({{kContact, 2}}), Vector::Constant(3, 5.0));
  Vector carried;
  EXPECT_EQ(warm.impulse_for(with_keys({{kContact, 1}, {kContact, 2}}), carried), 1);
  EXPECT_TRUE(carried.head<3>().isZero(0.0));
  EXPECT_EQ(carried[3], 5.0);
  warm.clear();
  EXPECT_EQ(warm.impulse_for(with_keys({{kContact, 2}}), carried), 0);
  EXPECT_TRUE(carried.isZero(0.0));
}

TEST(WarmStart, EmptyProblems) {
  WarmStart warm;
  Vector carried = Vector::Ones(3);
  EXPECT_EQ(warm.impulse_for(with_keys({}), carried), 0);
  EXPECT_EQ(carried.size(), 0);
  warm.store(with_keys({}), Vector());
  EXPECT_TRUE(warm.empty());
}

}  // namespace
}  // namespace tribo
