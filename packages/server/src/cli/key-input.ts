/** Arguments of the commands about API keys. */
import { DomainError } from '../foundation/errors.ts';
import { parseJson } from '../foundation/json.ts';
import { UsageError } from './failure.ts';

/** The option that names the owner of a key. */
export const ownerOption = ['--account <account>', 'email address or id of the owner, which --key-file needs'] as const;

export const parseMetadata = (text: string): object => parseJsonObject('--metadata', text, '{"customer":"cus_182"}');

/** @param option its name, for the error @throws UsageError */
export function parseJsonObject(option: string, text: string, example: string): object {
  let value: unknown;
  try {
    value = parseJson(Buffer.from(text));
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new UsageError(`${option} must be a JSON object like ${example}, not “${text}”`);
}
