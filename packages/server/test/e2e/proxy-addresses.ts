/** Guarantees of each configuration in `docs/forward-auth/` for keys with IP ranges. */
import assert from 'node:assert/strict';
import { assertForwarded, assertRejected, bearer, type ProxySetup } from './proxy-setup.ts';

type Headers = readonly (readonly [string, string])[];

/** Neither is 127.0.0.1, the IP address of the proxy, which Keyreeve trusts. Linux accepts both without configuration. */
const [client, otherClient] = ['127.0.0.2', '127.0.0.3'];

/** Headers by which a client claims to have another IP address. */
export const forgedAddresses = (ip: string): Readonly<Record<string, Headers>> => ({
  'X-Forwarded-For': [['X-Forwarded-For', ip]],
  'X-Forwarded-For with several entries': [['X-Forwarded-For', `${ip}, ${ip}, 127.0.0.1`]],
  'two lines of X-Forwarded-For': [
    ['X-Forwarded-For', ip],
    ['x-forwarded-for', `${ip},${ip}`],
  ],
  'X-Forwarded-For, not an IP address': [['X-Forwarded-For', 'unknown']],
  'X-Real-IP': [['X-Real-IP', ip]],
  Forwarded: [['Forwarded', `for=${ip};proto=https`]],
  'CF-Connecting-IP': [['CF-Connecting-IP', ip]],
  'True-Client-IP': [['True-Client-IP', ip]],
  'all of them': [
    ['X-Forwarded-For', ip],
    ['X-Real-IP', ip],
    ['Forwarded', `for=${ip}`],
    ['CF-Connecting-IP', ip],
    ['True-Client-IP', ip],
  ],
});

export const guaranteesOfAddresses: Record<string, (setup: ProxySetup) => Promise<void>> = {
  'a key with IP ranges is accepted only from them, and no header of the client changes that': async (setup) => {
    const { keyreeve, proxy } = setup;
    const inside = bearer((await keyreeve.createKey(`from ${client} by ${proxy.name}`, { addresses: [client] })).key);
    const away = { addresses: ['203.0.113.0/24'] };
    const outside = bearer((await keyreeve.createKey(`from 203.0.113.0/24 by ${proxy.name}`, away)).key);
    await assertForwarded(setup, { from: client, headers: [inside] });
    await assertRejected(setup, { from: otherClient, headers: [inside] }, [403]);
    await assertRejected(setup, { from: client, headers: [outside] }, [403]);
    for (const [how, headers] of Object.entries(forgedAddresses('203.0.113.7'))) {
      await assertForwarded(setup, { from: client, headers: [inside, ...headers] });
      const { body } = await assertRejected(setup, { from: client, headers: [outside, ...headers] }, [403]);
      if (body !== '') assert.equal((JSON.parse(body) as { code?: unknown }).code, 'address_not_allowed', how);
    }
    for (const headers of Object.values(forgedAddresses(client)))
      await assertRejected(setup, { from: otherClient, headers: [inside, ...headers] }, [403]);
  },

  'a client that asks for the removal of X-Forwarded-For does not change its client IP': async (setup) => {
    const away = { addresses: ['203.0.113.0/24'] };
    const { key } = await setup.keyreeve.createKey(`not from ${client} by ${setup.proxy.name}`, away);
    const headers = [
      bearer(key),
      ['Connection', 'close, X-Forwarded-For'],
      ['X-Forwarded-For', '203.0.113.7'],
    ] as const;
    // Envoy may reject the request itself.
    await assertRejected(setup, { from: client, headers }, [400, 403]);
  },
};
