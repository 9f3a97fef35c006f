/** `npm run release` refuses what must not be released, and names each reason. `release.extended.test.ts` builds releases. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { reportsWithout, securityContact, withSecurityContact } from '../../../../scripts/package-repository.ts';
import { buildWheel } from '../../../../scripts/package-python.ts';
import { isPublicKey, signChecksums } from '../../../../scripts/release-signature.ts';
import { findObstacles as findObstaclesWith } from '../../../../scripts/release.ts';
import { debianVersion, otherVersions, pythonVersion } from '../../../../scripts/version-places.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import {
  commit,
  environment,
  installed,
  lockOf,
  newRepository,
  publicKey,
  publish,
  publisher,
  pyproject,
  runs,
  source,
  wheelPackage,
  write,
} from './released-repository.ts';
import { root as checkout } from './shell-blocks.ts';

test('every file that names the version has that of packages/server, in the spelling of its ecosystem', () => {
  assert.deepEqual(otherVersions(checkout), []);
  assert.deepEqual(['1.0.0-rc.1', '1.2.0-beta.2', '1.2.3'].map(pythonVersion), ['1.0.0rc1', '1.2.0b2', '1.2.3']);
  assert.deepEqual(['1.0.0-rc.1', '1.2.3'].map(debianVersion), ['1.0.0~rc.1', '1.2.3']);
});

const findObstacles = (root: string): readonly string[] => findObstaclesWith(root, publisher);

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
      (path) => `${path} is of another program or check. Run \`npm run prove -- --all\` and commit what it writes.`,
    ),
  );
  write(root, source, 'one');
  commit(root);
  assert.deepEqual(findObstacles(root), []);

  // Pages, tests and the test kit do not outdate a run; the program and the check do.
  for (const path of [
    'docs/other.md',
    'packages/server/src/cli/test/new.ts',
    'packages/server/test/revocation-check/faults.test.ts',
    'packages/server/test/e2e/program.ts',
    'packages/server/test-kit/free-port.ts',
  ])
    write(root, path, 'other');
  commit(root);
  assert.deepEqual(findObstacles(root), []);
  write(root, 'packages/server/revocation-check/new.ts', 'new');
  commit(root);
  assert.equal(findObstacles(root).length, 2);

  publish(root, 'failed');
  assert.match(
    findObstacles(root).join('\n'),
    /^docs\/proof-run\.md has a run without “- result: passed”\..*\ndocs\/proof-mutants/,
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
  write(root, 'ops/helm/keyreeve/Chart.yaml', 'version: 1.2.3\nappVersion: 1.2.2\n');
  commit(root);
  assert.deepEqual(findObstacles(root), [
    'ops/helm/keyreeve/Chart.yaml has the version 1.2.2, not 1.2.3. Run `npm run versions`.',
  ]);
  write(root, 'ops/helm/keyreeve/Chart.yaml', 'version: 1.2.3\nappVersion: 1.2.3\n');
  write(root, pyproject, '[project]\nversion = "1.2.2"\n');
  commit(root);
  assert.deepEqual(findObstacles(root), [
    'packages/python/pyproject.toml has the version 1.2.2, not 1.2.3. Run `npm run versions`.',
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
    'CHANGELOG.md has a section “## Unreleased”. Replace “Unreleased” with the version and the date, set this version in packages/server/package.json, and run `npm run versions`.',
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

test('a release needs the repository, the address for reports and the public key of its publisher', () => {
  using folder = newTempFolder();
  const root = folder.path;
  newRepository(root);
  assert.deepEqual(findObstaclesWith(root, {}), [
    'KEYREEVE_REPOSITORY_URL is not set. Set it to the URL of the public repository.',
    'KEYREEVE_SECURITY_CONTACT is not set. Set it to the email address or URL for reports of vulnerabilities.',
  ]);
  // A forge sets an undefined variable to an empty text.
  assert.equal(findObstaclesWith(root, { ...publisher, KEYREEVE_SECURITY_CONTACT: '' }).length, 1);
  const [, encoded = ''] = publicKey.split('\n');
  for (const wrong of [
    undefined,
    '',
    encoded,
    publicKey.replace(encoded, encoded.slice(4)),
    publicKey.replace(encoded, Buffer.from(`ED${'k'.repeat(40)}`).toString('base64')),
    `untrusted comment: minisign encrypted secret key\n${encoded}\n${encoded}\n`,
  ]) {
    if (wrong === undefined) rmSync(join(root, 'keyreeve.pub'));
    else write(root, 'keyreeve.pub', wrong);
    commit(root);
    assert.deepEqual(findObstacles(root), [
      'keyreeve.pub is missing, or no public key of minisign. Write the public key of the release there: ' +
        '`minisign -G -p keyreeve.pub -s <secret key>`, and commit it.',
    ]);
  }
});

test('the address for reports is in the security policy of a release', () => {
  const page = readFileSync(join(checkout, 'SECURITY.md'), 'utf8');
  for (const [contact, sentence] of [
    ['security@example.com', 'Report a suspected vulnerability to <security@example.com>.'],
    [
      'https://forge.example.com/report',
      'Report a suspected vulnerability with [the form](https://forge.example.com/report).',
    ],
  ] as const) {
    const shown = withSecurityContact(page, securityContact(contact));
    assert.ok(shown.includes(sentence) && !shown.includes(reportsWithout), contact);
  }
  assert.ok(withSecurityContact(page, undefined).includes(`Report a suspected vulnerability ${reportsWithout}.`));
  for (const wrong of ['', 'security', 'a@b', 'http://example.com/a', 'security@example.com>\n# x'])
    assert.throws(() => securityContact(wrong), /^Error: KEYREEVE_SECURITY_CONTACT: expected /, wrong);
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
  const keyFile = join(release, 'keyreeve.pub');
  mkdirSync(release);
  const newKey = (): void => {
    const made = spawnSync('minisign', ['-G', '-W', '-f', '-p', keyFile, '-s', key], { encoding: 'utf8' });
    assert.equal(made.status, 0, made.stderr);
  };
  const [, command = ''] = /^(minisign -V .*)$/m.exec(readFileSync(join(checkout, 'docs/operating.md'), 'utf8')) ?? [];
  const verify = () => spawnSync('sh', ['-c', command], { cwd: release, encoding: 'utf8' }).status;
  newKey();
  writeFileSync(join(release, 'file'), 'content');
  const sums = spawnSync('sha256sum', ['file'], { cwd: release, encoding: 'utf8' }).stdout;
  writeFileSync(join(release, 'SHA256SUMS'), sums);
  const sign = (by: string): void => signChecksums(release, by, keyFile, 'keyreeve 1.2.3');
  sign(key);
  assert.equal(verify(), 0);
  assert.ok(isPublicKey(readFileSync(keyFile, 'utf8')) && !isPublicKey(readFileSync(key, 'utf8')));
  writeFileSync(join(release, 'file'), 'changed');
  assert.equal(verify(), 1);
  const changed = spawnSync('sha256sum', ['file'], { cwd: release, encoding: 'utf8' }).stdout;
  writeFileSync(join(release, 'SHA256SUMS'), changed);
  assert.equal(verify(), 1);
  writeFileSync(join(release, 'file'), 'content');
  writeFileSync(join(release, 'SHA256SUMS'), sums);
  newKey();
  assert.equal(verify(), 1);
  const refused = /^Error: The release in .* is not signed: minisign /;
  assert.throws(() => sign(join(temp.path, 'none')), refused);
  // The publisher's own mistake: the key in the repository is another one.
  const old = readFileSync(key);
  newKey();
  writeFileSync(key, old);
  assert.throws(() => sign(key), refused);
  assert.ok(!existsSync(join(release, 'SHA256SUMS.minisig')));
});
