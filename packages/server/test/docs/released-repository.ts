/** A repository that can be released. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { filesLine, git } from '../../../../scripts/run-files.ts';

export const source = 'packages/server/src/cli/main.ts';
export const installed = 'node_modules/.package-lock.json';
export const lockOf = (version: string): string =>
  JSON.stringify(
    {
      lockfileVersion: 3,
      packages: { 'node_modules/typescript': { version }, 'packages/server': { name: 'keyreeve', version: '1.2.3' } },
    },
    null,
    2,
  );
export const runs = ['docs/proof-run.md', 'docs/proof-mutants.md'];

/** The parameters of a publisher. */
export const publisher = {
  KEYREEVE_REPOSITORY_URL: 'https://forge.example.com/keyreeve/keyreeve',
  KEYREEVE_SECURITY_CONTACT: 'security@example.com',
};
export const publicKey = `untrusted comment: minisign public key\n${Buffer.from(`Ed${'k'.repeat(40)}`).toString('base64')}\n`;

export const pyproject = 'packages/python/pyproject.toml';
export const environment = 'node_modules/.cache/python';
export const wheelPackage = (name: string): string =>
  `${environment}/lib/python3.11/site-packages/${name}.dist-info/METADATA`;

export function write(root: string, path: string, content: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

export function commit(root: string): void {
  git(root, 'add', '--all');
  git(root, '-c', 'user.name=test', '-c', 'user.email=test@example.com', 'commit', '-qm', 'test: a commit');
}

/** A repository that can be released. */
export function newRepository(root: string): void {
  git(root, 'init', '-q');
  write(root, 'packages/server/package.json', '{ "version": "1.2.3" }');
  write(root, 'ops/helm/keyreeve/Chart.yaml', 'version: 1.2.3\nappVersion: 1.2.3\n');
  for (const path of ['packages/go/README.md', 'docs/tutorials/gin.md'])
    write(root, path, 'go mod edit -require keyreeve@v1.2.3 -replace keyreeve=./keyreeve\n');
  for (const path of ['docs/operating.md', 'docs/compose/compose.yaml'])
    write(root, path, 'image: localhost/keyreeve:1.2.3\n');
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
  write(root, 'keyreeve.pub', publicKey);
  publish(root);
}

export function publish(root: string, result = 'passed'): void {
  for (const path of runs) write(root, path, `# A run\n\n${filesLine(root)}\n- result: ${result}\n`);
  commit(root);
}
