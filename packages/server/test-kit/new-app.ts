/**
 * The complete service in the test's process: a real database in its own folder, real HTTP on a free port, cheap
 * password hashes, and a clock that the test advances.
 */
import { readConfig } from '../src/app/configuration/config.ts';
import { Secret } from '../src/foundation/crypto/secret.ts';
import type { Account } from '../src/modules/accounts/accounts.ts';
import type { Db } from '../src/foundation/database/db.ts';
import { createLog } from '../src/foundation/log.ts';
import type { RequestBounds } from '../src/http/request-gate.ts';
import { openInstallation, type OpenedInstallation } from '../src/app/installation/installation.ts';
import { startService, type Service } from '../src/app/service.ts';
import { assertDeclared, type Answered } from './declared-answers.ts';
import { HashingThreads } from '../src/foundation/crypto/hashing-threads.ts';
import { FakeClock } from './fake-clock.ts';
import { newPlace, type DatabasePlace } from './new-db.ts';
import { databaseWaits } from './time-limits.ts';

export type { Answered };

/** Cheap parameters for tests. */
const argon2 = { memoryKib: 64, passes: 1, lanes: 1 };

/** The hashing thread of all services of this process: it takes longer to start than a service. */
class SharedThreads extends HashingThreads {
  override close(): Promise<void> {
    return Promise.resolve();
  }
}
const sharedThreads = new SharedThreads(1);

export const operator = { kind: 'operator' } as const;
/** A password that satisfies every rule. */
export const goodPassword = 'wombat orbit velvet 42';

export interface TestAppOptions {
  /** Settings in addition to those of the test kit. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly clock?: FakeClock;
  /** The location of an existing database. By default, the service gets a new one. */
  readonly place?: DatabasePlace;
  /** Passed to `wire`. */
  readonly areRequestsLimited?: boolean;
  /** Bounds of requests in progress. */
  readonly requestBounds?: RequestBounds;
  /** Folder with the files of the console. */
  readonly consoleFolder?: string;
  /** Whether operations wait for the database only as long as those of the product. */
  readonly areWaitsShort?: boolean;
  /** Whether the service starts hashing threads. Default: all services of the process share one thread. */
  readonly hasOwnHashingThreads?: boolean;
}

export interface SignedIn {
  readonly account: Account;
  readonly accessToken: string;
  readonly refreshToken: string;
}

export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent unchanged. */
  readonly body?: string | Uint8Array<ArrayBuffer>;
}

export class TestApp implements AsyncDisposable {
  readonly clock: FakeClock;
  readonly service: Service;
  readonly place: DatabasePlace;
  /** All lines of the log. */
  readonly logLines: string[];
  /** That of the service: another one takes up to half of the time of a start, so only tests about connections {@link connect}. */
  readonly db: Db;
  readonly installation: OpenedInstallation;
  readonly #connect: () => Promise<OpenedInstallation>;
  readonly #connected: Db[] = [];
  readonly #cleanUp: () => Promise<void>;
  #accounts = 0;

  constructor(parts: {
    clock: FakeClock;
    service: Service;
    place: DatabasePlace;
    logLines: string[];
    connect: () => Promise<OpenedInstallation>;
    cleanUp: () => Promise<void>;
  }) {
    this.clock = parts.clock;
    this.service = parts.service;
    this.place = parts.place;
    this.logLines = parts.logLines;
    this.installation = parts.service.installation;
    this.db = this.installation.db;
    this.#connect = parts.connect;
    this.#cleanUp = parts.cleanUp;
  }

  get url(): string {
    return this.service.url;
  }

  /** Throws if the route does not declare the response's status, headers, schema or error code. */
  async call(method: string, path: string, { headers = {}, json, body }: CallOptions = {}): Promise<Answered> {
    const response = await fetch(new URL(path, this.url), {
      method,
      headers: { ...(json === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(json === undefined ? (body === undefined ? {} : { body }) : { body: JSON.stringify(json) }),
      redirect: 'manual',
    });
    const text = await response.text();
    const isJson = text !== '' && /json\b/.test(response.headers.get('content-type') ?? '');
    const answered: unknown = isJson ? JSON.parse(text) : undefined;
    const answer = { status: response.status, headers: response.headers, text, json: answered };
    assertDeclared(method, path, answer);
    return answer;
  }

  createAccount(email = `user${++this.#accounts}@example.com`, password = goodPassword): Promise<Account> {
    return this.service.services.accounts.create(operator, email, new Secret(password), 'user');
  }

  /** A new account with a session. */
  async signIn(email?: string): Promise<SignedIn> {
    const account = await this.createAccount(email);
    const pair = await this.call('POST', '/auth/token', { headers: basic(account.email, goodPassword) });
    return { account, ...(pair.json as { accessToken: string; refreshToken: string }) };
  }

  /** A key with the scope `keyreeve:verify`. */
  async serviceKey(): Promise<string> {
    const account = await this.createAccount();
    const { secret } = await this.service.services.apiKeys.create(operator, account.id, {
      nickname: 'verifier',
      scopes: ['keyreeve:verify'],
    });
    return secret.reveal();
  }

  /** Opens another connection to the same database, like one of the command line. It is closed with the app. */
  async connect(): Promise<OpenedInstallation> {
    const opened = await this.#connect();
    this.#connected.push(opened.db);
    return opened;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.service.stop();
    await Promise.allSettled(this.#connected.map((db) => db.close()));
    await this.#cleanUp();
  }
}

/** Starts a service on a new database of the running test's kind (`currentKind`). */
export async function newApp({
  environment = {},
  clock = new FakeClock(),
  place,
  areRequestsLimited = true,
  requestBounds,
  consoleFolder,
  areWaitsShort = false,
  hasOwnHashingThreads = false,
}: TestAppOptions = {}): Promise<TestApp> {
  const own = place ?? (await newPlace(undefined, { isMigrated: true }));
  const cleanUp = async (): Promise<void> => {
    if (place === undefined) await own[Symbol.asyncDispose]();
  };
  const logLines: string[] = [];
  try {
    const settings = {
      KEYREEVE_PORT: '0',
      KEYREEVE_ADMIN_PORT: '0',
      KEYREEVE_DRAIN_SECONDS: '0',
      KEYREEVE_LOG_LEVEL: 'trace',
      ...own.environment,
      ...environment,
    };
    const read = readConfig(settings);
    const config = areWaitsShort ? read : { ...read, database: { ...read.database, waits: databaseWaits } };
    const log = createLog(config.logLevel, { write: (line: string) => void logLines.push(line) });
    const limited = { areRequestsLimited, requestedMailDelayMsMax: 0, requestBounds, consoleFolder };
    const service = await startService({
      config,
      environment: settings,
      clock,
      log,
      argon2,
      ...(hasOwnHashingThreads ? {} : { hashingThreads: sharedThreads }),
      ...limited,
    });
    const connect = () => openInstallation(config, { clock, mayCreate: false });
    return new TestApp({ clock, service, place: own, logLines, connect, cleanUp });
  } catch (error) {
    await cleanUp();
    throw error;
  }
}

export const basic = (email: string, password: string): { authorization: string } => ({
  authorization: `Basic ${Buffer.from(`${email}:${password}`).toString('base64')}`,
});

export const bearer = (credential: string): { authorization: string } => ({ authorization: `Bearer ${credential}` });
