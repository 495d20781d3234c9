// Mutation fuzzing of the readers of tetrahedral meshes: the texts of mesh_texts.h are cut short, have bytes and words
// changed, lines doubled and left out, and are read. Reading may succeed or throw an InvalidInput that begins with the file;
// anything else (another exception, a crash, a hang) is a failure, and so is a mesh with an element that is not positive.
//
//   tribo_tet_mesh_fuzz --seconds 60 --seed 1
#include <fmt/format.h>

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "tests/io/volumes/mesh_texts.h"
#include "tests/support/fuzzing.h"
#include "tribo/base/errors.h"
#include "tribo/io/tet_mesh_file.h"

namespace tribo::test {
namespace {

namespace fs = std::filesystem;

const std::array<std::pair<const char*, const std::string*>, 6> kSeeds{{{"a.msh", &kGmsh2},
                                                                        {"b.msh", &kGmsh4},
                                                                        {"c.vtk", &kVtk4},
                                                                        {"d.vtk", &kVtk5},
                                                                        {"e.vtu", &kVtu},
                                                                        {"f.vtu", &kVtuBinary}}};

void mutate(std::string& text, FuzzDice& dice) {
  constexpr std::array<const char*, 14> kWords{"0",       "-1",         "1e300", "nan",       "inf",
                                               "9999999", "2147483648", "4.1",   "$EndNodes", "10",
                                               "11",      "",           "ascii", "binary"};
  for (std::size_t n = 1 + dice.below(3); n > 0 && !text.empty(); --n) {
    const std::size_t at = dice.below(text.size());
    const std::size_t begin = text.find_first_not_of(" \n\">", at);
    const std::size_t line = text.rfind('\n', at) + 1,
                      line_end = std::min(text.find('\n', at), text.size() - 1);
    switch (dice.below(7)) {
      case 0:
        text.resize(at);
        break;
      case 1:
        text[at] = static_cast<char>(text[at] ^ (1 << dice.below(8)));
        break;
      case 2:
        text[at] = static_cast<char>(dice.bits());
        break;
      case 3:
        text.insert(at, text.substr(dice.below(text.size()), 1 + dice.below(40)));
        break;
      case 4:
        if (line <= line_end) text.erase(line, line_end + 1 - line);
        break;
      default:
        if (begin == std::string::npos) break;
        text.replace(begin, std::min(text.find_first_of(" \n\"<", begin), text.size()) - begin,
                     dice.one_of(kWords));
    }
  }
}

// 0: read or refused as it should be.
int run_case(const fs::path& path, bool expected) {
  try {
    const TetMesh mesh = read_tet_mesh(path);
    for (Index e = 0; e < mesh.tet_count(); ++e) {
      if (!(signed_volume(mesh, e) > 0.0)) return 6;
    }
  } catch (const InvalidInput& error) {
    if (expected) {
      fmt::print(stderr, "the seed itself is refused: {}\n", error.what());
      return 3;
    }
    return std::string_view(error.what()).find(path.string()) == 0 ? 0 : 4;
  } catch (const std::exception& error) {
    fmt::print(stderr, "unexpected exception: {}\n", error.what());
    return 5;
  }
  return 0;
}

int prepare(const fs::path& folder) {
  int failures = 0;
  for (const auto& [name, text] : kSeeds) {
    store(folder / name, *text);
    failures += run_case(folder / name, true) != 0;
  }
  return failures;
}

int run(const fs::path& folder, FuzzDice& dice) {
  const auto& [name, original] = dice.one_of(kSeeds);
  std::string text = *original;
  mutate(text, dice);
  store(folder / name, text);
  return run_case(folder / name, false);
}

}  // namespace
}  // namespace tribo::test

int main(int argc, char** argv) {
  return tribo::test::fuzz({.name = "tet_mesh", .prepare = tribo::test::prepare, .run = tribo::test::run},
                           argc, argv);
}
