// The part of the parser that reads expressions.
//
// Context   parser.cpp.
// Promises  as parse() in parser.hpp: bounded depth of recursion and bounded height of the trees.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "nib/ast.hpp"
#include "nib/token_reader.hpp"

namespace nib {

class ExpressionParser : protected TokenReader {
 public:
  using TokenReader::TokenReader;

  ExpressionPtr expression() { return binary(0); }
  // Behind the name of the function.
  ExpressionPtr call(const Token& name);
  // What can also stand as a statement; null: there is none here.
  ExpressionPtr action();
  Type type();
  // The name of a variable, already taken, and the indices and fields behind it.
  ExpressionPtr variable(const Token& name);

 protected:
  // Types may be used before they are defined.
  std::uint16_t record_named(const Token& name);

  Program program_;

 private:
  // All operators that bind at least as tightly as `lowest`.
  ExpressionPtr binary(int lowest);
  void refuse_chained_comparison();
  ExpressionPtr prefix(int lowest);
  ExpressionPtr unary(UnaryOperator op, int operand_precedence);
  ExpressionPtr primary();
  ExpressionPtr named();
  // With the indices and fields behind it.
  ExpressionPtr followed(ExpressionPtr value);
  ExpressionPtr index_of(ExpressionPtr array);
  ExpressionPtr field_of(ExpressionPtr record);
  const BuiltinRow* builtin_here() const noexcept;
  ExpressionPtr builtin(const BuiltinRow* row);
  ExpressionPtr spawn();
  ExpressionPtr new_channel();
  ExpressionPtr parenthesized();
  ExpressionPtr number(bool is_negative, Position at);
  ExpressionPtr fraction(bool is_negative, Position at);

  // Every tree is made here. Chains of operators grow high without nesting in the source.
  template <class Node>
  ExpressionPtr make(Position at, Node node, std::uint32_t operand_height);

  std::unordered_map<std::string_view, std::size_t> records_;  // indices in the program
};

}  // namespace nib
