/** Password hashes: equal to an independent Argon2id, under the pepper, bounded, and renewed after a sign-in. */
import assert from 'node:assert/strict';
import { argon2Sync, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { hashRaw } from '@node-rs/argon2';
import { limits } from '@keyreeve/contract';
import { Accounts } from '../../../modules/accounts/accounts.ts';
import { CommonPasswords } from '../../../modules/accounts/common-passwords.ts';
import { findCredentials } from '../../../modules/accounts/store.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { KeyedHash } from '../keyed-hash.ts';
import { argon2Default, PasswordHasher, type Argon2Parameters } from '../password.ts';
import { Secret } from '../secret.ts';
import type { Db } from '../../database/db.ts';
import { DomainError } from '../../errors.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { goodPassword, operator } from '../../../../test-kit/new-app.ts';
import { databases } from '../../../../test-kit/new-db.ts';
import { SignInLimits } from '../../../modules/rate-limits/sign-in-limits.ts';
import { until } from '../../../../test-kit/until.ts';

const cheap: Argon2Parameters = { memoryKib: 64, passes: 1, lanes: 1 };
const pepper = new KeyedHash(randomBytes(32));
const isOverloaded = (error: unknown): boolean => error instanceof DomainError && error.code === 'overloaded';

function argon2id(password: string, salt: Uint8Array, { memoryKib, passes, lanes }: Argon2Parameters): Buffer {
  const parameters = { message: password, nonce: salt, memory: memoryKib, passes, parallelism: lanes, tagLength: 32 };
  return argon2Sync('argon2id', parameters);
}

function partsOf(phc: string): { head: string; salt: Buffer; tag: Buffer } {
  const [, algorithm, version, parameters, salt = '', tag = ''] = phc.split('$');
  const head = `$${algorithm}$${version}$${parameters}`;
  return { head, salt: Buffer.from(salt, 'base64'), tag: Buffer.from(tag, 'base64') };
}

const vectors: readonly (readonly [password: string, parameters: Argon2Parameters])[] = [
  ['wombat orbit velvet 42', argon2Default],
  ['wombat orbit velvet 42', { memoryKib: 19_456, passes: 2, lanes: 1 }],
  ['Straße 🦦 crème brûlée', { memoryKib: 64, passes: 3, lanes: 1 }],
  ['x', { memoryKib: 64, passes: 1, lanes: 4 }],
  ['x'.repeat(limits.passwordBytesMax), cheap],
];

test('the Argon2id library and Node return the same hashes', { tags: ['asvs:11.2.1'] }, async () => {
  for (const [password, parameters] of vectors) {
    const salt = randomBytes(16);
    const { memoryKib: memoryCost, passes: timeCost, lanes: parallelism } = parameters;
    const raw = await hashRaw(password, { memoryCost, timeCost, parallelism, outputLen: 32, salt });
    assert.deepEqual(Buffer.from(raw), argon2id(password, salt, parameters), JSON.stringify(parameters));
  }
});

test(
  'the stored form is a PHC string of Argon2id with its parameters and a unique salt, under the pepper',
  { tags: ['asvs:11.4.2'] },
  async () => {
    for (const [password, parameters] of vectors) {
      const phc = await new PasswordHasher(pepper, parameters).hash(password);
      const { head, salt, tag } = partsOf(phc);
      const { memoryKib, passes, lanes } = parameters;
      assert.equal(head, `$argon2id$v=19$m=${memoryKib},t=${passes},p=${lanes},keyid=cDE`);
      assert.equal(salt.length, 16);
      assert.deepEqual(tag, pepper.mac(argon2id(password, salt, parameters)));
      assert.notDeepEqual(partsOf(await new PasswordHasher(pepper, parameters).hash(password)).salt, salt);
    }
  },
);

test('the default parameters are those of ASVS', { tags: ['asvs:11.4.2'] }, async () => {
  assert.match(await new PasswordHasher(pepper).hash('x'), /^\$argon2id\$v=19\$m=47104,t=1,p=1,/);
});

test(
  'a hash matches only its password, also among passwords with a long common prefix',
  { tags: ['asvs:6.2.8'] },
  async () => {
    const hasher = new PasswordHasher(pepper, cheap);
    const start = 'x'.repeat(72);
    const phc = await hasher.hash(`${start}1`);
    assert.equal(await hasher.verify(`${start}1`, phc), true);
    for (const other of [`${start}2`, start, `${start}11`, `X${start.slice(1)}1`, '']) {
      assert.equal(await hasher.verify(other, phc), false, other);
    }
  },
);

test('a stolen hash cannot be verified without the pepper', async () => {
  const phc = await new PasswordHasher(pepper, cheap).hash(goodPassword);
  const { salt, tag } = partsOf(phc);
  assert.notDeepEqual(argon2id(goodPassword, salt, cheap), tag);
  assert.equal(await new PasswordHasher(new KeyedHash(randomBytes(32)), cheap).verify(goodPassword, phc), false);
  assert.equal(await new PasswordHasher(pepper, cheap).verify(goodPassword, phc), true);
});

test(
  'a hash with other parameters is verified with those parameters, and is outdated',
  { tags: ['asvs:11.2.2'] },
  async () => {
    const today = new PasswordHasher(pepper, cheap);
    for (const other of [
      { ...cheap, memoryKib: 128 },
      { ...cheap, passes: 2 },
      { ...cheap, memoryKib: 128, lanes: 2 },
    ]) {
      const phc = await new PasswordHasher(pepper, other).hash(goodPassword);
      assert.equal(await today.verify(goodPassword, phc), true);
      assert.equal(today.isOutdated(phc), true);
    }
    assert.equal(today.isOutdated(await today.hash(goodPassword)), false);
  },
);

test('an unknown account takes one hash, like a known one, and no password matches', async () => {
  const hasher = new PasswordHasher(pepper, cheap);
  const phc = await hasher.hash(goodPassword);
  for (const [stored, expected] of [
    [phc, true],
    [undefined, false],
  ] as const) {
    const { hashed } = hasher.stats;
    assert.equal(await hasher.verify(goodPassword, stored), expected);
    assert.equal(hasher.stats.hashed, hashed + 1);
  }
});

/** The number of simultaneous hashes that are accepted, and the Retry-After of the others. */
const queues: readonly (readonly [bound: string, concurrency: number, waiting: number, retryAfterSeconds: number])[] = [
  ['its length', 2, limits.hashQueueMax, 1],
  ['the expected waiting time of 30 ms for each hash', 1, 50, 2],
];
for (const [bound, concurrency, waiting, retryAfterSeconds] of queues) {
  test(
    `the queue is bounded by ${bound}, and a rejected password is not hashed`,
    { tags: ['asvs:15.2.2'] },
    async () => {
      const hasher = new PasswordHasher(pepper, cheap, { concurrency });
      const requested = Array.from({ length: 100 }, () => hasher.verify(goodPassword, undefined));
      const accepted = concurrency + waiting;
      assert.deepEqual(hasher.stats, { running: concurrency, waiting, hashed: 0, refused: 100 - accepted });
      const results = await Promise.allSettled(requested);
      assert.deepEqual(
        results.map(({ status }) => status),
        [...Array<string>(accepted).fill('fulfilled'), ...Array<string>(100 - accepted).fill('rejected')],
      );
      for (const result of results.slice(accepted)) {
        assert.ok(result.status === 'rejected' && isOverloaded(result.reason));
        assert.equal((result.reason as DomainError).options.retryAfterSeconds, retryAfterSeconds);
      }
      assert.deepEqual(hasher.stats, { running: 0, waiting: 0, hashed: accepted, refused: 100 - accepted });
      assert.equal(await hasher.verify(goodPassword, undefined), false);
    },
  );
}

function accountsOf(db: Db, hasher: PasswordHasher): Accounts {
  const clock = new FakeClock();
  const signInLimits = new SignInLimits({ db, clock, bucketHash: pepper, ipRangeLimits: [], enabled: false });
  return new Accounts({
    db,
    clock,
    hasher,
    rules: { lengthMin: 15, contextWords: [], common: new CommonPasswords() },
    signInLimits,
    revocations: undefined,
    rejectsAdministrators: false,
  });
}

const email = 'you@example.com';
const storedHash = async (db: Db): Promise<string> => (await findCredentials(db, email))?.passwordHash ?? '';

test(
  'after a change of the parameters, a sign-in renews the stored hash after its response',
  { tags: ['asvs:11.2.2'] },
  async () => {
    for (const open of Object.values(databases)) {
      await using opened = await open();
      const { db } = opened;
      await accountsOf(db, new PasswordHasher(pepper, cheap)).create(operator, email, new Secret(goodPassword), 'user');
      const old = await storedHash(db);
      const hasher = new PasswordHasher(pepper, { ...cheap, memoryKib: 128 });
      const accounts = accountsOf(db, hasher);

      assert.equal(await accounts.authenticate(email, new Secret('a wrong password')), undefined);
      const before = await accounts.authenticate(email, new Secret(goodPassword));
      // Two verifications: the renewal has not been computed when the sign-in returns, so it cannot be stored either. A read
      // of the stored hash here would race with the renewal.
      assert.equal(hasher.stats.hashed, 2);
      await until('the hash is renewed', async () => (await storedHash(db)) !== old);

      assert.match(await storedHash(db), /^\$argon2id\$v=19\$m=128,/);
      const after = await accounts.authenticate(email, new Secret(goodPassword));
      // Existing sessions continue.
      assert.deepEqual(after, before);
      assert.equal(hasher.stats.hashed, 4);
      assert.equal(hasher.stats.running, 0);
      const renewals = (await listAuditEvents(db)).filter(({ action }) => action === 'account.password_rehashed');
      assert.equal(renewals.length, 1);
    }
  },
);
