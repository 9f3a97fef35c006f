/** An HTTP server for an app. Requests that arrive before the app wait for it. */
import type { RequestListener } from 'node:http';
import { parseRanges } from '../../foundation/ip-address.ts';
import type { Log } from '../../foundation/log.ts';
import { Cors } from '../../http/cors.ts';
import { securityOf } from '../../http/headers.ts';
import type { RequestLog } from '../../http/request-log.ts';
import { createHttpServer } from '../../http/server.ts';
import { corsHeadersOf, type App } from '../app.ts';
import type { Config } from '../configuration/config.ts';

type ServerConfig = Pick<Config, 'corsOrigins' | 'trustedProxies' | 'publicUrl'>;

export function createAppServer(
  { corsOrigins, trustedProxies, publicUrl }: ServerConfig,
  log: Log,
  requestLog: RequestLog,
) {
  const http = { security: securityOf(publicUrl), cors: new Cors(corsOrigins) };
  const ready = Promise.withResolvers<App>();
  let app: App | undefined;
  const listener: RequestListener = (request, response) => {
    if (app) app.listener(request, response);
    else void ready.promise.then((wired) => wired.listener(request, response));
  };
  const server = createHttpServer(http.security, log, listener, {
    requestLog,
    isProxy: parseRanges(trustedProxies),
    corsHeaders: (request) => corsHeadersOf(http.cors, request),
    shortPath: {
      mayAnswer: (request) => app?.verifications.shortPath.mayAnswer(request) ?? false,
      handle: (request, response) => app?.verifications.shortPath.handle(request, response) ?? false,
    },
  });
  const serve = (wired: App): void => {
    app = wired;
    ready.resolve(wired);
  };
  return { server, http, serve };
}
