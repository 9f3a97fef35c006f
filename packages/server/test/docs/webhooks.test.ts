/** docs/webhooks.md: its examples check what the service signs, and its table is the contract's. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { webhookEvents } from '@keyreeve/contract';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { makeSigningSecret, signedHeaders } from '../../src/modules/webhooks/signature.ts';

const page = readFileSync(new URL('../../../../docs/webhooks.md', import.meta.url), 'utf8');
const examples = [...page.matchAll(/```js\n([^]*?)```/g)].map(([, code = '']) => code);

type Receive = (headers: Readonly<Record<string, string>>, body: string) => unknown;

for (const [index, code] of examples.entries()) {
  test(`example ${index + 1} takes what the service signs, and nothing else`, async () => {
    using folder = newTempFolder();
    const secret = makeSigningSecret();
    process.env['KEYREEVE_WEBHOOK_SECRET'] = secret.reveal();
    // The folder has no packages, so the library is imported by its path.
    const library = import.meta.resolve('standardwebhooks');
    const file = join(folder.path, 'receive.mjs');
    writeFileSync(file, code.replace("from 'standardwebhooks'", `from '${library}'`));
    const { receive } = (await import(pathToFileURL(file).href)) as { receive: Receive };
    const body = '{"type":"account.created","data":{"accountId":"acc_1"}}';
    const now = Date.now();
    const headers = signedHeaders('msg_1', now, body, [makeSigningSecret(), secret]);
    assert.deepEqual(receive(headers, body), JSON.parse(body));
    const forged: readonly (readonly [Readonly<Record<string, string>>, string])[] = [
      [headers, body.replace('created', 'deleted')],
      [{ ...headers, 'webhook-id': 'msg_2' }, body],
      [{ ...headers, 'webhook-signature': 'v1,' }, body],
      [{ ...headers, 'webhook-signature': '' }, body],
      [{}, body],
      [signedHeaders('msg_1', now, body, [makeSigningSecret()]), body],
      [signedHeaders('msg_1', now - 600_000, body, [secret]), body],
      [signedHeaders('msg_1', now + 600_000, body, [secret]), body],
    ];
    for (const [sent, text] of forged) assert.throws(() => receive(sent, text), Error, JSON.stringify(sent));
  });
}

test('there are two examples, and the table has every type once', () => {
  assert.equal(examples.length, 2);
  const types = [...page.matchAll(/^`([a-z_]+\.[a-z_]+)` \|/gm)].map(([, type = '']) => type);
  assert.deepEqual(types.toSorted(), [...webhookEvents, 'webhook.test'].toSorted());
});
