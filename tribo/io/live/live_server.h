// The network side of LiveView: pages, server-sent events and commands over HTTP, on threads of its own. A viewer that is
// slow or gone costs the simulation nothing: what it does not fetch in time is dropped.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace tribo::detail {

class LiveServer {
 public:
  struct Reply {
    int http_status = 200;
    std::string json;
  };
  // Runs on a thread of the server.
  using Handler = std::function<Reply(const std::string& body)>;

  // Listens at once. InvalidInput when address or port cannot be had.
  LiveServer(const std::string& address, int port, std::string world_json, Handler on_command,
             std::function<void()> on_viewer);
  ~LiveServer();

  int port() const;
  const std::string& token() const;
  int viewer_count() const;
  // To all viewers. A chunk is base64; of those waiting for a slow viewer the oldest are dropped.
  void send_chunk(const std::string& base64);
  void send_status(const std::string& json);  // replaces one that waits
  void send_world();                          // the run begins anew

 private:
  struct Data;
  std::unique_ptr<Data> data_;
};

}  // namespace tribo::detail
