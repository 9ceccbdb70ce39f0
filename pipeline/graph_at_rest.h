// Brings a flow graph to rest before its nodes go. Always holds: where making or starting a graph
// throws, tasks that were begun end before the nodes that they belong to are destroyed; the graph
// itself, which is made first and destroyed last, would wait for them too late.
#pragma once

#include <oneapi/tbb/flow_graph.h>

namespace somatlas::pipeline {

/// Made behind the last of a graph's nodes.
class GraphAtRest {
 public:
  explicit GraphAtRest(oneapi::tbb::flow::graph& graph) : graph_(graph) {}
  ~GraphAtRest() {
    try {
      graph_.cancel();
      graph_.wait_for_all();
    } catch (...) {
      // What was thrown in a task: what ended this scope is told.
    }
  }
  GraphAtRest(const GraphAtRest&) = delete;
  GraphAtRest& operator=(const GraphAtRest&) = delete;

 private:
  oneapi::tbb::flow::graph& graph_;
};

}  // namespace somatlas::pipeline
