// How methods and files are called: in the way that Java's own stack traces and tools show them.
//
// Context   [notify].
// Promises  bounded time and memory for whatever the VM says; a text that is no descriptor is shown as far as
//           it is one. Null where the scratch memory has no more.
#pragma once

#include <string_view>

#include "agent/intake/jvmti/scratch.hpp"

namespace jitquill::intake::jvmti {

// "Ljava/util/Map;", "merge", "(Ljava/lang/Object;[I)V" -> "java.util.Map.merge(Object,int[])". Parameters
// tell overloaded methods apart; their types without packages keep names short.
const char* method_name(Scratch& scratch, std::string_view class_signature, std::string_view method,
                        std::string_view descriptor) noexcept;

// "Ljava/util/Map$Entry;", "Map.java" -> "java/util/Map.java", as below the root of a source tree. Without a
// source file the class's own: "java/util/Map$Entry.class".
const char* source_path(Scratch& scratch, std::string_view class_signature,
                        std::string_view source_file) noexcept;

}  // namespace jitquill::intake::jvmti
