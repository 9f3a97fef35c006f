/** The sentence about an audit event. */
import { text } from '../../text/text.ts';

/** @returns undefined for an action without a sentence, such as one of a later version */
export function eventText(action: string, details: unknown): string | undefined {
  const events: Readonly<Record<string, string | ((nickname: string) => string)>> = text.security.events;
  const sentence = Object.hasOwn(events, action) ? events[action] : undefined;
  if (typeof sentence !== 'function') return sentence;
  const { nickname } = (details ?? {}) as { readonly nickname?: unknown };
  return sentence(typeof nickname === 'string' ? nickname : '');
}
