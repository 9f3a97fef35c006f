/** HTTP routes of the console's session and configuration. */
import * as contract from '@keyreeve/contract';
import { route, type Route } from '../../http/route.ts';
import type { RouteResponse } from '../../http/response.ts';
import type { ConsoleConfiguration } from './configuration.ts';
import type { ConsoleSessions, StartedSession } from './console-sessions.ts';
import type { SessionCookie } from './cookie.ts';
import { rejectSession } from './mirror.ts';

export interface Console {
  /** The only origin whose pages may use the session. */
  readonly origin: string;
  readonly cookie: SessionCookie;
  readonly sessions: ConsoleSessions;
  readonly configuration: ConsoleConfiguration;
}

export function consoleRoutes({ cookie, sessions, configuration }: Console): readonly Route[] {
  const started = ({ view, text }: StartedSession): RouteResponse => ({
    status: 200,
    headers: ['Set-Cookie', cookie.set(text)],
    body: view,
  });
  return [
    route(contract.getConsoleConfig, async () => ({ status: 200, body: await configuration.read() })),
    route(contract.startConsoleSession, async ({ body, principal, clientIp, userAgent }) =>
      started(await sessions.signIn(body, { clientIp, userAgent }, principal)),
    ),
    route(contract.getConsoleSession, async ({ principal }) => ({
      status: 200,
      body: await sessions.view(principal),
    })),
    route(contract.confirmConsoleSession, async ({ body, principal, clientIp, userAgent }) =>
      started(await sessions.confirm(principal, body, { clientIp, userAgent }).catch(rejectSession)),
    ),
    route(contract.endConsoleSession, async ({ principal }) => {
      await sessions.end(principal);
      // Not "cookies": that would delete the cookies of all subdomains of the operator's domain.
      const headers = ['Set-Cookie', cookie.expired, 'Clear-Site-Data', '"cache", "storage"'];
      return { status: 204, headers };
    }),
  ];
}
