/** Credentials of a revocation check from outside, for tests. */
import { systemClock } from '../src/foundation/clock.ts';
import { FakeClock } from './fake-clock.ts';
import { bearer, newApp, operator, type TestApp, type TestAppOptions } from './new-app.ts';

export interface CanaryCredential {
  readonly keyId: number;
  readonly accountId: string;
  readonly secret: string;
  readonly headers: { readonly authorization: string };
}

export interface NewCanaryKey {
  readonly id: number;
  readonly nickname: string;
  readonly key: string;
  readonly expiresAt: string;
}

/** The clock of PostgreSQL counts for an expiry, too, so the test starts at the current time. */
export const newCanaryApp = (options: TestAppOptions = {}): Promise<TestApp> =>
  newApp({ clock: new FakeClock(systemClock.now()), ...options });

export async function issueCredential(app: TestApp, seconds = 3_600): Promise<CanaryCredential> {
  const { keyId, accountId, secret } = await app.service.services.canaryKeys.issue(operator, seconds);
  return { keyId, accountId, secret: secret.reveal(), headers: bearer(secret.reveal()) };
}

/** @throws Error unless the creation succeeds */
export async function createCanary(
  app: TestApp,
  { headers }: Pick<CanaryCredential, 'headers'>,
): Promise<NewCanaryKey> {
  const answer = await app.call('POST', '/auth/canary-keys', { headers });
  if (answer.status !== 201) throw new Error(`no canary key: ${answer.text}`);
  return answer.json as NewCanaryKey;
}
