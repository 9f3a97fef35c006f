/** The client of a service: verifies the credentials of its callers. */
import { BatchSender } from './batch-sender.ts';
import { canBeCredential, questionOf, type VerifyOptions } from './question.ts';
import { serviceUrl } from './service-url.ts';
import type { Timers } from './timers.ts';
import type { Destination, Transport } from './transport.ts';
import { userAgent } from './user-agent.ts';
import type { VerificationResult } from './verification-result.ts';

export interface KeyreeveOptions {
  /** Of Keyreeve, such as `https://auth.example.com`. */
  readonly url: string;
  /** An API key with the scope `keyreeve:verify`. */
  readonly serviceKey: string;
  /** Allows `http:` to other hosts than loopback. The service key and all credentials are then sent unencrypted. */
  readonly allowPlainHttp?: boolean | undefined;
}

/** Verifies credentials. What guards need of {@link Client}. */
export interface Verifier {
  verify(credential: string, options?: VerifyOptions): Promise<VerificationResult>;
}

export class Client implements Verifier {
  readonly #sender: BatchSender;
  readonly #transport: Transport;

  /** @throws TypeError if the URL or the service key is malformed, or the URL is plain HTTP to another host */
  constructor(options: KeyreeveOptions, open: (destination: Destination) => Transport, timers: Timers = globalThis) {
    const { serviceKey } = options;
    if (!/^[\x21-\x2B\x2D-\x7E]+$/.test(serviceKey)) throw new TypeError('serviceKey: expected an API key');
    this.#transport = open({
      url: serviceUrl(options, 'auth/verify/batch'),
      headers: { ...userAgent(), Authorization: `Bearer ${serviceKey}`, 'Content-Type': 'application/json' },
    });
    this.#sender = new BatchSender(this.#transport, timers);
  }

  /**
   * Verifies a credential with a question that the service receives after this call.
   * @returns the result; a refused credential is a result too
   * @throws KeyreeveUnavailable if the result is not known within 3 s: reject the credential
   * @throws TypeError for options that the service rejects
   */
  async verify(credential: string, options: VerifyOptions = {}): Promise<VerificationResult> {
    const question = questionOf(credential, options);
    return canBeCredential(credential) ? this.#sender.ask(question) : { valid: false, code: 'malformed' };
  }

  /** Ends idle connections. Verifications in flight continue, and the client can still be used. */
  close(): void {
    this.#transport.close();
  }
}
