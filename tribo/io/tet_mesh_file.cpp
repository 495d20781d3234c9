#include "tribo/io/tet_mesh_file.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <string>

#include "tribo/base/errors.h"
#include "tribo/io/volumes/gmsh_file.h"
#include "tribo/io/volumes/vtk_file.h"
#include "tribo/io/volumes/word_stream.h"
#include "tribo/io/xml/source_xml.h"

namespace tribo {

namespace {

std::string ending_of(const std::filesystem::path& file) {
  std::string ending = file.extension().string();
  for (char& c : ending) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return ending;
}

}  // namespace

TetMesh read_tet_mesh(const std::filesystem::path& file, double scale) {
  if (!(std::isfinite(scale) && scale > 0.0)) {
    throw InvalidInput(fmt::format("scale of {} is {}: it must be finite and > 0", file.string(), scale));
  }
  const std::string ending = ending_of(file);
  if (ending != ".msh" && ending != ".vtk" && ending != ".vtu") {
    throw InvalidInput(
        fmt::format("{}: meshes of tetrahedra are read from .msh, .vtk and .vtu", file.string()));
  }
  const std::string text = detail::read_text(file);
  TetMesh mesh = ending == ".msh"   ? detail::read_gmsh(text, file)
                 : ending == ".vtk" ? detail::read_vtk(text, file)
                                    : detail::read_vtu(text, file);
  for (const TetMesh::Tet& tet : mesh.tets) {
    for (const Index n : tet) {
      if (n < 0 || n >= mesh.node_count()) {
        throw InvalidInput(
            fmt::format("{}: a cell names point {}, but there are {}", file.string(), n, mesh.node_count()));
      }
    }
  }
  for (Vec3& node : mesh.nodes) node *= scale;
  remove_loose_nodes(mesh);
  complete(mesh, file.string() + ": the mesh");
  return mesh;
}

void write_vtu(const std::filesystem::path& file, const TetMesh& mesh) {
  std::string text = fmt::format(
      "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\">\n<UnstructuredGrid>\n"
      "<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n<Points>\n"
      "<DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"ascii\">\n",
      mesh.nodes.size(), mesh.tets.size());
  for (const Vec3& x : mesh.nodes) text += fmt::format("{} {} {}\n", x.x(), x.y(), x.z());
  text +=
      "</DataArray>\n</Points>\n<Cells>\n<DataArray type=\"Int64\" Name=\"connectivity\" format=\"ascii\">\n";
  for (const TetMesh::Tet& tet : mesh.tets)
    text += fmt::format("{} {} {} {}\n", tet[0], tet[1], tet[2], tet[3]);
  text += "</DataArray>\n<DataArray type=\"Int64\" Name=\"offsets\" format=\"ascii\">\n";
  for (std::size_t e = 1; e <= mesh.tets.size(); ++e) text += fmt::format("{}\n", 4 * e);
  text += "</DataArray>\n<DataArray type=\"UInt8\" Name=\"types\" format=\"ascii\">\n";
  for (std::size_t e = 0; e < mesh.tets.size(); ++e) text += "10\n";
  text += "</DataArray>\n</Cells>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n";
  std::ofstream out(file, std::ios::binary);
  out << text;
  if (!out.flush()) throw InvalidInput(fmt::format("{}: it cannot be written", file.string()));
}

}  // namespace tribo
