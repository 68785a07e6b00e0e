// Which functions a CodeHolder has, with their frames, lines and names: all that is announced, before it has
// an address.
//
// Context   the thread that adds the code, between flatten() and relocateToBase().
// Promises  pieces ascend, do not overlap, and cover [0, end of the executable sections).
#pragma once

#include <jitquill/asmjit/frame_replay.hpp>
#include <jitquill/asmjit/holder_access.hpp>
#include <jitquill/asmjit/line_pass.hpp>
#include <jitquill/asmjit/node_replay.hpp>

#include <algorithm>

namespace jitquill::asmjit_detail {

// Offsets from the code's base.
struct Piece {
  std::uint64_t start = 0, end = 0;
  const char* name = nullptr;  // a named label's, or NULL
  bool is_function = true;     // false: bytes in front of the first known function
  asmjit::BaseEmitter* emitter = nullptr;
  const asmjit::FuncNode* node = nullptr;  // of a Compiler's function, as the next two
  std::uint32_t stack_instructions = 0;
  FrameState body;
  KnownFunction known;
  const Rows<jitquill_frame_event>* events = nullptr;
};

struct PlacedLine {
  std::uint64_t offset;
  Marker marker;
  std::uint32_t order;  // of two at one offset the later one counts
};

struct PlacedEpilog {
  std::uint64_t begin, end;
};

struct PlacedSite {
  std::uint64_t offset;
  std::uint8_t kind;
};

class CodePlan {
 public:
  explicit CodePlan(asmjit::CodeHolder& code) noexcept : code_(code) {}
  // False: out of memory, nothing can be said.
  bool make() noexcept;
  const Rows<Piece>& pieces() const noexcept { return pieces_; }
  std::uint64_t end() const noexcept { return end_; }
  // The rows of one piece. first_line and last_line may be 0. What no marker says is of inline position 0.
  void lines_of(const Piece& piece, std::uint32_t first_line, std::uint32_t last_line,
                Rows<jitquill_line>& rows, Rows<jitquill_inline_row>& inline_rows) const noexcept;
  const Rows<PlacedSite>& sites() const noexcept { return sites_; }
  void sites_of(const Piece& piece, Rows<jitquill_site>& rows) const noexcept;

 private:
  void read_compiler(asmjit::BaseCompiler& compiler) noexcept;
  void read_notes(asmjit::BaseEmitter& emitter, const EmitterNotes& notes) noexcept;
  void read_emitter(asmjit::BaseEmitter& emitter) noexcept;
  void set_bounds() noexcept;
  void replay_frames() noexcept;
  void replay_bodies(NodeReplay& nodes, Refusal after) noexcept;
  void put_line(std::uint32_t label, const Marker& marker) noexcept;
  void put_site(std::uint32_t label, std::uint8_t kind) noexcept;
  // The first site of this kind in [from, to); 0 = none, which is no sled's end.
  std::uint64_t end_of_site(std::uint8_t kind, std::uint64_t from, std::uint64_t to) const noexcept;

  asmjit::CodeHolder& code_;
  FrameReplay replay_;
  NodeReplay nodes_, loops_;
  Rows<Piece> pieces_;
  Rows<PlacedLine> lines_;
  Rows<PlacedEpilog> epilogs_;
  Rows<PlacedSite> sites_;
  std::uint64_t end_ = 0;
};

inline bool CodePlan::make() noexcept {
  each_emitter(code_, [this](asmjit::BaseEmitter& emitter) { read_emitter(emitter); });
  set_bounds();
  std::sort(sites_.begin(), sites_.end(),
            [](const PlacedSite& a, const PlacedSite& b) { return a.offset < b.offset; });
  replay_frames();
  replay_bodies(nodes_, Refusal::kBodyMovesStack);
  replay_bodies(loops_, Refusal::kUnknownState);
  std::sort(lines_.begin(), lines_.end(), [](const PlacedLine& a, const PlacedLine& b) {
    return a.offset != b.offset ? a.offset < b.offset : a.order < b.order;
  });
  std::sort(epilogs_.begin(), epilogs_.end(),
            [](const PlacedEpilog& a, const PlacedEpilog& b) { return a.begin < b.begin; });
  each_named_label(code_, [this](std::uint64_t offset, const char* name) {
    Piece* piece = std::lower_bound(pieces_.begin(), pieces_.end(), offset,
                                    [](const Piece& p, std::uint64_t at) { return p.start < at; });
    if (piece != pieces_.end() && piece->start == offset && piece->name == nullptr) piece->name = name;
  });
  return pieces_.whole() && lines_.whole() && epilogs_.whole() && sites_.whole();
}

inline void CodePlan::read_emitter(asmjit::BaseEmitter& emitter) noexcept {
  using TrackedAssembler = Announced<asmjit::x86::Assembler>;
  using TrackedBuilder = Announced<asmjit::x86::Builder>;
  if (TrackedAssembler::is(emitter))
    read_notes(emitter, static_cast<TrackedAssembler&>(emitter).notes());
  else if (TrackedBuilder::is(emitter))
    read_notes(emitter, static_cast<TrackedBuilder&>(emitter).notes());
  else if (emitter.JITQUILL_ASMJIT(isCompiler, is_compiler)())
    read_compiler(static_cast<asmjit::BaseCompiler&>(emitter));
}

inline void CodePlan::read_compiler(asmjit::BaseCompiler& compiler) noexcept {
  const asmjit::BaseNode* before = nullptr;
  Marker marker{};
  for (const asmjit::BaseNode* node = compiler.JITQUILL_ASMJIT(firstNode, first_node)(); node != nullptr;
       before = node, node = node->next()) {
    if (node->type() == asmjit::NodeType::kFunc) {
      Piece piece;
      piece.node = node->as<asmjit::FuncNode>();
      piece.emitter = &compiler;
      if (label_offset(code_, piece.node->label().id(), piece.start)) pieces_.put(piece);
    } else if (node->JITQUILL_ASMJIT(isInst, is_inst)() && !pieces_.empty()) {
      const auto* inst = node->as<asmjit::InstNode>();
      pieces_.back().stack_instructions += moves_stack(
          inst->JITQUILL_ASMJIT(realId, inst_id)(), inst->JITQUILL_ASMJIT(operands, operands_data)(),
          static_cast<std::uint32_t>(inst->JITQUILL_ASMJIT(opCount, op_count)()));
    } else if (before != nullptr && before->type() == asmjit::NodeType::kLabel && is_marker(*node, marker)) {
      put_line(before->as<asmjit::LabelNode>()->label().id(), marker);
    } else if (before != nullptr && before->type() == asmjit::NodeType::kLabel &&
               node->type() == asmjit::NodeType::kEmbedData && mark_of(*node) > kSledMark &&
               mark_of(*node) <= kSledMark + JITQUILL_SITE_TAIL) {
      put_site(before->as<asmjit::LabelNode>()->label().id(),
               static_cast<std::uint8_t>(mark_of(*node) - kSledMark));
    }
  }
}

inline void CodePlan::read_notes(asmjit::BaseEmitter& emitter, const EmitterNotes& notes) noexcept {
  if (notes.section == nullptr) return;
  const auto put = [&](const KnownFunction& known) {
    Piece piece;
    piece.start = notes.section->offset() + known.start;
    piece.emitter = &emitter;
    piece.known = known;
    piece.events = &notes.tracker.events().rows();
    pieces_.put(piece);
  };
  for (const KnownFunction& known : notes.functions) put(known);
  if (notes.tracker.started()) put(notes.current());
  for (const LineMark& mark : notes.lines) put_line(mark.label, {mark.line, mark.column, kNoPosition});
  for (const SiteMark& mark : notes.sites) put_site(mark.label, mark.kind);
  for (const EpilogMark& mark : notes.epilogs) {
    PlacedEpilog epilog{};
    if (label_offset(code_, mark.begin, epilog.begin) && label_offset(code_, mark.end, epilog.end))
      epilogs_.put(epilog);
  }
}

inline void CodePlan::put_line(std::uint32_t label, const Marker& marker) noexcept {
  std::uint64_t offset = 0;
  if (label_offset(code_, label, offset))
    lines_.put({offset, marker, static_cast<std::uint32_t>(lines_.size())});
}

inline void CodePlan::put_site(std::uint32_t label, std::uint8_t kind) noexcept {
  std::uint64_t offset = 0;
  if (label_offset(code_, label, offset)) sites_.put({offset, kind});
}

inline std::uint64_t CodePlan::end_of_site(std::uint8_t kind, std::uint64_t from,
                                           std::uint64_t to) const noexcept {
  for (const PlacedSite& site : sites_)
    if (site.kind == kind && site.offset >= from && site.offset < to) return site.offset + kSledSize;
  return 0;
}

inline void CodePlan::sites_of(const Piece& piece, Rows<jitquill_site>& rows) const noexcept {
  rows.clear();
  for (const PlacedSite& site : sites_)
    if (site.offset >= piece.start && site.offset < piece.end)
      rows.put({static_cast<std::uint32_t>(site.offset - piece.start), site.kind, {}});
}

inline void CodePlan::set_bounds() noexcept {
  end_ = executable_end(code_);
  std::sort(pieces_.begin(), pieces_.end(), [](const Piece& a, const Piece& b) { return a.start < b.start; });
  const auto same = [](const Piece& a, const Piece& b) { return a.start == b.start; };
  pieces_.cut(static_cast<std::size_t>(std::unique(pieces_.begin(), pieces_.end(), same) - pieces_.begin()));
  while (!pieces_.empty() && pieces_.back().start >= end_) pieces_.cut(pieces_.size() - 1);
  if (pieces_.empty() || pieces_[0].start != 0) {
    Piece front;
    front.is_function = pieces_.empty();
    pieces_.insert(0, front);
  }
  for (std::size_t i = 0; i < pieces_.size(); ++i)
    pieces_[i].end = i + 1 < pieces_.size() ? pieces_[i + 1].start : end_;
}

inline void CodePlan::replay_frames() noexcept {
  if (code_.arch() != asmjit::Arch::kX64) return;
  for (Piece& piece : pieces_) {
    if (piece.node == nullptr) continue;
    const asmjit::Section& section = section_at(code_, piece.start);
    const std::uint64_t base = section.offset();
    const std::uint64_t section_end = base + section.JITQUILL_ASMJIT(bufferSize, buffer_size)();
    std::uint64_t exit = 0;
    if (!label_offset(code_, piece.node->JITQUILL_ASMJIT(exitLabel, exit_label)().id(), exit)) continue;
    FunctionPlace place{};
    // Padding and site in front of the prolog; site in front of the epilog's ret.
    const std::uint64_t prolog = end_of_site(JITQUILL_SITE_ENTER, piece.start, piece.start + kSledAlignment);
    const std::uint64_t before_return = end_of_site(JITQUILL_SITE_LEAVE, exit, piece.end);
    place.entry = static_cast<std::uint32_t>(piece.start - base);
    place.prolog = prolog == 0 ? place.entry : static_cast<std::uint32_t>(prolog - base);
    if (before_return != 0) place.return_site = static_cast<std::uint32_t>(before_return - kSledSize - base);
    place.exit = static_cast<std::uint32_t>(exit - base);
    place.end = static_cast<std::uint32_t>(std::min(piece.end, section_end) - base);
    place.stack_instructions = piece.stack_instructions;
    place.bytes = section.data();
    piece.known = replay_.replay(*piece.emitter, piece.node->frame(), place);
    piece.body = replay_.body();
    piece.events = &replay_.rows();
    const std::uint64_t epilog_end = base + piece.known.epilog_end;
    epilogs_.put({exit, epilog_end > exit ? epilog_end : piece.end});
  }
}

// The functions of one Compiler that were refused so: of several on one holder, the others' stay refused. A
// loop that is entered in its middle begins behind a jump, at a label that no jump before it leads to: once
// more then, with the body's frame there.
inline void CodePlan::replay_bodies(NodeReplay& nodes, Refusal after) noexcept {
  const auto is_refused = [after](const Piece& piece) {
    return piece.node != nullptr && piece.known.refusal == after;
  };
  const Piece* const first = std::find_if(pieces_.begin(), pieces_.end(), is_refused);
  if (first == pieces_.end()) return;
  auto& compiler = static_cast<asmjit::BaseCompiler&>(*first->emitter);
  const auto is_ours = [&](const Piece& piece) {
    return piece.node != nullptr && piece.emitter == &compiler;
  };
  std::size_t count = 0;
  for (const Piece& piece : pieces_) {
    if (!is_ours(piece)) continue;
    nodes.put(*piece.node, piece.body);
    ++count;
  }
  if (after == Refusal::kUnknownState) {
    if (count != 1) return;
    nodes.assume(first->body);
  }
  if (!nodes.run(compiler)) return;
  for (Piece& piece : pieces_) {
    if (!is_ours(piece) || !is_refused(piece)) continue;
    const std::uint64_t base = section_at(code_, piece.start).offset();
    piece.known = nodes.at(static_cast<std::uint32_t>(piece.start - base));
    piece.events = &nodes.rows();
  }
}

inline void CodePlan::lines_of(const Piece& piece, std::uint32_t first_line, std::uint32_t last_line,
                               Rows<jitquill_line>& rows,
                               Rows<jitquill_inline_row>& inline_rows) const noexcept {
  const auto before = [](const PlacedLine& line, std::uint64_t at) { return line.offset < at; };
  const PlacedLine* next = std::lower_bound(lines_.begin(), lines_.end(), piece.start, before);
  const PlacedLine* const stop = std::lower_bound(next, lines_.end(), piece.end, before);
  const auto put = [&](std::uint64_t offset, const Marker& marker) {
    const auto at = static_cast<std::uint32_t>(offset - piece.start);
    if (!rows.empty() && rows.back().offset == at) rows.cut(rows.size() - 1);
    if (rows.empty() || rows.back().line != marker.line || rows.back().column != marker.column)
      rows.put({at, marker.line, marker.column, 0, nullptr});
    const std::uint32_t position = marker.position == kNoPosition ? 0 : marker.position;
    if (!inline_rows.empty() && inline_rows.back().offset == at) inline_rows.cut(inline_rows.size() - 1);
    if (inline_rows.empty() || inline_rows.back().position != position) inline_rows.put({at, position});
  };
  rows.clear();
  inline_rows.clear();
  if (first_line == 0 && next == stop && last_line == 0) return;
  Marker now{first_line, 0, kNoPosition};
  if (first_line == 0 && next != stop) now = next->marker;
  put(piece.start, now);
  const auto put_until = [&](std::uint64_t until) {
    for (; next != stop && next->offset < until; ++next) {
      now = next->marker;
      put(next->offset, now);  // without a prolog, the first statement wins over first_line
    }
  };
  for (const PlacedEpilog& epilog : epilogs_) {
    if (last_line == 0 || epilog.begin < piece.start || epilog.begin >= piece.end) continue;
    put_until(epilog.begin + 1);
    put(epilog.begin, {last_line, 0, kNoPosition});
    put_until(epilog.end);
    if (epilog.end < piece.end) put(epilog.end, now);
  }
  put_until(piece.end);
}

}  // namespace jitquill::asmjit_detail
