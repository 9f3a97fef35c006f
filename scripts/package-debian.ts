/**
 * The Debian package: the program in a folder with its version, which `/usr/lib/keyreeve/current` names, the units and the command of
 * docs/deploy.md, and the settings. The scripts of its installation are in `debian/`.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { constants, gzipSync, zstdCompressSync } from 'node:zlib';
import { entriesOf, tarOf, type TarEntry } from './tar.ts';
import { debianVersion } from './version-places.ts';

export interface DebianProgram {
  /** As of `writeProgramFolder`. */
  readonly program: string;
  /** In the words of Debian. */
  readonly architecture: 'amd64' | 'arm64';
  /** Of npm. */
  readonly version: string;
  /** The time of each file. */
  readonly seconds: number;
}

const installed = '/usr/lib/keyreeve';
const settings = 'etc/keyreeve/keyreeve.env';

/** @throws Error if a unit or the command names a path that the package does not have */
export function debianPackage(root: string, { program, architecture, version, seconds }: DebianProgram): Buffer {
  const files = [...entriesOf(program, `.${installed}/${version}`).map(withPaths), ...ownFiles(root, program)];
  const bytes = files.reduce((sum, { content }) => sum + (content?.length ?? 0), 0);
  const own = (name: string): string => readFileSync(join(root, 'scripts/debian', name), 'utf8');
  const scripts = ['postinst', 'prerm', 'postrm'].map((name) =>
    file(`./${name}`, own(name).replaceAll('FOLDER', version), 0o755),
  );
  const control = own('control')
    .replace('VERSION', debianVersion(version))
    .replace('ARCHITECTURE', architecture)
    .replace('KIBIBYTES', String(Math.ceil(bytes / 1_024)));
  const described = [file('./control', control), file('./conffiles', `/${settings}\n`), ...scripts];
  const data = tarOf([...foldersOf(files), ...files], seconds);
  return arOf(
    [
      ['debian-binary', Buffer.from('2.0\n')],
      ['control.tar.gz', gzipSync(tarOf(described, seconds))],
      ['data.tar.zst', zstdCompressSync(data, { params: { [constants.ZSTD_c_compressionLevel]: 9 } })],
    ],
    seconds,
  );
}

function ownFiles(root: string, program: string): readonly TarEntry[] {
  const from = (path: string): string => readFileSync(join(root, path), 'utf8');
  const units = ['keyreeve.service', 'keyreeve-backup.service', 'keyreeve-backup.timer'];
  const licences = ['.', 'dist', 'console/dist', 'guides/dist'].map((folder) =>
    readFileSync(join(program, folder, 'licences.txt'), 'utf8'),
  );
  const copyright = [from('LICENSE'), 'What the program contains:\n', ...licences];
  return [
    ...units.map((name) => file(`./usr/lib/systemd/system/${name}`, placed(from(`docs/systemd/${name}`)))),
    file('./usr/bin/keyreeve', placed(from('docs/systemd/keyreeve.sh')), 0o755),
    file(`./${settings}`, from('scripts/debian/keyreeve.env')),
    file('./usr/share/doc/keyreeve/copyright', copyright.join('\n')),
  ];
}

/** Administrators copy the units and drop-ins of the documents to systemd. */
const withPaths = (entry: TarEntry): TarEntry =>
  entry.content && entry.path.includes('/docs/systemd/')
    ? { ...entry, content: Buffer.from(placed(entry.content.toString())) }
    : entry;

/** With the paths of the package, instead of those of the npm package. */
function placed(text: string): string {
  const changed = text
    .replaceAll(
      /(?:\/usr\/bin\/)?node \/opt\/keyreeve\/current\/node_modules\/keyreeve\/bin\/keyreeve\.js/g,
      `${installed}/current/bin/keyreeve`,
    )
    .replaceAll('/opt/keyreeve/current/node_modules/keyreeve/', `${installed}/current/`)
    .replaceAll('npm package in /opt/keyreeve', `program in ${installed}`)
    .replaceAll('package in /opt/keyreeve', `program in ${installed}`);
  if (changed.includes('/opt/')) throw new Error(`the Debian package has no such path: ${changed}`);
  return changed;
}

const file = (path: string, text: string, mode = 0o644): TarEntry => ({
  path,
  kind: 'file',
  mode,
  content: Buffer.from(text),
});

/** All folders above the files, which the package creates. */
function foldersOf(files: readonly TarEntry[]): TarEntry[] {
  const known = new Set(files.filter(({ kind }) => kind === 'folder').map(({ path }) => path));
  const above = files.flatMap(({ path }) => {
    const parts = path.split('/').slice(0, -1);
    return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
  });
  return [...new Set(above)].filter((path) => !known.has(path)).map((path) => ({ path, kind: 'folder' }));
}

/** The format of `ar`: https://manpages.debian.org/deb(5). */
function arOf(members: readonly (readonly [string, Buffer])[], seconds: number): Buffer {
  const parts = members.flatMap(([name, content]) => {
    const fields = [name.padEnd(16), String(seconds).padEnd(12), '0'.padEnd(6), '0'.padEnd(6), '100644'.padEnd(8)];
    const header = `${fields.join('')}${String(content.length).padEnd(10)}\`\n`;
    return [Buffer.from(header), content, ...(content.length % 2 === 0 ? [] : [Buffer.from('\n')])];
  });
  return Buffer.concat([Buffer.from('!<arch>\n'), ...parts]);
}
