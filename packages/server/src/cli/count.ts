/** Numbers in the options of commands. */
import { UsageError } from './failure.ts';

/** @returns undefined without the option @throws UsageError unless the text is a whole number from 1 to `max` */
export function parseCount(option: string, text: string | undefined, max: number): number | undefined {
  if (text === undefined) return undefined;
  const count = /^[1-9]\d{0,8}$/.test(text) ? Number(text) : Number.NaN;
  if (!(count <= max)) throw new UsageError(`${option} must be a whole number from 1 to ${max}, not “${text}”`);
  return count;
}
