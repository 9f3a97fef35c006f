/**
 * One session with the mail server (RFC 5321): it opens a connection, waits for each reply as long as section 4.5.3.2 requires,
 * and sends one message. A port that expects another scheme is recognised.
 */
import { isIP, connect as connectTcp, type Socket } from 'node:net';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import type MimeNode from 'nodemailer/lib/mime-node';
import type SMTPConnection from 'nodemailer/lib/smtp-connection';
import { isPrivateAddress } from '../../foundation/ip-address.ts';
import { lazily } from '../../foundation/lazy-modules.ts';
import { PhaseLimit } from './phase-limit.ts';

export interface SmtpTarget {
  readonly host: string;
  readonly port: number;
  /** TLS from the start. */
  readonly isSecure: boolean;
  /** Only this machine can reach the host. */
  readonly isLocal: boolean;
  /** Whether a server with a private IP address needs no TLS. */
  readonly mayBePlain: boolean;
  /** The domain for EHLO. */
  readonly name: string;
}

export type SignIn = (connection: SMTPConnection) => Promise<void>;

export interface SendOptions {
  /**
   * Called before the end of the message is sent. After that, the server may have accepted the message although no reply arrives.
   * If it rejects, the message is not sent.
   */
  readonly beforeEnd?: (() => Promise<void>) | undefined;
  /** Bounds the whole session, in milliseconds. By default, only its parts are bounded. */
  readonly msMax?: number | undefined;
}

/** The reason why a session failed. */
export class SessionError extends Error {
  /** Whether the whole message was sent, so that the server may have accepted it. */
  readonly isHandedOver: boolean;

  constructor(cause: unknown, isHandedOver: boolean) {
    super('the session failed', { cause });
    this.isHandedOver = isHandedOver;
  }
}

/** A TLS handshake succeeds on the port of a URL that begins with `smtp://`. */
export class TlsPortError extends Error {}

const loadConnection = lazily(() => import('nodemailer/lib/smtp-connection'));

/** RFC 5321 section 4.5.3.2, in milliseconds. A phase with several replies has the sum of their limits. */
const limitsMs = {
  /** Name resolution, and TCP or TLS. */
  connection: 30_000,
  greeting: 300_000,
  /** EHLO, STARTTLS and EHLO. */
  start: 600_000,
  signIn: 300_000,
  /** MAIL, RCPT and DATA. */
  envelope: 720_000,
  /** One part of the message. */
  part: 180_000,
  /** The reply to the end of the message. */
  end: 600_000,
} as const;

/** A server that expects TLS from the start waits as well, so nothing arrives. */
const silenceBeforeProbeMs = 5_000;
/** An address of the host that does not respond costs this time. */
const addressMsMax = 2_000;
/** The library has limits of its own. */
const neverMs = 86_400_000;

/**
 * @returns the server's last reply
 * @throws SessionError
 */
export async function sendOverSession(
  target: SmtpTarget,
  message: MimeNode,
  signIn: SignIn | undefined,
  { beforeEnd, msMax }: SendOptions,
): Promise<string> {
  const { default: Connection } = await loadConnection();
  const phase = new PhaseLimit();
  const whole = new PhaseLimit();
  if (msMax !== undefined) whole.begin(msMax, 'the end of the session');
  phase.begin(limitsMs.connection, 'a connection');
  const socket = openSocket(target);
  let connection: SMTPConnection | undefined;
  let isHandedOver = false;
  const run = async (): Promise<string> => {
    await once(socket, target.isSecure ? 'secureConnect' : 'connect');
    phase.begin(limitsMs.greeting, 'the greeting');
    await untilGreeted(socket, target);
    phase.begin(limitsMs.start, 'the reply to EHLO or STARTTLS');
    const opened = (connection = new Connection(connectionOptions(target, socket)));
    const broken = new Promise<never>((_, reject) => void opened.on('error', reject));
    broken.catch(() => undefined);
    const step = <T>(begin: (done: (error?: Error | null, value?: T) => void) => void): Promise<T> =>
      Promise.race([broken, promised(begin)]);
    await step((done) => opened.connect(done));
    if (signIn && opened.allowsAuth) {
      phase.begin(limitsMs.signIn, 'the reply to the sign-in');
      await Promise.race([broken, signIn(opened)]);
    }
    phase.begin(limitsMs.envelope, 'the replies to sender, recipient and DATA');
    // Read only after the server has accepted DATA.
    const content = Readable.from(
      partsOf(message, phase, async () => {
        await beforeEnd?.();
        isHandedOver = true;
      }),
      { objectMode: false },
    );
    const { response } = await step<{ readonly response: string }>((done) =>
      opened.send(message.getEnvelope(), content, done),
    );
    return response;
  };
  try {
    return await Promise.race([run(), phase.exceeded, whole.exceeded]);
  } catch (error) {
    socket.destroy();
    throw new SessionError(error, isHandedOver);
  } finally {
    phase.end();
    whole.end();
    connection?.close();
  }
}

/** The message in parts, each within its limit. The library sends the final dot after the last one. */
async function* partsOf(
  message: MimeNode,
  phase: PhaseLimit,
  beforeEnd: () => Promise<void>,
): AsyncGenerator<Uint8Array | string> {
  for await (const part of message.createReadStream()) {
    phase.begin(limitsMs.part, 'the transfer of the message');
    yield part as Uint8Array;
  }
  await beforeEnd();
  phase.begin(limitsMs.end, 'the reply to the message');
}

function openSocket({ host, port, isSecure }: SmtpTarget): Socket {
  const address = { host, port, autoSelectFamilyAttemptTimeout: addressMsMax };
  const socket = isSecure
    ? // Explicit, because an environment variable of Node could disable the verification.
      connectTls({ ...address, ...nameOf(host), rejectUnauthorized: true, minVersion: 'TLSv1.2' })
    : connectTcp(address);
  // The steps report errors. One that comes between two steps must not end the process.
  return socket.on('error', () => undefined);
}

/** For SNI, which has no IP addresses (RFC 6066 section 3). */
const nameOf = (host: string): { readonly servername?: string } => (isIP(host) === 0 ? { servername: host } : {});

/** Resolves when the first bytes have arrived, which stay in the socket. */
async function untilGreeted(socket: Socket, target: SmtpTarget): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.once('readable', resolve);
  socket.once('error', reject);
  socket.once('close', () => reject(new Error('Connection closed unexpectedly')));
  const ended = new AbortController();
  const probe = async (): Promise<void> => {
    if (await speaksTls(target, ended.signal))
      reject(new TlsPortError('no greeting arrived, and the port accepts a TLS handshake'));
  };
  const timer = target.isSecure ? undefined : setTimeout(() => void probe(), silenceBeforeProbeMs);
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    ended.abort();
  }
}

/** Sends nothing after the handshake, so the certificate need not be verified. */
async function speaksTls({ host, port }: SmtpTarget, signal: AbortSignal): Promise<boolean> {
  const socket = connectTls({ host, port, ...nameOf(host), rejectUnauthorized: false });
  try {
    await once(socket, 'secureConnect', { signal });
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/**
 * STARTTLS is used wherever the server offers it. A connection to another machine requires it (RFC 8314), and a certificate that
 * is valid for the host. Within this machine, and on a private network whose operator accepts plain text, neither is required:
 * an attacker there could remove the offer.
 */
function connectionOptions(
  { host, port, isSecure, isLocal, mayBePlain, name }: SmtpTarget,
  socket: Socket,
): ConstructorParameters<typeof SMTPConnection>[0] {
  const isOptional = isLocal || (mayBePlain && isPrivateAddress(socket.remoteAddress ?? ''));
  return {
    host,
    port,
    connection: socket,
    secure: isSecure,
    secured: isSecure,
    requireTLS: !isSecure && !isOptional,
    opportunisticTLS: isOptional,
    tls: { rejectUnauthorized: !isOptional, minVersion: 'TLSv1.2' },
    // Without it, every mail would contain the name of this machine.
    name,
    connectionTimeout: neverMs,
    greetingTimeout: neverMs,
    socketTimeout: neverMs,
  };
}

const promised = <T>(begin: (done: (error?: Error | null, value?: T) => void) => void): Promise<T> =>
  new Promise((resolve, reject) => begin((error, value) => (error ? reject(error) : resolve(value as T))));
