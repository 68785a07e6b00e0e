// Calls by chance, some of which throw through some and are caught by others: the tree that the program notes
// itself is the one that has to come out.
#include <vector>

#include "tests/host/native/subjects/subject.h"

namespace {

struct Node {
  const char* name;
  bool is_unwound;
  bool opens;   // has a callee
  int closers;  // brackets behind it
};

std::vector<Node> g_nodes;
std::vector<size_t> g_open;  // functions
uint64_t g_random = 88172645463325252ULL;
long g_left;

UNTRACED unsigned chance(unsigned below) {
  g_random ^= g_random << 13;
  g_random ^= g_random >> 7;
  g_random ^= g_random << 17;
  return static_cast<unsigned>(g_random >> 33) % below;
}

// Of each traced function: stands in its frame, so that it knows how that ends.
class Here {
 public:
  UNTRACED explicit Here(const char* name) : own_(g_nodes.size()) {
    if (!g_open.empty()) g_nodes[g_open.back()].opens = true;
    g_nodes.push_back({name, true, false, 0});
    g_open.push_back(own_);
  }
  UNTRACED ~Here() {
    g_open.pop_back();
    if (g_nodes[own_].opens) ++g_nodes.back().closers;
  }
  UNTRACED void returns() { g_nodes[own_].is_unwound = false; }

 private:
  size_t own_;
};

struct Thrown {};

}  // namespace

CALL int call_any(int depth);

#define FUNCTION(name, ...)  \
  CALL int name(int depth) { \
    COUNT(name);             \
    Here here(#name);        \
    int result = depth;      \
    __VA_ARGS__;             \
    here.returns();          \
    KEEP_FRAME;              \
    return result;           \
  }

FUNCTION(call_leaf, )
FUNCTION(call_once, result += call_any(depth + 1))
FUNCTION(call_twice, result += call_any(depth + 1) + call_any(depth + 1))
FUNCTION(call_many, for (unsigned i = chance(5); i > 0; --i) result += call_any(depth + 1))
FUNCTION(call_thrower, throw Thrown())
FUNCTION(
    call_catcher, try { result += call_any(depth + 1); } catch (const Thrown&) { result += 1; })
FUNCTION(
    call_rethrower, try { result += call_any(depth + 1); } catch (const Thrown&) {
      result += call_leaf(depth + 1);
      if (chance(2) == 0) throw;
    })
FUNCTION(call_any, {
  static int (*const kFunctions[])(int) = {call_leaf,    call_once,    call_twice,    call_many,
                                           call_thrower, call_catcher, call_rethrower};
  if (g_left > 0 && depth < 60) {
    --g_left;
    result += kFunctions[chance(7)](depth + 1);
  }
})

UNTRACED int main(int argc, char** argv) {
  g_left = 500 * scale(argc, argv);
  while (g_left > 0) {
    try {
      call_catcher(0);
    } catch (const Thrown&) {
    }
  }
  tell_counts();
  // clang's calls do not tell of exceptions, nor of slots: where the next function's caller is can be told of
  // slots only.
#if defined(__clang__) && defined(WAY_cyg)
  return 0;
#endif
  fputs("tree", stdout);
  bool is_next = true;
  for (const Node& node : g_nodes) {
    printf("%s%s%s", is_next ? " " : "", node.name, node.is_unwound ? UNWOUND : "");
    if (node.opens) fputs("(", stdout);
    is_next = !node.opens;
    for (int i = node.closers; i > 0; --i) fputs(")", stdout);
  }
  puts("");
  return 0;
}
