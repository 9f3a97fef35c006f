/** TLS to an endpoint: the certificate is verified for the name, although the connection uses an IP address. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import { test } from 'node:test';
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { AddressGuard } from '../address-guard.ts';
import { post } from '../guarded-request.ts';
import { tls } from '../../../../test-kit/tls.ts';
import type { AddressInfo } from 'node:net';

test(
  'a certificate is verified for the name in the URL, which Host and SNI contain',
  { tags: ['asvs:12.3.2'] },
  async () => {
    const seen: object[] = [];
    const server = createServer(tls, (request, response) => {
      const { servername } = request.socket as TLSSocket & { servername: unknown };
      seen.push({ host: request.headers.host, servername });
      response.writeHead(204).end();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const send = (host: string): Promise<number> => {
      const guard = new AddressGuard([{ kind: 'host', host, port }], () => Promise.resolve(['127.0.0.1']));
      return post(guard, { url: new URL(`https://${host}:${port}/`), headers: {}, body: '{}' }, 60_000);
    };
    // The variable that turns verification off in Node must have no effect.
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      await assert.rejects(send('localhost'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
      setDefaultCACertificates([...getCACertificates('default'), tls.cert.toString()]);
      await assert.rejects(send('other.test'), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
      assert.deepEqual(seen, []);
      assert.equal(await send('localhost'), 204);
      assert.deepEqual(seen, [{ host: `localhost:${port}`, servername: 'localhost' }]);
    } finally {
      delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
      server.closeAllConnections();
      server.close();
    }
  },
);
