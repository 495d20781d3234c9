#include "tribo/io/mjcf/assets.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tribo/base/errors.h"
#include "tribo/collide/shapes/convex_hull.h"
#include "tribo/collide/shapes/triangle_mesh.h"

namespace tribo::detail {
namespace {

MeshData inline_mesh(const Attributes& attributes) {
  const SourceElement& element = attributes.element();
  const std::vector<double> numbers = parse_numbers(element, "vertex", attributes.text("vertex"));
  if (numbers.empty() || numbers.size() % 3 != 0)
    fail(element, "attribute 'vertex' must be triples of numbers");
  MeshData mesh;
  for (std::size_t k = 0; k < numbers.size(); k += 3) {
    mesh.vertices.emplace_back(to_single(numbers[k]), to_single(numbers[k + 1]), to_single(numbers[k + 2]));
  }
  const std::vector<double> faces = parse_numbers(element, "face", attributes.text("face"));
  if (faces.size() % 3 != 0) fail(element, "attribute 'face' must be triples of vertex numbers");
  for (std::size_t k = 0; k < faces.size(); k += 3) {
    std::array<Index, 3> triangle;
    for (std::size_t c = 0; c < 3; ++c) {
      const double corner = faces[k + c];
      if (!(corner >= 0.0 && corner < static_cast<double>(mesh.vertices.size()))) {
        fail(element,
             fmt::format("attribute 'face' names vertex {}, but there are {}", corner, mesh.vertices.size()));
      }
      triangle[c] = static_cast<Index>(corner);
    }
    mesh.triangles.push_back(triangle);
  }
  return mesh;
}

}  // namespace

// Where the file of an asset is. `with_folder`: its name with the folder that <compiler> names. MuJoCo's rule: the
// folder of the main file with meshdir, then, without meshdir, the folder of the file that names it.
std::filesystem::path find_asset(const SourceElement& element, const std::string& with_folder,
                                 const std::filesystem::path& main_folder) {
  const std::filesystem::path main = main_folder / with_folder;
  std::error_code error;
  if (std::filesystem::is_regular_file(main, error)) return main;
  const std::filesystem::path beside =
      std::filesystem::path(*element.file).parent_path() / element.text("file");
  return std::filesystem::is_regular_file(beside, error) ? beside : main;
}

MeshAsset::MeshAsset(Attributes attributes, std::filesystem::path file)
    : attributes_(std::move(attributes)), file_(std::move(file)) {
  mode_ = static_cast<MeshInertia>(attributes_.word("inertia", {"convex", "exact", "legacy", "shell"},
                                                    static_cast<int>(MeshInertia::legacy)));
}

bool MeshAsset::is_missing() const {
  std::error_code error;
  return !file_.empty() && !std::filesystem::is_regular_file(file_, error);
}

void MeshAsset::load() {
  if (data_) return;
  const SourceElement& element = attributes_.element();
  MeshData mesh;
  try {
    mesh = file_.empty() ? inline_mesh(attributes_) : read_mesh_file(file_);
  } catch (const InvalidInput& error) {
    if (file_.empty()) throw;
    fail(element, error.what());
  }
  const Vec3 position = attributes_.vector3("refpos", Vec3::Zero());
  const Vec3 scale = attributes_.vector3("scale", Vec3::Ones());
  std::array<double, 4> q{1.0, 0.0, 0.0, 0.0};
  attributes_.fill("refquat", q, 4);
  const Quat rotation(q[0], q[1], q[2], q[3]);
  if (!(rotation.norm() > 1e-10)) fail(element, "attribute 'refquat' must not be zero");
  const Mat3 turn = rotation.normalized().toRotationMatrix().transpose();
  for (Vec3& v : mesh.vertices) v = scale.cwiseProduct(turn * (v - position));
  // A mirrored mesh is inside out unless its triangles turn the other way.
  if (scale.prod() < 0.0) {
    for (auto& triangle : mesh.triangles) std::swap(triangle[1], triangle[2]);
  }
  for (const Vec3& v : mesh.vertices) {
    if (!v.allFinite()) fail(element, "the mesh is not finite after scaling");
  }
  try {
    if (mesh.triangles.empty()) mesh = hull_surface(mesh.vertices);
  } catch (const InvalidInput& error) {
    fail(element, error.what());
  }
  data_ = std::move(mesh);
}

const MeshData& MeshAsset::data() {
  load();
  return *data_;
}

const std::shared_ptr<const ConvexHull>& MeshAsset::hull() {
  if (hull_ == nullptr) {
    std::vector<Vec3> points = data().vertices;
    for (Vec3& p : points) p -= center();
    try {
      hull_ = ConvexHull::around(points);
    } catch (const InvalidInput& error) {
      fail(attributes_.element(), error.what());
    }
  }
  return hull_;
}

const std::shared_ptr<const TriangleMesh>& MeshAsset::surface() {
  if (surface_ == nullptr) surface_ = TriangleMesh::make(data().vertices, data().triangles);
  return surface_;
}

const VolumeMoments& MeshAsset::moments() {
  if (!moments_) moments_ = moments(mode_);
  return *moments_;
}

VolumeMoments MeshAsset::moments(MeshInertia mode) {
  try {
    return mesh_moments(data(), mode);
  } catch (const InvalidInput& error) {
    fail(attributes_.element(), error.what());
  }
}

void AssetTable::read(const SourceElement& section, const CompilerSettings& compiler,
                      const DefaultTable& defaults, const std::filesystem::path& folder, LoadLog& log) {
  for (const SourceElement& element : section.children) {
    if (element.name == "mesh") {
      read_mesh(element, compiler, defaults, folder, log);
    } else if (element.name == "hfield") {
      read_height_field(element, compiler, folder, log);
    } else if (element.name == "model") {
      const std::filesystem::path file = element.text("file");
      if (file.empty()) fail(element, "attribute 'file' is missing");
      const std::filesystem::path path = find_asset(element, compiler.asset_path(file.string()), folder);
      // Without a name it is called what the file calls itself.
      const std::string name = element.find("name") ? element.text("name")
                                                    : parse_xml(read_text(path, element), path).text("model");
      models_[name] = path;
    } else if (element.name == "texture" || element.name == "material") {
      read_look(element, defaults, log);
    } else if (element.name != "skin") {
      log.warn(element, "this asset is not supported and is ignored");
    }
  }
}

void AssetTable::read_mesh(const SourceElement& element, const CompilerSettings& compiler,
                           const DefaultTable& defaults, const std::filesystem::path& folder, LoadLog& log) {
  const auto layers = DefaultTable::layers(defaults.find(element.text("class"), element), "mesh");
  Attributes attributes(element, layers);
  attributes.check(
      log, {"name", "class", "file", "scale", "refpos", "refquat", "inertia", "vertex", "face"},
      {"content_type", "normal", "texcoord", "smoothnormal", "maxhullvert", "material", "octree_maxdepth"});
  const std::string file = element.text("file");
  std::string name = element.text("name");
  if (name.empty()) name = std::filesystem::path(file).stem().string();
  if (name.empty()) fail(element, "a mesh without a file needs a name");
  if (file.empty() && !attributes.has("vertex")) {
    log.warn(element, "meshes without attribute 'file' or 'vertex' are not supported");
  }
  if (!meshes_
           .try_emplace(name, std::move(attributes),
                        file.empty() ? "" : find_asset(element, compiler.mesh_path(file), folder))
           .second) {
    fail(element, fmt::format("there are two meshes '{}'", name));
  }
}

// Colours alone: of a texture that is made by numbers the mean of its two colours, of one from a file a light grey.
void AssetTable::read_look(const SourceElement& element, const DefaultTable& defaults, LoadLog& log) {
  try {
    const auto layers = DefaultTable::layers(defaults.find(element.text("class"), element), element.name);
    const Attributes attributes(element, layers);
    if (element.name == "material") {
      std::array<double, 4> rgba{1.0, 1.0, 1.0, 1.0};
      attributes.fill("rgba", rgba, 1);
      Color& color = materials_[element.text("name")];
      for (std::size_t k = 0; k < 4; ++k) color[k] = static_cast<float>(std::clamp(rgba[k], 0.0, 1.0));
      texture_of_[element.text("name")] = attributes.text("texture");
      return;
    }
    std::array<double, 3> first{0.8, 0.8, 0.8}, second{0.5, 0.5, 0.5};
    const std::string kind = attributes.text("builtin");
    attributes.fill("rgb1", first, 1);
    attributes.fill("rgb2", second, 1);
    if (kind != "checker" && kind != "gradient") second = first;
    Color& color = textures_[element.text("name")];
    for (std::size_t k = 0; k < 3; ++k) {
      color[k] = static_cast<float>(std::clamp(0.5 * (first[k] + second[k]), 0.0, 1.0));
    }
    color[3] = 1.0f;
  } catch (const InvalidInput& error) {
    log.warn(element, fmt::format("its colour is ignored: {}", error.what()));
  }
}

std::optional<Color> AssetTable::color(const std::string& material) const {
  const auto found = materials_.find(material);
  if (found == materials_.end()) return std::nullopt;
  Color color = found->second;
  const auto texture = textures_.find(texture_of_.at(material));
  if (texture == textures_.end()) return color;
  for (std::size_t k = 0; k < 4; ++k) color[k] *= texture->second[k];
  return color;
}

MeshAsset& AssetTable::mesh(const std::string& name, const SourceElement& asking) {
  const auto at = meshes_.find(name);
  if (at == meshes_.end()) fail(asking, fmt::format("there is no mesh '{}'", name));
  return at->second;
}

void AssetTable::read_height_field(const SourceElement& element, const CompilerSettings& compiler,
                                   const std::filesystem::path& folder, LoadLog& log) {
  const std::string file = element.text("file");
  std::string name = element.text("name");
  if (name.empty()) name = std::filesystem::path(file).stem().string();
  detail::read_height_field(element, name,
                            file.empty() ? "" : find_asset(element, compiler.mesh_path(file), folder), log,
                            height_fields_[name]);
}

const HeightFieldAsset& AssetTable::height_field(const std::string& name, const SourceElement& asking) const {
  const auto at = height_fields_.find(name);
  if (at == height_fields_.end()) fail(asking, fmt::format("there is no height field '{}'", name));
  return at->second;
}

const std::filesystem::path& AssetTable::model_file(const std::string& name,
                                                    const SourceElement& asking) const {
  const auto at = models_.find(name);
  if (at == models_.end()) fail(asking, fmt::format("there is no model '{}' to attach", name));
  return at->second;
}

}  // namespace tribo::detail
