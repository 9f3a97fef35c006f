/** `npm run release` builds each package twice, in new clones of the commit. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { releaseScripts, writeRelease } from '../../../../scripts/release-files.ts';
import type { Bill } from '../../../../scripts/bill-of-materials.ts';
import { sha256 } from '../../../../scripts/oci-layout.ts';
import { git } from '../../../../scripts/run-files.ts';
import { pythonVersion } from '../../../../scripts/version-places.ts';
import { version } from '../../src/app/version.ts';
import { runPython, skip } from '../../../python/test/python.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { commit, newRepository, write } from './released-repository.ts';
import { paths, root as checkout } from './tree.ts';

test(
  'a release has the packages, their dependencies, the changes of its version, and checksums of these files',
  { skip },
  async () => {
    using folder = newTempFolder();
    const root = join(folder.path, 'checkout');
    // The files as they are, committed or not.
    for (const path of paths) {
      if (/^(?:packages|scripts|docs|ops|bench|[^/]+$)/.test(path)) cpSync(join(checkout, path), join(root, path));
    }
    const changes = '### Security\n\n- Something.';
    write(
      root,
      'CHANGELOG.md',
      `# Changelog\n\n## ${version} (2026-11-22)\n\n${changes}\n\n## 0.0.9\n\n### Before you upgrade\n\n- Older.\n`,
    );
    git(root, 'init', '-q');
    commit(root);
    symlinkSync(join(checkout, 'node_modules'), join(root, 'node_modules'));
    // Not in the commit.
    for (const name of ['server', 'client', 'elements', 'otel'])
      write(root, `packages/${name}/src/local.ts`, 'export {};');
    write(root, 'packages/python/src/keyreeve/local.py', '');
    const release = join(folder.path, 'release');
    writeRelease(root, release);

    const names = ['keyreeve', 'keyreeve-client', 'keyreeve-elements', 'keyreeve-otel'].map(
      (name) => `${name}-${version}`,
    );
    const wheel = `keyreeve-${pythonVersion(version)}-py3-none-any.whl`;
    const sources = `keyreeve-${pythonVersion(version)}.tar.gz`;
    const go = `keyreeve-go-v${version}.tar.gz`;
    const programs = [
      'linux-x64.run',
      'linux-arm64.run',
      ...['macos-x64', 'macos-arm64', 'windows-x64'].map((name) => `${name}-not-run.tar.gz`),
    ].map((name) => `keyreeve-${version}-${name}`);
    const debian = ['amd64', 'arm64'].map((name) => `keyreeve_${version}_${name}.deb`);
    const image = `keyreeve-image-${version}.tar`;
    const charts = ['tgz', 'oci.tar'].map((ending) => `keyreeve-chart-${version}.${ending}`);
    const packages = names.map((name) => `${name}.tgz`);
    const built = [...packages, wheel, sources, go, ...programs, ...debian, image, ...charts];
    const files = ['CHANGES.md', 'PARAMETERS', ...built.flatMap((name) => [name, `${name}.cdx.json`])].toSorted();
    assert.deepEqual(readdirSync(release).toSorted(), ['SHA256SUMS', ...files].toSorted());
    const read = (name: string): string => readFileSync(join(release, name), 'utf8');
    assert.equal(read('CHANGES.md'), `${changes}\n`);
    const checked = spawnSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: release, encoding: 'utf8' });
    assert.equal(checked.status, 0, checked.stderr);
    assert.equal(checked.stdout, [...files, ''].join(': OK\n'));
    const contained = (archive: string): string =>
      spawnSync('tar', ['-tzf', join(release, archive)], { encoding: 'utf8' }).stdout;
    assert.match(contained(`keyreeve-${version}.tgz`), /^package\/dist\/cli\/main\.js$/m);
    assert.match(contained(`keyreeve-client-${version}.tgz`), /^package\/dist\/node\.d\.ts$/m);
    assert.match(contained(`keyreeve-elements-${version}.tgz`), /^package\/dist\/keys\.js$/m);
    assert.match(contained(`keyreeve-otel-${version}.tgz`), /^package\/dist\/register\.js$/m);
    assert.match(contained(go), /^keyreeve-go-v[\w.-]+\/client\.go$/m);
    assert.match(contained(sources), /^keyreeve-[\w.]+\/src\/keyreeve\/py\.typed$/m);
    for (const name of [...packages, sources]) assert.doesNotMatch(contained(name), /local/);

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
    assert.ok(entries.includes(`keyreeve-${pythonVersion(version)}.dist-info/licenses/LICENSE ${minute}`), output);

    // Each list is of the file beside it, and has no time and no number of its own.
    for (const name of built) {
      const bill = JSON.parse(read(`${name}.cdx.json`)) as Bill;
      assert.deepEqual(bill.metadata.component['hashes'], [
        { alg: 'SHA-256', content: sha256(readFileSync(join(release, name))) },
      ]);
      assert.deepEqual(Object.keys(bill.metadata), ['component'], name);
      assert.ok(!('serialNumber' in bill), name);
    }
  },
);

/** A script that builds an archive with its own name. @param content an expression */
const scriptWith = (content: string): string => `import { mkdirSync, statSync, writeFileSync } from 'node:fs';
const folder = process.argv[2];
mkdirSync(folder + '/package', { recursive: true });
writeFileSync(folder + '/package/package.json', '{ "name": "keyreeve", "version": "1.2.3" }');
const archive = folder + '/keyreeve-' + import.meta.filename.split('/').at(-1) + '.tgz';
writeFileSync(archive, ${content});
console.log(archive);
`;

test('a release is rejected if two builds of a package differ', () => {
  using folder = newTempFolder();
  const root = join(folder.path, 'checkout');
  mkdirSync(root);
  newRepository(root);
  write(root, 'package.json', '{ "type": "module" }');
  for (const different of releaseScripts) {
    for (const script of releaseScripts)
      write(root, `scripts/${script}`, scriptWith(script === different ? 'String(process.hrtime.bigint())' : `'same'`));
    commit(root);
    assert.throws(
      () => writeRelease(root, join(folder.path, `release-${different}`)),
      new Error(`Two builds of keyreeve-${different}.tgz differ, so a release would not be reproducible.`),
    );
  }
});

test('a release does not depend on the umask, and names the parameters of its build that are set', () => {
  using folder = newTempFolder();
  const root = join(folder.path, 'checkout');
  mkdirSync(root);
  newRepository(root);
  write(root, 'package.json', '{ "type": "module" }');
  for (const script of releaseScripts)
    write(
      root,
      `scripts/${script}`,
      scriptWith('String(statSync(import.meta.filename).mode)').replaceAll('.tgz', '.whl'),
    );
  commit(root);
  const [before, module] = [process.umask(0o077), process.env['KEYREEVE_GO_MODULE']];
  process.env['KEYREEVE_GO_MODULE'] = 'forge.example.com/keyreeve/keyreeve-go';
  const release = join(folder.path, 'release');
  try {
    writeRelease(root, release);
    assert.equal(process.umask(), 0o077);
  } finally {
    process.umask(before);
    if (module === undefined) delete process.env['KEYREEVE_GO_MODULE'];
    else process.env['KEYREEVE_GO_MODULE'] = module;
  }
  for (const script of releaseScripts)
    assert.equal(readFileSync(join(release, `keyreeve-${script}.whl`), 'utf8'), String(0o100_644));
  for (const name of readdirSync(release)) assert.equal(statSync(join(release, name)).mode & 0o777, 0o644, name);
  const parameters = readFileSync(join(release, 'PARAMETERS'), 'utf8');
  assert.match(parameters, /^KEYREEVE_GO_MODULE=forge\.example\.com\/keyreeve\/keyreeve-go$/m);
  assert.doesNotMatch(parameters, /=$/m);
});
