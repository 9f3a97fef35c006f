/** The client of a service: verifies the credentials of its callers. */
import { BatchSender } from './batch-sender.ts';
import { canBeCredential, questionOf, type VerifyOptions } from './question.ts';
import { OutageLog } from './outage-log.ts';
import { authorizationOf, type ServiceKey } from './service-key.ts';
import { serviceUrl } from './service-url.ts';
import { runtimeTimers, type Timers } from './timers.ts';
import type { Destination, Transport } from './transport.ts';
import { KeyreeveUnavailable } from './unavailable.ts';
import { userAgent } from './user-agent.ts';
import type { VerificationResult } from './verification-result.ts';

export interface KeyreeveOptions {
  /** Of Keyreeve, such as `https://auth.example.com`. */
  readonly url: string;
  /** An API key with the scope `keyreeve:verify`, or a function that returns the current one. It is called for each request. */
  readonly serviceKey?: ServiceKey | undefined;
  /** On Node, instead of `serviceKey`: a file with the key, which is read for each request. */
  readonly serviceKeyFile?: string | undefined;
  /** Allows `http:` to other hosts than loopback. The service key and all credentials are then sent unencrypted. */
  readonly allowPlainHttp?: boolean | undefined;
  /** On Node: certificates of authorities in PEM, instead of those of the runtime. */
  readonly ca?: string | readonly string[] | undefined;
  /** Sends the requests, for example through a proxy. Nothing is repeated then. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Called once per minute while verifications fail, with their number and the last reason. Default: `console.warn`. */
  readonly log?: ((message: string) => void) | undefined;
}

/** Verifies credentials. What guards need of {@link Client}. */
export interface Verifier {
  verify(credential: string, options?: VerifyOptions): Promise<VerificationResult>;
}

export class Client implements Verifier {
  readonly #sender: BatchSender;
  readonly #transport: Transport;
  readonly #outages: OutageLog;

  /** @throws TypeError if the URL or the service key is malformed, or the URL is plain HTTP to another host */
  constructor(options: KeyreeveOptions, open: (destination: Destination) => Transport, timers: Timers = runtimeTimers) {
    // oxlint-disable-next-line no-console -- the default of a library, which has no log of its own
    const { serviceKey = '', serviceKeyFile, ca, fetch, log = console.warn } = options;
    // `node.ts` replaces it by a function.
    if (serviceKeyFile !== undefined) throw new TypeError('serviceKeyFile: only Node without `serviceKey` accepts it');
    const authorization = authorizationOf('serviceKey', serviceKey);
    const headers = { ...userAgent(), 'Content-Type': 'application/json' };
    this.#transport = open({ url: serviceUrl(options, 'auth/verify/batch'), headers, ca, fetch });
    this.#sender = new BatchSender({ transport: this.#transport, timers, authorization });
    this.#outages = new OutageLog(log, timers);
  }

  /**
   * Verifies a credential with a question that the service receives after this call.
   * @returns the result; a refused credential is a result too
   * @throws KeyreeveUnavailable if the result is not known within 3 s: reject the credential
   * @throws TypeError for options that the service rejects
   * @throws the reason of the signal
   */
  async verify(credential: string, options: VerifyOptions = {}): Promise<VerificationResult> {
    const question = questionOf(credential, options);
    if (!canBeCredential(credential)) return { valid: false, code: 'malformed' };
    try {
      const result = await this.#sender.ask(question, options);
      this.#outages.flush();
      return result;
    } catch (error) {
      if (error instanceof KeyreeveUnavailable) this.#outages.failed(error);
      throw error;
    }
  }

  /** Ends idle connections. Verifications in flight continue, and the client can still be used. */
  close(): void {
    this.#transport.close();
  }
}
