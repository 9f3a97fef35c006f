/**
 * The cuts of the audit log. The retention removes the oldest events of a chain. The cut records the last removed event,
 * whose MAC the next event continues, under a MAC of its own: without the key, events cannot be removed unnoticed.
 */
import { timingSafeEqual } from 'node:crypto';
import type { InstallationKeys } from '../../foundation/crypto/master-key.ts';
import type { Place } from './chain.ts';

export type CutKey = InstallationKeys['auditCut'];

/** The place is that of the last removed event. */
export interface Cut extends Place {
  /** Of the last removed event. */
  readonly mac: Uint8Array;
  readonly eventId: number;
  /** All removed events are from before this time, in milliseconds. */
  readonly eventsBefore: number;
  /** The age that events had to reach, in days. */
  readonly days: number;
  /** When the cut was made, in milliseconds. */
  readonly cutAt: number;
}

export interface StoredCut extends Cut {
  readonly seal: Uint8Array;
}

/** A cut of a younger age is never made. */
export const auditDaysMin = 30;

/** The key belongs to the installation, and the text names the chain, so a cut cannot be copied from either. */
export const sealOf = (key: CutKey, { chain, position, mac, eventId, eventsBefore, days, cutAt }: Cut): Uint8Array =>
  key.mac(JSON.stringify([chain, position, Buffer.from(mac).toString('hex'), eventId, eventsBefore, days, cutAt]));

export function isGenuine(key: CutKey, cut: StoredCut): boolean {
  const seal = sealOf(key, cut);
  return cut.seal.length === seal.length && timingSafeEqual(cut.seal, seal);
}
