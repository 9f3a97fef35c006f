/** The files of the console, which its package contains as built. */
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Log } from '../../foundation/log.ts';
import type { BasePath } from '../../http/base-path.ts';
import { BuiltFiles } from '../../http/built-files.ts';

export interface ConsoleFilesOptions {
  readonly log: Pick<Log, 'error'>;
  /** Default: none, because the console has an origin of its own. */
  readonly basePath?: BasePath;
  /** Follows the style of the console. Default: none. */
  readonly style?: string | undefined;
  /** Default: the folder of the package `@keyreeve/console`. */
  readonly folder?: string | undefined;
}

/** In the page as it is in the folder. */
const folderOfNoBuild = '/console/assets/0/';

export const consoleFiles = ({ log, basePath, style = '', folder }: ConsoleFilesOptions): BuiltFiles =>
  new BuiltFiles({
    folder: () => folder ?? dirname(fileURLToPath(import.meta.resolve('#console/dist/index.html'))),
    onMissing: (err) => log.error({ event: 'console_files_missing', err }),
    style: { name: 'app.css', text: style },
    edit: (page, _, id) => {
      const folderOfBuild = `/console/assets/${id}/`;
      return page.replaceAll(folderOfNoBuild, basePath?.with(folderOfBuild) ?? folderOfBuild);
    },
  });
