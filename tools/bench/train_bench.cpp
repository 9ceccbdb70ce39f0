// somatlas bench train: a whole training into an atlas that is removed again, and how quickly its
// searches and updates went, epoch by epoch; and bench epoch: its first epochs alone. Always holds:
// it is the training that `train` makes; where articles are searched a second time by brute force,
// none may differ.
#include <memory>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <vector>

#include "pipeline/stopwatch.h"
#include "pipeline/training.h"
#include "pipeline/worker_threads.h"
#include "store/atlas.h"
#include "tools/bench/bench.h"
#include "tools/command.h"
#include "tools/figures.h"
#include "tools/training_options.h"

namespace somatlas::tools::bench {
namespace {

struct Options {
  TrainingArguments training;
  std::string scratch;
  std::uint64_t check_rows = 0;
  bool whole = true;  // to the end, with an atlas; else so many epochs, and nothing after them
  bool json = false;
};

/// Of one epoch or of all.
struct Figures {
  double adds = 0;  // articles x their descriptors x neurons, looked at or ruled out
  double search_seconds = 0;
  double device_seconds = 0;  // of the search, in which the device worked
  double update_seconds = 0;
  pipeline::SearchCheck check;

  [[nodiscard]] double adds_a_second() const { return adds / device_seconds; }
  [[nodiscard]] double waiting_share() const { return 1 - device_seconds / search_seconds; }
  void add(const Figures& other) {
    adds += other.adds;
    search_seconds += other.search_seconds;
    device_seconds += other.device_seconds;
    update_seconds += other.update_seconds;
    check.rows += other.check.rows;
    check.mismatches += other.check.mismatches;
  }
  [[nodiscard]] nlohmann::ordered_json to_json() const {
    return {{"adds_a_second", adds_a_second()}, {"search_seconds", search_seconds},
            {"device_seconds", device_seconds}, {"waiting_share", waiting_share()},
            {"update_seconds", update_seconds}, {"checked_articles", check.rows},
            {"mismatches", check.mismatches}};
  }
  [[nodiscard]] std::string line() const {
    return fixed(adds_a_second() / 1e12, 3) + '\t' + fixed(1e3 * search_seconds, 1) + '\t' +
           fixed(1e3 * device_seconds, 1) + '\t' + fixed(100 * waiting_share(), 1) + " %\t" +
           fixed(1e3 * update_seconds, 1) + '\t' + std::to_string(check.rows) + '\t' +
           std::to_string(check.mismatches) + '\n';
  }
};

/// Prints every epoch when it is over, and keeps what it was.
class Observer final : public pipeline::TrainingObserver {
 public:
  Observer(Session& session, double neurons, bool json)
      : session_(session), neurons_(neurons), json_(json) {}

  /// Asks to stop after so many epochs.
  void stop_after(std::uint32_t epochs) { last_ = epochs; }
  [[nodiscard]] std::stop_source& stop() { return stop_; }

  void plan(const pipeline::MemoryPlan& plan) override {
    plan_ = plan;
    if (!json_) {
      session_.out() << "side " << plan.side << ", " << count_of(plan.articles, "article") << ", "
                     << count_of(plan.descriptors, "descriptor") << ", on " << plan.device << "; "
                     << "tiles that stay on the device: " << plan.kept_tiles << " of " << plan.tiles
                     << "\nepoch\tradius\tmoved\tT adds/s\tsearch ms\tdevice ms\twaiting\tupdate ms"
                        "\tchecked\tmismatches\n";
      session_.out().flush();
    }
  }
  void epoch(const pipeline::EpochFigures& epoch) override {
    const Figures figures{
        .adds = static_cast<double>(epoch.descriptors) * neurons_,
        .search_seconds = epoch.search_seconds,
        .device_seconds = epoch.search_seconds - epoch.waiting_seconds,
        .update_seconds = epoch.update_seconds,
        .check = epoch.check,
    };
    all_.add(figures);
    if (json_) {
      nlohmann::ordered_json json{{"epoch", epoch.epoch},
                                  {"radius", epoch.radius},
                                  {"qe", epoch.quality.qe},
                                  {"moved_share", epoch.moved_share}};
      json.update(figures.to_json());
      epochs_.push_back(json);
    } else {
      session_.out() << epoch.epoch << '\t' << epoch.radius << '\t' << fixed(epoch.moved_share, 4)
                     << '\t' << figures.line();
      session_.out().flush();
    }
    if (++seen_ == last_) {
      stop_.request_stop();
    }
  }
  void checkpoint(std::uint32_t) override {}
  void changes(const pipeline::ArticleChanges&) override {}
  void note(const std::string& text) override { session_.say(text); }
  void progress(std::uint64_t rows, std::uint64_t of) override { session_.pass_progress(rows, of); }

  [[nodiscard]] bool was_last() const { return seen_ == last_; }
  [[nodiscard]] const Figures& all() const { return all_; }
  [[nodiscard]] const pipeline::MemoryPlan& memory_plan() const { return plan_; }
  [[nodiscard]] const nlohmann::ordered_json& epochs() const { return epochs_; }

 private:
  Session& session_;
  double neurons_;
  bool json_;
  std::stop_source stop_;
  std::uint32_t seen_ = 0;
  std::uint32_t last_ = UINT32_MAX;
  pipeline::MemoryPlan plan_;
  Figures all_;
  nlohmann::ordered_json epochs_ = nlohmann::ordered_json::array();
};

std::uint32_t side_of(const std::string& atlas) {
  return pipeline::read_atlas_meta(*store::Atlas::open(atlas, store::Atlas::Access::read))
      .settings.side;
}

int run(Session& session, const Options& options) {
  const Scratch scratch(options.scratch);
  pipeline::TrainingOptions training = options.training.options();
  pipeline::require_threads(training.threads);
  training.atlas_directory = scratch.at("atlas");
  training.check_rows = options.check_rows;
  if (!training.from.empty()) {
    training.settings.side = side_of(training.from);
  }
  const double side = training.settings.side;
  Observer observer(session, side * side, options.json);
  if (!options.whole) {
    observer.stop_after(training.settings.epoch_limit);
  }
  const std::stop_callback asked(session.stop_token(), [&] { observer.stop().request_stop(); });
  training.stop = observer.stop().get_token();
  const pipeline::Stopwatch watch;
  const pipeline::TrainingResult result = pipeline::train(training, observer);
  const double seconds = watch.seconds();
  if (result.stopped && !observer.was_last()) {
    session.say("Stopped when asked to, before the end.");
    return exit_failed;
  }
  const Figures& all = observer.all();
  if (options.json) {
    const pipeline::MemoryPlan& plan = observer.memory_plan();
    nlohmann::ordered_json json{{"side", plan.side},
                                {"articles", plan.articles},
                                {"descriptors", plan.descriptors},
                                {"device", plan.device},
                                {"tiles", plan.tiles},
                                {"kept_tiles", plan.kept_tiles},
                                {"epochs", observer.epochs()}};
    json["training"] = all.to_json();
    if (!result.stopped) {
      json["training"]["qe"] = result.meta.quality.qe;
      json["training"]["seconds"] = seconds;
    }
    session.out() << json.dump(2) << '\n';
  } else {
    session.out() << "all\t\t\t" << all.line();
    if (!result.stopped) {
      session.out() << "whole training, places and atlas included: " << fixed(seconds, 2) << " s"
                    << (options.check_rows != 0 ? ", checks included" : "") << "; QE "
                    << fixed(result.meta.quality.qe, 5) << '\n';
    }
  }
  if (all.check.mismatches != 0) {
    session.say("Brute force finds other places for " + count_of(all.check.mismatches, "article") +
                ": this is a fault.");
    return exit_failed;
  }
  return exit_done;
}

void add_rest(CLI::App& command, Options& options) {
  command
      .add_option("--check", options.check_rows,
                  "Articles of each epoch that are searched by brute force too")
      ->capture_default_str()
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 32U).description(""))
      ->type_name("N");
  add_scratch_option(command, options.scratch);
  add_json_option(command, options.json);
}

}  // namespace

Run define_train_bench(CLI::App& command) {
  auto options = std::make_shared<Options>();
  add_store_option(command, options->training.given.store_directory)->required();
  add_training_options(command, options->training, nullptr);
  add_rest(command, *options);
  return [options](Session& session) { return run(session, *options); };
}

Run define_epoch_bench(CLI::App& command) {
  auto options = std::make_shared<Options>();
  options->whole = false;
  pipeline::TrainingOptions& training = options->training.given;
  training.settings.epoch_limit = 3;
  add_store_option(command, training.store_directory)->required();
  auto* from = command
                   .add_option("--from", training.from,
                               "An atlas whose settings and places count; without it the epochs "
                               "are the first ones of a training")
                   ->type_name("ATLAS");
  add_training_options(command, options->training, from);
  add_rest(command, *options);
  return [options](Session& session) { return run(session, *options); };
}

}  // namespace somatlas::tools::bench
