/** A password that is asked for beside a code or an access token: counted before it is looked at, as at a sign-in. */
import { normalizePassword } from '../accounts/password-rules.ts';
import type { PasswordHasher } from '../crypto/password.ts';
import type { Secret } from '../crypto/secret.ts';
import { DomainError } from '../errors.ts';
import type { LoginAttempt, LoginThrottle } from '../throttle/login-throttle.ts';

export interface PasswordCheck extends LoginAttempt {
  readonly password: Secret;
  /** What it is compared with; empty when there is none. */
  readonly hash: string;
  /** What a wrong one is answered with. */
  readonly refusal: 'password_wrong' | 'invalid_credentials';
}

/** @throws DomainError the refusal, `too_many_attempts`, `overloaded` */
export async function assertPassword(
  { throttle, hasher }: { readonly throttle: LoginThrottle; readonly hasher: PasswordHasher },
  { password, hash, refusal, ...attempt }: PasswordCheck,
): Promise<void> {
  hasher.assertCapacity();
  await throttle.reserve(attempt);
  const typed = password.reveal();
  const isRight = await hasher.verify(normalizePassword(typed), hash, typed).catch(async (error: unknown) => {
    await throttle.release(attempt);
    throw error;
  });
  if (!isRight) throw new DomainError(refusal);
  // Not forgiven: it is no sign-in, so what failed before goes on counting.
  await throttle.release(attempt);
}
