/** Failures of requests to a remote service: which of them leave the outcome of a change unknown, and what to do. */
import { KeyreeveError } from '@keyreeve/client/account';
import { errors, type ErrorCode } from '@keyreeve/contract';
import { DomainError, type FieldError } from '../../foundation/errors.ts';
import { withoutControls } from '../output.ts';

/** `unreachable`: nothing was changed. `outcome_unknown`: the change may be in effect. */
export type RemoteCode = 'unreachable' | 'outcome_unknown' | 'not_keyreeve' | 'not_signed_in' | 'session_file_rejected';

export class RemoteError extends Error {
  readonly code: RemoteCode;

  constructor(code: RemoteCode, message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.code = code;
  }
}

/** Codes of Node for requests that were not sent. */
const unsent =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|(?:ERR_TLS|CERT|DEPTH|SELF|UNABLE)_.*)$/;

/** Instead of the texts of the API, which name header fields. */
const ownTexts: Partial<Record<ErrorCode, (url: string) => string>> = {
  invalid_credentials: () => 'The email address or the password is wrong.',
  second_factor_invalid: () => 'The code of the second factor is wrong, expired or already used.',
  reauth_required: (url) =>
    `This change needs a sign-in within the last 5 minutes. Sign in again: keyreeve --url ${url} login you@example.com`,
};

/** @param isChange whether the request can have changed something @returns what the command reports */
export function failureOf(error: unknown, url: string, isChange: boolean): unknown {
  if (!(error instanceof KeyreeveError)) return error;
  const { status, problem } = error;
  if (status === 0) return ofNoResponse(error, url, isChange);
  const code = problem['code'];
  if (!isErrorCode(code)) return notKeyreeve(url, status, isChange);
  // The service answers these before a change and after a commit of unknown outcome.
  if (code === 'unavailable' || code === 'internal_error') {
    const found = code === 'unavailable' ? 'is unavailable' : 'had an internal error, which is in its log';
    return isChange ? outcomeUnknown(url, found) : new RemoteError('unreachable', `${url} ${found}`);
  }
  const own = ownTexts[code]?.(url);
  if (own !== undefined) return new DomainError(code, { detail: own });
  const detail = textOf(problem['detail']);
  return new DomainError(code, {
    ...(detail === undefined || detail === errors[code].meaning ? {} : { detail }),
    errors: fieldsOf(problem['errors']),
  });
}

/** @param status of a response with other content than Keyreeve's. After a success or a failure of the server, a change may be in effect. */
export function notKeyreeve(url: string, status: number, isChange: boolean): RemoteError {
  const isSuccess = status < 300;
  const isRedirect = !isSuccess && status < 400;
  const found = isRedirect
    ? `answered with a redirect (${status}), which this command does not follow`
    : `gave a response that is not one of this release of Keyreeve${isSuccess ? '' : ` (status ${status})`}`;
  if (isChange && (isSuccess || status >= 500)) return outcomeUnknown(url, found);
  return new RemoteError('not_keyreeve', `${url} ${found}; check the URL`);
}

function ofNoResponse({ cause }: KeyreeveError, url: string, isChange: boolean): RemoteError {
  const { code, reason } = causeOf(cause);
  if (isChange && !unsent.test(code)) return outcomeUnknown(url, `gave no response: ${reason}`);
  const remedy = /certificate|^(?:CERT|DEPTH|SELF|UNABLE)_/i.test(`${code} ${reason}`)
    ? '. For your own certificate authority, name its certificate in NODE_EXTRA_CA_CERTS'
    : '';
  return new RemoteError('unreachable', `${url} gave no response: ${reason}${remedy}`, { cause });
}

const outcomeUnknown = (url: string, what: string): RemoteError =>
  new RemoteError(
    'outcome_unknown',
    `${url} ${what}, so the change may be in effect; check, and repeat the command if it is not`,
  );

/** `fetch` wraps the error of the connection, which can be one for each IP address of a host. */
function causeOf(error: unknown): { readonly code: string; readonly reason: string } {
  if (error instanceof AggregateError) return causeOf(error.errors[0]);
  if (!(error instanceof Error)) return { code: '', reason: String(error) };
  if (error.cause instanceof Error) return causeOf(error.cause);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return { code, reason: error.message.includes(code) ? error.message : `${error.message} (${code})` };
}

const isErrorCode = (code: unknown): code is ErrorCode => typeof code === 'string' && Object.hasOwn(errors, code);

/** One line without control characters. */
const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? withoutControls(value).replaceAll('\n', ' ') : undefined;

const fieldsOf = (value: unknown): FieldError[] =>
  (Array.isArray(value) ? (value as readonly unknown[]) : []).flatMap((item) => {
    const { pointer, detail } = (item ?? {}) as { readonly pointer?: unknown; readonly detail?: unknown };
    const [where, text] = [textOf(pointer), textOf(detail)];
    return where === undefined || text === undefined ? [] : [{ pointer: where, detail: text }];
  });
