#include "tribo/io/volumes/gmsh_file.h"

#include <fmt/format.h>

#include <cstdint>
#include <unordered_map>

#include "tribo/io/volumes/word_stream.h"

namespace tribo::detail {

namespace {

// Element types with less than three dimensions: how many nodes each has; 0: another type.
Index nodes_of_flat_type(Index type) {
  switch (type) {
    case 1:
      return 2;  // line
    case 2:
      return 3;  // triangle
    case 3:
      return 4;  // quadrilateral
    case 8:
      return 3;  // line of second order
    case 9:
      return 6;  // triangle of second order
    case 10:
      return 9;  // quadrilateral of second order
    case 15:
      return 1;  // point
    default:
      return 0;
  }
}

constexpr Index kTetrahedron = 4, kTetrahedronOfSecondOrder = 11;

class GmshReader {
 public:
  GmshReader(std::string_view text, const std::filesystem::path& file) : words_(text, file) {}

  TetMesh read() {
    words_.expect("$MeshFormat");
    read_format();
    while (!words_.at_end()) {
      const std::string_view section = words_.next();
      if (section == "$Nodes") {
        four_ ? read_nodes_4() : read_nodes_2();
        words_.expect("$EndNodes");
      } else if (section == "$Elements") {
        if (mesh_.nodes.empty()) words_.fail("$Elements", "there are no $Nodes before it");
        four_ ? read_elements_4() : read_elements_2();
        words_.expect("$EndElements");
      } else if (section.starts_with("$") && !section.starts_with("$End")) {
        skip(section);
      } else {
        words_.fail("section", "a word beginning with $ was expected");
      }
    }
    return std::move(mesh_);
  }

 private:
  void read_format() {
    const std::string_view version = words_.next();
    four_ = version == "4.1";
    if (!four_ && version != "2.2" && version != "2") {
      words_.fail("version", "it is not 2.2 or 4.1; Gmsh converts: gmsh -0 -format msh41 -o out.msh in.msh");
    }
    if (words_.integer("file type") != 0) {
      words_.fail("file type", "binary files are not read; Gmsh writes ASCII with Mesh.Binary = 0");
    }
    words_.integer("size of numbers");
    words_.expect("$EndMeshFormat");
  }

  void skip(std::string_view section) {
    const std::string end = "$End" + std::string(section.substr(1));
    while (!words_.at_end()) {
      if (words_.next() == end) return;
    }
    words_.fail(section, "it has no end");
  }

  void add_node(std::int64_t tag) {
    if (!number_.emplace(tag, mesh_.node_count()).second) {
      words_.fail("node", fmt::format("there are two with the number {}", tag));
    }
  }

  void read_nodes_2() {
    const Index count = words_.count("number of nodes");
    for (Index n = 0; n < count; ++n) {
      add_node(words_.tag("number of a node"));
      mesh_.nodes.push_back(words_.point("coordinates of a node"));
    }
  }

  void read_nodes_4() {
    const Index blocks = words_.count("number of node blocks");
    words_.count("number of nodes");
    words_.tag("least node tag");
    words_.tag("largest node tag");
    for (Index block = 0; block < blocks; ++block) {
      const Index dimension = words_.integer("dimension of an entity");
      words_.tag("tag of an entity");
      const bool parametric = words_.integer("parametric") != 0;
      if (parametric && (dimension < 0 || dimension > 3)) {
        words_.fail("dimension of an entity", "it is not 0, 1, 2 or 3");
      }
      const Index count = words_.count("number of nodes of a block");
      const Index first = mesh_.node_count();
      for (Index n = 0; n < count; ++n) {
        if (!number_.emplace(words_.tag("number of a node"), first + n).second) {
          words_.fail("node", "there are two with this number");
        }
      }
      for (Index n = 0; n < count; ++n) {
        mesh_.nodes.push_back(words_.point("coordinates of a node"));
        for (Index k = 0; parametric && k < dimension; ++k) words_.real("parameter of a node");
      }
    }
  }

  // The corners of an element follow.
  void read_corners(Index type) {
    if (const Index flat = nodes_of_flat_type(type); flat > 0) {
      for (Index k = 0; k < flat; ++k) words_.tag("node of an element");
      return;
    }
    if (type == kTetrahedronOfSecondOrder) {
      words_.fail("element type",
                  "tetrahedra of second order are not read; Gmsh writes linear ones with -order 1");
    }
    if (type != kTetrahedron) {
      words_.fail("element type", fmt::format("{} is not a tetrahedron (4), and nothing flatter", type));
    }
    TetMesh::Tet tet;
    for (Index& corner : tet) {
      const std::int64_t tag = words_.tag("node of an element");
      const auto found = number_.find(tag);
      if (found == number_.end()) words_.fail("node of an element", fmt::format("there is no node {}", tag));
      corner = found->second;
    }
    mesh_.tets.push_back(tet);
  }

  void read_elements_2() {
    const Index count = words_.count("number of elements");
    for (Index e = 0; e < count; ++e) {
      words_.tag("number of an element");
      const Index type = words_.integer("element type");
      const Index tags = words_.count("number of tags");
      for (Index k = 0; k < tags; ++k) words_.tag("tag of an element");
      read_corners(type);
    }
  }

  void read_elements_4() {
    const Index blocks = words_.count("number of element blocks");
    words_.count("number of elements");
    words_.tag("least element tag");
    words_.tag("largest element tag");
    for (Index block = 0; block < blocks; ++block) {
      words_.tag("dimension of an entity");
      words_.tag("tag of an entity");
      const Index type = words_.integer("element type");
      const Index count = words_.count("number of elements of a block");
      for (Index e = 0; e < count; ++e) {
        words_.tag("number of an element");
        read_corners(type);
      }
    }
  }

  WordStream words_;
  bool four_ = false;
  TetMesh mesh_;
  std::unordered_map<std::int64_t, Index> number_;
};

}  // namespace

TetMesh read_gmsh(std::string_view text, const std::filesystem::path& file) {
  return GmshReader(text, file).read();
}

}  // namespace tribo::detail
