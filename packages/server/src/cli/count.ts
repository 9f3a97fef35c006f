/** Numbers in the options of commands. */
import { integer } from '../app/configuration/config-values.ts';
import { UsageError } from './failure.ts';

/** @returns undefined without the option @throws UsageError unless the text is a whole number from `min` to `max` */
export function parseCount(option: string, text: string | undefined, max: number, min = 1): number | undefined {
  try {
    return text === undefined ? undefined : integer(min, max)(text);
  } catch (error) {
    throw new UsageError(`${option} ${error instanceof Error ? error.message : String(error)}`);
  }
}
