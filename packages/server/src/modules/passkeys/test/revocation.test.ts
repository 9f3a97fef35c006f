/** Passkeys that a thief may have added do not outlast the recovery of the account. */
import assert from 'node:assert/strict';
import { assertRejected, newAccountClient } from '../../../../test-kit/account-client.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { operator, type TestApp } from '../../../../test-kit/new-app.ts';
import { addPasskey, tryPasskey } from '../../../../test-kit/passkeys.ts';

const idOf = async (app: TestApp, email: string): Promise<string> =>
  (await app.service.services.accounts.find(email)).id;

test('a report of a compromised account removes its passkeys, and its second factor stays in force', async () => {
  await using client = await newAccountClient();
  const { app } = client;
  const user = await client.newAccount('ada@example.com');
  const { authenticator, recoveryCodes } = await addPasskey(app, user);
  assert.equal(recoveryCodes.length, 10);
  const id = await idOf(app, 'ada@example.com');
  await app.service.services.administration.recoverAccount(operator, id);
  assertRejected(await tryPasskey(app, authenticator), 'passkey_rejected');
  const reset = await client.confirmReset(await client.nextCode('ada@example.com', 'Set a new password'));
  assert.equal(reset.status, 200, reset.text);
  assertRejected(await tryPasskey(app, authenticator), 'passkey_rejected');
  const { secondFactor, authenticator: hasApp, passkeys } = await app.service.services.directory.read(id);
  assert.deepEqual([secondFactor, hasApp, passkeys], [true, false, 0]);
});

test('the owner gets a mail about each new and removed passkey, and about a copied one', async () => {
  await using client = await newAccountClient();
  const { app } = client;
  const user = await client.newAccount('ada@example.com');
  const { passkey, authenticator } = await addPasskey(app, user, 'ES256', 3);
  const added = await client.mailbox.next({ to: 'ada@example.com', subject: /A passkey was added/ });
  assert.match(added.text ?? '', /“laptop”/);
  assertRejected(await tryPasskey(app, authenticator, { counter: 2 }), 'passkey_rejected');
  await client.mailbox.next({ to: 'ada@example.com', subject: /may have been copied/ });
  assert.equal((await client.as(user, 'DELETE', `/auth/passkeys/${passkey.id}`)).status, 204);
  await client.mailbox.next({ to: 'ada@example.com', subject: /A passkey was removed/ });
});
