// The part of the parser that reads expressions.
//
// Context   parser.cpp.
// Promises  as parse() in parser.hpp: bounded depth of recursion and bounded height of the trees.
#pragma once

#include "nib/ast.hpp"
#include "nib/token_reader.hpp"

namespace nib {

class ExpressionParser : protected TokenReader {
 public:
  using TokenReader::TokenReader;

  ExpressionPtr expression() { return binary(0); }
  // Behind the name of the function.
  ExpressionPtr call(const Token& name);
  // The name of a variable, already taken, and the indices and fields behind it.
  ExpressionPtr variable(const Token& name);

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
  ExpressionPtr builtin(Builtin which);
  ExpressionPtr parenthesized();
  ExpressionPtr number(bool is_negative, Position at);
  ExpressionPtr fraction(bool is_negative, Position at);

  // Every tree is made here. Chains of operators grow high without nesting in the source.
  template <class Node>
  ExpressionPtr make(Position at, Node node, std::uint32_t operand_height);
};

}  // namespace nib
