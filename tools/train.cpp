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

namespace somatlas::tools {

namespace {

using pipeline::Device;
using pipeline::Start;
using pipeline::TrainingOptions;

struct Options {
  TrainingOptions training;
  std::uint32_t radius_start = 0;
  std::string init = "pca";
  std::string device = "auto";
  std::string device_cache = "auto";
  CLI::Option* radius_start_given = nullptr;
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
  void progress(std::uint64_t rows, std::uint64_t of) override {
    if (session_.progress_shown() && of != 0) {
      session_.progress("this pass: " + std::to_string(rows * 100 / of) + " %");
    }
  }

 private:
  Session& session_;
  EpochLog& log_;
  bool say_checkpoints_;
  bool header_said_ = false;
};

void print_plan_json(const pipeline::MemoryPlan& plan, Output& out) {
  const nlohmann::ordered_json text{{"side", plan.side},
                                    {"device", plan.device},
                                    {"articles", plan.articles},
                                    {"descriptors", plan.descriptors},
                                    {"host_bytes", plan.host_bytes},
                                    {"host_available", plan.host_available},
                                    {"device_bytes", plan.device_bytes},
                                    {"device_available", plan.device_available},
                                    {"fits", plan.fits()},
                                    {"largest_side", plan.largest_side}};
  out << text.dump(2) << '\n';
}

// The device has a line only where it has memory of its own.
void print_plan(const pipeline::MemoryPlan& plan, const TrainingOptions& options, Output& out) {
  const auto line = [&out](std::string_view name, const std::string& value) {
    out << name << std::string(24 - name.size(), ' ') << value << '\n';
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
  line("fits", plan.fits() ? "yes" : "no");
  line("largest side that fits",
       plan.largest_side == 0 ? "none" : std::to_string(plan.largest_side));
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
  TrainingOptions training = options.training;
  training.settings.start = options.init == "pca" ? Start::pca : Start::random;
  training.device = options.device == "cpu"    ? Device::cpu
                    : options.device == "cuda" ? Device::cuda
                                               : Device::automatic;
  if (options.device_cache != "auto") {
    training.device_cache = std::stoull(options.device_cache);
  }
  if (options.radius_start_given->count() != 0) {
    training.settings.radius_start = options.radius_start;
  }
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
    session.out() << pipeline::to_json(result.meta) << '\n';
  }
  return exit_done;
}

// A share of the articles: from 0 up to, but not, 1.
std::string check_share(const std::string& text) {
  double share = 0;
  return CLI::detail::lexical_cast(text, share) && share >= 0 && share < 1
             ? ""
             : "Value " + text + " not in range 0 to 1, 1 left out";
}

// Makes a size a number of bytes and leaves auto as it is.
std::string read_cache_size(std::string& text) {
  if (text == "auto") {
    return "";
  }
  return text.starts_with('-') ? "Value " + text + " is negative" : CLI::AsSizeValue(true)(text);
}

// What decides the bits; with --from they are the earlier atlas's.
void add_settings(CLI::App& command, Options& options, CLI::Option* from) {
  pipeline::TrainingSettings& settings = options.training.settings;
  constexpr std::uint32_t largest = 32'768;
  command.add_option("--side", settings.side, "Neurons a row and a column of the map")
      ->check(CLI::Range(1U, largest).description(""))
      ->capture_default_str()
      ->type_name("N")
      ->excludes(from);
  options.radius_start_given =
      command
          .add_option("--radius-start", options.radius_start,
                      "First radius (default: side/8 for pca, side/2 for random)")
          ->check(CLI::Range(0U, largest).description(""))
          ->type_name("R")
          ->excludes(from);
  command.add_option("--radius-end", settings.radius_end, "Last radius")
      ->check(CLI::Range(0U, largest).description(""))
      ->capture_default_str()
      ->type_name("R")
      ->excludes(from);
  command.add_option("--init", options.init, "How the map starts: pca or random")
      ->check(CLI::IsMember({"pca", "random"}).description(""))
      ->capture_default_str()
      ->type_name("START")
      ->excludes(from);
  add_seed_option(command, settings.seed, "Seed of the random start and of the held-out share")
      ->excludes(from);
  command.add_option("--holdout", settings.holdout, "Share of articles held out for quality")
      ->check(check_share)
      ->capture_default_str()
      ->type_name("SHARE")
      ->excludes(from);
  command
      .add_option("--min-descriptors", settings.min_descriptors,
                  "Articles with fewer descriptors do not train")
      ->check(CLI::Range(1U, 1023U).description(""))
      ->capture_default_str()
      ->type_name("N")
      ->excludes(from);
}

void add_machine(CLI::App& command, Options& options) {
  TrainingOptions& training = options.training;
  command.add_option("--device", options.device, "Where to search: auto, cpu or cuda")
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}).description(""))
      ->capture_default_str()
      ->type_name("DEVICE");
  add_size_option(command, "--host-memory", training.host_memory,
                  "Most host memory to use, for instance 4GiB (default: what the machine has)");
  add_size_option(command, "--device-memory", training.device_memory,
                  "Most device memory to use, for instance 16GiB (default: what the device has)");
  command
      .add_option(
          "--device-cache", options.device_cache,
          "Most memory of the device (on the CPU: of the host) for articles that stay there "
          "between epochs: a size, 0 for none, or auto for what is left")
      ->transform(CLI::Validator(read_cache_size, ""))
      ->capture_default_str()
      ->type_name("SIZE");
  command.add_option("--tile-rows", training.tile_rows, "Articles that are on the device at once")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 24U).description(""))
      ->capture_default_str()
      ->type_name("N");
  add_threads_option(command, training.threads);
}

}  // namespace

Run define_train(CLI::App& command) {
  auto options = std::make_shared<Options>();
  TrainingOptions& training = options->training;
  add_store_option(command, training.store_directory)->required();
  add_atlas_option(command, training.atlas_directory)->required();
  command.add_flag("--resume", training.resume,
                   "Go on from the last checkpoint of this atlas: the same command again");
  auto* from = command
                   .add_option("--from", training.from,
                               "Go on from another atlas, whose settings count: place what is "
                               "new or changed, forget what is gone")
                   ->type_name("ATLAS");
  add_settings(command, *options, from);
  command.add_option("--epochs", training.settings.epoch_limit, "Most epochs")
      ->check(CLI::Range(1U, 1'000'000U).description(""))
      ->capture_default_str()
      ->type_name("N");
  add_machine(command, *options);
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
