/** Splits a stream of PostgreSQL's protocol 3 into messages (https://www.postgresql.org/docs/current/protocol-message-formats.html). */

export interface Message {
  /** One letter; empty for the first message of a client, which has no type. */
  readonly type: string;
  /** Type, length and contents. */
  readonly bytes: Buffer;
}

const lengthBytes = 4;

/** Reads messages from chunks of any size, in one direction of a connection. */
export class MessageReader {
  #rest: Buffer = Buffer.alloc(0);
  #isStartup: boolean;

  /** @param hasStartup whether the first message in this direction has no type */
  constructor({ hasStartup }: { readonly hasStartup: boolean }) {
    this.#isStartup = hasStartup;
  }

  /** @returns the messages that are complete with this chunk */
  read(chunk: Buffer): Message[] {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const messages: Message[] = [];
    for (;;) {
      const typeBytes = this.#isStartup ? 0 : 1;
      if (this.#rest.length < typeBytes + lengthBytes) return messages;
      const bytes = typeBytes + this.#rest.readInt32BE(typeBytes);
      if (this.#rest.length < bytes) return messages;
      const type = this.#rest.toString('latin1', 0, typeBytes);
      messages.push({ type, bytes: this.#rest.subarray(0, bytes) });
      this.#rest = this.#rest.subarray(bytes);
      this.#isStartup = false;
    }
  }
}
