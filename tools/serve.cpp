// somatlas serve: an atlas in a browser.
#include <memory>
#include <mutex>
#include <string>

#include "pipeline/atlas_meta.h"
#include "tools/command.h"
#include "tools/serve/http_server.h"
#include "tools/serve/routes.h"

namespace somatlas::tools {
namespace {

struct ServeOptions {
  std::string atlas;
  std::string store;
  std::size_t cache = std::size_t{64} << 20;
  serve::ServerSettings server;
};

int run(Session& session, const ServeOptions& options) {
  const std::stop_token stop = session.stop_token();
  const std::unique_ptr<store::Atlas> atlas =
      store::Atlas::open(options.atlas, store::Atlas::Access::read);
  const std::unique_ptr<store::Store> articles =
      options.store.empty() ? nullptr
                            : store::Store::open(options.store, store::Store::Access::read);
  if (articles != nullptr) {
    pipeline::require_store_of(pipeline::read_atlas_meta(*atlas), options.atlas, *articles);
  }
  const serve::AtlasView view(*atlas, articles.get(), options.cache);
  // A reason once in a row: a page asks for many tiles of a layer.
  std::mutex mutex;
  std::string said;
  serve::HttpServer server(
      options.server,
      [&view](const serve::RequestTarget& target) { return serve::reply_to(view, target); },
      [&](const std::string& reason) {
        const std::lock_guard lock(mutex);
        if (said != reason) {
          session.say(said = reason);
        }
      });
  session.say(options.atlas + " is at http://127.0.0.1:" + std::to_string(server.port()) +
              "/ (Ctrl-C ends)");
  if (options.server.remote) {
    session.say("Other machines can read it too, all of it, with no password.");
  }
  server.serve_until(stop);
  return exit_done;
}

}  // namespace

Run define_serve(CLI::App& command) {
  auto options = std::make_shared<ServeOptions>();
  add_atlas_option(command, options->atlas)->required();
  add_store_option(command, options->store)
      ->description("The atlas's article store, a directory: shows the years of articles");
  command.add_option("--port", options->server.port, "The port to listen on; 0: any that is free")
      ->check(CLI::Range(0, 65535).description(""))
      ->capture_default_str()
      ->type_name("N");
  command.add_flag("--allow-remote", options->server.remote,
                   "Listen on every address of this machine, so that others can read the atlas");
  add_size_option(command, "--cache", options->cache,
                  "Memory for layers and tiles that were made, and as much again each for what "
                  "searches need and for counts by year, of which more room gives shorter steps on "
                  "large maps (default: 64MiB)");
  command.footer(
      "Open the address it prints in a browser. Nothing is fetched from anywhere else. Without\n"
      "--allow-remote this machine alone is answered. The page is drawn by Leaflet, whose licence "
      "is\n"
      "at /leaflet_licence.txt.");
  return [options](Session& session) { return run(session, *options); };
}

}  // namespace somatlas::tools
