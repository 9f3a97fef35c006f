/**
 * Runs containers with runc, and reads the image with buildah: both without privileges on the machine, a container engine or a registry.
 * Needs root for the user namespace.
 */
import { execFile, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildImage, imageUser } from '../../../../scripts/package-image.ts';
import { runEnvironment } from '../../test-kit/run-environment.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { programMsMax } from '../../test-kit/time-limits.ts';
import { Program, type Exit } from './program.ts';
import { firstUser, UserNamespace } from './user-namespace.ts';

const checkout = fileURLToPath(new URL('../../../../', import.meta.url));
const forContainers = ['runc', 'nsenter', 'setpriv', 'unshare'] as const;
const forImages = [...forContainers, 'buildah', 'dpkg-deb', 'npm'] as const;

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
  /** The OCI layout that was built. */
  archive!: string;

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

  /** Builds the image, and reads it as a container engine of this machine does. @throws Error with the output of the step that failed */
  async build(): Promise<void> {
    this.#namespace = await UserNamespace.create(this.#folder.path);
    this.archive = buildImage(checkout, join(this.#folder.path, 'built'));
    this.#give(this.#folder.path);
    const image = (await this.#buildah('pull', '--quiet', `oci-archive:${this.archive}`)).trim();
    const { OCIv1 } = JSON.parse(await this.#buildah('inspect', '--type', 'image', image)) as {
      OCIv1: { config: ImageConfig };
    };
    this.config = OCIv1.config;
    const container = (await this.#buildah('from', '--pull-never', image)).trim();
    this.root = (await this.#buildah('mount', container)).trim();
  }

  /** Makes root of the namespace the owner. */
  #give(path: string): void {
    const { status, stderr } = spawnSync('chown', ['-R', `${firstUser}:${firstUser}`, path], { encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
  }

  async #buildah(command: string, ...args: readonly string[]): Promise<string> {
    const folders = ['--root', join(this.#folder.path, 'store'), '--runroot', join(this.#folder.path, 'run')];
    const all = ['--storage-driver', 'vfs', ...folders, command, ...args];
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
