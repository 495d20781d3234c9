#include "tribo/io/assets/mesh_file.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/io/loading.h"
#include "tribo/io/assets/mesh_moments.h"

namespace tribo::test {
namespace {

using detail::MeshData;
using detail::MeshInertia;
using detail::read_mesh_file;

template <class T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

MeshData read(const std::string& name, const std::string& bytes) {
  const TemporaryFolder folder;
  return read_mesh_file(folder.write(name, bytes));
}

std::string refusal_of(const std::string& name, const std::string& bytes) {
  try {
    read(name, bytes);
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "read";
}

std::string binary_stl(const MeshData& mesh) {
  std::string bytes(80, ' ');
  append(bytes, static_cast<std::uint32_t>(mesh.triangles.size()));
  for (const auto& triangle : mesh.triangles) {
    bytes.append(12, '\0');
    for (const Index corner : triangle) {
      for (const double x : mesh.vertices[static_cast<std::size_t>(corner)])
        append(bytes, static_cast<float>(x));
    }
    bytes.append(2, '\0');
  }
  return bytes;
}

std::string text_stl(const MeshData& mesh) {
  std::string text = "solid cube\n";
  for (const auto& triangle : mesh.triangles) {
    text += "facet normal 0 0 0\n outer loop\n";
    for (const Index corner : triangle) {
      text += "  vertex";
      for (const double x : mesh.vertices[static_cast<std::size_t>(corner)]) text += " " + std::to_string(x);
      text += "\n";
    }
    text += " endloop\nendfacet\n";
  }
  return text + "endsolid cube\n";
}

std::string msh(const MeshData& mesh) {
  std::string bytes;
  for (const std::size_t n : {mesh.vertices.size(), std::size_t{1}, std::size_t{2}, mesh.triangles.size()}) {
    append(bytes, static_cast<std::int32_t>(n));
  }
  for (const Vec3& v : mesh.vertices) {
    for (const double x : v) append(bytes, static_cast<float>(x));
  }
  bytes.append(12 + 16, '\0');
  for (const auto& triangle : mesh.triangles) {
    for (const Index corner : triangle) append(bytes, corner);
  }
  return bytes;
}

TEST(MeshFile, AllFormatsGiveTheSameCube) {
  const MeshData cube = read("cube.obj", cube_obj());
  EXPECT_EQ(cube.vertices.size(), 8u);
  EXPECT_EQ(cube.triangles.size(), 12u);
  std::string ply =
      "ply\nformat ascii 1.0\nelement vertex 8\nproperty float x\nproperty float y\nproperty float z\n"
      "element face 12\nproperty list uchar int vertex_indices\nend_header\n";
  for (const Vec3& v : cube.vertices) {
    ply += std::to_string(v.x()) + " " + std::to_string(v.y()) + " " + std::to_string(v.z()) + "\n";
  }
  for (const auto& t : cube.triangles) {
    ply += "3 " + std::to_string(t[0]) + " " + std::to_string(t[1]) + " " + std::to_string(t[2]) + "\n";
  }
  for (const auto& [name, bytes] :
       std::vector<std::pair<std::string, std::string>>{{"cube.obj", cube_obj()},
                                                        {"cube.STL", binary_stl(cube)},
                                                        {"text.stl", text_stl(cube)},
                                                        {"cube.msh", msh(cube)},
                                                        {"cube.ply", ply}}) {
    const MeshData mesh = read(name, bytes);
    EXPECT_EQ(mesh.triangles.size(), 12u) << name;
    const VolumeMoments moments = mesh_moments(mesh, MeshInertia::exact);
    EXPECT_NEAR(moments.volume, 8.0, 1e-6) << name;
    EXPECT_TRUE(moments.center.isApprox(Vec3(1, 1, 1), 1e-6)) << name;
    EXPECT_TRUE(moments.inertia.isApprox(8.0 * 2.0 / 3.0 * Mat3::Identity(), 1e-6)) << name;
  }
}

TEST(MeshFile, DamageIsRefusedByName) {
  const MeshData cube = read("cube.obj", cube_obj());
  const std::string stl = binary_stl(cube), mujoco = msh(cube);
  std::string many = stl;
  std::memset(many.data() + 80, 0x7f, 4);
  std::string negative = mujoco;
  std::memset(negative.data(), 0xff, 4);
  std::string index = mujoco;
  std::memset(index.data() + index.size() - 4, 0x7f, 4);
  for (const auto& [name, bytes] :
       std::vector<std::pair<std::string, std::string>>{{"empty.obj", ""},
                                                        {"face.obj", "v 0 0 0\nf 1 2 3\n"},
                                                        {"zero.obj", "v 0 0 0\nf 0 0 0\n"},
                                                        {"word.obj", "v 0 a 0\n"},
                                                        {"short.stl", stl.substr(0, 200)},
                                                        {"many.stl", many},
                                                        {"empty.stl", ""},
                                                        {"short.msh", mujoco.substr(0, 40)},
                                                        {"negative.msh", negative},
                                                        {"index.msh", index},
                                                        {"noise.ply", "ply\nnoise"},
                                                        {"noise.dae", "<COLLADA>"},
                                                        {"far.obj", "v 1e30 0 0\n"}}) {
    EXPECT_TRUE(contains(refusal_of(name, bytes), name)) << name << ": " << refusal_of(name, bytes);
  }
}

TEST(MeshMoments, LegacyCountsVolumesAbsolutely) {
  MeshData cube = read("cube.obj", cube_obj());
  const MeshData whole = cube;
  for (auto& triangle : cube.triangles) std::swap(triangle[0], triangle[1]);
  EXPECT_NEAR(mesh_moments(cube, MeshInertia::legacy).volume, 8.0, 1e-12);
  EXPECT_THROW(mesh_moments(cube, MeshInertia::exact), InvalidInput);
  EXPECT_NEAR(mesh_moments(whole, MeshInertia::shell).volume, 24.0, 1e-12);
  // Shell of a cube of side 2 and mass 24: 24 * 10/9.
  EXPECT_NEAR(mesh_moments(whole, MeshInertia::shell).inertia(0, 0), 24.0 * 10.0 / 9.0, 1e-10);
}

// Four corners are split along the shorter diagonal, more by cutting ears.
TEST(MeshFile, PolygonsAreSplitLikeMuJoCoDoes) {
  using Triangles = std::vector<std::array<Index, 3>>;
  const auto triangles = [](const std::string& vertices, const std::string& face) {
    return read("p.obj", vertices + face).triangles;
  };
  const std::string wide = "v 0 0 0\nv 2 0 0\nv 3 1 0\nv 1 1 0\n";  // 0-2 is the longer diagonal
  EXPECT_EQ(triangles(wide, "f 1 2 3 4\n"), (Triangles{{0, 1, 3}, {1, 2, 3}}));
  EXPECT_EQ(triangles(wide, "f 2 3 4 1\n"), (Triangles{{1, 2, 3}, {1, 3, 0}}));
  const std::string square = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";
  EXPECT_EQ(triangles(square, "f 1 2 3 4\n"), (Triangles{{0, 1, 3}, {1, 2, 3}}));
  // An arrow head: the first ear, at corner 1, would cover the notch. Expected: mesh_face of MuJoCo 4.0.
  const std::string arrow = "v 1 1 0\nv 5 1 0\nv 5 5 0\nv 1 5 0\nv 2 3 0\n";
  EXPECT_EQ(triangles(arrow, "f 1 2 3 4 5\n"), (Triangles{{1, 2, 3}, {1, 3, 4}, {0, 1, 4}}));
}

// A prism over a hexagon whose corners are not in a plane. Numbers: MuJoCo 4.0, mass / density and mesh_pos of the
// same file with inertia="legacy", "exact", "shell" (its area is the volume) and "convex".
TEST(MeshMoments, OfPolygonsAreMuJoCos) {
  const MeshData mesh = read("prism.obj", R"(v 1 0 0.1
v 0.3 0.8 0
v -0.6 0.7 0.05
v -0.2 0.1 -0.1
v -0.5 -0.8 0
v 0.5 -0.9 0.07
v 1 0 1.1
v 0.3 0.8 1
v -0.6 0.7 1.2
v -0.2 0.1 1
v -0.5 -0.8 0.9
v 0.5 -0.9 1
f 6 5 4 3 2 1
f 7 8 9 10 11 12
f 1 2 8 7
f 2 3 9 8
f 3 4 10 9
f 4 5 11 10
f 5 6 12 11
f 6 1 7 12
g other
f 1 2 3
)");
  EXPECT_EQ(mesh.triangles.size(), 20u);
  const auto check = [&](MeshInertia mode, double volume, const Vec3& center) {
    const VolumeMoments moments = detail::mesh_moments(mesh, mode);
    EXPECT_NEAR(moments.volume, volume, 1e-12 * volume) << static_cast<int>(mode);
    EXPECT_LT((moments.center - center).cwiseAbs().maxCoeff(), 1e-12) << static_cast<int>(mode);
  };
  check(MeshInertia::legacy, 1.80255898847417, {0.18064139789924, -0.0402257989596227, 0.534284659909666});
  check(MeshInertia::exact, 1.78290002616321, {0.182708178352067, -0.0403006638996354, 0.537993420804552});
  check(MeshInertia::shell, 9.45289270765496, {0.13605934073076, -0.0287913130830908, 0.526335992778024});
  check(MeshInertia::convex, 2.18963338922982, {0.095221225198136, -0.0317324688982623, 0.538442823490359});
}

}  // namespace
}  // namespace tribo::test
