/** Bodies of the maximum size whose validation could cost more than their parsing, for tests and for `bench/`. */
import { limits } from '@keyreeve/contract';

/** @returns a body of the maximum size: the repeated text between the two ends */
function filled(start: string, one: (index: number) => string, end: string, bytesMax: number): string {
  const parts: string[] = [];
  let bytes = start.length + end.length;
  for (let index = 0; ; index++) {
    const part = `${index === 0 ? '' : ','}${one(index)}`;
    bytes += Buffer.byteLength(part);
    if (bytes > bytesMax) return start + parts.join('') + end;
    parts.push(part);
  }
}

/** Bodies for `POST /auth/api-keys`, by their error. */
export function hostileKeyBodies(): Readonly<Record<string, string>> {
  const scopes = (one: (index: number) => string) =>
    filled('{"nickname":"a","scopes":[', one, ']}', limits.bodyBytesMax);
  return {
    'invalid scopes': scopes(() => '""'),
    'scopes that are numbers': scopes((index) => String(index)),
    'one scope thousands of times': scopes(() => '"a"'),
    'valid scopes': scopes((index) => `"s${index}"`),
    'scopes that are objects': scopes(() => '{}'),
    'scopes that are deep': scopes(() => '[[[[[]]]]]'),
    '32 scopes, one of them long': `{"nickname":"a","scopes":[${'"a",'.repeat(31)}"${'b'.repeat(16_000)}"]}`,
    'one scope that is a great object': filled(
      '{"nickname":"a","scopes":[{',
      (index) => `"a${index}":1`,
      '}]}',
      limits.bodyBytesMax,
    ),
    'unknown fields': filled('{', (index) => `"f${index}":0`, '}', limits.bodyBytesMax),
    'unknown fields with long values': filled(
      '{',
      (index) => `"f${index}":"${'x'.repeat(500)}"`,
      '}',
      limits.bodyBytesMax,
    ),
    'one long nickname': `{"nickname":"${'a'.repeat(16_000)}"}`,
    'a nickname of combining characters': `{"nickname":"a${'\u0301'.repeat(8_000)}"}`,
    'a nickname of joined emoji': `{"nickname":"${'👩‍👩‍👧‍👦'.repeat(640)}"}`,
    'a long expiry': `{"nickname":"a","expiresAt":"${'1'.repeat(16_000)}"}`,
    'an array': filled('[', () => '0', ']', limits.bodyBytesMax),
    'a valid body with 32 scopes': `{"nickname":"a","scopes":[${Array.from({ length: 32 }, (_, index) => `"${String(index).padStart(64, 's')}"`).join(',')}]}`,
  };
}

/** Bodies for `POST /auth/verify/batch`. */
export function hostileBatchBodies(): Readonly<Record<string, string>> {
  const credentials = (one: (index: number) => string) =>
    filled('{"credentials":[', one, ']}', limits.batchBodyBytesMax);
  const many = (one: string) => `{"credentials":[${Array.from({ length: 256 }, () => one).join(',')}]}`;
  return {
    'empty credentials': credentials(() => '""'),
    'credentials that are numbers': credentials(() => '0'),
    '256 credentials of the greatest length': many(`"${'x'.repeat(limits.authorizationCharsMax)}"`),
    '256 credentials of combining characters': many(`"${'\u0301'.repeat(limits.authorizationCharsMax / 2)}"`),
    '256 credentials that are numbers': many('0'),
    'credentials that are objects': many('{"a":1}'),
    'one credential that is a great object': filled(
      '{"credentials":[{',
      (index) => `"a${index}":1`,
      '}]}',
      limits.batchBodyBytesMax,
    ),
    'unknown fields': filled('{', (index) => `"f${index}":0`, '}', limits.batchBodyBytesMax),
  };
}
