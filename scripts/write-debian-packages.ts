/**
 * `npm run debian` pins the newest packages of Debian for the image: it writes `debian-packages.json`, from indexes whose signatures it
 * checks with the keys of the package `debian-archive-keyring`.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  debianArchitectures,
  debianListPath,
  debianMirrors,
  debianNames,
  run,
  tryDownload,
  type DebianPackage,
} from './debian-packages.ts';
import { sha256 } from './oci-layout.ts';

const suite = 'trixie';
const suites = [suite, `${suite}-updates`, `${suite}-security`];

/** @throws Error if a signature or a hash is wrong */
function packagesOf(mirror: string, name: string, temporary: string): DebianPackage[] {
  const file = (path: string): string => join(temporary, path);
  if (!tryDownload(`${mirror}dists/${name}/InRelease`, file('signed'))) return [];
  const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg';
  run('gpgv', ['--keyring', keyring, '--output', file('release'), file('signed')]);
  const release = readFileSync(file('release'), 'utf8');
  return debianArchitectures.flatMap((architecture) => {
    const path = `main/binary-${architecture}/Packages.xz`;
    const hash = new RegExp(String.raw`^ ([0-9a-f]{64}) +\d+ ${path}$`, 'm').exec(release)?.[1];
    if (hash === undefined) return [];
    if (
      !tryDownload(`${mirror}dists/${name}/${path}`, file('index.xz')) ||
      sha256(readFileSync(file('index.xz'))) !== hash
    )
      throw new Error(`${mirror}dists/${name}/${path} is not the file of the signed release`);
    return run('xz', ['--decompress', '--stdout', file('index.xz')])
      .split('\n\n')
      .map((text) => fieldsOf(text))
      .filter((fields) => (debianNames as readonly string[]).includes(fields['Package'] ?? ''))
      .map(({ Package = '', Version = '', Filename = '', SHA256 = '' }) => ({
        name: Package,
        version: Version,
        architecture,
        path: Filename,
        sha256: SHA256,
      }));
  });
}

const fieldsOf = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries([...text.matchAll(/^([\w-]+): (.*)$/gm)].map(([, name = '', value = '']) => [name, value]));

const isOlder = (one: DebianPackage, other: DebianPackage): boolean =>
  spawnSync('dpkg', ['--compare-versions', one.version, 'lt', other.version]).status === 0;

const temporary = mkdtempSync(join(tmpdir(), 'keyreeve-debian-'));
try {
  const all = debianMirrors().flatMap((mirror) => suites.flatMap((name) => packagesOf(mirror, name, temporary)));
  const packages = debianArchitectures.flatMap((architecture) =>
    debianNames.map((name) => {
      const found = all.filter((each) => each.name === name && each.architecture === architecture);
      const [newest] = found.filter((each) => !found.some((other) => isOlder(each, other)));
      if (newest === undefined) throw new Error(`no mirror has ${name} for ${architecture} in ${suite}`);
      return newest;
    }),
  );
  const path = fileURLToPath(new URL(`../${debianListPath}`, import.meta.url));
  writeFileSync(path, `${JSON.stringify({ suite, packages }, null, 2)}\n`);
} finally {
  rmSync(temporary, { recursive: true, force: true });
}
