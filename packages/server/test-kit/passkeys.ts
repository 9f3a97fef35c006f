/** Accounts with passkeys, over the API of a service. */
import assert from 'node:assert/strict';
import type {
  AddedPasskey,
  AuthenticationResponse,
  CreationOptions,
  PasskeyList,
  Problem,
  RequestOptions,
} from '@keyreeve/contract';
import { as } from './authenticator.ts';
import { goodPassword, type Answered, type SignedIn, type TestApp } from './new-app.ts';
import { SoftwarePasskey, type Deviations, type PasskeyAlgorithm } from './software-passkey.ts';

export const passkeysPath = '/auth/passkeys';

/** The origin that browsers open: passkeys do not work on an IP address. */
export const originOf = (app: TestApp): string => `http://localhost:${new URL(app.url).port}`;

export async function creationOptions(app: TestApp, user: Pick<SignedIn, 'accessToken'>): Promise<CreationOptions> {
  const answer = await as(app, user, 'POST', `${passkeysPath}/options`);
  assert.equal(answer.status, 200, answer.text);
  return answer.json as CreationOptions;
}

export async function tryToAdd(
  app: TestApp,
  user: Pick<SignedIn, 'accessToken'>,
  passkey: SoftwarePasskey,
  deviations: Deviations = {},
): Promise<Answered> {
  const response = passkey.create(await creationOptions(app, user), deviations);
  return as(app, user, 'POST', passkeysPath, { name: 'laptop', response });
}

export interface Added extends AddedPasskey {
  readonly authenticator: SoftwarePasskey;
}

/** @param counter undefined: the passkey has no counter */
export async function addPasskey(
  app: TestApp,
  user: Pick<SignedIn, 'accessToken'>,
  algorithm: PasskeyAlgorithm = 'ES256',
  counter = 0,
): Promise<Added> {
  const authenticator = new SoftwarePasskey(originOf(app), algorithm);
  authenticator.counter = counter;
  const answer = await tryToAdd(app, user, authenticator);
  assert.equal(answer.status, 201, answer.text);
  return { ...(answer.json as AddedPasskey), authenticator };
}

export async function listPasskeys(app: TestApp, user: Pick<SignedIn, 'accessToken'>): Promise<PasskeyList> {
  const answer = await as(app, user, 'GET', passkeysPath);
  assert.equal(answer.status, 200, answer.text);
  return answer.json as PasskeyList;
}

export async function signInOptions(app: TestApp): Promise<RequestOptions> {
  const answer = await app.call('POST', `${passkeysPath}/sign-in/options`);
  assert.equal(answer.status, 200, answer.text);
  return answer.json as RequestOptions;
}

export const sendPasskey = (app: TestApp, passkey: AuthenticationResponse, more: object = {}): Promise<Answered> =>
  app.call('POST', '/auth/token/passkey', { json: { passkey, ...more } });

/** Signs in with the passkey as the only factor. */
export const tryPasskey = async (
  app: TestApp,
  authenticator: SoftwarePasskey,
  deviations: Deviations = {},
): Promise<Answered> => sendPasskey(app, authenticator.get(await signInOptions(app), deviations));

/** The member `passkey` of the response to a right password without a second factor. */
export async function secondFactorOptions(app: TestApp, email: string): Promise<RequestOptions> {
  const basic = Buffer.from(`${email}:${goodPassword}`).toString('base64');
  const answer = await app.call('POST', '/auth/token', { headers: { authorization: `Basic ${basic}` } });
  const problem = answer.json as Problem;
  assert.equal(problem.code, 'second_factor_required', answer.text);
  assert.ok(problem.passkey, answer.text);
  return problem.passkey;
}
