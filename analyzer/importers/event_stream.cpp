#include "importers/event_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "importers/event_decoder.h"
#include "importers/event_text.h"
#include "importers/text_buffer.h"

namespace pleat::importers {
namespace {

constexpr std::size_t kPieceBytes =
    512 * 1024;  // with what is made of it, about what a cache holds
constexpr std::size_t kLookAhead = 16 * 1024;
constexpr std::size_t kMaximumHead = 16 << 20;
constexpr std::size_t kMaximumTail = 4 << 20;
constexpr std::size_t kMaximumPiece = 64 << 20;

base::Error noList(std::string_view what) {
    return {base::ErrorCode::Input, fmt::format("holds no trace events: {}", what)};
}

// One past the end of the value that begins at `at`; kNowhere when the text ends before.
std::size_t valueEnd(std::string_view text, std::size_t at) {
    int depth = 0;
    for (; at < text.size(); ++at) {
        const char c = text[at];
        if (c == '"') {
            for (++at; at < text.size() && text[at] != '"'; ++at) {
                if (text[at] == '\\') ++at;
            }
            if (at >= text.size()) return kNowhere;
            if (depth == 0) return at + 1;
        } else if (c == '{' || c == '[') {
            ++depth;
        } else if (c == '}' || c == ']') {
            if (depth == 0) return at;
            if (--depth == 0) return at + 1;
        } else if (c == ',' && depth == 0) {
            return at;
        }
    }
    return kNowhere;
}

// Where the list of events begins (behind its "["): a place, "read more", or an error.
struct Place {
    std::size_t begin = 0;
    bool more = false;
};

base::Result<Place> findList(std::string_view text) {
    const Place more{0, true};
    std::size_t at = skipSpace(text, text.starts_with("\xEF\xBB\xBF") ? 3 : 0);
    if (at >= text.size()) return more;
    if (text[at] == '[') {
        const std::size_t first = skipSpace(text, at + 1);
        if (first >= text.size()) return more;
        if (text[first] != '{' && text[first] != ']') {
            return noList(
                "it is a JSON array, but not of objects (is it a PyTorch memory timeline?)");
        }
        return Place{at + 1};
    }
    if (text[at] != '{') {
        return base::Error{base::ErrorCode::Input,
                           "is not a trace file: expected a *.pleat file, JSON (plain, gzip or "
                           "zstd) or an Nsight Systems export (SQLite)"};
    }
    for (at = skipSpace(text, at + 1); at < text.size() && text[at] == '"';) {
        const std::size_t keyEnd = valueEnd(text, at);
        if (keyEnd == kNowhere) return more;
        const std::string_view key = text.substr(at + 1, keyEnd - at - 2);
        at = skipSpace(text, keyEnd);
        if (at >= text.size()) return more;
        if (text[at] != ':') return noList(fmt::format("it is not valid JSON (at byte {})", at));
        at = skipSpace(text, at + 1);
        if (at >= text.size()) return more;
        if (key == "traceEvents" && text[at] == '[') return Place{at + 1};
        at = valueEnd(text, at);
        if (at == kNowhere) return more;
        at = skipSpace(text, at);
        if (at < text.size() && text[at] == ',') at = skipSpace(text, at + 1);
    }
    if (at >= text.size()) return more;
    if (text[at] == '}') return noList("it is a JSON object without \"traceEvents\"");
    return noList(fmt::format("it is not valid JSON (at byte {})", at));
}

struct Piece {
    TextBuffer text;           // behind a "[", for the decoder
    std::uint64_t offset = 0;  // of what is behind it
    bool last = false;
    bool queued = false;   // for the workers; else decoded where it is taken
    bool decoded = false;  // by them; guarded by Workers::m_mutex
    EventBatch batch;
};

// Threads that decode pieces, beside the calling one.
class Workers {
  public:
    explicit Workers(unsigned threads) {
        for (unsigned i = 0; i < threads; ++i) {
            m_threads.emplace_back([this](const std::stop_token& stop) { work(stop); });
        }
    }
    void add(Piece& piece) {
        {
            const std::scoped_lock lock(m_mutex);
            piece.decoded = false;
            m_waiting.push_back(&piece);
        }
        m_added.notify_one();
    }
    // Until `piece` is decoded; decodes with the others meanwhile.
    void finish(const Piece& piece, EventDecoder& decoder) {
        std::unique_lock lock(m_mutex);
        while (!piece.decoded) {
            if (m_waiting.empty()) {
                m_done.wait(lock);
            } else {
                decodeOldest(lock, decoder);
            }
        }
    }

  private:
    void work(const std::stop_token& stop) {
        EventDecoder decoder;
        std::unique_lock lock(m_mutex);
        while (m_added.wait(lock, stop, [&] { return !m_waiting.empty(); })) {
            decodeOldest(lock, decoder);
            m_done.notify_one();
        }
    }
    void decodeOldest(std::unique_lock<std::mutex>& lock, EventDecoder& decoder) {
        Piece* const piece = m_waiting.front();
        m_waiting.pop_front();
        lock.unlock();
        decoder.decode(piece->text, piece->offset, piece->last, piece->batch);
        lock.lock();
        piece->decoded = true;
    }

    std::mutex m_mutex;  // guards m_waiting and Piece::decoded
    std::condition_variable_any m_added, m_done;
    std::deque<Piece*> m_waiting;
    std::vector<std::jthread> m_threads;  // last: they end before what they use does
};

}  // namespace

struct DecoderPool::State {
    explicit State(unsigned threads) : threadCount(std::max(threads, 1U)) {}

    std::unique_ptr<Piece> freshPiece() {
        if (free.empty()) return std::make_unique<Piece>();
        std::unique_ptr<Piece> piece = std::move(free.back());
        free.pop_back();
        return piece;
    }
    Workers& running() {
        if (!workers) workers.emplace(threadCount - 1);
        return *workers;
    }

    const unsigned threadCount;
    EventDecoder decoder;  // for what is decoded on the calling thread
    std::vector<std::unique_ptr<Piece>> free;
    std::optional<Workers> workers;  // last: they end before the pieces do
};

DecoderPool::DecoderPool(unsigned threads) : m_state(std::make_unique<State>(threads)) {}
DecoderPool::~DecoderPool() = default;

class EventStream::Reader {
  public:
    Reader(std::unique_ptr<ByteSource> source, DecoderPool::State& pool)
        : m_source(std::move(source)), m_pool(pool) {}
    ~Reader() {
        for (const auto& piece : m_inFlight) {
            if (piece->queued) m_pool.running().finish(*piece, m_pool.decoder);
        }
    }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    void begin() {
        m_begun = true;
        m_found = readHead();
        while (m_found && !enoughInFlight() && cutPiece()) {
        }
    }

    base::Result<EventStreamResult> run(const std::function<void(const EventBatch&)>& use,
                                        const std::function<void()>& allRead) {
        m_use = &use;
        if (!m_begun) begin();
        if (!m_found) return m_found.error();
        while (!m_result.listEnded && cutPiece()) {
            while (enoughInFlight() && !m_result.listEnded) takeOldest();
        }
        allRead();
        while (!m_inFlight.empty()) takeOldest();
        while (m_result.listEnded && fill(m_text, kPieceBytes) > 0) {
            addToTail(m_text.view());
            m_text.clear();
        }
        return std::move(m_result);
    }

    [[nodiscard]] const ByteSource& source() const { return *m_source; }

  private:
    [[nodiscard]] bool enoughInFlight() const { return m_inFlight.size() > 2 * m_pool.threadCount; }

    // Reads until `text` holds `bytes`; says how many it holds.
    std::size_t fill(TextBuffer& text, std::size_t bytes) {
        const std::size_t had = text.size();
        if (had < bytes && !m_ended) {
            text.resize(bytes);
            const std::size_t count = m_source->read({text.data() + had, bytes - had});
            m_ended = count < bytes - had;
            text.resize(had + count);
            m_result.bytes += count;
        }
        return text.size();
    }

    base::Result<void> readHead() {
        for (std::size_t bytes = kLookAhead;; bytes *= 4) {
            fill(m_text, bytes);
            const base::Result<Place> place = findList(m_text.view());
            if (!place) return place.error();
            if (!place->more) {
                m_result.head = m_text.view().substr(0, place->begin);
                m_text.dropFront(place->begin);
                m_offset = place->begin;
                return {};
            }
            if (m_ended) {
                return noList(m_text.size() == 0 ? "it is empty"
                                                 : "it ends before a list of events starts");
            }
            if (bytes > kMaximumHead)
                return noList(fmt::format("none starts in its first {} MiB", bytes >> 20));
        }
    }

    // Reads the next piece and gives it to the workers; false at the end.
    bool cutPiece() {
        std::unique_ptr<Piece> piece = m_pool.freshPiece();
        TextBuffer& text = piece->text;
        text.assign("[");
        text.insert(1, m_text.view());
        std::size_t cut = kNowhere;
        for (std::size_t bytes = kPieceBytes + kLookAhead; cut == kNowhere; bytes *= 2) {
            fill(text, std::min(bytes, kMaximumPiece));
            if (text.size() > kPieceBytes) cut = findEventBoundary(text.view(), kPieceBytes);
            if (m_ended || text.size() >= kMaximumPiece) break;
        }
        m_text.clear();
        if (text.size() == 1) return false;
        if (cut == kNowhere && !m_ended) return cutEndless(std::move(piece));
        piece->last = cut == kNowhere;
        piece->offset = m_offset;
        if (!piece->last) {
            m_text.assign(text.view().substr(cut));
            text.resize(cut);
        }
        m_offset += text.size() - 1;
        piece->queued = !(piece->last && m_inFlight.empty());  // else a small file
        if (piece->queued) {
            m_pool.running().add(*piece);
        }
        m_inFlight.push_back(std::move(piece));
        return true;
    }

    // A piece within which no event ends: what is whole in it is kept, the rest of the event is
    // passed over, to where the next seems to begin.
    bool cutEndless(std::unique_ptr<Piece> piece) {
        while (!m_inFlight.empty()) takeOldest();
        if (m_result.listEnded) {
            addToTail(piece->text.view().substr(1));
            return true;
        }
        const std::uint64_t begin = m_offset;
        piece->offset = m_offset;
        m_offset += piece->text.size() - 1;
        piece->text.resize(kPieceBytes);
        piece->last = true;
        take(*piece);
        m_leftOver.clear();
        piece->batch.clear();
        piece->batch.diagnostics.add(
            "damaged_event",
            fmt::format("no event starts within {1} MiB after byte {0}; continued at the next one",
                        begin, kMaximumPiece >> 20));
        (*m_use)(piece->batch);
        TextBuffer& text = piece->text;
        for (text.clear(); fill(text, kPieceBytes) > 0;) {
            const std::size_t next = findEventBoundary(text.view(), 0);
            const bool found = next != kNowhere;
            // A boundary may lie across the end of what was read.
            const std::size_t passed = found ? next : m_ended ? text.size() : text.size() / 2;
            m_offset += passed;
            text.dropFront(passed);
            if (found) m_text.assign(text.view());
            if (found || m_ended) break;
        }
        m_pool.free.push_back(std::move(piece));
        return true;
    }

    void takeOldest() {
        std::unique_ptr<Piece> piece = std::move(m_inFlight.front());
        m_inFlight.pop_front();
        if (piece->queued) m_pool.running().finish(*piece, m_pool.decoder);
        if (m_result.listEnded) {
            addToTail(piece->text.view().substr(1));
        } else {
            take(*piece);
        }
        m_pool.free.push_back(std::move(piece));
    }

    void take(Piece& piece) {
        if (!piece.queued || !m_leftOver.empty()) {
            // It is a small file's, or the cut before this piece lay inside an event.
            piece.text.insert(1, m_leftOver);
            piece.offset -= m_leftOver.size();
            m_pool.decoder.decode(piece.text, piece.offset, piece.last, piece.batch);
            m_leftOver.clear();
        }
        (*m_use)(piece.batch);
        const std::string_view rest = piece.text.view().substr(1 + piece.batch.consumed);
        if (piece.batch.listEnded) {
            m_result.listEnded = true;
            addToTail(rest);
        } else {
            m_leftOver = rest;
        }
    }

    void addToTail(std::string_view text) {
        const std::size_t room = kMaximumTail - std::min(kMaximumTail, m_result.tail.size());
        m_result.tail += text.substr(0, room);
    }

    const std::unique_ptr<ByteSource> m_source;
    DecoderPool::State& m_pool;
    const std::function<void(const EventBatch&)>* m_use = nullptr;  // while run() runs
    bool m_begun = false;
    base::Result<void> m_found;  // a list of events
    EventStreamResult m_result;
    TextBuffer m_text;           // read and in no piece yet
    std::uint64_t m_offset = 0;  // of m_text in the unpacked file
    bool m_ended = false;        // the source has no more
    std::string m_leftOver;      // of the last piece taken
    std::deque<std::unique_ptr<Piece>> m_inFlight;
};

EventStream::EventStream(std::unique_ptr<ByteSource> source, DecoderPool& pool)
    : m_reader(std::make_unique<Reader>(std::move(source), pool.state())) {}
EventStream::~EventStream() = default;

void EventStream::begin() { m_reader->begin(); }

base::Result<EventStreamResult> EventStream::run(const std::function<void(const EventBatch&)>& use,
                                                 const std::function<void()>& allRead) {
    return m_reader->run(use, allRead);
}

const std::string& EventStream::damage() const { return m_reader->source().damage(); }

}  // namespace pleat::importers
