/** Reads an OCI layout with programs other than the scripts that write it: GNU tar and gzip. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Described {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly platform?: { readonly os: string; readonly architecture: string };
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface ReadManifest {
  readonly config: Described;
  readonly layers: readonly Described[];
  readonly annotations: Readonly<Record<string, string>>;
}

export interface ReadConfig {
  readonly architecture: string;
  readonly rootfs: { readonly diff_ids: readonly string[] };
  readonly config: {
    readonly User: string;
    readonly ExposedPorts: object;
    readonly Labels: object;
    readonly Healthcheck: { readonly Test: readonly string[] };
  };
}

/** An unpacked layout. */
export class ReadLayout {
  readonly #folder: string;
  /** The only manifest or index that `index.json` names. */
  readonly root: Described;

  /** @param folder a new folder, which gets the files of the layout @throws Error if a file is missing or has another digest or size */
  constructor(archive: string, folder: string) {
    mkdirSync(folder);
    this.#folder = folder;
    tar('-xf', archive, '-C', folder);
    const { imageLayoutVersion } = this.#json('oci-layout') as { imageLayoutVersion: string };
    if (imageLayoutVersion !== '1.0.0') throw new Error(`the layout has the version ${imageLayoutVersion}`);
    const { manifests } = this.#json('index.json') as { manifests: readonly Described[] };
    const [root] = manifests;
    if (root === undefined || manifests.length !== 1) throw new Error(`${manifests.length} manifests`);
    this.root = root;
  }

  #json(path: string): unknown {
    return JSON.parse(readFileSync(join(this.#folder, path), 'utf8'));
  }

  blob({ digest, size }: Described): Buffer {
    const path = this.#path(digest);
    if (!existsSync(path)) throw new Error(`${digest} is missing`);
    const content = readFileSync(path);
    if (digestOf(content) !== digest || content.length !== size) throw new Error(`${digest} has other bytes`);
    return content;
  }

  read(described: Described): unknown {
    return JSON.parse(this.blob(described).toString());
  }

  /** @param folder a new folder, which gets the files of all layers */
  unpack({ config, layers }: ReadManifest, folder: string): ReadConfig {
    mkdirSync(folder);
    const stated = this.read(config) as ReadConfig;
    for (const [index, layer] of layers.entries()) {
      this.blob(layer);
      const { stdout } = run('gzip', '-dc', this.#path(layer.digest));
      if (digestOf(stdout) !== stated.rootfs.diff_ids[index])
        throw new Error(`layer ${index} has other bytes unpacked`);
      tar('-xzf', this.#path(layer.digest), '-C', folder, '--no-same-owner');
    }
    return stated;
  }

  #path(digest: string): string {
    return join(this.#folder, 'blobs', digest.replace(':', '/'));
  }
}

const digestOf = (content: Buffer): string => `sha256:${createHash('sha256').update(content).digest('hex')}`;

const tar = (...args: readonly string[]): unknown => run('tar', ...args);

function run(command: string, ...args: readonly string[]): { readonly stdout: Buffer } {
  const { status, stdout, stderr, error } = spawnSync(command, args, { maxBuffer: 2 ** 30 });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? String(stderr)}`);
  return { stdout };
}
