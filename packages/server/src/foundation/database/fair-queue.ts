/**
 * The order in which waiting work runs: the two classes in turn, and the owners of each class in turn. So narrowing work
 * gets at least half of whatever there is, as does ordinary work, and an owner with much work delays no other for longer
 * than one piece of it takes.
 *
 * The queue is bounded per owner, in total and in time. When it is full, the newest work of the owner with the most of it
 * makes room.
 */
import { limits } from '@keyreeve/contract';
import { DomainError } from '../errors.ts';
import { systemOwner, type Share, type WorkClass } from './share.ts';
import { unavailable } from './unavailable.ts';

export interface FairQueueOptions {
  readonly waitingMax: number;
  readonly waitingPerOwnerMax: number;
  /** Work that waits for longer is rejected: its client has left or soon will. */
  readonly waitMsMax: number;
}

interface Waiting<Item> {
  readonly item: Item;
  readonly refuse: (error: DomainError) => void;
  readonly timer: NodeJS.Timeout;
}

const retryAfterSeconds = 1;
const otherClass: Readonly<Record<WorkClass, WorkClass>> = { narrowing: 'ordinary', ordinary: 'narrowing' };

export class FairQueue<Item> {
  readonly #options: FairQueueOptions;
  /** By owner, in the order of their turns. None is empty. */
  readonly #flows: Readonly<Record<WorkClass, Map<string, Waiting<Item>[]>>> = {
    narrowing: new Map(),
    ordinary: new Map(),
  };
  #size = 0;
  #lastClass: WorkClass = 'ordinary';

  constructor(options: FairQueueOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#size;
  }

  /**
   * The system's own work is bounded with all the rest only: it has no client that could send less.
   * @param refuse is called instead of `item` being taken: too much of the owner's work waits, or it waited too long
   */
  push({ workClass, owner }: Share, item: Item, refuse: (error: DomainError) => void): void {
    const { waitingMax, waitingPerOwnerMax, waitMsMax } = this.#options;
    const flow = this.#flows[workClass].get(owner) ?? [];
    if (flow.length >= waitingPerOwnerMax && owner !== systemOwner) return refuse(tooMany());
    if (this.#size >= waitingMax && !this.#makeRoom(flow.length + 1)) return refuse(full(waitingMax));
    const timer = setTimeout(() => {
      this.#remove(workClass, owner, waiting);
      refuse(unavailable(new Error(`waited ${waitMsMax} ms for its turn`)));
    }, waitMsMax).unref();
    const waiting = { item, refuse, timer };
    flow.push(waiting);
    this.#flows[workClass].set(owner, flow);
    this.#size++;
  }

  /** @param mayRun whether there is room for work of this class and owner now */
  take(mayRun: (workClass: WorkClass, owner: string) => boolean = () => true): Item | undefined {
    const first = otherClass[this.#lastClass];
    for (const workClass of [first, this.#lastClass]) {
      const flows = this.#flows[workClass];
      for (const [owner, [waiting]] of flows) {
        if (waiting === undefined || !mayRun(workClass, owner)) continue;
        const flow = this.#remove(workClass, owner, waiting);
        // Its next turn comes after everybody else's.
        if (flow.length > 0 && flows.delete(owner)) flows.set(owner, flow);
        this.#lastClass = workClass;
        return waiting.item;
      }
    }
    return undefined;
  }

  /** @returns what is left of its owner's */
  #remove(workClass: WorkClass, owner: string, waiting: Waiting<Item>): Waiting<Item>[] {
    clearTimeout(waiting.timer);
    const flow = this.#flows[workClass].get(owner) ?? [];
    const place = flow.indexOf(waiting);
    if (place >= 0) {
      flow.splice(place, 1);
      this.#size--;
    }
    if (flow.length === 0) this.#flows[workClass].delete(owner);
    return flow;
  }

  /** @param than the share of the newcomer's owner: it displaces only an owner that has more */
  #makeRoom(than: number): boolean {
    let longest: { workClass: WorkClass; owner: string; flow: readonly Waiting<Item>[] } | undefined;
    for (const workClass of ['narrowing', 'ordinary'] as const) {
      for (const [owner, flow] of this.#flows[workClass]) {
        if (owner !== systemOwner && flow.length > (longest?.flow.length ?? than)) longest = { workClass, owner, flow };
      }
    }
    const displaced = longest?.flow.at(-1);
    if (!longest || !displaced) return false;
    this.#remove(longest.workClass, longest.owner, displaced);
    displaced.refuse(tooMany());
    return true;
  }
}

export const tooMany = (): DomainError => new DomainError('too_many_in_progress', { retryAfterSeconds });
const full = (waitingMax: number): DomainError => unavailable(new Error(`${waitingMax} operations wait already`));

/** Of each driver. */
export const writesWaiting: FairQueueOptions = {
  waitingMax: limits.writesWaitingMax,
  waitingPerOwnerMax: limits.writesWaitingPerOwnerMax,
  waitMsMax: limits.writeWaitMsMax,
};
