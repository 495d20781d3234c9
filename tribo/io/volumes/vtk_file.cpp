#include "tribo/io/volumes/vtk_file.h"

#include <fmt/format.h>
#include <tinyxml2.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tribo/base/errors.h"
#include "tribo/io/volumes/word_stream.h"

namespace tribo::detail {

namespace {

constexpr Index kTetrahedron = 10, kQuadraticTetrahedron = 24;

// Cells that have less than three dimensions: vertices, lines, triangles, quadrilaterals and strips of them.
bool is_flat(Index type) { return (type >= 1 && type <= 9) || (type >= 21 && type <= 23); }

}  // namespace

std::string add_vtk_cell(Index type, const Index* corners, Index count, TetMesh& mesh) {
  if (is_flat(type)) return "";
  if (type == kQuadraticTetrahedron) return "tetrahedra of second order are not read";
  if (type != kTetrahedron)
    return fmt::format("type {} is not a tetrahedron (10), and nothing flatter", type);
  if (count != 4) return fmt::format("a tetrahedron has {} corners", count);
  mesh.tets.push_back({corners[0], corners[1], corners[2], corners[3]});
  return "";
}

namespace {

class VtkReader {
 public:
  VtkReader(std::string_view text, const std::filesystem::path& file) : words_(text, file) {}

  TetMesh read() {
    words_.expect("#");
    words_.expect("vtk");
    words_.rest_of_line();
    words_.rest_of_line();  // title
    const std::string_view coding = words_.next();
    if (coding == "BINARY") words_.fail("coding", "BINARY files are not read; write ASCII");
    if (coding != "ASCII") words_.fail("coding", "ASCII was expected");
    words_.expect("DATASET");
    words_.expect("UNSTRUCTURED_GRID");
    while (!words_.at_end()) {
      const std::string_view section = words_.next();
      if (section == "POINTS") {
        read_points();
      } else if (section == "CELLS") {
        read_cells();
      } else if (section == "CELL_TYPES") {
        read_types();
      } else if (section == "POINT_DATA" || section == "CELL_DATA") {
        break;  // nothing but data follows
      } else if (section == "METADATA") {
        words_.rest_of_line();
        while (words_.rest_of_line().find_first_not_of(" \t\r") != std::string_view::npos) {
        }  // to an empty line
      } else {
        words_.fail("section", "POINTS, CELLS or CELL_TYPES was expected");
      }
    }
    return finish();
  }

 private:
  void read_points() {
    const Index count = words_.count("number of points");
    words_.next();  // type of the numbers
    for (Index n = 0; n < count; ++n) mesh_.nodes.push_back(words_.point("coordinates of a point"));
  }

  void read_cells() {
    const Index cells = words_.count("number of cells");
    const Index size = words_.count("size of the cells");
    const std::string_view first = words_.next();
    if (first == "OFFSETS") return read_offsets(cells, size);
    WordStream counted = words_;  // the first word was the number of corners of the first cell
    Index corners = 0;
    for (const char c : first) {
      if (c < '0' || c > '9' || corners > 1000) counted.fail("corners of a cell", "a number was expected");
      corners = 10 * corners + (c - '0');
    }
    offset_.push_back(0);
    for (Index k = 0; k < cells; ++k) {
      if (k > 0) corners = words_.count("corners of a cell");
      for (Index c = 0; c < corners; ++c) corner_.push_back(words_.integer("corner of a cell"));
      offset_.push_back(static_cast<Index>(corner_.size()));
    }
    if (static_cast<std::size_t>(size) != corner_.size() + static_cast<std::size_t>(cells)) {
      words_.fail("size of the cells", fmt::format("{} are announced, but there are {}", size,
                                                   corner_.size() + static_cast<std::size_t>(cells)));
    }
  }

  // Version 5: one more offset than there are cells.
  void read_offsets(Index offsets, Index corners) {
    words_.next();  // type of the numbers
    for (Index k = 0; k < offsets; ++k) {
      offset_.push_back(words_.integer("offset of a cell"));
      const Index least = k == 0 ? 0 : offset_[offset_.size() - 2];
      if (offset_.back() < least || offset_.back() > corners) {
        words_.fail("offset of a cell", "they must not fall, nor exceed the number of corners");
      }
    }
    words_.expect("CONNECTIVITY");
    words_.next();
    for (Index c = 0; c < corners; ++c) corner_.push_back(words_.integer("corner of a cell"));
  }

  void read_types() {
    const Index count = words_.count("number of cell types");
    for (Index k = 0; k < count; ++k) type_.push_back(words_.integer("type of a cell"));
  }

  TetMesh finish() {
    if (mesh_.nodes.empty()) words_.fail("POINTS", "there are none");
    if (type_.empty() || offset_.size() != type_.size() + 1) {
      words_.fail("CELL_TYPES", fmt::format("there are {}, of {} cells", type_.size(),
                                            offset_.empty() ? 0 : offset_.size() - 1));
    }
    for (std::size_t k = 0; k < type_.size(); ++k) {
      const std::string wrong =
          add_vtk_cell(type_[k], corner_.data() + offset_[k], offset_[k + 1] - offset_[k], mesh_);
      if (!wrong.empty()) words_.fail(fmt::format("cell {}", k), wrong);
    }
    return std::move(mesh_);
  }

  WordStream words_;
  TetMesh mesh_;
  std::vector<Index> offset_, corner_, type_;
};

// One array of an XML file.
class VtuArray {
 public:
  VtuArray(const tinyxml2::XMLElement& element, const std::filesystem::path& file, bool big_endian,
           bool wide_header, bool compressed)
      : element_(element), file_(file), name_(name_of(element)) {
    const std::string_view format = attribute("format", "ascii");
    if (format == "ascii") {
      const char* text = element.GetText();
      text_ = text != nullptr ? text : "";
      return;
    }
    if (format != "binary") fail(fmt::format("format '{}' is not read; write ascii or binary", format));
    if (compressed) fail("compressed data are not read; write it without a compressor");
    if (big_endian) fail("big-endian data are not read");
    decode(wide_header);
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw InvalidInput(fmt::format("{}:{}: {}: {}", file_.string(), element_.GetLineNum(), name_, what));
  }

  std::vector<double> reals() const {
    std::vector<double> values;
    if (bytes_.empty()) {
      WordStream words(text_, file_, element_.GetLineNum());
      while (!words.at_end()) values.push_back(words.real(name_));
      return values;
    }
    const std::string_view type = attribute("type", "");
    if (type == "Float64") return numbers<double, double>();
    if (type == "Float32") return numbers<float, double>();
    fail(fmt::format("type '{}' is not Float32 or Float64", type));
  }

  std::vector<std::int64_t> integers() const {
    std::vector<std::int64_t> values;
    if (bytes_.empty()) {
      WordStream words(text_, file_, element_.GetLineNum());
      while (!words.at_end()) values.push_back(words.tag(name_));
      return values;
    }
    const std::string_view type = attribute("type", "");
    if (type == "Int64" || type == "UInt64") return numbers<std::int64_t, std::int64_t>();
    if (type == "Int32") return numbers<std::int32_t, std::int64_t>();
    if (type == "UInt32") return numbers<std::uint32_t, std::int64_t>();
    if (type == "UInt8") return numbers<std::uint8_t, std::int64_t>();
    if (type == "Int8") return numbers<std::int8_t, std::int64_t>();
    fail(fmt::format("type '{}' is not an integer of 8, 32 or 64 bits", type));
  }

 private:
  static std::string name_of(const tinyxml2::XMLElement& element) {
    const char* name = element.Attribute("Name");
    return name != nullptr ? name : element.Name();
  }
  std::string_view attribute(const char* key, std::string_view otherwise) const {
    const char* value = element_.Attribute(key);
    return value != nullptr ? value : otherwise;
  }

  // Base64 of the number of bytes that follow, then of those.
  void decode(bool wide_header) {
    const char* text = element_.GetText();
    std::uint32_t bits = 0;
    int held = 0;
    for (const char* c = text != nullptr ? text : ""; *c != '\0' && *c != '='; ++c) {
      const int value = digit(*c);
      if (value < 0) {
        if (std::string_view(" \t\r\n").find(*c) != std::string_view::npos) continue;
        fail("the text is not base64");
      }
      bits = bits << 6 | static_cast<std::uint32_t>(value);
      held += 6;
      if (held >= 8) {
        held -= 8;
        bytes_.push_back(static_cast<char>(bits >> held & 0xff));
      }
    }
    const std::size_t header = wide_header ? 8 : 4;
    std::uint64_t announced = 0;
    if (bytes_.size() < header) fail("it has no header");
    std::memcpy(&announced, bytes_.data(), header);
    if (announced != bytes_.size() - header) {
      fail(fmt::format("{} bytes are announced, but there are {}", announced, bytes_.size() - header));
    }
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(header));
  }

  static int digit(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
  }

  template <class Stored, class Value>
  std::vector<Value> numbers() const {
    static_assert(std::endian::native == std::endian::little);
    if (bytes_.size() % sizeof(Stored) != 0) fail("the number of bytes does not fit its type");
    std::vector<Value> values(bytes_.size() / sizeof(Stored));
    for (std::size_t k = 0; k < values.size(); ++k) {
      Stored stored;
      std::memcpy(&stored, bytes_.data() + k * sizeof(Stored), sizeof(Stored));
      values[k] = static_cast<Value>(stored);
    }
    return values;
  }

  const tinyxml2::XMLElement& element_;
  const std::filesystem::path& file_;
  std::string name_;
  std::string_view text_;
  std::vector<char> bytes_;
};

class VtuReader {
 public:
  VtuReader(const std::string& text, const std::filesystem::path& file) : file_(file) {
    if (text.find("<AppendedData") != std::string::npos) {
      fail(1, "AppendedData", "data behind the XML are not read; write them inline");
    }
    if (document_.Parse(text.data(), text.size()) != tinyxml2::XML_SUCCESS) {
      fail(document_.ErrorLineNum(), "XML", document_.ErrorName());
    }
  }

  TetMesh read() {
    const tinyxml2::XMLElement* root = document_.FirstChildElement("VTKFile");
    if (root == nullptr) fail(1, "VTKFile", "there is no such element");
    const auto is = [&](const char* key, std::string_view value) {
      return root->Attribute(key) != nullptr && root->Attribute(key) == value;
    };
    compressed_ = root->Attribute("compressor") != nullptr;
    big_endian_ = is("byte_order", "BigEndian");
    wide_header_ = is("header_type", "UInt64");
    const tinyxml2::XMLElement& grid = child(*root, "UnstructuredGrid");
    for (const tinyxml2::XMLElement* piece = &child(grid, "Piece"); piece != nullptr;
         piece = piece->NextSiblingElement("Piece")) {
      add_piece(*piece);
    }
    return std::move(mesh_);
  }

 private:
  [[noreturn]] void fail(int line, std::string_view field, const std::string& what) const {
    throw InvalidInput(fmt::format("{}:{}: {}: {}", file_.string(), line, field, what));
  }

  const tinyxml2::XMLElement& child(const tinyxml2::XMLElement& parent, const char* name) const {
    const tinyxml2::XMLElement* found = parent.FirstChildElement(name);
    if (found == nullptr) fail(parent.GetLineNum(), name, fmt::format("{} has none", parent.Name()));
    return *found;
  }

  VtuArray array(const tinyxml2::XMLElement& parent, std::string_view name) const {
    for (const tinyxml2::XMLElement* found = &child(parent, "DataArray"); found != nullptr;
         found = found->NextSiblingElement("DataArray")) {
      if (name.empty() || (found->Attribute("Name") != nullptr && found->Attribute("Name") == name)) {
        return VtuArray(*found, file_, big_endian_, wide_header_, compressed_);
      }
    }
    fail(parent.GetLineNum(), name, fmt::format("{} has no such DataArray", parent.Name()));
  }

  void add_piece(const tinyxml2::XMLElement& piece) {
    const Index first = mesh_.node_count();
    const VtuArray points = array(child(piece, "Points"), "");
    const std::vector<double> coordinates = points.reals();
    if (coordinates.size() % 3 != 0) points.fail("the coordinates are not three per point");
    if (coordinates.size() > 3 * static_cast<std::size_t>(kMostMeshEntries))
      points.fail("there are too many");
    const auto count = static_cast<Index>(coordinates.size() / 3);
    for (Index n = 0; n < count; ++n) mesh_.nodes.push_back(Eigen::Map<const Vec3>(&coordinates[3 * n]));

    const tinyxml2::XMLElement& cells = child(piece, "Cells");
    const VtuArray connectivity = array(cells, "connectivity"), offsets = array(cells, "offsets");
    const VtuArray types = array(cells, "types");
    const std::vector<std::int64_t> corner = connectivity.integers(), end = offsets.integers(),
                                    type = types.integers();
    if (end.size() != type.size()) {
      types.fail(fmt::format("there are {}, and {} offsets", type.size(), end.size()));
    }
    std::int64_t begin = 0;
    for (std::size_t k = 0; k < type.size(); ++k) {
      if (end[k] < begin || end[k] > static_cast<std::int64_t>(corner.size())) {
        offsets.fail(fmt::format("that of cell {} is {}", k, end[k]));
      }
      std::vector<Index> own;
      for (std::int64_t c = begin; c < end[k]; ++c) {
        if (corner[c] < 0 || corner[c] >= count) {
          connectivity.fail(fmt::format("cell {} names point {}, but there are {}", k, corner[c], count));
        }
        own.push_back(first + static_cast<Index>(corner[c]));
      }
      const Index kind = type[k] < 0 || type[k] > 255 ? 0 : static_cast<Index>(type[k]);
      const std::string wrong = add_vtk_cell(kind, own.data(), static_cast<Index>(own.size()), mesh_);
      if (!wrong.empty()) types.fail(fmt::format("cell {}: {}", k, wrong));
      begin = end[k];
    }
  }

  const std::filesystem::path& file_;
  tinyxml2::XMLDocument document_;
  bool compressed_ = false, big_endian_ = false, wide_header_ = false;
  TetMesh mesh_;
};

}  // namespace

TetMesh read_vtk(std::string_view text, const std::filesystem::path& file) {
  return VtkReader(text, file).read();
}

TetMesh read_vtu(const std::string& text, const std::filesystem::path& file) {
  return VtuReader(text, file).read();
}

}  // namespace tribo::detail
