/** The registries of errors, refusals and limits are complete and consistent. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allRoutes, errors, limits, limitTable, refusals, type ErrorCode, type Limit } from '@keyreeve/contract';

const codes = Object.keys(errors) as ErrorCode[];

/** Codes that no route lists, by the reason. */
const beyondRoutes: Readonly<Record<string, readonly ErrorCode[]>> = {
  'any request can get them': ['internal_error', 'unavailable'],
  'a request with an access token can get it': ['second_factor_enrolment_required'],
  'a client with too many requests in progress gets it': ['too_many_in_progress'],
  'a request with a body can get them': [
    'invalid_request',
    'malformed_json',
    'body_too_large',
    'unsupported_media_type',
  ],
  'the server returns them before it finds a route': [
    'malformed_request',
    'not_found',
    'method_not_allowed',
    'request_timeout',
    'url_too_long',
    'headers_too_large',
    'https_required',
  ],
  'only the command line returns it': ['administrator_exists'],
};

test('every code can be returned', () => {
  const returned = new Set<string>([
    ...allRoutes.flatMap((route) => route.errors),
    ...Object.values(beyondRoutes).flat(),
  ]);
  assert.deepEqual(
    codes.filter((code) => !returned.has(code)),
    [],
  );
});

test('every code is snake_case and has an HTTP status, a title and a meaning', () => {
  const statuses = new Set([400, 401, 403, 404, 405, 408, 409, 413, 414, 415, 429, 431, 500, 503]);
  for (const code of codes) {
    const { status, title, meaning } = errors[code];
    assert.match(code, /^[a-z]+(?:_[a-z]+)*$/);
    assert.ok(statuses.has(status), code);
    assert.match(title, /^[A-Z].*[^.]$/, code);
    assert.match(meaning, /^[A-Z].*\.$/s, code);
  }
});

test('titles are unique', () => {
  assert.equal(new Set(codes.map((code) => errors[code].title)).size, codes.length);
});

test('a refusal has a reason, which is a sentence', () => {
  for (const [code, reason] of Object.entries(refusals)) {
    assert.match(code, /^[a-z]+(?:_[a-z]+)*$/);
    assert.match(reason, /^[A-Z].*\.$/, code);
  }
});

test('every limit is a positive integer with its unit in its name, and has a reason', () => {
  const unit =
    /(?:Ms|PerSecond|Seconds|Days|Bits|Bytes|Chars|CodePoints|Fields|Failures|Max|Floor|First|Factor)(?:Max|Min)?$/;
  for (const [name, { value, why, answer }] of Object.entries<Limit>(limitTable)) {
    assert.ok(Number.isSafeInteger(value) && value > 0, name);
    assert.match(name, unit);
    assert.match(why, /^.{10,}\.$/s, name);
    // A code of the registry, or words: so a misspelled code fails.
    if (answer !== undefined) assert.ok(answer in errors || answer.includes(' '), `${name}: ${answer}`);
  }
  assert.deepEqual(limits, Object.fromEntries(Object.entries(limitTable).map(([name, { value }]) => [name, value])));
});

test('limits that depend on each other are consistent', () => {
  assert.ok(limits.headersTimeoutMs < limits.requestTimeoutMs);
  assert.ok(limits.basicCharsMax < limits.authorizationCharsMax);
  assert.ok(limits.authorizationCharsMax < limits.headerBytesMax);
  assert.ok(limits.bodyBytesMax < limits.batchBodyBytesMax);
  assert.ok(limits.credentialsPerBatchMax <= limits.lookupBatchMax);
  // The base64 of the longest email address and password.
  assert.ok(Math.ceil((limits.emailCharsMax + 1 + limits.passwordBytesMax) / 3) * 4 <= limits.basicCharsMax);
  assert.ok(limits.signingKeyLeadSeconds >= 2 * limits.jwksMaxAgeSeconds);
  assert.ok(limits.rateLimitForgetDays >= limits.signInOriginTrustDays);
  assert.ok(limits.signInTrustedPairFailuresMax >= limits.signInPairFreeFailures);
  assert.ok(limits.signInTrustedPairWindowSeconds <= limits.signInWindowSeconds);
  assert.ok(limits.signInRangeFailuresMax < limits.signInNetworkFailuresMax);
  assert.ok(limits.signInNetworkFailuresMax < limits.signInGlobalFailuresMax);
  // The sign-ins in the hash queue, and 8 that are being counted.
  assert.equal(limits.signInsUnderWayMax, limits.hashQueueMax + 8);
  assert.ok(limits.signInsUnderWayMax * 2 < limits.writesWaitingMax, 'sign-ins alone cannot fill the queue of writes');
});
