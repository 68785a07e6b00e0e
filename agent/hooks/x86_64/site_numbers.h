// What sites.S needs to know of the records' layout, as plain numbers: its C preprocessor reads no C++.
// lanes/lane.cpp asserts that each is what layout.hpp and record.hpp say.
//
// Context   any.
#pragma once

#define JITQUILL_SITE_RECORD_SIZE 16
#define JITQUILL_SITE_NO_ROOM_MASK 0x1f00
#define JITQUILL_SITE_WHEN_AT 0
#define JITQUILL_SITE_WHAT_AT 8
