/** Draws of a verifier: the main process makes them. Without its response in time, the tokens count as drawn and are not spent. */
import { limits } from '@keyreeve/contract';
import { fromPlain } from '../../foundation/database/plain-error.ts';
import { unavailable } from '../../foundation/database/unavailable.ts';
import type { DrawRequest, DrawResult, Draws } from '../../modules/key-limits/draws.ts';
import type { Drawn, ToMain } from './messages.ts';

export class RemoteDraws implements Draws {
  readonly #send: (message: ToMain) => void;
  readonly #waiting = new Map<number, PromiseWithResolvers<DrawResult>>();
  /** Draws without a response in time. A main process that was stopped makes them later, and their tokens are lost. */
  readonly #late = new Set<number>();
  #lastId = 0;

  constructor(send: (message: ToMain) => void) {
    this.#send = send;
  }

  async draw(request: DrawRequest): Promise<DrawResult> {
    if (this.#late.size >= limits.drawsInProgressMax)
      throw unavailable(new Error('the main process responds to no draw'));
    const id = ++this.#lastId;
    const waiting = Promise.withResolvers<DrawResult>();
    this.#waiting.set(id, waiting);
    const timer = setTimeout(() => {
      this.#late.add(id);
      waiting.reject(unavailable(new Error('the main process has not responded to a draw'), true));
    }, limits.drawResponseMsMax);
    this.#send({ kind: 'draw', id, request });
    try {
      return await waiting.promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(id);
    }
  }

  /** A late response has no other effect than that further draws may be sent. */
  receive(drawn: Drawn): void {
    this.#late.delete(drawn.id);
    const waiting = this.#waiting.get(drawn.id);
    if ('result' in drawn) waiting?.resolve(drawn.result);
    else waiting?.reject(fromPlain(drawn.error));
  }
}
