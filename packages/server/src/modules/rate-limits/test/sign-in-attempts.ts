/** Attempts to sign in over HTTP, from client IPs that the test chooses, and how a limit rejects them. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { basic, goodPassword, type Answered, type TestApp } from '../../../../test-kit/new-app.ts';

export const email = 'you@example.com';
export const wrongPassword = 'not the password at all';
/** The test is the trusted proxy, so it can choose client IPs. */
export const behindProxy = { KEYREEVE_TRUSTED_PROXIES: '127.0.0.1,::1' };
export const home = '192.0.2.7';

interface Attempt {
  readonly email?: string;
  readonly password?: string;
  readonly from?: string;
}

export function attempt(
  app: TestApp,
  { email: user = email, password = wrongPassword, from }: Attempt = {},
): Promise<Answered> {
  const forwarded = from === undefined ? {} : { 'x-forwarded-for': from };
  return app.call('POST', '/auth/token', { headers: { ...basic(user, password), ...forwarded } });
}

export const signIn = (app: TestApp, from?: string): Promise<Answered> =>
  attempt(app, { password: goodPassword, ...(from === undefined ? {} : { from }) });
/** Each number has another address range. */
export const otherIp = (n: number): string => `198.18.${n >> 8}.${n & 255}`;

export function assertLimited(
  { status, headers, json }: Answered,
  seconds: number,
  { quota, windowSeconds = 900, policy = 'sign-ins' }: { quota: number; windowSeconds?: number; policy?: string },
  what = 'limited',
): void {
  assert.equal(status, 429, what);
  assert.equal((json as { code: string }).code, 'too_many_attempts', what);
  assert.equal(headers.get('retry-after'), String(seconds), what);
  assert.equal(headers.get('ratelimit-policy'), `"${policy}";q=${quota};w=${windowSeconds}`, what);
  assert.equal(headers.get('ratelimit'), `"${policy}";r=0;t=${seconds}`, what);
  assert.equal(headers.get('www-authenticate'), null, what);
}

/** By the count of the email, or of the email without its tag: one more attempt is allowed every 36 seconds. */
export const assertEmailLimited = (answer: Answered, what?: string): void =>
  assertLimited(
    answer,
    limits.signInEmailLeakSeconds,
    { quota: limits.signInEmailFailuresMax, windowSeconds: 3_600 },
    what,
  );
