/** A mail server that follows a script: it replies, stays silent or disconnects at the step that a test names. */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { OutgoingMail } from '../src/modules/mail/smtp.ts';

export const testMail: OutgoingMail = {
  id: 'msg_one',
  to: 'ada@example.com',
  subject: 'Confirm',
  text: 'Hello',
  html: '<p>Hello</p>',
  writtenAt: Date.UTC(2026, 10, 21, 9, 30),
};

/** `message` is the end of the message. */
export type SmtpStep = 'greeting' | 'EHLO' | 'STARTTLS' | 'AUTH' | 'MAIL' | 'RCPT' | 'DATA' | 'message';

export const silent = 'silent';
export const disconnect = 'disconnect';

const replies: Readonly<Record<SmtpStep, string>> = {
  greeting: '220 mail.example.com ESMTP',
  EHLO: '250 mail.example.com',
  STARTTLS: '502 5.5.1 not implemented',
  AUTH: '235 2.7.0 accepted',
  MAIL: '250 2.1.0 ok',
  RCPT: '250 2.1.5 ok',
  DATA: '354 go on',
  message: '250 2.0.0 kept',
};

/** Replies that differ: a text, {@link silent} or {@link disconnect}. */
export type SmtpScript = Partial<Readonly<Record<SmtpStep, string>>>;

interface Arrived {
  readonly steps: SmtpStep[];
  readonly commands: string[];
  readonly messages: string[];
}

export class ScriptedSmtp implements AsyncDisposable {
  readonly port: number;
  /** The steps of all connections, in order. */
  readonly steps: SmtpStep[];
  /** The commands as they arrived. */
  readonly commands: string[];
  /** The messages as they arrived, whether the server accepted them or not. */
  readonly messages: string[];
  readonly #server: Server;
  readonly #sockets: Set<Socket>;

  private constructor(server: Server, sockets: Set<Socket>, arrived: Arrived) {
    const address = server.address();
    this.port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    this.#server = server;
    this.#sockets = sockets;
    this.steps = arrived.steps;
    this.commands = arrived.commands;
    this.messages = arrived.messages;
  }

  static async start(script: SmtpScript = {}): Promise<ScriptedSmtp> {
    const sockets = new Set<Socket>();
    const arrived: Arrived = { steps: [], commands: [], messages: [] };
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      const reach = (step: SmtpStep): void => {
        arrived.steps.push(step);
        const reply = script[step] ?? replies[step];
        if (reply === disconnect) socket.destroy();
        else if (reply !== silent) socket.write(`${reply}\r\n`);
      };
      follow(socket, arrived, reach);
      reach('greeting');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new ScriptedSmtp(server, sockets, arrived);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

function follow(socket: Socket, { commands, messages }: Arrived, reach: (step: SmtpStep) => void): void {
  let pending = '';
  let isMessage = false;
  socket.setEncoding('latin1').on('data', (text: string) => {
    pending += text;
    for (;;) {
      const end = isMessage ? '\r\n.\r\n' : '\r\n';
      const length = pending.indexOf(end);
      if (length === -1) return;
      const line = pending.slice(0, length);
      pending = pending.slice(length + end.length);
      const step = isMessage ? 'message' : (line.split(/[ :]/, 1)[0] ?? '').toUpperCase();
      (isMessage ? messages : commands).push(line);
      isMessage = step === 'DATA';
      if (step in replies) reach(step as SmtpStep);
    }
  });
}
