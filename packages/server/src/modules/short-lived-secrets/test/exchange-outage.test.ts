/** Exchanges whose commit has an unknown outcome. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { errors } from '@keyreeve/contract';
import { behind, Line } from '../../../../test-kit/broken-connection.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { newKeyPair, signJwt } from '../../../../test-kit/public-key-client.ts';
import { addAccount, now, operator } from '../../../../test-kit/rows.ts';
import { codeOf, onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { wireOn } from '../../../../test-kit/wire-on.ts';

const issuer = 'http://localhost';
const clientIp = '127.0.0.1';

onEachDatabase(
  'an exchange with an unknown outcome returns no secret, and a new assertion succeeds',
  async ({ db }) => {
    const line = new Line();
    const clock = new FakeClock(now);
    const { apiKeys, exchange, verifier } = wireOn(behind(db, line), { clock, issuer });
    await addAccount(db);
    const pair = newKeyPair();
    const { id } = await apiKeys.createWithIdentity(
      operator,
      'acc_ada',
      { nickname: 'a' },
      { publicKey: pair.publicKey },
    );
    const kid = String(id);
    const iat = now / 1_000;
    const assertion = (): string =>
      signJwt(pair, { alg: pair.alg, kid }, { iss: kid, sub: kid, aud: issuer, iat, exp: iat + 60, jti: randomUUID() });
    const attempt = (text: string): Promise<unknown> => exchange.exchange(text, clientIp).then(() => 'issued', codeOf);
    const [lost, committed] = [assertion(), assertion()];
    for (const [state, text] of [
      ['cut before', lost],
      ['cut after', committed],
    ] as const) {
      line.state = state;
      assert.equal(await attempt(text), 'unavailable', state);
      line.state = 'whole';
      const { secret, expiresInSeconds } = await exchange.exchange(assertion(), clientIp);
      assert.equal(expiresInSeconds, 600);
      assert.equal((await verifier.verify(secret.reveal())).valid, true);
    }
    assert.equal(errors.unavailable.status, 503);
    assert.equal(await attempt(committed), 'invalid_grant', 'the server has used it');
    assert.equal(await attempt(lost), 'issued', 'the server has not used it');
  },
);
