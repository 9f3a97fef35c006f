/**
 * `kill -9` at random instants, while keys are made and deleted over HTTP: what was acknowledged holds after the next
 * start, and there is no change without its audit row and no audit row without its change.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { basic, bearer, databaseIn, goodPassword, runProgram, startProgram, type Program } from './program.ts';

const rounds = 4;
const clients = 6;
/** The program is killed after so many answers of a round: enough for deletions among them. */
const answersMin = 20;
const answersMax = 60;

const environment = {
  // The issuer of tokens, whatever the port is after the next start.
  KEYREEVE_PUBLIC_URL: 'http://localhost:8787',
  KEYREEVE_CREATIONS_PER_MINUTE_MAX: '100000',
  KEYREEVE_KEYS_PER_ACCOUNT_MAX: '100000',
};

interface Key {
  readonly id: number;
  readonly key: string;
}

/** What clients know: a key is in one of the sets, and in none while its deletion is under way. */
class Ledger {
  readonly live = new Map<number, Key>();
  readonly deleted = new Map<number, Key>();
  /** Asked to be deleted, never answered: gone or not, but not half. */
  readonly uncertain = new Map<number, Key>();
}

/** One client: makes keys, and deletes every other one, until the program is gone. */
async function work(program: Program, accessToken: string, client: string, ledger: Ledger, onAnswer: () => void) {
  for (let count = 0; ; count++) {
    const created = await program.call('POST', '/auth/api-keys', bearer(accessToken), {
      nickname: `${client}-${count}`,
    });
    assert.equal(created.status, 201, created.text);
    const key = created.json as Key;
    ledger.live.set(key.id, key);
    onAnswer();
    if (count % 2 === 0) continue;
    ledger.live.delete(key.id);
    ledger.uncertain.set(key.id, key);
    const deleted = await program.call('DELETE', `/auth/api-keys/${key.id}`, bearer(accessToken));
    assert.equal(deleted.status, 200, deleted.text);
    ledger.uncertain.delete(key.id);
    ledger.deleted.set(key.id, key);
    onAnswer();
  }
}

/** Lets the clients work and kills the program in their midst. */
async function workAndKill(program: Program, accessToken: string, round: number, ledger: Ledger): Promise<void> {
  let left = randomInt(answersMin, answersMax);
  const onAnswer = () => {
    if (--left === 0) program.signal('SIGKILL');
  };
  const working = Array.from({ length: clients }, (_, client) =>
    work(program, accessToken, `${round}-${client}`, ledger, onAnswer),
  );
  for (const ended of await Promise.allSettled(working)) {
    // A lost connection ends a client; a wrong answer fails the test.
    if (ended.status === 'rejected' && !(ended.reason instanceof TypeError)) throw ended.reason;
  }
  assert.deepEqual([(await program.exited()).status, program.child.signalCode], [null, 'SIGKILL']);
}

async function assertKept(program: Program, { live, deleted }: Ledger): Promise<void> {
  const statusOf = async ({ key }: Key) => (await program.call('GET', '/auth/forward', bearer(key))).status;
  for (const key of live.values()) assert.equal(await statusOf(key), 200, `key ${key.id} was acknowledged`);
  for (const key of deleted.values()) assert.equal(await statusOf(key), 401, `key ${key.id} was deleted`);
}

/** The database's own account of itself, read past the program. */
function assertAudited(folder: string, { live, deleted, uncertain }: Ledger): void {
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

/** The trail's chains, by the command that an operator would ask. */
async function assertChained(folder: string): Promise<void> {
  const { status, stdout } = await runProgram(['audit', 'verify', '--json'], { folder, environment });
  const { events, findings } = JSON.parse(stdout) as { events: number; findings: object[] };
  assert.deepEqual([status, findings], [0, []]);
  assert.ok(events > 0);
}

test(
  'killed at any instant it loses nothing that it acknowledged, and records exactly what it did',
  { tags: ['asvs:2.3.3'] },
  async () => {
    using folder = newTempFolder();
    const ledger = new Ledger();
    let accessToken: string | undefined;
    for (let round = 0; round < rounds; round++) {
      await using program = await startProgram(folder.path, environment);
      accessToken ??= (await program.signIn()).accessToken;
      await assertKept(program, ledger);
      await workAndKill(program, accessToken, round, ledger);
      assertAudited(folder.path, ledger);
      await assertChained(folder.path);
    }
    await using program = await startProgram(folder.path, environment);
    await assertKept(program, ledger);
    const again = await program.call('POST', '/auth/token', basic('you@example.com', goodPassword));
    assert.equal(again.status, 200);
    assert.ok(ledger.live.size > 0 && ledger.deleted.size > 0);
  },
);
