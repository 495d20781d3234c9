// Words of a text one after the other, with the line they are on: what readers of mesh files in ASCII are made of. Every
// error is an InvalidInput "file:line: field: what is wrong".
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "tribo/base/types.h"

namespace tribo::detail {

// Nodes, elements and numbers that a mesh file may announce.
inline constexpr Index kMostMeshEntries = 10'000'000;

class WordStream {
 public:
  // `text` must stay.
  WordStream(std::string_view text, std::filesystem::path file, int first_line = 1);

  bool at_end();
  // Empty at the end of the text.
  std::string_view next();
  // The rest of the line and its end.
  std::string_view rest_of_line();
  void expect(std::string_view word);
  double real(std::string_view field);
  Index integer(std::string_view field);
  // An integer of 64 bits that only has to be one: tags.
  std::int64_t tag(std::string_view field);
  // 0 .. kMostMeshEntries, and no more than there are bytes left.
  Index count(std::string_view field);
  Vec3 point(std::string_view field);
  [[noreturn]] void fail(std::string_view field, const std::string& what) const;

 private:
  void skip_space();

  std::string_view rest_;
  std::filesystem::path file_;
  int line_;
};

}  // namespace tribo::detail
