/**
 * The stored forms of password hashes. Keyreeve's own: a PHC string of Argon2id whose `keyid` names the pepper, and whose
 * `seen`, if it has one, names the part of the password that counts (`seen-password.ts`). An imported one:
 * `$imported$<scheme>$<parameters>,keyid=<pepper>$<salt>$<MAC of the digest>`.
 */
import { decodeParameters, encodeParameters, type ForeignKind, type ForeignRecipe } from './foreign-hash.ts';
import { seenForms, type SeenForm } from './seen-password.ts';

export interface Argon2Parameters {
  readonly memoryKib: number;
  readonly passes: number;
  readonly lanes: number;
}

export interface StoredHash {
  readonly parameters: Argon2Parameters;
  readonly pepperId: string;
  /** Undefined: the whole password in NFC. */
  readonly seen: SeenForm | undefined;
  readonly salt: Buffer;
  readonly tag: Buffer;
}

export type ImportedHash = ForeignRecipe & { readonly pepperId: string; readonly tag: Buffer };

const phcPattern = new RegExp(
  String.raw`^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2}),keyid=([A-Za-z0-9+/]{3,8})(?:,seen=(${seenForms.join('|')}))?` +
    String.raw`\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$`,
);
const importedPattern =
  /^\$imported\$([a-z0-9-]+)\$([a-z0-9=,]+),keyid=([A-Za-z0-9+/]{3,8})\$([A-Za-z0-9+/]*)\$([A-Za-z0-9+/]{43})$/;
const kindPattern = /^\$imported\$([a-z0-9-]+)\$([a-z0-9=,]+)$/;

export function encodeStored({ parameters, pepperId, seen, salt, tag }: StoredHash): string {
  const { memoryKib, passes, lanes } = parameters;
  const mark = seen === undefined ? '' : `,seen=${seen}`;
  const list = `m=${memoryKib},t=${passes},p=${lanes},keyid=${pepperId}${mark}`;
  return `$argon2id$v=19$${list}$${toBase64(salt)}$${toBase64(tag)}`;
}

/** @throws Error for another text */
export function decodeStored(text: string): StoredHash {
  const [, memoryKib, passes, lanes, pepperId, seen, salt, tag] = phcPattern.exec(text) ?? [];
  if (pepperId === undefined || salt === undefined || tag === undefined)
    throw new Error('a stored password hash has an unknown format');
  return {
    parameters: { memoryKib: Number(memoryKib), passes: Number(passes), lanes: Number(lanes) },
    pepperId,
    seen: seen as SeenForm | undefined,
    salt: Buffer.from(salt, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  };
}

export const isImported = (text: string): boolean => importedPattern.test(text);

export const encodeImported = (recipe: ForeignRecipe, pepperId: string, tag: Uint8Array): string =>
  `${encodeKind(recipe)},keyid=${pepperId}$${toBase64(recipe.salt)}$${toBase64(tag)}`;

/** @returns undefined if the hash was not imported @throws Error for a scheme that this version does not know */
export function decodeImported(text: string): ImportedHash | undefined {
  const [, scheme, parameters, pepperId, salt, tag] = importedPattern.exec(text) ?? [];
  if (scheme === undefined || parameters === undefined || pepperId === undefined) return undefined;
  if (salt === undefined || tag === undefined) return undefined;
  const kind = decodeParameters(scheme, parameters);
  return { ...kind, pepperId, salt: Buffer.from(salt, 'base64'), tag: Buffer.from(tag, 'base64') };
}

/** The part of an imported hash before `keyid`, as queries return it. */
export const encodeKind = (kind: ForeignKind): string => `$imported$${kind.scheme}$${encodeParameters(kind)}`;

/** @returns undefined for a kind that this version does not know */
export function decodeKind(text: string): ForeignKind | undefined {
  const [, scheme = '', parameters = ''] = kindPattern.exec(text) ?? [];
  try {
    return decodeParameters(scheme, parameters);
  } catch {
    return undefined;
  }
}

const toBase64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64').replaceAll('=', '');
