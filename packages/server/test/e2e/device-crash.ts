/**
 * Kills instances between the approval of a program and its polls, again and again. Each request ends with one key, of whose secrets
 * one is accepted, and no secret or device code is in a file or in a log.
 */
import assert from 'node:assert/strict';
import { randomBytes, randomInt } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { deviceCodeGrant } from '@keyreeve/contract';
import type { PostgresServer } from '../../test-kit/postgres/server.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { until } from '../../test-kit/until.ts';
import {
  basic,
  bearer,
  goodPassword,
  runProgram,
  startProgram,
  type Environment,
  type HttpResponse,
  type Program,
} from './program.ts';

const email = 'you@example.com';
const programId = 'acme-cli';
/** Of each instance at the same time. */
const pollsAtOnce = 2;
/** Responses between the first poll and the kill. */
const responsesMax = 12;
const plainSecret = /krvd?_[0-9A-Za-z]{49}/g;

const settings: Environment = {
  KEYREEVE_PUBLIC_URL: 'http://localhost:8787',
  KEYREEVE_TRUSTED_PROXIES: '127.0.0.1',
  KEYREEVE_CREATIONS_PER_MINUTE_MAX: '100000',
  KEYREEVE_KEYS_PER_ACCOUNT_MAX: '100000',
};

/** A request that is approved. */
interface Request {
  readonly nickname: string;
  readonly deviceCode: string;
  /** The secrets that responses contained: at most one. */
  readonly secrets: Set<string>;
  /** The same of responses that the program did not get. A later poll replaces them. */
  readonly lost: Set<string>;
  /** Whether the minute passed before the program got a response: the key exists, and the program has no secret. */
  isLate: boolean;
}

class Instances implements AsyncDisposable {
  readonly #folder: string;
  readonly #environments: readonly Environment[];
  #programs: Program[] = [];
  /** Of those that have been killed. */
  #output = '';
  #accessToken = '';

  constructor(folder: string, environments: readonly Environment[]) {
    this.#folder = folder;
    this.#environments = environments;
  }

  get all(): readonly Program[] {
    return this.#programs;
  }

  get any(): Program {
    return this.#programs[randomInt(this.#programs.length)] as Program;
  }

  get output(): string {
    return this.#output + this.#programs.map(({ stdout, stderr }) => stdout + stderr).join('');
  }

  async start(): Promise<void> {
    // One after the other: the first one migrates.
    for (const environment of this.#environments) this.#programs.push(await startProgram(this.#folder, environment));
    this.#accessToken = (await this.any.signIn(email)).accessToken;
    const args = ['program', 'add', programId, '--name', programId];
    const added = await runProgram(args, { folder: this.#folder, environment: this.#environments[0] ?? {} });
    assert.equal(added.status, 0, added.stderr);
  }

  /** Kills an instance after some responses, and starts it again. */
  async killOne(responses: number): Promise<void> {
    const index = randomInt(this.#programs.length);
    const killed = this.#programs[index] as Program;
    for (let left = responses; left > 0; left--) await killed.call('GET', '/health/live');
    killed.signal('SIGKILL');
    await killed.exited();
    this.#output += killed.stdout + killed.stderr;
    this.#programs[index] = await startProgram(this.#folder, this.#environments[index]);
  }

  /** As the person, whose sign-in must be recent. */
  async send(method: string, path: string, json?: object): Promise<unknown> {
    const first = await this.any.call(method, path, bearer(this.#accessToken), json);
    if (first.status === 200) return first.json;
    assert.ok([401, 403].includes(first.status), first.text);
    const signedIn = await this.any.call('POST', '/auth/token', basic(email, goodPassword));
    this.#accessToken = (signedIn.json as { accessToken: string }).accessToken;
    const second = await this.any.call(method, path, bearer(this.#accessToken), json);
    assert.equal(second.status, 200, second.text);
    return second.json;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const program of this.#programs) await program[Symbol.asyncDispose]();
  }
}

/** @throws TypeError without a response */
async function post(program: Program, path: string, members: Record<string, string>, round = 0): Promise<HttpResponse> {
  const clientIp = `10.${Math.floor(round / 250)}.${round % 250}.1`;
  const headers = { connection: 'close', 'x-forwarded-for': clientIp };
  const body = new URLSearchParams({ client_id: programId, ...members });
  const response = await fetch(new URL(path, program.url), { method: 'POST', headers, body });
  const text = await response.text();
  return { status: response.status, text, json: JSON.parse(text) as unknown };
}

async function approve(instances: Instances, round: number): Promise<Request> {
  const nickname = `round ${round}`;
  const begun = await post(instances.any, '/auth/oauth/device', {}, round);
  assert.equal(begun.status, 200, begun.text);
  const { device_code: deviceCode, user_code: code } = begun.json as { device_code: string; user_code: string };
  const { id } = (await instances.send('POST', '/auth/approvals/lookup', { code })) as { id: string };
  await instances.send('POST', `/auth/approvals/${id}/approve`, { code, nickname });
  return { nickname, deviceCode, secrets: new Set(), lost: new Set(), isLate: false };
}

/** @param isLost whether the program does not get the response */
async function poll(program: Program, request: Request, isLost = false): Promise<void> {
  const members = { grant_type: deviceCodeGrant, device_code: request.deviceCode };
  const response = await post(program, '/auth/oauth/token', members).catch((error: unknown) => {
    if (!(error instanceof TypeError)) throw error;
  });
  if (!response) return;
  const { access_token: secret, error } = response.json as { access_token?: string; error?: string };
  if (secret !== undefined) (isLost ? request.lost : request.secrets).add(secret);
  else assert.ok(['slow_down', 'invalid_grant', 'invalid_request'].includes(error ?? ''), response.text);
  // An instance that is about to end may have no connection to the database any more.
  if (error === 'invalid_request') assert.equal(response.status, 503, response.text);
  if (error === 'invalid_grant') request.isLate = request.secrets.size === 0;
}

/** At every instance, the secret that the program got is accepted, and no other. */
async function assertOneAccepted(instances: Instances, { nickname, secrets, lost }: Request): Promise<void> {
  for (const program of instances.all) {
    const accepted: string[] = [];
    for (const secret of [...secrets, ...lost])
      if ((await program.call('GET', '/auth/forward', bearer(secret))).status === 200) accepted.push(secret);
    assert.deepEqual(accepted, [...secrets], nickname);
  }
}

const nicknamesOf = async (instances: Instances): Promise<string[]> => {
  const { apiKeys } = (await instances.send('GET', '/auth/api-keys')) as { apiKeys: { nickname: string }[] };
  return apiKeys.map(({ nickname }) => nickname);
};

/** @returns the files that contain a secret or a device code */
export function findSecrets(folders: readonly string[]): string[] {
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name)),
  );
  return files.filter((file) => readFileSync(file, 'latin1').search(plainSecret) >= 0);
}

/** @param postgres for two instances, which both poll; undefined: one instance on the embedded database */
export async function assertOneKeyAfterKills(rounds: number, postgres?: PostgresServer): Promise<void> {
  using temp = newTempFolder();
  const folder = temp.path;
  await using database = await postgres?.createDatabase().then((created) => ({
    url: created.url,
    [Symbol.asyncDispose]: () => created.drop(),
  }));
  const shared = {
    ...settings,
    KEYREEVE_MASTER_KEY: randomBytes(32).toString('base64url'),
    ...(database ? { KEYREEVE_DATABASE_URL: database.url } : {}),
  };
  const journals = database ? ['one', 'two'] : ['one'];
  const environments = journals.map((name) => ({ ...shared, KEYREEVE_DELETION_JOURNAL: join(folder, name) }));
  await using instances = new Instances(folder, environments);
  await instances.start();

  const all: Request[] = [];
  const open = (): Request[] => all.filter(({ secrets, isLate }) => secrets.size === 0 && !isLate);
  for (let round = 0; round < rounds; round++) {
    const request = await approve(instances, round);
    all.push(request);
    // No poll of the new request begins before the kill; polls are in progress; and the program gets no response to them.
    const isBefore = round % 3 === 0;
    const isLost = round % 3 === 2;
    const polled = isBefore ? open().slice(0, -1) : open();
    const polling = instances.all.flatMap((program) =>
      polled.flatMap((one) => Array.from({ length: pollsAtOnce }, () => poll(program, one, isLost))),
    );
    await instances.killOne(isBefore ? 0 : randomInt(responsesMax));
    await Promise.all(polling);
    if (isBefore) assert.equal((await nicknamesOf(instances)).includes(request.nickname), false);
    for (const one of open()) await poll(instances.any, one);
    for (const one of new Set([request, ...polled])) if (one.secrets.size > 0) await assertOneAccepted(instances, one);
  }
  await until('every request has its key', async () => {
    for (const one of open()) await poll(instances.any, one);
    return open().length === 0;
  });
  for (const one of all) if (!one.isLate) await assertOneAccepted(instances, one);
  assert.deepEqual((await nicknamesOf(instances)).toSorted(), all.map(({ nickname }) => nickname).toSorted());
  assert.ok(all.some(({ isLate }) => !isLate));

  const backup = await instances.any.command(['backup', '--to', join(folder, 'backup.gz')]);
  assert.equal(backup.status, 0, backup.stderr);
  writeFileSync(join(folder, 'backup'), gunzipSync(readFileSync(join(folder, 'backup.gz'))));
  writeFileSync(join(folder, 'log'), instances.output);
  const folders = [folder, ...(postgres ? [postgres.folder] : [])];
  assert.deepEqual(findSecrets(folders), []);
  // The search finds one.
  writeFileSync(join(folder, 'control'), [...(all.find(({ secrets }) => secrets.size > 0)?.secrets ?? [])].join(''));
  assert.deepEqual(findSecrets(folders), [join(folder, 'control')]);
}
