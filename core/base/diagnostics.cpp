#include "base/diagnostics.h"

#include <algorithm>

#include "base/utf8.h"

namespace pleat::base {

std::string_view toString(Severity severity) {
    switch (severity) {
        case Severity::Info:
            return "info";
        case Severity::DataLoss:
            return "data_loss";
        case Severity::Error:
            return "error";
    }
    return "info";
}

namespace {

// Names within examples may be of any length.
std::string shortened(std::string_view example) {
    constexpr std::size_t kMost = 600;
    if (example.size() <= kMost) return std::string(example);
    std::size_t end = 0;
    for (std::size_t next = 0; next < kMost;
         next += std::max<std::size_t>(utf8Prefix(example.substr(next)).length, 1))
        end = next;
    return std::string(example.substr(0, end)) + "...";
}

}  // namespace

void Diagnostics::add(const DiagnosticKind& kind, std::string_view code, std::string_view example,
                      std::int64_t count) {
    add(Diagnostic{kind.severity, std::string(code), count, std::string(example)});
}

void Diagnostics::addMember(DiagnosticCode family, std::string_view member,
                            std::string_view example) {
    std::string code(family.kind().code);
    code.replace(code.size() - 1, 1, member);
    add(family.kind(), code, example, 1);
}

void Diagnostics::add(const Diagnostic& stored) {
    if (Diagnostic* known = findMutable(stored.code)) {
        known->count += stored.count;
    } else {
        m_entries.push_back(stored);
        m_entries.back().example = shortened(stored.example);
    }
}

void Diagnostics::add(const Diagnostics& others) {
    for (const Diagnostic& d : others.m_entries) add(d);
}

Diagnostic* Diagnostics::findMutable(std::string_view code) {
    return const_cast<Diagnostic*>(find(code));  // of this object, which is not const here
}

const Diagnostic* Diagnostics::find(std::string_view code) const {
    for (const Diagnostic& d : m_entries) {
        if (d.code == code) return &d;
    }
    return nullptr;
}

}  // namespace pleat::base
