/** Request bodies: size, media type, parsing, and validation by the contract's schemas. */
import type { IncomingMessage } from 'node:http';
import { limits, type RouteContract } from '@keyreeve/contract';
import { tooMany } from '../foundation/database/fair-queue.ts';
import { DomainError } from '../foundation/errors.ts';
import { parseJson } from '../foundation/json.ts';
import { onBrokenBody } from './broken-body.ts';
import type { UnfinishedBody } from './unfinished-bodies.ts';
import { validator } from './validation.ts';

type BodyContract = NonNullable<RouteContract['body']>;
/** Called when a body begins. It may call `reject` until the body ends. */
export type BeginBody = (reject: () => void) => UnfinishedBody;
/** @param begin absent for a body whose number and bytes are not bounded */
export type ReadBody = (request: IncomingMessage, begin?: BeginBody) => Promise<unknown>;

const mediaTypes = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
  raw: 'application/json',
} as const;

/**
 * @returns a function that reads, parses and validates the body of a route's request. It throws DomainError
 *   `unsupported_media_type`, `body_too_large`, `malformed_json`, `invalid_request`, `malformed_request`,
 *   `request_timeout` or `too_many_in_progress`
 */
export function bodyReader({ type, schema, bytesMax = limits.bodyBytesMax, isOptional }: BodyContract): ReadBody {
  const validate = validator(schema);
  return async (request, begin) => {
    if (isOptional && isWithoutBody(request)) return validate({});
    // A proxy cannot know whether a request over HTTP/2 has content, and passes none on as an empty chunked body.
    const chunked = isOptional && isChunked(request) ? await readBytes(request, bytesMax, begin) : undefined;
    if (chunked?.length === 0) return validate({});
    assertMediaType(request, mediaTypes[type]);
    const bytes = chunked ?? (await readBytes(request, bytesMax, begin));
    if (type === 'raw') return bytes;
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
  if (!isInUtf8(type, expected) || encoding.toLowerCase() !== 'identity') {
    throw new DomainError('unsupported_media_type', {
      detail: `The body must be ${expected} in UTF-8, without content encoding.`,
    });
  }
}

/** @param type value of Content-Type @param expected media type */
function isInUtf8(type: string, expected: string): boolean {
  const [mediaType = '', ...parameters] = type.toLowerCase().split(';');
  const isUtf8 = parameters.every((parameter) => /^(?:charset="?utf-?8"?)?$/.test(parameter.trim()));
  return mediaType.trim() === expected && isUtf8;
}

/**
 * Whether a request with a body has the media type, and no other header that changes its response: for the short path.
 * @param rawHeaders alternating names and values
 */
export function isSimple(rawHeaders: readonly string[], type: keyof typeof mediaTypes): boolean {
  const expected = mediaTypes[type];
  let hasType = false;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    // By their length, most other names are skipped without a copy.
    if (!lengthsOfHeaders.has(name.length)) continue;
    const value = rawHeaders[i + 1] ?? '';
    switch (name.toLowerCase()) {
      case 'content-type':
        if (value !== expected && !isInUtf8(value, expected)) return false;
        hasType = true;
        break;
      case 'x-forwarded-proto':
        if (value !== 'https') return false;
        break;
      case 'content-encoding':
      case 'origin':
        return false;
    }
  }
  return hasType && rawHeaders.length <= limits.headerFieldsMax * 2;
}

const lengthsOfHeaders = new Set(
  ['content-type', 'x-forwarded-proto', 'content-encoding', 'origin'].map((name) => name.length),
);

function readBytes(request: IncomingMessage, bytesMax: number, begin?: BeginBody): Promise<Buffer> {
  const tooLarge = (): DomainError =>
    new DomainError('body_too_large', { detail: `The body has more than ${bytesMax} bytes.` });
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) return Promise.reject(tooLarge());
  // Without Content-Length and Transfer-Encoding there is no body, and Node's empty stream emits no `end`.
  if (request.readableEnded) return Promise.resolve(Buffer.alloc(0));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let hasFailed = false;
    let body: UnfinishedBody | undefined;
    // The request keeps its listeners, and they must not keep the chunks of a rejected body.
    const fail = (error: DomainError): void => {
      hasFailed = true;
      chunks.length = 0;
      body?.end();
      reject(error);
    };
    body = begin?.(() => fail(tooMany()));
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (hasFailed) return;
      if (bytes > bytesMax) return fail(tooLarge());
      chunks.push(chunk);
      body?.keep(chunk.length);
    });
    request.on('end', () => {
      body?.end();
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
    });
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
