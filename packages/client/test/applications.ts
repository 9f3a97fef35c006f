/** An application in each framework, whose routes are all behind a guard and return the verification result. */
import { createServer, IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { getConnInfo } from '@hono/node-server/conninfo';
import express from 'express';
import { fastify } from 'fastify';
import { Hono } from 'hono';
import { newCheck, type CheckOptions } from '../src/check.ts';
import type { Verifier } from '../src/client.ts';
import * as forExpress from '../src/express.ts';
import * as forFastify from '../src/fastify.ts';
import * as forHono from '../src/hono.ts';
import * as forNext from '../src/next.ts';

type Start = (verifier: Verifier, options: CheckOptions) => Server | Promise<Server>;

const loopback = '127.0.0.1';

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * The request as adapters of serverless platforms make it from an event: with `headers`, in which the lines of one name are joined,
 * and without `rawHeaders`.
 */
function behindAdapter(listener: Listener): Listener {
  return (request, response) => {
    const adapted = new IncomingMessage(request.socket);
    const { method, url, httpVersion, httpVersionMajor, httpVersionMinor, headersDistinct } = request;
    const headers = Object.fromEntries(
      Object.entries(headersDistinct).map(([name, values]) => [name, values?.join(',')]),
    );
    Object.assign(adapted, { method, url, httpVersion, httpVersionMajor, httpVersionMinor, headers, complete: true });
    adapted.push(null);
    listener(adapted, response);
  };
}

export const applications: Readonly<Record<string, Start>> = {
  'core check'(verifier, options) {
    const check = newCheck(verifier, options);
    const listener = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const { result, refusal, headers } = await check(request, request.socket.remoteAddress);
      if (refusal) response.writeHead(refusal.status, refusal.headers).end(refusal.body);
      else response.writeHead(200, headers).end(JSON.stringify({ result }));
    };
    return createServer((request, response) => void listener(request, response)).listen(0, loopback);
  },

  express(verifier, options) {
    const app = express();
    app.use(forExpress.guard(verifier, options));
    app.use((request, response) => {
      response.json({ result: request.keyreeve });
    });
    return app.listen(0, loopback);
  },

  'express behind an adapter'(verifier, options) {
    const app = express();
    app.use(forExpress.guard(verifier, options));
    app.use((request, response) => {
      response.json({ result: request.keyreeve });
    });
    return createServer(behindAdapter(app)).listen(0, loopback);
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

  async 'fastify behind an adapter'(verifier, options) {
    const app = fastify();
    const onRequest = forFastify.guard(verifier, options);
    app.all('/*', { onRequest }, (request) => ({ result: request.keyreeve }));
    await app.ready();
    return createServer(behindAdapter((request, response) => app.routing(request, response))).listen(0, loopback);
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
