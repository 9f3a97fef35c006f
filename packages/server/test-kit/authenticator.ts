/** An account with a second factor, and an authenticator for it: RFC 6238, independent of the implementation under test. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { basic, bearer, goodPassword, type Answered, type SignedIn, type TestApp } from './new-app.ts';

export const stepSeconds = 30;
export const otpHeader = 'x-keyreeve-otp';
export const factorPath = '/auth/account/second-factor';

export interface Enrolled extends SignedIn {
  readonly secret: string;
  readonly recoveryCodes: readonly string[];
}

/** @param secret base32 (RFC 4648) @param now milliseconds */
export function codeAt(secret: string, now: number): string {
  const bits = [...secret].map((digit) => base32.indexOf(digit).toString(2).padStart(5, '0')).join('');
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(now / 1000 / stepSeconds)));
  const mac = createHmac('sha1', key).update(counter).digest();
  const number = mac.readUInt32BE((mac.at(-1) ?? 0) & 15) & 0x7fff_ffff;
  return String(number % 10 ** 6).padStart(6, '0');
}
const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** @returns a code that is wrong for the two steps before and after the current one as well */
export function wrongCode(secret: string, now: number): string {
  const right = new Set([-2, -1, 0, 1, 2].map((step) => codeAt(secret, now + step * stepSeconds * 1000)));
  for (let guess = 0; ; guess++) {
    const code = String(guess).padStart(6, '0');
    if (!right.has(code)) return code;
  }
}

export const trySignIn = (app: TestApp, email: string, code?: string, password = goodPassword): Promise<Answered> =>
  app.call('POST', '/auth/token', {
    headers: { ...basic(email, password), ...(code === undefined ? {} : { [otpHeader]: code }) },
  });

export async function signInWith(app: TestApp, email: string, code?: string): Promise<SignedIn> {
  const answer = await trySignIn(app, email, code);
  assert.equal(answer.status, 200, answer.text);
  return answer.json as SignedIn;
}

// oxlint-disable-next-line max-params -- a request in the order of HTTP; 150 tests send some
export const as = (
  app: TestApp,
  { accessToken }: Pick<SignedIn, 'accessToken'>,
  method: string,
  path: string,
  json?: unknown,
): Promise<Answered> =>
  app.call(method, path, { headers: bearer(accessToken), ...(json === undefined ? {} : { json }) });

export async function beginEnrolment(app: TestApp, user: Pick<SignedIn, 'accessToken'>): Promise<string> {
  const answer = await as(app, user, 'POST', factorPath, { currentPassword: goodPassword });
  assert.equal(answer.status, 201, answer.text);
  return (answer.json as { secret: string }).secret;
}

/** Uses the code of the current step; {@link nextStep} provides another one. */
export async function enrol(app: TestApp, user: SignedIn): Promise<Enrolled> {
  const secret = await beginEnrolment(app, user);
  const answer = await as(app, user, 'POST', `${factorPath}/confirm`, { code: codeAt(secret, app.clock.now()) });
  assert.equal(answer.status, 200, answer.text);
  return { ...user, secret, ...(answer.json as { recoveryCodes: string[] }) };
}

/** A new account with a second factor, whose code of the current step is unused. */
export async function newEnrolledAccount(app: TestApp, email?: string): Promise<Enrolled> {
  const user = await enrol(app, await app.signIn(email));
  nextStep(app);
  return user;
}

export const nextStep = (app: TestApp): void => app.clock.advance({ seconds: stepSeconds });
