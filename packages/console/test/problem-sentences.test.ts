/** The console has a sentence for each error that its requests can have. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allRoutes, errorsOf, type FieldCode } from '@keyreeve/contract';
import { enAdmin } from '../src/text/en-admin.ts';
import { enApproval } from '../src/text/en-approval.ts';
import { en } from '../src/text/en.ts';

/** Errors of requests that the console does not send: without its session, not of its form, or of other kinds of clients. */
const ofOtherClients: readonly string[] = [
  'missing_access_token',
  'invalid_access_token',
  'ambiguous_credentials',
  'missing_credential',
  'invalid_management_key',
  'insufficient_scope',
  'management_key_required',
  'secret_taken',
  'malformed_json',
  'malformed_request',
  'unsupported_media_type',
  'url_too_long',
  'headers_too_large',
];

test('every error of a request of the console has a sentence', () => {
  const routes = allRoutes.filter(
    ({ auth, path }) => ['access_token', 'administrator', 'manager'].includes(auth) || path.startsWith('/console/'),
  );
  assert.ok(routes.length > 60);
  const codes = new Set(routes.flatMap((route) => errorsOf(route)));
  const known = [en, enAdmin, enApproval].flatMap(({ problems }) => Object.keys(problems)).concat(ofOtherClients);
  assert.deepEqual(
    [...codes].filter((code) => !known.includes(code)),
    [],
  );
});

test('every reason why a field is rejected has a sentence', () => {
  type Rejected = Readonly<Record<'limit' | 'expected' | 'detail', string>>;
  const { entry: _, ...fields } = en.fields;
  // A missing one is a compile error.
  const sentences: Record<FieldCode, string | ((rejected: Rejected) => string)> = fields;
  const rejected: Rejected = { limit: '1', expected: 'x', detail: 'Wrong.' };
  for (const [code, sentence] of Object.entries(sentences))
    assert.match(typeof sentence === 'string' ? sentence : sentence(rejected), /^[A-Z].+[.?]$/, code);
});
