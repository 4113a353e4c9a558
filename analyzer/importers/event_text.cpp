#include "importers/event_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/utf8.h"

namespace pleat::importers {
namespace {

constexpr std::array<std::string_view, 11> kEventKeys = {"ph",  "name", "cat",  "pid", "tid", "ts",
                                                         "dur", "id",   "args", "bp",  "s"};

bool isSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// Does an event begin at `brace`?
bool beginsEvent(std::string_view text, std::size_t brace) {
    const std::size_t quote = skipSpace(text, brace + 1);
    if (quote >= text.size() || text[quote] != '"') return false;
    const std::size_t end = text.find('"', quote + 1);
    if (end == kNowhere || end - quote > 6) return false;
    const std::string_view key = text.substr(quote + 1, end - quote - 1);
    if (std::find(kEventKeys.begin(), kEventKeys.end(), key) == kEventKeys.end()) return false;
    const std::size_t colon = skipSpace(text, end + 1);
    return colon < text.size() && text[colon] == ':';
}

// The last character before `at` that is no space; NUL when there is none.
char charBefore(std::string_view text, std::size_t at) {
    while (at > 0 && isSpace(text[at - 1])) --at;
    return at > 0 ? text[at - 1] : '\0';
}

}  // namespace

std::size_t skipSpace(std::string_view text, std::size_t from) {
    while (from < text.size() && isSpace(text[from])) ++from;
    return from;
}

std::size_t findEventStart(std::string_view text, std::size_t from) {
    for (std::size_t at = text.find('{', from); at != kNowhere; at = text.find('{', at + 1)) {
        if (beginsEvent(text, at) && charBefore(text, at) != ':') return at;
    }
    return kNowhere;
}

std::size_t findEventBoundary(std::string_view text, std::size_t from) {
    for (std::size_t at = findEventStart(text, from); at != kNowhere;
         at = findEventStart(text, at + 1)) {
        if (charBefore(text, at) == ',') return at;
    }
    return kNowhere;
}

std::size_t objectEnd(std::string_view text, std::size_t from) {
    int depth = 0;
    for (std::size_t at = from; at < text.size(); ++at) {
        switch (text[at]) {
            case '{':
                ++depth;
                break;
            case '}':
                if (--depth == 0) return at + 1;
                break;
            case '"':
                for (++at; at < text.size() && text[at] != '"'; ++at) {
                    if (text[at] == '\\') ++at;
                }
                break;
            default:
                break;
        }
    }
    return kNowhere;
}

bool readsLikeJson(std::string_view text, std::size_t from) {
    std::vector<bool> inObject;  // of each level that is open
    enum { Value, Key, Colon, Behind } expected = Value;
    for (std::size_t at = from; at < text.size(); ++at) {
        const char c = text[at];
        if (isSpace(c)) continue;
        if (c == '"') {
            if (expected == Colon || expected == Behind) return false;
            for (++at; at < text.size() && text[at] != '"'; ++at)
                if (text[at] == '\\') ++at;
            expected = expected == Key ? Colon : Behind;
        } else if (c == '{' || c == '[') {
            if (expected != Value) return false;
            inObject.push_back(c == '{');
            expected = c == '{' ? Key : Value;
        } else if (c == '}' || c == ']') {
            if (inObject.empty() || inObject.back() != (c == '}') || expected == Colon)
                return false;
            inObject.pop_back();
            if (inObject.empty()) return true;
            expected = Behind;
        } else if (c == ',') {
            if (expected != Behind || inObject.empty()) return false;
            expected = inObject.back() ? Key : Value;
        } else if (c == ':') {
            if (expected != Colon) return false;
            expected = Value;
        } else {
            if (expected != Value) return false;
            while (at + 1 < text.size() && !isSpace(text[at + 1]) &&
                   std::string_view(",:{}[]\"").find(text[at + 1]) == std::string_view::npos)
                ++at;
            expected = Behind;
        }
    }
    return true;
}

Repairs repairText(std::string_view text, std::string& repaired) {
    Repairs repairs;
    repaired.clear();
    bool inString = false;
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        const auto code = static_cast<unsigned char>(c);
        if (code < 0x20 && (inString || !isSpace(c))) {
            ++repairs.controlCharacters;
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", code);
            if (inString) repaired += escape;
            ++at;
            continue;
        }
        const std::size_t length = base::utf8Prefix(text.substr(at)).length;
        if (length == 0) {
            ++repairs.invalidUtf8;
            repaired += "\xEF\xBF\xBD";
            ++at;
            continue;
        }
        if (c == '"') inString = !inString;
        repaired.append(text, at, length);
        at += length;
        if (c == '\\' && inString && at < text.size() &&
            static_cast<unsigned char>(text[at]) >= 0x20 &&
            static_cast<unsigned char>(text[at]) < 0x80)
            repaired += text[at++];
    }
    return repairs;
}

}  // namespace pleat::importers
