// Small sound databases for databaseRows to spoil: a recording of two pipeline ranks, two
// microbatches and two iterations as Pleat writes it, and an Nsight export with a row or two in
// every table that is read. Made once, kept as bytes.
#pragma once

#include <sqlite3.h>

#include <string>

namespace pleat::fuzz {

// SQL that has to succeed.
void executeOn(sqlite3* database, const char* sql);

// Without what makes SQLite refuse a wrong value (strict, not null): other writers' files lack it.
[[nodiscard]] const std::string& soundRecording();
[[nodiscard]] const std::string& soundExport();

}  // namespace pleat::fuzz
