/** S3-compatible storage: moto, with a bucket and one key for each set of permissions. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, connect, type AddressInfo, type Socket } from 'node:net';
import { S3Client } from '@bradenmacdonald/s3-lite-client';
import { freePort } from '../../test-kit/free-port.ts';
import { until } from '../../test-kit/until.ts';
import type { ObjectStorage } from '../../src/modules/backup/object-storage.ts';

export const bucket = 'backups';
const region = 'us-east-1';

export interface RunningStorage extends AsyncDisposable {
  readonly port: number;
  /** May only write. */
  readonly writer: ObjectStorage;
  /** May only read. */
  readonly reader: ObjectStorage;
  /** Names of the objects. */
  list(): Promise<string[]>;
  read(name: string): Promise<Buffer>;
}

/** @param program the path of `moto_server` */
export async function startStorage(program: string): Promise<RunningStorage> {
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const child = spawn(program, ['-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
  const stop = async (): Promise<void> => {
    child.kill();
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  };
  try {
    await until('the storage responds', () =>
      fetch(endpoint).then(
        () => true,
        () => false,
      ),
    );
    const keyFor = async (user: string, ...actions: readonly string[]): Promise<ObjectStorage> => {
      const statement = { Effect: 'Allow', Action: actions, Resource: '*' };
      const PolicyDocument = JSON.stringify({ Version: '2012-10-17', Statement: [statement] });
      await manage(endpoint, { Action: 'CreateUser', UserName: user });
      await manage(endpoint, { Action: 'PutUserPolicy', UserName: user, PolicyName: 'backups', PolicyDocument });
      const created = await manage(endpoint, { Action: 'CreateAccessKey', UserName: user });
      const [, accessKeyId = ''] = /<AccessKeyId>([^<]+)/.exec(created) ?? [];
      const [, secretAccessKey = ''] = /<SecretAccessKey>([^<]+)/.exec(created) ?? [];
      return { endpoint, region, accessKeyId, secretAccessKey };
    };
    const [writer, reader] = [await keyFor('writer', 's3:PutObject'), await keyFor('reader', 's3:GetObject')];
    const { accessKeyId: accessKey, secretAccessKey: secretKey } = await keyFor('administrator', 's3:*');
    const client = new S3Client({ endPoint: endpoint, region, accessKey, secretKey, bucket });
    await client.makeRequest({ method: 'PUT', objectName: '' });
    // Until here, moto permits everything.
    const headers = { 'content-type': 'text/plain' };
    await fetch(`${endpoint}/moto-api/reset-auth`, { method: 'POST', headers, body: '0' });
    return {
      port,
      writer,
      reader,
      list: async () => (await Array.fromAsync(client.listObjects())).map(({ key }) => key),
      read: async (name) => Buffer.from(await (await client.getObject(name)).arrayBuffer()),
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A request to the management of users. @returns the response */
async function manage(endpoint: string, parameters: Readonly<Record<string, string>>): Promise<string> {
  const authorization = `AWS4-HMAC-SHA256 Credential=any/20200101/${region}/iam/aws4_request`;
  const body = new URLSearchParams({ Version: '2010-05-08', ...parameters });
  return (await fetch(endpoint, { method: 'POST', headers: { authorization }, body })).text();
}

export interface Network extends AsyncDisposable {
  readonly endpoint: string;
}

/** From the bytes that one end sends to those that the other gets; undefined: the connection is cut. */
type Change = (chunk: Buffer) => Buffer | undefined;

/** A network before the storage. */
async function startNetwork(
  port: number,
  { requests, responses }: { requests?: Change; responses?: Change },
): Promise<Network> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const storage = connect(port, '127.0.0.1');
    const directions = [
      [client, storage, requests],
      [storage, client, responses],
    ] as const;
    for (const [from, to, change = (chunk: Buffer) => chunk] of directions) {
      sockets.add(from);
      from.on('error', () => undefined).on('close', () => to.destroy());
      from.on('data', (chunk: Buffer) => {
        const changed = change(chunk);
        if (changed) to.write(changed);
        else from.resetAndDestroy();
      });
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}

/** After some bytes of requests, cuts connections that send more, `cutsMax` times. */
export async function startBrokenNetwork(port: number, bytesMax: number, cutsMax = Infinity): Promise<Network> {
  let [bytes, cuts] = [0, 0];
  const requests: Change = (chunk) => {
    bytes += chunk.length;
    if (bytes <= bytesMax || cuts === cutsMax) return chunk;
    cuts++;
    return undefined;
  };
  return startNetwork(port, { requests });
}

/** Changes `from` to `to` in requests, which have the same length, and removes the checksums from responses. */
export const startChangingNetwork = (port: number, from: string, to: string): Promise<Network> => {
  const replace = (before: string, after: string) => (chunk: Buffer) =>
    Buffer.from(chunk.toString('latin1').replaceAll(before, after), 'latin1');
  return startNetwork(port, {
    requests: replace(from, to),
    responses: replace('x-amz-checksum-sha256', 'x-amz-without-sha256'),
  });
};
