/** Draws of a verifier: the main process makes them. Without its response in time, the tokens count as drawn and are not spent. */
import { limits } from '@keyreeve/contract';
import { fromPlain } from '../../foundation/database/plain-error.ts';
import { unavailable } from '../../foundation/database/unavailable.ts';
import type { DrawRequest, DrawResult, Draws } from '../../modules/key-limits/draws.ts';
import type { Drawn, ToMain } from './messages.ts';

export class RemoteDraws implements Draws {
  readonly #send: (message: ToMain) => void;
  readonly #waiting = new Map<number, PromiseWithResolvers<DrawResult>>();
  #lastId = 0;

  constructor(send: (message: ToMain) => void) {
    this.#send = send;
  }

  async draw(request: DrawRequest): Promise<DrawResult> {
    const id = ++this.#lastId;
    const waiting = Promise.withResolvers<DrawResult>();
    this.#waiting.set(id, waiting);
    const timer = setTimeout(
      () => waiting.reject(unavailable(new Error('the main process has not responded to a draw'), true)),
      limits.drawResponseMsMax,
    );
    this.#send({ kind: 'draw', id, request });
    try {
      return await waiting.promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(id);
    }
  }

  /** Ignores a late response. */
  receive(drawn: Drawn): void {
    const waiting = this.#waiting.get(drawn.id);
    if ('result' in drawn) waiting?.resolve(drawn.result);
    else waiting?.reject(fromPlain(drawn.error));
  }
}
