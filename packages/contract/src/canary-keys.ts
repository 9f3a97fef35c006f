/** Canary keys: what the credential of `keyreeve prove-revocation --url` can do besides verifying them. */
import Type from 'typebox';
import { CreatedKey, keyFields, keyTimes } from './api-keys.ts';
import { limits } from './limits.ts';
import { Named } from './named.ts';
import { route } from './route.ts';
import { AccountId, Instant, KeyId, Message, Text } from './schemas.ts';

const ofCredential = { tag: 'Revocation check', auth: 'canary_credential' } as const;

export const CreatedCanaryKey = Named('CreatedCanaryKey', { ...CreatedKey.properties, expiresAt: Instant });

export const CanaryKey = Named('CanaryKey', { ...keyFields, ...keyTimes, expiresAt: Instant });
export const CanaryCredential = Named('CanaryCredential', { keyId: KeyId, accountId: AccountId, expiresAt: Instant });
export const CanaryInstance = Named('CanaryInstance', {
  id: Text('ins_3K9vQm1ZyT4cW8nB6pXr2L', 'Of the process that answers; new at each start'),
  version: Text('0.2.0'),
  node: Text('v26.10.0'),
  database: Type.Enum(['sqlite', 'postgres']),
  now: Instant,
});
export const CanaryKeyList = Named('CanaryKeyList', {
  apiKeys: Type.Array(CanaryKey),
  credential: CanaryCredential,
  instance: CanaryInstance,
});

export const createCanaryKey = route('createCanaryKey', 'POST /auth/canary-keys', {
  ...ofCredential,
  summary: 'Create a canary key',
  description: `A key without scopes that expires after ${limits.canaryKeySeconds / 60} minutes, or with the credential. Only verifications that the credential requests accept it.`,
  success: { status: 201, description: 'The new key', schema: CreatedCanaryKey },
  errors: ['key_limit_reached', 'too_many_creations'],
});

export const listCanaryKeys = route('listCanaryKeys', 'GET /auth/canary-keys', {
  ...ofCredential,
  summary: 'List the canary keys, and describe the instance',
  success: { status: 200, description: 'The canary keys of the credential', schema: CanaryKeyList },
});

export const deleteCanaryKey = route('deleteCanaryKey', 'DELETE /auth/canary-keys/:id', {
  ...ofCredential,
  summary: 'Delete a canary key',
  description: 'The response is 404 for every id that is not a canary key of the credential.',
  params: Type.Object({ id: KeyId }),
  isNarrowing: true,
  success: { status: 200, description: 'The key has been deleted', schema: Message },
  errors: ['key_not_found'],
});

export const canaryKeyRoutes = [createCanaryKey, listCanaryKeys, deleteCanaryKey] as const;
