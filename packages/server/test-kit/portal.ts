/** Portal sessions of a service under test. */
import assert from 'node:assert/strict';
import type { CreatedPortalSession, NewPortalSessionBody, RedeemedPortalSession } from '@keyreeve/contract';
import { bearer, type Answered, type TestApp } from './new-app.ts';
import { newBackend, type Backend } from './service-accounts.ts';

export const hostOrigin = 'https://app.example.com';

/** Undefined: without the member. */
export type PortalRequest = { readonly [Name in keyof NewPortalSessionBody]?: NewPortalSessionBody[Name] | undefined };

/** A backend with a service account that it has created, for portal sessions. */
export interface PortalBackend extends Backend {
  readonly externalId: string;
  /** The response of `POST /auth/portal-sessions`. Members replace those of a session of all capabilities in a frame. */
  readonly request: (request?: PortalRequest, at?: TestApp) => Promise<Answered>;
  readonly create: (request?: PortalRequest) => Promise<CreatedPortalSession>;
  /** A session of which the key page has redeemed the token. */
  readonly open: (request?: PortalRequest) => Promise<OpenPortal>;
}

export interface OpenPortal extends RedeemedPortalSession {
  /** With the secret. */
  readonly headers: { readonly authorization: string };
}

export async function newPortalBackend(app: TestApp, keyRequest: object = {}): Promise<PortalBackend> {
  const backend = await newBackend(app, keyRequest);
  const { headers } = backend;
  const externalId = `tenant ${backend.keyId}`;
  const created = await app.call('POST', '/auth/service-accounts', { headers, json: { name: 'tenant', externalId } });
  const { id: serviceId } = created.json as { id: string };
  const request: PortalBackend['request'] = (given = {}, at = app) => {
    const capabilities = ['read', 'create', 'rotate', 'limit', 'delete'];
    const json = { externalId, capabilities, origin: hostOrigin, ...given };
    return at.call('POST', '/auth/portal-sessions', { headers, json });
  };
  const create: PortalBackend['create'] = async (given) => {
    const answer = await request(given);
    assert.equal(answer.status, 201, answer.text);
    return answer.json as CreatedPortalSession;
  };
  const open: PortalBackend['open'] = async (given) => {
    const answer = await redeem(app, await create(given));
    assert.equal(answer.status, 201, answer.text);
    const redeemed = answer.json as RedeemedPortalSession;
    return { ...redeemed, headers: bearer(redeemed.secret) };
  };
  return { ...backend, serviceId, path: `/auth/service-accounts/${serviceId}`, externalId, request, create, open };
}

/** The token in the URL of a portal session. */
export const tokenOf = ({ url }: Pick<CreatedPortalSession, 'url'>): string => new URL(url).hash.slice(1);

/** The request of the key page with the token. */
export const redeem = (
  app: TestApp,
  session: Pick<CreatedPortalSession, 'id' | 'url'>,
  headers: Readonly<Record<string, string>> = { origin: new URL(app.service.publicUrl).origin },
): Promise<Answered> =>
  app.call('POST', '/auth/portal/session', { headers, json: { id: session.id, token: tokenOf(session) } });

export const stateOf = (app: TestApp, { headers }: Pick<OpenPortal, 'headers'>): Promise<Answered> =>
  app.call('GET', '/auth/portal/session', { headers });
