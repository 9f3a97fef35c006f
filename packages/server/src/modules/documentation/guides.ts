/** The files of the documentation, which its package contains as built. */
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Log } from '../../foundation/log.ts';
import { BuiltFiles } from '../../http/built-files.ts';
import { escapeHtml } from '../../http/html.ts';

export interface GuideFilesOptions {
  readonly log: Pick<Log, 'error'>;
  /** Where clients reach this installation. */
  readonly publicUrl: string;
  /** Follows the style of the pages. Default: none. */
  readonly style?: string | undefined;
}

/** In the pages as they are in the folder. */
const folderOfNoBuild = 'assets/0/';
/** That of the examples in the API reference (`packages/guides/src/reference.ts`). */
const examplePublicUrl = 'https://auth.example.com';
const isReference = /^api[./]/;

export const guideFiles = ({ log, publicUrl, style = '' }: GuideFilesOptions): BuiltFiles =>
  new BuiltFiles({
    folder: () => dirname(fileURLToPath(import.meta.resolve('#guides/dist/index.html'))),
    onMissing: (err) => log.error({ event: 'docs_files_missing', err }),
    style: { name: `${folderOfNoBuild}guides.css`, text: style },
    isTree: true,
    edit: (page, name, id) => {
      const own = page.replaceAll(folderOfNoBuild, `assets/${id}/`);
      return isReference.test(name) ? own.replaceAll(examplePublicUrl, escapeHtml(publicUrl)) : own;
    },
  });
