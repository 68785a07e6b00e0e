#include "tests/unit/agent/jvmti/model_vm.hpp"

#include <cstdlib>
#include <cstring>

namespace {

using jitquill::intake::jvmti::ClassRef;
using jitquill::intake::jvmti::Env;
using jitquill::intake::jvmti::LineStart;

constexpr std::int32_t kInvalidMethod = 23;
constexpr std::int32_t kAbsentInformation = 101;

ModelVm* g_vm = nullptr;

}  // namespace

struct ModelVm::Functions {
  static const Method* method(MethodId id) {
    for (const Method& known : g_vm->methods_) {
      if (&known == id) return &known;
    }
    return nullptr;
  }
  static void* allocate(std::size_t size) {
    ++g_vm->allocated_;
    return std::malloc(size);
  }
  static void give(const std::string& text, char** to) {
    if (to == nullptr) return;
    *to = static_cast<char*>(allocate(text.size() + 1));
    std::memcpy(*to, text.c_str(), text.size() + 1);
  }

  static std::int32_t deallocate(Env*, void* memory) {
    --g_vm->allocated_;
    std::free(memory);
    return 0;
  }
  static std::int32_t method_name(Env*, MethodId id, char** name, char** descriptor, char**) {
    ++g_vm->asked_names_;
    if (method(id) == nullptr) return kInvalidMethod;
    give(method(id)->name, name);
    give(method(id)->descriptor, descriptor);
    return 0;
  }
  // A class is known by one of its methods.
  static std::int32_t declaring_class(Env*, MethodId id, ClassRef* owner) {
    *owner = const_cast<void*>(id);
    return 0;
  }
  static std::int32_t class_signature(Env*, ClassRef owner, char** signature, char**) {
    give(method(owner)->owner, signature);
    return 0;
  }
  static std::int32_t source_file_name(Env*, ClassRef owner, char** name) {
    if (method(owner)->source.empty()) return kAbsentInformation;
    give(method(owner)->source, name);
    return 0;
  }
  static std::int32_t line_number_table(Env*, MethodId id, std::int32_t* count, LineStart** table) {
    const auto& starts = method(id)->line_starts;
    if (starts.empty()) return kAbsentInformation;
    *count = static_cast<std::int32_t>(starts.size());
    *table = static_cast<LineStart*>(allocate(starts.size() * sizeof(LineStart)));
    for (std::size_t i = 0; i < starts.size(); ++i) (*table)[i] = {starts[i].first, starts[i].second};
    return 0;
  }
};

ModelVm::ModelVm() {
  g_vm = this;
  const auto set = [&](int number, auto* function) {
    table_[number - 1] = reinterpret_cast<const void*>(function);
  };
  set(47, &Functions::deallocate);
  set(48, &Functions::class_signature);
  set(50, &Functions::source_file_name);
  set(64, &Functions::method_name);
  set(65, &Functions::declaring_class);
  set(70, &Functions::line_number_table);
}

ModelVm::~ModelVm() {
  g_vm = nullptr;
}

ModelVm::MethodId ModelVm::add(Method method) {
  return &methods_.emplace_back(std::move(method));
}
