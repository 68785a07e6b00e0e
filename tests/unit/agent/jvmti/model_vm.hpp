// A Java VM's tool interface in small: the functions that methods are asked for by, at the numbers of the
// specification.
//
// Context   tests; one at a time.
// Promises  what it allocates is counted until it is given back.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "agent/intake/jvmti/interface.hpp"

class ModelVm {
 public:
  using MethodId = jitquill::intake::jvmti::MethodId;

  struct Method {
    std::string owner;  // a signature
    std::string name;
    std::string descriptor;
    std::string source;                                     // empty: absent
    std::vector<std::pair<std::int64_t, int>> line_starts;  // bytecode, line; empty: absent
  };

  ModelVm();
  ~ModelVm();
  ModelVm(const ModelVm&) = delete;
  ModelVm& operator=(const ModelVm&) = delete;

  MethodId add(Method method);
  jitquill::intake::jvmti::Env& env() { return env_; }
  int asked_names() const { return asked_names_; }
  int not_given_back() const { return allocated_; }

 private:
  struct Functions;

  const void* table_[160] = {};
  jitquill::intake::jvmti::Env env_{table_};
  std::deque<Method> methods_;
  int asked_names_ = 0;
  int allocated_ = 0;
};
