/** After a restore with the deletion journal, a file creates nothing again that was deleted after the backup. */
import assert from 'node:assert/strict';
import { now, operator } from '../../../../test-kit/rows.ts';
import { backUp, journalIn, newBackupFolder, replay, restore } from '../../backup/test/backup-kit.ts';
import { nothingReplayed } from '../../backup/replay.ts';
import type { Services } from '../../../app/wiring/wire.ts';
import {
  applied,
  newApplyFolder,
  onEachInstallation,
  openNew,
  servicesOn,
  sha256Of,
  verified,
  type Content,
} from './apply-kit.ts';

const sha256 = sha256Of('orders');
const content = {
  scopes: [{ name: 'kept' }, { name: 'gone' }],
  accounts: [{ email: 'ada@example.com' }],
  serviceAccounts: [{ name: 'orders' }, { name: 'closed' }],
  issuers: [{ url: 'https://gitlab.com' }],
  keys: [
    { sha256, serviceAccount: 'orders', nickname: 'first', scopes: ['keyreeve:verify'] },
    { sha256: sha256Of('second'), serviceAccount: 'orders', nickname: 'second' },
  ],
  webhooks: [
    { name: 'siem', url: 'https://example.com/hooks', events: ['api_key.deleted'], secretFile: 'webhook.secret' },
  ],
  programs: [{ id: 'acme-cli', name: 'Acme CLI' }],
} as const satisfies Content;
const kept = [
  'keep_deleted scope gone',
  'keep_deleted account ada@example.com',
  'keep_deleted service_account closed',
  'keep_deleted issuer https://gitlab.com',
  `keep_deleted key ${sha256.slice(0, 24)}`,
  'keep_deleted webhook siem',
  'keep_deleted program acme-cli',
];

async function deleteByHand(services: Services): Promise<void> {
  const { apiKeys, scopeCatalogue, accounts, serviceAccounts, issuers, webhooks, programs } = services;
  const id = apiKeys.idOf(sha256);
  await apiKeys.delete(operator, await apiKeys.ownerOf(id), id);
  await scopeCatalogue.delete(operator, 'gone');
  await accounts.delete(operator, (await accounts.find('ada@example.com')).id);
  for await (const { id: account, name } of accounts.list())
    if (name === 'closed') await serviceAccounts.delete(operator, account);
  const [issuer] = await issuers.list(operator, null);
  await issuers.remove(operator, { id: issuer?.id ?? 0 });
  const [endpoint] = await webhooks.endpoints.list();
  await webhooks.endpoints.delete(operator, endpoint?.id ?? '');
  await programs.remove(operator, 'acme-cli', false);
}

for (const [when, isApplied] of Object.entries({ after: true, before: false }))
  onEachInstallation(
    `a backup from ${when} the file was applied brings nothing back that was deleted`,
    async ({ db }) => {
      using temp = newBackupFolder();
      using folder = newApplyFolder();
      const services = servicesOn(db, now + 10, temp.folder);
      const file = folder.load({ generation: 3, ...content });
      if (isApplied) await applied(services, file);
      await backUp(db, temp.backup);
      if (!isApplied) await applied(services, file);
      await deleteByHand(services);
      // As after a crash: the entries of the journal come from the audit log.
      await journalIn(db, temp.folder).catchUp();
      await using target = await openNew(db.dialect);
      const { replayed } = await restore(target.db, temp.backup, { journal: journalIn(target.db, temp.folder) });
      assert.equal(replayed.filesApplied, isApplied ? 0 : 1);
      const restored = servicesOn(target.db, now + 100_000);
      // The generation is that of the journal.
      await assert.rejects(applied(restored, folder.load({ generation: 2, ...content })), {
        message: 'The file has the generation 2, and one of the generation 3 was applied. Use the newer file.',
      });
      assert.deepEqual(await applied(restored, file, { isStart: true }), [], 'a start applies a generation once');
      const steps = await applied(restored, file);
      assert.deepEqual(
        steps.filter((step) => !step.startsWith('create')),
        kept,
      );
      const created = ['scope kept', 'service_account orders', `key ${sha256Of('second').slice(0, 24)}`];
      assert.deepEqual(
        steps.filter((step) => step.startsWith('create')),
        isApplied ? [] : created.map((entry) => `create ${entry}`),
      );
      assert.equal(await verified(restored, 'orders'), 'not_found');
      assert.equal(await verified(restored, 'second'), 'accepted');
      await journalIn(target.db, temp.folder).catchUp();
      assert.deepEqual(await replay(target.db, temp.folder), nothingReplayed);
    },
  );

async function serviceAccountOf(services: Services, wanted: string): Promise<string> {
  for await (const { id, name } of services.accounts.list()) if (name === wanted) return id;
  return assert.fail(wanted);
}

const movedKey = {
  serviceAccounts: [{ name: 'other' }],
  keys: [{ sha256, serviceAccount: 'other', nickname: 'moved' }],
};
const keptKey = ['create service_account other', `keep_deleted key ${sha256.slice(0, 24)}`];

onEachInstallation('a key that was deleted with its account is not created in another one', async ({ db }) => {
  using folder = newApplyFolder();
  const services = servicesOn(db, now + 10);
  const { apiKeys } = services;
  await applied(services, folder.load({ generation: 1, serviceAccounts: [{ name: 'orders' }] }));
  const owner = await serviceAccountOf(services, 'orders');
  await apiKeys.createWithHash(operator, owner, { nickname: 'given' }, sha256);
  assert.equal(await verified(services, 'orders'), 'accepted');
  // Its hint is that of the new secret then.
  await services.keyChanges.rotate(operator, owner, apiKeys.idOf(sha256), { overlapSeconds: 0, endPrevious: false });
  const steps = await applied(services, folder.load({ generation: 2, ...movedKey }), { prunes: true });
  assert.deepEqual(steps.slice(1), keptKey);
  const other = await serviceAccountOf(services, 'other');
  await assert.rejects(apiKeys.createWithHash(operator, other, { nickname: 'given' }, sha256), {
    code: 'secret_taken',
  });
  assert.equal(await verified(services, 'orders'), 'not_found');
});

onEachInstallation('nor is it after a restore of a backup from before the key was created', async ({ db }) => {
  using temp = newBackupFolder();
  using folder = newApplyFolder();
  const services = servicesOn(db, now + 10, temp.folder);
  await backUp(db, temp.backup);
  const keys = [{ sha256, serviceAccount: 'orders', nickname: 'first' }];
  await applied(services, folder.load({ generation: 1, serviceAccounts: [{ name: 'orders' }], keys }));
  await services.serviceAccounts.delete(operator, await serviceAccountOf(services, 'orders'));
  await journalIn(db, temp.folder).catchUp();
  await using target = await openNew(db.dialect);
  await restore(target.db, temp.backup, { journal: journalIn(target.db, temp.folder) });
  const restored = servicesOn(target.db, now + 100_000);
  assert.deepEqual(await applied(restored, folder.load({ generation: 2, ...movedKey })), keptKey);
  assert.equal(await verified(restored, 'orders'), 'malformed', 'no key has a given hash');
});
