/** How a program is named: in requests, and in the keys that it made. */
import Type, { type Static } from 'typebox';
import { limits } from './limits.ts';
import { Named } from './named.ts';
import { Text } from './schemas.ts';

export const programIdPattern = /^[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?$/;

export const ProgramId = Type.String({
  $id: 'ProgramId',
  pattern: programIdPattern.source,
  maxLength: limits.programIdCharsMax,
  description: 'The `client_id` of the program. It never changes',
  examples: ['acme-cli'],
});
/** The program that made a key. */
export const KeyProgram = Named(
  'ApiKeyProgram',
  { id: Text('acme-cli'), name: Text('Acme CLI', 'The id, if the program has been removed') },
  { description: 'The program that made the key, of a key that a person approved for one' },
);

export type KeyProgram = Static<typeof KeyProgram>;

export const isProgramId = (text: string): boolean =>
  programIdPattern.test(text) && text.length <= limits.programIdCharsMax;
