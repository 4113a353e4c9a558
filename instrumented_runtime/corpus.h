// The training text and how steps draw samples from it. A sample is found from (seed, step, its
// number in the global batch) alone, so any split of the batch over replicas and microbatches sees
// the same samples. Immutable.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "instrumented_runtime/stage.h"

namespace pleat::runtime {

class Corpus {
  public:
    // `file` empty: the text built into the program. Usage error when it cannot be read or is too
    // short for one sample of `sequence` bytes and the byte after it.
    static base::Result<Corpus> load(const std::string& file, std::int32_t sequence);

    // Samples firstSample … firstSample + count - 1 of the global batch of `step`.
    [[nodiscard]] TokenBatch batch(std::uint64_t seed, std::int32_t step, std::int64_t firstSample,
                                   std::int32_t count) const;

  private:
    Corpus(std::string text, std::int32_t sequence)
        : m_text(std::move(text)), m_sequence(sequence) {}

    std::string m_text;
    std::int32_t m_sequence;
};

}  // namespace pleat::runtime
