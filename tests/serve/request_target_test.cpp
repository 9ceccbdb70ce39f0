// What the viewer makes of request lines and Host headers, tricks included.
#include "tools/serve/request_target.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace somatlas::serve {
namespace {

TEST(RequestTarget, IsTakenApart) {
  const auto target = parse_target("/tile/D009369/3/1/2.png?v=ab&q=a%20b+c%C3%A9&empty=&bare");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, (std::vector<std::string>{"tile", "D009369", "3", "1", "2.png"}));
  EXPECT_EQ(target->value("q"), "a b c\u00e9");
  EXPECT_EQ(target->value("empty"), "");
  EXPECT_EQ(target->value("bare"), "");
  EXPECT_FALSE(target->value("other"));
  EXPECT_TRUE(parse_target("/")->path.empty());
}

TEST(RequestTarget, TricksAreRefused) {
  for (const std::string text : {"",
                                 "x",
                                 "http://127.0.0.1/",
                                 "//",
                                 "//etc/passwd",
                                 "/..",
                                 "/../etc/passwd",
                                 "/a/../b",
                                 "/a/./b",
                                 "/a//b",
                                 "/a/",
                                 "/%2e%2e/etc/passwd",
                                 "/%2fetc",
                                 "/a%00b",
                                 "/a\\b",
                                 "/.hidden",
                                 "/a..b",
                                 "/a.",
                                 "/a b",
                                 "/\xC3\xA9",
                                 "/a?q=%",
                                 "/a?q=%4",
                                 "/a?q=%zz",
                                 "/a?q=%00",
                                 "/a?q=%ff",
                                 "/a?q=%c0%af",
                                 "/a?q=%ed%a0%80",
                                 "/a?q=%f4%90%80%80",
                                 "/a?q=%e2%82",
                                 "/a?%1b=x"}) {
    EXPECT_FALSE(parse_target(text)) << text;
  }
}

TEST(RequestTarget, NumbersAreDigitsAlone) {
  EXPECT_EQ(parse_number("0"), 0U);
  EXPECT_EQ(parse_number("4294967295"), 0xFFFF'FFFFU);
  EXPECT_EQ(parse_number("7", 7), 7U);
  for (const std::string text : {"", "-1", "+1", " 1", "1 ", "0x1", "1.5", "4294967296"}) {
    EXPECT_FALSE(parse_number(text)) << text;
  }
  EXPECT_FALSE(parse_number("8", 7));
}

TEST(RequestTarget, HostIsThisServer) {
  for (const std::string host :
       {"127.0.0.1:8017", "localhost:8017", "LocalHost:8017", "[::1]:8017"}) {
    EXPECT_TRUE(names_this_server(host, 8017, false, "ward")) << host;
  }
  for (const std::string host :
       {"", "localhost", "localhost:80", "localhost:", "localhost:8017x", "localhost:08017",
        "localhost:+8017", "localhost:73553", "evil.example:8017", "127.0.0.1.evil.example:8017",
        "localhost.evil.example:8017", "ward:8017", "192.168.1.2:8017", ":8017", "[::2]:8017"}) {
    EXPECT_FALSE(names_this_server(host, 8017, false, "ward")) << host;
  }
  EXPECT_TRUE(names_this_server("localhost", 80, false, ""));
  EXPECT_TRUE(names_this_server("ward:8017", 8017, true, "ward"));
  EXPECT_TRUE(names_this_server("192.168.1.2:8017", 8017, true, "ward"));
  EXPECT_TRUE(names_this_server("[fe80::2]:8017", 8017, true, "ward"));
  EXPECT_FALSE(names_this_server("evil.example:8017", 8017, true, "ward"));
  EXPECT_FALSE(names_this_server(":8017", 8017, true, ""));
}

}  // namespace
}  // namespace somatlas::serve
