#include <algorithm>
#include <array>
#include <bitset>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "annotate/communication.h"

namespace pleat::annotate {
namespace {

using trace::Dimension;

// In lower case, without numbers: "tp:0" is tp, "TensorParallel" is tensor, parallel.
std::vector<std::string> wordsOf(std::string_view text) {
    std::vector<std::string> words(1);
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        const bool begins = std::isupper(c) != 0 && i > 0 &&
                            std::islower(static_cast<unsigned char>(text[i - 1])) != 0;
        if ((begins || std::isalpha(c) == 0) && !words.back().empty()) words.emplace_back();
        if (std::isalpha(c) != 0) words.back() += static_cast<char>(std::tolower(c));
    }
    if (words.back().empty()) words.pop_back();
    return words;
}

// Names of dimensions that mean nothing else.
constexpr std::array<std::pair<std::string_view, Dimension>, 21> kShort = {{
    {"pp", Dimension::Pp},      {"dp", Dimension::Dp},        {"ddp", Dimension::Dp},
    {"fsdp", Dimension::Dp},    {"hsdp", Dimension::Dp},      {"edp", Dimension::Dp},
    {"efsdp", Dimension::Dp},   {"replicate", Dimension::Dp}, {"shard", Dimension::Dp},
    {"tp", Dimension::Tp},      {"etp", Dimension::Tp},       {"ep", Dimension::Ep},
    {"moe", Dimension::Ep},     {"cp", Dimension::Cp},        {"sp", Dimension::Cp},
    {"ulysses", Dimension::Cp}, {"usp", Dimension::Cp},       {"hcp", Dimension::Cp},
    {"vpp", Dimension::Pp},     {"dcp", Dimension::Cp},       {"dprep", Dimension::Dp},
}};

// Words that mean a dimension beside "parallel" only: a "data" group may be the loader's.
constexpr std::array<std::pair<std::string_view, Dimension>, 8> kLong = {{
    {"tensor", Dimension::Tp},
    {"pipeline", Dimension::Pp},
    {"pipe", Dimension::Pp},
    {"data", Dimension::Dp},
    {"context", Dimension::Cp},
    {"sequence", Dimension::Cp},
    {"expert", Dimension::Ep},
    {"experts", Dimension::Ep},
}};

using Dimensions = std::bitset<6>;

bool has(const Dimensions& found, Dimension one) { return found[static_cast<std::size_t>(one)]; }

// Between which ranks one transfer of a group of several dimensions runs.
Dimension chosen(const Dimensions& found, bool joined) {
    if (found.count() == 1) {
        for (const Dimension one :
             {Dimension::Pp, Dimension::Dp, Dimension::Tp, Dimension::Ep, Dimension::Cp})
            if (has(found, one)) return one;
    }
    const bool expertsTensor =
        found.count() == 2 && has(found, Dimension::Ep) && has(found, Dimension::Tp);
    // Tokens go to experts that are cut: "EXPERT_TENSOR_AND_MODEL_PARALLEL_GROUP".
    if (joined && expertsTensor) return Dimension::Ep;
    // "TENSOR_AND_DATA": all ranks of both.
    if (joined || found.none() || has(found, Dimension::Pp)) return Dimension::Other;
    // Replicas of experts, or over context ranks too ("dp_cp", "dp_shard_in_ep"): gradients.
    if (has(found, Dimension::Dp))
        return has(found, Dimension::Tp) ? Dimension::Other : Dimension::Dp;
    // The parts of one expert: "EXPERT_TENSOR_PARALLEL_GROUP".
    return expertsTensor ? Dimension::Tp : Dimension::Other;
}

}  // namespace

bool isShardedDataParallel(std::string_view name) {
    return name.starts_with("FSDP::") || name.starts_with("FullyShardedDataParallel");
}

Dimension dimensionOfGroup(std::string_view description) {
    if (isShardedDataParallel(description)) return Dimension::Dp;
    const std::vector<std::string> words = wordsOf(description);
    const auto says = [&](std::string_view word) {
        return std::find(words.begin(), words.end(), word) != words.end();
    };
    // The first and the last stage share their embeddings.
    if (says("embedding") && says("group")) return Dimension::Pp;
    if (says("distributed") && says("optimizer") && says("instance")) return Dimension::Dp;
    const bool parallel = says("parallel") || says("parallelism");
    Dimensions found;
    for (const std::string& word : words) {
        for (const auto& [known, dimension] : kShort)
            if (word == known) found.set(static_cast<std::size_t>(dimension));
        for (const auto& [known, dimension] : kLong)
            if (parallel && word == known) found.set(static_cast<std::size_t>(dimension));
    }
    return chosen(found, says("and"));
}

}  // namespace pleat::annotate
