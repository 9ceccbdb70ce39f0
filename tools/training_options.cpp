// The settings decide the bits of a training, the rest only where and how fast it runs.
#include "tools/training_options.h"

#include <vector>

namespace somatlas::tools {

namespace {

using pipeline::Device;
using pipeline::Start;

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

constexpr std::uint32_t largest = 32'768;

// How a map begins; with --from it is the earlier atlas.
std::vector<CLI::Option*> add_start(CLI::App& command, TrainingArguments& arguments) {
  std::vector<CLI::Option*> all;
  all.push_back(command
                    .add_option("--side", arguments.given.settings.side,
                                "Neurons a row and a column of the map")
                    ->check(CLI::Range(1U, largest).description(""))
                    ->capture_default_str()
                    ->type_name("N"));
  arguments.radius_start_given =
      command
          .add_option("--radius-start", arguments.radius_start,
                      "First radius (default: side/8 for pca, side/2 for random)")
          ->check(CLI::Range(0U, largest).description(""))
          ->type_name("R");
  all.push_back(arguments.radius_start_given);
  all.push_back(command.add_option("--init", arguments.init, "How the map starts: pca or random")
                    ->check(CLI::IsMember({"pca", "random"}).description(""))
                    ->capture_default_str()
                    ->type_name("START"));
  return all;
}

// What decides the bits beside the start; with --from they are the earlier atlas's.
std::vector<CLI::Option*> add_settings(CLI::App& command, pipeline::TrainingSettings& settings) {
  std::vector<CLI::Option*> all;
  all.push_back(command.add_option("--radius-end", settings.radius_end, "Last radius")
                    ->check(CLI::Range(0U, largest).description(""))
                    ->capture_default_str()
                    ->type_name("R"));
  all.push_back(add_seed_option(command, settings.seed,
                                "Seed of the random start and of the held-out share"));
  all.push_back(
      command.add_option("--holdout", settings.holdout, "Share of articles held out for quality")
          ->check(check_share)
          ->capture_default_str()
          ->type_name("SHARE"));
  all.push_back(command
                    .add_option("--min-descriptors", settings.min_descriptors,
                                "Articles with fewer descriptors do not train")
                    ->check(CLI::Range(1U, 1023U).description(""))
                    ->capture_default_str()
                    ->type_name("N"));
  return all;
}

std::vector<CLI::Option*> add_machine(CLI::App& command, TrainingArguments& arguments) {
  std::vector<CLI::Option*> all;
  pipeline::TrainingOptions& training = arguments.given;
  all.push_back(add_device_option(command, arguments.device));
  all.push_back(add_size_option(
      command, "--host-memory", training.host_memory,
      "Most host memory to use, for instance 4GiB (default: what the machine has)"));
  all.push_back(add_size_option(
      command, "--device-memory", training.device_memory,
      "Most device memory to use, for instance 16GiB (default: what the device has)"));
  all.push_back(
      command
          .add_option(
              "--device-cache", arguments.device_cache,
              "Most memory of the device (on the CPU: of the host) for articles that stay there "
              "between epochs: a size, 0 for none, or auto for what is left")
          ->transform(CLI::Validator(read_cache_size, ""))
          ->capture_default_str()
          ->type_name("SIZE"));
  all.push_back(command
                    .add_option("--tile-rows", training.tile_rows,
                                "Articles that are on the device at once (default: what suits it)")
                    ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 24U).description(""))
                    ->type_name("N"));
  all.push_back(add_threads_option(command, training.threads));
  return all;
}

}  // namespace

CLI::Option* add_device_option(CLI::App& command, std::string& device) {
  return command.add_option("--device", device, "Where to search: auto, cpu or cuda")
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}).description(""))
      ->capture_default_str()
      ->type_name("DEVICE");
}

Device device_named(const std::string& device) {
  return device == "cpu" ? Device::cpu : device == "cuda" ? Device::cuda : Device::automatic;
}

pipeline::TrainingOptions TrainingArguments::options() const {
  pipeline::TrainingOptions training = given;
  training.settings.start = init == "pca" ? Start::pca : Start::random;
  training.device = device_named(device);
  if (device_cache != "auto") {
    training.device_cache = std::stoull(device_cache);
  }
  if (radius_start_given != nullptr && radius_start_given->count() != 0) {
    training.settings.radius_start = radius_start;
  }
  return training;
}

void add_training_options(CLI::App& command, TrainingArguments& arguments, CLI::Option* from) {
  std::vector<CLI::Option*> settings = add_start(command, arguments);
  for (CLI::Option* setting : add_settings(command, arguments.given.settings)) {
    settings.push_back(setting);
  }
  if (from != nullptr) {
    for (CLI::Option* setting : settings) {
      setting->excludes(from);
    }
  }
  command.add_option("--epochs", arguments.given.settings.epoch_limit, "Most epochs")
      ->check(CLI::Range(1U, 1'000'000U).description(""))
      ->capture_default_str()
      ->type_name("N");
  add_machine(command, arguments);
}

std::vector<CLI::Option*> add_placing_options(CLI::App& command, TrainingArguments& arguments) {
  std::vector<CLI::Option*> all = add_settings(command, arguments.given.settings);
  for (CLI::Option* option : add_machine(command, arguments)) {
    all.push_back(option);
  }
  return all;
}

}  // namespace somatlas::tools
