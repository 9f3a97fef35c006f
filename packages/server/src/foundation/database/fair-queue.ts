/**
 * The order in which waiting operations run: the classes take turns, and so do the owners within a class. An instance has few
 * draws at once, so each of the other two classes gets about half of the capacity. An owner with many operations delays
 * another owner by only one of them.
 *
 * The queue is bounded per owner, in total and in time. When it is full, it rejects the newest operation of the owner with
 * the most operations.
 */
import { limits } from '@keyreeve/contract/limits';
import { DomainError } from '../errors.ts';
import type { DatabaseWaits } from './database-waits.ts';
import { systemOwner, type Share, type WorkClass } from './share.ts';
import { unavailable } from './unavailable.ts';

export interface FairQueueOptions {
  readonly waitingMax: number;
  readonly waitingPerOwnerMax: number;
  /** Operations that wait longer are rejected: their clients have probably disconnected. */
  readonly waitMsMax: number;
}

interface Waiting<Item> {
  readonly item: Item;
  readonly reject: (error: DomainError) => void;
  readonly timer: NodeJS.Timeout;
}

const retryAfterSeconds = 1;
/** For the last class that had a turn, the order of the next ones. */
const nextClasses: Readonly<Record<WorkClass, readonly WorkClass[]>> = {
  narrowing: ['draw', 'ordinary', 'narrowing'],
  draw: ['ordinary', 'narrowing', 'draw'],
  ordinary: ['narrowing', 'draw', 'ordinary'],
};

export class FairQueue<Item> {
  readonly #options: FairQueueOptions;
  /** The waiting items of each owner, in the order of the owners' turns. No list is empty. */
  readonly #flows: Readonly<Record<WorkClass, Map<string, Waiting<Item>[]>>> = {
    narrowing: new Map(),
    draw: new Map(),
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
   * The bound per owner does not apply to the system: no client of it could send fewer operations. Nor does the total bound
   * to draws, so a flood of writes does not reject verifications.
   * @param reject called if the queue or the owner's part of it is full, or if the item waited too long
   */
  push({ workClass, owner }: Share, item: Item, reject: (error: DomainError) => void): void {
    const { waitingMax, waitingPerOwnerMax, waitMsMax } = this.#options;
    const flow = this.#flows[workClass].get(owner) ?? [];
    if (flow.length >= waitingPerOwnerMax && owner !== systemOwner) return reject(tooMany());
    if (workClass !== 'draw' && this.#size >= waitingMax && !this.#rejectNewestOfLongest(flow.length + 1))
      return reject(full(waitingMax));
    const timer = setTimeout(() => {
      this.#remove(workClass, owner, waiting);
      reject(unavailable(new Error(`waited ${waitMsMax} ms for its turn`)));
    }, waitMsMax).unref();
    const waiting = { item, reject, timer };
    flow.push(waiting);
    this.#flows[workClass].set(owner, flow);
    this.#size++;
  }

  /** Removes and returns the next item. @param mayRun whether an operation of the class and owner can run now */
  take(mayRun: (workClass: WorkClass, owner: string) => boolean = () => true): Item | undefined {
    for (const workClass of nextClasses[this.#lastClass]) {
      const flows = this.#flows[workClass];
      for (const [owner, [waiting]] of flows) {
        if (waiting === undefined || !mayRun(workClass, owner)) continue;
        const flow = this.#remove(workClass, owner, waiting);
        // Moves the owner to the end of the turns.
        if (flow.length > 0 && flows.delete(owner)) flows.set(owner, flow);
        this.#lastClass = workClass;
        return waiting.item;
      }
    }
    return undefined;
  }

  /** @returns the remaining items of the owner */
  #remove(workClass: WorkClass, owner: string, waiting: Waiting<Item>): Waiting<Item>[] {
    clearTimeout(waiting.timer);
    const flow = this.#flows[workClass].get(owner) ?? [];
    const index = flow.indexOf(waiting);
    if (index >= 0) {
      flow.splice(index, 1);
      this.#size--;
    }
    if (flow.length === 0) this.#flows[workClass].delete(owner);
    return flow;
  }

  /** @param lengthMin only a list that is longer loses an item @returns whether an item was rejected */
  #rejectNewestOfLongest(lengthMin: number): boolean {
    let longest: { workClass: WorkClass; owner: string; flow: readonly Waiting<Item>[] } | undefined;
    for (const workClass of ['narrowing', 'ordinary'] as const) {
      for (const [owner, flow] of this.#flows[workClass]) {
        const max = longest?.flow.length ?? lengthMin;
        if (owner !== systemOwner && flow.length > max) longest = { workClass, owner, flow };
      }
    }
    const newest = longest?.flow.at(-1);
    if (!longest || !newest) return false;
    this.#remove(longest.workClass, longest.owner, newest);
    newest.reject(tooMany());
    return true;
  }
}

export const tooMany = (): DomainError => new DomainError('too_many_in_progress', { retryAfterSeconds });
const full = (waitingMax: number): DomainError => unavailable(new Error(`${waitingMax} operations wait already`));

/** Bounds of the waiting writes of each driver. */
export const writesWaiting = ({ turnMsMax }: DatabaseWaits): FairQueueOptions => ({
  waitingMax: limits.writesWaitingMax,
  waitingPerOwnerMax: limits.writesWaitingPerOwnerMax,
  waitMsMax: turnMsMax,
});
