/** The guides as `npm run build` makes them, for tests of their text. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { newTempFolder, type TempFolder } from '../../server/test-kit/temp-folder.ts';
import { buildGuides } from '../build.ts';
import type { SiteKind } from '../src/site.ts';

export interface BuiltSite extends Disposable {
  readonly path: string;
  /** By name, such as `tutorials/gin.html`. */
  readonly files: ReadonlyMap<string, string>;
}

export function newSite(kind: SiteKind): BuiltSite {
  const folder: TempFolder = newTempFolder();
  buildGuides(folder.path, kind);
  const names = globSync('**/*', { cwd: folder.path, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.path.length + 1));
  const files = new Map(names.map((name) => [name, readFileSync(join(folder.path, name), 'utf8')]));
  return { path: folder.path, files, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

/** Where the links of a page lead, without those to other hosts. */
export const targetsIn = (html: string): string[] =>
  [...html.matchAll(/\shref="([^"]*)"/g)].map(([, target = '']) => target).filter((target) => !/^[a-z]+:/.test(target));
