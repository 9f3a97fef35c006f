/**
 * Runs containers with runc, and builds the image of the Dockerfile with buildah: both without privileges on the machine, without a
 * container engine, a registry or a download other than Debian's packages. Needs root for the user namespace.
 */
import { execFile, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runEnvironment } from '../../test-kit/run-environment.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { programMsMax } from '../../test-kit/time-limits.ts';
import { Program, type Exit } from './program.ts';
import { firstUser, UserNamespace } from './user-namespace.ts';

const checkout = fileURLToPath(new URL('../../../../', import.meta.url));
const forContainers = ['runc', 'nsenter', 'setpriv', 'unshare'] as const;
const forImages = [...forContainers, 'buildah', 'mmdebstrap', 'npm'] as const;

/** As in the Dockerfile. */
export const imageUser = 65_532;

/** What the image does not need. */
const notCopied = new Set(['node_modules', '.git', 'data', 'test', 'test-kit']);

/** Why the tests are not tried; false where they are. Under CI they run, and fail without the programs. */
export function skipWithout(what: 'containers' | 'images'): string | false {
  if (runEnvironment.needsPrograms) return false;
  const programs = what === 'images' ? forImages : forContainers;
  const missing: string[] = programs.filter((name) => spawnSync(name, ['--version']).error !== undefined);
  if (process.getuid?.() !== 0) missing.unshift('root');
  return missing.length > 0 && `not tried, because this machine lacks ${missing.join(', ')}`;
}

export interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly WorkingDir: string;
}

export interface Mount {
  readonly source: string;
  readonly destination: string;
  readonly isWritable?: boolean;
}

/** A root file system that containers share read-only, and how they run in it. */
export class Image implements Disposable {
  readonly #folder = newTempFolder();
  #mounts: readonly Mount[] = [];
  #namespace!: UserNamespace;
  config!: ImageConfig;
  /** The root file system. */
  root!: string;

  /** The programs of this machine, and `folder` as /app. */
  async useMachine(folder: string, config: Pick<ImageConfig, 'Entrypoint' | 'Cmd'>): Promise<void> {
    this.#namespace = await UserNamespace.create(this.#folder.path);
    this.root = join(this.#folder.path, 'root');
    mkdirSync(this.root);
    // On a system with merged folders, all but /usr are links into it.
    const folders = ['/usr', '/bin', '/lib', '/lib64'].filter((path) => existsSync(path));
    for (const path of folders.filter(isLink)) symlinkSync(readlinkSync(path), join(this.root, path));
    this.#mounts = [
      ...folders.filter((path) => !isLink(path)).map((path) => ({ source: path, destination: path })),
      { source: folder, destination: '/app' },
    ];
    this.config = { ...config, User: `${imageUser}:${imageUser}`, Env: ['PATH=/usr/bin:/bin'], WorkingDir: '/' };
    this.#give(this.#folder.path);
  }

  /** Builds the Dockerfile. @throws Error with the output of the step that failed */
  async build(): Promise<void> {
    const dockerfile = readFileSync(join(checkout, 'Dockerfile'), 'utf8');
    const [, base = ''] = /^FROM (\S+) AS build$/m.exec(dockerfile) ?? [];
    const [, suite = ''] = /^node:\d+-(\w+)-slim$/.exec(base) ?? [];
    if (suite === '') throw new Error(`the base image ${base} is not one of Debian`);
    this.#namespace = await UserNamespace.create(this.#folder.path);
    this.#give(this.#folder.path);
    await this.#buildBase(`docker.io/library/${base}`, suite);
    // Offline: `npm ci` of this checkout has filled npm's cache.
    const cache = (await run('npm', ['config', 'get', 'cache'])).stdout.trim();
    const [copiedCache, context] = [join(this.#folder.path, 'npm'), join(this.#folder.path, 'checkout')];
    mkdirSync(copiedCache);
    // Without the logs, because any npm command can delete them during the copy.
    await run('cp', ['-r', join(cache, '_cacache'), copiedCache]);
    cpSync(checkout, context, { recursive: true, filter: (path) => !notCopied.has(basename(path)) });
    // Without the configuration of a registry, buildah does not find a short name in a user namespace.
    writeFileSync(join(context, 'Dockerfile'), dockerfile.replaceAll(`FROM ${base}`, `FROM docker.io/library/${base}`));
    for (const path of [copiedCache, context]) this.#give(path);
    const image = 'localhost/keyreeve:test';
    await this.#buildah('bud', '--pull-never', '--volume', `${copiedCache}:/root/.npm`, '--tag', image, context);
    const { OCIv1 } = JSON.parse(await this.#buildah('inspect', '--type', 'image', image)) as {
      OCIv1: { config: ImageConfig };
    };
    this.config = OCIv1.config;
    const container = (await this.#buildah('from', '--pull-never', image)).trim();
    this.root = (await this.#buildah('mount', container)).trim();
  }

  /** An image with the name of Node's official one: Debian's essential packages, and the Node and npm of this process. */
  async #buildBase(name: string, suite: string): Promise<void> {
    const context = join(this.#folder.path, 'base');
    mkdirSync(context);
    const libraries = '--include=libatomic1,libstdc++6,ca-certificates';
    await run('mmdebstrap', ['--quiet', '--variant=essential', libraries, suite, join(context, 'base.tar')]);
    cpSync(process.execPath, join(context, 'node'));
    const npm = dirname(dirname(realpathSync((await run('sh', ['-c', 'command -v npm'])).stdout.trim())));
    cpSync(npm, join(context, 'npm'), { recursive: true });
    writeFileSync(join(context, 'npmrc'), 'offline=true\n');
    writeFileSync(
      join(context, 'Dockerfile'),
      `FROM scratch
ADD base.tar /
COPY node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm
COPY npmrc /usr/local/etc/npmrc
RUN ["ln", "-s", "../lib/node_modules/npm/bin/npm-cli.js", "/usr/local/bin/npm"]
`,
    );
    this.#give(context);
    await this.#buildah('bud', '--pull-never', '--tag', name, context);
  }

  /** Makes root of the namespace the owner. */
  #give(path: string): void {
    const { status, stderr } = spawnSync('chown', ['-R', `${firstUser}:${firstUser}`, path], { encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
  }

  async #buildah(command: string, ...args: readonly string[]): Promise<string> {
    const folders = ['--root', join(this.#folder.path, 'store'), '--runroot', join(this.#folder.path, 'run')];
    const isolation = command === 'bud' ? ['--isolation', 'chroot'] : [];
    const all = ['--storage-driver', 'vfs', ...folders, command, ...isolation, ...args];
    return (await run('nsenter', this.#namespace.argumentsFor('buildah', all))).stdout;
  }

  /**
   * Starts a container as a careful orchestrator does: read-only root, the user of the image, no capabilities, no new
   * privileges, a temporary file system on /tmp. It uses the network of the machine, so that the test can reach its ports.
   * @param command default: that of the image
   */
  start(
    mounts: readonly Mount[],
    environment: Readonly<Record<string, string>>,
    command: readonly string[] = this.config.Cmd,
  ): Container {
    const bundle = join(this.#folder.path, 'bundles', crypto.randomUUID());
    mkdirSync(bundle, { recursive: true });
    const specified = spawnSync('runc', ['spec', '--bundle', bundle], { encoding: 'utf8' });
    if (specified.status !== 0) throw new Error(specified.stderr);
    const path = join(bundle, 'config.json');
    const spec = JSON.parse(readFileSync(path, 'utf8')) as RuntimeSpec;
    writeFileSync(path, JSON.stringify(this.#restrict(spec, mounts, environment, command)));
    this.#give(bundle);
    return new Container(bundle, this.#namespace);
  }

  #restrict(
    spec: RuntimeSpec,
    mounts: readonly Mount[],
    environment: Readonly<Record<string, string>>,
    command: readonly string[],
  ): Partial<RuntimeSpec> {
    const [uid, gid] = this.config.User.split(':').map(Number);
    const env = [...this.config.Env, ...Object.entries(environment).map(([name, value]) => `${name}=${value}`)];
    const none = { bounding: [], effective: [], inheritable: [], permitted: [], ambient: [] };
    return {
      ...spec,
      root: { path: this.root, readonly: true },
      process: {
        ...spec.process,
        terminal: false,
        user: { uid, gid },
        args: [...this.config.Entrypoint, ...command],
        env,
        cwd: this.config.WorkingDir || '/',
        capabilities: none,
        noNewPrivileges: true,
      },
      mounts: [
        // A user without privileges cannot mount these.
        ...spec.mounts.filter(({ type }) => type !== 'sysfs' && type !== 'cgroup'),
        { destination: '/tmp', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'nodev', 'noexec', 'mode=1777'] },
        ...[...this.#mounts, ...mounts].map(({ source, destination, isWritable = false }) => ({
          destination,
          type: 'bind',
          source,
          options: ['bind', 'nosuid', 'nodev', isWritable ? 'rw' : 'ro'],
        })),
      ],
      linux: { ...spec.linux, namespaces: spec.linux.namespaces.filter(({ type }) => type !== 'network') },
    };
  }

  [Symbol.dispose](): void {
    this.#namespace[Symbol.dispose]();
    this.#folder[Symbol.dispose]();
  }
}

/** A running container. Its log is that of `program`. */
export class Container implements AsyncDisposable {
  readonly #id: string;
  readonly #namespace: UserNamespace;
  readonly #state: string;
  readonly program: Program;

  constructor(bundle: string, namespace: UserNamespace) {
    this.#id = `keyreeve-test-${basename(bundle)}`;
    this.#namespace = namespace;
    this.#state = join(bundle, 'state');
    const child = spawn('nsenter', this.#runc('run', '--bundle', bundle, this.#id), {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.program = new Program(child, bundle);
  }

  /** Runs a command in the container, with the restrictions of the service. */
  exec(command: readonly string[], input = ''): Promise<Exit> {
    return settled('nsenter', this.#runc('exec', this.#id, ...command), input);
  }

  #runc(...args: readonly string[]): readonly string[] {
    return this.#namespace.argumentsFor('runc', ['--rootless', 'true', '--root', this.#state, ...args]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await settled('nsenter', this.#runc('delete', '--force', this.#id));
    await this.program[Symbol.asyncDispose]();
  }
}

/** @param user of the container @returns the user outside */
export const outside = (user: number): number => firstUser + user;

/**
 * A file of a Secret as Kubernetes mounts it for a pod with `fsGroup`: a link to a file of root that the group can read. A volume
 * can have several.
 */
export function writeSecretVolume(folder: string, name: string, value: string, group: number): void {
  const version = '..2026_01_02_03_04_05.678';
  mkdirSync(join(folder, version), { recursive: true, mode: 0o755 });
  const path = join(folder, version, name);
  writeFileSync(path, value);
  chownSync(path, outside(0), outside(group));
  chmodSync(path, 0o440);
  if (!existsSync(join(folder, '..data'))) symlinkSync(version, join(folder, '..data'));
  symlinkSync(join('..data', name), join(folder, name));
}

interface RuntimeSpec {
  readonly process: object;
  readonly root: object;
  readonly mounts: readonly { readonly type: string; readonly [name: string]: unknown }[];
  readonly linux: { readonly namespaces: readonly { readonly type: string }[] };
}

const isLink = (path: string): boolean => lstatSync(path).isSymbolicLink();

async function run(command: string, args: readonly string[]): Promise<Exit> {
  const exit = await settled(command, args);
  if (exit.status !== 0) throw new Error(`${command} ${args.join(' ')}: ${exit.stdout}${exit.stderr}`);
  return exit;
}

const settled = (command: string, args: readonly string[], input = ''): Promise<Exit> =>
  new Promise((resolve) => {
    const options = { timeout: programMsMax, maxBuffer: 64 * 1024 * 1024 };
    const child = execFile(command, args, options, (_, stdout, stderr) =>
      resolve({ status: child.exitCode, stdout, stderr }),
    );
    child.stdin?.on('error', () => undefined).end(input);
  });
