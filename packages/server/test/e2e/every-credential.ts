/**
 * An installation with live and ended credentials of each kind, which a process of any version creates over HTTP and with commands.
 */
import assert from 'node:assert/strict';
import { codeAt } from '../../test-kit/authenticator.ts';
import { basic, bearer, goodPassword, type Key, type Program } from './program.ts';

/** Of a service: by a process or in the process of the test. */
export type Call = (
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  json?: object,
) => Promise<{ readonly status: number; readonly text: string; readonly json: unknown }>;

export interface Credentials {
  /** With the scope `keyreeve:verify`. */
  readonly service: string;
  /** What `/auth/verify` accepts, and what it rejects. */
  readonly keys: Lists<Record<string, string>>;
  readonly accessTokens: Lists<Record<string, string>>;
  readonly refreshTokens: Lists<Record<string, string>>;
  /** Email addresses of accounts that sign in with {@link goodPassword} alone, and of those that do not. */
  readonly accounts: Lists<string[]>;
  /** Of `grace@example.com`. */
  readonly recoveryCodes: Lists<string[]>;
}

interface Lists<T> {
  readonly live: T;
  readonly ended: T;
}

interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** What {@link endSome} ends. */
interface Later {
  readonly tokens: Tokens;
  readonly ended: Tokens;
  readonly ids: Readonly<Record<'deletedLater' | 'disabledLater' | 'rotatedLater', number>>;
}

const emailOf = (name: string): string => `${name}@example.com`;
const otp = (code: string) => ({ 'x-keyreeve-otp': code });
const graces = emailOf('grace');

async function send(program: Program, accessToken: string, [method, path, json]: readonly [string, string, object?]) {
  const answer = await program.call(method, path, bearer(accessToken), json);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
  return answer.json;
}

const rotate = async (program: Program, { accessToken }: Tokens, id: number, json: object): Promise<string> =>
  ((await send(program, accessToken, ['POST', `/auth/api-keys/${id}/rotate`, json])) as Key).key;

const endSession = async (program: Program, { refreshToken }: Tokens): Promise<void> => {
  const { status, text } = await program.call('POST', '/auth/token/revoke', {}, { refreshToken });
  assert.equal(status, 204, text);
};

const endAccount = async (program: Program, name: string, command: 'disable' | 'delete'): Promise<void> => {
  const { status, stderr } = await program.command([
    'account',
    command,
    emailOf(name),
    ...(command === 'delete' ? ['--yes'] : []),
  ]);
  assert.equal(status, 0, stderr);
};

/** In an empty installation. */
export async function createCredentials(program: Program): Promise<{ credentials: Credentials; later: Later }> {
  const tokens = await program.signIn(emailOf('ada'));
  const { accessToken } = tokens;
  const create = (nickname: string): Promise<Key> => program.createKey(accessToken, nickname);
  const [live, deleted, disabled, rotated, replaced] = [
    await create('live'),
    await create('deleted'),
    await create('disabled'),
    await create('rotated'),
    await create('replaced'),
  ];
  const [deletedLater, disabledLater, rotatedLater] = [
    await create('deleted later'),
    await create('disabled later'),
    await create('rotated later'),
  ];
  const ended: Record<string, string> = { deleted: deleted.key, disabled: disabled.key, replaced: replaced.key };
  const accepted: Record<string, string> = { live: live.key, previous: rotated.key };
  await send(program, accessToken, ['DELETE', `/auth/api-keys/${deleted.id}`]);
  await send(program, accessToken, ['PATCH', `/auth/api-keys/${disabled.id}`, { disabled: true }]);
  accepted['rotated'] = await rotate(program, tokens, rotated.id, { overlapSeconds: 604_800 });
  accepted['replacement'] = await rotate(program, tokens, replaced.id, { overlapSeconds: 0 });
  for (const [name, command] of [
    ['bob', 'disable'],
    ['dora', 'delete'],
    ['erik', undefined],
    ['fred', undefined],
  ] as const) {
    const { key } = await program.createKey((await program.signIn(emailOf(name))).accessToken, name);
    (command === undefined ? accepted : ended)[name] = key;
    if (command !== undefined) await endAccount(program, name, command);
  }
  const [session, endedLater] = [await signIn(program, 'ada'), await signIn(program, 'ada')];
  await endSession(program, session);
  const ofService = ['--account', emailOf('ada'), '--nickname', 'service', '--scope', 'keyreeve:verify'];
  const created = await program.command(['key', 'create', ...ofService, '--json']);
  assert.equal(created.status, 0, created.stderr);
  Object.assign(accepted, {
    deletedLater: deletedLater.key,
    disabledLater: disabledLater.key,
    rotatedLater: rotatedLater.key,
  });
  const credentials: Credentials = {
    service: (JSON.parse(created.stdout) as Key).key,
    keys: { live: accepted, ended },
    accessTokens: {
      live: { ada: accessToken, endedLater: endedLater.accessToken },
      ended: { signedOut: session.accessToken },
    },
    refreshTokens: {
      live: { ada: tokens.refreshToken, endedLater: endedLater.refreshToken },
      ended: { signedOut: session.refreshToken },
    },
    accounts: {
      live: [emailOf('ada'), emailOf('erik'), emailOf('fred')],
      ended: [emailOf('bob'), emailOf('dora'), emailOf('nobody')],
    },
    recoveryCodes: { live: await enrol(program), ended: [] },
  };
  const [used] = credentials.recoveryCodes.live.splice(0, 1);
  await signIn(program, 'grace', used);
  credentials.recoveryCodes.ended.push(String(used));
  const ids = { deletedLater: deletedLater.id, disabledLater: disabledLater.id, rotatedLater: rotatedLater.id };
  return { credentials, later: { tokens, ended: endedLater, ids } };
}

async function signIn(program: Program, name: string, code?: string): Promise<Tokens> {
  const headers = { ...basic(emailOf(name), goodPassword), ...(code === undefined ? {} : otp(code)) };
  const { status, text, json } = await program.call('POST', '/auth/token', headers);
  assert.equal(status, 200, text);
  return json as Tokens;
}

/** @returns the recovery codes of Grace */
async function enrol(program: Program): Promise<string[]> {
  const { accessToken } = await program.signIn(graces);
  const path = '/auth/account/second-factor';
  const { secret } = (await send(program, accessToken, ['POST', path, { currentPassword: goodPassword }])) as {
    secret: string;
  };
  const code = codeAt(secret, Date.now());
  return ((await send(program, accessToken, ['POST', `${path}/confirm`, { code }])) as { recoveryCodes: string[] })
    .recoveryCodes;
}

/** Ends one credential of each kind, as after a backup. @param program any that runs on the database */
export async function endSome(
  program: Program,
  { keys, accessTokens, refreshTokens, accounts, recoveryCodes }: Credentials,
  later: Later,
): Promise<void> {
  const { tokens, ended, ids } = later;
  await send(program, tokens.accessToken, ['DELETE', `/auth/api-keys/${ids.deletedLater}`]);
  await send(program, tokens.accessToken, ['PATCH', `/auth/api-keys/${ids.disabledLater}`, { disabled: true }]);
  await rotate(program, tokens, ids.rotatedLater, { overlapSeconds: 0 });
  await endSession(program, ended);
  await endAccount(program, 'erik', 'disable');
  await endAccount(program, 'fred', 'delete');
  const [used] = recoveryCodes.live.splice(0, 1);
  await signIn(program, 'grace', used);
  recoveryCodes.ended.push(String(used));
  for (const name of ['deletedLater', 'disabledLater', 'rotatedLater', 'erik', 'fred']) move(keys, name);
  for (const list of [accessTokens, refreshTokens]) move(list, 'endedLater');
  for (const email of accounts.live.splice(1)) accounts.ended.push(email);
}

const move = ({ live, ended }: Lists<Record<string, string>>, name: string): void => {
  ended[name] = String(live[name]);
  delete live[name];
};

interface Expectation {
  /** Whether a restore has ended all sessions. */
  readonly areSessionsEnded?: boolean;
  /** Whether the sign-ins and the single use of credentials are left out: they take long, and change the installation. */
  readonly isReadOnly?: boolean;
}

/** Asserts that each live credential is accepted, and each ended one rejected. A refresh replaces the live refresh token. */
export async function assertCredentials(
  call: Call,
  credentials: Credentials,
  { areSessionsEnded = false, isReadOnly = false }: Expectation = {},
): Promise<void> {
  const { service, keys, accessTokens, refreshTokens, accounts, recoveryCodes } = credentials;
  const isValid = async (credential: string): Promise<boolean> => {
    const { status, text, json } = await call('POST', '/auth/verify', bearer(service), { credential });
    assert.equal(status, 200, text);
    return (json as { valid: boolean }).valid;
  };
  for (const [name, key] of Object.entries(keys.live)) assert.equal(await isValid(key), true, name);
  for (const [name, key] of Object.entries(keys.ended)) assert.equal(await isValid(key), false, name);
  for (const [name, token] of Object.entries(accessTokens.live))
    assert.equal(await isValid(token), !areSessionsEnded, name);
  for (const [name, token] of Object.entries(accessTokens.ended)) assert.equal(await isValid(token), false, name);
  if (isReadOnly) return;
  const refresh = (refreshToken: string) => call('POST', '/auth/token/refresh', {}, { refreshToken });
  for (const [name, refreshToken] of Object.entries(refreshTokens.ended))
    assert.equal((await refresh(refreshToken)).status, 401, name);
  for (const [name, refreshToken] of Object.entries(refreshTokens.live)) {
    const { status, json } = await refresh(refreshToken);
    assert.equal(status, areSessionsEnded ? 401 : 200, name);
    if (!areSessionsEnded) refreshTokens.live[name] = (json as Tokens).refreshToken;
  }
  const statusOf = async (email: string, code?: string): Promise<number> =>
    (await call('POST', '/auth/token', { ...basic(email, goodPassword), ...(code === undefined ? {} : otp(code)) }))
      .status;
  for (const email of accounts.live) assert.equal(await statusOf(email), 200, email);
  for (const email of [...accounts.ended, graces]) assert.equal(await statusOf(email), 401, email);
  for (const code of recoveryCodes.ended) assert.equal(await statusOf(graces, code), 401, 'a used recovery code');
  const [code] = recoveryCodes.live.splice(0, 1);
  assert.equal(await statusOf(graces, code), 200, 'an unused recovery code');
  recoveryCodes.ended.push(String(code));
}
