/**
 * Builds what installs the program without npm: a Debian package and a self-extracting file for each architecture of Linux, and archives
 * for macOS and Windows, which no test runs.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { runArchiveCommand } from './package-archive.ts';
import { debianPackage } from './package-debian.ts';
import { writePackageFiles } from './package.ts';
import { writeProgramFolder, type ProgramPlatform } from './program-folder.ts';
import { releaseSeconds } from './release-time.ts';
import { entriesOf, tarOf } from './tar.ts';
import { versionOf } from './version-places.ts';

export const programPlatforms: readonly ProgramPlatform[] = [
  { platform: 'linux', arch: 'x64' },
  { platform: 'linux', arch: 'arm64' },
  { platform: 'darwin', arch: 'x64' },
  { platform: 'darwin', arch: 'arm64' },
  { platform: 'win32', arch: 'x64' },
];

/** As `uname -m` prints them. */
const machines = { x64: 'x86_64 | amd64', arm64: 'aarch64 | arm64' } as const;
const systems = { darwin: 'macos', win32: 'windows' } as const;

/**
 * @param folder a new folder, which gets the files
 * @returns their paths
 * @throws Error if the folder exists, or the program cannot be built
 */
export function buildPrograms(root: string, folder: string, platforms = programPlatforms): readonly string[] {
  mkdirSync(folder);
  const [version, seconds] = [versionOf(root), releaseSeconds(root)];
  const temporary = mkdtempSync(join(tmpdir(), 'keyreeve-programs-'));
  try {
    const files = join(temporary, 'files');
    writePackageFiles(root, files);
    return platforms.flatMap((platform) => {
      const program = join(temporary, `${platform.platform}-${platform.arch}`);
      writeProgramFolder(root, program, platform, files);
      const built = filesFor(root, { program, platform, version, seconds });
      rmSync(program, { recursive: true });
      return built.map(([name, content]) => {
        writeFileSync(join(folder, name), content, { mode: name.endsWith('.run') ? 0o755 : 0o644 });
        return join(folder, name);
      });
    });
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

interface BuiltProgram {
  /** The folder of the program. */
  readonly program: string;
  readonly platform: ProgramPlatform;
  readonly version: string;
  readonly seconds: number;
}

/** @returns name and content of each file */
function filesFor(root: string, built: BuiltProgram): readonly (readonly [string, Buffer])[] {
  const { program, platform, version, seconds } = built;
  const { platform: system, arch } = platform;
  const name = `keyreeve-${version}`;
  const archive = gzipSync(tarOf([{ path: name, kind: 'folder' }, ...entriesOf(program, name)], seconds));
  if (system !== 'linux') return [[`${name}-${systems[system]}-${arch}-not-run.tar.gz`, archive]];
  const debian = arch === 'x64' ? 'amd64' : 'arm64';
  return [
    // With the version of npm, because forges replace `~` in names of files.
    [`keyreeve_${version}_${debian}.deb`, debianPackage(root, { program, architecture: debian, version, seconds })],
    [`${name}-linux-${arch}.run`, selfExtracting(root, { archive, name, version, arch })],
  ];
}

interface Archive {
  readonly archive: Buffer;
  /** Of the folder in the archive. */
  readonly name: string;
  readonly version: string;
  readonly arch: ProgramPlatform['arch'];
}

/** The script, and the archive behind it. */
export function selfExtracting(root: string, { archive, name, version, arch }: Archive): Buffer {
  const script = readFileSync(join(root, 'scripts/self-extracting.sh'), 'utf8')
    .replaceAll('VERSION', version)
    .replaceAll('ARCHITECTURE', arch)
    .replaceAll('MACHINES', machines[arch])
    .replaceAll('NAME', name)
    .replaceAll('SHA256', createHash('sha256').update(archive).digest('hex'));
  // `tail` counts from 1. Of a fixed length, because it is a part of the script that it counts.
  const digits = 6;
  const bytes = Buffer.byteLength(script) - 'OFFSET'.length + digits;
  return Buffer.concat([Buffer.from(script.replace('OFFSET', String(bytes + 1).padStart(digits, '0'))), archive]);
}

if (import.meta.main) runArchiveCommand((root, folder) => buildPrograms(root, folder).join('\n'));
