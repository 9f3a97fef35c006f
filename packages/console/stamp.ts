/**
 * Whether `dist/` is the build of the sources as they are. The stamp in it is a hash of path, size and time of every input, because reading
 * 300 files would delay each `npm start`. A clone has new times, so its first start builds.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const root = import.meta.dirname;
export const dist = join(root, 'dist');
/** Has no file extension, so the service does not serve it. */
export const stampName = 'stamp';
const inputs = ['build.ts', 'package.json', 'tsconfig.json', 'src', '../contract/src', '../../package-lock.json'];

/** @throws Error if an input cannot be read */
export function stampOfInputs(): string {
  const hash = createHash('sha256');
  const add = (path: string): void => {
    const stats = statSync(join(root, path));
    if (stats.isDirectory()) for (const name of readdirSync(join(root, path)).toSorted()) add(`${path}/${name}`);
    else hash.update(`${path}\0${stats.size}\0${stats.mtimeMs}\n`);
  };
  for (const path of inputs) add(path);
  return hash.digest('hex');
}

export function isBuilt(): boolean {
  try {
    return readFileSync(join(dist, stampName), 'utf8') === stampOfInputs();
  } catch {
    return false;
  }
}
