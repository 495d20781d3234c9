#include "tribo/linalg/group_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/support/random.h"

namespace tribo {
namespace {

// The list of row counts and the switch over them are written apart.
TEST(GroupBlocks, WithRowsKnowsEveryRowCount) {
  for (std::size_t place = 0; place < kRowCounts.size(); ++place) {
    const Index rows = kRowCounts[place];
    EXPECT_EQ(with_rows(rows, [](auto n) { return static_cast<Index>(n()); }), rows);
    EXPECT_EQ(row_count_place(rows), place);
    EXPECT_EQ(is_cone_size(rows), rows > 1);
  }
  for (const Index rows : {-1, 0, 2, 5, 7, 100}) {
    EXPECT_EQ(row_count_place(rows), kRowCounts.size()) << rows;
    EXPECT_FALSE(is_cone_size(rows)) << rows;
  }
  EXPECT_EQ(RowValues::SizeAtCompileTime, kMostRows);
}

struct Groups {
  std::vector<Index> counts;
  Index group_count() const { return static_cast<Index>(counts.size()); }
  Index rows(Index g) const { return counts[static_cast<std::size_t>(g)]; }
  Index most_rows() const { return *std::max_element(counts.begin(), counts.end()); }
};

// Blocks of all sizes side by side do not overlap.
TEST(GroupBlocks, BlocksOfAllSizesKeepTheirNumbers) {
  const Groups groups{{6, 1, 3, 4, 1, 6, 3, 4}};
  GroupBlocks blocks;
  blocks.resize(groups);
  test::Random random(1);
  std::vector<Matrix> expected;
  for (Index g = 0; g < groups.group_count(); ++g) {
    const Index n = groups.rows(g);
    expected.push_back(random.matrix(n, n));
    with_rows(n, [&](auto size) { blocks.at<size()>(g) = expected.back(); });
  }
  for (Index g = 0; g < groups.group_count(); ++g) {
    EXPECT_EQ(Matrix(blocks.block(g, groups.rows(g))), expected[static_cast<std::size_t>(g)]) << g;
  }
}

}  // namespace
}  // namespace tribo
