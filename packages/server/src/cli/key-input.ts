/** Arguments of the commands about API keys. */
import { toInstant } from '../foundation/clock.ts';
import { DomainError } from '../foundation/errors.ts';
import { parseJson } from '../foundation/json.ts';
import { keyIdOf } from '../modules/api-keys/key-request.ts';
import { UsageError } from './failure.ts';
import type { CommandContext } from './session.ts';

/** A key and the account that owns it. */
export interface NamedKey {
  readonly id: number;
  readonly owner: string;
}

/** @throws DomainError `key_not_found`, also for a text that is not an id */
export async function findKey({ apiKeys }: CommandContext, text: string): Promise<NamedKey> {
  const id = keyIdOf(text, `There is no API key ${text}.`);
  return { id, owner: await apiKeys.ownerOf(id) };
}

/** @returns milliseconds @throws UsageError */
export function parseTime(text: string, option = '--expires-at'): number {
  const [, day] = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i.exec(text) ?? [];
  const ms = day === undefined || !isDay(day) ? Number.NaN : Date.parse(text);
  if (Number.isNaN(ms)) throw new UsageError(`${option} must be like 2027-01-31T00:00:00Z, not “${text}”`);
  return ms;
}

/** `Date.parse` reads February 30 as March 2. */
function isDay(text: string): boolean {
  const ms = Date.parse(text);
  return !Number.isNaN(ms) && toInstant(ms).startsWith(text);
}

/** @throws UsageError */
export function parseMetadata(text: string): object {
  let value: unknown;
  try {
    value = parseJson(Buffer.from(text));
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new UsageError(`--metadata must be a JSON object like {"customer":"cus_182"}, not “${text}”`);
}
