/**
 * Fills a database for better-auth: its migrations; one user with a password, a session and a key created through its API;
 * and copies of those rows with other ids, hashes and tokens. Writes pools for the load generator.
 */
import { randomInt } from 'node:crypto';
import { defaultKeyHasher } from '@better-auth/api-key';
import { getMigrations } from 'better-auth/db/migration';
import { baseUrl, createAuth } from './better-auth.ts';
import { writePool } from '../request.ts';
import { analyze, closeDatabase, multiplyRow, openDatabase } from './database.ts';

interface SeedOptions {
  readonly databaseUrl: string;
  readonly keys: number;
  readonly users: number;
  /** Number of users with a session, for key creation. */
  readonly sessions: number;
  /** The prefix of the pool files. */
  readonly poolPath: string;
}

const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
/** 64 letters, as better-auth's generator creates them. */
const newKey = (): string => Array.from({ length: 64 }, () => letters[randomInt(letters.length)]).join('');
const emailOf = (user: number): string => `bench${String(user).padStart(7, '0')}@example.com`;
const password = 'correct horse battery';

const options = JSON.parse(process.argv[2] ?? '{}') as SeedOptions;
const database = openDatabase(options.databaseUrl);
const auth = createAuth(database);
const { runMigrations } = await getMigrations(auth.options);
await runMigrations();

const { user } = await auth.api.signUpEmail({ body: { name: 'bench', email: emailOf(0), password } });
const key = await auth.api.createApiKey({ body: { userId: user.id, name: 'bench' } });
const { adapter } = await auth.$context;
const account = await adapter.findOne<{ id: string }>({
  model: 'account',
  where: [{ field: 'userId', value: user.id }],
});

const userIds = Array.from({ length: options.users - 1 }, (_, index) => `user-${index + 1}`);
await multiplyRow(
  database,
  { table: 'user', id: user.id },
  ['id', 'email'],
  userIds.map((id, index) => [id, emailOf(index + 1)]),
);
await multiplyRow(
  database,
  { table: 'account', id: account?.id ?? '' },
  ['id', 'accountId', 'userId'],
  userIds.map((id) => [`account-of-${id}`, id, id]),
);

const texts: string[] = [];
const rows: string[][] = [];
for (let i = 0; i < options.keys; i++) {
  const text = newKey();
  texts.push(text);
  rows.push([`key-${i}`, await defaultKeyHasher(text), userIds[i % userIds.length] ?? user.id, text.slice(0, 6)]);
}
await multiplyRow(database, { table: 'apikey', id: key.id }, ['id', 'key', 'referenceId', 'start'], rows);
await analyze(database);

const cookies: string[] = [];
for (let i = 0; i < options.sessions; i++) {
  const response = await auth.api.signInEmail({ body: { email: emailOf(i), password }, asResponse: true });
  cookies.push(response.headers.getSetCookie().map((cookie) => cookie.split(';', 1)[0])[0] ?? '');
}
console.log(
  JSON.stringify({
    keys: writePool(`${options.poolPath}.keys`, texts),
    emails: writePool(
      `${options.poolPath}.emails`,
      Array.from({ length: options.users }, (_, index) => emailOf(index)),
    ),
    cookies: writePool(`${options.poolPath}.cookies`, cookies),
    password,
    origin: baseUrl,
  }),
);
await closeDatabase(database);
