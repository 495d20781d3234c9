#include "tribo/io/tet_mesh_file.h"

#include <gtest/gtest.h>

#include "tests/io/volumes/mesh_texts.h"
#include "tests/support/temporary_folder.h"
#include "tribo/base/errors.h"
#include "tribo/flex/ready_meshes.h"

namespace tribo {
namespace {

class TetMeshFile : public testing::Test {
 protected:
  TetMesh read(const std::string& name, const std::string& text) {
    return read_tet_mesh(folder_.write(name, text));
  }
  std::string refusal(const std::string& name, const std::string& text) {
    try {
      read(name, text);
    } catch (const InvalidInput& error) {
      const std::string message = error.what(), start = (folder_ / name).string();
      EXPECT_TRUE(message.starts_with(start)) << message;
      return message.substr(std::min(message.size(), start.size()));
    }
    return "nothing is wrong";
  }
  // The two elements of tests/io/volumes/mesh_texts.h.
  void expect_pair(const TetMesh& mesh) {
    ASSERT_EQ(mesh.node_count(), 5);
    ASSERT_EQ(mesh.tet_count(), 2);
    EXPECT_NEAR(signed_volume(mesh, 0), 1.0 / 6.0, 1e-15);
    EXPECT_NEAR(signed_volume(mesh, 1), 1.0 / 3.0, 1e-15);  // the file has it the other way round
  }
  static std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  }

  test::TemporaryFolder folder_;
};

TEST_F(TetMeshFile, EveryFormatGivesTheSameMesh) {
  expect_pair(read("a.msh", test::kGmsh2));
  expect_pair(read("b.msh", test::kGmsh4));
  expect_pair(read("c.vtk", test::kVtk4));
  expect_pair(read("d.vtk", test::kVtk5));
  expect_pair(read("e.vtu", test::kVtu));
  expect_pair(read("f.vtu", test::kVtuBinary));
  const TetMesh small = read_tet_mesh(folder_.write("g.msh", test::kGmsh2), 0.1);
  EXPECT_NEAR(signed_volume(small, 0), 1e-3 / 6.0, 1e-18);
}

TEST_F(TetMeshFile, WhatIsWrittenIsReadBackBitForBit) {
  const TetMesh mesh = sphere_mesh(0.1, 3);
  write_vtu(folder_ / "s.vtu", mesh);
  const TetMesh again = read_tet_mesh(folder_ / "s.vtu");
  EXPECT_EQ(again.nodes, mesh.nodes);
  EXPECT_EQ(again.tets, mesh.tets);
}

TEST_F(TetMeshFile, WhatIsNotReadIsRefusedByName) {
  EXPECT_EQ(refusal("a.msh", replaced(test::kGmsh2, "2.2 0 8", "2.2 1 8")),
            ":2: file type: binary files are not read; Gmsh writes ASCII with Mesh.Binary = 0");
  EXPECT_NE(refusal("a.msh", replaced(test::kGmsh2, "2.2 0 8", "4 0 8")).find(":2: version: "),
            std::string::npos);
  EXPECT_EQ(refusal("a.vtk", replaced(test::kVtk4, "ASCII", "BINARY")),
            ":3: coding: BINARY files are not read; write ASCII");
  EXPECT_EQ(refusal("a.vtu", replaced(test::kVtu, "<Cells>", "<AppendedData/><Cells>")),
            ":1: AppendedData: data behind the XML are not read; write them inline");
  EXPECT_NE(refusal("a.vtu", replaced(test::kVtuBinary, "header_type", "compressor=\"z\" header_type"))
                .find("compressed data are not read"),
            std::string::npos);
  EXPECT_NE(refusal("a.vtu", replaced(test::kVtuBinary, "LittleEndian", "BigEndian")).find("big-endian"),
            std::string::npos);
  EXPECT_NE(refusal("a.stl", "solid").find("read from .msh, .vtk and .vtu"), std::string::npos);
}

TEST_F(TetMeshFile, DamageIsNamedWithItsLineAndField) {
  EXPECT_EQ(refusal("a.msh", replaced(test::kGmsh2, "2 1 0 0", "2 1 x 0")),
            ":7: coordinates of a node: 'x' is not a number");
  EXPECT_EQ(refusal("a.msh", replaced(test::kGmsh2, "2 1 0 0", "1 1 0 0")),
            ":7: node: there are two with the number 1");
  EXPECT_EQ(refusal("a.msh", replaced(test::kGmsh2, "1 2 3 4\n", "1 2 3 99\n")),
            ":15: node of an element: there is no node 99");
  EXPECT_EQ(refusal("a.msh", replaced(test::kGmsh2, "1 4 2 0 1 1", "1 5 2 0 1 1")),
            ":15: element type: 5 is not a tetrahedron (4), and nothing flatter");
  EXPECT_NE(refusal("a.msh", replaced(test::kGmsh2, "$EndNodes\n", "")).find(": $EndNodes: "),
            std::string::npos);
  EXPECT_NE(refusal("a.msh", replaced(test::kGmsh2, "$Nodes\n6", "$Nodes\n9999999")).find("number of nodes"),
            std::string::npos);
  EXPECT_NE(refusal("a.msh", replaced(test::kGmsh4, "3 1 4 2", "3 1 11 2")).find("second order"),
            std::string::npos);
  EXPECT_NE(refusal("a.vtk", replaced(test::kVtk4, "4 0 1 2 3", "4 0 1 2 -3")).find("a cell names point -3"),
            std::string::npos);
  EXPECT_NE(refusal("a.vtk", replaced(test::kVtk5, "0 4 8 11", "0 9 8 11")).find("offset of a cell"),
            std::string::npos);
  EXPECT_NE(refusal("a.vtk", replaced(test::kVtk4, "10\n10", "12\n10")).find("cell 0: type 12"),
            std::string::npos);
  EXPECT_NE(refusal("a.vtu", replaced(test::kVtu, "0 1 2 3", "0 1 2 9")).find("cell 0 names point 9"),
            std::string::npos);
  EXPECT_NE(
      refusal("a.vtu", replaced(test::kVtu, "4 8 11", "4 99 11")).find(": offsets: that of cell 1 is 99"),
      std::string::npos);
  EXPECT_NE(refusal("a.vtu", replaced(test::kVtu, "</VTKFile>", "")).find(": XML: "), std::string::npos);
  EXPECT_NE(refusal("a.vtu", replaced(test::kVtuBinary, "BQ", "B!")).find("base64"), std::string::npos);
  EXPECT_NE(refusal("a.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n").find("has no tetrahedron"),
            std::string::npos);
  EXPECT_THROW(read_tet_mesh(folder_ / "missing.msh"), InvalidInput);
  EXPECT_EQ(refusal("a.msh", replaced(test::kGmsh2, "2 1 0 0", "2 1e400 0 0")),
            ":7: coordinates of a node: '1e400' is not finite");
  EXPECT_EQ(refusal("a.msh", replaced(test::kGmsh2, "2 1 0 0", "2 1" + std::string(400, '0') + " 0 0"))
                .substr(0, 30),
            ":7: coordinates of a node: '10");
  EXPECT_EQ(
      refusal("a.msh", replaced(test::kGmsh2, "2 1 0 0", "2 1 1e-400 0." + std::string(400, '0') + "1")),
      "nothing is wrong");
}

}  // namespace
}  // namespace tribo
