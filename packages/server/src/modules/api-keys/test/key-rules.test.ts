/** Keys that need a newer version of the rules than this program knows. */
import assert from 'node:assert/strict';
import type { KeyDetails, RotatedKey } from '@keyreeve/contract';
import { testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { newKeyClient } from '../../../../test-kit/key-client.ts';
import { bearer } from '../../../../test-kit/new-app.ts';
import {
  exchange,
  newAssertion,
  newKeyPair,
  newPublicKeyKey,
  newShortLived,
} from '../../../../test-kit/public-key-client.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { rulesVersion } from '../../../foundation/database/key-rules.ts';

const setRules = sql('test_set_rules', 'update api_keys set rules = $1');

// Each has its own statements.
const settings: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'without environments': {},
  'with environments': { KEYREEVE_ENVIRONMENTS: 'live:krv,test:acme_test' },
};
for (const [name, environment] of Object.entries(settings))
  testOnBoth(`a key that needs newer rules is rejected, with each of its credentials (${name})`, async () => {
    await using client = await newKeyClient({ environment });
    const { app, user, key: previous } = client;
    const { key: current } = await client.rotate();
    const pair = newKeyPair();
    const publicId = await newPublicKeyKey(app, user.accessToken, pair);
    const shortLived = await newShortLived(app, pair, publicId);
    const statuses = () => Promise.all([previous, current, shortLived].map((secret) => client.statusOf(secret)));
    const exchanged = async () => (await exchange(app, newAssertion(app, pair, publicId))).status;
    assert.deepEqual([...(await statuses()), await exchanged()], [200, 200, 200, 200]);

    await app.db.transaction((tx) => tx.run(setRules, [rulesVersion + 1]));
    assert.deepEqual([...(await statuses()), await exchanged()], [401, 401, 401, 400]);
    // No change of this program makes it valid.
    await client.change({ nickname: 'renamed', addresses: null, disabled: true });
    await client.change({ disabled: false });
    const rotated = (await client.send('POST', '/rotate', { endPrevious: true })).json as RotatedKey;
    assert.deepEqual([...(await statuses()), await client.statusOf(rotated.key)], [401, 401, 401, 401]);
    // Its owner sees and deletes it.
    const list = await app.call('GET', '/auth/api-keys?view=full', { headers: bearer(user.accessToken) });
    assert.ok((list.json as { apiKeys: KeyDetails[] }).apiKeys.some(({ id }) => id === client.id));
    assert.equal((await client.send('DELETE')).status, 200);

    await app.db.transaction((tx) => tx.run(setRules, [rulesVersion]));
    assert.equal(await client.statusOf(shortLived), 200);
  });
