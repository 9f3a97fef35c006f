/** The templates of the frame of a page. */
import { readTemplates } from '../../server/src/http/html.ts';

export const parts = readTemplates(new URL('parts.html', import.meta.url), [
  'page',
  'group',
  'entry',
  'sections',
  'folder',
  'file',
]);
