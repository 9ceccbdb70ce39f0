// somatlas train: the command line of training, and what it says while it runs.
// Always holds: options that contradict each other are refused by the parser; every epoch's figures
// go to standard error and, with --log, to a file of JSON lines.
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "pipeline/training.h"
#include "pipeline/worker_threads.h"
#include "tools/command.h"
#include "tools/epoch_report.h"
#include "tools/figures.h"
#include "tools/training_options.h"

namespace somatlas::tools {

namespace {

using pipeline::TrainingOptions;

struct Options {
  TrainingArguments training;
  std::string log;
  bool plan = false;
  bool json = false;
  bool progress = false;
};

class Observer final : public pipeline::TrainingObserver {
 public:
  Observer(Session& session, EpochLog& log, bool say_checkpoints)
      : session_(session), log_(log), say_checkpoints_(say_checkpoints) {}

  void plan(const pipeline::MemoryPlan& plan) override {
    if (!plan.fits()) {
      return;  // the refusal says its figures
    }
    std::string text = "Training " + count_of(plan.articles, "article") + " with " +
                       count_of(plan.descriptors, "descriptor") + " on " + plan.device + ": " +
                       size_text(plan.host_bytes) + " of host memory";
    if (plan.device_bytes != 0) {
      text += ", " + size_text(plan.device_bytes) + " of device memory";
    }
    session_.say(text + ".");
  }
  void epoch(const pipeline::EpochFigures& figures) override {
    if (!header_said_) {
      session_.say(epoch_header());
      header_said_ = true;
    }
    session_.say(epoch_line(figures));
    log_.add(figures);
    search_seconds_ += figures.search_seconds;
    update_seconds_ += figures.update_seconds;
    waiting_seconds_ += figures.waiting_seconds;
  }
  void checkpoint(std::uint32_t next_epoch) override {
    if (say_checkpoints_) {
      session_.say("checkpoint written before epoch " + std::to_string(next_epoch));
    }
  }
  void changes(const pipeline::ArticleChanges& changes) override {
    session_.say("Since that atlas: " + count_of(changes.added, "article") + " new, " +
                 std::to_string(changes.changed) + " changed, " + std::to_string(changes.gone) +
                 " gone, " + std::to_string(changes.unchanged) + " unchanged, of which " +
                 std::to_string(changes.moved) + " moved.");
  }
  void note(const std::string& text) override { session_.say(text); }

  /// Over all epochs that it saw.
  [[nodiscard]] nlohmann::ordered_json seconds() const {
    return {{"search", search_seconds_},
            {"of_that_waiting", waiting_seconds_},
            {"update", update_seconds_}};
  }

  void progress(std::uint64_t rows, std::uint64_t of) override { session_.pass_progress(rows, of); }

 private:
  Session& session_;
  EpochLog& log_;
  bool say_checkpoints_;
  bool header_said_ = false;
  double search_seconds_ = 0;
  double update_seconds_ = 0;
  double waiting_seconds_ = 0;
};

nlohmann::ordered_json to_json(const std::vector<gpu::MemoryPart>& parts) {
  auto list = nlohmann::ordered_json::array();
  for (const gpu::MemoryPart& part : parts) {
    list.push_back({{"name", part.name},
                    {"host_bytes", part.host_bytes},
                    {"device_bytes", part.device_bytes}});
  }
  return list;
}

void print_plan_json(const pipeline::MemoryPlan& plan, Output& out) {
  const nlohmann::ordered_json text{{"side", plan.side},
                                    {"device", plan.device},
                                    {"articles", plan.articles},
                                    {"descriptors", plan.descriptors},
                                    {"host_bytes", plan.host_bytes},
                                    {"host_available", plan.host_available},
                                    {"device_bytes", plan.device_bytes},
                                    {"device_available", plan.device_available},
                                    {"parts", to_json(plan.parts)},
                                    {"tiles", plan.tiles},
                                    {"tiles_that_stay", plan.kept_tiles},
                                    {"tiles_sent_from_host_memory", plan.kept_on_host},
                                    {"fits", plan.fits()},
                                    {"largest_side", plan.largest_side},
                                    {"largest_radius", plan.largest_radius}};
  out << text.dump(2) << '\n';
}

// The device has a line only where it has memory of its own.
void print_plan(const pipeline::MemoryPlan& plan, const TrainingOptions& options, Output& out) {
  const auto line = [&out](std::string_view name, const std::string& value) {
    constexpr std::size_t width = 26;
    out << name << std::string(width - name.size(), ' ') << value << '\n';
  };
  const auto right = [](const std::string& size) {
    constexpr std::size_t width = 10;
    return std::string(width - size.size(), ' ') + size;
  };
  line("side", std::to_string(plan.side));
  line("training articles", std::to_string(plan.articles));
  line("descriptors", std::to_string(plan.descriptors));
  line("device", plan.device);
  line("host memory", "needs " + size_text(plan.host_bytes) +
                          (options.host_memory != 0 ? ", cap " : ", available ") +
                          size_text(plan.host_available));
  if (plan.device_bytes != 0) {
    const bool capped = plan.device_available == options.device_memory;
    line("device memory", "needs " + size_text(plan.device_bytes) +
                              (capped ? ", cap " : ", free ") + size_text(plan.device_available));
  }
  const bool on_device = plan.device_bytes != 0;
  line("of that", on_device ? "      host    device" : "      host");
  for (const gpu::MemoryPart& part : plan.parts) {
    line("  " + part.name, right(size_text(part.host_bytes)) +
                               (on_device ? right(size_text(part.device_bytes)) : ""));
  }
  line("tiles that stay", std::to_string(plan.kept_tiles) + " of " + std::to_string(plan.tiles) +
                              (plan.kept_on_host != 0 ? ", " + std::to_string(plan.kept_on_host) +
                                                            " more are sent from host memory"
                                                      : ""));
  line("fits", plan.fits() ? "yes" : "no");
  line("largest side that fits",
       plan.largest_side == 0 ? "none" : std::to_string(plan.largest_side));
  line("largest radius", std::to_string(plan.largest_radius));
}

void say_result(Session& session, const TrainingOptions& options, const pipeline::AtlasMeta& meta) {
  session.say(options.atlas_directory + ": a map of side " + std::to_string(meta.settings.side) +
              " of " + count_of(meta.training_articles, "article") + " after " +
              count_of(meta.epochs, "epoch") +
              (meta.earlier_epochs == 0 ? ""
                                        : ", " + std::to_string(meta.epochs + meta.earlier_epochs) +
                                              " with those of the atlases it goes on from") +
              "; " + count_of(meta.placed_articles, "article") + " placed; QE " +
              fixed(meta.quality.qe, 5) + ", held-out QE " + fixed(meta.quality.heldout_qe, 5) +
              ", cosine QE " + fixed(meta.quality.cosine_qe, 5) + ", topographic error " +
              fixed(meta.quality.topographic_error, 5) + ".");
}

int train(Session& session, const Options& options) {
  if (options.progress) {
    session.want_progress();
  }
  TrainingOptions training = options.training.options();
  pipeline::require_threads(training.threads);
  if (options.plan) {
    const pipeline::MemoryPlan plan = pipeline::plan_training(training);
    if (options.json) {
      print_plan_json(plan, session.out());
    } else {
      print_plan(plan, training, session.out());
    }
    return exit_done;
  }
  training.stop = session.stop_token();
  EpochLog log(options.log);
  Observer observer(session, log, options.progress);
  const pipeline::TrainingResult result = pipeline::train(training, observer);
  if (result.stopped) {
    session.say("Stopped when asked to, after a checkpoint; add --resume to go on.");
    return exit_done;  // main makes it the signal's
  }
  say_result(session, training, result.meta);
  if (options.json) {
    auto json = nlohmann::ordered_json::parse(pipeline::to_json(result.meta));
    json["seconds"] = observer.seconds();
    session.out() << json.dump(2) << '\n';
  }
  return exit_done;
}

}  // namespace

Run define_train(CLI::App& command) {
  auto options = std::make_shared<Options>();
  TrainingOptions& training = options->training.given;
  add_store_option(command, training.store_directory)->required();
  add_atlas_option(command, training.atlas_directory)->required();
  command.add_flag("--resume", training.resume,
                   "Go on from the last checkpoint of this atlas: the same command again");
  auto* from = command
                   .add_option("--from", training.from,
                               "Go on from another atlas, whose settings count: place what is "
                               "new or changed, forget what is gone")
                   ->type_name("ATLAS");
  add_training_options(command, options->training, from);
  command.add_flag("--overwrite", training.overwrite, "Replace an atlas of that name");
  command.add_flag("--plan", options->plan, "Print the memory that training needs, and stop");
  command
      .add_option("--log", options->log, "Append the figures of each epoch to FILE as JSON lines")
      ->type_name("FILE");
  add_json_option(command, options->json);
  add_progress_option(command, options->progress);
  return [options](Session& session) { return train(session, *options); };
}

}  // namespace somatlas::tools
