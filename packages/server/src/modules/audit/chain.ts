/**
 * The chains of the audit log. Each event has a place in one chain, and its MAC covers the place, the event and the MAC
 * of the previous event. So a changed, removed or moved event is detected, and forging one requires the key (ASVS
 * 16.4.2). docs/decisions/10-audit-log-and-backups.md explains why there are several chains.
 */
import { hash } from 'node:crypto';
import type { AuditKey } from '../../foundation/database/db.ts';

/** The row of an event without its id, which the database assigns. */
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

/** The place of an event. */
export interface Place {
  readonly chain: number;
  /** From 1, without gaps. */
  readonly position: number;
}

export interface ChainedRow extends AuditRow, Place {
  readonly mac: Uint8Array;
}

/** The chain of events without an account. */
export const chainOfNoAccount = 0;
/** A power of two, so that accounts are spread evenly. */
const chainsOfAccounts = 32;

/** The chains that new events have. */
export const chainNumbers: readonly number[] = Array.from({ length: chainsOfAccounts + 1 }, (_, number) => number);

/** @returns the chain for new events of an account. The rule may change, because an event keeps its place. */
export const chainOf = (accountId: string | null): number =>
  accountId === null
    ? chainOfNoAccount
    : 1 + (hash('sha256', accountId, 'buffer').readUInt8() & (chainsOfAccounts - 1));

/** @param previous the MAC of the previous event; undefined for the first event, null when the MAC was removed */
export function macOf(
  key: AuditKey,
  { chain, position, at, actor, action, accountId, target, details }: AuditRow & Place,
  previous: Uint8Array | null | undefined,
): Uint8Array {
  const before = previous ? Buffer.from(previous).toString('hex') : '';
  return key.mac(JSON.stringify([chain, position, at, actor, action, accountId, target, details, before]));
}

/** The last place of a chain. */
export interface Head extends Place {
  readonly mac: Uint8Array | null;
}

/** The state of all chains at one moment, as a text that only this installation can make. */
export interface Checkpoint {
  readonly text: string;
  /** By chain: its last position; 0 without events. */
  readonly positions: readonly number[];
}

const checkpointForm = /\bkra1\.((?:[0-9a-z]{1,11}-)*[1-9a-z][0-9a-z]{0,10})\.[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])/g;

/** @param heads in any order; chains without an event may be left out */
export function checkpointOf(key: AuditKey, heads: readonly Head[]): Checkpoint {
  const present = heads.filter(({ position }) => position > 0).toSorted((one, other) => one.chain - other.chain);
  const positions: number[] = [];
  for (const { chain, position } of present) {
    while (positions.length < chain) positions.push(0);
    positions.push(position);
  }
  const macs = present.map(({ mac }) => (mac ? Buffer.from(mac).toString('hex') : null));
  const mac = Buffer.from(key.mac(JSON.stringify(['checkpoint', positions, macs]))).toString('base64url');
  return { text: `kra1.${positions.map((position) => position.toString(36)).join('-')}.${mac}`, positions };
}

/** Finds every checkpoint in a text, such as a line of the log. Does not verify them. */
export const findCheckpoints = (text: string): Checkpoint[] =>
  [...text.matchAll(checkpointForm)].map(([found, positions = '']) => ({
    text: found,
    positions: positions.split('-').map((position) => Number.parseInt(position, 36)),
  }));
