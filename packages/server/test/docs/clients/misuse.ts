/** Mistakes that the compiler must find in a caller: each line is one. */
import createClient from 'openapi-fetch';
import * as api from './oazapfts-client.ts';
import type { components, paths } from './schema.d.ts';

const client = createClient<paths>();
await client.POST('/auth/api-keys', { body: { name: 'a' } });
await client.DELETE('/auth/api-keys/{id}', { params: { path: { id: 'four' } } });
const secret = (key: components['schemas']['ApiKey']): string => key.key;
const code: components['schemas']['ErrorCode'] = 'no_such_code';
await api.createKey({ nickname: 'a', accountId: 'acc_1' });
await api.deleteKey('four');
const role: api.Role = 'owner';
export { code, role, secret };
