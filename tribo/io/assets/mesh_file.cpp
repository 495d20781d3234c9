#include "tribo/io/assets/mesh_file.h"

#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <fmt/format.h>

#include <algorithm>
#include <assimp/Importer.hpp>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "tribo/base/errors.h"
#include "tribo/io/assets/mesh_polygons.h"
#include "tribo/io/xml/source_xml.h"

namespace tribo::detail {
namespace {

constexpr std::size_t kMost = 10'000'000;

[[noreturn]] void damaged(const std::filesystem::path& file, const std::string& what) {
  throw InvalidInput(fmt::format("{}: {}", file.string(), what));
}

// Words of one line.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}
  std::string_view next() {
    const std::size_t begin = rest_.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return {};
    const std::size_t end = std::min(rest_.find_first_of(" \t\r", begin), rest_.size());
    const std::string_view word = rest_.substr(begin, end - begin);
    rest_.remove_prefix(end);
    return word;
  }
  bool number(double& value) {
    std::string_view word = next();
    if (!word.empty() && word.front() == '+') word.remove_prefix(1);
    const auto [at, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error == std::errc::result_out_of_range) value = 0.0;  // 1e-400 in an exporter's noise
    return !word.empty() && at == word.data() + word.size() && error != std::errc::invalid_argument;
  }

 private:
  std::string_view rest_;
};

template <class Use>
void for_each_line(std::string_view text, Use use) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    use(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

Vec3 point(Words& words, const std::filesystem::path& file) {
  Vec3 p;
  for (int k = 0; k < 3; ++k) {
    if (!words.number(p[k])) damaged(file, "a vertex is not three numbers");
  }
  // Single precision, the precision of all other mesh formats and of everybody else's readers.
  return {to_single(p.x()), to_single(p.y()), to_single(p.z())};
}

std::vector<Index> read_corners(Words& words, const MeshData& mesh, const std::filesystem::path& file) {
  std::vector<Index> corners;
  for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
    Index index = 0;
    std::from_chars(word.data(), word.data() + word.size(), index);
    // Counted from 1, or backwards from the vertex read last.
    const std::int64_t count = static_cast<std::int64_t>(mesh.vertices.size());
    const std::int64_t corner = index < 0 ? count + index : std::int64_t{index} - 1;
    if (corner < 0 || corner >= static_cast<std::int64_t>(kMost)) damaged(file, "a face names no vertex");
    corners.push_back(static_cast<Index>(corner));
  }
  return corners;
}

// All vertices; the faces of the first object or group that has any, like MuJoCo, so that inertias are the same.
MeshData read_obj(std::string_view text, const std::filesystem::path& file) {
  MeshData mesh;
  std::vector<std::vector<Index>> polygons;
  bool first_group = true;
  for_each_line(text, [&](std::string_view line) {
    Words words(line);
    const std::string_view kind = words.next();
    if (kind == "v") {
      mesh.vertices.push_back(point(words, file));
    } else if (kind == "o" || kind == "g") {
      first_group = first_group && polygons.empty();
    } else if (kind == "f" && first_group) {
      polygons.push_back(read_corners(words, mesh, file));
    }
  });
  // A face may come before its vertices.
  const auto count = static_cast<Index>(mesh.vertices.size());
  for (const std::vector<Index>& corners : polygons) {
    for (const Index corner : corners) {
      if (corner >= count) {
        damaged(file, fmt::format("a face names vertex {}, but there are {}", corner, count));
      }
    }
    triangulate(corners, mesh.vertices, mesh.triangles);
  }
  return mesh;
}

template <class T>
T take(std::string_view bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

Vec3 take_point(std::string_view bytes, std::size_t at) {
  return {take<float>(bytes, at), take<float>(bytes, at + 4), take<float>(bytes, at + 8)};
}

void add_triangle(MeshData& mesh) {
  const Index last = static_cast<Index>(mesh.vertices.size());
  mesh.triangles.push_back({last - 3, last - 2, last - 1});
}

MeshData read_stl(std::string_view bytes, const std::filesystem::path& file) {
  MeshData mesh;
  const std::size_t count = bytes.size() >= 84 ? take<std::uint32_t>(bytes, 80) : 0;
  if (bytes.size() >= 84 && bytes.size() >= 84 + 50 * count && (count > 0 || !bytes.starts_with("solid"))) {
    if (count > kMost) damaged(file, "too many triangles");
    for (std::size_t t = 0; t < count; ++t) {
      for (std::size_t k = 0; k < 3; ++k)
        mesh.vertices.push_back(take_point(bytes, 84 + 50 * t + 12 + 12 * k));
      add_triangle(mesh);
    }
    return mesh;
  }
  if (!bytes.starts_with("solid")) damaged(file, "the STL file is shorter than its number of triangles says");
  for_each_line(bytes, [&](std::string_view line) {
    Words words(line);
    if (words.next() != "vertex") return;
    mesh.vertices.push_back(point(words, file));
    if (mesh.vertices.size() % 3 == 0) add_triangle(mesh);
  });
  return mesh;
}

MeshData read_msh(std::string_view bytes, const std::filesystem::path& file) {
  if (bytes.size() < 16) damaged(file, "the MSH file is shorter than its header");
  std::array<std::uint64_t, 4> count;  // vertices, normals, texture coordinates, faces
  for (std::size_t k = 0; k < 4; ++k) {
    const auto n = take<std::int32_t>(bytes, 4 * k);
    if (n < 0 || static_cast<std::size_t>(n) > kMost)
      damaged(file, "the counts in the header are impossible");
    count[k] = static_cast<std::uint64_t>(n);
  }
  const std::uint64_t faces = 16 + 12 * count[0] + 12 * count[1] + 8 * count[2];
  if (bytes.size() != faces + 12 * count[3]) damaged(file, "the size does not fit the counts in the header");
  MeshData mesh;
  for (std::uint64_t v = 0; v < count[0]; ++v) mesh.vertices.push_back(take_point(bytes, 16 + 12 * v));
  for (std::uint64_t f = 0; f < count[3]; ++f) {
    std::array<Index, 3> triangle;
    for (std::size_t k = 0; k < 3; ++k) triangle[k] = take<std::int32_t>(bytes, faces + 12 * f + 4 * k);
    mesh.triangles.push_back(triangle);
  }
  return mesh;
}

void add_node(const aiScene& scene, const aiNode& node, const aiMatrix4x4& outer, MeshData& mesh) {
  const aiMatrix4x4 placed = outer * node.mTransformation;
  for (unsigned m = 0; m < node.mNumMeshes; ++m) {
    if (node.mMeshes[m] >= scene.mNumMeshes) continue;
    const aiMesh& part = *scene.mMeshes[node.mMeshes[m]];
    const Index first = static_cast<Index>(mesh.vertices.size());
    for (unsigned v = 0; v < part.mNumVertices; ++v) {
      const aiVector3D p = placed * part.mVertices[v];
      mesh.vertices.emplace_back(p.x, p.y, p.z);
    }
    for (unsigned f = 0; f < part.mNumFaces; ++f) {
      const aiFace& face = part.mFaces[f];
      if (face.mNumIndices != 3) continue;
      mesh.triangles.push_back({first + static_cast<Index>(face.mIndices[0]),
                                first + static_cast<Index>(face.mIndices[1]),
                                first + static_cast<Index>(face.mIndices[2])});
    }
  }
  for (unsigned c = 0; c < node.mNumChildren; ++c) add_node(scene, *node.mChildren[c], placed, mesh);
}

MeshData read_with_assimp(const std::string& bytes, const std::string& extension,
                          const std::filesystem::path& file) {
  Assimp::Importer importer;
  // Robot files mean the coordinates as written, whatever axis a Collada file calls up.
  importer.SetPropertyBool(AI_CONFIG_IMPORT_COLLADA_IGNORE_UP_DIRECTION, true);
  const aiScene* scene = importer.ReadFileFromMemory(
      bytes.data(), bytes.size(), aiProcess_Triangulate | aiProcess_ValidateDataStructure, extension.c_str());
  if (scene == nullptr || scene->mRootNode == nullptr) {
    damaged(file, fmt::format("assimp cannot read the mesh ({})", importer.GetErrorString()));
  }
  MeshData mesh;
  add_node(*scene, *scene->mRootNode, aiMatrix4x4(), mesh);
  return mesh;
}

void check(const MeshData& mesh, const std::filesystem::path& file) {
  if (mesh.vertices.empty()) damaged(file, "the mesh has no vertices");
  if (mesh.vertices.size() > kMost || mesh.triangles.size() > kMost) damaged(file, "the mesh is too large");
  for (const Vec3& v : mesh.vertices) {
    if (!(v.cwiseAbs().maxCoeff() < 1e9)) damaged(file, "a vertex is not finite or beyond 1e9");
  }
  for (const auto& triangle : mesh.triangles) {
    for (const Index corner : triangle) {
      if (corner < 0 || static_cast<std::size_t>(corner) >= mesh.vertices.size()) {
        damaged(file, fmt::format("a face names vertex {}, but there are {}", corner, mesh.vertices.size()));
      }
    }
  }
}

}  // namespace

MeshData read_mesh_file(const std::filesystem::path& file) {
  const std::string bytes = read_text(file);
  std::string extension = file.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
  MeshData mesh;
  if (extension == ".obj") {
    mesh = read_obj(bytes, file);
  } else if (extension == ".stl") {
    mesh = read_stl(bytes, file);
  } else if (extension == ".msh") {
    mesh = read_msh(bytes, file);
  } else {
    mesh = read_with_assimp(bytes, extension.empty() ? extension : extension.substr(1), file);
  }
  check(mesh, file);
  return mesh;
}

}  // namespace tribo::detail
