/** A password file of Apache and nginx: `name:hash` in each line. */
import { limits } from '@keyreeve/contract';
import { decode } from '../decoded.ts';
import { LineRejectedError, type FileObject } from '../file-record.ts';
import { importLinesOf } from '../lines.ts';
import type { Records } from '../records.ts';

/** @param emailDomain of names that are no email addresses */
export const htpasswd = (emailDomain: string | undefined): Records =>
  async function* (source) {
    for await (const { number: line, bytes } of importLinesOf(decode(source))) {
      const text = bytes?.toString('utf8').trim();
      if (text?.startsWith('#') === true) continue;
      yield { line, object: objectOf(text, emailDomain) };
    }
  };

function objectOf(text: string | undefined, emailDomain: string | undefined): FileObject | LineRejectedError {
  if (text === undefined) return new LineRejectedError(`it is longer than ${limits.importLineBytesMax} bytes`);
  const [name = '', hash] = text.split(':', 2);
  if (name === '' || hash === undefined)
    return new LineRejectedError('it is not a name and a hash with a colon between them');
  if (name.includes('@')) return { oldId: name, email: name, passwordHash: hash };
  if (emailDomain === undefined)
    return new LineRejectedError('the name is not an email address; add --email-domain to append a domain');
  return { oldId: name, email: `${name}@${emailDomain}`, passwordHash: hash };
}
