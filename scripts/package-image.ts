/**
 * Builds the image for linux/amd64 and linux/arm64 as one OCI layout. Nothing in it is run during the build, so one machine builds both.
 * It has no shell and no package manager: `node` and `keyreeve` are its only commands. See docs/decisions/14-telemetry-tests-releases.md.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { unpackDebian, type DebianArchitecture } from './debian-packages.ts';
import { compress, mediaTypes, OciLayout, sha256, type Descriptor } from './oci-layout.ts';
import { annotationsOf, timeOf } from './oci-annotations.ts';
import { runArchiveCommand } from './package-archive.ts';
import { readPackageManifest, writePackageFiles } from './package.ts';
import { writeProgramFolder } from './program-folder.ts';
import { commitOf, type Commit } from './release-time.ts';
import { entriesOf, tarOf, type TarEntry } from './tar.ts';

/** The user of the image, who owns nothing but the data. The chart has the same number. */
export const imageUser = 65_532;

/** By the name of the architecture in images and in Debian: that of Node. */
const architectures = { amd64: 'x64', arm64: 'arm64' } as const;

/** Without documents, and without the command of machines that have a shell. */
const isNeeded = ({ path }: TarEntry): boolean => !/^app\/(?:docs|ops|bin\/keyreeve$)/.test(path);

const isNode = ({ path }: TarEntry): boolean => path.startsWith('app/node_modules/node-linux-');

/** @param folder a new folder @returns the path of the archive */
export function buildImage(root: string, folder: string): string {
  mkdirSync(folder);
  const files = join(folder, 'files');
  writePackageFiles(root, files);
  const { version } = readPackageManifest(root);
  const commit = commitOf(root);
  const layout = new OciLayout();
  const manifests = (Object.keys(architectures) as DebianArchitecture[]).map((architecture) => {
    const labels = annotationsOf(root, commit, architecture === 'amd64' ? {} : { description: notRun });
    const layers = layersOf({ root, files, folder: join(folder, architecture) }, architecture);
    const manifest = addManifest(layout, { architecture, labels, layers, commit });
    return { ...manifest, platform: { os: 'linux', architecture } };
  });
  const annotations = annotationsOf(root, commit);
  const index = { schemaVersion: 2, mediaType: mediaTypes.index, manifests, annotations };
  const path = join(folder, `keyreeve-image-${version}.tar`);
  // Of no registry, so that no tool looks for the name in one.
  const name = `localhost/keyreeve:${version}`;
  writeFileSync(path, layout.archive(layout.addJson(mediaTypes.index, index), { name, seconds: commit.seconds }));
  return path;
}

const notRun = 'Keyreeve for arm64. The publisher built this image, and did not run it.';

/** @returns the layers, beginning with the one that changes least */
function layersOf(
  { root, files, folder }: Readonly<Record<'root' | 'files' | 'folder', string>>,
  architecture: DebianArchitecture,
): TarEntry[][] {
  const [system, program] = [join(folder, 'system'), join(folder, 'program')];
  unpackDebian(root, system, architecture);
  const arch = architectures[architecture];
  writeProgramFolder(root, program, { platform: 'linux', arch }, files);
  const entries = entriesOf(program, 'app').filter((entry) => isNeeded(entry));
  const parents = ['app', 'app/node_modules'].map((path): TarEntry => ({ path, kind: 'folder' }));
  return [
    [...entriesOf(system).map((entry) => withMode(entry)), ...systemFiles(arch)],
    [...parents, ...entries.filter((entry) => isNode(entry))],
    [parents[0] as TarEntry, ...entries.filter((entry) => !isNode(entry))],
  ];
}

/** Everybody may write to the folders of temporary files. */
const withMode = (entry: TarEntry): TarEntry =>
  /^(?:var\/)?tmp$/.test(entry.path) ? { ...entry, mode: 0o1777 } : entry;

function systemFiles(arch: string): TarEntry[] {
  const file = (path: string, text: string, mode = 0o644): TarEntry => ({
    path,
    kind: 'file',
    mode,
    content: Buffer.from(text),
  });
  return [
    file('etc/passwd', `root:x:0:0:root:/root:/sbin/nologin\nkeyreeve:x:${imageUser}:${imageUser}::/:/sbin/nologin\n`),
    file('etc/group', `root:x:0:\nkeyreeve:x:${imageUser}:\n`),
    // Without it, the library of C asks the name server first, also for `localhost`.
    file('etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\n'),
    ...['usr/local', 'usr/local/bin'].map((path): TarEntry => ({ path, kind: 'folder' })),
    { path: 'usr/local/bin/node', kind: 'link', target: `/app/node_modules/node-linux-${arch}/bin/node` },
    // Without `env`, the launcher itself is no command.
    file('usr/local/bin/keyreeve', "#!/usr/local/bin/node\nimport('/app/bin/keyreeve.js');\n", 0o755),
    // A new volume that is mounted on one of these folders gets its owner and mode.
    ...['data', 'data/deletions'].map((path): TarEntry => ({ path, kind: 'folder', mode: 0o700, owner: imageUser })),
  ];
}

interface Content {
  readonly architecture: DebianArchitecture;
  readonly labels: Readonly<Record<string, string>>;
  readonly layers: readonly TarEntry[][];
  readonly commit: Commit;
}

function addManifest(layout: OciLayout, { architecture, labels, layers, commit }: Content): Descriptor {
  const archives = layers.map((entries) => tarOf(entries, commit.seconds));
  const created = timeOf(commit);
  const config = layout.addJson(mediaTypes.config, {
    created,
    architecture,
    os: 'linux',
    config: configOf(labels),
    rootfs: { type: 'layers', diff_ids: archives.map((archive) => `sha256:${sha256(archive)}`) },
    history: ['packages of Debian', 'Node', 'Keyreeve'].map((comment) => ({ created, comment })),
  });
  return layout.addJson(mediaTypes.manifest, {
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    config,
    layers: archives.map((archive) => layout.add(mediaTypes.layer, compress(archive))),
    annotations: labels,
  });
}

/** Exits 0 while the service runs. */
export const healthCheck = [
  'node',
  '-e',
  "fetch('http://127.0.0.1:8788/health/live').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))",
];

const configOf = (labels: Readonly<Record<string, string>>): object => ({
  User: `${imageUser}:${imageUser}`,
  // The second port is that of the docs for KEYREEVE_VERIFY_PORT. Nothing listens on it without that setting.
  ExposedPorts: { '8787/tcp': {}, '8789/tcp': {} },
  Env: [
    'PATH=/usr/local/bin',
    'NODE_ENV=production',
    // The user cannot write to the folder of the cache.
    'NODE_DISABLE_COMPILE_CACHE=1',
    'KEYREEVE_DATABASE_URL=sqlite:/data/keyreeve.db',
  ],
  Entrypoint: ['/usr/local/bin/keyreeve'],
  Cmd: ['serve'],
  Volumes: { '/data': {} },
  WorkingDir: '/',
  Labels: labels,
  // An addition of Docker, which Docker and Podman also read in the format of the specification. In nanoseconds.
  Healthcheck: { Test: ['CMD', ...healthCheck], Interval: 30e9, Timeout: 10e9, StartPeriod: 600e9, Retries: 3 },
});

if (import.meta.main) runArchiveCommand(buildImage);
