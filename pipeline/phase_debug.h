#pragma once
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wfloat-conversion"
#pragma GCC diagnostic ignored "-Wdouble-promotion"
#include <cstdio>
#include <ctime>
namespace somatlas::pipeline {
inline double dbg_clock(clockid_t c) {
  timespec t;
  clock_gettime(c, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}
struct Phase {
  const char* name;
  double w, p, t;
  explicit Phase(const char* n)
      : name(n),
        w(dbg_clock(CLOCK_MONOTONIC)),
        p(dbg_clock(CLOCK_PROCESS_CPUTIME_ID)),
        t(dbg_clock(CLOCK_THREAD_CPUTIME_ID)) {}
  ~Phase() {
    fprintf(stderr, "PHASE %-28s wall %7.3f cpu %7.3f main-thread %7.3f\n", name,
            dbg_clock(CLOCK_MONOTONIC) - w, dbg_clock(CLOCK_PROCESS_CPUTIME_ID) - p,
            dbg_clock(CLOCK_THREAD_CPUTIME_ID) - t);
  }
};
struct Accum {
  const char* name;
  double s = 0;
  ~Accum() {
    if (s > 0)
      fprintf(stderr, "ACCUM %-28s %7.3f\n", name, s);
  }
};
struct InAccum {
  Accum& a;
  double t;
  explicit InAccum(Accum& x) : a(x), t(dbg_clock(CLOCK_THREAD_CPUTIME_ID)) {}
  ~InAccum() { a.s += dbg_clock(CLOCK_THREAD_CPUTIME_ID) - t; }
};
}  // namespace somatlas::pipeline
