/**
 * The client's preferences: the language, a page or JSON, and compression. A header that is longer than `preferenceCharsMax` is ignored,
 * because the library needs up to 60 ms of the main thread to parse 16 KiB.
 */
import Negotiator from 'negotiator';
import { languages, limits, type Language } from '@keyreeve/contract';

/**
 * The most preferred supported language of the header Accept-Language (RFC 9110 section 12.5.4), regardless of region.
 * @returns undefined if the header names no supported language or is too long; a wildcard does not count
 */
export function preferredLanguage(acceptLanguage: string | undefined): Language | undefined {
  if (!isOfBoundedLength(acceptLanguage)) return undefined;
  const tags = new Negotiator({ headers: { 'accept-language': acceptLanguage } }).languages();
  const primary = tags.map((tag) => tag.split('-', 1)[0]?.toLowerCase());
  return primary.flatMap((tag) => languages.filter((language) => language === tag)).at(0);
}

/** Whether a client prefers a page to JSON: browsers name text/html, other clients accept anything or JSON. */
export const prefersPage = (accept: string | undefined): boolean =>
  isOfBoundedLength(accept) &&
  new Negotiator({ headers: { accept } }).mediaType(['application/json', 'text/html']) === 'text/html';

const contentCodings = ['br', 'gzip'] as const;
/** Brotli (RFC 7932) or gzip (RFC 9110 section 8.4.1.3). */
export type ContentCoding = (typeof contentCodings)[number];

/** The codings that a client accepts, the one with the smallest result first. A wildcard does not count. */
export function acceptedCodings(acceptEncoding: string | undefined): readonly ContentCoding[] {
  if (!isOfBoundedLength(acceptEncoding)) return [];
  const accepted = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } }).encodings();
  return contentCodings.filter((coding) => accepted.includes(coding));
}

const isOfBoundedLength = (header: string | undefined): header is string =>
  header !== undefined && header.length <= limits.preferenceCharsMax;
