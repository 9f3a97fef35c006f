/** An hour of a busy installation for the overview, with something of each kind that needs attention. */
import { randomId } from '../../../server/src/foundation/crypto/secret.ts';
import { saveMinutes, type MinuteRow } from '../../../server/src/modules/overview/store.ts';
import type { MinuteCounts } from '../../../server/src/modules/overview/minutes.ts';
import { recordFailure, type EndpointRow } from '../../../server/src/modules/webhooks/store.ts';
import type { TestApp } from '../../../server/test-kit/new-app.ts';
import { hostileTexts } from './seed.ts';

const minuteMs = 60_000;

/** @param webhook an endpoint, whose last delivery fails */
export async function seedOverview(
  { clock, db, service }: TestApp,
  webhook: Pick<EndpointRow, 'id' | 'url'>,
): Promise<void> {
  const now = clock.now();
  const end = now - (now % minuteMs);
  const busy = {
    id: randomId('ins'),
    version: '0.2.0',
    startedAt: now - 90 * minuteMs,
    seenAt: end,
    masterKeyId: '',
    settings: '{}',
  };
  const minutes = Array.from({ length: 60 }, (_, index): MinuteRow => {
    const counts = countsAt(index);
    return { minute: end - (60 - index) * minuteMs, counts: JSON.stringify(counts) };
  });
  await saveMinutes(db, busy, minutes);
  // Ended without a shutdown, and no other process has replaced it.
  const seenAt = now - 5 * minuteMs;
  await saveMinutes(
    db,
    {
      id: randomId('ins'),
      version: hostileTexts.markup,
      startedAt: seenAt - minuteMs,
      seenAt,
      masterKeyId: '',
      settings: '{}',
    },
    [],
  );
  await service.services.minutes.write();
  await recordFailure(db, webhook, now, `503 ${hostileTexts.script}`);
}

/** A wave with a burst of refusals in it, the same at each run. */
function countsAt(index: number): MinuteCounts {
  const accepted = Math.round(420 + 160 * Math.sin(index / 7) + ((index * 37) % 61));
  const isBurst = index >= 38 && index < 44;
  return {
    results: {
      api_key: accepted,
      access_token: Math.round(accepted / 9),
      not_found: isBurst ? 140 + index : index % 4,
      malformed: index % 3,
      ...(index % 9 === 0 && { insufficient_scope: 3, expired: 2 }),
      ...(isBurst && { rate_limited: 60 }),
      // Of a later version.
      ...(index === 50 && { [hostileTexts.markup]: 2 }),
    },
    signIns: { accepted: index % 5, ...(index % 7 === 0 && { refused: 2 }) },
    hashes: { hashed: index % 5 },
    verificationMs: [accepted, 40, 9, 2, 0, 0, 0, 0, 0, 0, 0, 0],
    databaseMs: [accepted, 90, 30, 6, 1, 0, 0, 0, 0, 0, 0, 0],
  };
}
