/** The templates of the repeated parts of the reference page. */
import { readTemplates } from '../../http/html.ts';

export const parts = readTemplates(new URL('reference-parts.html', import.meta.url), [
  'navigationGroup',
  'navigationLink',
  'section',
  'operation',
  'paragraph',
  'block',
  'members',
  'member',
  'optional',
  'definitions',
  'definition',
  'errorLinks',
  'errorLink',
  'message',
  'error',
]);
