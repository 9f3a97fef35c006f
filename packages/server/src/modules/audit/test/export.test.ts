/** Exports of the audit log in JSON Lines and CSV, and its pages for administrators. */
import assert from 'node:assert/strict';
import { recordEventsTx, type AuditEvent } from '../audit.ts';
import { exportLog, type ExportFormat } from '../export.ts';
import type { Span } from '../store.ts';
import type { Db, Reader } from '../../../foundation/database/db.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { addAccount, addKey, now, operator } from '../../../../test-kit/rows.ts';

const all: Span = { since: Number.MIN_SAFE_INTEGER, until: Number.MAX_SAFE_INTEGER };

async function exported(db: Db, format: ExportFormat, span: Partial<Span> = {}): Promise<string> {
  let text = '';
  for await (const lines of exportLog(db, format, { ...all, ...span })) text += lines;
  return text;
}

const event = (target: string, more: Partial<AuditEvent> = {}): AuditEvent => ({
  at: now,
  principal: operator,
  action: 'session.created',
  accountId: 'acc_ada',
  target,
  ...more,
});

const record = (db: Db, events: readonly AuditEvent[]): Promise<void> =>
  db.transaction((tx) => recordEventsTx(tx, events));

/** Parses CSV by RFC 4180. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (const [, quoted, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === ',') continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

onEachDatabase(
  'JSON Lines have one object for each event, oldest first, with its place in the chain',
  async ({ db }) => {
    await addAccount(db, 'ada', 'admin');
    await addKey(db, 'acc_ada', 'line\u2028 "and" {"event":"x"}', { id: 42 });
    const lines = (await exported(db, 'jsonl')).split('\n');
    assert.equal(lines.pop(), '');
    const [first, second] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    const { mac, chain, ...rest } = first ?? {};
    assert.match(String(mac), /^[0-9a-f]{64}$/);
    assert.ok(Number(chain) > 0);
    assert.deepEqual(rest, {
      id: 1,
      at: '2026-11-21T09:30:00.000Z',
      actor: 'operator',
      action: 'account.created',
      accountId: 'acc_ada',
      target: null,
      details: { role: 'admin' },
      position: 1,
    });
    assert.deepEqual(second?.['details'], { nickname: 'line\u2028 "and" {"event":"x"}', scopes: [] });
    assert.equal(lines.length, 2);
  },
);

onEachDatabase(
  'CSV contains the recorded values, and no field that a spreadsheet runs as a formula',
  { tags: ['asvs:16.4.1'] },
  async ({ db }) => {
    const targets = ['=1+1', '+1', '-1', '@x', '\tx', '\rx', 'plain', 'a,b', 'say "x"', 'two\r\nlines', "'quoted", ''];
    await record(
      db,
      targets.map((target) => event(target)),
    );
    const text = await exported(db, 'csv');
    const rows = parseCsv(text);
    assert.deepEqual(rows[0], [
      'id',
      'at',
      'actor',
      'action',
      'accountId',
      'target',
      'details',
      'chain',
      'position',
      'mac',
    ]);
    const found = rows.slice(1).map((row) => row[5]);
    assert.deepEqual(found, ["'=1+1", "'+1", "'-1", "'@x", "'\tx", "'\rx", ...targets.slice(6)]);
    assert.ok(rows.every((row) => row.length === 10));
    assert.deepEqual(rows[1]?.slice(0, 5), ['1', '2026-11-21T09:30:00.000Z', 'operator', 'session.created', 'acc_ada']);
    for (const cell of rows.flat()) assert.doesNotMatch(cell, /^[=+\-@\t\r]/);
    assert.ok(text.endsWith('\r\n'));
  },
);

onEachDatabase('an export covers one account and one span, with its start and without its end', async ({ db }) => {
  await record(db, [
    event('early', { at: now - 1 }),
    event('start'),
    event('other', { accountId: 'acc_bob' }),
    event('last', { at: now + 9 }),
    event('late', { at: now + 10 }),
  ]);
  const targets = async (span: Partial<Span>) =>
    (await exported(db, 'jsonl', span))
      .split('\n')
      .slice(0, -1)
      .map((line) => (JSON.parse(line) as { target: string }).target);
  assert.deepEqual(await targets({}), ['early', 'start', 'other', 'last', 'late']);
  assert.deepEqual(await targets({ since: now, until: now + 10 }), ['start', 'other', 'last']);
  assert.deepEqual(await targets({ since: now, until: now + 10, accountId: 'acc_ada' }), ['start', 'last']);
  assert.deepEqual(await targets({ accountId: 'acc_unknown' }), []);
});

onEachDatabase('an export reads all pages, one at a time', async ({ db }) => {
  const targets = Array.from({ length: 1_300 }, (_, index) => String(index));
  await record(
    db,
    targets.map((target) => event(target)),
  );
  const pages: number[] = [];
  const watched: Reader = {
    all: async (statement, values) => {
      const rows = await db.all(statement, values);
      pages.push(rows.length);
      return rows;
    },
    get: (statement, values) => db.get(statement, values),
  };
  let text = '';
  for await (const lines of exportLog(watched, 'jsonl', all)) text += lines;
  const found = text
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { target: string }).target);
  assert.deepEqual(found, targets);
  assert.deepEqual(pages, [500, 500, 300]);
});

onEachDatabase('an export also shows tampered rows', async ({ db }) => {
  const change = sql(
    'test_odd_event',
    `insert into audit_events (id, at, actor, action, details) values (-5, 9000000000000000, 'x', 'y', 'not json')`,
  );
  await db.transaction((tx) => tx.run(change));
  assert.deepEqual(JSON.parse(await exported(db, 'jsonl')), {
    id: -5,
    at: '9000000000000000',
    actor: 'x',
    action: 'y',
    accountId: null,
    target: null,
    details: 'not json',
    chain: null,
    position: null,
    mac: null,
  });
});
