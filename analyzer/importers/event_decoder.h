// Turns a piece of a list of trace events into a batch. In whole JSON all events are read in one
// go; where that fails the piece is repaired (bad UTF-8, control characters), and where that does
// not help either, read event by event: a damaged one costs itself, and reading goes on where the
// next seems to begin. One thread at a time; keeps its buffers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "importers/event_batch.h"
#include "importers/text_buffer.h"

namespace pleat::importers {

class EventDecoder {
  public:
    EventDecoder();
    ~EventDecoder();
    EventDecoder(const EventDecoder&) = delete;
    EventDecoder& operator=(const EventDecoder&) = delete;

    // `bracketed` is "[" and the piece, so that it can be parsed where it lies; it is as before
    // afterwards. The piece begins at an event (or at space, "," or "]"); `offset` is its place in
    // the file, for words. An event that the piece cuts is left: batch.consumed ends before it,
    // unless `last` says that nothing follows; then it is damaged.
    void decode(TextBuffer& bracketed, std::uint64_t offset, bool last, EventBatch& batch);

  private:
    struct Parser;
    bool decodeWhole(TextBuffer& bracketed, EventBatch& batch);
    bool decodeList(const char* list, std::size_t size, EventBatch& batch);
    void decodeEach(std::string_view piece, std::uint64_t offset, bool last, EventBatch& batch);
    bool decodeOne(std::string_view event, std::uint64_t offset, EventBatch& batch);

    std::unique_ptr<Parser> m_parser;
    std::string m_whole, m_repaired;
};

}  // namespace pleat::importers
