/**
 * Bounds the bodies that are being received: their number for each credential and client IP range, and their bytes together and
 * for each network. At a bound, the body that began first is rejected. So bodies that arrive slowly take no room from those that
 * arrive at once, however many clients send them: a client would have to send everything again within the time of such a body.
 */
import { limits } from '@keyreeve/contract';
import { coarseRange, ipRange } from '../foundation/ip-address.ts';

export interface BodyBounds {
  readonly perCredentialMax: number;
  readonly perRangeMax: number;
  readonly bytesMax: number;
  readonly bytesPerNetworkMax: number;
}

export interface BodyOwner {
  readonly clientIp: string;
  /** The session or key that was verified before the body. Undefined for a client without a credential. */
  readonly credential: string | undefined;
}

/** One body. */
export interface UnfinishedBody {
  /** Counts bytes that were received. This can reject the body itself. */
  readonly keep: (bytes: number) => void;
  /** For the end of the body, whatever ends it. Not the event `close`: Node does not emit it for every broken body. */
  readonly end: () => void;
}

const defaultBounds: BodyBounds = {
  perCredentialMax: limits.unfinishedBodiesPerCredentialMax,
  perRangeMax: limits.unfinishedBodiesPerRangeMax,
  bytesMax: limits.unfinishedBodyBytesMax,
  bytesPerNetworkMax: limits.unfinishedBodyBytesPerNetworkMax,
};

/** Name of the group of all bodies. */
const all = 'all';

/** Bodies that share a bound, in the order in which they began. */
interface Group {
  readonly name: string;
  readonly countMax: number;
  readonly bytesMax: number;
  readonly bodies: Set<Body>;
  bytes: number;
}

interface Body {
  readonly groups: readonly Group[];
  readonly reject: () => void;
  bytes: number;
  isOpen: boolean;
}

export class UnfinishedBodies {
  readonly #bounds: BodyBounds;
  readonly #groups = new Map<string, Group>();

  constructor(bounds = defaultBounds) {
    this.#bounds = bounds;
  }

  /** The number of unfinished bodies. */
  get count(): number {
    return this.#groups.get(all)?.bodies.size ?? 0;
  }

  /** @param reject called at most once, before the end of the body: it may not keep its bytes */
  begin({ clientIp, credential }: BodyOwner, reject: () => void): UnfinishedBody {
    const { perCredentialMax, perRangeMax, bytesMax, bytesPerNetworkMax } = this.#bounds;
    const groups = [
      this.#group(all, Infinity, bytesMax),
      this.#group(`network ${coarseRange(clientIp) ?? 'unknown'}`, Infinity, bytesPerNetworkMax),
      this.#group(`range ${ipRange(clientIp)}`, perRangeMax, Infinity),
      ...(credential === undefined ? [] : [this.#group(`credential ${credential}`, perCredentialMax, Infinity)]),
    ];
    const body: Body = { groups, reject, bytes: 0, isOpen: true };
    for (const group of groups) {
      this.#groups.set(group.name, group);
      group.bodies.add(body);
    }
    this.#enforce(groups);
    return { keep: (bytes) => this.#keep(body, bytes), end: () => this.#end(body) };
  }

  #group(name: string, countMax: number, bytesMax: number): Group {
    return this.#groups.get(name) ?? { name, countMax, bytesMax, bodies: new Set(), bytes: 0 };
  }

  #keep(body: Body, bytes: number): void {
    if (!body.isOpen) return;
    body.bytes += bytes;
    for (const group of body.groups) group.bytes += bytes;
    this.#enforce(body.groups);
  }

  #enforce(groups: readonly Group[]): void {
    for (const group of groups) {
      for (const first of group.bodies) {
        if (group.bodies.size <= group.countMax && group.bytes <= group.bytesMax) break;
        this.#end(first);
        first.reject();
      }
    }
  }

  #end(body: Body): void {
    if (!body.isOpen) return;
    body.isOpen = false;
    for (const group of body.groups) {
      group.bodies.delete(body);
      group.bytes -= body.bytes;
      if (group.bodies.size === 0) this.#groups.delete(group.name);
    }
  }
}
