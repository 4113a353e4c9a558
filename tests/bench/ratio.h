// Speed as a ratio of two things measured in turn in one run, so that a busy or slow machine
// weighs on both.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <vector>

namespace pleat::bench {

// Seconds that work() takes.
template <class Work>
double secondsOf(Work work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Seconds of processor time that work() takes on this thread and others: what other programs take
// does not count.
template <class Work>
double processorSecondsOf(Work work) {
    const std::clock_t begin = std::clock();
    work();
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

inline double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

// The median over `rounds` of time(reference) / time(measured): how fast `measured` is, where the
// reference is 1. The first round warms up and does not count.
template <class Reference, class Measured>
double speedRatio(int rounds, Reference reference, Measured measured) {
    std::vector<double> ratios;
    for (int round = 0; round <= rounds; ++round) {
        const double bare = secondsOf(reference);
        const double ours = secondsOf(measured);
        if (round > 0) ratios.push_back(bare / ours);
    }
    return median(ratios);
}

inline void printAtLeast(const char* what, double value, double budget) {
    fmt::print("{:<52} {:6.2f}  budget >= {:<5} {}\n", what, value, budget,
               value >= budget ? "met" : "MISSED");
}

inline void printAtMost(const char* what, double value, double budget) {
    fmt::print("{:<52} {:6.2f}  budget <= {:<5} {}\n", what, value, budget,
               value <= budget ? "met" : "MISSED");
}

inline void printInfo(const char* what, double value) {
    fmt::print("{:<52} {:6.2f}\n", what, value);
}

}  // namespace pleat::bench
