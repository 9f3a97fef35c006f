/**
 * In which turn of the event loop requests start, and rejections are answered: by client IP range. A client chooses everything
 * else, such as the credential, which is not verified yet.
 *
 * A response that needs no wait lets its client send the next request while libuv still polls. If more than 1,024 sockets are
 * ready at once, libuv polls again, up to 48 times, before anything else runs: with 1,500 clients that send malformed keys, a
 * verification took 37 s. So all requests except verifications start in turn (`start-queue.ts`), and only a few rejections are
 * answered in the turn in which their request arrived. Every other response has waited for the database.
 */
import { limits } from '@keyreeve/contract';
import type { WorkClass } from '../foundation/database/share.ts';
import { ipRange } from '../foundation/ip-address.ts';
import type { ProxiedRequest } from './client-ip.ts';
import { StartQueue } from './start-queue.ts';

export class RequestTurns {
  readonly #clientIpOf: (request: ProxiedRequest) => string;
  readonly #starts = new StartQueue(limits.requestStartsPerTurnMax);
  readonly #rejections = new StartQueue(limits.rejectionsPerTurnMax);

  constructor(clientIpOf: (request: ProxiedRequest) => string) {
    this.#clientIpOf = clientIpOf;
  }

  /** The number of the current turn. */
  get now(): number {
    return this.#rejections.turn;
  }

  /** Resolves when a request other than a verification can start. @throws DomainError `unavailable` after waiting too long */
  wait(request: ProxiedRequest, workClass: WorkClass = 'ordinary'): Promise<void> {
    return this.#starts.wait({ workClass, owner: this.#rangeOf(request) });
  }

  /**
   * Calls `answer` at once, or in a later turn if many rejections were answered in this one.
   * @param arrived the turn in which the request arrived. A request that has waited since then does not wait again
   */
  reject(request: ProxiedRequest, arrived: number, answer: () => void): void {
    if (this.now !== arrived || this.#rejections.startsNow()) return answer();
    // Also after it has waited too long.
    this.#rejections.wait({ workClass: 'ordinary', owner: this.#rangeOf(request) }).then(answer, answer);
  }

  #rangeOf(request: ProxiedRequest): string {
    return ipRange(this.#clientIpOf(request));
  }
}
