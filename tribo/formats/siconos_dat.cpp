#include "tribo/formats/siconos_dat.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tribo/base/errors.h"
#include "tribo/formats/assembly.h"

namespace tribo::detail {
namespace {

// The words of the file, read one after the other; every complaint names the line and what should stand
// there.
class Words {
 public:
  explicit Words(const std::filesystem::path& path) : file_name_(path.string()) {
    std::ifstream stream(path, std::ios::binary);
    text_.assign(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
    if (!stream.is_open() || stream.bad()) throw InvalidInput(fmt::format("{}: cannot be read", file_name_));
    split();
  }

  std::size_t left() const { return words_.size() - next_; }

  // Text of the word `ahead` places further on; empty beyond the end.
  std::string_view peek(std::size_t ahead = 0) const {
    return ahead < left() ? words_[next_ + ahead].text : std::string_view();
  }

  std::string_view word(const char* what) {
    if (left() == 0) {
      const int line = words_.empty() ? 1 : words_.back().line;
      throw InvalidInput(
          fmt::format("{}: line {}: the file ends where {} is expected", file_name_, line, what));
    }
    return words_[next_++].text;
  }

  Index integer(const char* what, Index lowest, Index highest) {
    const std::string_view text = word(what);
    Index value = 0;
    if (!parse(text, value)) fail(fmt::format("'{}' where {}, an integer, is expected", text, what));
    if (value < lowest || value > highest) {
      fail(fmt::format("{} is {}: it must lie in {}..{}", what, value, lowest, highest));
    }
    return value;
  }

  // A size: as many values (or more) must follow, so no file can ask for more memory than its own length
  // justifies.
  Index size(const char* what) { return integer(what, 0, limit()); }

  void expect(const char* text) {
    const std::string_view found = word(text);
    if (found != text) fail(fmt::format("'{}' where '{}' is expected", found, text));
  }

  double real(const char* what) {
    const std::string_view text = word(what);
    double value = 0.0;
    const char* begin = text.data() + (text.front() == '+' ? 1 : 0);
    const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
      fail(fmt::format("'{}' where {}, a number, is expected", text, what));
    }
    if (!std::isfinite(value)) fail(fmt::format("{} is {}: it must be finite", what, text));
    return value;
  }

  Vector reals(const char* what, Index count) {
    need(what, count);
    Vector values(count);
    for (Index k = 0; k < count; ++k) values[k] = real(what);
    return values;
  }

  void need(const char* what, std::int64_t count) const {
    if (static_cast<std::int64_t>(left()) < count) {
      const int line = words_.empty() ? 1 : words_.back().line;
      throw InvalidInput(fmt::format("{}: line {}: the file ends after {} of the {} values from {} on",
                                     file_name_, line, left(), count, what));
    }
  }

  // An error at the word read last.
  [[noreturn]] void fail(const std::string& message) const {
    throw InvalidInput(fmt::format("{}: line {}: {}", file_name_, words_[next_ - 1].line, message));
  }

  static bool parse(std::string_view text, Index& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return !text.empty() && error == std::errc() && end == text.data() + text.size();
  }

  Index limit() const {
    const std::size_t largest = std::numeric_limits<Index>::max() / 4;
    return static_cast<Index>(std::min(words_.size(), largest));
  }

 private:
  struct Word {
    std::string_view text;
    int line = 0;
  };

  void split() {
    int line = 1;
    std::size_t at = 0;
    const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
    while (at < text_.size()) {
      if (is_space(text_[at])) {
        if (text_[at++] == '\n') ++line;
        continue;
      }
      const std::size_t begin = at;
      while (at < text_.size() && !is_space(text_[at])) ++at;
      words_.push_back({std::string_view(text_).substr(begin, at - begin), line});
    }
  }

  std::string file_name_;
  std::string text_;
  std::vector<Word> words_;
  std::size_t next_ = 0;
};

// Kinds of sparse matrices: Siconos 4 counts triplet 1, CSC 2, CSR 3, some versions one less; the text that
// follows tells triplets from compressed matrices, and compressed rows are the exception.
constexpr Index kCompressedRows = 3;

struct FileMatrix {
  SparseMatrix matrix;
  std::string storage;
};

void read_dense(Words& words, SparseMatrix& matrix) {
  words.integer("the number of rows again", matrix.rows, matrix.rows);
  words.integer("the number of columns again", matrix.cols, matrix.cols);
  words.need("the dense matrix", static_cast<std::int64_t>(matrix.rows) * matrix.cols);
  for (Index c = 0; c < matrix.cols; ++c) {
    for (Index r = 0; r < matrix.rows; ++r) {
      const double value = words.real("an entry of the dense matrix");
      if (value != 0.0) matrix.entries.push_back({r, c, value});
    }
  }
}

// Block boundaries: 0 and the cumulative sizes, which end at `total`.
std::vector<Index> read_boundaries(Words& words, Index count, Index total) {
  words.need("the cumulative block sizes", count);
  std::vector<Index> boundary{0};
  for (Index k = 0; k < count; ++k) {
    boundary.push_back(words.integer("a cumulative block size", boundary.back(), total));
  }
  if (boundary.back() != total) {
    words.fail(
        fmt::format("the cumulative block sizes end at {}: the matrix has {}", boundary.back(), total));
  }
  return boundary;
}

void read_blocks(Words& words, SparseMatrix& matrix) {
  const Index blocks = words.size("the number of blocks");
  const Index block_rows = words.size("the number of block rows");
  const Index block_cols = words.size("the number of block columns");
  const std::vector<Index> row_start = read_boundaries(words, block_rows, matrix.rows);
  const std::vector<Index> col_start = read_boundaries(words, block_cols, matrix.cols);
  const Index pointers =
      words.integer("the length of the row pointers", std::min(block_rows, 1), block_rows + 1);
  words.integer("the length of the block columns", blocks, blocks);
  words.need("the row pointers", std::int64_t{pointers} + blocks);
  std::vector<Index> row_of(blocks, -1);
  for (Index k = 0, last = 0; k < pointers; ++k) {
    const Index next = words.integer("a row pointer", last, blocks);
    if (k > 0) std::fill(row_of.begin() + last, row_of.begin() + next, k - 1);
    last = next;
  }
  std::vector<Index> col_of(blocks);
  for (Index& column : col_of) column = words.integer("a block column", 0, block_cols - 1);
  for (Index b = 0; b < blocks; ++b) {
    words.integer("the number of the block", b, b);
    if (row_of[b] < 0) words.fail(fmt::format("block {} is in no row", b));
    for (Index c = col_start[col_of[b]]; c < col_start[col_of[b] + 1]; ++c) {
      for (Index r = row_start[row_of[b]]; r < row_start[row_of[b] + 1]; ++r) {
        matrix.entries.push_back({r, c, words.real("an entry of the block matrix")});
      }
    }
  }
}

// "12-by-7," at the word read last.
void check_extent(Words& words, std::string_view extent, const SparseMatrix& matrix) {
  if (extent != fmt::format("{}-by-{},", matrix.rows, matrix.cols)) {
    words.fail(fmt::format("'{}' where the matrix is {}-by-{}", extent, matrix.rows, matrix.cols));
  }
}

void read_triplets(Words& words, Index count, SparseMatrix& matrix) {
  words.need("the triplets", std::int64_t{4} * count);
  for (Index k = 0; k < count; ++k) {
    const Index row = words.integer("the row of a triplet", 0, matrix.rows - 1);
    const Index col = words.integer("the column of a triplet", 0, matrix.cols - 1);
    words.expect(":");
    matrix.entries.push_back({row, col, words.real("the value of a triplet")});
  }
}

void read_compressed(Words& words, Index count, bool columns, SparseMatrix& matrix) {
  const Index outer = columns ? matrix.cols : matrix.rows;
  const Index inner = columns ? matrix.rows : matrix.cols;
  Index done = 0;
  for (Index o = 0; o < outer; ++o) {
    const std::string_view label = words.word("'col' or 'row'");
    if (label != "col" && label != "row")
      words.fail(fmt::format("'{}' where 'col' or 'row' is expected", label));
    words.integer("the column (row) of a compressed matrix", o, o);
    words.expect(":");
    words.expect("locations");
    words.integer("the first location", done, done);
    words.expect("to");
    const Index end = words.integer("the last location", done - 1, count - 1) + 1;
    for (; done < end; ++done) {
      const Index index = words.integer("an index of a compressed matrix", 0, inner - 1);
      words.expect(":");
      const double value = words.real("an entry of a compressed matrix");
      matrix.entries.push_back(columns ? ScalarTriplet{index, o, value} : ScalarTriplet{o, index, value});
    }
  }
  if (done != count)
    words.fail(fmt::format("the compressed matrix ends after {} of {} entries", done, count));
}

std::string read_sparse(Words& words, SparseMatrix& matrix) {
  const Index kind =
      words.integer("the kind of sparse matrix (4, half of a symmetric one, is not supported)", 0, 3);
  std::string_view extent = words.word("the banner of a sparse matrix");
  const auto is_extent = [](std::string_view text) { return text.find("-by-") != std::string_view::npos; };
  bool triplet = false;
  while (!is_extent(extent)) {  // the banner is free text
    triplet = extent == "triplet:";
    extent = words.word("the size of a sparse matrix, like 6-by-6,");
  }
  check_extent(words, extent, matrix);
  if (triplet ? kind > 1 : kind < 1) {
    words.fail("the sparse matrix is printed in another form than its kind says");
  }
  words.expect("nzmax:");
  words.word("nzmax");
  words.expect("nnz:");
  if (triplet) {
    read_triplets(words, words.size("the number of triplets"), matrix);
    return "triplet";
  }
  std::string_view text = words.word("the number of entries");
  if (text.ends_with(',')) text.remove_suffix(1);
  Index count = 0;
  if (!Words::parse(text, count) || count < 0 || count > words.limit()) {
    words.fail(fmt::format("'{}' where the number of entries is expected", text));
  }
  words.expect("1-norm:");
  words.word("the norm of the matrix");
  const bool columns = kind != kCompressedRows && words.peek() != "row";
  read_compressed(words, count, columns, matrix);
  return columns ? "CSC" : "CSR";
}

FileMatrix read_matrix(Words& words) {
  FileMatrix file;
  const Index storage = words.integer("the storage of a matrix", 0, 2);
  file.matrix.rows = words.size("the number of rows");
  file.matrix.cols = words.size("the number of columns");
  if (storage == 0) {
    read_dense(words, file.matrix);
    file.storage = "dense";
  } else if (storage == 1) {
    read_blocks(words, file.matrix);
    file.storage = "sparse block";
  } else {
    file.storage = read_sparse(words, file.matrix);
  }
  return file;
}

// After M: does H follow? Its header is `storage n contact_rows`; q could look like that only by chance, and
// then too few values are left for a global problem.
bool is_global(const Words& words, const SparseMatrix& first, Index contact_rows, Index contacts) {
  if (first.rows != contact_rows) return true;
  Index storage = 0;
  Index rows = 0;
  Index cols = 0;
  const bool header = Words::parse(words.peek(0), storage) && Words::parse(words.peek(1), rows) &&
                      Words::parse(words.peek(2), cols) && storage >= 0 && storage <= 2 &&
                      rows == first.rows && cols == contact_rows;
  const std::size_t local_values = static_cast<std::size_t>(contact_rows) + contacts + 1;
  return header && words.left() > local_values;
}

void set_friction(Words& words, Index contacts, std::vector<ConstraintSpec>& constraints) {
  const Vector friction = words.reals("the friction coefficients", contacts);
  constraints.resize(contacts);
  for (Index i = 0; i < contacts; ++i) constraints[i].friction = friction[i];
  if (words.left() > 0 && words.peek() != "0" && words.peek() != "1") {
    const std::string_view text = words.word("the end of the file");
    words.fail(fmt::format("'{}' after the friction coefficients, where the file should end", text));
  }
}

ContactProblem read_global(Words& words, SparseMatrix mass, Index dimension, Index contacts,
                           IndefiniteShare& indefinite) {
  const Index contact_rows = dimension * contacts;
  SparseMatrix h = read_matrix(words).matrix;
  if (h.rows != mass.rows || h.cols != contact_rows) {
    words.fail(fmt::format("H is {} x {}: M and the contacts ask for {} x {}", h.rows, h.cols, mass.rows,
                           contact_rows));
  }
  PrimalParts parts;
  parts.momentum = words.reals("the vector q", mass.rows);
  const Vector bias = words.reals("the vector b", contact_rows);
  set_friction(words, contacts, parts.constraints);
  const RowMap map = map_rows(parts.constraints, dimension);
  parts.mass = std::move(mass);
  parts.body_size = dimension == 3 ? 6 : 3;
  parts.jacobian = {h.rows, map.rows, std::move(h.entries)};
  for (ScalarTriplet& entry : parts.jacobian.entries) entry.col = map.contact[entry.col];
  parts.bias.setZero(map.rows);
  scatter(bias, map.contact, parts.bias);
  return assemble(parts, &indefinite);
}

ContactProblem read_local(Words& words, SparseMatrix delassus, Index dimension, Index contacts,
                          IndefiniteShare& indefinite) {
  DualParts parts;
  const Vector q = words.reals("the vector q", dimension * contacts);
  set_friction(words, contacts, parts.constraints);
  const RowMap map = map_rows(parts.constraints, dimension);
  parts.delassus = {map.rows, map.rows, std::move(delassus.entries)};
  for (ScalarTriplet& entry : parts.delassus.entries) {
    entry.row = map.contact[entry.row];
    entry.col = map.contact[entry.col];
  }
  parts.free_velocity.setZero(map.rows);
  scatter(q, map.contact, parts.free_velocity);
  return assemble(parts, &indefinite);
}

}  // namespace

LoadedProblem read_siconos_dat(const std::filesystem::path& path) {
  Words words(path);
  const Index dimension =
      words.integer("the dimension of space (2 or 3; 5, rolling, is not supported)", 2, 3);
  const Index contacts = words.size("the number of contacts");
  const Index contact_rows = dimension * contacts;
  FileMatrix first = read_matrix(words);
  if (first.matrix.rows != first.matrix.cols) {
    words.fail(
        fmt::format("the first matrix is {} x {}: it must be square", first.matrix.rows, first.matrix.cols));
  }
  const bool global = is_global(words, first.matrix, contact_rows, contacts);
  IndefiniteShare indefinite;
  LoadedProblem loaded{global ? read_global(words, std::move(first.matrix), dimension, contacts, indefinite)
                              : read_local(words, std::move(first.matrix), dimension, contacts, indefinite)};
  loaded.format = fmt::format("Siconos {}, {}", global ? "global" : "local", first.storage);
  loaded.space_dimension = dimension;
  loaded.warnings = warnings_of(indefinite);
  return loaded;
}

}  // namespace tribo::detail
