/** HTTP routes of portal sessions. */
import * as contract from '@keyreeve/contract';
import { DomainError } from '../../foundation/errors.ts';
import { route, type Route } from '../../http/route.ts';
import type { PortalSessions } from './sessions.ts';
import type { PortalStates } from './state.ts';

export interface Portal {
  readonly sessions: PortalSessions;
  readonly states: PortalStates;
  /** The origin of the public URL, at which the key page is. */
  readonly origin: string;
}

/** For a backend with a management key. */
export function portalSessionRoutes({ sessions }: Portal): readonly Route[] {
  return [
    route(contract.createPortalSession, async ({ principal, body }) => ({
      status: 201,
      body: await sessions.create(principal, body),
    })),
    route(contract.endPortalSession, async ({ principal, params }) => {
      await sessions.end(principal, params.id);
      return { status: 204 };
    }),
  ];
}

/** For the key page. */
export function portalPageSessionRoutes({ sessions, states, origin }: Portal): readonly Route[] {
  return [
    route(
      contract.redeemPortalToken,
      async ({ body }) => {
        const { secret, row } = await sessions.redeem(body);
        return { status: 201, body: { secret: secret.reveal(), ...(await states.of(row)) } };
      },
      (header) => assertOwnOrigin(header('Origin'), origin),
    ),
    route(contract.getPortalSession, async ({ principal }) => {
      const row = await sessions.find(principal.sessionId);
      if (!row) throw new DomainError('portal_session_ended');
      return { status: 200, body: await states.of(row) };
    }),
    route(contract.endOwnPortalSession, async ({ principal }) => {
      await sessions.endOwn(principal);
      return { status: 204 };
    }),
  ];
}

/**
 * Browsers send the header with each POST, and no script can change it: a page of the host cannot redeem a token that it has read.
 * @throws DomainError `cross_origin_request`
 */
function assertOwnOrigin(given: string | undefined, origin: string): void {
  if (given === origin) return;
  throw new DomainError('cross_origin_request', {
    detail: `Only the key page at ${origin} redeems the token of a portal session.`,
  });
}
