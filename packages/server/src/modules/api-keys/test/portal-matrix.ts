/** Every request for keys that a portal session can send, and what each set of capabilities opens. */
import assert from 'node:assert/strict';
import { portalCapabilities, portalKeyRoutes, type PortalCapability } from '@keyreeve/contract';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { assertRejected } from '../../../../test-kit/key-client.ts';
import { operator, type Answered, type TestApp } from '../../../../test-kit/new-app.ts';
import type { PortalBackend } from '../../../../test-kit/portal.ts';

export const allCapabilities = Object.keys(portalCapabilities) as PortalCapability[];

type RouteId = (typeof portalKeyRoutes)[number]['id'];

interface Sent {
  /** One of them opens the request. */
  readonly by: readonly PortalCapability[];
  readonly json?: object;
  readonly query?: string;
}

/** In an order in which each request is possible. As `docs/key-page.md` describes the capabilities, and not as the code has them. */
const requests: Readonly<Record<string, readonly Sent[]>> = {
  createPortalKey: [{ by: ['create'], json: { nickname: 'another' } }],
  listPortalKeys: [{ by: ['read'] }, { by: ['read'], query: '?view=full&usage=7d&limit=1&total=true' }],
  getPortalKey: [{ by: ['read'] }],
  getPortalKeyUsage: [{ by: ['read'] }],
  changePortalKey: [
    { by: ['create', 'limit'], json: { nickname: 'renamed' } },
    { by: ['limit'], json: { scopes: ['orders:read'] } },
    { by: ['limit'], json: { expiresAt: '2036-01-31T00:00:00Z' } },
    { by: ['limit'], json: { addresses: ['203.0.113.0/24'] } },
    { by: ['limit'], json: { limits: { rate: { limit: 10, windowSeconds: 60 } } } },
    { by: ['limit'], json: { nickname: 'renamed again', addresses: null } },
  ],
  endPortalKeyPreviousSecret: [{ by: ['rotate'] }],
  rotatePortalKey: [{ by: ['rotate'], json: { overlapSeconds: 60 } }],
  deletePortalKey: [{ by: ['delete'] }],
} satisfies Readonly<Record<RouteId, readonly Sent[]>>;

/** Sends every request with a session of these capabilities. */
export async function assertOpens(
  app: TestApp,
  { open, serviceId }: PortalBackend,
  capabilities: readonly PortalCapability[],
): Promise<void> {
  const { apiKeys, keyChanges } = app.service.services;
  const { id } = await apiKeys.create(operator, serviceId, { nickname: 'worker' });
  await keyChanges.rotate(operator, serviceId, id, { overlapSeconds: 3_600, endPrevious: false });
  const person = { id: 'u_7', name: 'Ada' };
  const session = await open({ capabilities: [...capabilities], person });
  const before = (await listAuditEvents(app.db)).length;
  let changes = 0;
  for (const [routeId, all] of Object.entries(requests)) {
    const route = portalKeyRoutes.find((one) => one.id === routeId);
    assert.ok(route, routeId);
    for (const { by, json, query = '' } of all) {
      const path = route.path.replace(':id', String(id)) + query;
      const { headers } = session;
      const answer: Answered = await app.call(route.method, path, { headers, ...(json && { json }) });
      const what: string = `${route.method} ${path} ${JSON.stringify(json)} with ${capabilities.join(', ')}: ${answer.text}`;
      if (by.some((one) => capabilities.includes(one))) {
        assert.equal(answer.status, route.success.status, what);
        if (route.method !== 'GET') changes++;
      } else assertRejected(answer, 'portal_capability_required', what);
    }
  }
  const events = (await listAuditEvents(app.db)).slice(before);
  assert.equal(events.length, changes, 'a refused request changes nothing');
  for (const { actor, accountId, details } of events) {
    assert.deepEqual([actor, accountId], [`portal:${session.id}`, serviceId]);
    assert.deepEqual((JSON.parse(details ?? '{}') as { person: unknown }).person, person);
  }
  // The next session has no keys, and its own minute of creations.
  for (const key of await apiKeys.list(serviceId)) await apiKeys.delete(operator, serviceId, key.id);
  app.clock.advance({ seconds: 60 });
}
