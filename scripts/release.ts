/**
 * `npm run release`: checks that this commit can be released, and names everything that prevents it. It exits 1 unless the
 * tree is clean, the changelog and all packages have the version, the parameters of the publisher are set, the installed packages are
 * those of package-lock.json and of packages/python/requirements.txt, and the published runs of the revocation check are of this program
 * and this check. `npm run release -- <new folder> <minisign secret key>` then builds the release in the folder and signs it. Without a
 * secret key, which only the publisher has, the release has the same files without the signature.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LockedPackage, LockFile } from './package-manifest.ts';
import { outdatedPython } from './python-environment.ts';
import { writeRelease } from './release-files.ts';
import { isPublicKey, publicKeyName, signChecksums } from './release-signature.ts';
import { filesLine, git, publishedRuns } from './run-files.ts';
import { otherVersions, versionOf } from './version-places.ts';

/** @returns one sentence for each thing that prevents a release, with the remedy */
export function findObstacles(root: string, environment: NodeJS.ProcessEnv = process.env): readonly string[] {
  return [
    ...uncommitted(root),
    ...missingChanges(root),
    ...otherVersions(root),
    ...missingParameters(root, environment),
    ...outdatedPackages(root),
    ...outdatedPython(root),
    ...publishedRuns.flatMap((path) => outdatedRun(root, path)),
  ];
}

function uncommitted(root: string): string[] {
  const changed = git(root, 'status', '--porcelain').trimEnd();
  return changed === '' ? [] : [`The working tree differs from the commit. Commit or remove:\n${changed}`];
}

function missingChanges(root: string): string[] {
  const version = versionOf(root);
  const headings = read(root, 'CHANGELOG.md').split('\n');
  if (headings.includes('## Unreleased')) {
    const remedy =
      'Replace “Unreleased” with the version and the date, set this version in packages/server/package.json, and run `npm run versions`.';
    return [`CHANGELOG.md has a section “## Unreleased”. ${remedy}`];
  }
  const heading = headings.find((line) => line === `## ${version}` || line.startsWith(`## ${version} `));
  if (heading === undefined) return [`CHANGELOG.md has no entry “## ${version}”. Write one.`];
  return heading.includes('unreleased') ? [`CHANGELOG.md calls ${version} unreleased. Write the date instead.`] : [];
}

/** What only the publisher knows. Without it, the packages would name no address for reports, and no user could verify a signature. */
function missingParameters(root: string, environment: NodeJS.ProcessEnv): string[] {
  const unset = (name: string, remedy: string): string[] =>
    (environment[name] ?? '') === '' ? [`${name} is not set. ${remedy}`] : [];
  const isKey = existsSync(join(root, publicKeyName)) && isPublicKey(read(root, publicKeyName));
  const remedy =
    'Write the public key of the release there: `minisign -G -p keyreeve.pub -s <secret key>`, and commit it.';
  return [
    ...unset('KEYREEVE_REPOSITORY_URL', 'Set it to the URL of the public repository.'),
    ...unset('KEYREEVE_SECURITY_CONTACT', 'Set it to the email address or URL for reports of vulnerabilities.'),
    ...(isKey ? [] : [`${publicKeyName} is missing, or no public key of minisign. ${remedy}`]),
  ];
}

/** The compiler and the types of the frameworks are installed packages: other versions could build other bytes. */
function outdatedPackages(root: string): string[] {
  const path = 'node_modules/.package-lock.json';
  const installed = existsSync(join(root, path)) ? lockedPackages(root, path) : undefined;
  const locked = lockedPackages(root, 'package-lock.json');
  const isLocked = ([name, { version }]: [string, LockedPackage]): boolean => locked[name]?.version === version;
  if (installed && Object.entries(installed).every(isLocked)) return [];
  return ['The installed packages are not those of package-lock.json. Run `npm ci`.'];
}

const lockedPackages = (root: string, path: string): LockFile['packages'] =>
  (JSON.parse(read(root, path)) as LockFile).packages;

function outdatedRun(root: string, path: string): string[] {
  const remedy = 'Run `npm run prove -- --all` and commit what it writes.';
  if (!existsSync(join(root, path))) return [`${path} is missing. ${remedy}`];
  const lines = read(root, path).split('\n');
  // A page can have several runs.
  const all = (start: string, wanted: string): boolean =>
    lines.includes(wanted) && lines.every((line) => !line.startsWith(start) || line === wanted);
  if (!all('- result: ', '- result: passed')) return [`${path} has a run without “- result: passed”. ${remedy}`];
  return all('- files: ', filesLine(root)) ? [] : [`${path} is of another program or check. ${remedy}`];
}

const read = (root: string, path: string): string => readFileSync(join(root, path), 'utf8');

if (import.meta.main) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const [folder, key] = process.argv.slice(2);
  const obstacles = findObstacles(root);
  for (const obstacle of obstacles) process.stderr.write(`- ${obstacle}\n`);
  if (obstacles.length === 0 && folder !== undefined) {
    writeRelease(root, folder);
    if (key === undefined) process.stderr.write('The release is not signed: name the file of a minisign secret key.\n');
    else signChecksums(folder, key, join(root, publicKeyName), `keyreeve ${versionOf(root)}`);
  }
  process.stdout.write(obstacles.length === 0 ? `${folder ?? 'Ready for a release.'}\n` : '');
  process.exitCode = obstacles.length === 0 ? 0 : 1;
}
