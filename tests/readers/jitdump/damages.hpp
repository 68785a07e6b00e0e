// The sample with one rule broken, for each rule: what a checker of jitdumps must notice, and where.
//
// Context   tests.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "tests/readers/jitdump/edited_sample.hpp"
#include "tests/readers/jitdump/violation.hpp"

namespace jitdump_reader {

struct Damage {
  Rule rule;
  std::uint64_t offset;
  std::function<void(Bytes&)> change;
};

inline const std::vector<Damage>& damages() {
  using R = Rule;
  static const std::vector<Damage> all = {
      {R::kHeaderSize, 0, [](Bytes& b) { b.resize(39); }},
      {R::kHeaderSize, 8, [](Bytes& b) { put<std::uint32_t>(b, 8, 48); }},
      {R::kHeaderMagic, 0, [](Bytes& b) { put<std::uint32_t>(b, 0, 0x4454694A); }},
      {R::kHeaderVersion, 4, [](Bytes& b) { put<std::uint32_t>(b, 4, 2); }},
      {R::kHeaderMachine, 12, [](Bytes& b) { put<std::uint32_t>(b, 12, 0); }},
      {R::kHeaderPad, 16, [](Bytes& b) { put<std::uint32_t>(b, 16, 0xDEADBEEF); }},
      {R::kHeaderPid, 20, [](Bytes& b) { put<std::uint32_t>(b, 20, 1); }},
      {R::kHeaderTime, 24, [](Bytes& b) { put<std::uint64_t>(b, 24, 0); }},
      {R::kHeaderTime, 24, [](Bytes& b) { put<std::uint64_t>(b, 24, std::uint64_t{1} << 50); }},
      {R::kHeaderFlags, 32, [](Bytes& b) { put<std::uint64_t>(b, 32, 2); }},
      {R::kRecordTorn, kCloseAt, [](Bytes& b) { b.pop_back(); }},
      {R::kRecordTorn, kLoadAt, [](Bytes& b) { b.resize(kCloseAt - 1); }},
      {R::kRecordSize, kCloseAt + 4,
       [](Bytes& b) { std::fill(b.begin() + kCloseAt, b.end(), std::uint8_t{0}); }},
      {R::kRecordSize, kLoadAt + 4, [](Bytes& b) { put<std::uint32_t>(b, kLoadAt + 4, 16); }},
      {R::kRecordId, kDebugAt, [](Bytes& b) { put<std::uint32_t>(b, kDebugAt, 5); }},
      {R::kRecordTime, kLoadAt + 8, [](Bytes& b) { put<std::uint64_t>(b, kLoadAt + 8, 0); }},
      {R::kRecordTime, kLoadAt + 8, [](Bytes& b) { put<std::uint64_t>(b, kLoadAt + 8, 1'000'000); }},
      {R::kRecordTime, kLoadAt + 8,
       [](Bytes& b) { put<std::uint64_t>(b, kLoadAt + 8, std::uint64_t{1} << 50); }},
      {R::kRecordTime, kCloseAt + 8,
       [](Bytes& b) { add<std::uint64_t>(b, kCloseAt + 8, std::uint64_t{0} - (1u << 30)); }},
      {R::kGroupTwice, kDebugAt, [](Bytes& b) { repeat(b, kDebugAt, kUnwindAt, kDebugAt); }},
      {R::kGroupTwice, kUnwindAt, [](Bytes& b) { repeat(b, kUnwindAt, kLoadAt, kUnwindAt); }},
      {R::kGroupOrphan, kCloseAt, [](Bytes& b) { repeat(b, kDebugAt, kUnwindAt, kCloseAt); }},
      {R::kGroupOrphan, kUnwindAt, [](Bytes& b) { erase(b, kLoadAt, b.size()); }},
      {R::kGroupStranger, kDebugAt,
       [](Bytes& b) {
         add<std::uint64_t>(b, kDebugAt + 16, 64);
         for (std::size_t row = 0; row < 7; ++row) add<std::uint64_t>(b, kRowsAt + 24 * row, 64);
       }},
      {R::kLoadSize, kLoadAt + 4, [](Bytes& b) { insert(b, kLoadAt, kCloseAt, Bytes(8)); }},
      {R::kLoadSize, kLoadAt + 4, [](Bytes& b) { put<std::uint32_t>(b, kLoadAt + 4, 40); }},
      {R::kLoadPid, kLoadAt + 16, [](Bytes& b) { add<std::uint32_t>(b, kLoadAt + 16, 1); }},
      {R::kLoadTid, kLoadAt + 20, [](Bytes& b) { put<std::uint32_t>(b, kLoadAt + 20, 0); }},
      {R::kLoadVma, kLoadAt + 24, [](Bytes& b) { put<std::uint64_t>(b, kLoadAt + 24, 0); }},
      {R::kLoadAddress, kLoadAt + 32, [](Bytes& b) { put<std::uint64_t>(b, kLoadAt + 32, 0); }},
      {R::kLoadCodeSize, kLoadAt + 40,
       [](Bytes& b) {
         erase(b, kCodeAt, kCloseAt);
         add<std::uint32_t>(b, kLoadAt + 4, static_cast<std::uint32_t>(-44));
         put<std::uint64_t>(b, kLoadAt + 40, 0);
       }},
      {R::kLoadIndex, kLoadAt + 48, [](Bytes& b) { put<std::uint64_t>(b, kLoadAt + 48, 0); }},
      {R::kLoadIndex, kCloseAt + 48, [](Bytes& b) { repeat(b, kLoadAt, kCloseAt, kCloseAt); }},
      {R::kLoadName, kNameAt, [](Bytes& b) { b[kNameAt + 3] = '\n'; }},
      {R::kLoadName, kNameAt, [](Bytes& b) { insert(b, kLoadAt, kNameAt, Bytes(5000, 'x')); }},
      {R::kLoadName, kNameAt,
       [](Bytes& b) { std::fill(b.begin() + kNameAt, b.begin() + kCloseAt, std::uint8_t{'x'}); }},
      {R::kLoadName, kNameAt,
       [](Bytes& b) {
         erase(b, kNameAt, kNameAt + 10);
         add<std::uint32_t>(b, kLoadAt + 4, static_cast<std::uint32_t>(-10));
       }},
      {R::kLoadOverlap, kCloseAt,
       [](Bytes& b) {
         repeat(b, kLoadAt, kCloseAt, kCloseAt);
         add<std::uint64_t>(b, kCloseAt + 48, 1);
         for (const std::size_t field : {24u, 32u}) add<std::uint64_t>(b, kCloseAt + field, 0x40);
       }},
      {R::kTwin, kDebugAt + kLoadAt - kUnwindAt + 8,
       [](Bytes& b) {
         give_twin(b);
         erase(b, kDebugAt + kTwinGroupSize, b.size());
       }},
      {R::kTwin, kDebugAt + kLoadAt - kUnwindAt + 8,
       [](Bytes& b) {
         give_twin(b);
         b[kTwinGroupSize + kNameAt + 8] = 'J';
       }},
      {R::kTwin, kDebugAt + kLoadAt - kUnwindAt + 8,
       [](Bytes& b) {
         give_twin(b);
         put<std::uint64_t>(b, kTwinGroupSize + kUnwindAt + 32, 92);
       }},
      {R::kFde, kFdeAt + 20 + 8 - (kUnwindAt - kDebugAt),
       [](Bytes& b) {
         give_twin(b);
         b[kFdeAt + 20 + 17 - (kUnwindAt - kDebugAt)] = 0x41;
       }},
      {R::kMove, kCloseAt,
       [](Bytes& b) {
         Bytes move(64);
         put<std::uint32_t>(move, 0, 1);
         put<std::uint32_t>(move, 4, 64);
         b.insert(b.begin() + kCloseAt, move.begin(), move.end());
       }},
      {R::kDebugSize, kDebugAt + 4, [](Bytes& b) { insert(b, kDebugAt, kUnwindAt, Bytes(8)); }},
      {R::kDebugCount, kDebugAt + 24, [](Bytes& b) { put<std::uint64_t>(b, kDebugAt + 24, 8); }},
      {R::kDebugCount, kDebugAt + 24, [](Bytes& b) { put<std::uint64_t>(b, kDebugAt + 24, UINT64_MAX); }},
      {R::kDebugEmpty, kDebugAt + 24, [](Bytes& b) { put<std::uint64_t>(b, kDebugAt + 24, 0); }},
      {R::kDebugAddress, kDebugAt + 16, [](Bytes& b) { add<std::uint64_t>(b, kDebugAt + 16, 1); }},
      {R::kDebugName, kRowsAt + 24 + 16, [](Bytes& b) { b[kRowsAt + 24 + 16] = '\t'; }},
      {R::kDebugSize, kDebugAt + 4, [](Bytes& b) { b[kRowsAt + 24 + 18] = 0; }},
      {R::kDebugName, kRowsAt + 24 + 16,
       [](Bytes& b) {
         erase(b, kRowsAt + 24 + 16, kRowsAt + 24 + 22);
         b[kRowsAt + 24 + 16] = 0xFF;
         add<std::uint32_t>(b, kDebugAt + 4, static_cast<std::uint32_t>(-6));
       }},
      {R::kDebugLine, kRowsAt + 8, [](Bytes& b) { put<std::int32_t>(b, kRowsAt + 8, -1); }},
      {R::kDebugFirst, kRowsAt, [](Bytes& b) { add<std::uint64_t>(b, kRowsAt, 1); }},
      {R::kDebugOrder, kRowsAt + 48,
       [](Bytes& b) { add<std::uint64_t>(b, kRowsAt + 48, std::uint64_t{0} - 5); }},
      {R::kDebugRange, kRowsAt + 48, [](Bytes& b) { add<std::uint64_t>(b, kRowsAt + 48, 0x40); }},
      {R::kDebugSentinel, kRowsAt + 144,
       [](Bytes& b) { add<std::uint64_t>(b, kRowsAt + 144, std::uint64_t{0} - 1); }},
      {R::kUnwindSize, kUnwindAt + 16, [](Bytes& b) { insert(b, kUnwindAt, kLoadAt, Bytes(4)); }},
      {R::kUnwindSize, kUnwindAt + 16, [](Bytes& b) { put<std::uint64_t>(b, kUnwindAt + 16, UINT64_MAX); }},
      {R::kUnwindHdrSize, kUnwindAt + 24, [](Bytes& b) { put<std::uint64_t>(b, kUnwindAt + 24, 0); }},
      {R::kUnwindHdrSize, kUnwindAt + 24, [](Bytes& b) { put<std::uint64_t>(b, kUnwindAt + 24, 85); }},
      {R::kUnwindMapped, kUnwindAt + 32, [](Bytes& b) { put<std::uint64_t>(b, kUnwindAt + 32, 8); }},
      {R::kUnwindOrder, kBlobAt,
       [](Bytes& b) { std::rotate(b.begin() + kBlobAt, b.begin() + kHdrAt, b.begin() + kLoadAt); }},
      {R::kUnwindAlign, kUnwindAt + 16,
       [](Bytes& b) {
         insert(b, kUnwindAt, kHdrAt, Bytes(4));
         add<std::uint64_t>(b, kUnwindAt + 16, 4);
       }},
      {R::kEhEntry, kFdeAt, [](Bytes& b) { put<std::uint32_t>(b, kFdeAt, 40); }},
      {R::kEhEntry, kBlobAt, [](Bytes& b) { put<std::uint32_t>(b, kBlobAt, 0); }},
      {R::kCie, kBlobAt + 8, [](Bytes& b) { b[kBlobAt + 8] = 4; }},
      {R::kCie, kBlobAt + 8, [](Bytes& b) { b[kBlobAt + 10] = 'P'; }},
      {R::kCie, kBlobAt + 8, [](Bytes& b) { b[kBlobAt + 13] = 0x7C; }},
      {R::kCie, kBlobAt + 8, [](Bytes& b) { b[kBlobAt + 16] = 0x03; }},
      {R::kFde, kFdeAt + 4, [](Bytes& b) { put<std::uint32_t>(b, kFdeAt + 4, 20); }},
      {R::kFde, kFdeAt + 16, [](Bytes& b) { b[kFdeAt + 16] = 1; }},
      {R::kFdeBegin, kFdeAt + 8, [](Bytes& b) { add<std::int32_t>(b, kFdeAt + 8, 4); }},
      {R::kFdeRange, kFdeAt + 12, [](Bytes& b) { add<std::int32_t>(b, kFdeAt + 12, -1); }},
      {R::kCfiOpcode, kFdeOpsAt, [](Bytes& b) { b[kFdeOpsAt] = 0x3F; }},
      {R::kCfiOperand, kFdeOpsAt + 0x15, [](Bytes& b) { b[kFdeOpsAt + 0x16] = 0x80; }},
      {R::kCfiOperand, kFdeOpsAt + 8, [](Bytes& b) { b[kFdeOpsAt + 8] = 0x80 | 17; }},
      {R::kCfiAdvance, kFdeOpsAt + 14, [](Bytes& b) { b[kFdeOpsAt + 14] = 0x40 | 60; }},
      {R::kCfiState, kFdeOpsAt + 5, [](Bytes& b) { b[kFdeOpsAt + 5] = 0x0B; }},
      {R::kCfiCfa, kFdeOpsAt, [](Bytes& b) { b[kFdeOpsAt + 2] = 0x0C; }},
      {R::kCfiEntry, kFdeOpsAt, [](Bytes& b) { b[kFdeOpsAt] = 0x00; }},
      {R::kCfiReturn, kFdeOpsAt, [](Bytes& b) { b[kBlobAt + 21] = 2; }},
      {R::kCfiSaved, kFdeOpsAt, [](Bytes& b) { b[kFdeOpsAt + 9] = 2; }},
      {R::kHdrEncoding, kHdrAt, [](Bytes& b) { b[kHdrAt + 3] = 0xFF; }},
      {R::kHdrPointer, kHdrAt + 4, [](Bytes& b) { add<std::int32_t>(b, kHdrAt + 4, 4); }},
      {R::kHdrCount, kHdrAt + 8, [](Bytes& b) { put<std::uint32_t>(b, kHdrAt + 8, 0); }},
      {R::kHdrStart, kHdrAt + 12, [](Bytes& b) { add<std::int32_t>(b, kHdrAt + 12, -4); }},
      {R::kHdrFde, kHdrAt + 16, [](Bytes& b) { add<std::int32_t>(b, kHdrAt + 16, 4); }},
      {R::kHdrOrder, kHdrAt + 20,
       [](Bytes& b) {
         describe_by_two(b);
         std::rotate(b.begin() + kHdrAt + 12, b.begin() + kHdrAt + 20, b.begin() + kHdrAt + 28);
       }},
      {R::kCloseSize, kCloseAt + 4, [](Bytes& b) { insert(b, kCloseAt, b.size(), Bytes(8)); }},
      {R::kCloseLast, kCloseAt + 16, [](Bytes& b) { repeat(b, kLoadAt, kCloseAt, b.size()); }},
  };
  return all;
}

}  // namespace jitdump_reader
