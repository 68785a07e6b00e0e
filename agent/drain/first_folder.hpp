// The folder in which the outputs of run news were begun, also when others were opened behind it.
//
// Context   [drain]; `jitquill recover`. Any one thread.
// Promises  what was made here is opened again here.
// Does not  make files behind the start: the folder it stands for may be another by then.
#pragma once

#include "agent/base/folders.hpp"
#include "writer/sink/sink.hpp"

namespace jitquill::drain {

class FirstFolder final : public Folder {
 public:
  // `folder` outlives this.
  void stand_for(Folder& folder) noexcept {
    folder_ = &folder;
    path_ = folder.path();
  }
  int create(const char* name) noexcept override { return folder_->create(name); }
  int open_again(const char* name) noexcept override {
    return *path_ != '\0' ? folders::open_file(path_, name) : folder_->open_again(name);
  }
  void remove(const char* name) noexcept override { folder_->remove(name); }
  const char* path() const noexcept override { return path_; }

 private:
  Folder* folder_ = nullptr;
  const char* path_ = "";
};

}  // namespace jitquill::drain
