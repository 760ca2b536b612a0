#include "tools/examples/char_text.h"

#include <ATen/ops/full.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

namespace trainyard {
namespace {

namespace fs = std::filesystem;

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  TORCH_CHECK_VALUE(file.good(), "cannot read ", path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<fs::path> FilesOf(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(path)) {
    // A link would read the same text twice.
    if (entry.is_regular_file() && !entry.is_symlink()) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Paragraphs are separated by empty lines; their lines are joined, and blanks
// collapsed.
std::vector<std::string> Paragraphs(const std::string& text, size_t length) {
  std::vector<std::string> paragraphs(1);
  bool line_is_empty = true;
  for (const char c : text) {
    std::string& last = paragraphs.back();
    if (c == '\n' && line_is_empty) {
      if (!last.empty()) paragraphs.emplace_back();
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\f') {
      if (!last.empty() && last.back() != ' ') last += ' ';
      if (c == '\n') line_is_empty = true;
    } else {
      last += c;
      line_is_empty = false;
    }
    // A blank at the limit belongs to the paragraph.
    if (paragraphs.back().size() == length) paragraphs.emplace_back();
  }
  std::erase_if(paragraphs,
                [](const std::string& item) { return item.size() < 2; });
  return paragraphs;
}

at::Tensor Numbered(const std::vector<std::string>& paragraphs,
                    const std::string& alphabet, int64_t length) {
  const auto rows = static_cast<int64_t>(paragraphs.size());
  at::Tensor numbers = at::full({rows, length + 1}, kPadding, at::kLong);
  for (int64_t row = 0; row < rows; ++row) {
    // The first number stays kPadding: it marks the start of a paragraph.
    int64_t* to = numbers.mutable_data_ptr<int64_t>() + row * (length + 1) + 1;
    for (const char c : paragraphs[row]) {
      *to++ = static_cast<int64_t>(alphabet.find(c)) + 1;
    }
  }
  return numbers;
}

}  // namespace

std::string CharText::Decode(const std::vector<int64_t>& numbers) const {
  std::string text;
  for (const int64_t number : numbers) {
    if (number != kPadding) text += alphabet.at(number - 1);
  }
  return text;
}

std::string PrintableAscii() {
  std::string characters;
  for (char c = ' '; c <= '~'; ++c) characters += c;
  return characters;
}

CharText ReadCharText(const std::string& path, int64_t length,
                      const std::string& alphabet) {
  TORCH_CHECK_VALUE(length >= 2, "length is ", length,
                    "; it must be at least 2");
  std::vector<std::string> parts[2];
  std::set<char> characters;
  size_t count = 0;
  for (const fs::path& file : FilesOf(path)) {
    std::string content = ReadFile(file);
    if (!alphabet.empty()) {
      std::erase_if(content, [&](char c) {
        return c != '\n' && alphabet.find(c) == std::string::npos;
      });
    }
    for (std::string& paragraph :
         Paragraphs(content, static_cast<size_t>(length))) {
      characters.insert(paragraph.begin(), paragraph.end());
      parts[++count % 10 == 0].push_back(std::move(paragraph));
    }
  }
  TORCH_CHECK_VALUE(count >= 10, path, " has ", count,
                    " paragraphs; there must be at least 10");
  CharText text{.alphabet = alphabet};
  if (alphabet.empty()) {
    text.alphabet.assign(characters.begin(), characters.end());
  }
  text.train = Numbered(parts[0], text.alphabet, length);
  text.test = Numbered(parts[1], text.alphabet, length);
  return text;
}

}  // namespace trainyard
