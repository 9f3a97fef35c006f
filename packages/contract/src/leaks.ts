/** Reports of leaked secrets of API keys. */
import Type from 'typebox';
import { limits } from './limits.ts';
import { Named } from './named.ts';
import { route } from './route.ts';
import { keyExample, Message } from './schemas.ts';

export const LeaksBody = Named('LeakReport', {
  keys: Type.Array(Type.String({ maxLength: limits.reportedKeyCharsMax, examples: [keyExample] }), {
    minItems: 1,
    maxItems: limits.reportedKeysMax,
    description: 'The leaked secrets. Texts that are not secrets of this installation are ignored',
  }),
});

export const reportLeaks = route('reportLeaks', 'POST /auth/leaks', {
  tag: 'API keys',
  auth: 'none',
  summary: 'Report leaked secrets of API keys',
  description:
    'Needs no credential, because the caller has the secrets. A current secret ends, and its key is disabled until it is rotated. A previous or short-lived secret ends alone. Imported secrets stay valid. The response is the same for every text. Only if the operator has set `KEYREEVE_LEAK_REPORTS=on`; otherwise 404.',
  body: { type: 'json', schema: LeaksBody },
  success: {
    status: 202,
    description: 'Every verification that starts after the response rejects the reported secrets, except imported ones',
    schema: Message,
  },
  errors: ['not_found', 'too_many_requests'],
});
