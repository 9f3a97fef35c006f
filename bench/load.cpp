// The load generator: sends one HTTP/1.1 request at a time on each connection, and prints its results as one line of JSON.
//
//   load --port 8787 --connections 64 --seconds 2 [--rate 2000] [--pool FILE --record-bytes 53] < request
//
// It reads the request from the standard input. Each run of NUL bytes in it is a blank, which each use fills with the
// bytes of a record of the pool file. When a record is used up, the next blank takes another record. A run of bytes
// with the value 1 is a decimal number that is different in each request.
//
// Without a rate, a connection sends its next request when it has the response (closed loop). With a rate, each request
// has a due time, and its latency counts from there. So a server that stalls does not hide the latency of requests that
// could not be sent meanwhile (coordinated omission).
//
// SIGTERM ends the load at once. Requests in progress then do not count.
//
// It is C++, because a generator in JavaScript takes a core from the server, and stops at 38,000 to 81,000 requests/s.

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <map>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <random>
#include <string>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <vector>

namespace {

// Time in which requests that were due before the end are still sent and answered.
const double graceMs = 8000;
// Time for the server to accept the connections before the first request.
const double acceptMs = 50;
const size_t responseBytesShown = 300;
const int eventsAtOnce = 256;

[[noreturn]] void stop(const std::string &problem) {
  fprintf(stderr, "load: %s\n", problem.c_str());
  exit(2);
}

struct Options {
  int port = 0;
  std::string unixPath;
  int connections = 1;
  double seconds = 1;
  // Requests per second over all connections; 0 for a closed loop.
  double rate = 0;
  // A closed loop ends after so many requests, or after its seconds if that is earlier. 0: no bound.
  long requestsMax = 0;
  std::string poolPath;
  size_t recordBytes = 0;
  // The first record if records are taken in order; -1 draws them at random, with repetition.
  long firstRecord = -1;
  // What the status of each response begins with: "2" accepts every 2xx, and an empty text every status.
  std::string status = "2";
  // A text that each response contains.
  std::string contains;
};

Options parseOptions(int count, char **values) {
  Options options;
  for (int index = 1; index < count; index += 2) {
    const std::string name = values[index];
    if (index + 1 == count) stop(name + " has no value");
    const char *value = values[index + 1];
    if (name == "--port") options.port = atoi(value);
    else if (name == "--unix") options.unixPath = value;
    else if (name == "--connections") options.connections = atoi(value);
    else if (name == "--seconds") options.seconds = atof(value);
    else if (name == "--rate") options.rate = atof(value);
    else if (name == "--requests") options.requestsMax = atol(value);
    else if (name == "--pool") options.poolPath = value;
    else if (name == "--record-bytes") options.recordBytes = atol(value);
    else if (name == "--first-record") options.firstRecord = atol(value);
    else if (name == "--status") options.status = value;
    else if (name == "--contains") options.contains = value;
    else stop("unknown option " + name);
  }
  if (options.port == 0 && options.unixPath.empty()) stop("--port or --unix is missing");
  if (options.connections < 1 || options.seconds <= 0) stop("--connections and --seconds must be positive");
  return options;
}

double clockMs(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

double nowMs() { return clockMs(CLOCK_MONOTONIC); }

std::string readAll(FILE *file) {
  std::string text;
  char part[65536];
  size_t bytes;
  while ((bytes = fread(part, 1, sizeof part, file)) > 0) text.append(part, bytes);
  return text;
}

using Random = std::mt19937_64;

// The bytes of the next request.
class Request {
  struct Run {
    size_t at, bytes;
  };
  std::string text;
  std::string pool;
  size_t recordBytes;
  size_t records;
  long nextRecord;
  std::vector<Run> blanks, serials;
  // Begins with the time in microseconds, so that the next load does not repeat the numbers of this one.
  unsigned long long serial = clockMs(CLOCK_REALTIME) * 1000;
  Random &random;

  std::vector<Run> runsOf(char byte) const {
    std::vector<Run> runs;
    for (size_t at = text.find(byte); at != std::string::npos; at = text.find(byte, at)) {
      const size_t end = std::min(text.size(), text.find_first_not_of(byte, at));
      runs.push_back({at, end - at});
      at = end;
    }
    return runs;
  }

  size_t drawRecord() {
    const size_t record = nextRecord < 0 ? random() : (size_t)nextRecord++;
    return record % records * recordBytes;
  }

  void fillBlanks() {
    size_t from = 0, left = 0;
    for (const Run &blank : blanks) {
      for (size_t filled = 0; filled < blank.bytes;) {
        if (left == 0) from = drawRecord(), left = recordBytes;
        const size_t bytes = std::min(blank.bytes - filled, left);
        memcpy(&text[blank.at + filled], &pool[from], bytes);
        filled += bytes, from += bytes, left -= bytes;
      }
    }
  }

public:
  Request(const Options &options, Random &source)
      : text(readAll(stdin)), recordBytes(options.recordBytes), nextRecord(options.firstRecord), random(source) {
    blanks = runsOf('\0');
    serials = runsOf('\1');
    if (blanks.empty()) return;
    FILE *file = fopen(options.poolPath.c_str(), "rb");
    if (!file) stop("the request has blanks, but the pool " + options.poolPath + " cannot be read");
    pool = readAll(file);
    fclose(file);
    records = recordBytes == 0 ? 0 : pool.size() / recordBytes;
    if (records == 0) stop("the pool has no record");
  }

  const std::string &next() {
    fillBlanks();
    for (const Run &run : serials) {
      unsigned long long rest = serial++;
      for (size_t digit = run.bytes; digit > 0; digit--, rest /= 10) text[run.at + digit - 1] = '0' + rest % 10;
    }
    return text;
  }
};

// Whether a response is complete. Its length is that of the header, of a chunked body, or zero.
bool isComplete(const std::string &response) {
  const size_t headEnd = response.find("\r\n\r\n");
  if (headEnd == std::string::npos) return false;
  const std::string head = response.substr(0, headEnd);
  const char *length = strcasestr(head.c_str(), "\r\ncontent-length:");
  if (length) return response.size() >= headEnd + 4 + (size_t)atol(length + strlen("\r\ncontent-length:"));
  const std::string lastChunk = "0\r\n\r\n";
  return !strcasestr(head.c_str(), "\r\ntransfer-encoding:") ||
         (response.size() > lastChunk.size() && response.ends_with(lastChunk));
}

struct Connection {
  int socket = -1;
  std::string received;
  bool isWaiting = false;
  // When the request was sent, or was due with a rate.
  double sinceMs = 0;
  // With a rate: when the next request is due.
  double dueMs = 0;
};

volatile sig_atomic_t isStopped = 0;

class Load {
  const Options options;
  Random random{std::random_device{}()};
  Request request{options, random};
  std::vector<Connection> connections{(size_t)options.connections};
  const int poll = epoll_create1(0);
  double startMs = 0, endMs = 0;
  int open = 0;
  long sent = 0;
  std::vector<float> latenciesMs;
  std::map<std::string, long> statuses;
  long failures = 0, unanswered = 0;
  std::string firstFailure;

  void fail(const std::string &what) {
    failures++;
    if (firstFailure.empty()) firstFailure = what.substr(0, responseBytesShown);
  }

  void connectTo(Connection &connection) {
    const bool isUnix = !options.unixPath.empty();
    connection.socket = socket(isUnix ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un path{};
    path.sun_family = AF_UNIX;
    strncpy(path.sun_path, options.unixPath.c_str(), sizeof path.sun_path - 1);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(options.port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int failed = isUnix ? connect(connection.socket, (sockaddr *)&path, sizeof path)
                              : connect(connection.socket, (sockaddr *)&address, sizeof address);
    if (failed) stop(std::string("cannot connect: ") + strerror(errno));
    const int on = 1;
    if (!isUnix) setsockopt(connection.socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    fcntl(connection.socket, F_SETFL, O_NONBLOCK);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u32 = &connection - connections.data();
    epoll_ctl(poll, EPOLL_CTL_ADD, connection.socket, &event);
    connection.received.clear();
    connection.isWaiting = false;
    open++;
  }

  void disconnect(Connection &connection) {
    close(connection.socket);
    connection.socket = -1;
    connection.isWaiting = false;
    open--;
  }

  void send(Connection &connection, double sinceMs) {
    const std::string &bytes = request.next();
    connection.sinceMs = sinceMs;
    connection.isWaiting = true;
    sent++;
    // A socket that has no request in progress has room for one.
    if (write(connection.socket, bytes.data(), bytes.size()) != (ssize_t)bytes.size()) fail("the request was not sent");
  }

  // At least 0 and below 1.
  double fraction() { return random() % 100000 / 100000.0; }

  double gapMs() const { return options.rate == 0 ? 0 : options.connections / options.rate * 1000; }

  bool isOver(double timeMs) const {
    return timeMs >= endMs || (options.requestsMax > 0 && sent >= options.requestsMax);
  }

  // Closed loop: sends at once, unless the load is over.
  void continueLoop(Connection &connection, double timeMs) {
    if (options.rate > 0) return;
    if (isOver(timeMs)) disconnect(connection);
    else send(connection, timeMs);
  }

  // With a rate: sends the due requests. Returns when the next one is due.
  double sendDue(double timeMs) {
    double nextMs = timeMs + 100;
    for (Connection &connection : connections) {
      if (connection.socket < 0 || connection.isWaiting) continue;
      if (connection.dueMs >= endMs) disconnect(connection);
      else if (connection.dueMs <= timeMs) {
        const double dueMs = connection.dueMs;
        // Half to one and a half times the mean distance, so that connections do not send in step.
        connection.dueMs += gapMs() * (0.5 + fraction());
        send(connection, dueMs);
      } else nextMs = std::min(nextMs, connection.dueMs);
    }
    return nextMs;
  }

  void judge(const std::string &response) {
    const std::string status = response.substr(std::min(response.size(), strlen("HTTP/1.1 ")), 3);
    statuses[status]++;
    const bool isExpected = status.starts_with(options.status) && response.find(options.contains) != std::string::npos;
    if (!isExpected) fail(response);
  }

  void receive(Connection &connection) {
    static char part[262144];
    const ssize_t bytes = read(connection.socket, part, sizeof part);
    if (bytes < 0 && errno == EAGAIN) return;
    if (bytes <= 0) {
      if (connection.isWaiting) fail("the server closed the connection");
      disconnect(connection);
      if (nowMs() < endMs) connectTo(connection), continueLoop(connection, nowMs());
      return;
    }
    connection.received.append(part, bytes);
    if (!isComplete(connection.received)) return;
    const double timeMs = nowMs();
    latenciesMs.push_back(timeMs - connection.sinceMs);
    judge(connection.received);
    // A server bounds the requests on one connection.
    const bool isLast = strcasestr(connection.received.c_str(), "\r\nconnection: close");
    connection.received.clear();
    connection.isWaiting = false;
    if (isLast) disconnect(connection), connectTo(connection);
    continueLoop(connection, timeMs);
  }

  // A request without a response counts with the time that it has waited.
  void countUnanswered() {
    const double timeMs = nowMs();
    for (Connection &connection : connections) {
      if (connection.socket < 0 || isStopped) continue;
      if (connection.isWaiting) latenciesMs.push_back(timeMs - connection.sinceMs), unanswered++;
      if (gapMs() == 0) continue;
      for (double dueMs = connection.dueMs; dueMs < endMs; dueMs += gapMs()) {
        latenciesMs.push_back(timeMs - dueMs), unanswered++;
      }
    }
  }

  double percentile(double part) const {
    const size_t index = part * latenciesMs.size();
    return latenciesMs.empty() ? 0 : latenciesMs[std::min(latenciesMs.size() - 1, index)];
  }

public:
  explicit Load(const Options &given) : options(given) { latenciesMs.reserve(4000000); }

  void run() {
    for (Connection &connection : connections) connectTo(connection);
    startMs = nowMs() + acceptMs, endMs = startMs + options.seconds * 1000;
    while (!isStopped && nowMs() < startMs) usleep(1000);
    for (Connection &connection : connections) {
      connection.dueMs = startMs + gapMs() * fraction();
      continueLoop(connection, nowMs());
    }
    epoll_event events[eventsAtOnce];
    while (open > 0 && !isStopped && nowMs() < endMs + graceMs) {
      const double timeMs = nowMs();
      const double nextMs = options.rate > 0 ? sendDue(timeMs) : timeMs + 100;
      if (open == 0) break;
      const long waitNs = std::max(0.0, nextMs - timeMs) * 1e6;
      const timespec wait{waitNs / 1000000000, waitNs % 1000000000};
      const int count = epoll_pwait2(poll, events, eventsAtOnce, &wait, nullptr);
      for (int index = 0; index < count; index++) {
        Connection &connection = connections[events[index].data.u32];
        if (connection.socket >= 0) receive(connection);
      }
    }
    countUnanswered();
  }

  void print() {
    const double seconds = (nowMs() - startMs) / 1000;
    const double processorSeconds = clockMs(CLOCK_PROCESS_CPUTIME_ID) / 1000;
    std::sort(latenciesMs.begin(), latenciesMs.end());
    if (failures > 0) fprintf(stderr, "load: %ld failures; the first one: %s\n", failures, firstFailure.c_str());
    const size_t requests = latenciesMs.size();
    printf("{\"requests\":%zu,\"seconds\":%.3f,\"perSecond\":%.1f,", requests, seconds, requests / seconds);
    printf("\"failures\":%ld,\"unanswered\":%ld,", failures, unanswered);
    printf("\"msP50\":%.3f,\"msP99\":%.3f,\"msP999\":%.3f,\"msMax\":%.3f,\"generatorShare\":%.3f,\"statuses\":{",
           percentile(0.5), percentile(0.99), percentile(0.999), percentile(1), processorSeconds / seconds);
    const char *separator = "";
    for (const auto &[status, times] : statuses) {
      printf("%s\"%s\":%ld", separator, status.c_str(), times);
      separator = ",";
    }
    printf("}}\n");
  }
};

} // namespace

int main(int count, char **values) {
  signal(SIGPIPE, SIG_IGN);
  // Nanoseconds. By default, the kernel delays the end of a wait by up to 50 µs.
  prctl(PR_SET_TIMERSLACK, 1);
  signal(SIGTERM, [](int) { isStopped = 1; });
  Load load(parseOptions(count, values));
  load.run();
  load.print();
}
