/** Identity tokens whose times are not whole milliseconds (RFC 7519 section 2: NumericDate). */
import assert from 'node:assert/strict';
import { testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { newTrustedKey, secretOf } from '../../../../test-kit/trusted-key.ts';

testOnBoth('a secret for a token that ends within a millisecond ends before it', async () => {
  await using at = await newTrustedKey();
  const seconds = at.clock.now() / 1_000;
  const answer = await at.exchange(
    at.token({ claims: { iat: seconds - 0.000_12, nbf: seconds - 0.000_12, exp: seconds + 90.123_456_7 } }),
  );
  const { expires_in: lifetime } = answer.json as { expires_in?: number };
  assert.equal(lifetime, 90, answer.text);
  const secret = secretOf(answer);
  at.clock.advance({ seconds: 91 });
  assert.equal(await at.isAccepted(secret), false);
});
