#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "io/onnx/shape/dims.hpp"
#include "io/onnx/shape/operators.hpp"

// Classical machine learning, the domain ai.onnx.ml. An input is [rows, features], or [features] for one row.
namespace stowage::io::onnx::shape {
namespace {

std::int64_t rows_of(const Call& call) {
  if (call.rank(0) != 1 && call.rank(0) != 2) stop(fmt::format("its input is {}", to_string(call.dims(0))));
  return call.rank(0) == 1 ? 1 : call.dim(0, 0);
}

std::size_t count_of(const Call& call, std::string_view attribute) {
  const Attribute* const found = call.node().find(attribute);
  if (found == nullptr) return 0;
  return std::max({found->integers.size(), found->reals.size(), found->texts.size()});
}

/// Output 0 has the shape of input 0, but real numbers.
void real_like_first(Call& call) { call.set(0, ElementType::float32, call.dims(0)); }

/// As many features as there are indices.
void extract_features(Call& call) {
  Dims dims = call.dims(0);
  if (dims.empty()) stop("its input is a scalar");
  if (dims.size() == 1) dims.insert(dims.begin(), 1);
  dims.back() = count(call.dims(1));
  call.set(0, call.type(0), std::move(dims));
}

/// Strings become integers, and integers strings.
void map_categories(Call& call) {
  call.set(0, call.type(0) == ElementType::string ? ElementType::int64 : ElementType::string, call.dims(0));
}

void concatenate_features(Call& call) {
  std::int64_t features = 0;
  for (std::size_t i = 0; i < call.input_count(); ++i)
    features = plus(features, call.dim(i, call.rank(i) == 1 ? 0 : 1));
  call.set(0, ElementType::float32, {rows_of(call), features});
}

void encode_labels(Call& call) {
  static constexpr std::array<std::pair<std::string_view, ElementType>, 3> kLists = {
      {{"values_strings", ElementType::string},
       {"values_int64s", ElementType::int64},
       {"values_floats", ElementType::float32}}};
  if (const TensorInfo* const values = call.node().tensor("values_tensor"))
    return call.set(0, values->type, call.dims(0));
  for (const auto& [attribute, type] : kLists) {
    if (count_of(call, attribute) > 0) return call.set(0, type, call.dims(0));
  }
  // Version 1 has one list of strings for both directions.
  if (count_of(call, "classes_strings") == 0) stop("it has no values");
  map_categories(call);
}

void one_hot_encoder(Call& call) {
  Dims dims = call.dims(0);
  dims.push_back(static_cast<std::int64_t>(std::max(count_of(call, "cats_int64s"), count_of(call, "cats_strings"))));
  call.set(0, ElementType::float32, std::move(dims));
}

/// Outputs: the label of each row, the score of each class.
void set_classes(Call& call, std::int64_t classes) {
  const bool strings = count_of(call, "classlabels_strings") > 0;
  call.set(0, strings ? ElementType::string : ElementType::int64, {rows_of(call)});
  call.set(1, ElementType::float32, {rows_of(call), classes});
}

std::int64_t count_labels(const Call& call, std::string_view integers) {
  return static_cast<std::int64_t>(std::max(count_of(call, "classlabels_strings"), count_of(call, integers)));
}

/// One intercept for each class, or one for two classes.
void linear_classifier(Call& call) {
  const auto intercepts = static_cast<std::int64_t>(count_of(call, "intercepts"));
  set_classes(call, intercepts == 1 && count_labels(call, "classlabels_ints") == 2 ? 2 : intercepts);
}

void tree_classifier(Call& call) { set_classes(call, count_labels(call, "classlabels_int64s")); }

void linear_regressor(Call& call) {
  call.set(0, ElementType::float32, {rows_of(call), call.node().integer("targets", 1)});
}

void vector_regressor(Call& call) { call.set(0, ElementType::float32, {rows_of(call), 1}); }

void tree_regressor(Call& call) {
  call.set(0, ElementType::float32, {rows_of(call), call.node().integer("n_targets", 1)});
}

void tree_ensemble(Call& call) { call.set(0, call.type(0), {call.dim(0, 0), call.node().integer("n_targets", 1)}); }

constexpr Operator kLearnedOperators[] = {
    {"ArrayFeatureExtractor", extract_features},
    {"Binarizer", like_first},
    {"CategoryMapper", map_categories},
    {"FeatureVectorizer", concatenate_features},
    {"Imputer", like_first},
    {"LabelEncoder", encode_labels},
    {"LinearClassifier", linear_classifier},
    {"LinearRegressor", linear_regressor},
    {"Normalizer", real_like_first},
    {"OneHotEncoder", one_hot_encoder},
    {"SVMRegressor", vector_regressor},
    {"Scaler", real_like_first},
    {"TreeEnsemble", tree_ensemble},
    {"TreeEnsembleClassifier", tree_classifier},
    {"TreeEnsembleRegressor", tree_regressor},
};

}  // namespace

std::span<const Operator> learned_operators() { return kLearnedOperators; }

}  // namespace stowage::io::onnx::shape
