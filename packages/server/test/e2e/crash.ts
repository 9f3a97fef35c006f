/**
 * Kills the program at random moments while clients create and delete keys. After the next start, every acknowledged change is
 * in force, and each change has exactly one audit event.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import {
  basic,
  bearer,
  databaseIn,
  goodPassword,
  runProgram,
  startProgram,
  type Key,
  type Program,
} from './program.ts';

const clients = 6;

/** The program is killed after a random number of responses, which include deletions. */
const responsesMin = 20;
const responsesMax = 60;

const environment = {
  // Keeps the issuer of tokens when the port changes.
  KEYREEVE_PUBLIC_URL: 'http://localhost:8787',
  KEYREEVE_CREATIONS_PER_MINUTE_MAX: '100000',
  KEYREEVE_KEYS_PER_ACCOUNT_MAX: '100000',
};

/** What the clients have received responses for. */
class KeyStates {
  readonly live = new Map<number, Key>();
  readonly deleted = new Map<number, Key>();
  /** The deletion has no response: it took effect completely or not at all. */
  readonly uncertain = new Map<number, Key>();
}

/** One client: creates keys, and deletes every second one, until the program ends. */
async function createAndDelete(
  program: Program,
  accessToken: string,
  client: string,
  { states, onResponse }: { readonly states: KeyStates; readonly onResponse: () => void },
) {
  for (let count = 0; ; count++) {
    const key = await program.createKey(accessToken, `${client}-${count}`);
    states.live.set(key.id, key);
    onResponse();
    if (count % 2 === 0) continue;
    states.live.delete(key.id);
    states.uncertain.set(key.id, key);
    const deleted = await program.call('DELETE', `/auth/api-keys/${key.id}`, bearer(accessToken));
    assert.equal(deleted.status, 200, deleted.text);
    states.uncertain.delete(key.id);
    states.deleted.set(key.id, key);
    onResponse();
  }
}

/** Runs the clients and kills the program after a random number of responses. */
async function runAndKill(program: Program, accessToken: string, round: number, states: KeyStates): Promise<void> {
  let left = randomInt(responsesMin, responsesMax);
  const onResponse = () => {
    if (--left === 0) program.signal('SIGKILL');
  };
  const running = Array.from({ length: clients }, (_, client) =>
    createAndDelete(program, accessToken, `${round}-${client}`, { states, onResponse }),
  );
  for (const ended of await Promise.allSettled(running)) {
    // A lost connection ends a client; an unexpected response fails the test.
    if (ended.status === 'rejected' && !(ended.reason instanceof TypeError)) throw ended.reason;
  }
  assert.deepEqual([(await program.exited()).status, program.child.signalCode], [null, 'SIGKILL']);
}

async function assertKept(program: Program, { live, deleted }: KeyStates): Promise<void> {
  const statusOf = async ({ key }: Key) => (await program.call('GET', '/auth/forward', bearer(key))).status;
  for (const key of live.values()) assert.equal(await statusOf(key), 200, `key ${key.id} was acknowledged`);
  for (const key of deleted.values()) assert.equal(await statusOf(key), 401, `key ${key.id} was deleted`);
}

/** Reads the database directly. */
function assertAudited(folder: string, { live, deleted, uncertain }: KeyStates): void {
  using database = new DatabaseSync(databaseIn(folder), { readOnly: true });
  const numbers = (text: string) =>
    new Set(
      database
        .prepare(text)
        .all()
        .map((row) => Number(Object.values(row)[0])),
    );
  const texts = (text: string) =>
    database
      .prepare(text)
      .all()
      .map((row) => String(Object.values(row)[0]));
  const targets = (action: string) =>
    `select target from audit_events where action = '${action}' group by target having count(*) = 1`;
  const rows = numbers('select id from api_keys');
  const created = numbers(targets('api_key.created'));
  const removed = numbers(targets('api_key.deleted'));

  assert.deepEqual(rows, created.difference(removed));
  assert.ok(removed.isSubsetOf(created));
  for (const id of live.keys()) assert.ok(rows.has(id));
  for (const id of deleted.keys()) assert.ok(removed.has(id));
  for (const id of uncertain.keys()) assert.ok(created.has(id));
  const sessions = texts('select id from sessions order by id');
  assert.deepEqual(texts(`${targets('session.created')} order by target`), sessions);
  assert.deepEqual(texts('pragma integrity_check'), ['ok']);
  assert.deepEqual(texts('pragma foreign_key_check'), []);
}

/** Verifies the MACs of the audit log. */
async function assertAuditLogIntact(folder: string): Promise<void> {
  const { status, stdout } = await runProgram(['audit', 'verify', '--json'], { folder, environment });
  const { events, findings } = JSON.parse(stdout) as { events: number; findings: object[] };
  assert.deepEqual([status, findings], [0, []]);
  assert.ok(events > 0);
}

export async function assertKeptAfterKills(rounds: number): Promise<void> {
  using folder = newTempFolder();
  const states = new KeyStates();
  let accessToken: string | undefined;
  for (let round = 0; round < rounds; round++) {
    await using program = await startProgram(folder.path, environment);
    accessToken ??= (await program.signIn()).accessToken;
    await assertKept(program, states);
    await runAndKill(program, accessToken, round, states);
    assertAudited(folder.path, states);
    await assertAuditLogIntact(folder.path);
  }
  await using program = await startProgram(folder.path, environment);
  await assertKept(program, states);
  const again = await program.call('POST', '/auth/token', basic('you@example.com', goodPassword));
  assert.equal(again.status, 200);
  assert.ok(states.live.size > 0 && states.deleted.size > 0);
}
