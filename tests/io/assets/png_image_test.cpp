#include "tribo/io/assets/png_image.h"

#include <gtest/gtest.h>

#include "tests/support/png_maker.h"
#include "tribo/base/errors.h"

namespace tribo::detail {
namespace {

using test::bytes_of;
using test::png_file;
using test::PngKind;

std::vector<int> values_of(const std::string& file) {
  const PngChannel image = read_png_channel(file);
  return {image.values.begin(), image.values.end()};
}

std::string complaint(const std::string& file) {
  try {
    read_png_channel(file);
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "read";
}

TEST(PngImage, TakesGreyOrRedOfEveryKind) {
  // Grey 8: the bytes. Grey 16: their upper halves. RGB and RGBA: red, whatever the alpha.
  EXPECT_EQ(values_of(png_file({3, 2, 8, 0}, bytes_of({0, 1, 2, 3, 0, 255, 5, 6}))),
            (std::vector<int>{1, 2, 3, 255, 5, 6}));
  EXPECT_EQ(values_of(png_file({2, 1, 16, 0}, bytes_of({0, 50, 77, 255, 255}))), (std::vector<int>{50, 255}));
  EXPECT_EQ(values_of(png_file({2, 1, 8, 2}, bytes_of({0, 10, 20, 30, 40, 50, 60}))),
            (std::vector<int>{10, 40}));
  EXPECT_EQ(values_of(png_file({2, 1, 8, 6}, bytes_of({0, 10, 20, 30, 0, 40, 50, 60, 255}))),
            (std::vector<int>{10, 40}));
  EXPECT_EQ(values_of(png_file({2, 1, 8, 4}, bytes_of({0, 10, 0, 40, 9}))), (std::vector<int>{10, 40}));
  EXPECT_EQ(values_of(png_file({2, 1, 16, 2}, bytes_of({0, 10, 1, 2, 3, 4, 5, 40, 7, 8, 9, 1, 2}))),
            (std::vector<int>{10, 40}));
}

TEST(PngImage, SpreadsFewBitsAndLooksUpPalettes) {
  // 1, 2 and 4 bits, the first pixel in the highest bits.
  EXPECT_EQ(values_of(png_file({3, 1, 1, 0}, bytes_of({0, 0b10100000}))), (std::vector<int>{255, 0, 255}));
  EXPECT_EQ(values_of(png_file({4, 1, 2, 0}, bytes_of({0, 0b00011011}))),
            (std::vector<int>{0, 85, 170, 255}));
  EXPECT_EQ(values_of(png_file({3, 1, 4, 0}, bytes_of({0, 0x0f, 0x70}))), (std::vector<int>{0, 255, 119}));
  const std::string palette = bytes_of({9, 0, 0, 200, 1, 2, 33, 255, 255});
  EXPECT_EQ(values_of(png_file({4, 1, 2, 3}, bytes_of({0, 0b00011000}), palette)),
            (std::vector<int>{9, 200, 33, 9}));
  EXPECT_EQ(values_of(png_file({3, 1, 8, 3}, bytes_of({0, 2, 0, 1}), palette)),
            (std::vector<int>{33, 9, 200}));
  EXPECT_NE(complaint(png_file({3, 1, 8, 3}, bytes_of({0, 2, 0, 3}), palette)).find("palette"),
            std::string::npos);
}

// One image of 4 x 5 pixels under every filter: the differences of each are written down by the definitions of the
// standard (left, up, mean, Paeth), so that all five rows decode to the same numbers.
TEST(PngImage, UndoesFilters) {
  const std::string raw =
      bytes_of({0, 10, 20, 40, 250,  // as it is
                1, 10, 10, 20, 210,  // minus left
                2, 0,  0,  0,  0,    // minus up
                3, 5,  5,  10, 105,  // minus the mean of left and up, rounded down
                4, 0,  0,  0,  0});  // minus Paeth's choice: up in column 0, then the nearest
  const std::vector<int> values = values_of(png_file({4, 5, 8, 0}, raw));
  for (std::size_t row = 0; row < 4; ++row) {
    EXPECT_EQ(std::vector<int>(values.begin() + 4 * row, values.begin() + 4 * row + 4),
              (std::vector<int>{10, 20, 40, 250}))
        << row;
  }
  // Paeth with left = 10, up = 20, corner = 10: p = 20, nearest is up; and so on along the row.
  EXPECT_EQ(std::vector<int>(values.end() - 4, values.end()), (std::vector<int>{10, 20, 40, 250}));
}

// Adam7: the passes of a 3 x 3 image hold the pixels (0,0) | | | (2,0) | (0,2),(2,2) | (1,0) (1,2) | row 1.
TEST(PngImage, PutsInterlacedPassesTogether) {
  const std::string raw = bytes_of({0, 1, 0, 3, 0, 7, 9, 0, 2, 0, 8, 0, 4, 5, 6});
  EXPECT_EQ(values_of(png_file({3, 3, 8, 0, true}, raw)), (std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(PngImage, RefusesDamage) {
  const std::string good = png_file({3, 2, 8, 0}, bytes_of({0, 1, 2, 3, 0, 255, 5, 6}));
  EXPECT_EQ(complaint(good), "read");
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_NE(complaint(good.substr(0, size)), "read") << size;
  }
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 4);
    EXPECT_NE(complaint(bad), "read") << at;
  }
  EXPECT_NE(complaint(png_file({3, 2, 8, 0}, bytes_of({0, 1, 2, 3, 0, 255, 5}))).find("unpacked"),
            std::string::npos);
  EXPECT_NE(complaint(png_file({3, 2, 8, 0}, bytes_of({0, 1, 2, 3, 7, 255, 5, 6}))).find("filter"),
            std::string::npos);
  EXPECT_NE(complaint(png_file({3, 2, 3, 0}, "")).find("3 bits"), std::string::npos);
  EXPECT_NE(complaint(png_file({100000, 100000, 8, 0}, "")).find("100 million"), std::string::npos);
  EXPECT_NE(complaint(png_file({10000, 10000, 8, 0}, "")).find("shorter"), std::string::npos);
}

}  // namespace
}  // namespace tribo::detail
