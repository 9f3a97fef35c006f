/** The sentence about an audit event, for administrators. */
import { adminText } from '../../../text/admin-text.ts';
import { text } from '../../../text/text.ts';
import { eventText } from '../../security/event-text.ts';

/** @returns undefined for an action of a later version */
export function sentenceOf(action: string, details: unknown): string | undefined {
  const events: Readonly<Record<string, string>> = adminText.audit.events;
  return Object.hasOwn(events, action) ? events[action] : eventText(action, details);
}

/** All actions that have a sentence, in the order of their names. */
export const knownActions = (): readonly string[] =>
  Object.keys({ ...text.security.events, ...adminText.audit.events }).toSorted();
