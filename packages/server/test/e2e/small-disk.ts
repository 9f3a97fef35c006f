/** A small disk of its own, for tests of full and read-only disks. Needs root, and ext4 and loop devices in the kernel. */
import { spawnSync } from 'node:child_process';
import { closeSync, copyFileSync, ftruncateSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { basename, join } from 'node:path';
import { newTempFolder } from '../../test-kit/temp-folder.ts';

const bytes = 24 * 2 ** 20;
const programs = ['mkfs.ext4', 'mount', 'umount', 'findmnt', 'fsck.ext4'] as const;

/** Why the tests are not tried; false where they are. Under CI they run, and fail without the requirements. */
export function skipWithoutDisks(): string | false {
  if (process.env['CI'] === 'true') return false;
  if (process.getuid?.() !== 0) return 'not tried: only root can mount a disk';
  const missing = programs.filter((name) => spawnSync(name, ['-V']).error !== undefined);
  return missing.length > 0 && `not tried: this machine lacks ${missing.join(', ')}`;
}

export class SmallDisk implements Disposable {
  readonly #folder = newTempFolder();
  /** Where it is mounted. */
  readonly path = join(this.#folder.path, 'disk');
  #image = join(this.#folder.path, 'image');
  readonly #filler = join(this.path, 'filler');

  constructor() {
    const image = this.#image;
    const fd = openSync(image, 'w');
    ftruncateSync(fd, bytes);
    closeSync(fd);
    mkdirSync(this.path);
    run('mkfs.ext4', '-q', '-m', '0', image);
    this.#mount();
    rmSync(join(this.path, 'lost+found'), { recursive: true });
  }

  /** Leaves no free byte. */
  fill(): void {
    const fd = openSync(this.#filler, 'a');
    for (const size of [65_536, 512, 1]) writeUntilFull(fd, size);
    closeSync(fd);
  }

  /** Frees what {@link fill} has filled. */
  free(): void {
    rmSync(this.#filler);
  }

  /** As the kernel does after an error of the device, also while files are open for writing. */
  makeReadOnly(): void {
    const device = basename(run('findmnt', '--noheadings', '--output', 'SOURCE', this.path).trim());
    writeFileSync(`/sys/fs/ext4/${device}/trigger_fs_error`, 'test');
  }

  /**
   * Repairs the disk as an operator does after such an error. Fails while a process has files open. A mount namespace that another
   * test has created meanwhile keeps the disk mounted with its error, so this repairs a copy of the image.
   */
  repair(): void {
    run('umount', this.path);
    const failed = this.#image;
    this.#image = join(this.#folder.path, 'repaired');
    copyFileSync(failed, this.#image);
    const { status, stdout } = spawnSync('fsck.ext4', ['-p', this.#image], { encoding: 'utf8' });
    // 1: errors were corrected.
    if (status !== 0 && status !== 1) throw new Error(`fsck.ext4: ${stdout}`);
    this.#mount();
  }

  #mount(): void {
    run('mount', '-o', 'loop,errors=remount-ro', this.#image, this.path);
  }

  [Symbol.dispose](): void {
    // Detaches it also while a process that is about to end has files open.
    run('umount', '--lazy', this.path);
    this.#folder[Symbol.dispose]();
  }
}

function writeUntilFull(fd: number, size: number): void {
  try {
    for (;;) writeSync(fd, Buffer.alloc(size));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
  }
}

function run(command: string, ...args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? stderr}`);
  return stdout;
}
