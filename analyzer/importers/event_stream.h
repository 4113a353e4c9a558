// A file of trace events as a stream of batches, in the order of the file: read and cut into pieces
// on the calling thread, decoded on others. Pieces are cut where an event seems to begin, which is
// nearly always right; where it was not (the place lay inside an event) the piece is decoded again
// together with what was left of the one before. Memory: a fixed number of pieces, whatever the
// size of the file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "importers/byte_source.h"
#include "importers/event_batch.h"

namespace pleat::importers {

// Threads that decode pieces, and the memory of the pieces, for one file after another. The threads
// start with the first file that has more than one piece.
class DecoderPool {
  public:
    explicit DecoderPool(unsigned threads);
    ~DecoderPool();
    DecoderPool(const DecoderPool&) = delete;
    DecoderPool& operator=(const DecoderPool&) = delete;

    struct State;
    [[nodiscard]] State& state() { return *m_state; }

  private:
    std::unique_ptr<State> m_state;
};

struct EventStreamResult {
    std::string head, tail;  // the file's other members, around the list; at most a few MiB of each
    bool listEnded = false;  // false: the file ends within the list
    std::uint64_t bytes = 0;
};

class EventStream {
  public:
    EventStream(std::unique_ptr<ByteSource> source, DecoderPool& pool);
    ~EventStream();

    // Reads the first pieces and gives them to the pool's threads, so that these have work while
    // the file before this one is brought to its end. Not needed.
    void begin();

    // Reads everything, once, calling `use` for every batch, and `allRead` when the last piece was
    // read and some are still to be used. Input error where there is no list of events: neither a
    // JSON array nor an object with the key traceEvents; its text says what there is instead.
    [[nodiscard]] base::Result<EventStreamResult> run(
        const std::function<void(const EventBatch&)>& use,
        const std::function<void()>& allRead = [] {});

    // Where a packed file could not be unpacked further (byte_source.h).
    [[nodiscard]] const std::string& damage() const;

  private:
    class Reader;
    std::unique_ptr<Reader> m_reader;
};

}  // namespace pleat::importers
