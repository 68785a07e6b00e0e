// Functions of C++ whose names as linkers have them are hard to read: members, templates, operators, lambdas.
#include <map>
#include <string>
#include <vector>

#include "tests/host/native/traced.h"

namespace shop {

class Order {
 public:
  APART explicit Order(int count) : count_(count) {}
  APART ~Order() { count_ = 0; }
  APART int total(const std::vector<int>& prices, const std::string& note) const {
    int sum = count_;
    for (const int price : prices) sum += price;
    return sum + static_cast<int>(note.size());
  }
  APART bool operator<(const Order& other) const { return count_ < other.count_; }

 private:
  int count_;
};

template <class T, int kTimes>
APART T times(T value) {
  asm volatile("");
  return value * kTimes;
}

}  // namespace shop

namespace {

APART int of_this_file(const std::map<int, std::string>& names) {
  asm volatile("");
  return static_cast<int>(names.size());
}

}  // namespace

int main() {
  const shop::Order one(1), two(2);
  const auto add = [](int a, int b) __attribute__((noinline)) {
    asm volatile("");
    return a + b;
  };
  const int sum = one.total({1, 2, 3}, "ab") + shop::times<int, 3>(2) +
                  static_cast<int>(shop::times<double, 2>(1.5)) + of_this_file({{1, "a"}}) + add(1, 2);
  return one < two && sum == 9 + 6 + 3 + 1 + 3 ? 0 : 1;
}
