/**
 * The chains of the audit trail. Each event stands at a place of one chain, and its MAC covers the place, the event and
 * the MAC of the event before it: an event that is changed, taken out or moved no longer fits, and whoever doesn't have
 * the key can't make one that does (ASVS 16.4.2). Why there are several: docs/decisions/0011-audit-chain.md.
 */
import { hash } from 'node:crypto';
import type { AuditKey } from '../../foundation/database/db.ts';

/** What an event says: all of its row but the id, which the database allots. */
export interface AuditRow {
  readonly at: number;
  /** `account:<id>`, `mailbox`, `operator` or `system`. */
  readonly actor: string;
  readonly action: string;
  readonly accountId: string | null;
  readonly target: string | null;
  /** JSON. */
  readonly details: string | null;
}

/** Where an event stands. */
export interface Place {
  readonly chain: number;
  /** From 1 on, without a gap. */
  readonly position: number;
}

export interface ChainedRow extends AuditRow, Place {
  readonly mac: Uint8Array;
}

/** Events without an account, such as an installation's own. */
const chainOfNoAccount = 0;
/** A power of two, so that each gets as many accounts. */
const chainsOfAccounts = 32;

/** Of the events of an account. It may change: an event stays where it was written. */
export const chainOf = (accountId: string | null): number =>
  accountId === null
    ? chainOfNoAccount
    : 1 + (hash('sha256', accountId, 'buffer').readUInt8() & (chainsOfAccounts - 1));

/** @param previous the MAC of the event at the position before; undefined for the first, null where somebody took it away */
export function macOf(
  key: AuditKey,
  { chain, position, at, actor, action, accountId, target, details }: AuditRow & Place,
  previous: Uint8Array | null | undefined,
): Uint8Array {
  const before = previous ? Buffer.from(previous).toString('hex') : '';
  return key.mac(JSON.stringify([chain, position, at, actor, action, accountId, target, details, before]));
}

/** How far a chain has come. */
export interface Head extends Place {
  readonly mac: Uint8Array | null;
}

/** Where every chain was at one moment, in a text that only this installation can make. */
export interface Checkpoint {
  readonly text: string;
  /** By chain: its last position then, 0 where it had no event. */
  readonly positions: readonly number[];
}

const checkpointForm = /\bkra1\.((?:[0-9a-z]{1,11}-)*[1-9a-z][0-9a-z]{0,10})\.[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])/g;

/** @param heads in any order; chains without an event may be left out */
export function checkpointOf(key: AuditKey, heads: readonly Head[]): Checkpoint {
  const taken = heads.filter(({ position }) => position > 0).toSorted((one, other) => one.chain - other.chain);
  const positions: number[] = [];
  for (const { chain, position } of taken) {
    while (positions.length < chain) positions.push(0);
    positions.push(position);
  }
  const macs = taken.map(({ mac }) => (mac ? Buffer.from(mac).toString('hex') : null));
  const mac = Buffer.from(key.mac(JSON.stringify(['checkpoint', positions, macs]))).toString('base64url');
  return { text: `kra1.${positions.map((position) => position.toString(36)).join('-')}.${mac}`, positions };
}

/** Every checkpoint that stands in a text, such as a line of the log. Whose they are shows when they are held against a trail. */
export const findCheckpoints = (text: string): Checkpoint[] =>
  [...text.matchAll(checkpointForm)].map(([found, positions = '']) => ({
    text: found,
    positions: positions.split('-').map((position) => Number.parseInt(position, 36)),
  }));
