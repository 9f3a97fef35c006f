/**
 * Lines of JSON objects that end with a MAC: `{…,"mac":"<64 hexadecimal digits>"}`. The deletion journal and backups use
 * them. The caller's MAC covers the object's text and whatever must precede it in the file.
 */
import { timingSafeEqual } from 'node:crypto';

/** @param body the object's JSON without its closing brace and without the MAC @returns 32 bytes */
export type MacOf = (body: string) => Buffer;

/** Far above what a writer produces: a line of a backup has 500 rows. */
export const sealedLineBytesMax = 64 * 2 ** 20;
const pattern = /^(\{.+),"mac":"([0-9a-f]{64})"\}$/;

/** @param value an object with at least one member. @returns its line, with a line feed */
export function sealLine(value: object, macOf: MacOf): string {
  const body = JSON.stringify(value).slice(0, -1);
  return `${body},"mac":"${macOf(body).toString('hex')}"}\n`;
}

/** @param line without its line feed @returns the object without its MAC; undefined when the MAC does not fit */
export function openLine(line: string, macOf: MacOf): unknown {
  const [, body = '', mac = ''] = pattern.exec(line) ?? [];
  if (body === '' || !timingSafeEqual(macOf(body), Buffer.from(mac, 'hex'))) return undefined;
  return JSON.parse(`${body}}`);
}
