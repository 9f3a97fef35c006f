/** Everything that ends a portal session, for tests. */
import type { TestApp } from '../../../../test-kit/new-app.ts';
import { operator } from '../../../../test-kit/new-app.ts';
import { newPortalBackend, type OpenPortal, type PortalBackend } from '../../../../test-kit/portal.ts';

interface Ending {
  /** Settings of the management key. */
  readonly key?: (app: TestApp) => object;
  readonly end: (app: TestApp, backend: PortalBackend, open: OpenPortal) => Promise<unknown>;
}

const day = 86_400;
const overlapSeconds = 60;
const rotation = (seconds: number) => ({ overlapSeconds: seconds, endPrevious: false });

/** By what ends the session. */
export const endings: Readonly<Record<string, Ending>> = {
  'the backend ends it': {
    end: (app, { headers }, { id }) => app.call('DELETE', `/auth/portal-sessions/${id}`, { headers }),
  },
  'the key page ends it': {
    end: (app, _, { headers }) => app.call('DELETE', '/auth/portal/session', { headers }),
  },
  'the management key is deleted': {
    end: (app, { accountId, keyId }) => app.service.services.apiKeys.delete(operator, accountId, keyId),
  },
  'the management key is disabled': { end: changeKey({ disabled: true }) },
  'the management key loses its scope': { end: changeKey({ scopes: [] }) },
  'the management key expires': {
    key: ({ clock }) => ({ expiresAt: clock.now() + 120_000 }),
    end: async ({ clock }) => clock.advance({ seconds: 120 }),
  },
  'the management key is rotated without an overlap': {
    end: (app, { accountId, keyId }) => app.service.services.keyChanges.rotate(operator, accountId, keyId, rotation(0)),
  },
  'the overlap of a rotation of the management key ends': {
    end: async ({ service, clock }, { accountId, keyId }) => {
      await service.services.keyChanges.rotate(operator, accountId, keyId, rotation(overlapSeconds));
      clock.advance({ seconds: overlapSeconds });
    },
  },
  'the account of the management key is disabled': {
    end: (app, { accountId }) => app.service.services.accounts.disable(operator, accountId),
  },
  'the account of the management key is deleted': {
    end: (app, { accountId }) => app.service.services.accounts.delete(operator, accountId),
  },
  'the account does not manage the service account any more': {
    end: async (app, { serviceId, accountId }) => {
      const { managers } = app.service.services;
      await managers.add(operator, serviceId, (await app.createAccount()).id);
      await managers.remove(operator, serviceId, accountId);
    },
  },
  'the service account is disabled': {
    end: (app, { serviceId }) => app.service.services.accounts.disable(operator, serviceId),
  },
  'the service account is deleted': {
    end: (app, { serviceId }) => app.service.services.accounts.delete(operator, serviceId),
  },
  'an hour has passed': { end: async ({ clock }) => clock.advance({ seconds: 3_600 }) },
};

function changeKey(change: object): Ending['end'] {
  return (app, { accountId, keyId }) => app.service.services.keyChanges.change(operator, accountId, keyId, change);
}

export interface Prepared {
  readonly what: string;
  readonly open: OpenPortal;
  readonly end: () => Promise<unknown>;
}

/** An open session for each ending, each of a backend of its own. Prepare those that advance the clock last. */
export async function prepare(app: TestApp, [what, { key, end }]: [string, Ending]): Promise<Prepared> {
  const backend = await newPortalBackend(app, { expiresAt: app.clock.now() + day * 1_000, ...key?.(app) });
  const open = await backend.open();
  return { what, open, end: () => end(app, backend, open) };
}
