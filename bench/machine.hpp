#pragma once

namespace stowage::bench {

/// What a reader needs to judge the figures: processor, cores, compiler, build type, commit, date. Names no host and no
/// path. The commit comes from STOWAGE_COMMIT, which bench/run.sh sets.
void print_header();

}  // namespace stowage::bench
