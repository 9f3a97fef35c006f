/**
 * HTTP routes of single sign-on. The callback is a page that the browser opens from the provider's site, so it has no session
 * cookie, and it is no part of the HTTP contract. Its failures are pages too.
 */
import Type from 'typebox';
import * as contract from '@keyreeve/contract';
import { DomainError } from '../../foundation/errors.ts';
import type { BasePath } from '../../http/base-path.ts';
import type { Page } from '../../http/html.ts';
import type { RouteResponse } from '../../http/response.ts';
import { route, type Call, type Route } from '../../http/route.ts';
import type { SessionCookie } from '../console/cookie.ts';
import { Refusal } from './refusal.ts';
import { resultTexts, type ResultReason } from './result-texts.ts';
import type { SingleSignOn } from './single-sign-on.ts';
import type { Look } from '../look/look.ts';
import { readLookPage } from '../look/page.ts';

export interface SingleSignOnRoutes {
  readonly singleSignOn: SingleSignOn;
  /** Of the session that starts. */
  readonly cookie: SessionCookie;
  readonly look: Look;
  /** Of the operator's mark, and of the page to which a person returns. */
  readonly basePath: BasePath;
  /** For a browser that prefers none of the supported languages. */
  readonly defaultLanguage: contract.Language;
  /** For the log. */
  readonly onFailed: (reason: ResultReason, error: unknown) => void;
}

/** Providers add parameters of their own. The authorization code works once, as a one-time code does. */
const finishSingleSignOn = {
  id: 'finishSingleSignOn',
  method: 'GET',
  path: contract.singleSignOnCallbackPath,
  tag: 'Console',
  summary: 'Return from the OpenID provider',
  auth: 'one_time_code',
  query: Type.Object({}),
  headers: Type.Object({ Cookie: Type.Optional(Type.String()) }),
  success: { status: 303, description: 'The session has started', headers: { Location: 'A page of the console' } },
  errors: [],
} as const satisfies contract.RouteContract;

const statuses: Readonly<Record<ResultReason, number>> = {
  expired: 400,
  rejected: 401,
  cancelled: 401,
  role_missing: 403,
  not_linked: 403,
  account_disabled: 403,
  account_unverified: 403,
  provider_unavailable: 503,
  unavailable: 503,
  too_many_attempts: 429,
};
const reasonsByCode: Partial<Record<contract.ErrorCode, ResultReason>> = {
  identity_provider_unavailable: 'provider_unavailable',
  too_many_attempts: 'too_many_attempts',
  unavailable: 'unavailable',
  account_unverified: 'account_unverified',
  // The account has changed meanwhile.
  invalid_credentials: 'rejected',
};

export function singleSignOnRoutes(options: SingleSignOnRoutes): readonly Route[] {
  const { singleSignOn, cookie } = options;
  const page = readLookPage('modules/single-sign-on/result-page.html', options.look, options.basePath);
  return [
    route(contract.startSingleSignOn, async ({ body, principal }) => {
      const { location, cookie: set } = await singleSignOn.start(body, principal).catch((error: unknown) => {
        options.onFailed('provider_unavailable', error);
        throw error;
      });
      return { status: 200, headers: ['Set-Cookie', set], body: { location } };
    }),
    route(finishSingleSignOn, async (call) => {
      const { clientIp, userAgent } = call;
      try {
        const { started, returnTo } = await singleSignOn.finish(
          call.query as Readonly<Record<string, string>>,
          call.header('Cookie'),
          {
            clientIp,
            userAgent,
          },
        );
        const cookies = ['Set-Cookie', cookie.set(started.text), 'Set-Cookie', singleSignOn.expiredCookie];
        return { status: 303, headers: [...cookies, 'Location', returnTo] };
      } catch (error) {
        return failed({ ...options, page }, call, error);
      }
    }),
    route(contract.endSessionsOfProvider, async ({ body }) => {
      await singleSignOn.endSessions(body.logout_token);
      return { status: 200 };
    }),
  ];
}

/** @throws unexpected errors */
function failed(
  { singleSignOn, page, basePath, defaultLanguage, onFailed }: SingleSignOnRoutes & { readonly page: Page },
  { language = defaultLanguage }: Pick<Call, 'language'>,
  error: unknown,
): RouteResponse {
  const reason = reasonOf(error);
  if (reason === undefined) throw error;
  onFailed(reason, error);
  const { back, reasons } = resultTexts[language];
  const { title, text } = reasons[reason];
  const signIn = basePath.with('/console/sign-in');
  const retry = error instanceof DomainError ? error.options.retryAfterSeconds : undefined;
  return {
    status: statuses[reason],
    contentType: 'text/html; charset=utf-8',
    headers: [
      'Content-Language',
      language,
      'Vary',
      'Accept-Language',
      'Set-Cookie',
      singleSignOn.expiredCookie,
      ...(retry === undefined ? [] : ['Retry-After', String(retry)]),
    ],
    policy: page.policy,
    body: page.template({ language, title, text, shown: shownOf(error), signIn, back }).text,
  };
}

/** @returns undefined for an unexpected error */
function reasonOf(error: unknown): ResultReason | undefined {
  if (error instanceof Refusal) return error.reason;
  return error instanceof DomainError ? reasonsByCode[error.code] : undefined;
}

/** Text of the provider may contain anything: it is shown as text, in printable characters, and shortened. */
function shownOf(error: unknown): string {
  if (!(error instanceof Refusal) || error.shown === '') return '';
  const text = error.shown.replaceAll(/\p{C}/gu, '').slice(0, contract.limits.subjectCharsMax);
  return error.reason === 'not_linked' ? `keyreeve account link-sso <email> ${argumentOf(text)}` : text;
}

/** A text that begins like an option follows the end of the options. */
const argumentOf = (text: string): string => (text.startsWith('-') ? `-- ${quoted(text)}` : quoted(text));

/** For a POSIX shell. */
const quoted = (text: string): string => (/^[\w@.:|-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);
