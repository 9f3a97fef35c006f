/**
 * The client of openapi-fetch works against the service. It needs no generated code; `generated-clients.extended.test.ts` generates
 * its types, and another client.
 */
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { assertWorks } from './generated-client-flow.ts';

test('the client of openapi-fetch signs in, creates a key, lists it, and sees it rejected once it is deleted', () =>
  assertWorks('openapi-fetch', fileURLToPath(new URL('clients/openapi-fetch.ts', import.meta.url))));
