#include "instrumented_runtime/corpus.h"

#include <fmt/format.h>

#include <utility>

#include "instrumented_runtime/file_text.h"
#include "instrumented_runtime/sample_text.h"

namespace pleat::runtime {
namespace {

// One step of splitmix64 (Steele, Lea, Flood 2014).
std::uint64_t mix(std::uint64_t value) {
    value += 0x9e3779b97f4a7c15ULL;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
    return value ^ (value >> 31);
}

}  // namespace

base::Result<Corpus> Corpus::load(const std::string& file, std::int32_t sequence) {
    std::string text;
    if (file.empty()) {
        text = sampleText();
    } else {
        auto read = readFileOf("--data", file);
        if (!read) return read.error();
        text = std::move(*read);
    }
    if (text.size() < static_cast<std::size_t>(sequence) + 1) {
        return base::Error{
            base::ErrorCode::Usage,
            fmt::format("--data {}: {} bytes are too few for --sequence {}, which needs {}",
                        file.empty() ? "(built-in text)" : file, text.size(), sequence,
                        std::int64_t{sequence} + 1)};
    }
    return Corpus(std::move(text), sequence);
}

TokenBatch Corpus::batch(std::uint64_t seed, std::int32_t step, std::int64_t firstSample,
                         std::int32_t count) const {
    const auto sequence = static_cast<std::size_t>(m_sequence);
    const std::size_t starts = m_text.size() - sequence;
    TokenBatch batch;
    for (std::int64_t sample = firstSample; sample < firstSample + count; ++sample) {
        const std::uint64_t draw = mix(mix(mix(seed) ^ static_cast<std::uint64_t>(step)) ^
                                       static_cast<std::uint64_t>(sample));
        const auto begin = m_text.begin() + static_cast<std::ptrdiff_t>(draw % starts);
        const auto length = static_cast<std::ptrdiff_t>(sequence);
        batch.inputs.insert(batch.inputs.end(), begin, begin + length);
        batch.targets.insert(batch.targets.end(), begin + 1, begin + 1 + length);
    }
    return batch;
}

}  // namespace pleat::runtime
