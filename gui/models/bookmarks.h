// Bookmarks: moments of a trace with a note, kept in a file beside it, <trace>.bookmarks.json:
//     {"schema": "pleat-bookmarks/1", "bookmarks": [{"time_ns": 1250, "note": "why?"}]}
// Plain values; one thread.
#pragma once

#include <QString>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace pleat::models {

struct Bookmark {
    base::TraceTime time;
    QString note;  // may be empty
    friend bool operator==(const Bookmark&, const Bookmark&) = default;
};

class Bookmarks {
  public:
    // By time; of two at one moment the later added one stays.
    [[nodiscard]] const std::vector<Bookmark>& all() const { return m_all; }
    void add(Bookmark bookmark);
    void remove(base::TraceTime time);
    // The first one behind a moment, or the last one before; null without one.
    [[nodiscard]] const Bookmark* next(base::TraceTime time) const;
    [[nodiscard]] const Bookmark* previous(base::TraceTime time) const;

    // A file that is not there holds no bookmarks. Errors: Io; Input for a file of another kind,
    // which is then left alone.
    [[nodiscard]] static base::Result<Bookmarks> load(const std::filesystem::path& file);
    // The whole file or nothing of it. Without bookmarks there is no file.
    [[nodiscard]] base::Result<void> save(const std::filesystem::path& file) const;
    // Where those of a trace lie; it may be a folder.
    [[nodiscard]] static std::filesystem::path fileFor(const std::filesystem::path& trace);

  private:
    std::vector<Bookmark> m_all;
};

}  // namespace pleat::models
