#include "tribo/flex/tet_mesh.h"

#include <gtest/gtest.h>

#include <map>
#include <numbers>

#include "tribo/base/errors.h"
#include "tribo/flex/ready_meshes.h"

namespace tribo {
namespace {

double least_volume(const TetMesh& mesh) {
  double least = 1e300;
  for (Index e = 0; e < mesh.tet_count(); ++e) least = std::min(least, signed_volume(mesh, e));
  return least;
}

// Volume inside a closed surface, by the divergence theorem.
double enclosed(const TetMesh& mesh) {
  double sum = 0.0;
  for (const SurfaceTriangle& t : boundary(mesh)) {
    sum += mesh.nodes[t[0]].dot(mesh.nodes[t[1]].cross(mesh.nodes[t[2]])) / 6.0;
  }
  return sum;
}

// Every edge of a closed, consistently turned surface is passed once in each direction.
void expect_closed(const TetMesh& mesh) {
  std::map<std::pair<Index, Index>, int> edges;
  for (const SurfaceTriangle& t : boundary(mesh)) {
    for (int k = 0; k < 3; ++k) ++edges[{t[k], t[(k + 1) % 3]}];
  }
  for (const auto& [edge, count] : edges) {
    EXPECT_EQ(count, 1);
    EXPECT_EQ((edges.count({edge.second, edge.first})), 1u);
  }
}

TEST(TetMesh, BoxFillsItsVolumeWithEqualElements) {
  const TetMesh mesh = box_mesh(Vec3(1.3, 0.6, 0.15), {26, 12, 3});
  EXPECT_EQ(mesh.node_count(), 27 * 13 * 4);
  EXPECT_EQ(mesh.tet_count(), 6 * 26 * 12 * 3);
  const double whole = 1.3 * 0.6 * 0.15;
  EXPECT_NEAR(volume(mesh), whole, 1e-14);
  EXPECT_NEAR(enclosed(mesh), whole, 1e-14);
  EXPECT_NEAR(least_volume(mesh), whole / mesh.tet_count(), 1e-17);
  EXPECT_EQ(boundary(mesh).size(), 4u * (26 * 12 + 12 * 3 + 26 * 3));
  expect_closed(mesh);
  EXPECT_EQ(nodes_on_plane(mesh, Vec3(-0.65, 0, 0), Vec3::UnitX(), 1e-12).size(), 13u * 4u);
}

TEST(TetMesh, RoundSolidsHavePositiveElementsAndConvergeToTheirVolume) {
  const double pi = std::numbers::pi;
  double last_cylinder = 1.0, last_sphere = 1.0;
  for (const Index n : {2, 4, 8}) {
    const TetMesh cylinder = cylinder_mesh(0.5, 2.0, n, 3), sphere = sphere_mesh(2.0, n);
    EXPECT_GT(least_volume(cylinder), 0.0);
    EXPECT_GT(least_volume(sphere), 0.0);
    expect_closed(cylinder);
    expect_closed(sphere);
    EXPECT_NEAR(enclosed(sphere), volume(sphere), 1e-12);
    for (const Index node : boundary_nodes(boundary(sphere)))
      EXPECT_NEAR(sphere.nodes[node].norm(), 2.0, 1e-14);
    const double cylinder_error = 1.0 - volume(cylinder) / (0.5 * pi);
    const double sphere_error = 1.0 - volume(sphere) / (4.0 / 3.0 * pi * 8.0);
    EXPECT_GT(cylinder_error, 0.0);
    EXPECT_LT(cylinder_error, last_cylinder / 3.0) << n;
    EXPECT_LT(sphere_error, last_sphere / 2.0) << n;
    last_cylinder = cylinder_error;
    last_sphere = sphere_error;
  }
}

TEST(TetMesh, CompleteTurnsElementsRoundAndNamesWhatIsWrong) {
  TetMesh mesh{{Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1)}, {{0, 2, 1, 3}}};
  complete(mesh, "m");
  EXPECT_NEAR(signed_volume(mesh, 0), 1.0 / 6.0, 1e-16);
  const auto message = [](TetMesh bad) {
    try {
      complete(bad, "gear.msh");
    } catch (const InvalidInput& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  TetMesh bad = mesh;
  bad.tets[0][3] = 7;
  EXPECT_EQ(message(bad), "gear.msh: element 0 names node 7, but there are 4 nodes");
  bad.tets[0][3] = 0;
  EXPECT_NE(message(bad).find("element 0 names node 0 twice"), std::string::npos) << message(bad);
  bad = mesh;
  bad.nodes[3] = Vec3(1, 1, 0);
  EXPECT_NE(message(bad).find("element 0 is flat"), std::string::npos);
  bad = mesh;
  bad.nodes[1].x() = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(message(bad).find("node 1 is not finite"), std::string::npos);
  bad = mesh;
  bad.nodes.push_back(Vec3::Zero());
  EXPECT_NE(message(bad).find("node 4 belongs to no element"), std::string::npos);
  remove_loose_nodes(bad);
  EXPECT_EQ(message(bad), "");
  EXPECT_NE(message(TetMesh()).find("has no tetrahedron"), std::string::npos);
}

TEST(TetMesh, BoundaryOfNegativeElementsLooksOutwards) {
  TetMesh mesh = box_mesh(Vec3(1.0, 2.0, 0.5), {2, 3, 1});
  for (std::size_t e = 0; e < mesh.tets.size(); e += 2) std::swap(mesh.tets[e][0], mesh.tets[e][1]);
  EXPECT_LT(least_volume(mesh), 0.0);
  EXPECT_NEAR(enclosed(mesh), 1.0, 1e-14);
  expect_closed(mesh);
}

TEST(TetMesh, SizesOfReadyMeshesAreChecked) {
  EXPECT_THROW(box_mesh(Vec3(1, 0, 1), {1, 1, 1}), InvalidInput);
  EXPECT_THROW(box_mesh(Vec3(1, 1, 1), {1, 0, 1}), InvalidInput);
  EXPECT_THROW(box_mesh(Vec3(1, 1, 1), {100000, 100000, 1}), InvalidInput);
  EXPECT_THROW(sphere_mesh(-1.0, 2), InvalidInput);
  EXPECT_THROW(cylinder_mesh(1.0, std::numeric_limits<double>::infinity(), 2, 2), InvalidInput);
}

}  // namespace
}  // namespace tribo
