/**
 * Bounds the bytes of the raw bodies that clients without a credential are sending, together and for each client IP range. A
 * body counts until it was received: slow clients cannot hold more memory than this, however many connections they open, and
 * those of one range leave room for the others.
 */
import { limits } from '@keyreeve/contract';

export interface RawBodyBounds {
  readonly bytesMax: number;
  readonly bytesPerRangeMax: number;
}

/** The bytes of one body. */
export interface RawBody {
  /** @returns false if the body may not keep a chunk of so many bytes */
  readonly mayKeep: (bytes: number) => boolean;
  /** For the end of the body, whatever ends it. Not the event `close`: Node does not emit it for every broken body. */
  readonly release: () => void;
}

const defaultBounds: RawBodyBounds = {
  bytesMax: limits.rawBodyBytesMax,
  bytesPerRangeMax: limits.rawBodyBytesPerRangeMax,
};

export class RawBodies {
  readonly #bounds: RawBodyBounds;
  readonly #bytesOfRanges = new Map<string, number>();
  #bytes = 0;

  constructor(bounds = defaultBounds) {
    this.#bounds = bounds;
  }

  /** @param range of the client IP */
  begin(range: string): RawBody {
    const { bytesMax, bytesPerRangeMax } = this.#bounds;
    let own = 0;
    let isOpen = true;
    const release = (): void => {
      if (isOpen) this.#add(range, -own);
      isOpen = false;
    };
    const mayKeep = (bytes: number): boolean => {
      const isOver = this.#bytes + bytes > bytesMax || this.#bytesOf(range) + bytes > bytesPerRangeMax;
      if (!isOpen || isOver) return false;
      own += bytes;
      this.#add(range, bytes);
      return true;
    };
    return { mayKeep, release };
  }

  #bytesOf(range: string): number {
    return this.#bytesOfRanges.get(range) ?? 0;
  }

  #add(range: string, bytes: number): void {
    this.#bytes += bytes;
    const left = this.#bytesOf(range) + bytes;
    if (left > 0) this.#bytesOfRanges.set(range, left);
    else this.#bytesOfRanges.delete(range);
  }
}
