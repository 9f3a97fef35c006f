/** HTTP as bytes: for requests that client libraries do not send, and for exact responses. */
import { connect } from 'node:net';
import { awaited } from './until.ts';

export interface RawAnswer {
  readonly status: number;
  /** Names in lower case; values in the order of their lines. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly body: string;
}

export interface RawExchange {
  readonly answers: readonly RawAnswer[];
  /** Whether the server closed the connection. */
  readonly isClosed: boolean;
}

/**
 * Sends bytes on a new connection.
 * @param until the number of responses to wait for, or `closed` to wait until the server closes the connection
 */
export async function exchange(
  url: string,
  bytes: string | Uint8Array,
  until: number | 'closed',
): Promise<RawExchange> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const answered = new Promise<RawExchange>((resolve, reject) => {
    let received = '';
    socket.on('error', reject);
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1');
      const answers = parseAnswers(received);
      if (typeof until === 'number' && answers.length >= until) resolve({ answers, isClosed: false });
    });
    socket.on('close', () => resolve({ answers: parseAnswers(received), isClosed: true }));
    socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  });
  try {
    const what = until === 'closed' ? 'the connection is closed' : `responses have arrived: ${until}`;
    return await awaited(what, answered);
  } finally {
    socket.destroy();
  }
}

/** Sends one request. @returns the response */
export async function ask(url: string, bytes: string | Uint8Array): Promise<RawAnswer> {
  const [answer] = (await exchange(url, bytes, 1)).answers;
  if (!answer) throw new Error('the connection was closed without an answer');
  return answer;
}

/** A request line and header lines as a request without a body. */
export const head = (...lines: readonly string[]): string => `${lines.join('\r\n')}\r\n\r\n`;

/** Parses complete responses. All have a Content-Length, except 1xx, 204, 304 and responses to HEAD. */
function parseAnswers(received: string): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = received;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return answers;
    const [statusLine = '', ...lines] = rest.slice(0, end).split('\r\n');
    const headers = Map.groupBy(lines, (line) => line.slice(0, line.indexOf(':')).toLowerCase());
    const values = new Map(
      [...headers].map(([name, of]) => [name, of.map((line) => line.slice(line.indexOf(':') + 1).trim())]),
    );
    const length = Number(values.get('content-length')?.[0] ?? 0);
    const body = rest.slice(end + 4, end + 4 + length);
    if (body.length < length) return answers;
    rest = rest.slice(end + 4 + length);
    answers.push({ status: Number(statusLine.split(' ')[1]), headers: values, body });
  }
}
