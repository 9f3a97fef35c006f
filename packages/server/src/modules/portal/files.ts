/** The files of the key page, and the script with its element, which the package of the console contains as built. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Log } from '../../foundation/log.ts';
import type { BasePath } from '../../http/base-path.ts';
import { BuiltFiles } from '../../http/built-files.ts';

export interface PortalFilesOptions {
  readonly log: Pick<Log, 'error'>;
  readonly basePath: BasePath;
  /** Follows the style of the key page. Default: none. */
  readonly style?: string | undefined;
  /** That of the console. Default: the one of the package `@keyreeve/console`. */
  readonly consoleFolder?: string | undefined;
}

/** In the page as it is in the folder. */
const folderOfNoBuild = '/portal/assets/0/';

export const portalFiles = ({ log, basePath, style = '', consoleFolder }: PortalFilesOptions): BuiltFiles =>
  new BuiltFiles({
    folder: () =>
      join(consoleFolder ?? dirname(fileURLToPath(import.meta.resolve('#console/dist/index.html'))), 'portal'),
    onMissing: (err) => log.error({ event: 'portal_files_missing', err }),
    style: { name: 'start.css', text: style },
    edit: (page, _, id) => page.replaceAll(folderOfNoBuild, basePath.with(`/portal/assets/${id}/`)),
  });
