/** The operator's name for this installation. */
import { config } from './session-state.ts';
import { text } from './text/text.ts';

/** On a laptop, the name is that of the host by default, which tells nothing. */
export function productName(): string {
  const name = config.value?.product ?? 'localhost';
  return name === 'localhost' ? text.general.product : name;
}
