/** Every sign-in is recorded: a successful one in the audit log, a rejected one in the log (ASVS 16.3.1). */
import assert from 'node:assert/strict';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { newApp, type Answered } from '../../../../test-kit/new-app.ts';
import {
  codeAt,
  newEnrolledAccount,
  nextStep,
  signInWith,
  trySignIn,
  wrongCode,
} from '../../../../test-kit/authenticator.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';

test(
  'the audit log has each sign-in with its account and the kind of its second factor',
  { tags: ['asvs:16.3.1'] },
  async () => {
    await using app = await newApp();
    const plain = await app.signIn('plain@example.com');
    const { account, secret, recoveryCodes } = await newEnrolledAccount(app, 'ada@example.com');
    const before = (await listAuditEvents(app.db)).length;
    await signInWith(app, plain.account.email);
    await signInWith(app, account.email, codeAt(secret, app.clock.now()));
    nextStep(app);
    await signInWith(app, account.email, recoveryCodes[0]);
    const events = (await listAuditEvents(app.db)).slice(before).filter(({ action }) => action === 'session.created');
    assert.deepEqual(
      events.map(({ at, accountId, details }) => [typeof at, accountId, details === null ? null : JSON.parse(details)]),
      [
        ['number', plain.account.id, null],
        ['number', account.id, { secondFactor: 'totp' }],
        ['number', account.id, { secondFactor: 'recovery_code' }],
      ],
    );
  },
);

test(
  'the log has each rejected sign-in with its reason, without email address and password',
  { tags: ['asvs:16.3.1'] },
  async () => {
    await using app = await newApp();
    const { account, secret } = await newEnrolledAccount(app, 'ada@example.com');
    const wrong = 'velvet orbit wombat 24';
    const refused: readonly (readonly [code: string, ask: () => Promise<Answered>])[] = [
      ['invalid_credentials', () => trySignIn(app, account.email, undefined, wrong)],
      ['invalid_credentials', () => trySignIn(app, 'unknown@example.com', undefined, wrong)],
      ['second_factor_required', () => trySignIn(app, account.email)],
      ['second_factor_invalid', () => trySignIn(app, account.email, wrongCode(secret, app.clock.now()))],
    ];
    for (const [code, ask] of refused) {
      const { text } = await ask();
      const { requestId } = JSON.parse(text) as { requestId: string };
      const lines = app.logLines.filter((line) => line.includes(requestId));
      assert.equal(lines.length, 1, code);
      const record = JSON.parse(lines[0] ?? '') as Record<string, unknown>;
      assert.deepEqual([record['event'], record['code']], ['refused', code]);
      for (const secretText of [wrong, '@example.com', secret]) assert.ok(!lines[0]?.includes(secretText), code);
    }
  },
);
