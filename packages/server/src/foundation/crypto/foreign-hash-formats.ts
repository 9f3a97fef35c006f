/**
 * Parses password hashes of other systems: PHC strings, modular crypt formats, and those of common frameworks and products.
 * Each becomes a recipe and a digest. docs/import.md lists the formats.
 */
import type { ForeignFormat, ForeignHash } from './foreign-format.ts';
import { cryptFormats } from './foreign-formats-crypt.ts';
import { fastFormats } from './foreign-formats-fast.ts';
import { productFormats } from './foreign-formats-products.ts';
import { slowFormats } from './foreign-formats-slow.ts';
import { assertBounds, digestBlockBytes, ForeignHashError } from './foreign-hash.ts';
import { refusalOf } from './foreign-refusals.ts';

const textCharsMax = 4_096;

const formats: readonly ForeignFormat[] = [...slowFormats, ...cryptFormats, ...productFormats, ...fastFormats];

/** Marks of other systems before a hash in a known format: of Spring, LDAP directories, Dovecot and Nextcloud. */
const marks =
  /^(?:[123]\||\{(?:crypt|bcrypt|blf-crypt|argon2(?:id|i|d)?|argon2@SpringSecurity_v5_8|(?:md5|sha256|sha512)-crypt|ldap)\})/i;
/** Ory Kratos writes the names of crypt(3)'s schemes. */
const namesOfCrypt: Readonly<Record<string, string>> = { md5: '1', sha256: '5', sha512: '6' };

/** @throws ForeignHashError if the format is unknown or refused, or a sign-in with the hash would cost too much */
export function parseForeignHash(text: string): ForeignHash {
  if (text.length > textCharsMax) throw new ForeignHashError(`it is longer than ${textCharsMax} characters`);
  const bare = withoutMarks(text);
  for (const { pattern, read } of formats) {
    const [whole, ...parts] = pattern.exec(bare) ?? [];
    if (whole === undefined) continue;
    const { digest: bytes, ...rest } = read(parts);
    // The blocks of PBKDF2 are independent. The first one decides, and the others would cost the same again.
    const digest = rest.scheme.startsWith('pbkdf2-') ? bytes.subarray(0, digestBlockBytes(rest.scheme)) : bytes;
    const recipe = { ...rest, digestBytes: digest.length };
    assertBounds(recipe);
    return { recipe, digest };
  }
  throw new ForeignHashError(refusalOf(bare) ?? 'its format is not a known one');
}

function withoutMarks(text: string): string {
  const bare = text.replace(marks, '').replace(marks, '');
  return bare.replace(/^\$(md5|sha256|sha512)-crypt\$/, (_, name: string) => `$${namesOfCrypt[name] ?? ''}$`);
}
