#include "sweep_run.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "interrupts.hpp"
#include "problem_plan.hpp"
#include "progress.hpp"
#include "stowage/files.hpp"

namespace stowage::cli {
namespace {

using Point = std::map<std::string, std::int64_t>;  // a value for each dim

/// All combinations; the last dim changes first.
std::vector<Point> points_of(const std::vector<DimValues>& dims) {
  std::vector<Point> points = {{}};
  for (const DimValues& dim : dims) {
    std::vector<Point> more;
    for (const Point& point : points) {
      for (const std::int64_t value : dim.values) {
        more.push_back(point);
        more.back()[dim.name] = value;
      }
    }
    points = std::move(more);
  }
  return points;
}

/// An input in memory, from its first row to its last.
class SweptFile {
 public:
  struct Content {
    Result<std::string> bytes;
    std::string hash;  ///< Empty without bytes.
  };

  SweptFile(std::string path, std::size_t rows) : path_(std::move(path)), rows_left_(rows) {}

  [[nodiscard]] const std::string& path() const { return path_; }

  /// Reads it at the first call. To be called once per row.
  [[nodiscard]] std::shared_ptr<const Content> take() {
    const std::scoped_lock lock(mutex_);
    if (!content_) {
      Result<std::string> bytes = read_file(path_);
      std::string hash = bytes ? content_hash(*bytes) : std::string();
      content_ = std::make_shared<const Content>(Content{std::move(bytes), std::move(hash)});
    }
    return --rows_left_ == 0 ? std::exchange(content_, nullptr) : content_;
  }

 private:
  std::string path_;
  std::mutex mutex_;
  std::size_t rows_left_;
  std::shared_ptr<const Content> content_;
};

/// With a space instead of each line break and the indentation after it.
std::string on_one_line(std::string_view text) {
  std::string line;
  while (true) {
    const std::size_t end = text.find('\n');
    line += text.substr(0, end);
    if (end == text.npos) return line;
    text.remove_prefix(end + 1);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    line += ' ';
  }
}

Result<Summary> figures_of(const Imported& content, const std::string& path, const PlanOptions& options) {
  if (const auto* const table = std::get_if<CsvProblem>(&content)) {
    if (std::string wrong = graph_option_in(options); !wrong.empty())
      return Error{ErrorCode::invalid, std::move(wrong), {.file = path, .line = {}, .path = {}}};
    STOWAGE_TRY(const PlannedProblem planned, plan_problem(*table, path, options));
    return planned.summary;
  }
  STOWAGE_TRY(const Planned planned, plan(std::get<Graph>(content), options));
  return summarize(planned);
}

Result<Done> plan_into(SweepRow& row, const Result<std::string>& bytes, const ImportOptions& import,
                       const PlanOptions& options) {
  if (!bytes) return bytes.error();
  STOWAGE_TRY(const Imported content, import_bytes(*bytes, row.input, import));
  const auto start = std::chrono::steady_clock::now();
  STOWAGE_TRY(const Summary summary, figures_of(content, row.input, options));
  row.ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  set_figures(row, summary);
  return Done{};
}

/// A row that needs more memory than there is must not end the others.
Result<Done> plan_if_memory_allows(SweepRow& row, const Result<std::string>& bytes, const ImportOptions& import,
                                   const PlanOptions& options) {
  try {
    return plan_into(row, bytes, import, options);
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::out_of_memory, "there is not enough memory for this", {}};
  }
}

SweepRow plan_row(const SweepTask& task, SweptFile& file, const Point& point, std::stop_token stop) {
  const std::shared_ptr<const SweptFile::Content> content = file.take();
  SweepRow row{.input = file.path(), .hash = content->hash, .dims = sweep_dims(point)};
  row.options = sweep_options(task.options, task.import);
  ImportOptions import = task.import;
  import.dims = point;
  PlanOptions options = task.options;
  options.stop = std::move(stop);
  if (const Result<Done> done = plan_if_memory_allows(row, content->bytes, import, options); !done) {
    Error error = done.error();
    if (error.where.file.empty()) error.where.file = row.input;
    row.error = on_one_line(to_string(error));
  }
  return row;
}

/// The rows that are ready, and which one is next.
class Board {
 public:
  explicit Board(std::size_t rows) : rows_(rows) {}

  [[nodiscard]] std::optional<std::size_t> next() {
    const std::size_t at = next_++;
    return at < rows_.size() ? std::optional(at) : std::nullopt;
  }
  void put(std::size_t at, SweepRow row) { rows_[at] = std::move(row); }

  [[nodiscard]] std::vector<SweepRow> ready() && {
    std::vector<SweepRow> rows;
    for (std::optional<SweepRow>& row : rows_) {
      if (row) rows.push_back(std::move(*row));
    }
    return rows;
  }

 private:
  std::atomic<std::size_t> next_ = 0;
  std::vector<std::optional<SweepRow>> rows_;  ///< Each is written by one thread.
};

}  // namespace

SweepResult run_sweep(const SweepTask& task) {
  const std::vector<Point> points = points_of(task.dims);
  std::deque<SweptFile> files;
  for (const std::string& input : task.inputs) files.emplace_back(input, points.size());
  const std::size_t count = files.size() * points.size();
  Board board(count);
  const StoppableWork work;
  Progress progress("planning");
  const auto plan_rows = [&] {
    while (const std::optional<std::size_t> at = board.next()) {
      SweptFile& file = files[*at / points.size()];
      progress.now(fmt::format("planning {} of {}, {}", *at + 1, count, file.path()));
      SweepRow row = plan_row(task, file, points[*at % points.size()], work.token());
      if (work.stopped()) return;  // the search may have been cut short
      board.put(*at, std::move(row));
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (std::size_t i = 1; i < std::min(task.jobs, count); ++i) helpers.emplace_back(plan_rows);
    plan_rows();
  }
  return {std::move(board).ready(), work.stopped()};
}

}  // namespace stowage::cli
