// Mutation fuzzing of the file readers. Valid files, made here, are cut short, have bytes and numbers
// overwritten, words replaced, datasets changed or removed, and are read. Reading may succeed or throw
// InvalidInput; anything else (another exception, a crash, a hang) is a failure.
//
//   tribo_reader_fuzz --seconds 60 --seed 1
//
// Prints how many cases ran; exit code 0 if none failed.
#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/fuzzing.h"
#include "tests/support/sample_problems.h"
#include "tribo/base/errors.h"
#include "tribo/formats/problem_file.h"
#include "tribo/generate/generators.h"
#include "tribo/problem/contact_problem_builder.h"

namespace tribo::test {
namespace {

namespace fs = std::filesystem;

struct Seed {
  std::string bytes;
  bool hdf5 = false;
};

std::string load(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::vector<Seed> make_seeds(const fs::path& folder) {
  std::vector<Seed> seeds;
  for (const DatSample& sample : dat_samples()) seeds.push_back({sample.text, false});
  const auto add = [&](const ContactProblem& problem) {
    const fs::path path = folder / "seed.hdf5";
    const Vector guess = Vector::LinSpaced(problem.row_count(), 0.0, 1.0);
    Solution solution;
    solution.impulse = guess;
    write_problem(path, problem,
                  {.title = "seed", .description = "of a fuzz", .solution = &solution, .guess = &guess});
    seeds.push_back({load(path), true});
    write_problem(path, problem, {.title = "seed", .solution = &solution, .guess = &guess, .compress = true});
    seeds.push_back({load(path), true});
  };
  add(mixed_problem(1));
  add(lifted_problem(2, 0.0));
  add(lifted_problem(3, 0.1));
  add(generate("tower", {.bodies = 3}));
  // A Delassus form with an A and J of its own.
  DelassusSample sample = mixed_delassus(4, 0.0);
  ContactProblemBuilder builder;
  builder.add_tree(Matrix::Identity(2, 2), Vector::Zero(2));
  for (const ConstraintSpec& spec : sample.constraints) {
    const std::vector<JacobianPiece> pieces{{0, Matrix::Ones(rows_of(spec.kind), 2)}};
    if (spec.kind == ConstraintKind::contact) {
      builder.add_contact(spec.friction, pieces);
    } else {
      builder.add_bilateral(pieces);
    }
  }
  builder.set_delassus(std::move(sample.delassus));
  add(builder.build());
  return seeds;
}

void overwrite(std::string& bytes, std::size_t at, const void* data, std::size_t size) {
  if (at < bytes.size()) std::memcpy(bytes.data() + at, data, std::min(size, bytes.size() - at));
}

void mutate_bytes(std::string& bytes, FuzzDice& dice) {
  constexpr std::array<double, 8> kReals{0.0,
                                         -1.0,
                                         1e300,
                                         -1e300,
                                         1e-300,
                                         1e9,
                                         std::numeric_limits<double>::quiet_NaN(),
                                         std::numeric_limits<double>::infinity()};
  constexpr std::array<std::int64_t, 8> kIntegers{
      -1, -2, 0, 1, 0x7fffffff, -0x80000000ll, 0x7fffffffffffffff, 65536};
  for (std::size_t n = 1 + dice.below(4); n > 0; --n) {
    const std::size_t at = dice.below(bytes.size());
    switch (dice.below(6)) {
      case 0:
        bytes.resize(at);
        break;
      case 1:
        if (!bytes.empty()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << dice.below(8)));
        break;
      case 2:
        if (!bytes.empty()) bytes[at] = static_cast<char>(dice.bits());
        break;
      case 3:
        overwrite(bytes, at & ~std::size_t{7}, &dice.one_of(kReals), sizeof(double));
        break;
      case 4:
        overwrite(bytes, at & ~std::size_t{3}, &dice.one_of(kIntegers), dice.chance(2) ? 4 : 8);
        break;
      default: {
        const std::string piece = bytes.substr(dice.below(bytes.size()), 1 + dice.below(64));
        overwrite(bytes, at, piece.data(), piece.size());
      }
    }
  }
}

void mutate_words(std::string& text, FuzzDice& dice) {
  constexpr std::array<const char*, 20> kWords{
      "nan",     "inf", "-1",  "1e999", "2147483647", "99999999999999999999",
      "0",       "1",   "2",   "3",     "-1e300",     "1e300",
      "word",    ":",   "col", "0x10",  "5",          "1000000",
      "3-by-3,", ""};
  for (std::size_t n = 1 + dice.below(3); n > 0 && !text.empty(); --n) {
    const std::size_t begin = text.find_first_not_of(" \t\n", dice.below(text.size()));
    if (begin == std::string::npos) continue;
    const std::size_t end = std::min(text.size(), text.find_first_of(" \t\n", begin));
    const std::string old = text.substr(begin, end - begin);
    switch (dice.below(4)) {
      case 0:
        text.erase(begin, end - begin);
        break;
      case 1:
        text.insert(begin, old + " ");
        break;
      default:
        text.replace(begin, end - begin, dice.one_of(kWords));
    }
  }
}

std::vector<std::string> dataset_names(hid_t file) {
  std::vector<std::string> names;
  const auto visit = [](hid_t, const char* name, const H5O_info_t* info, void* data) -> herr_t {
    if (info->type == H5O_TYPE_DATASET) static_cast<std::vector<std::string>*>(data)->push_back(name);
    return 0;
  };
  H5Ovisit(file, H5_INDEX_NAME, H5_ITER_NATIVE, visit, &names);
  return names;
}

// Changes numbers of a dataset, or removes one, through HDF5 itself: damage that only the reader's own checks
// can see.
void mutate_datasets(const fs::path& path, FuzzDice& dice) {
  constexpr std::array<double, 7> kValues{-1.0, 0.0, 1e300, -1e300, 1e9, 5.0, -2.0};
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  if (file < 0) return;
  const std::vector<std::string> names = dataset_names(file);
  for (std::size_t n = 1 + dice.below(3); n > 0; --n) {
    const std::string& name = dice.one_of(names);
    if (dice.chance(8)) {
      H5Ldelete(file, name.c_str(), H5P_DEFAULT);
      continue;
    }
    const hid_t dataset = H5Dopen2(file, name.c_str(), H5P_DEFAULT);
    if (dataset < 0) continue;
    const hid_t space = H5Dget_space(dataset);
    const hid_t type = H5Dget_type(dataset);
    std::vector<double> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
    if (!values.empty() && H5Tget_class(type) != H5T_STRING) {
      H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
      values[dice.below(values.size())] = dice.one_of(kValues);
      if (dice.chance(4)) std::fill(values.begin(), values.end(), dice.one_of(kValues));
      if (dice.chance(4)) values[dice.below(values.size())] = std::numeric_limits<double>::quiet_NaN();
      H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    }
    H5Tclose(type);
    H5Sclose(space);
    H5Dclose(dataset);
  }
  H5Fclose(file);
}

fs::path make_case(const std::vector<Seed>& seeds, const fs::path& folder, FuzzDice& dice) {
  const Seed& seed = dice.one_of(seeds);
  const fs::path path = folder / (seed.hdf5 ? "case.hdf5" : "case.dat");
  std::string bytes = seed.bytes;
  if (seed.hdf5 && dice.chance(2)) {
    store(path, bytes);
    mutate_datasets(path, dice);
    return path;
  }
  if (!seed.hdf5 && !dice.chance(4)) {
    mutate_words(bytes, dice);
  } else {
    mutate_bytes(bytes, dice);
  }
  store(path, bytes);
  return path;
}

// 0: read or refused as it should be.
int run_case(const fs::path& path) {
  try {
    read_problem(path);
  } catch (const InvalidInput& error) {
    return std::string_view(error.what()).find(path.string()) == 0 ? 0 : 4;  // every message names the file
  } catch (const std::exception& error) {
    fmt::print(stderr, "unexpected exception: {}\n", error.what());
    return 5;
  }
  return 0;
}

}  // namespace
}  // namespace tribo::test

int main(int argc, char** argv) {
  using namespace tribo::test;
  std::vector<Seed> seeds;
  const auto prepare = [&](const fs::path& folder) {
    seeds = make_seeds(folder);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    return 0;
  };
  const auto run = [&](const fs::path& folder, FuzzDice& dice) {
    return run_case(make_case(seeds, folder, dice));
  };
  return fuzz({.name = "reader", .prepare = prepare, .run = run}, argc, argv);
}
