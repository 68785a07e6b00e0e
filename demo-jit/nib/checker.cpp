#include "nib/checker.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "nib/check_expression.hpp"

namespace nib {
namespace {

bool is_true_literal(const Expression& expression) noexcept {
  const auto* literal = std::get_if<BoolLiteral>(&expression.node);
  return literal != nullptr && literal->value;
}

// Checks one function.
class FunctionChecker : private ExpressionChecker {
 public:
  using ExpressionChecker::ExpressionChecker;

  void run() {
    for (std::uint32_t i = 0; i < function_.parameter_count; ++i) {
      note_reference(function_.variables[i].type);
      bind(function_.variables[i].name, function_.parameter_places[i], i);
    }
    check_statements(function_.body);
    function_.may_collect = function_.may_collect || may_collect();
    if (function_.result != Type::kNone && !function_.body.is_final) {
      diagnostics_.error(function_.end, "function " + quoted(function_.name) + " can end without 'return'");
    }
  }

 private:
  struct Loop {
    bool has_break = false;
  };

  // ---- Statements ----

  void check_block(Block& block) {
    const std::size_t outer_start = std::exchange(scope_start_, bindings_.size());
    block.number = function_.blocks++;
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
      declaration.type = found == Type::kNull ? refuse_null(*declaration.value) : found;
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
    Variable& variable = function_.variables[binding->variable];
    variable.is_assigned = true;
    if (!variable.is_mutable) {
      diagnostics_.error(at, quoted(variable.name) + " was defined with 'let' and cannot be assigned");
    }
    require(*assignment.value, variable.type);
    return false;
  }

  bool check_node(PlaceAssignment& assignment, Position) {
    const Type element = check(*assignment.target);
    const auto* index = std::get_if<Index>(&assignment.target->node);
    if (index != nullptr && index->array->type == Type::kStr) {
      diagnostics_.error(assignment.target->at, "the bytes of a str cannot be assigned");
    }
    require_value(*assignment.value);
    require(*assignment.value, element);
    return false;
  }

  bool check_node(CallStatement& statement, Position) {
    check(*statement.call);
    return false;
  }

  bool check_node(Print& print, Position) {
    require_value(*print.value);
    require_shown(*print.value, "printed");
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
    function_.may_collect = true;
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
    const auto* call = std::get_if<Call>(&statement.value->node);
    function_.has_tail_call = function_.has_tail_call || (call != nullptr && !call->is_record);
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

  std::vector<Loop> loops_;
};

// Fills `names`.
void check_definitions(const Program& program, Names& names, Diagnostics& diagnostics) {
  for (std::uint32_t i = 0; i < program.records.size(); ++i) {
    const Record& record = program.records[i];
    if (!record.is_defined) diagnostics.error(record.at, "no type " + quoted(record.name));
    names.records.emplace(record.name, i);
    for (auto field = record.fields.begin(); field != record.fields.end(); ++field) {
      const bool is_second = std::any_of(record.fields.begin(), field,
                                         [&](const Field& each) { return each.name == field->name; });
      if (is_second) diagnostics.error(field->at, quoted(field->name) + " is already defined in this record");
    }
  }
  for (std::uint32_t i = 0; i < program.functions.size(); ++i) {
    const Function& function = program.functions[i];
    if (!names.functions.emplace(function.name, i).second) {
      diagnostics.error(function.at, "function " + quoted(function.name) + " is already defined");
    } else if (names.records.contains(function.name)) {
      diagnostics.error(function.at, quoted(function.name) + " is already the name of a record");
    }
  }
}

}  // namespace

std::string name_of(const Program& program, Type type) {
  static constexpr std::string_view kNames[] = {"nothing", "int", "bool", "float",
                                                "str",     "",    "null", "any type"};
  if (type.is_array()) return "[" + name_of(program, type.element()) + "]";
  if (type.is(Type::Layer::kChannel)) return "chan " + name_of(program, type.element());
  if (type.is(Type::Layer::kTask)) {
    return type.element() == Type::kNone ? "task" : "task " + name_of(program, type.element());
  }
  if (type.is_record()) return std::string(program.records[type.record].name);
  return std::string(kNames[static_cast<std::size_t>(type.scalar)]);
}

void check(Program& program, Diagnostics& diagnostics) {
  Names names;
  check_definitions(program, names, diagnostics);
  for (Function& function : program.functions) FunctionChecker(program, names, function, diagnostics).run();
  const auto main = names.functions.find("main");
  if (main == names.functions.end()) {
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
