/** A client that does not wait for responses on a connection that has the short path. */
import { once } from 'node:events';
import { KeptConnection } from './kept-connection.ts';
import { head } from './raw-http.ts';

/** The requests that `pipelined` sends. */
export const pipelinedRequests = 3;

/**
 * Sends the same request several times, each of them while the previous one may be in progress, and closes the sending side
 * behind the last.
 * @returns the status of each response; afterwards the server has closed the connection
 */
export async function pipelined(port: number, request: string): Promise<number[]> {
  using connection = new KeptConnection(port);
  using other = new KeptConnection(port);
  const missing = head('GET /auth/forward HTTP/1.1', 'Host: a');
  // The short path begins after two requests.
  for (let count = 0; count < 2; count++) await connection.ask(missing);
  for (let count = 1; count < pipelinedRequests; count++) {
    connection.socket.write(request);
    // The response shows that the server has read the request.
    await other.ask(missing);
  }
  connection.socket.end(request);
  const statuses: number[] = [];
  while (statuses.length < pipelinedRequests) statuses.push(Number((await connection.response()).split(' ')[1]));
  connection.socket.resume();
  if (!connection.socket.readableEnded) await once(connection.socket, 'end');
  return statuses;
}
