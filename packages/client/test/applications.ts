/** An application in each framework, whose routes are all behind a guard and return the verification result. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { getConnInfo } from '@hono/node-server/conninfo';
import express from 'express';
import { fastify } from 'fastify';
import { Hono } from 'hono';
import type { Verifier } from '../src/client.ts';
import * as forExpress from '../src/express.ts';
import * as forFastify from '../src/fastify.ts';
import type { GuardOptions } from '../src/guard.ts';
import * as forHono from '../src/hono.ts';
import * as forNext from '../src/next.ts';

type Start = (verifier: Verifier, options: GuardOptions) => Server | Promise<Server>;

const loopback = '127.0.0.1';

export const applications: Readonly<Record<string, Start>> = {
  express(verifier, options) {
    const app = express();
    app.use(forExpress.guard(verifier, options));
    app.use((request, response) => {
      response.json({ result: request.keyreeve });
    });
    return app.listen(0, loopback);
  },

  'node:http'(verifier, options) {
    const guard = forExpress.guard(verifier, options);
    const listener = (request: IncomingMessage & { keyreeve?: unknown }, response: ServerResponse): void =>
      void guard(request as never, response, () => response.end(JSON.stringify({ result: request.keyreeve })));
    return createServer(listener).listen(0, loopback);
  },

  async 'fastify onRequest'(verifier, options) {
    const app = fastify();
    const onRequest = forFastify.guard(verifier, options);
    app.all('/*', { onRequest }, (request) => ({ result: request.keyreeve }));
    await app.listen({ port: 0, host: loopback });
    return app.server;
  },

  async 'fastify plugin'(verifier, options) {
    const app = fastify();
    await app.register(forFastify.keyreeve, { ...options, verifier });
    app.all('/*', (request) => ({ result: request.keyreeve }));
    await app.listen({ port: 0, host: loopback });
    return app.server;
  },

  hono(verifier, options) {
    const app = new Hono();
    app.use(forHono.guard(verifier, { ...options, address: (context) => getConnInfo(context).remote.address }));
    app.all('*', (context) => context.json({ result: context.get('keyreeve') }));
    return createAdaptorServer({ fetch: app.fetch }).listen(0, loopback) as Server;
  },

  next(verifier, options) {
    const handler = forNext.guard<Request, object>(
      verifier,
      { ...options, address: () => loopback },
      (_request, { keyreeve }) => Response.json({ result: keyreeve }),
    );
    return createAdaptorServer({ fetch: (request: Request) => handler(request, {}) }).listen(0, loopback) as Server;
  },
};
