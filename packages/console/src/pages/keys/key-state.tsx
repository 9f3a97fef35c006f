/** The state of a key in a word. */
import { serverNow } from '../../clock.ts';
import { Badge } from '../../parts/badge.tsx';
import { text } from '../../text/text.ts';
import type { KeyDetails } from './key-owner.ts';

type State = 'active' | 'expiring' | 'expired' | 'disabled' | 'leaked';

/** As the server's filter by state. */
const expiringMs = 14 * 86_400_000;

const tones = { active: 'good', expiring: 'warning', expired: 'warning', disabled: 'neutral', leaked: 'bad' } as const;

type WithState = Pick<KeyDetails, 'disabledAt' | 'disabledReason' | 'expiresAt'>;

export function stateOf({ disabledAt, disabledReason, expiresAt }: WithState): State {
  if (disabledAt !== null) return disabledReason === 'leaked' ? 'leaked' : 'disabled';
  const left = expiresAt === null ? Infinity : Date.parse(expiresAt) - serverNow();
  return left <= 0 ? 'expired' : left < expiringMs ? 'expiring' : 'active';
}

export function KeyState({ of }: { readonly of: WithState }) {
  const state = stateOf(of);
  return <Badge tone={tones[state]}>{text.keys.states[state]}</Badge>;
}
