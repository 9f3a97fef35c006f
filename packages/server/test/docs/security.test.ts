/** What the security page tells secret scanners to look for. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import {
  checksumChars,
  keyPattern,
  keyPrefixDefault,
  refreshTokenBodyChars,
  refreshTokenPrefix,
} from '@keyreeve/contract';

test('the patterns for secret scanners are those of the credentials', () => {
  const page = readFileSync(new URL('../../../../SECURITY.md', import.meta.url), 'utf8');
  const patterns = [...page.matchAll(/`(\w+_\[[^`]+)`/g)].map(([, pattern]) => pattern);
  const refreshToken = `${refreshTokenPrefix}_[0-9A-Za-z]{${refreshTokenBodyChars + checksumChars}}`;
  assert.deepEqual(patterns, [keyPattern([keyPrefixDefault]), refreshToken]);
});
