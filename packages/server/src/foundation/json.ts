/** A strict JSON parser: it rejects text that two parsers may interpret differently (ASVS 1.5.2, 1.5.3). */
import { limits } from '@keyreeve/contract/limits';
import { DomainError } from './errors.ts';

/** Names through which careless code could reach an object's prototype. */
const forbiddenNames = new Set(['__proto__', 'constructor', 'prototype']);

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * @param depthMax open objects and arrays
 * @throws DomainError `malformed_json` for invalid UTF-8 or JSON, a repeated member name, or too deep nesting
 */
export function parseJson(bytes: Uint8Array, depthMax: number = limits.jsonDepthMax): unknown {
  let text: string;
  let value: unknown;
  try {
    text = utf8.decode(bytes);
    value = JSON.parse(text);
  } catch {
    throw new DomainError('malformed_json');
  }
  assertUnambiguous(text, depthMax);
  return value;
}

/** Characters that are not ASCII. */
const notAscii = /[\x80-\xff]/;

/**
 * Parses one object whose members are strings, numbers and arrays of strings. Such a text has two quotation marks for each name
 * and string of the result. It has more if a name occurs twice, or with an escaped quotation mark, so no scan is needed.
 * @param text one character for each byte
 * @returns the same as {@link parseJson}; undefined for everything else
 */
export function parseSimpleJson(text: string): object | undefined {
  if (notAscii.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isSimpleObject(value) && 2 * stringsIn(value) === quotesIn(text) ? value : undefined;
  } catch {
    return undefined;
  }
}

const isSimpleObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** @returns the number of names and strings; NaN with a member of another kind or a forbidden name */
function stringsIn(value: object): number {
  let strings = 0;
  for (const [name, member] of Object.entries(value) as [string, unknown][]) {
    if (forbiddenNames.has(name)) return Number.NaN;
    if (typeof member === 'string') strings += 2;
    else if (typeof member === 'number') strings += 1;
    else if (Array.isArray(member) && member.every((item) => typeof item === 'string')) strings += 1 + member.length;
    else return Number.NaN;
  }
  return strings;
}

function quotesIn(text: string): number {
  let quotes = 0;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) quotes++;
  return quotes;
}

/** Scans valid JSON once and keeps the member names of each open object. */
function assertUnambiguous(text: string, depthMax: number): void {
  /** One entry per open object or array; an array has no names. */
  const open: (Set<string> | undefined)[] = [];
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case 0x7b: // {
      case 0x5b: // [
        open.push(text[i] === '{' ? new Set() : undefined);
        if (open.length > depthMax) throw new DomainError('malformed_json', { detail: 'It is nested too deeply.' });
        break;
      case 0x7d: // }
      case 0x5d: // ]
        open.pop();
        break;
      case 0x22: {
        // "
        const end = endOfString(text, i);
        if (isFollowedByColon(text, end)) addName(open.at(-1), JSON.parse(text.slice(i, end + 1)) as string);
        i = end;
        break;
      }
    }
  }
}

function addName(names: Set<string> | undefined, name: string): void {
  if (!names) return;
  if (names.has(name) || forbiddenNames.has(name)) {
    throw new DomainError('malformed_json', {
      detail: `The member name “${name.slice(0, 64)}” occurs twice or is not allowed.`,
    });
  }
  names.add(name);
}

/** @returns the index of the closing quote */
function endOfString(text: string, start: number): number {
  let end = start + 1;
  while (text.charCodeAt(end) !== 0x22) end += text.charCodeAt(end) === 0x5c ? 2 : 1;
  return end;
}

/** Outside strings, a colon follows only member names. */
function isFollowedByColon(text: string, end: number): boolean {
  let next = end + 1;
  while (next < text.length && text.charCodeAt(next) <= 0x20) next++;
  return text.charCodeAt(next) === 0x3a;
}
