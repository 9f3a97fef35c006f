/** The limit: a bare node:http server with the settings of Keyreeve's server, which returns a constant response. */
import { createServer } from 'node:http';

const server = createServer({ optimizeEmptyRequests: true, noDelay: true }, (_, response) => {
  response.writeHead(200, ['Content-Length', '0']).end();
});
server.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () => {
  const address = server.address();
  console.log(
    JSON.stringify({ event: 'listening', url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}` }),
  );
});
