/** A file that is applied while another process changes the same objects: it waits, and applies to what the change has left. */
import assert from 'node:assert/strict';
import { isLockAwaited } from '../../../../test-kit/lock-waits.ts';
import { now, operator } from '../../../../test-kit/rows.ts';
import { until } from '../../../../test-kit/until.ts';
import type { Services } from '../../../app/wiring/wire.ts';
import type { Transaction } from '../../../foundation/database/db.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { deleteKeyTx } from '../../api-keys/deletion-store.ts';
import { deleteScopeTx, setScopeTx } from '../../scope-catalogue/scope-catalogue.ts';
import { deleteEndpointTx } from '../../webhooks/store.ts';
import { applied, newApplyFolder, onEachInstallation, servicesOn, sha256Of, type Content } from './apply-kit.ts';

const act = { principal: operator, now };
const program = { id: 'acme-cli', name: 'Acme CLI', scopes: ['a'] };
const issuer = { url: 'https://issuer.example.com', preset: 'gitlab' } as const;
const webhook: NonNullable<Content['webhooks']>[number] = {
  name: 'siem',
  url: 'https://example.com/hooks',
  events: ['api_key.deleted'],
  secretFile: 'webhook.secret',
};
const key = { sha256: sha256Of('acme'), serviceAccount: 'acme', nickname: 'one' };

interface Row {
  readonly name: string;
  /** Applied before. */
  readonly first: Content;
  /** Committed while the second file is applied. */
  readonly changeTx: (tx: Transaction, services: Services, id: string) => Promise<unknown>;
  readonly second: Content;
  readonly steps: readonly string[];
}

const rows: readonly Row[] = [
  {
    name: 'a program is added',
    first: {},
    changeTx: (tx, { programs }) => programs.prepare(act, program)(tx),
    second: { programs: [{ ...program, name: 'Other' }] },
    steps: ['change program acme-cli name'],
  },
  {
    name: 'a program is removed',
    first: { programs: [program] },
    changeTx: (tx, { programs }) => programs.removeTx(tx, act, program.id),
    second: { programs: [{ ...program, name: 'Other' }] },
    steps: ['keep_deleted program acme-cli'],
  },
  {
    name: 'a program is removed that the file removes',
    first: { programs: [program] },
    changeTx: (tx, { programs }) => programs.removeTx(tx, act, program.id),
    second: { programs: [{ ...program, state: 'absent' }] },
    steps: [],
  },
  {
    name: 'an issuer is added',
    first: {},
    changeTx: (tx, { issuers }) => issuers.prepare(act, { id: 7, accountId: null }, issuer)(tx),
    second: { issuers: [{ ...issuer, lifetimeSeconds: 600 }] },
    steps: ['change issuer https://issuer.example.c lifetimeSeconds'],
  },
  {
    name: 'an issuer is removed',
    first: { issuers: [issuer] },
    changeTx: async (tx, { issuers }) => {
      const [{ id } = assert.fail()] = await issuers.list(operator, null);
      await issuers.removeTx(tx, act, { id });
    },
    second: { issuers: [{ ...issuer, lifetimeSeconds: 600 }] },
    steps: ['keep_deleted issuer https://issuer.example.c'],
  },
  {
    name: 'a scope is declared',
    first: {},
    changeTx: (tx) => setScopeTx(tx, act, 'orders:read', { description: 'one' }),
    second: { scopes: [{ name: 'orders:read', description: 'two' }] },
    steps: ['change scope orders:read scope'],
  },
  {
    name: 'a scope is deleted',
    first: { scopes: [{ name: 'orders:read' }] },
    changeTx: (tx) => deleteScopeTx(tx, act, 'orders:read'),
    second: { scopes: [{ name: 'orders:read', description: 'two' }] },
    steps: ['keep_deleted scope orders:read'],
  },
  {
    name: 'a service account is deleted',
    first: { serviceAccounts: [{ name: 'acme' }] },
    changeTx: (tx, { accounts }, id) => accounts.revocations.deleteTx(tx, act, id),
    second: { serviceAccounts: [{ name: 'acme', entitlements: [] }] },
    steps: ['keep_deleted service_account acme'],
  },
  {
    name: 'a key is deleted',
    first: { serviceAccounts: [{ name: 'acme' }], keys: [key] },
    changeTx: (tx, { apiKeys }, id) => deleteKeyTx(tx, act, id, apiKeys.idOf(key.sha256)),
    second: { serviceAccounts: [{ name: 'acme' }], keys: [{ ...key, nickname: 'two' }] },
    steps: [`keep_deleted key ${key.sha256.slice(0, 24)}`],
  },
  {
    name: 'a webhook is deleted',
    first: { webhooks: [webhook] },
    changeTx: async (tx, { webhooks: { endpoints } }) => {
      const [{ id } = assert.fail()] = await endpoints.list();
      await deleteEndpointTx(tx, act, id);
    },
    second: { webhooks: [{ ...webhook, events: ['api_key.created'] }] },
    steps: ['keep_deleted webhook siem'],
  },
];

for (const { name, first, changeTx, second, steps } of rows)
  onEachInstallation(`${name} while a file is applied, which then applies to the result`, async ({ db, connect }) => {
    // On SQLite, both are transactions of one writer.
    if (db.dialect === 'sqlite') return;
    using folder = newApplyFolder();
    const [changing, applying] = [servicesOn(db), servicesOn(await connect())];
    await applied(changing, folder.load({ generation: 1, ...first }));
    const [account] = await db.all(
      sql<{ id: string }>('test_list_accounts', `select id from accounts where kind = 'service'`),
    );
    let application: Promise<string[]> | undefined;
    await db.transaction(async (tx) => {
      await changeTx(tx, changing, account?.id ?? '');
      application ??= applied(applying, folder.load({ generation: 2, ...second }));
      application.catch(() => undefined);
      await until('the file waits', () => isLockAwaited(db));
    });
    assert.deepEqual(await application, steps);
  });
