/** When the server tries again. */
import { serverNow } from '../../clock.ts';
import { Time } from '../../parts/time.tsx';
import { adminText } from '../../text/admin-text.ts';

/** @param at null: no attempt follows; a time in the past: its turn has not come yet */
export function NextAttempt({ at }: { readonly at: string | null }) {
  if (at === null) return <>–</>;
  return Date.parse(at) > serverNow() ? <Time at={at} /> : <>{adminText.general.soon}</>;
}
