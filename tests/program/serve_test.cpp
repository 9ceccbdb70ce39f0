// somatlas serve over real sockets: what it answers, and what it does with requests that mean harm.
#include <signal.h>

#include <chrono>
#include <string>
#include <thread>

#include "tests/program/serving.h"

namespace somatlas::program_test {
namespace {

using Clock = std::chrono::steady_clock;

TEST_F(Serve, AnswersWithThePageItsScriptsAndTiles) {
  const Answer page = get("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_NE(page.body.find("<title>somatlas</title>"), std::string::npos);
  for (const std::string name : {"leaflet.js", "leaflet.css", "viewer.js", "viewer.css"}) {
    EXPECT_EQ(get("/" + name).status, 200) << name;
    EXPECT_FALSE(get("/" + name).body.empty()) << name;
  }
  for (const std::string layer :
       {"hits", "umatrix", "years", "growth", "region1", "region2", "region3", "D009369"}) {
    const Answer tile = get("/tile/" + layer + "/0/0/0.png");
    EXPECT_EQ(tile.status, 200) << layer;
    EXPECT_EQ(tile.body.substr(0, 4), "\x89PNG") << layer;
  }
  const Answer head = get("/", "HEAD");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.body, "");
  EXPECT_NE(head.head.find("Content-Length: " + std::to_string(page.body.size())),
            std::string::npos);
  for (const std::string header :
       {"Content-Security-Policy: default-src 'none'", "X-Content-Type-Options: nosniff"}) {
    EXPECT_NE(page.head.find(header), std::string::npos) << page.head;
    EXPECT_NE(get("/nothing").head.find(header), std::string::npos) << header;
  }
}

TEST_F(Serve, SaysWhatTheAtlasHolds) {
  const exports::SmallAtlas atlas;
  const auto described = json("/api/atlas");
  EXPECT_EQ(described["side"], 3);
  EXPECT_EQ(described["padded_side"], 4);
  EXPECT_EQ(described["layers"].size(), 7U);
  const auto cell = json("/api/cell/0/0");
  EXPECT_EQ(cell["row"], 0);
  EXPECT_EQ(cell["leading"][0]["ui"], "D000009370");
  EXPECT_EQ(cell["leading"][0]["name"], "Fishes, \"Zebra\"");
  EXPECT_EQ(cell["leading"][0]["share"], 9000 / 16383.0);
  EXPECT_EQ(cell["leading"][0]["lift"], 9000 / 16383.0 * 4 / 1);
  EXPECT_EQ(cell["neighbours"].size(), 3U);
  EXPECT_EQ(json("/api/cell/1/1")["vacant"], true);
  EXPECT_EQ(json("/api/cell/1/1")["neighbours"].size(), 8U);
  EXPECT_EQ(json("/api/brief/0/0"),
            nlohmann::json({{"row", 0},
                            {"column", 0},
                            {"vacant", false},
                            {"hits", 0},
                            {"region", "Fishes, \"Zebra\""},
                            {"leading", {"Fishes, \"Zebra\"", "Neoplasms"}}}));
  EXPECT_EQ(json("/api/brief/1/1")["leading"], nlohmann::json::array());
  const auto found = json("/api/search?q=NEO");
  ASSERT_EQ(found["descriptors"].size(), 1U);
  EXPECT_EQ(found["descriptors"][0]["ui"], "D009369");
  for (const std::string ui : {"D006801", "d006801"}) {
    ASSERT_EQ(json("/api/search?q=" + ui)["descriptors"].size(), 1U) << ui;
    EXPECT_EQ(json("/api/search?q=" + ui)["descriptors"][0]["name"], "Humans");
  }
  const std::uint32_t neuron = atlas.place(atlas.articles().at(11))->neuron;
  const auto article = json("/api/search?q=11")["article"];
  EXPECT_EQ(article["row"], neuron / 3);
  EXPECT_EQ(article["column"], neuron % 3);
  EXPECT_EQ(json("/api/search?q=13")["article"]["found"], false);
  EXPECT_EQ(json("/api/labels?level=1").size(), 2U);
  EXPECT_EQ(json("/api/labels?level=0").size(), 8U);
  EXPECT_EQ(json("/api/labels?level=0&top=1&bottom=1").size(), 2U);
}

TEST_F(Serve, TellsOfRegions) {
  const auto region = json("/api/region/1/0");
  EXPECT_EQ(region, nlohmann::json::parse(R"({
    "level": 1, "number": 0, "name": "Humans", "hits": 350, "cells": 8, "row": 2, "column": 1,
    "window": {"top": 0, "left": 0, "bottom": 2, "right": 2},
    "above": [{"level": 2, "number": 0, "name": "Neoplasms", "hits": 350},
              {"level": 3, "number": 0, "name": "Diseases", "hits": 350}],
    "below": {"parts": 0, "largest": []},
    "leading": [{"ui": "D006801", "name": "Humans", "share": )" +
                                          nlohmann::json(340 / 350.0).dump() + R"(, "lift": )" +
                                          nlohmann::json(340 / 350.0 * 4 / 2).dump() + R"(},
                {"ui": "D009369", "name": "Neoplasms", "share": )" +
                                          nlohmann::json(90 / 350.0).dump() + R"(, "lift": )" +
                                          nlohmann::json(90 / 350.0 * 4 / 2).dump() + R"(}],
    "dated": 14, "mean_year": )" + nlohmann::json(27'892 / 14.0).dump() +
                                          R"(, "recent": 7, "recent_from": 1990,
    "growth": 1.0, "years_known": false})"));
  const auto alone = json("/api/region/1/1");
  EXPECT_EQ(alone["window"],
            nlohmann::json::parse(R"({"top": 0, "left": 0, "bottom": 0, "right": 0})"));
  EXPECT_EQ(alone["leading"], nlohmann::json::array());
  const auto continent = json("/api/region/3/0");
  EXPECT_EQ(continent["above"], nlohmann::json::array());
  EXPECT_EQ(continent["below"]["largest"][0]["name"], "Neoplasms");
  EXPECT_EQ(json("/api/region/2/0")["below"], nlohmann::json::parse(R"({"parts": 2, "largest": [
              {"level": 1, "number": 0, "name": "Humans", "hits": 350},
              {"level": 1, "number": 1, "name": "Fishes, \"Zebra\"", "hits": 0}]})"));
  const auto label = json("/api/labels?level=1")[0];
  EXPECT_EQ(label["level"], 1);
  EXPECT_EQ(label["number"], 0);
  EXPECT_EQ(json("/api/region/1/0/years")["by_year"], nlohmann::json::array());
  for (const std::string target :
       {"region/0/0", "region/4/0", "region/1/2", "region/3/1", "region/1/-1", "region/1",
        "region/1/0/other", "region/1/0/years/0", "region/a/0"}) {
    EXPECT_EQ(get("/api/" + target).status, 404) << target;
  }
}

TEST_F(Serve, RefusesWhatIsNotThere) {
  for (const std::string target :
       {"/nothing", "/tile/hits/0/0/1.png", "/tile/hits/99/0/0.png", "/tile/D000001/0/0/0.png",
        "/tile/other/0/0/0.png", "/tile/hits/0/0/0", "/api", "/api/cell/3/0", "/api/cell/0/-1",
        "/api/cell/0", "/api/brief/0/3", "/api/other", "/CMakeLists.txt",
        "/serve/assets/index.html"}) {
    EXPECT_EQ(get(target).status, 404) << target;
  }
  for (const std::string target :
       {"/../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2fetc", "//etc/passwd", "/viewer.js/",
        "/viewer.js%00.png", "/api/search?q=%ff", "/api/labels?level=9", "/api/labels",
        "/api/cell/0/0?page=x", "http://127.0.0.1/", "*"}) {
    const Answer answer = get(target);
    EXPECT_EQ(answer.status, 400) << target;
    EXPECT_EQ(answer.body.find("root:"), std::string::npos);
  }
}

TEST_F(Serve, GivesTheNoticeOfWhatIsCompiledIn) {
  const Answer notice = get("/leaflet_licence.txt");
  EXPECT_EQ(notice.status, 200);
  EXPECT_NE(notice.head.find("Content-Type: text/plain"), std::string::npos) << notice.head;
  EXPECT_EQ(notice.body, read_file(SOMATLAS_SOURCE_DIR "/tools/serve/assets/leaflet_licence.txt"));
}

TEST_F(Serve, ReadsAlone) {
  for (const std::string method : {"POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "QUX"}) {
    const Answer answer = get("/", method);
    EXPECT_EQ(answer.status, 405) << method;
    EXPECT_NE(answer.head.find("Allow: GET, HEAD"), std::string::npos) << answer.head;
  }
  EXPECT_EQ(raw("POST / HTTP/1.1\r\nHost: " + host() + "\r\nContent-Length: 99999999999\r\n\r\nabc")
                .status,
            405);
  EXPECT_EQ(raw("GET / HTTP/1.1\r\nHost: " + host() + "\r\nContent-Length: 3\r\n\r\nabc").status,
            400);
}

TEST_F(Serve, AnswersToItsOwnNameAlone) {
  const auto status = [this](const std::string& headers) {
    return raw("GET /api/atlas HTTP/1.1\r\n" + headers + "Connection: close\r\n\r\n").status;
  };
  EXPECT_EQ(status("Host: localhost:" + std::to_string(port_) + "\r\n"), 200);
  EXPECT_EQ(status("Host: evil.example:" + std::to_string(port_) + "\r\n"), 421);
  EXPECT_EQ(status("Host: 127.0.0.1\r\n"), 421);
  EXPECT_EQ(status("Host: " + host() + "\r\nHost: evil.example\r\n"), 400);
  EXPECT_EQ(status(""), 400);
}

TEST_F(Serve, BoundsLargeAndSlowRequests) {
  // Headers past a connection's memory.
  const Answer large =
      raw("GET / HTTP/1.1\r\nHost: " + host() + "\r\nX: " + std::string(1 << 20, 'x') + "\r\n\r\n");
  EXPECT_TRUE(large.status == 0 || large.status >= 400) << large.status;
  const Answer long_target = get("/api/search?q=" + std::string(1 << 20, 'x'));
  EXPECT_TRUE(long_target.status == 0 || long_target.status >= 400) << long_target.status;
  // One that drips is closed though it is never silent; others are answered meanwhile.
  const Socket slow(port_);
  slow.send("GET / HTTP/1.1\r\nX: ");
  const auto begun = Clock::now();
  bool closed = false;
  while (!closed && Clock::now() - begun < std::chrono::seconds(20)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    closed = !slow.send("x");
  }
  EXPECT_TRUE(closed);
  EXPECT_EQ(get("/").status, 200);
}

TEST_F(Serve, EndsAtASignalAlsoWhileConnectionsAreOpen) {
  const Socket idle(port_);
  const Socket half(port_);
  half.send("GET / HT");
  server_->send(SIGTERM);
  const Ending ending = server_->wait();
  EXPECT_EQ(ending.exit_code, 143);
  EXPECT_EQ(ending.out, "");
  EXPECT_THROW(Socket{port_}, std::runtime_error);
}

TEST_F(Serve, ATakenPortIsSaid) {
  const Ending ending =
      run_somatlas({"serve", "--atlas", scratch_ / "atlas", "--port", std::to_string(port_)});
  EXPECT_EQ(ending.exit_code, 1);
  EXPECT_NE(ending.err.find("port " + std::to_string(port_) + " cannot be listened on"),
            std::string::npos)
      << ending.err;
}

TEST_F(Serve, ACacheOfNoRoomGivesTheSameTiles) {
  const std::string tile = get("/tile/D009369/1/0/0.png").body;
  server_->send(SIGINT);
  EXPECT_EQ(server_->wait().exit_code, 130);
  start({"--cache", "1"});
  EXPECT_EQ(get("/tile/D009369/1/0/0.png").body, tile);
}

class ServeImported : public Serve {
 protected:
  void make_atlas(const std::string& directory) override {
    std::string rows;
    for (int i = 0; i < 40; ++i) {
      rows += "0 " + std::to_string(1 + i % 2) + ":1 3:1\n";
    }
    write_file(scratch_ / "rows", rows);
    write_file(scratch_ / "names", "ale\nstout\nrose\n");
    write_file(scratch_ / "cod",
               "3 rect 2 2 bubble\n#n ale stout rose\n1 0 1\n1 0 1\n0 1 1\n0 0 0\n");
    for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
             {"--format", "libsvm", "--features", scratch_ / "names", scratch_ / "rows"},
             {"--format", "cod", "--min-descriptors", "1", "--device", "cpu", "--atlas", directory,
              scratch_ / "cod"}}) {
      std::vector<std::string> arguments{"import", "--store", scratch_ / "s"};
      arguments.insert(arguments.end(), more.begin(), more.end());
      const Ending ending = run_somatlas(arguments);
      ASSERT_EQ(ending.exit_code, 0) << ending.err;
    }
  }
};

TEST_F(ServeImported, ShowsWhatThereIs) {
  std::vector<std::string> layers;
  const auto described = json("/api/atlas");
  for (const auto& layer : described["layers"]) {
    layers.push_back(layer["id"]);
    EXPECT_EQ(get("/tile/" + layers.back() + "/0/0/0.png").status, 200) << layers.back();
  }
  // No article has a year.
  EXPECT_EQ(layers, (std::vector<std::string>{"region1", "region2", "region3", "hits", "umatrix"}));
  EXPECT_EQ(get("/tile/D900000001/0/0/0.png").status, 200);
  const auto cell = json("/api/cell/1/0");
  EXPECT_EQ(cell["hits"].get<int>() + json("/api/cell/0/0")["hits"].get<int>() +
                json("/api/cell/0/1")["hits"].get<int>(),
            described["training_articles"]);
  EXPECT_EQ(cell["leading"][0]["name"], "stout");
  EXPECT_EQ(cell["leading"][0]["share"], 1);
  EXPECT_EQ(cell["dated"], 0);
  EXPECT_EQ(json("/api/cell/1/1")["vacant"], true);
  EXPECT_EQ(json("/api/search?q=sto")["descriptors"][0]["ui"], "D900000001");
}

}  // namespace
}  // namespace somatlas::program_test
