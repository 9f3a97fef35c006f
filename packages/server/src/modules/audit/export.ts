/**
 * Exports the audit log as JSON Lines, or as CSV (RFC 4180) without fields that spreadsheets run as formulas (ASVS
 * 1.2.10).
 */
import { toInstant } from '../../foundation/clock.ts';
import type { Reader } from '../../foundation/database/db.ts';
import { listEventsAfter, type Span, type StoredEvent } from './store.ts';

export const exportFormats = ['jsonl', 'csv'] as const;
export type ExportFormat = (typeof exportFormats)[number];

const rowsPerPage = 500;
/** The latest time of a JavaScript Date, in milliseconds. */
const instantMax = 8.64e15;

/** Oldest events first. @param reader a snapshot @returns several lines at a time */
export async function* exportLog(reader: Reader, format: ExportFormat, span: Span): AsyncGenerator<string> {
  const { head, line } = writers[format];
  yield head;
  for (let after = Number.MIN_SAFE_INTEGER; ;) {
    const events = await listEventsAfter(reader, span, after, rowsPerPage);
    if (events.length > 0) yield events.map(line).join('');
    const last = events.at(-1);
    if (last === undefined || events.length < rowsPerPage) return;
    after = last.id;
  }
}

const columns = [
  'id',
  'at',
  'actor',
  'action',
  'accountId',
  'target',
  'details',
  'chain',
  'position',
  'mac',
] as const satisfies readonly (keyof StoredEvent)[];

const writers: Record<ExportFormat, { readonly head: string; readonly line: (event: StoredEvent) => string }> = {
  jsonl: {
    head: '',
    line: (event) =>
      `${JSON.stringify({ ...plain(event), details: event.details === null ? null : parsedDetails(event.details) })}\n`,
  },
  csv: {
    head: `${columns.join(',')}\r\n`,
    line: (event) => {
      const values = plain(event);
      return `${columns.map((column) => field(values[column])).join(',')}\r\n`;
    },
  },
};

const plain = ({ id, at, actor, action, accountId, target, details, chain, position, mac }: StoredEvent) => ({
  id,
  // An export also shows tampered rows, whose time may be out of range.
  at: Math.abs(at) <= instantMax ? toInstant(at) : String(at),
  actor,
  action,
  accountId,
  target,
  details,
  chain,
  position,
  mac: mac === null ? null : Buffer.from(mac).toString('hex'),
});

/** @returns the text itself for a tampered row that is not JSON */
export function parsedDetails(details: string): unknown {
  try {
    return JSON.parse(details);
  } catch {
    return details;
  }
}

function field(value: string | number | null): string {
  if (value === null) return '';
  const text = String(value);
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
