/** Request bodies: size, media type, parsing, and validation by the contract's schemas. */
import type { IncomingMessage } from 'node:http';
import { limits, type RouteContract } from '@keyreeve/contract';
import { tooMany } from '../foundation/database/fair-queue.ts';
import { DomainError } from '../foundation/errors.ts';
import { coarseRange } from '../foundation/ip-address.ts';
import { parseJson } from '../foundation/json.ts';
import { onBrokenBody } from './broken-body.ts';
import { RawBodies, type RawBody } from './raw-bodies.ts';
import { validator } from './validation.ts';

type BodyContract = NonNullable<RouteContract['body']>;
/** @param clientIpOf is called for raw bodies only */
export type ReadBody = (request: IncomingMessage, clientIpOf: () => string) => Promise<unknown>;

const mediaTypes = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
  raw: 'application/json',
} as const;

/**
 * @returns a function that reads, parses and validates the body of a route's request. It throws DomainError
 *   `unsupported_media_type`, `body_too_large`, `malformed_json`, `invalid_request`, `malformed_request` or
 *   `request_timeout`
 */
export function bodyReader({ type, schema, bytesMax = limits.bodyBytesMax, isOptional }: BodyContract): ReadBody {
  const validate = validator(schema);
  const rawBodies = type === 'raw' ? new RawBodies() : undefined;
  return async (request, clientIpOf) => {
    if (isOptional && isWithoutBody(request)) return validate({});
    // A proxy cannot know whether a request over HTTP/2 has content, and passes none on as an empty chunked body.
    const chunked = isOptional && isChunked(request) ? await readBytes(request, bytesMax) : undefined;
    if (chunked?.length === 0) return validate({});
    assertMediaType(request, mediaTypes[type]);
    if (rawBodies) return readRaw(request, bytesMax, rawBodies.begin(coarseRange(clientIpOf()) ?? 'unknown'));
    const bytes = chunked ?? (await readBytes(request, bytesMax));
    return validate(type === 'json' ? parseJson(bytes) : parseForm(bytes));
  };
}

/** Whether the client sends no body (RFC 9112 section 6.3). */
const isWithoutBody = (request: IncomingMessage): boolean => hasShortBody(request, 0);

/** Whether the client announces a body of at most this many bytes. */
export const hasShortBody = (request: IncomingMessage, bytesMax: number): boolean =>
  !isChunked(request) && Number(request.headers['content-length'] ?? 0) <= bytesMax;

/** `chunked` is the only transfer coding that the server accepts. */
const isChunked = ({ headers }: IncomingMessage): boolean => headers['transfer-encoding'] !== undefined;

function assertMediaType(request: IncomingMessage, expected: string): void {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = request.headers;
  const [mediaType = '', ...parameters] = type.toLowerCase().split(';');
  const isUtf8 = parameters.every((parameter) => /^(?:charset="?utf-?8"?)?$/.test(parameter.trim()));
  if (mediaType.trim() !== expected || !isUtf8 || encoding.toLowerCase() !== 'identity') {
    throw new DomainError('unsupported_media_type', {
      detail: `The body must be ${expected} in UTF-8, without content encoding.`,
    });
  }
}

async function readRaw(request: IncomingMessage, bytesMax: number, { mayKeep, release }: RawBody): Promise<Buffer> {
  try {
    return await readBytes(request, bytesMax, mayKeep);
  } finally {
    release();
  }
}

function readBytes(
  request: IncomingMessage,
  bytesMax: number,
  mayKeep: (bytes: number) => boolean = () => true,
): Promise<Buffer> {
  const tooLarge = (): DomainError =>
    new DomainError('body_too_large', { detail: `The body has more than ${bytesMax} bytes.` });
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) return Promise.reject(tooLarge());
  // Without Content-Length and Transfer-Encoding there is no body, and Node's empty stream emits no `end`.
  if (request.readableEnded) return Promise.resolve(Buffer.alloc(0));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let hasFailed = false;
    // The request keeps its listeners, and they must not keep the chunks of a rejected body.
    const fail = (error: DomainError): void => {
      hasFailed = true;
      chunks.length = 0;
      reject(error);
    };
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (hasFailed) return;
      if (bytes > bytesMax) fail(tooLarge());
      else if (!mayKeep(chunk.length)) fail(tooMany());
      else chunks.push(chunk);
    });
    request.on('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    onBrokenBody(request, (code) => fail(new DomainError(code)));
    // The client disconnected: no error of the service.
    request.on('error', (cause) => fail(new DomainError('malformed_request', { cause })));
  });
}

/** @throws DomainError `invalid_request` for a repeated field */
function parseForm(bytes: Buffer): Record<string, string> {
  return toRecord(new URLSearchParams(bytes.toString('utf8')));
}

/**
 * For queries and forms.
 * @throws DomainError `invalid_request` for a repeated name: proxies and services differ on which value counts
 */
export function toRecord(parameters: URLSearchParams): Record<string, string> {
  const record: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [name, value] of parameters) {
    if (Object.hasOwn(record, name)) {
      throw new DomainError('invalid_request', { detail: `The field ${name.slice(0, 64)} is repeated.` });
    }
    record[name] = value;
  }
  return record;
}
