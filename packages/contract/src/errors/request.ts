/** Errors of any request, whatever its route is. Part of the registry in ../errors.ts. */
import type { ErrorDefinition } from './definition.ts';
import { waitAndRetry } from './texts.ts';
import { limits } from '../limits.ts';

const grouped = (value: number): string => value.toLocaleString('en');
const size = (bytes: number): string => (bytes < 2 ** 20 ? `${bytes / 2 ** 10} KiB` : `${bytes / 2 ** 20} MiB`);
const seconds = (ms: number): number => ms / 1_000;

export const requestErrors = {
  invalid_request: {
    status: 400,
    title: 'The request is not valid',
    meaning:
      'A field is missing, unknown, of the wrong type or out of its bounds. `errors` names each place by a JSON pointer.',
    cause: 'A field of the body or a query parameter is missing, unknown, of the wrong type or out of its bounds.',
    fix: 'Correct each place that `errors` names by a JSON pointer. The bounds of each field are on the page /docs/api.',
  },
  malformed_json: {
    status: 400,
    title: 'The body is not valid JSON',
    meaning:
      'The body is not UTF-8 JSON, repeats a member name, is nested too deeply, or has a forbidden member name (`__proto__`).',
    cause: 'The body is not JSON in UTF-8, repeats a member name, is nested too deeply or has a forbidden member name.',
    fix: 'Create the body with a JSON library instead of concatenating strings, and send it in UTF-8.',
  },
  malformed_request: {
    status: 400,
    title: 'The request is not valid HTTP',
    meaning: 'The request line, a header line or the framing of the body violates HTTP. The connection is closed.',
    cause: 'The request line, a header or the framing of the body violates RFC 9110 or RFC 9112.',
    fix: 'Use an HTTP library. If you already do, check whether a proxy changes the request.',
  },
  not_found: {
    status: 404,
    title: 'Not found',
    meaning: 'No resource has this path.',
    cause: 'No resource has this path.',
    fix: 'Compare the path with the page /docs/api. A slash at the end makes a different path.',
  },
  method_not_allowed: {
    status: 405,
    title: 'This method is not allowed here',
    meaning: 'The Allow header of the response lists the methods of this path.',
    cause: 'The path exists, but not with this method.',
    fix: 'Use one of the methods that `detail` and the `Allow` header name.',
  },
  request_timeout: {
    status: 408,
    title: 'The request took too long to arrive',
    meaning: `Headers must arrive within ${seconds(limits.headersTimeoutMs)} seconds and the whole request within ${seconds(limits.requestTimeoutMs)}.`,
    cause: 'The headers or the body did not arrive in time.',
    fix: 'Send the request without pauses. If the network is slow, send it again.',
  },
  body_too_large: {
    status: 413,
    title: 'The body is too large',
    meaning: `A body has at most ${size(limits.bodyBytesMax)}; a verification batch at most ${size(limits.batchBodyBytesMax)}.`,
    cause: 'The body has more bytes than this path accepts.',
    fix: 'Send less, or split a batch.',
  },
  url_too_long: {
    status: 414,
    title: 'The URL is too long',
    meaning: `A request target has at most ${grouped(limits.urlCharsMax)} characters.`,
    cause: 'The request target is too long.',
    fix: 'Send data in the body instead of the query.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'The body’s content type is not supported',
    meaning:
      'Send `Content-Type: application/json` (for introspection `application/x-www-form-urlencoded`), without content encoding.',
    cause: 'The Content-Type is not the one that this path accepts, or the body has a content encoding.',
    fix: 'Send `Content-Type: application/json` (introspection: `application/x-www-form-urlencoded`), uncompressed.',
  },
  headers_too_large: {
    status: 431,
    title: 'The headers are too large',
    meaning: `All header lines together have at most ${size(limits.headerBytesMax)}, in at most ${limits.headerFieldsMax} fields.`,
    cause: 'The header fields have too many bytes, or there are too many of them.',
    fix: 'Remove header fields that the request does not need, often cookies.',
  },
  https_required: {
    status: 403,
    title: 'HTTPS is required',
    meaning: 'The proxy reports that the client used plain HTTP. Replace credentials that were sent that way.',
    cause: 'A trusted proxy reports that the client used plain HTTP.',
    fix: 'Use https, and replace the credentials that were sent unencrypted.',
  },
  too_many_requests: {
    status: 429,
    title: 'Too many requests of this kind',
    meaning:
      'Requests of this kind are counted: sign-ups, resets and other requests that send mail per email address and client IP range, reports of leaked secrets per client IP range, changes of the language and exports per account. Wait for the seconds in Retry-After.',
    cause:
      'Too many requests that send mail were made for this email address or from this client IP range, the client IP range reported leaked secrets too often, or the account changed its language too often.',
    fix: waitAndRetry,
  },
  too_many_in_progress: {
    status: 429,
    title: 'Too many requests in progress',
    meaning:
      'Too many requests of this token, account or client IP range are in progress. Nothing was changed. Wait for the seconds in Retry-After, and send fewer concurrent requests.',
    cause: 'Too many requests of this token, account or client IP range are in progress. Nothing was changed.',
    fix: `${waitAndRetry} Send fewer concurrent requests.`,
  },
  internal_error: {
    status: 500,
    title: 'Internal error',
    meaning: 'The log has the cause under this requestId. No change was made partially.',
    cause: 'An unexpected error occurred in the server.',
    fix: 'Give the operator the `requestId`: the log has the cause under it.',
  },
  unavailable: {
    status: 503,
    title: 'Keyreeve is unavailable',
    meaning:
      'The database cannot be reached, or the instance is stopping. Keyreeve has no cache to answer from. Wait for the seconds in Retry-After.',
    cause: 'The database cannot be reached, or the instance is stopping.',
    fix: `${waitAndRetry} A change may have been made: check before you repeat it.`,
  },
} as const satisfies Record<string, ErrorDefinition>;
