/**
 * Content that is the same for every client, such as a page: its bytes, their compressed forms and their entity tags are computed
 * once, so that a response costs little of the thread that also verifies keys.
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { ContentCoding } from './language.ts';
import type { RouteResponse } from './response.ts';

/** What the client says about the form of the content. */
export interface ContentRequest {
  /** The codings that it accepts, the preferred one of the server first. */
  readonly codings: readonly ContentCoding[];
  /** The header If-None-Match. */
  readonly ifNoneMatch: string | undefined;
}

/** 128 bits in base64url. */
const tagChars = 22;
/** The highest takes 1 s for the largest page, and saves 4 %. */
const brotliQuality = 9;

const compressors: Readonly<Record<ContentCoding, (bytes: Uint8Array) => Promise<Uint8Array>>> = {
  br: (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } }),
  gzip: (bytes) => promisify(gzip)(bytes),
};

export class FixedContent {
  readonly contentType: string;
  readonly #bytes: Uint8Array;
  readonly #hash: string;
  /** In threads of the pool, at the first request for each. */
  readonly #compressed = new Map<ContentCoding, Promise<Uint8Array>>();

  /** @param content a string is sent in UTF-8 */
  constructor(contentType: string, content: string | Uint8Array) {
    this.contentType = contentType;
    this.#bytes = typeof content === 'string' ? Buffer.from(content) : content;
    this.#hash = createHash('sha256').update(this.#bytes).digest('base64url').slice(0, tagChars);
  }

  /** The content as text in UTF-8. */
  get text(): string {
    return Buffer.from(this.#bytes).toString('utf8');
  }

  /**
   * A 200 with the content, or a 304 if the client has it (RFC 9110 section 13.1.2).
   * @param more `cacheControl` is `no-cache` by default: the client may keep the content, and asks before each use
   */
  async respond(
    { codings, ifNoneMatch }: ContentRequest,
    more: Pick<RouteResponse, 'cacheControl' | 'policy' | 'resourcePolicy' | 'headers'> = {},
  ): Promise<RouteResponse> {
    const [coding] = codings;
    const compressed = coding && { coding, bytes: await this.#in(coding) };
    const smaller = compressed && compressed.bytes.length < this.#bytes.length ? compressed : undefined;
    // Each form has its own tag (RFC 9110 section 8.8.3.3).
    const tag = smaller ? `"${this.#hash}-${smaller.coding}"` : `"${this.#hash}"`;
    const headers = ['Vary', 'Accept-Encoding', 'ETag', tag, ...(more.headers ?? [])];
    const response = { cacheControl: 'no-cache', ...more };
    if (hasTag(ifNoneMatch, tag)) return { ...response, status: 304, headers };
    return {
      ...response,
      status: 200,
      contentType: this.contentType,
      headers: smaller ? [...headers, 'Content-Encoding', smaller.coding] : headers,
      body: smaller?.bytes ?? this.#bytes,
    };
  }

  #in(coding: ContentCoding): Promise<Uint8Array> {
    const known = this.#compressed.get(coding);
    if (known) return known;
    const compressing = compressors[coding](this.#bytes);
    this.#compressed.set(coding, compressing);
    // A failure, such as one for lack of memory, is not kept: the next request tries again.
    compressing.catch(() => this.#compressed.delete(coding));
    return compressing;
  }
}

/** The comparison is weak: a proxy that compresses may have made the tag weak (RFC 9110 section 8.8.3.2). */
const hasTag = (ifNoneMatch: string | undefined, tag: string): boolean =>
  ifNoneMatch !== undefined &&
  ifNoneMatch.split(',').some((text) => text.trim() === '*' || text.trim().replace(/^W\//, '') === tag);

/** Content that seldom changes. @returns the same object as before if the text is the same */
export function keepContent(contentType: string): (text: string) => FixedContent {
  let last: { readonly text: string; readonly content: FixedContent } | undefined;
  return (text) => {
    if (last?.text !== text) last = { text, content: new FixedContent(contentType, text) };
    return last.content;
  };
}
