/**
 * The limit: a bare node:http server with the settings of Keyreeve's server. It reads the request with its body and returns
 * a constant, empty response.
 */
import { createServer, type ServerResponse } from 'node:http';

const respond = (response: ServerResponse): void => void response.writeHead(200, ['Content-Length', '0']).end();

const server = createServer({ optimizeEmptyRequests: true, noDelay: true }, (request, response) => {
  if (request.method !== 'POST') return respond(response);
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => respond(response));
});
server.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () => {
  const address = server.address();
  console.log(
    JSON.stringify({ event: 'listening', url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}` }),
  );
});
