/**
 * The mirror: every route of accounts and administrators, a second time below `/console/api`. The handler is the same, and
 * the credential is the session cookie. So the console has no rule of its own, and scripts can do everything that it does.
 */
import { consoleApiPath, type RouteAuth } from '@keyreeve/contract';
import { DomainError } from '../../foundation/errors.ts';
import type { Route } from '../../http/route.ts';

const mirroredAuths: readonly RouteAuth[] = ['access_token', 'administrator', 'manager'];

/** @param routes of the service */
export const mirrorOf = (routes: readonly Route[]): readonly Route[] =>
  routes
    .filter(({ contract }) => mirroredAuths.includes(contract.auth))
    .map((route) => ({
      ...route,
      contract: { ...route.contract, path: consoleApiPath + route.contract.path },
      isMirrored: true,
      handle: (call) => route.handle(call).catch(rejectSession),
    }));

/** The session ended while the request was in progress: its transaction found that out. */
export function rejectSession(error: unknown): never {
  if (error instanceof DomainError && error.code === 'invalid_access_token')
    throw new DomainError('console_session_required');
  throw error;
}
