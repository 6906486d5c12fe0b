#pragma once

#include <array>
#include <string_view>

namespace stowage::bench {

/// The bytes that a peer needs for one of the graphs. Measured once by the peer itself, not in this run.
struct PeerFigure {
  std::string_view graph;
  long long bytes;
};

inline constexpr std::string_view kGgmlSource = "ggml d99724f, CPU buffer, alignment 32";

inline constexpr std::array kGgml = {
    PeerFigure{"exact_llama70b_pp512_fa", 245'381'120},
    PeerFigure{"exact_llama7b_pp512_fa", 103'299'072},
    PeerFigure{"exact_mixtral8x7b_pp512_fa", 211'826'688},
    PeerFigure{"gpt_train_l12_e768_t512_opt", 791'414'784},
    PeerFigure{"gpt_train_l4_e256_t256_opt", 40'698'912},
    PeerFigure{"llama7b_pp512", 188'753'920},
    PeerFigure{"llama7b_pp512_fa", 105'396'224},
    PeerFigure{"mixtral8x7b_pp512", 201'369'600},
    PeerFigure{"mnist_cnn_train_b500_opt", 83'908'000},
    PeerFigure{"resnet50_b1", 10'838'016},
    PeerFigure{"sd15_unet_64_b1", 587'098'656},
};

}  // namespace stowage::bench
