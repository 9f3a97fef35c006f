/**
 * A flood: many connections that repeat requests without pause, each request with another client IP. It runs as a separate
 * process and prints one JSON line with the number of responses by status.
 */
import { connect, type Socket } from 'node:net';

export interface FloodOptions {
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
  /** The requests as text. Each use replaces `clientIpPlaceholder` by another client IP. */
  readonly requests: readonly string[];
}

const clientIpPlaceholder = '@client-ip@';
const octets = 256;
const { port, connections, seconds, requests } = JSON.parse(process.argv[2] ?? '{}') as FloodOptions;
const statuses: Record<string, number> = {};
let isOver = false;
let sent = 0;

const count = (what: string): void => void (statuses[what] = (statuses[what] ?? 0) + 1);

/** @returns an IP address in 10.0.0.0/8 */
const clientIp = (number: number): string =>
  `10.${(number >> 16) % octets}.${(number >> 8) % octets}.${number % octets}`;

function send(socket: Socket): void {
  const request = requests[sent % requests.length] ?? '';
  socket.write(request.replace(clientIpPlaceholder, clientIp(++sent)));
}

function run(): Promise<void> {
  return new Promise((resolve) => {
    let received = '';
    const socket = connect(port, '127.0.0.1');
    const end = (): void => {
      socket.destroy();
      resolve();
    };
    socket.on('connect', () => send(socket));
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1');
      const headEnd = received.indexOf('\r\n\r\n');
      if (headEnd < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(received.slice(0, headEnd))?.[1] ?? 0);
      if (received.length < headEnd + 4 + length) return;
      count(received.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length));
      received = '';
      if (!isOver) send(socket);
    });
    socket.on('error', () => count('connection failed'));
    socket.on('close', () => (isOver ? end() : void run().then(resolve)));
    ends.push(end);
  });
}

const ends: (() => void)[] = [];
const running = Array.from({ length: connections }, run);
setTimeout(() => {
  isOver = true;
  for (const end of ends) end();
}, seconds * 1_000);
await Promise.all(running);
console.log(JSON.stringify(statuses));
process.exit(0);
