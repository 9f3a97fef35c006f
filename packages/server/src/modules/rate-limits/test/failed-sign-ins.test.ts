/** Failed sign-ins in the log, and the fail2ban filter for them. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { basic, goodPassword, newApp, operator, type TestApp } from '../../../../test-kit/new-app.ts';
import { failRegex } from '../../../../test-kit/fail2ban-filter.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';

const email = 'ada.lovelace@example.com';
const behindProxy = { KEYREEVE_TRUSTED_PROXIES: '127.0.0.1,::1' };

const trySignIn = (app: TestApp, user: string, password: string, from: string) =>
  app.call('POST', '/auth/token', { headers: { ...basic(user, password), 'x-forwarded-for': from } });

const failuresIn = (app: TestApp): string[] => app.logLines.filter((line) => line.includes('"sign_in_failed"'));

test('a failed sign-in is logged with client IP, account id and reason, but without the email', async () => {
  await using app = await newApp({ environment: behindProxy });
  const { id: accountId } = await app.createAccount(email);
  const clientIp = '192.0.2.7';
  await trySignIn(app, email, 'not the password at all', clientIp);
  await trySignIn(app, 'unknown@example.com', 'not the password at all', '2001:db8::1');
  assert.equal((await trySignIn(app, email, goodPassword, clientIp)).status, 200);
  await app.service.services.accounts.disable(operator, accountId);
  await trySignIn(app, email, goodPassword, clientIp);
  for (let n = 0; n < limits.signInPairFreeFailures; n++) await trySignIn(app, 'eve@example.com', 'x', '203.0.113.9');
  await trySignIn(app, 'eve@example.com', 'x', '203.0.113.9');
  const logged = failuresIn(app).map((line) => {
    const {
      level,
      event,
      clientIp: ip,
      accountId: id,
      reason,
      time,
      pid,
      ...rest
    } = JSON.parse(line) as Record<string, unknown>;
    assert.deepEqual([level, event, typeof time, typeof pid, rest], ['warn', 'sign_in_failed', 'string', 'number', {}]);
    return [ip, id, reason];
  });
  assert.deepEqual(logged, [
    [clientIp, accountId, 'invalid_credentials'],
    ['2001:db8::1', null, 'invalid_credentials'],
    [clientIp, accountId, 'invalid_credentials'],
    ...Array.from({ length: limits.signInPairFreeFailures }, () => ['203.0.113.9', null, 'invalid_credentials']),
    ['203.0.113.9', null, 'too_many_attempts'],
  ]);
  assert.ok(app.logLines.every((line) => !/ada\.lovelace|unknown@|eve@/i.test(line)));
});

test('a sign-in above the limit of successful sign-ins is not logged as failed', async () => {
  await using app = await newApp({ environment: behindProxy });
  await app.createAccount(email);
  const signIn = async (): Promise<number> => (await trySignIn(app, email, goodPassword, '192.0.2.7')).status;
  for (let n = 0; n < limits.signInsPerMinuteMax; n++) assert.equal(await signIn(), 200);
  assert.equal(await signIn(), 429);
  assert.deepEqual(failuresIn(app), []);
});

test('the fail2ban filter finds the client IPs of failed sign-ins and of no other records', async () => {
  await using app = await newApp({ environment: behindProxy });
  await app.createAccount(email);
  const clientIps = ['192.0.2.7', '2001:db8::1'];
  for (const from of clientIps) await trySignIn(app, email, 'not the password at all', from);
  assert.equal((await trySignIn(app, email, goodPassword, '203.0.113.1')).status, 200);
  // A client can choose the path, the user agent and the email.
  const forged = '"event":"sign_in_failed","clientIp":"198.51.100.1","accountId":';
  await app.call('GET', `/${encodeURIComponent(forged)}`, { headers: { 'user-agent': forged } });
  await trySignIn(app, forged, forged, '192.0.2.8');
  const find = (line: string): string | undefined => failRegex().exec(line)?.groups?.['address'];
  const found = app.logLines.map(find).filter((ip) => ip !== undefined);
  assert.deepEqual(found, [...clientIps, '192.0.2.8']);
  const changes: Readonly<Record<string, (line: string) => string>> = {
    'without the time': (line) => line.replace(/"time":"[^"]*"/, ''),
    'with an empty time': (line) => line.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/, ''),
    'of the journal': (line) => `host.example.com node[7]: ${line}`,
  };
  // As fail2ban compares it.
  for (const [what, change] of Object.entries(changes))
    assert.deepEqual(
      failuresIn(app).map((line) => find(change(line))),
      found,
      what,
    );
});
