/** Signs in as an administrator of a remote service, with a second factor if the account has one. */
import { KeyreeveError, signIn, type Service } from '@keyreeve/client/account';
import { getOwnAccount, type TokenPair } from '@keyreeve/contract';
import { DomainError } from '../../foundation/errors.ts';
import type { Secret } from '../../foundation/crypto/secret.ts';
import { UsageError } from '../failure.ts';
import { promptSecret } from '../password-input.ts';
import { failureOf, notKeyreeve } from './remote-error.ts';
import { RemoteService } from './remote-service.ts';
import type { KeptSession } from './session-file.ts';

export interface SignInInput {
  readonly password: Secret;
  /** A code of the second factor, or a recovery code. Called if the account needs one. */
  readonly oneTimePassword: () => Promise<Secret>;
}

export const promptOneTimePassword = (): Promise<Secret> => promptSecret('One-time code or recovery code: ');

/** @throws DomainError `invalid_credentials`, `administrator_required` and others, RemoteError */
export async function signInAsAdministrator(service: Service, email: string, input: SignInInput): Promise<KeptSession> {
  const session = await firstOrSecondStep(service, email, input).catch((error: unknown) => {
    throw failureOf(error, service.url, false);
  });
  const { tokens } = session;
  if (!isTokenPair(tokens)) throw notKeyreeve(service.url, 200, false);
  const remote = new RemoteService(service, {
    kind: 'administrator',
    send: (attempt) => attempt({ Authorization: `Bearer ${tokens.accessToken}` }),
  });
  try {
    const { id, role } = await remote.request(getOwnAccount);
    if (role === 'admin') return { url: service.url, accountId: id, email, ...tokens };
    throw new DomainError('administrator_required', {
      detail: `${email} is not an administrator, so the session was ended.`,
    });
  } catch (error) {
    // Nothing keeps its tokens. It would also end by itself.
    await session.signOut().catch(() => undefined);
    throw error;
  }
}

async function firstOrSecondStep(service: Service, email: string, { password, oneTimePassword }: SignInInput) {
  const form = { email, password: password.reveal() };
  try {
    return await signIn(service, form);
  } catch (error) {
    if (!(error instanceof KeyreeveError && error.code === 'second_factor_required')) throw error;
    const methods = error.problem['methods'];
    if (Array.isArray(methods) && !methods.includes('code') && !methods.includes('recovery_code'))
      throw new UsageError(
        'the second factor of the account is a passkey, which needs a browser: add an authenticator app',
      );
    return signIn(service, { ...form, oneTimePassword: (await oneTimePassword()).reveal() });
  }
}

export function isTokenPair(value: unknown): value is TokenPair {
  const { accessToken, refreshToken } = (value ?? {}) as Partial<TokenPair>;
  // No header field has other characters.
  return [accessToken, refreshToken].every((token) => typeof token === 'string' && /^[\x21-\x7E]+$/.test(token));
}
