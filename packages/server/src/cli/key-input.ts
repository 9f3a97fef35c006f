/** Arguments of the commands about API keys. */
import { DomainError } from '../foundation/errors.ts';
import { parseJson } from '../foundation/json.ts';
import { UsageError } from './failure.ts';

/** The option that names the owner of a key. */
export const ownerOption = ['--account <account>', 'email address or id of the owner, which --key-file needs'] as const;

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
