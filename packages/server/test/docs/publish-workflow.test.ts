/** The workflow that publishes a release: it publishes the files of `npm run release`, with the least rights, by pinned actions. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { pythonVersion } from '../../../../scripts/version-places.ts';
import { version } from '../../src/app/version.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { root } from './shell-blocks.ts';

interface Step {
  readonly name?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly with?: Readonly<Record<string, string>>;
}
interface Job {
  readonly needs?: string | readonly string[];
  readonly environment?: string;
  readonly permissions: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
}
const path = join(root, '.github/workflows/publish.yml');
const text = readFileSync(path, 'utf8');
const workflow = parse(text) as { on: unknown; permissions: object; jobs: Readonly<Record<string, Job>> };
const jobs = Object.entries(workflow.jobs);

test('every action is pinned by the hash of its commit, beside the name of its version', () => {
  const used = text.split('\n').filter((line) => line.includes('uses:'));
  assert.ok(used.length > 5);
  assert.deepEqual(
    used.filter((line) => !/^ +- uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line)),
    [],
  );
});

test('each job has the rights that it needs, and a tag is what starts them', () => {
  assert.deepEqual([workflow.on, workflow.permissions], [{ push: { tags: ['v*'] } }, {}]);
  const attests = { 'id-token': 'write', attestations: 'write' };
  assert.deepEqual(Object.fromEntries(jobs.map(([name, { permissions }]) => [name, permissions])), {
    build: { contents: 'read' },
    sign: { contents: 'read', ...attests },
    npm: { 'id-token': 'write' },
    pypi: { 'id-token': 'write' },
    images: { packages: 'write', ...attests },
    go: {},
    forge: { contents: 'write' },
  });
  // A person approves what has a secret or an identity in a registry.
  for (const [name, job] of jobs) {
    const hasSecret = JSON.stringify(job).includes('secrets.');
    const publishes = 'id-token' in job.permissions && !('packages' in job.permissions);
    assert.equal(job.environment, hasSecret || publishes ? name : undefined);
    // The text of an expression would become a part of the script.
    for (const { run = '' } of job.steps) assert.doesNotMatch(run, /\$\{\{/, name);
  }
});

test('only the first job builds, and the others publish its files after a check of their hashes', () => {
  const [[first, build] = assert.fail(), ...others] = jobs;
  assert.equal(first, 'build');
  assert.ok(build.steps.some(({ run }) => run === 'npm run release -- "$RUNNER_TEMP/release"'));
  for (const [name, { needs = [], steps }] of others) {
    const needed = [needs].flat();
    assert.deepEqual(
      needed,
      name === 'sign' ? ['build'] : name === 'forge' ? ['npm', 'pypi', 'images', 'go'] : ['sign'],
    );
    const [download, check] = steps;
    assert.match(download?.uses ?? '', /^actions\/download-artifact@/, name);
    assert.equal(download?.with?.['name'], 'release');
    assert.equal(check?.run, 'sha256sum --check --strict --quiet SHA256SUMS', name);
    for (const { run = '' } of steps) assert.doesNotMatch(run, /npm (?:ci|run|install)|hatch|docker build/, name);
  }
});

test('the scripts of the steps are scripts of bash', () => {
  for (const [name, { steps }] of jobs)
    for (const { run } of steps.filter((step) => step.run !== undefined)) {
      const { status, stderr } = spawnSync('bash', ['-n'], { input: run, encoding: 'utf8' });
      assert.equal(status, 0, `${name}: ${stderr}`);
    }
});

test('the step for PyPI selects the wheel and the source archive among all files of a release', () => {
  using folder = newTempFolder();
  const python = pythonVersion(version);
  const expected = [`keyreeve-${python}-py3-none-any.whl`, `keyreeve-${python}.tar.gz`];
  mkdirSync(join(folder.path, 'release'));
  for (const name of [
    ...expected,
    `keyreeve-${version}.tgz`,
    `keyreeve-go-v${version}.tar.gz`,
    `keyreeve-${version}-macos-x64-not-run.tar.gz`,
    `keyreeve-chart-${version}.tgz`,
    `${expected[0]}.cdx.json`,
  ])
    writeFileSync(join(folder.path, 'release', name), '');
  const step = workflow.jobs['pypi']?.steps.find(({ name }) => name?.startsWith('Select'));
  const { status, stderr } = spawnSync('bash', ['-euo', 'pipefail', '-c', step?.run ?? 'exit 1'], {
    cwd: folder.path,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  assert.deepEqual(readdirSync(join(folder.path, 'dist')).toSorted(), expected);
});

test('actionlint accepts the workflow, and rejects one with an error', (t) => {
  const lint = (input: string) => {
    const args = ['-shellcheck=', '-pyflakes=', '-no-color', '-'];
    return spawnSync('actionlint', args, { input, encoding: 'utf8' });
  };
  const { status, stdout, error } = lint(text);
  assert.ok(error === undefined || process.env['CI'] !== 'true', 'actionlint is not installed, but CI requires it');
  if (error !== undefined) return t.diagnostic('not tried: actionlint is not installed');
  assert.equal(status, 0, stdout);
  for (const [from, to, reason] of [
    ['needs: build', 'needs: builds', 'job "sign" needs job "builds" which does not exist'],
    ['secrets.MINISIGN_KEY', 'secret.MINISIGN_KEY', 'undefined variable "secret"'],
    ['attestations: write', 'attestation: write', 'unknown permission scope "attestation"'],
    ['steps.copy.outputs.image', 'steps.copied.outputs.image', 'property "copied" is not defined'],
  ] as const) {
    const changed = lint(text.replace(from, to));
    assert.ok(changed.status === 1 && changed.stdout.includes(reason), `${from}: ${changed.stdout}`);
  }
  return undefined;
});
