/**
 * The packages of Debian in the image: what the bundled Node links, and the texts of licences that the packages refer to. No CA
 * certificates and no time zones: Node contains both. `debian-packages.json` pins the files, and `npm run debian` renews it.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sha256 } from './oci-layout.ts';

export const debianNames = ['base-files', 'gcc-14-base', 'libatomic1', 'libc6', 'libgcc-s1', 'libstdc++6'] as const;
export const debianArchitectures = ['amd64', 'arm64'] as const;
export type DebianArchitecture = (typeof debianArchitectures)[number];

export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  readonly architecture: DebianArchitecture;
  /** Below the URL of a mirror. */
  readonly path: string;
  /** In hexadecimal. */
  readonly sha256: string;
}

export interface DebianList {
  /** The suite, such as `trixie`. */
  readonly suite: string;
  readonly packages: readonly DebianPackage[];
}

export const debianListPath = 'scripts/debian-packages.json';

export const readDebianList = (root: string): DebianList =>
  JSON.parse(readFileSync(join(root, debianListPath), 'utf8')) as DebianList;

/** Documentation and translations. The copyright files stay. */
const left = /^usr\/share\/(?:doc\/[^/]+\/(?!copyright$)|man|info|locale|lintian|bug|gdb|gcc)/;

/**
 * Unpacks the packages for an architecture, without running anything of them, and writes what tools that look for known faults read:
 * a file with the name, version and source of each.
 * @param folder gets the files
 * @throws Error if a package cannot be downloaded, or has another hash
 */
export function unpackDebian(root: string, folder: string, architecture: DebianArchitecture): void {
  mkdirSync(folder, { recursive: true });
  const status = join(folder, 'var/lib/dpkg/status.d');
  for (const pinned of readDebianList(root).packages.filter((each) => each.architecture === architecture)) {
    const file = downloadDebian(root, pinned);
    run('dpkg-deb', ['--extract', file, folder]);
    mkdirSync(status, { recursive: true });
    writeFileSync(join(status, pinned.name), run('dpkg-deb', ['--field', file]));
  }
  for (const entry of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    if (left.test(entry)) rmSync(join(folder, entry), { recursive: true, force: true });
}

/** From the mirrors of this machine's package manager, and once: later calls read the file of the first. @returns its path */
export function downloadDebian(root: string, pinned: DebianPackage): string {
  const file = join(root, 'node_modules/.cache/debian', `${pinned.sha256}.deb`);
  const isPinned = (path: string): boolean => existsSync(path) && sha256(readFileSync(path)) === pinned.sha256;
  if (isPinned(file)) return file;
  mkdirSync(dirname(file), { recursive: true });
  const partial = `${file}.${process.pid}`;
  try {
    if (!debianMirrors().some((mirror) => tryDownload(`${mirror}${pinned.path}`, partial) && isPinned(partial))) {
      const remedy = 'Run `npm run debian`, or name a mirror that has it in KEYREEVE_DEBIAN_MIRROR.';
      throw new Error(`No mirror has ${pinned.path} with the SHA-256 ${pinned.sha256}. ${remedy}`);
    }
    renameSync(partial, file);
  } finally {
    rmSync(partial, { force: true });
  }
  return file;
}

/** URLs that end with `/`. A mirror of snapshots has the files of all times: a usual one removes them after an update. */
export function debianMirrors(): string[] {
  const own = process.env['KEYREEVE_DEBIAN_MIRROR'] ?? '';
  const configured = run('apt-get', ['indextargets', '--format', '$(REPO_URI)', 'Created-By: Packages']);
  return [...new Set([...(own === '' ? [] : [`${own}/`]), ...configured.split('\n').filter((uri) => uri !== '')])];
}

/** With the proxy and the certificates of the package manager. */
export const tryDownload = (url: string, path: string): boolean =>
  spawnSync('/usr/lib/apt/apt-helper', ['download-file', url, path], { stdio: 'ignore' }).status === 0;

export function run(command: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 2 ** 28 });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? stderr}`);
  return stdout;
}
