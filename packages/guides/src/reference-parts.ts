/** The templates of the API reference. */
import { readTemplates } from '../../server/src/http/html.ts';

export const parts = readTemplates(new URL('reference-parts.html', import.meta.url), [
  'overview',
  'listed',
  'tag',
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
  'messages',
  'message',
  'errors',
  'error',
]);
