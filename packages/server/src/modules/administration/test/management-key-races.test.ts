/** Races of the creation of management keys, and what changes between the check of the proof and the commit. */
import assert from 'node:assert/strict';
import type { ErrorCode } from '@keyreeve/contract';
import { assertRejected } from '../../../../test-kit/account-client.ts';
import { newAdministrator } from '../../../../test-kit/administrators.ts';
import { testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { enrol, nextStep, type Enrolled } from '../../../../test-kit/authenticator.ts';
import { countsOf, create, environment, newEnrolledAdministrator } from '../../../../test-kit/management-keys.ts';
import { bearer, goodPassword, newApp, operator, type TestApp } from '../../../../test-kit/new-app.ts';
import { addServiceAccount } from '../../../../test-kit/rows.ts';
import { whenAvailable } from '../../../../test-kit/when-available.ts';

testOnBoth('of sixteen requests with one code, one creates a key', async () => {
  const unlimited = { ...environment, KEYREEVE_THROTTLE: 'off' };
  await using app = await newApp({ environment: unlimited, areRequestsLimited: false });
  const administrator = await newEnrolledAdministrator(app);
  const answers = await Promise.all(
    Array.from({ length: 16 }, (_, index) =>
      whenAvailable(() => create(app, administrator, { name: `backend ${index}` })),
    ),
  );
  const rejected = answers.filter(({ status }) => status !== 201);
  assert.equal(rejected.length, 15);
  for (const answer of rejected) assertRejected(answer, 'second_factor_wrong');
  assert.deepEqual(await countsOf(app), [1, 1]);
});

testOnBoth('sixteen administrators together create at most as many keys of an account as it may have', async () => {
  const unlimited = { ...environment, KEYREEVE_THROTTLE: 'off', KEYREEVE_KEYS_PER_ACCOUNT_MAX: '5' };
  await using app = await newApp({ environment: unlimited, areRequestsLimited: false });
  const administrators: Enrolled[] = [];
  for (let made = 0; made < 16; made++) administrators.push(await enrol(app, await newAdministrator(app)));
  nextStep(app);
  const accountId = await addServiceAccount(app.db, [administrators[0]?.account.id ?? '']);
  const answers = await Promise.all(
    administrators.map((administrator, index) =>
      whenAvailable(() => create(app, administrator, { name: undefined, accountId, nickname: `key ${index}` })),
    ),
  );
  const rejected = answers.filter(({ status }) => status !== 201);
  assert.equal(rejected.length, 11);
  for (const answer of rejected) assertRejected(answer, 'key_limit_reached');
  assert.deepEqual(await countsOf(app), [1, 5]);
});

/** What happens after the password and the second factor were checked, and before the commit. */
type Meanwhile = (app: TestApp, administrator: Enrolled, accountId: string) => Promise<unknown>;

const changes: readonly (readonly [what: string, code: ErrorCode, change: Meanwhile])[] = [
  [
    'the account is disabled',
    'invalid_access_token',
    (app, { account }) => app.service.services.accounts.disable(operator, account.id),
  ],
  [
    'the account is deleted',
    'invalid_access_token',
    (app, { account }) => app.service.services.accounts.delete(operator, account.id),
  ],
  [
    'the role is removed',
    'invalid_access_token',
    (app, { account }) => app.service.services.accounts.setRole(operator, account.id, 'user'),
  ],
  [
    'the session ends',
    'invalid_access_token',
    (app, { refreshToken }) => app.call('POST', '/auth/token/revoke', { json: { refreshToken } }),
  ],
  [
    'the same session sets another password',
    'password_wrong',
    (app, { accessToken }) =>
      app.call('PUT', '/auth/account/password', {
        headers: bearer(accessToken),
        json: { currentPassword: goodPassword, newPassword: 'a quiet harbour under seven moons' },
      }),
  ],
  [
    'the second factor is removed',
    'second_factor_wrong',
    (app, { accessToken, recoveryCodes: [code] }) =>
      app.call('DELETE', '/auth/account/second-factor', {
        headers: bearer(accessToken),
        json: { currentPassword: goodPassword, code },
      }),
  ],
  [
    'the service account is deleted',
    'account_not_found',
    (app, _administrator, accountId) => app.service.services.accounts.delete(operator, accountId),
  ],
];

testOnBoth('what changes between the check and the commit prevents the creation', async () => {
  await using app = await newApp({ environment: { ...environment, KEYREEVE_THROTTLE: 'off' } });
  const { ownerProofs } = app.service.services;
  const check = ownerProofs.check.bind(ownerProofs);
  for (const [what, code, change] of changes) {
    const administrator = await newEnrolledAdministrator(app);
    const accountId = await addServiceAccount(app.db, [administrator.account.id]);
    ownerProofs.check = async (...of) => {
      const proven = await check(...of);
      // The change itself may need a proof.
      ownerProofs.check = check;
      await change(app, administrator, accountId);
      return proven;
    };
    const request = { name: undefined, accountId };
    const [, before] = await countsOf(app);
    assertRejected(await create(app, administrator, request), code, what);
    assert.equal((await countsOf(app))[1], before, what);
  }
});
