/** The templates of the repeated parts of the reference page. */
import { readTemplates } from '../../http/html.ts';
import { ownFile } from '../../foundation/own-files.ts';

export const parts = readTemplates(ownFile('modules/api-reference/reference-parts.html'), [
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
