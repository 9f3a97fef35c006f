/**
 * better-auth on node:http with its own handler. Verification is a function of its server API without a route, so this file
 * adds a minimal route for it.
 */
import { createServer } from 'node:http';
import { toNodeHandler } from 'better-auth/node';
import { createAuth } from './better-auth.ts';
import { openDatabase } from './database.ts';
import { listen } from './listen.ts';

const auth = createAuth(openDatabase(process.argv[2] ?? ''));
const handle = toNodeHandler(auth);

listen(
  createServer((request, response) => {
    if (request.url !== '/verify') {
      void handle(request, response);
      return;
    }
    const key = request.headers.authorization?.slice('Bearer '.length) ?? '';
    void auth.api.verifyApiKey({ body: { key } }).then((result) => {
      const body = JSON.stringify(result);
      response
        .writeHead(result.valid ? 200 : 401, {
          'Content-Type': 'application/json',
          'Content-Length': Buffer.byteLength(body),
        })
        .end(body);
    });
  }),
);
