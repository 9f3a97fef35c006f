/** Commands of a POSIX shell that use a key. */
import { config } from '../../session-state.ts';

/** Between single quotes, only the single quote is special. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** @param word a secret, or a variable such as `$KEYREEVE_KEY` */
const bearer = (word: string): string =>
  word.startsWith('$') ? `-H "Authorization: Bearer ${word}"` : `-H ${quoted(`Authorization: Bearer ${word}`)}`;

/** A request to the operator's API. @returns undefined if the operator has configured none */
export function requestCommand(key: string): string | undefined {
  const { method, url } = config.value?.exampleRequest ?? {};
  if (method === undefined || url === undefined) return undefined;
  return `curl -i${method === 'GET' ? '' : ` -X ${method}`} ${quoted(url)} \\\n  ${bearer(key)}`;
}

/** A verification as a service sends it. @returns undefined if the public URL verifies nothing */
export function verifyCommand(serviceKey: string, key: string): string | undefined {
  const url = config.value?.verificationUrl;
  if (typeof url !== 'string') return undefined;
  const body = JSON.stringify({ credential: key });
  return [
    `curl -s ${url}/auth/verify`,
    bearer(serviceKey),
    `-H 'Content-Type: application/json'`,
    `-d ${key.startsWith('$') ? JSON.stringify(body) : quoted(body)}`,
  ].join(' \\\n  ');
}

/** Lists the service accounts that a management key manages. @returns undefined if the public URL is not known */
export function manageCommand(key: string): string | undefined {
  const url = config.value?.verificationUrl;
  return typeof url === 'string' ? `curl -s ${url}/auth/service-accounts \\\n  ${bearer(key)}` : undefined;
}
