/** The registries: errors, refusals and limits, each complete and in one form. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allRoutes, errors, limits, limitTable, refusals, type ErrorCode } from '@keyreeve/contract';

const codes = Object.keys(errors) as ErrorCode[];

/** Codes that no route answers by itself. */
const beyondRoutes: Readonly<Record<string, readonly ErrorCode[]>> = {
  'any request can meet them': ['internal_error', 'unavailable'],
  'any access token can meet it': ['second_factor_enrolment_required'],
  'any caller with too many requests in progress meets it': ['too_many_in_progress'],
  'any body can meet them': ['invalid_request', 'malformed_json', 'body_too_large', 'unsupported_media_type'],
  'the listener answers before a route is found': [
    'malformed_request',
    'not_found',
    'method_not_allowed',
    'request_timeout',
    'url_too_long',
    'headers_too_large',
    'https_required',
  ],
  'the command line only': ['administrator_exists'],
};

test('every code can be answered somewhere', () => {
  const known = new Set<string>([...allRoutes.flatMap((route) => route.errors), ...Object.values(beyondRoutes).flat()]);
  assert.deepEqual(
    codes.filter((code) => !known.has(code)),
    [],
  );
});

test('every code is snake_case, with a status that HTTP knows and a text for people', () => {
  const statuses = new Set([400, 401, 403, 404, 405, 408, 409, 413, 414, 415, 429, 431, 500, 503]);
  for (const code of codes) {
    const { status, title, meaning } = errors[code];
    assert.match(code, /^[a-z]+(?:_[a-z]+)*$/);
    assert.ok(statuses.has(status), code);
    assert.match(title, /^[A-Z].*[^.]$/, code);
    assert.match(meaning, /^[A-Z].*\.$/s, code);
  }
});

test('no two codes have the same title', () => {
  assert.equal(new Set(codes.map((code) => errors[code].title)).size, codes.length);
});

test('a refusal says why in a sentence', () => {
  for (const [code, reason] of Object.entries(refusals)) {
    assert.match(code, /^[a-z]+(?:_[a-z]+)*$/);
    assert.match(reason, /^[A-Z].*\.$/, code);
  }
});

test('every limit is a positive whole number, with its unit in its name and its reason beside it', () => {
  const unit =
    /(?:Ms|PerSecond|Seconds|Days|Bytes|Chars|CodePoints|Fields|Failures|Max|Floor|First|Factor)(?:Max|Min)?$/;
  for (const [name, { value, why }] of Object.entries(limitTable)) {
    assert.ok(Number.isSafeInteger(value) && value > 0, name);
    assert.match(name, unit);
    assert.match(why, /^.{10,}\.$/s, name);
  }
  assert.deepEqual(limits, Object.fromEntries(Object.entries(limitTable).map(([name, { value }]) => [name, value])));
});

test('limits that depend on each other agree', () => {
  assert.ok(limits.headersTimeoutMs < limits.requestTimeoutMs);
  assert.ok(limits.basicCharsMax < limits.authorizationCharsMax);
  assert.ok(limits.authorizationCharsMax < limits.headerBytesMax);
  assert.ok(limits.bodyBytesMax < limits.batchBodyBytesMax);
  assert.ok(limits.credentialsPerBatchMax <= limits.lookupBatchMax);
  // A whole email and password, in base64.
  assert.ok(Math.ceil((limits.emailCharsMax + 1 + limits.passwordBytesMax) / 3) * 4 <= limits.basicCharsMax);
  assert.ok(limits.signingKeyLeadSeconds >= 2 * limits.jwksMaxAgeSeconds);
  assert.ok(limits.throttleForgetDays >= limits.loginOriginTrustDays);
  assert.ok(limits.loginKnownPairFailuresMax >= limits.loginPairFreeFailures);
  assert.ok(limits.loginKnownPairWindowSeconds <= limits.loginWindowSeconds);
  assert.ok(limits.loginAddressFailuresMax < limits.loginNetworkFailuresMax);
  assert.ok(limits.loginNetworkFailuresMax < limits.loginGlobalFailuresMax);
  // All that may be hashed or wait for it, and a few that are counted meanwhile.
  assert.equal(limits.signInsUnderWayMax, limits.hashQueueMax + 8);
  assert.ok(limits.signInsUnderWayMax * 2 < limits.writesWaitingMax, 'sign-ins alone never fill the queue of writes');
});
