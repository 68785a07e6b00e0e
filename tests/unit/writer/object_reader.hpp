// What libelf and libdw, which are not ours, read in an object that was made for a debugger.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace jitquill::tests {

struct Symbol {
  std::string name;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  auto operator<=>(const Symbol&) const = default;
};

struct SourcePlace {
  std::string file;
  int line = 0;
  int column = 0;
  bool operator==(const SourcePlace&) const = default;
};

class ObjectReader {
 public:
  // The image must outlive the reader.
  explicit ObjectReader(std::span<const std::uint8_t> image);
  ~ObjectReader();
  ObjectReader(const ObjectReader&) = delete;
  ObjectReader& operator=(const ObjectReader&) = delete;

  // Named functions; each must lie in a section of code that covers it.
  std::set<Symbol> symbols() const;
  // The functions of the debug information.
  std::set<Symbol> scopes() const;
  std::optional<SourcePlace> source_of(std::uint64_t address) const;
  // How far the CFA is above rsp at the address.
  std::optional<std::uint64_t> cfa_above_rsp(std::uint64_t address) const;
  bool has_section(const std::string& name) const;
  std::size_t code_sections() const;

 private:
  struct Handles;
  std::unique_ptr<Handles> handles_;
};

}  // namespace jitquill::tests
