/**
 * Uploads a backup to S3-compatible storage in parts (Amazon S3 API, multipart upload), with a key that may only write objects:
 * nothing is listed, read or deleted. The object appears with the last request. Parts of an upload that failed stay, invisible as
 * an object, until a lifecycle rule of the bucket removes them.
 */
import { createHash, hash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { S3Client } from '@bradenmacdonald/s3-lite-client';
import { BackupError } from './format.ts';
import type { Sink } from './write-backup.ts';

export interface ObjectStorage {
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Where an upload goes. */
export interface UploadTarget {
  readonly storage: ObjectStorage;
  readonly bucket: string;
  /** Name of the object. */
  readonly name: string;
}

/**
 * S3 permits 5 MiB to 5 GiB, and 10,000 parts: a backup has 156 GiB at most. Two parts are in memory at once. A connection must
 * transfer a part within 5 minutes, the limit of Node for a response.
 */
export const partBytes = 16 * 2 ** 20;
const partsMax = 10_000;

/** Of each request, in milliseconds. */
const retryDelays: readonly number[] = [1_000, 3_000, 9_000];

interface Part {
  readonly number: number;
  readonly etag: string;
  readonly sha256: Buffer;
}

/** @param wait between repetitions of a request, in milliseconds */
export async function openUpload(
  { storage, bucket, name }: UploadTarget,
  wait: (ms: number) => Promise<void> = (ms) => setTimeout(ms),
): Promise<Sink> {
  const { S3Client } = await import('@bradenmacdonald/s3-lite-client');
  const { endpoint, region, accessKeyId: accessKey, secretAccessKey: secretKey } = storage;
  const upload = new Upload(new S3Client({ endPoint: endpoint, region, accessKey, secretKey, bucket }), name, wait);
  return async (bytes) => {
    try {
      await upload.run(bytes);
    } catch (error) {
      throw describe(error, `s3://${bucket}/${name}`);
    }
  };
}

interface Request {
  readonly method: string;
  readonly query: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly payload?: Uint8Array<ArrayBuffer> | string;
}

interface Answer {
  readonly headers: Headers;
  readonly text: string;
}

class Upload {
  readonly #client: S3Client;
  readonly #name: string;
  readonly #wait: (ms: number) => Promise<void>;

  constructor(client: S3Client, name: string, wait: (ms: number) => Promise<void>) {
    this.#client = client;
    this.#name = name;
    this.#wait = wait;
  }

  async run(bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const headers = { 'content-type': 'application/octet-stream', 'x-amz-checksum-algorithm': 'SHA256' };
    const created = await this.#send({ method: 'POST', query: 'uploads', headers });
    const id = encodeURIComponent(elementIn(created.text, 'UploadId'));
    const parts: Part[] = [];
    for await (const part of partsOf(bytes)) {
      if (parts.length === partsMax) throw new StorageError(`the backup is larger than ${partsMax} parts of 16 MiB`);
      parts.push(await this.#sendPart(id, parts.length + 1, part));
    }
    await this.#complete(id, parts);
  }

  /** The signature contains the SHA-256 of the part, and the storage confirms it with what it has stored. */
  async #sendPart(id: string, number: number, payload: Uint8Array<ArrayBuffer>): Promise<Part> {
    const sha256 = createHash('sha256').update(payload).digest();
    const checksum = sha256.toString('base64');
    const { headers } = await this.#send({
      method: 'PUT',
      query: `partNumber=${number}&uploadId=${id}`,
      headers: { 'x-amz-sdk-checksum-algorithm': 'SHA256', 'x-amz-checksum-sha256': checksum },
      payload,
    });
    const etag = (headers.get('etag') ?? '').replaceAll('"', '');
    const confirmed = headers.get('x-amz-checksum-sha256');
    // Storage without this header: the ETag of a part is its MD5.
    const [found, expected] = confirmed === null ? [etag, hash('md5', payload)] : [confirmed, checksum];
    if (found !== expected) throw new StorageError(`the storage did not confirm the checksum of part ${number}`);
    return { number, etag, sha256 };
  }

  async #complete(id: string, parts: readonly Part[]): Promise<void> {
    const list = parts.map(
      ({ number, etag, sha256 }) =>
        `<Part><PartNumber>${number}</PartNumber><ETag>"${etag}"</ETag><ChecksumSHA256>${sha256.toString('base64')}</ChecksumSHA256></Part>`,
    );
    const { text } = await this.#send({
      method: 'POST',
      query: `uploadId=${id}`,
      headers: { 'content-type': 'application/xml' },
      payload: `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${list.join('')}</CompleteMultipartUpload>`,
    });
    // S3 can report an error of this request with the status 200.
    if (text.includes('<Error>') || !text.includes('<ETag>'))
      throw new StorageError(`${elementIn(text, 'Code')}: ${elementIn(text, 'Message')}`);
  }

  async #send({ headers, ...request }: Request): Promise<Answer> {
    for (let attempt = 0; ; attempt++) {
      try {
        const response = await this.#client.makeRequest({
          ...request,
          objectName: this.#name,
          headers: new Headers(headers),
          returnBody: true,
        });
        return { headers: response.headers, text: await response.text() };
      } catch (error) {
        const delay = retryDelays[attempt];
        if (delay === undefined || !isTemporary(error)) throw error;
        await this.#wait(delay);
      }
    }
  }
}

/** Parts of {@link partBytes}, the last one shorter; at least one. */
async function* partsOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let part = new Uint8Array(partBytes);
  let length = 0;
  for await (let chunk of bytes) {
    while (chunk.length > 0) {
      const taken = chunk.subarray(0, partBytes - length);
      part.set(taken, length);
      length += taken.length;
      chunk = chunk.subarray(taken.length);
      if (length < partBytes) continue;
      yield part;
      part = new Uint8Array(partBytes);
      length = 0;
    }
  }
  if (length > 0) yield part.subarray(0, length);
}

function elementIn(xml: string, name: string): string {
  const [, value] = new RegExp(`<${name}>([^<]+)</${name}>`).exec(xml) ?? [];
  if (value === undefined)
    throw new StorageError('the response is not one of S3-compatible storage; check the endpoint');
  return value;
}

/** Not from a response with an error. */
class StorageError extends Error {}

interface ServerError extends Error {
  readonly statusCode: number;
  readonly code: string;
}

/** Of the client. The class itself is loaded with it. */
const isServerError = (error: unknown): error is ServerError =>
  error instanceof Error && 'statusCode' in error && 'code' in error;

/** An error of the connection is a TypeError of `fetch`. */
const isTemporary = (error: unknown): boolean =>
  error instanceof TypeError ||
  (isServerError(error) && (error.statusCode >= 500 || error.statusCode === 429 || error.code === 'RequestTimeout'));

const remedies: Readonly<Record<string, string>> = {
  AccessDenied: 'Permit s3:PutObject for its name',
  InvalidAccessKeyId: 'Check KEYREEVE_STORAGE_ACCESS_KEY_ID',
  SignatureDoesNotMatch: 'Check KEYREEVE_STORAGE_SECRET_ACCESS_KEY, KEYREEVE_STORAGE_REGION and the clock',
  NoSuchBucket: 'Create the bucket',
};

function describe(error: unknown, object: string): unknown {
  const not = `no backup was uploaded to ${object}`;
  if (error instanceof TypeError && error.cause instanceof Error) {
    const reason = error.cause.message || ('code' in error.cause ? String(error.cause.code) : error.message);
    return new BackupError(`${not}: ${reason}`, { cause: error });
  }
  if (error instanceof StorageError) return new BackupError(`${not}: ${error.message}`);
  // Those of the bytes.
  if (!isServerError(error)) return error;
  const remedy = remedies[error.code];
  const reason = `${error.code}: ${error.message.replace(/\.$/, '')}`;
  return new BackupError(`${not}: ${reason}${remedy === undefined ? '' : `. ${remedy}.`}`, { cause: error });
}
