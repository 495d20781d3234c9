#include "tribo/math/contact_frame.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "tribo/base/random.h"

namespace tribo {
namespace {

TEST(ContactFrame, IsRightHandedAndUpIsXYZ) {
  detail::Random random(1);
  EXPECT_TRUE(contact_frame(Vec3::UnitZ()).isIdentity(0.0));
  for (int i = 0; i < 100; ++i) {
    const Vec3 n = i == 0 ? Vec3(-Vec3::UnitZ()) : random.unit_vector();
    const Mat3 frame = contact_frame(n);
    EXPECT_TRUE((frame * frame.transpose()).isIdentity(1e-14));
    EXPECT_NEAR(frame.determinant(), 1.0, 1e-14);
    EXPECT_EQ(frame.row(2).transpose(), n);
  }
}

}  // namespace
}  // namespace tribo
