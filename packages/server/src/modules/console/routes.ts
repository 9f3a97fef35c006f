/** HTTP routes of the console's session and configuration. */
import type { Static } from 'typebox';
import * as contract from '@keyreeve/contract';
import { invalidAt } from '../../foundation/errors.ts';
import { route, type Route } from '../../http/route.ts';
import type { RouteResponse } from '../../http/response.ts';
import type { ConsoleConfiguration } from './configuration.ts';
import type { Confirmation, ConsoleSessions, StartedSession } from './console-sessions.ts';
import type { SessionCookie } from './cookie.ts';
import { passwordOf } from '../tokens/routes.ts';
import { rejectSession } from './mirror.ts';

type ConfirmationBody = Static<typeof contract.ConsoleConfirmationBody>;

/** @throws DomainError `invalid_request` unless the body has either a password or a passkey */
function confirmationOf({ password, code, passkey }: ConfirmationBody): Confirmation {
  if (password !== undefined && passkey === undefined) return { password, code };
  if (passkey !== undefined && password === undefined && code === undefined) return { passkey };
  throw invalidAt('', 'Expected either `password`, with or without `code`, or `passkey`.');
}

export interface Console {
  /** The only origin whose pages may use the session. */
  readonly origin: string;
  /** What precedes its paths: its origin, or the public URL with its path. */
  readonly baseUrl: string;
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
    route(contract.startConsoleSessionWithPasskey, async ({ body, principal, clientIp, userAgent }) => {
      const client = { clientIp, userAgent };
      return started(await sessions.signInWithPasskey(body.passkey, passwordOf(body), client, principal));
    }),
    route(contract.getConsoleSession, async ({ principal }) => ({
      status: 200,
      body: principal ? await sessions.view(principal) : null,
    })),
    route(contract.confirmConsoleSession, async ({ body, principal, clientIp, userAgent }) =>
      started(await sessions.confirm(principal, confirmationOf(body), { clientIp, userAgent }).catch(rejectSession)),
    ),
    route(contract.endConsoleSession, async ({ principal }) => {
      await sessions.end(principal);
      // Not "cookies": that would delete the cookies of all subdomains of the operator's domain.
      const headers = ['Set-Cookie', cookie.expired, 'Clear-Site-Data', '"cache", "storage"'];
      return { status: 204, headers };
    }),
  ];
}
