/** A software authenticator for WebAuthn: real CBOR, COSE keys and signatures, independent of the implementation under test. */
import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import type { AuthenticationResponse, CreationOptions, RegistrationResponse, RequestOptions } from '@keyreeve/contract';

export type PasskeyAlgorithm = 'ES256' | 'EdDSA' | 'RS256';

/** What a test changes in a response. */
export interface Deviations {
  readonly origin?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  readonly type?: string;
  readonly isUserPresent?: boolean;
  readonly isUserVerified?: boolean;
  readonly isCrossOrigin?: boolean;
  readonly counter?: number;
  /** Changes the signed bytes after the signature. */
  readonly isTampered?: boolean;
  /** The id that the client sends. */
  readonly id?: string;
  readonly userHandle?: string | null;
  /** Of the attestation. */
  readonly format?: string;
}

/** Members of every response that the server does not read. */
const unread = { authenticatorAttachment: 'platform', clientExtensionResults: { credProps: { rk: true } } };

const flags = { userPresent: 1, userVerified: 4, backupEligible: 8, backedUp: 16, credentialData: 64 } as const;

type Cbor = number | string | Buffer | ReadonlyMap<number | string, Cbor>;

/** The part of CBOR (RFC 8949) that WebAuthn needs. */
export function toCbor(value: Cbor): Buffer {
  if (typeof value === 'number') return value >= 0 ? head(0, value) : head(1, -1 - value);
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  const entries = [...value].flatMap(([key, item]) => [toCbor(key), toCbor(item)]);
  return Buffer.concat([head(5, value.size), ...entries]);
}

function head(major: number, value: number): Buffer {
  if (value < 24) return Buffer.of((major << 5) | value);
  if (value < 2 ** 8) return Buffer.of((major << 5) | 24, value);
  return Buffer.of((major << 5) | 25, value >> 8, value & 255);
}

const bytes = (text: string | undefined): Buffer => Buffer.from(text ?? '', 'base64url');
const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest();

function newKey(algorithm: PasskeyAlgorithm, modulusLength: number): { privateKey: KeyObject; cose: Buffer } {
  if (algorithm === 'ES256') {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const { x, y } = publicKey.export({ format: 'jwk' });
    return {
      privateKey,
      cose: toCbor(
        new Map<number, Cbor>([
          [1, 2],
          [3, -7],
          [-1, 1],
          [-2, bytes(x)],
          [-3, bytes(y)],
        ]),
      ),
    };
  }
  if (algorithm === 'EdDSA') {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const { x } = publicKey.export({ format: 'jwk' });
    return {
      privateKey,
      cose: toCbor(
        new Map<number, Cbor>([
          [1, 1],
          [3, -8],
          [-1, 6],
          [-2, bytes(x)],
        ]),
      ),
    };
  }
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength });
  const { n, e } = publicKey.export({ format: 'jwk' });
  return {
    privateKey,
    cose: toCbor(
      new Map<number, Cbor>([
        [1, 3],
        [3, -257],
        [-1, bytes(n)],
        [-2, bytes(e)],
      ]),
    ),
  };
}

export interface Sizes {
  readonly idBytes?: number;
  /** Of RS256. */
  readonly modulusBits?: number;
}

/** One passkey of one account. It has no counter unless a test sets one. */
export class SoftwarePasskey {
  readonly id: string;
  readonly origin: string;
  counter = 0;
  #userHandle = '';
  readonly #key: { privateKey: KeyObject; cose: Buffer };

  /** @param origin of the page that uses it */
  constructor(origin: string, algorithm: PasskeyAlgorithm = 'ES256', { idBytes = 32, modulusBits = 2048 }: Sizes = {}) {
    this.id = randomBytes(idBytes).toString('base64url');
    this.origin = origin;
    this.#key = newKey(algorithm, modulusBits);
  }

  /** `navigator.credentials.create()` */
  create(options: CreationOptions, deviations: Deviations = {}): RegistrationResponse {
    this.#userHandle = options.user.id;
    const id = Buffer.from(this.id, 'base64url');
    const credential = [Buffer.alloc(16), Buffer.of(id.length >> 8, id.length & 255), id, this.#key.cose];
    const authData = this.#authenticatorData(options.rp.id, deviations, Buffer.concat(credential));
    const attestation = new Map<string, Cbor>([
      ['fmt', deviations.format ?? 'none'],
      ['attStmt', new Map()],
      ['authData', authData],
    ]);
    const clientDataJSON = this.#clientData('webauthn.create', options.challenge, deviations).toString('base64url');
    const attestationObject = toCbor(attestation).toString('base64url');
    const sentId = deviations.id ?? this.id;
    return {
      id: sentId,
      rawId: sentId,
      type: 'public-key',
      ...unread,
      response: { clientDataJSON, attestationObject, transports: ['internal', 'hybrid', 'telepathy'] },
    };
  }

  /** `navigator.credentials.get()` */
  get(options: RequestOptions, deviations: Deviations = {}): AuthenticationResponse {
    const authData = this.#authenticatorData(options.rpId, deviations);
    const clientData = this.#clientData('webauthn.get', options.challenge, deviations);
    const signed = Buffer.concat([authData, sha256(clientData)]);
    const { privateKey } = this.#key;
    const algorithm = privateKey.asymmetricKeyType === 'ed25519' ? null : 'sha256';
    const signature = sign(algorithm, signed, privateKey);
    if (deviations.isTampered === true) authData.writeUInt32BE(authData.readUInt32BE(33) + 1, 33);
    const id = deviations.id ?? this.id;
    const { userHandle = this.#userHandle } = deviations;
    return {
      id,
      rawId: id,
      type: 'public-key',
      ...unread,
      response: {
        clientDataJSON: clientData.toString('base64url'),
        authenticatorData: authData.toString('base64url'),
        signature: signature.toString('base64url'),
        ...(userHandle === '' ? {} : { userHandle }),
      },
    };
  }

  #authenticatorData(rpId: string, deviations: Deviations, credential?: Buffer): Buffer {
    const { isUserPresent = true, isUserVerified = true, counter = this.counter } = deviations;
    const bits =
      (isUserPresent ? flags.userPresent : 0) |
      (isUserVerified ? flags.userVerified : 0) |
      flags.backupEligible |
      flags.backedUp |
      (credential ? flags.credentialData : 0);
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    return Buffer.concat([sha256(deviations.rpId ?? rpId), Buffer.of(bits), count, credential ?? Buffer.alloc(0)]);
  }

  #clientData(type: string, challenge: string, deviations: Deviations): Buffer {
    return Buffer.from(
      JSON.stringify({
        type: deviations.type ?? type,
        challenge: deviations.challenge ?? challenge,
        origin: deviations.origin ?? this.origin,
        crossOrigin: deviations.isCrossOrigin ?? false,
      }),
    );
  }
}
