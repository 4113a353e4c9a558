#include "unit/analyzer/intervals/plain_json.h"

#include <zlib.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

namespace pleat::testing {
namespace {

std::string contentOf(const std::filesystem::path& file) {
    std::string content;
    const gzFile opened = gzopen(file.c_str(), "rb");
    std::array<char, 1 << 16> part{};
    for (int count = 0; (count = gzread(opened, part.data(), part.size())) > 0;)
        content.append(part.data(), static_cast<std::size_t>(count));
    gzclose(opened);
    return content;
}

// Microseconds with decimals, as whole nanoseconds.
std::int64_t nanoseconds(const std::string& text) {
    const std::size_t point = text.find('.');
    if (text.find_first_of("eE") != std::string::npos)
        return std::llround(std::atof(text.c_str()) * 1e3);
    const std::int64_t whole = std::strtoll(text.c_str(), nullptr, 10) * 1'000;
    if (point == std::string::npos) return whole;
    const auto fraction = std::llround(std::atof(("0" + text.substr(point)).c_str()) * 1e3);
    return text.front() == '-' ? whole - fraction : whole + fraction;
}

// Of the many that there are.
bool isKept(const std::string& key) {
    static const std::set<std::string> kKeys = {"ph",  "cat", "name",        "ts",   "dur",
                                                "pid", "tid", "correlation", "step", "seq_id"};
    return kKeys.contains(key);
}

// Events are the objects of the list "traceEvents", or of a list that is the whole file.
class Reader : public nlohmann::json_sax<nlohmann::json> {
  public:
    explicit Reader(std::vector<PlainEvent>& events) : m_events(events) {}

    bool null() override { return value(""); }
    bool boolean(bool given) override { return value(given ? "true" : "false"); }
    bool number_integer(number_integer_t given) override { return value(std::to_string(given)); }
    bool number_unsigned(number_unsigned_t given) override { return value(std::to_string(given)); }
    bool number_float(number_float_t, const string_t& text) override { return value(text); }
    bool string(string_t& text) override { return value(text); }
    bool binary(binary_t&) override { return true; }
    bool key(string_t& name) override {
        m_key = name;
        if (m_depth == 1 && !m_isList) m_inEvents = name == "traceEvents";
        return true;
    }
    bool start_object(std::size_t) override {
        ++m_depth;
        if (m_depth == eventDepth() && inEvents()) m_events.emplace_back();
        m_inArguments = m_depth == eventDepth() + 1 && inEvents() && m_key == "args";
        return true;
    }
    bool end_object() override {
        if (m_depth == eventDepth() + 1) m_inArguments = false;
        --m_depth;
        return true;
    }
    bool start_array(std::size_t) override {
        if (m_depth == 0) m_isList = true;
        ++m_depth;
        return true;
    }
    bool end_array() override {
        --m_depth;
        return true;
    }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
        return false;
    }

  private:
    [[nodiscard]] int eventDepth() const { return m_isList ? 2 : 3; }
    [[nodiscard]] bool inEvents() const { return m_isList || m_inEvents; }
    bool value(std::string text) {
        if (m_events.empty() || !inEvents() || !isKept(m_key)) return true;
        if (m_depth == eventDepth())
            m_events.back().fields[m_key] = std::move(text);
        else if (m_depth == eventDepth() + 1 && m_inArguments)
            m_events.back().arguments[m_key] = std::move(text);
        return true;
    }

    std::vector<PlainEvent>& m_events;
    std::string m_key;
    int m_depth = 0;
    bool m_isList = false, m_inEvents = false, m_inArguments = false;
};

}  // namespace

std::string PlainEvent::text(const char* field) const {
    const auto found = fields.find(field);
    return found == fields.end() ? std::string() : found->second;
}

std::int64_t PlainEvent::number(const char* argument, std::int64_t missing) const {
    const auto found = arguments.find(argument);
    return found == arguments.end() || found->second.empty()
               ? missing
               : std::strtoll(found->second.c_str(), nullptr, 10);
}

std::int64_t PlainEvent::begin() const { return nanoseconds(text("ts")); }

std::int64_t PlainEvent::end() const { return begin() + nanoseconds(text("dur")); }

std::vector<PlainEvent> readEvents(const std::filesystem::path& file) {
    std::vector<PlainEvent> events;
    Reader reader(events);
    nlohmann::json::sax_parse(contentOf(file), &reader);
    return events;
}

}  // namespace pleat::testing
