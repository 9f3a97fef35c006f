/** The scenario of the management, which packages/conformance/README.md describes. */
import { format } from 'node:util';
import { KeyreeveError, Management, type ManagementOptions } from '../src/account.ts';

export async function manage(options: ManagementOptions): Promise<object> {
  const management = new Management(options);
  const { id, name, externalId } = await management.createServiceAccount({
    name: 'Analytical Engines',
    externalId: 'tenant_182',
  });
  const taken = await failureOf(management.createServiceAccount({ name: 'other', externalId: 'tenant_182' }));
  const found = await management.findServiceAccount('tenant_182');
  const unknown = await management.findServiceAccount('tenant_0');
  const renamed = (await management.changeServiceAccount(id, { name: 'Engines' })).name;
  const first = await management.serviceAccountPage({ limit: 1 });
  await management.createServiceAccount({ name: 'another' });
  const listed = (await Array.fromAsync(management.listServiceAccounts())).length;
  const session = await management.createPortalSession({
    externalId: 'tenant_182',
    capabilities: ['read', 'create'],
    person: { id: 'u_7', name: 'Ada' },
    origin: 'https://app.example.com',
  });
  await management.endPortalSession(session.id);
  const { limits } = await management.setLimits(id, { quota: { limit: 10_000, per: 'month' } });

  const keys = management.keys(id);
  const created = [];
  for (const nickname of ['a', 'b', 'c']) created.push(await keys.create({ nickname }));
  const [a = await keys.create({ nickname: 'none' })] = created;
  const rotated = await keys.rotate(a.id, { overlapSeconds: 0 });
  const { key } = rotated;
  const printed = format('%s %o', a, rotated, [session]);
  const changed = await keys.change(a.id, { limits: { rate: { limit: 60, windowSeconds: 60 } } });
  const page = await keys.page({ limit: 2, sort: '-nickname' });
  const last = await keys.page({ limit: 2, sort: '-nickname', cursor: page.nextCursor ?? '' });
  await keys.delete(a.id);
  const left = (await Array.fromAsync(keys.list({ sort: 'nickname' }))).map(({ nickname }) => nickname);
  const missing = await failureOf(keys.get(a.id));
  await management.deleteServiceAccount(id);
  return {
    created: [name, externalId],
    taken,
    found: [found?.id === id, unknown !== undefined],
    renamed,
    firstPage: [first.entries.length, first.nextCursor !== null],
    listed,
    portal: [
      session.url.includes(`/portal/${session.id}#`),
      Date.parse(session.expiresAt) - Date.parse(session.tokenExpiresAt),
    ],
    portalEnded: await failureOf(management.endPortalSession(session.id)),
    quota: [limits?.quota?.limit, limits?.quota?.per],
    rotated: key.startsWith('krv_') && key !== a.key,
    printed: [a.key, key, '#'].filter((secret) => printed.includes(secret)).length,
    rate: changed.limits?.rate?.limit,
    pages: [
      page.entries.map(({ nickname }) => nickname),
      last.entries.flatMap(({ nickname, hint }) => [nickname, hint === `krv_…${key.slice(-4)}`]),
    ],
    left,
    missing,
    deleted: await failureOf(management.getServiceAccount(id)),
    unreachable: await failureOf(new Management({ ...options, url: 'http://127.0.0.1:1' }).getServiceAccount(id)),
  };
}

async function failureOf(call: Promise<unknown>): Promise<[status: number, code: string] | undefined> {
  try {
    await call;
    return undefined;
  } catch (error) {
    if (error instanceof KeyreeveError) return [error.status, error.code];
    throw error;
  }
}
