#pragma once

namespace stowage::bench {

/// Prints what a reader needs to judge the figures: processor, cores, compiler, build type, commit, date. Contains no
/// host name and no path. The commit comes from STOWAGE_COMMIT, which bench/run.sh sets.
void print_header();

}  // namespace stowage::bench
