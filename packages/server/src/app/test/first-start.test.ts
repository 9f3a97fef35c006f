/** The first start: a one-time code for the first administrator in a file, which no later start or process invalidates. */
import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { test as nodeTest } from 'node:test';
import { toInstant } from '../../foundation/clock.ts';
import { sql } from '../../foundation/database/sql.ts';
import { newAdministrator, problemCode } from '../../../test-kit/administrators.ts';
import { test } from '../../../test-kit/app-on-each-database.ts';
import { goodPassword, newApp, operator, type TestApp } from '../../../test-kit/new-app.ts';
import { currentKind } from '../../../test-kit/new-db.ts';
import { readConfig } from '../configuration/config.ts';
import { codeFileOf, firstStart, type FirstStart } from '../installation/first-start.ts';

const countCodes = sql<{ readonly total: number }>(
  'test_count_first_codes',
  'select count(*) as total from one_time_codes',
);
const codesOf = async (app: TestApp): Promise<number> => Number((await app.db.get(countCodes))?.total);

type Warning = Readonly<Record<string, unknown>>;

/** A start of the program, whose tasks begin when the service listens. */
async function start(app: TestApp, environment: Readonly<Record<string, string>> = {}) {
  const warnings: Warning[] = [];
  const config = readConfig({ ...app.place.environment, ...environment });
  const log = { warn: (record: Warning) => void warnings.push(record) };
  const result = await firstStart(app.service.services.firstAdministrator, config, log);
  return { result, warnings };
}

async function startWithCode(app: TestApp): Promise<Extract<FirstStart, { kind: 'code' }>> {
  const { result, warnings } = await start(app);
  assert.deepEqual(warnings, []);
  assert.ok(result?.kind === 'code');
  assert.equal(readFileSync(result.path, 'utf8'), `${result.code.reveal()}\n`);
  return result;
}

const pathOf = (app: TestApp): string => {
  const { database } = readConfig(app.place.environment);
  return database.kind === 'sqlite' ? codeFileOf(database.path) : '';
};

const redeem = async (app: TestApp, code: string) => {
  const json = { code, email: 'root@example.org', password: goodPassword };
  const answer = await app.call('POST', '/auth/first-administrator', { json });
  return answer.status === 201 ? 201 : problemCode(answer);
};

function onSqlite(guarantee: string, prove: () => Promise<void>): void {
  nodeTest(`${guarantee} (sqlite)`, () => currentKind.run('sqlite', prove));
}

onSqlite('a new installation gets a code for an hour in a file of mode 0600, which works once', async () => {
  await using app = await newApp();
  const { path, code, expiresAt } = await startWithCode(app);
  assert.equal(path, pathOf(app));
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal(toInstant(expiresAt), toInstant(app.clock.now() + 3_600_000));
  assert.deepEqual(
    readdirSync(dirname(path)).filter((name) => name.includes('first-administrator')),
    [path.slice(dirname(path).length + 1)],
  );
  assert.equal(await redeem(app, code.reveal()), 201);
  assert.equal(existsSync(path), false, 'a used code');
  assert.equal(await redeem(app, code.reveal()), 'code_invalid');
  assert.deepEqual(await start(app), { result: undefined, warnings: [] });
  assert.ok(!app.logLines.join('').includes('krvc_'));
});

onSqlite('a later start keeps a valid code, and replaces an expired one', async () => {
  await using app = await newApp();
  const first = await startWithCode(app);
  app.clock.advance({ seconds: 3_599 });
  assert.deepEqual(await startWithCode(app), first);
  app.clock.advance({ seconds: 1 });
  const second = await startWithCode(app);
  assert.notEqual(second.code.reveal(), first.code.reveal());
  assert.equal(await redeem(app, first.code.reveal()), 'code_invalid');
  assert.equal(await redeem(app, second.code.reveal()), 201);
});

onSqlite('of sixteen simultaneous starts one creates the code, and the file has that code', async () => {
  await using app = await newApp();
  const results = await Promise.all(Array.from({ length: 16 }, () => start(app)));
  const codes = new Set(results.flatMap(({ result }) => (result?.kind === 'code' ? [result.code.reveal()] : [])));
  assert.equal(codes.size, 1);
  assert.equal(await codesOf(app), 1);
  const { code } = await startWithCode(app);
  assert.deepEqual([...codes], [code.reveal()]);
  assert.equal(await redeem(app, code.reveal()), 201);
});

test('a start never invalidates a code that an operator has', async () => {
  await using app = await newApp();
  let code = '';
  await app.service.services.firstAdministrator.createCode((text) => (code = text.reveal()));
  assert.deepEqual(await start(app), { result: { kind: 'bootstrap' }, warnings: [] });
  assert.equal(existsSync(pathOf(app)), false);
  assert.equal(await redeem(app, code), 201);
});

test('with an administrator no code is created, and the file with a void code is deleted', async () => {
  await using app = await newApp();
  const { result } = await start(app);
  await newAdministrator(app);
  assert.equal(existsSync(pathOf(app)), result?.kind === 'code');
  assert.deepEqual(await start(app), { result: undefined, warnings: [] });
  assert.equal(existsSync(pathOf(app)), false);
  assert.equal(await codesOf(app), 0);
});

test('no code is created while the console is off', async () => {
  await using app = await newApp();
  assert.deepEqual(await start(app, { KEYREEVE_CONSOLE: 'off' }), { result: undefined, warnings: [] });
  assert.equal(existsSync(pathOf(app)), false);
  assert.equal(await codesOf(app), 0);
});

nodeTest('with PostgreSQL, which several instances share, no code is created (postgres)', () =>
  currentKind.run('postgres', async () => {
    await using app = await newApp();
    assert.deepEqual(await start(app), { result: { kind: 'bootstrap' }, warnings: [] });
    assert.equal(await codesOf(app), 0);
  }),
);

onSqlite('a folder that cannot be written to is a warning, and no code is valid', async () => {
  await using app = await newApp();
  const { firstAdministrator } = app.service.services;
  const warnings: Warning[] = [];
  const path = `${pathOf(app)}/missing/keyreeve.db`;
  const config = { ...readConfig(app.place.environment), database: { kind: 'sqlite', path } } as const;
  const result = await firstStart(firstAdministrator, config, {
    warn: (record: Warning) => void warnings.push(record),
  });
  assert.deepEqual(result, { kind: 'bootstrap' });
  assert.deepEqual(
    warnings.map(({ event }) => event),
    ['first_administrator_code_failed'],
  );
  assert.equal(await codesOf(app), 0);
});

onSqlite('a database that fails is a warning, and the file has no void code', async () => {
  await using app = await newApp();
  const { administratorExists, validUntil } = bound(app);
  const createOnlyCode = async (save: Parameters<typeof app.service.services.firstAdministrator.createOnlyCode>[0]) => {
    await app.service.services.firstAdministrator.createOnlyCode(save);
    throw new Error('the connection was lost');
  };
  const warnings: Warning[] = [];
  const result = await firstStart(
    { administratorExists, validUntil, createOnlyCode },
    readConfig(app.place.environment),
    { warn: (record: Warning) => void warnings.push(record) },
  );
  assert.deepEqual([result, warnings.length], [{ kind: 'bootstrap' }, 1]);
  assert.deepEqual(
    readdirSync(dirname(pathOf(app))).filter((name) => name.includes('first-administrator')),
    [],
  );
});

function bound({ service }: TestApp) {
  const { firstAdministrator: first } = service.services;
  return {
    administratorExists: () => first.administratorExists(),
    validUntil: (text: Parameters<typeof first.validUntil>[0]) => first.validUntil(text),
  };
}

onSqlite('a file with another content, or that others can read, is kept', async () => {
  await using app = await newApp();
  const path = pathOf(app);
  const kept = async (codes: number): Promise<void> => {
    const before = readFileSync(path, 'utf8');
    const { result, warnings } = await start(app);
    assert.deepEqual([result, warnings.length], [{ kind: 'bootstrap' }, 1]);
    assert.equal(readFileSync(path, 'utf8'), before);
    assert.equal(await codesOf(app), codes);
  };
  writeFileSync(path, 'notes of the operator\n', { mode: 0o600 });
  await kept(0);
  rmSync(path);
  await startWithCode(app);
  chmodSync(path, 0o644);
  await kept(1);
  await newAdministrator(app);
  await start(app);
  assert.ok(existsSync(path));
});

onSqlite('a link in place of the file is replaced, not followed', async () => {
  await using app = await newApp();
  const path = pathOf(app);
  const target = `${path}.target`;
  symlinkSync(target, path);
  await startWithCode(app);
  assert.equal(existsSync(target), false);
  await app.service.services.accounts.create(operator, 'a@example.org', (await startWithCode(app)).code, 'admin');
  await start(app);
  assert.equal(existsSync(path), false);
});
