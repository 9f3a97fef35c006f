/** Arguments of the commands about API keys. */
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
