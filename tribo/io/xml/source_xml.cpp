#include "tribo/io/xml/source_xml.h"

#include <fmt/format.h>
#include <tinyxml2.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "tribo/base/errors.h"

namespace tribo::detail {
namespace {

constexpr std::uintmax_t kLargestFile = std::uintmax_t{1} << 30;

SourceElement copy(const tinyxml2::XMLElement& element, const std::shared_ptr<const std::string>& file) {
  SourceElement result;
  result.name = element.Name();
  result.file = file;
  result.line = element.GetLineNum();
  for (const auto* a = element.FirstAttribute(); a != nullptr; a = a->Next()) {
    result.attributes.emplace_back(a->Name(), a->Value());
  }
  for (const auto* c = element.FirstChildElement(); c != nullptr; c = c->NextSiblingElement()) {
    result.children.push_back(copy(*c, file));
  }
  return result;
}

}  // namespace

const std::string* SourceElement::find(std::string_view attribute) const {
  for (const auto& [key, value] : attributes) {
    if (key == attribute) return &value;
  }
  return nullptr;
}

std::string SourceElement::text(std::string_view attribute) const {
  const std::string* found = find(attribute);
  return found != nullptr ? *found : std::string();
}

void fail(const SourceElement& element, const std::string& message) {
  throw InvalidInput(fmt::format("{}:{}: <{}>: {}", *element.file, element.line, element.name, message));
}

void LoadLog::leave_out(const SourceElement& element, const std::string& message) {
  if (!allow_missing_) {
    fail(element, message +
                      "; to load the model without it, allow that (tribo sim --allow-missing, "
                      "LoadOptions::allow_missing)");
  }
  warn(element, message + "; it is left out");
}

void LoadLog::warn(const SourceElement& element, const std::string& message) {
  warn(*element.file, element.line, fmt::format("<{}>: {}", element.name, message));
}

void LoadLog::warn(const std::string& file, int line, const std::string& message) {
  if (strict_) throw InvalidInput(fmt::format("{}:{}: {} (strict loading)", file, line, message));
  if (seen_.insert({file, line, message}).second) report_.warnings.push_back({file, line, message});
}

void LoadLog::check_attributes(const SourceElement& element, std::initializer_list<std::string_view> used,
                               std::initializer_list<std::string_view> harmless) {
  for (const auto& [key, value] : element.attributes) {
    if (std::find(used.begin(), used.end(), key) == used.end() &&
        std::find(harmless.begin(), harmless.end(), key) == harmless.end()) {
      warn(element, fmt::format("attribute '{}' is not supported and is ignored", key));
    }
  }
}

std::string read_text(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) {
    throw InvalidInput(fmt::format("{}: there is no such file", file.string()));
  }
  const std::uintmax_t size = std::filesystem::file_size(file, error);
  if (error || size > kLargestFile) {
    throw InvalidInput(fmt::format("{}: the file is larger than 1 GiB", file.string()));
  }
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw InvalidInput(fmt::format("{}: the file cannot be opened", file.string()));
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::string read_text(const std::filesystem::path& file, const SourceElement& asking) {
  try {
    return read_text(file);
  } catch (const InvalidInput& error) {
    fail(asking, error.what());
  }
}

SourceElement parse_xml(const std::string& text, const std::filesystem::path& file) {
  tinyxml2::XMLDocument document;
  if (document.Parse(text.data(), text.size()) != tinyxml2::XML_SUCCESS) {
    throw InvalidInput(fmt::format("{}:{}: not well-formed XML ({})", file.string(), document.ErrorLineNum(),
                                   document.ErrorName()));
  }
  const tinyxml2::XMLElement* root = document.RootElement();
  if (root == nullptr) throw InvalidInput(fmt::format("{}:1: the file has no element", file.string()));
  return copy(*root, std::make_shared<const std::string>(file.string()));
}

}  // namespace tribo::detail
