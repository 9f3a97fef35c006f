/** Firebase Authentication: the file of `firebase auth:export --format=json`. */
import { LineRejectedError } from '../file-record.ts';
import { flagOf, objectsOf, present, textOf, type Convert } from './source.ts';

/** The password hash parameters of a project, as the console of Firebase shows them. */
export interface HashConfig {
  readonly signerKey: string;
  readonly saltSeparator: string;
  readonly rounds: number;
  readonly memCost: number;
}

/** @param text `hash_config { algorithm: SCRYPT, base64_signer_key: …, … }` @throws Error */
export function hashConfigOf(text: string): HashConfig {
  const valueOf = (name: string): string | undefined =>
    new RegExp(String.raw`\b${name}"?\s*:\s*"?([A-Za-z0-9+/=_-]+)`).exec(text)?.[1];
  const [signerKey, saltSeparator] = [valueOf('base64_signer_key'), valueOf('base64_salt_separator')];
  const [rounds, memCost] = [Number(valueOf('rounds')), Number(valueOf('mem_cost'))];
  if (signerKey === undefined || saltSeparator === undefined || !(rounds > 0) || !(memCost > 0))
    throw new Error('the hash config lacks base64_signer_key, base64_salt_separator, rounds or mem_cost');
  const algorithm = valueOf('algorithm') ?? 'SCRYPT';
  if (algorithm !== 'SCRYPT') throw new Error(`the algorithm of the hash config is ${algorithm}, not SCRYPT`);
  return { signerKey, saltSeparator, rounds, memCost };
}

export const firebase =
  (config: HashConfig | undefined): Convert =>
  (user, warn) => {
    const email = textOf(user['email']);
    if (email === undefined) throw new LineRejectedError('the user has no email address');
    if (objectsOf(user['mfaInfo']).length > 0)
      warn('the user has a second factor, whose secret the export does not have; the account has none here');
    return [
      present({
        oldId: textOf(user['localId']),
        email,
        passwordHash: hashOf(textOf(user['passwordHash']), textOf(user['salt']), config),
        verified: flagOf('emailVerified', user['emailVerified']),
        disabled: flagOf('disabled', user['disabled']),
        createdAt: user['createdAt'],
      }),
    ];
  };

/** In the form of Supabase's auth server, which includes the parameters of the project. */
function hashOf(
  hash: string | undefined,
  salt: string | undefined,
  config: HashConfig | undefined,
): string | undefined {
  if (hash === undefined) return undefined;
  if (config === undefined)
    throw new LineRejectedError('the user has a password: add --hash-config with the hash parameters of the project');
  const { memCost, rounds, saltSeparator, signerKey } = config;
  const parameters = `v=1,n=${memCost},r=${rounds},p=1,ss=${standard(saltSeparator)},sk=${standard(signerKey)}`;
  return `$fbscrypt$${parameters}$${standard(salt ?? '')}$${standard(hash)}`;
}

/** Base64url, which some exports have, as base64. */
const standard = (base64: string): string => base64.replaceAll('-', '+').replaceAll('_', '/');
