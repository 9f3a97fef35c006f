/** Batches over `node:http` and `node:https`, on connections that stay open. */
import * as http from 'node:http';
import * as https from 'node:https';
import type { Socket } from 'node:net';
import {
  Unanswered,
  type Answer,
  type BatchRequest,
  type Canceller,
  type Destination,
  type Transport,
} from './transport.ts';

/** Shorter than the 65 s of the service and the 60 s of common load balancers. */
const idleMs = 30_000;
/** 256 results with the longest metadata, scopes and nicknames have less than half of it. */
const answerCharsMax = 4_194_304;

export function openNodeTransport({ url, headers, ca }: Destination): Transport {
  const { Agent, request } = url.protocol === 'https:' ? https : http;
  const agent = new Agent({ keepAlive: true, timeout: idleMs });
  // Read from the URL once.
  const { protocol, hostname, port, pathname: path } = url;
  // A URL has an IPv6 address in brackets; the option has none.
  const host = { hostname: hostname.replaceAll(/^\[|\]$/g, ''), ...(ca !== undefined && { ca: [ca].flat() }) };
  const target = { protocol, ...host, port, path, method: 'POST' };
  const send = ({ body, authorization, isRepeated }: BatchRequest, canceller: Canceller): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const more = { Authorization: authorization, 'Content-Length': Buffer.byteLength(body) };
      const connection = isRepeated ? { agent: false } : { agent };
      const sent = request({ ...target, ...connection, headers: { ...headers, ...more } });
      canceller.cancel = () => sent.destroy(new Error('no caller waits for the result'));
      let socket: Socket | undefined;
      let bytesBefore = 0;
      sent.on('socket', (used) => {
        socket = used;
        bytesBefore = used.bytesRead;
      });
      sent.on('error', (error) => {
        const isUnanswered = socket === undefined || socket.bytesRead === bytesBefore;
        reject(isUnanswered ? new Unanswered(error) : error);
      });
      sent.on('response', (response) => {
        readAnswer(response).then(resolve, (error: Error) => {
          sent.destroy();
          reject(error);
        });
      });
      sent.end(body);
    });
  return { send, soon: (run) => void setImmediate(run), close: () => closeIdle(agent) };
}

/** `agent.destroy()` also ends requests in flight. */
function closeIdle({ freeSockets }: http.Agent): void {
  for (const sockets of Object.values(freeSockets)) for (const socket of sockets ?? []) socket.destroy();
}

/** @throws Error if the response ends early or is too long */
function readAnswer(response: http.IncomingMessage): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let text = '';
    response.setEncoding('utf8');
    response.on('data', (part: string) => {
      text += part;
      if (text.length > answerCharsMax) reject(new Error('the response is too long'));
    });
    response.on('end', () =>
      resolve({ status: response.statusCode ?? 0, text, retryAfter: response.headers['retry-after'] }),
    );
    response.on('error', reject);
    response.on('close', () => reject(new Error('the response ended early')));
  });
}
