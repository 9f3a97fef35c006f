/**
 * A bound on the requests that one connection may have unanswered. Node parses pipelined requests (RFC 9112 section
 * 9.3.2) as they come, several hundred from one packet's buffer, and starts them all; nobody's client does that.
 *
 * A connection that goes too far is closed. Pausing it instead would not hold: what has been read is parsed in one go,
 * and reading a request's body resumes the connection.
 */
import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { limits } from '@keyreeve/contract';

/** Wraps a server's listener; what comes from a connection that was closed never reaches it. */
export function boundPipelining(listener: RequestListener): RequestListener {
  const waitingOn = new WeakMap<Socket, number>();
  return (request, response) => {
    // A response has its connection from the start, unless an earlier one is still using it: others cost nothing here.
    if (response.socket === null) {
      const { socket } = request;
      const waiting = (waitingOn.get(socket) ?? 0) + 1;
      waitingOn.set(socket, waiting);
      if (waiting > limits.pipelinedRequestsMax) socket.destroy();
      // What was parsed together with the one too many comes all the same.
      if (socket.destroyed) return;
      response.once('close', () => waitingOn.set(socket, (waitingOn.get(socket) ?? 1) - 1));
    }
    listener(request, response);
  };
}
