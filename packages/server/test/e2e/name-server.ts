/** A DNS server for tests of programs that resolve names again. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';

export interface NameServer extends AsyncDisposable {
  readonly port: number;
  /** Changes the only IPv4 address of every name. */
  pointTo(address: string): void;
}

/** The type of a record with an IPv4 address. */
const typeA = 1;

/** Answers every question for A with one address and the TTL 1 s, and every other question with no record (RFC 1035 section 4). */
export async function startNameServer(address: string): Promise<NameServer> {
  let current = address;
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address: from }) => {
    const end = query.indexOf(0, 12) + 5;
    const isForAddress = query.readUInt16BE(end - 4) === typeA;
    const head = Buffer.from(query.subarray(0, 12));
    // A response without an error; one question, perhaps one answer, no further records.
    head.writeUInt16BE(0x8180, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(isForAddress ? 1 : 0, 6);
    head.writeUInt32BE(0, 8);
    // The name of the question (a pointer to byte 12), A, IN, the TTL, 4 bytes.
    const answer = Buffer.from([0xc0, 12, 0, typeA, 0, 1, 0, 0, 0, 1, 0, 4, ...current.split('.').map(Number)]);
    socket.send(Buffer.concat([head, query.subarray(12, end), ...(isForAddress ? [answer] : [])]), port, from);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    port: socket.address().port,
    pointTo: (next) => void (current = next),
    [Symbol.asyncDispose]: async () => {
      socket.close();
      await once(socket, 'close');
    },
  };
}
