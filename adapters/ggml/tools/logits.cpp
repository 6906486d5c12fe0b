#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <span>

#include <llama.h>

/// logits MODEL UBATCH: runs a model of llama.cpp on fixed tokens, a prompt and some decodes, and prints one line: the
/// file, the number of logits, and a hash of their bytes.
/// With the drop-in preloaded the line must be the same. Used by scripts/ggml_models.sh.
namespace {

constexpr int kPrompt = 100;
constexpr int kTokens = 100;  ///< Every vocabulary has at least as many.

struct Free {
  void operator()(llama_model* model) const { llama_model_free(model); }
  void operator()(llama_context* context) const { llama_free(context); }
};

class Run {
 public:
  Run(llama_model& model, llama_context& context)
      : model_(model), context_(context), vocabulary_(llama_vocab_n_tokens(llama_model_get_vocab(&model))) {}

  /// Evaluates this many tokens at once; false if llama.cpp fails.
  bool step(int count) {
    llama_batch batch = llama_batch_init(count, 0, 1);
    for (int i = 0; i < count; ++i) {
      batch.token[i] = (7 * position_ + 13 * i + 3) % kTokens;
      batch.pos[i] = position_ + i;
      batch.n_seq_id[i] = 1;
      batch.seq_id[i][0] = 0;
      batch.logits[i] = 1;
    }
    batch.n_tokens = count;
    bool good = position_ > 0 || !llama_model_has_encoder(&model_) || llama_encode(&context_, batch) == 0;
    good = good && llama_decode(&context_, batch) == 0;
    for (int i = 0; good && i < count; ++i) take(llama_get_logits_ith(&context_, i));
    llama_batch_free(batch);
    position_ += count;
    return good;
  }

  std::uint64_t hash = 14695981039346656037U;  ///< FNV-1a.
  std::uint64_t count = 0;

 private:
  void take(const float* logits) {
    if (!logits) return;
    count += static_cast<std::uint64_t>(vocabulary_);
    for (const std::byte each : std::as_bytes(std::span(logits, static_cast<std::size_t>(vocabulary_))))
      hash = (hash ^ static_cast<std::uint64_t>(each)) * 1099511628211U;
  }

  llama_model& model_;
  llama_context& context_;
  int vocabulary_;
  int position_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fputs("usage: logits MODEL.gguf UBATCH\n", stderr), 2;
  llama_log_set(
      [](ggml_log_level level, const char* text, void*) {
        if (level == GGML_LOG_LEVEL_ERROR) std::fputs(text, stderr);
      },
      nullptr);
  llama_backend_init();
  const std::unique_ptr<llama_model, Free> model(llama_model_load_from_file(argv[1], llama_model_default_params()));
  if (!model) return std::fprintf(stderr, "%s: cannot load the model\n", argv[1]), 1;
  llama_context_params params = llama_context_default_params();
  params.n_ctx = 0;
  params.n_ubatch = static_cast<std::uint32_t>(std::strtoul(argv[2], nullptr, 10));
  params.n_threads = params.n_threads_batch = 1;
  const std::unique_ptr<llama_context, Free> context(llama_init_from_model(model.get(), params));
  if (!context) return std::fprintf(stderr, "%s: cannot create a context\n", argv[1]), 1;
  Run run(*model, *context);
  for (const int tokens : {kPrompt, 1, 1, 1, 1, 5, 1}) {
    if (!run.step(tokens)) return std::fprintf(stderr, "%s: evaluation failed\n", argv[1]), 1;
  }
  std::printf("%s %llu %016llx\n", std::filesystem::path(argv[1]).filename().c_str(),
              static_cast<unsigned long long>(run.count), static_cast<unsigned long long>(run.hash));
}
