#include "nib/checker.hpp"

#include <string>
#include <unordered_map>
#include <utility>

namespace nib {
namespace {

std::string quoted(std::string_view name) {
  return "'" + std::string(name) + "'";
}

std::string count_of(std::size_t count, std::string_view what) {
  return std::to_string(count) + " " + std::string(what) + (count == 1 ? "" : "s");
}

bool is_true_literal(const Expression& expression) noexcept {
  const auto* literal = std::get_if<BoolLiteral>(&expression.node);
  return literal != nullptr && literal->value;
}

using FunctionTable = std::unordered_map<std::string_view, std::uint32_t>;

// Checks one function.
class FunctionChecker {
 public:
  FunctionChecker(const Program& program, const FunctionTable& table, Function& function,
                  Diagnostics& diagnostics)
      : program_(program), table_(table), function_(function), diagnostics_(diagnostics) {}

  void run() {
    for (std::uint32_t i = 0; i < function_.parameter_count; ++i) {
      bind(function_.variables[i].name, function_.parameter_places[i], i);
    }
    check_statements(function_.body);
    if (function_.result != Type::kNone && !function_.body.is_final) {
      diagnostics_.error(function_.end, "function " + quoted(function_.name) + " can end without 'return'");
    }
  }

 private:
  struct Binding {
    std::string_view name;
    std::uint32_t variable;
  };

  struct Loop {
    bool has_break = false;
  };

  // ---- Names ----

  void bind(std::string_view name, Position at, std::uint32_t variable) {
    for (std::size_t i = scope_start_; i < bindings_.size(); ++i) {
      if (bindings_[i].name == name) {
        diagnostics_.error(at, quoted(name) + " is already defined in this block");
      }
    }
    bindings_.push_back({name, variable});
  }

  const Binding* find(std::string_view name, Position at) {
    for (auto i = bindings_.rbegin(); i != bindings_.rend(); ++i) {
      if (i->name == name) return &*i;
    }
    const bool is_function = table_.contains(name);
    diagnostics_.error(at, is_function ? quoted(name) + " is a function; call it with '(...)'"
                                       : "no variable " + quoted(name));
    return nullptr;
  }

  // ---- Statements ----

  void check_block(Block& block) {
    const std::size_t outer_start = std::exchange(scope_start_, bindings_.size());
    check_statements(block);
    bindings_.resize(scope_start_);
    scope_start_ = outer_start;
  }

  void check_statements(Block& block) {
    for (Statement& statement : block.statements) {
      statement.is_final =
          std::visit([&](auto& node) { return check_node(node, statement.at); }, statement.node);
      block.is_final = block.is_final || statement.is_final;
    }
  }

  // Each check_node() returns whether control never reaches the next statement.

  bool check_node(Block& block, Position) {
    check_block(block);
    return block.is_final;
  }

  bool check_node(Declaration& declaration, Position at) {
    const Type found = require_value(*declaration.value);
    if (declaration.type == Type::kAny) {
      declaration.type = found;
    } else {
      require(*declaration.value, declaration.type);
    }
    declaration.variable = static_cast<std::uint32_t>(function_.variables.size());
    function_.variables.push_back(
        {.name = declaration.name, .type = declaration.type, .is_mutable = declaration.is_mutable});
    bind(declaration.name, at, declaration.variable);
    return false;
  }

  bool check_node(Assignment& assignment, Position at) {
    const Binding* binding = find(assignment.name, at);
    require_value(*assignment.value);
    if (binding == nullptr) return false;
    assignment.variable = binding->variable;
    const Variable& variable = function_.variables[binding->variable];
    if (!variable.is_mutable) {
      diagnostics_.error(at, quoted(variable.name) + " was defined with 'let' and cannot be assigned");
    }
    require(*assignment.value, variable.type);
    return false;
  }

  bool check_node(ElementAssignment& assignment, Position) {
    const Type element = check(*assignment.target);
    require_value(*assignment.value);
    require(*assignment.value, element);
    return false;
  }

  bool check_node(CallStatement& statement, Position) {
    check(*statement.call);
    return false;
  }

  bool check_node(Print& print, Position) {
    if (require_value(*print.value).is_array()) {
      diagnostics_.error(print.value->at, "an array cannot be printed");
    }
    return false;
  }

  bool check_node(If& statement, Position) {
    bool is_final = true;
    for (Branch& branch : statement.branches) {
      check_condition(*branch.condition);
      check_block(branch.body);
      is_final = is_final && branch.body.is_final;
    }
    check_block(statement.otherwise);
    return is_final && statement.otherwise.is_final;
  }

  bool check_node(While& statement, Position) {
    check_condition(*statement.condition);
    loops_.push_back({});
    check_block(statement.body);
    const Loop loop = loops_.back();
    loops_.pop_back();
    return is_true_literal(*statement.condition) && !loop.has_break;
  }

  bool check_node(Return& statement, Position at) {
    if (statement.value == nullptr) {
      if (function_.result != Type::kNone) {
        diagnostics_.error(at, "'return' needs a value of type " + name_of(function_.result));
      }
      return true;
    }
    require_value(*statement.value);
    if (function_.result == Type::kNone) {
      diagnostics_.error(statement.value->at, "function " + quoted(function_.name) + " has no result");
    } else {
      require(*statement.value, function_.result);
    }
    return true;
  }

  bool check_node(Fail&, Position) { return true; }

  bool check_node(Break&, Position at) {
    if (loops_.empty()) {
      diagnostics_.error(at, "'break' outside of a loop");
    } else {
      loops_.back().has_break = true;
    }
    return true;
  }

  bool check_node(Continue&, Position at) {
    if (loops_.empty()) diagnostics_.error(at, "'continue' outside of a loop");
    return true;
  }

  void check_condition(Expression& condition) {
    require_value(condition);
    require(condition, Type::kBool);
  }

  // ---- Expressions ----

  // Reports an expression, already checked, of another type.
  void require(Expression& expression, Type wanted) {
    if (expression.type == wanted || expression.type == Type::kAny || wanted == Type::kAny) return;
    diagnostics_.error(expression.at, "expected " + name_of(wanted) + ", found " + name_of(expression.type));
    expression.type = Type::kAny;
  }

  Type require_value(Expression& expression) {
    if (check(expression) == Type::kNone) {
      diagnostics_.error(expression.at,
                         "function " + quoted(std::get<Call>(expression.node).name) + " has no result");
      expression.type = Type::kAny;
    }
    return expression.type;
  }

  Type check(Expression& expression) {
    expression.type = std::visit([&](auto& node) { return type_of(node, expression.at); }, expression.node);
    return expression.type;
  }

  Type type_of(IntLiteral&, Position) { return Type::kInt; }
  Type type_of(BoolLiteral&, Position) { return Type::kBool; }

  Type type_of(VariableUse& use, Position at) {
    const Binding* binding = find(use.name, at);
    if (binding == nullptr) return Type::kAny;
    use.variable = binding->variable;
    return function_.variables[use.variable].type;
  }

  Type type_of(Unary& unary, Position) {
    const Type type = unary.op == UnaryOperator::kNot ? Type::kBool : Type::kInt;
    require_value(*unary.operand);
    require(*unary.operand, type);
    return type;
  }

  Type type_of(Binary& binary, Position at) {
    const BinaryRow& row = row_of(binary.op);
    const Type left = require_value(*binary.left);
    const Type right = require_value(*binary.right);
    if (row.operands == Type::kAny && (left.is_array() || right.is_array())) {
      diagnostics_.error(at, "arrays cannot be compared");
      return row.result;
    }
    require(*binary.left, row.operands);
    require(*binary.right, row.operands == Type::kAny ? left : row.operands);
    return row.result;
  }

  // The type of its elements; any type when it is no array.
  Type require_array(Expression& array) {
    const Type type = require_value(array);
    if (type.is_array()) return type.element();
    if (type != Type::kAny) diagnostics_.error(array.at, "expected an array, found " + name_of(type));
    return Type::kAny;
  }

  Type type_of(Index& access, Position) {
    const Type element = require_array(*access.array);
    require_value(*access.index);
    require(*access.index, Type::kInt);
    return element;
  }

  Type type_of(Length& length, Position) {
    require_array(*length.array);
    return Type::kInt;
  }

  Type type_of(NewArray& created, Position) {
    require_value(*created.length);
    require(*created.length, Type::kInt);
    const Type element = require_value(*created.element);
    return element == Type::kAny ? element : element.array();
  }

  Type type_of(Call& call, Position at) {
    for (const ExpressionPtr& argument : call.arguments) require_value(*argument);
    const auto found = table_.find(call.name);
    if (found == table_.end()) {
      diagnostics_.error(at, "no function " + quoted(call.name));
      return Type::kAny;
    }
    call.function = found->second;
    const Function& callee = program_.functions[call.function];
    if (call.arguments.size() != callee.parameter_count) {
      diagnostics_.error(at, "function " + quoted(call.name) + " takes " +
                                 count_of(callee.parameter_count, "argument") + ", not " +
                                 std::to_string(call.arguments.size()));
      return callee.result;
    }
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      require(*call.arguments[i], callee.variables[i].type);
    }
    return callee.result;
  }

  const Program& program_;
  const FunctionTable& table_;
  Function& function_;
  Diagnostics& diagnostics_;
  std::vector<Binding> bindings_;
  std::size_t scope_start_ = 0;
  std::vector<Loop> loops_;
};

}  // namespace

std::string name_of(Type type) {
  static constexpr std::string_view kNames[] = {"nothing", "int", "bool", "any type"};
  return std::string(type.depth, '[')
      .append(kNames[static_cast<std::size_t>(type.scalar)])
      .append(type.depth, ']');
}

void check(Program& program, Diagnostics& diagnostics) {
  FunctionTable table;
  for (std::uint32_t i = 0; i < program.functions.size(); ++i) {
    const Function& function = program.functions[i];
    if (!table.emplace(function.name, i).second) {
      diagnostics.error(function.at, "function " + quoted(function.name) + " is already defined");
    }
  }
  for (Function& function : program.functions) FunctionChecker(program, table, function, diagnostics).run();
  const auto main = table.find("main");
  if (main == table.end()) {
    diagnostics.error({}, "no function 'main'");
    return;
  }
  program.main = main->second;
  const Function& function = program.functions[program.main];
  if (function.parameter_count != 0 || function.result != Type::kNone) {
    diagnostics.error(function.at, "'main' takes no parameters and has no result");
  }
}

}  // namespace nib
