/** How PostgreSQL's protocol 3 is cut into messages (https://www.postgresql.org/docs/current/protocol-message-formats.html). */

export interface Message {
  /** One letter; empty for the first message of a client, which has none. */
  readonly type: string;
  /** All of it: type, length, contents. */
  readonly bytes: Buffer;
}

const lengthBytes = 4;

/** Makes messages of what arrives on one side of a connection, however it was cut on its way. */
export class MessageReader {
  #rest: Buffer = Buffer.alloc(0);
  #isStartup: boolean;

  /** @param hasStartup whether this side's first message is the one without a type */
  constructor({ hasStartup }: { readonly hasStartup: boolean }) {
    this.#isStartup = hasStartup;
  }

  /** @returns those that are complete now */
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
