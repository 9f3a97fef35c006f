/** What a replay ends although the deletion journal does not record it: the end, use or replacement of these rights may be lost. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { assertRejected, newAccountClient } from '../../../../test-kit/account-client.ts';
import { testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { newSecretFor } from '../../../../test-kit/client-credentials.ts';
import { errorOf, newDeviceClient } from '../../../../test-kit/device-client.ts';
import { bearer, newApp, operator, type TestApp } from '../../../../test-kit/new-app.ts';
import { newPortalBackend, redeem, stateOf } from '../../../../test-kit/portal.ts';
import { newTempFolder } from '../../../../test-kit/temp-folder.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { list, refresh, signOut } from '../../tokens/test/refreshes.ts';
import { nothingReplayed, type Replayed } from '../replay.ts';
import { replayOnLive } from '../replay-on-live.ts';
import { clearTablesTx, insertRowsTx, pagesOf, tablesIn } from '../store.ts';
import type { Row } from '../table.ts';

/** @returns puts the database back to its present state, as a copy of its files or a lagging standby does */
async function copyOf(db: Db): Promise<() => Promise<void>> {
  const tables = tablesIn(db.dialect, 'main');
  const pages = new Map<string, Row[][]>();
  for (const table of tables) pages.set(table.name, await Array.fromAsync(pagesOf(db, table)));
  return () =>
    db.transaction(
      async (tx) => {
        await clearTablesTx(tx, tables);
        for (const table of tables) for (const rows of pages.get(table.name) ?? []) await insertRowsTx(tx, table, rows);
      },
      { isLong: true },
    );
}

async function replay({ db, clock, installation }: TestApp, folder: string): Promise<Partial<Replayed>> {
  const sources = { journal: undefined, journalFolders: [folder], isDryRun: false };
  return (await replayOnLive(operator, { db, clock, keys: installation.keys, ...sources })).replayed;
}

testOnBoth('an approval that was denied after the copy gives no key after a replay', async () => {
  using temp = newTempFolder();
  await using at = await newDeviceClient({ environment: { KEYREEVE_DELETION_JOURNAL: temp.path } });
  const { device_code: deviceCode, user_code: code } = await at.begin();
  const { id } = await at.approve(code);
  const putBack = await copyOf(at.app.db);
  assert.equal((await at.send(`${id}/deny`, { code })).status, 200);
  await putBack();
  assert.deepEqual(await replay(at.app, temp.path), nothingReplayed);
  assert.equal(errorOf(await at.poll(deviceCode)), 'invalid_grant');
});

testOnBoth('an approval whose key was made and deleted after the copy gives no second key after a replay', async () => {
  using temp = newTempFolder();
  await using at = await newDeviceClient({ environment: { KEYREEVE_DELETION_JOURNAL: temp.path } });
  const deviceCode = await at.approved();
  const putBack = await copyOf(at.app.db);
  const { key_id: id } = await at.fetch(deviceCode);
  const headers = bearer(at.person.accessToken);
  assert.equal((await at.app.call('DELETE', `/auth/api-keys/${id}`, { headers })).status, 200);
  await putBack();
  assert.deepEqual(await replay(at.app, temp.path), nothingReplayed);
  assert.equal(errorOf(await at.poll(deviceCode)), 'invalid_grant');
});

testOnBoth('a session stays ended after a replay, if its sign-out was the only lost commit', async () => {
  using temp = newTempFolder();
  await using at = await newDeviceClient({ environment: { KEYREEVE_DELETION_JOURNAL: temp.path } });
  const { app, person } = at;
  const putBack = await copyOf(app.db);
  assert.equal((await signOut(app, person.refreshToken)).status, 204);
  await putBack();
  assert.equal((await list(app, person.accessToken)).status, 200, 'the copy has the session');
  assert.deepEqual(await replay(app, temp.path), nothingReplayed);
  assertRejected(await list(app, person.accessToken), 'invalid_access_token');
  app.clock.advance({ seconds: limits.refreshReuseSeconds });
  assertRejected(await refresh(app, person.refreshToken), 'invalid_refresh_token');
});

testOnBoth('a portal session stays ended after a replay, if its end was the only lost commit', async () => {
  using temp = newTempFolder();
  await using app = await newApp({ environment: { KEYREEVE_DELETION_JOURNAL: temp.path } });
  const backend = await newPortalBackend(app);
  const [open, unused] = [await backend.open(), await backend.create()];
  const putBack = await copyOf(app.db);
  assert.equal((await app.call('DELETE', '/auth/portal/session', { headers: open.headers })).status, 204);
  await putBack();
  assert.equal((await stateOf(app, open)).status, 200, 'the copy has the session');
  assert.deepEqual(await replay(app, temp.path), nothingReplayed);
  assertRejected(await stateOf(app, open), 'portal_session_ended');
  assertRejected(await redeem(app, unused), 'portal_token_invalid');
});

testOnBoth('a replay ends the links in mails and the short-lived secrets of the copy', async () => {
  using temp = newTempFolder();
  await using client = await newAccountClient({ KEYREEVE_DELETION_JOURNAL: temp.path });
  const { app } = client;
  const tokens = await client.newAccount('ada@example.com');
  const { id, key } = await client.createKey(tokens);
  const shortLived = await newSecretFor(app, id, key);
  const wrong = await client.requestEmailChange(tokens, 'typo@example.com');
  await client.untilOutboxEmpty();
  const putBack = await copyOf(app.db);
  // Replaces the link to the wrong email address.
  await client.requestEmailChange(tokens, 'ada@example.org');
  await client.untilOutboxEmpty();
  await putBack();
  assert.equal(await client.isKeyAccepted(shortLived), true, 'the copy has the secret');
  assert.deepEqual(await replay(app, temp.path), nothingReplayed);
  assertRejected(await client.confirmEmailChange(wrong), 'code_invalid');
  assert.equal(await client.isKeyAccepted(shortLived), false);
  assert.equal(await client.isKeyAccepted(key), true);
});
