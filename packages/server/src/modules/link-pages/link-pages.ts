/**
 * The pages that links in mail open. A GET changes nothing, so a mail scanner may visit them. The one-time code is in the
 * URL's fragment, which browsers do not send; the page's script sends it when the user submits the form.
 */
import * as contract from '@keyreeve/contract';
import { linkPageTexts, type ExplainedError, type FormTexts, type LinkPage, type LinkPageTexts } from './texts.ts';
import type { BasePath } from '../../http/base-path.ts';
import { FixedContent } from '../../http/fixed-content.ts';
import { readPage, readTemplates, type Html } from '../../http/html.ts';
import { route, type Route } from '../../http/route.ts';

export interface LinkPageOptions {
  /** The operator's name. */
  readonly operator: string;
  /** URL of the sign-in page; undefined if none is configured. */
  readonly signInUrl: string | undefined;
  /** For a browser that prefers none of the supported languages. */
  readonly defaultLanguage: contract.Language;
  readonly basePath: BasePath;
  /** Minimum characters of a new password. */
  readonly passwordLengthMin: number;
  /** The page that changes the password: a URL, or a path of the service. */
  readonly changePasswordUrl: string;
}

type FieldName = 'email' | 'username' | 'password' | 'newPassword' | 'revokeKeys';

interface Form {
  readonly to: contract.RouteContract;
  readonly fields: readonly FieldName[];
}

// Each form of a code has an input that a mail scanner lacks: scanners run the script and press the button.
const forms: Readonly<Record<LinkPage, { readonly code: Form; readonly noCode?: Form }>> = {
  verifyEmailPage: {
    code: { to: contract.verifyAccount, fields: ['password'] },
    noCode: { to: contract.resendVerification, fields: ['email'] },
  },
  resetPasswordPage: {
    code: { to: contract.confirmPasswordReset, fields: ['username', 'newPassword', 'revokeKeys'] },
    noCode: { to: contract.requestPasswordReset, fields: ['email'] },
  },
  changeEmailPage: { code: { to: contract.confirmEmailChange, fields: ['password'] } },
  undoEmailChangePage: { code: { to: contract.undoEmailChange, fields: ['email', 'revokeKeys'] } },
  acceptEmailPage: { code: { to: contract.acceptEmail, fields: ['email'] } },
  acceptInvitationPage: { code: { to: contract.acceptInvitation, fields: ['username', 'newPassword'] } },
};

/** Errors that the user corrects in the form's first field. */
const aboutInput: readonly ExplainedError[] = [
  'invalid_credentials',
  'password_too_short',
  'password_too_long',
  'password_invalid',
  'password_context',
  'password_common',
  'email_invalid',
  'email_wrong',
];

const page = readPage(new URL('link-page.html', import.meta.url));
const templates = readTemplates(new URL('link-page-form.html', import.meta.url), [
  'form',
  'email',
  'username',
  'password',
  'newPassword',
  'revokeKeys',
]);

const routes: Readonly<Record<LinkPage, contract.RouteContract>> = contract;

export function linkPages(options: LinkPageOptions): readonly Route[] {
  const pages = (Object.keys(forms) as LinkPage[]).map((name) => {
    const bodies = Object.fromEntries(
      contract.languages.map((language) => [
        language,
        new FixedContent('text/html; charset=utf-8', pageOf(name, language, options)),
      ]),
    ) as Record<contract.Language, FixedContent>;
    return route(routes[name], ({ language = options.defaultLanguage, contentRequest }) =>
      bodies[language].respond(contentRequest, {
        headers: ['Content-Language', language, 'Vary', 'Accept-Language'],
        policy: page.policy,
      }),
    );
  });
  const headers = ['Location', options.changePasswordUrl];
  return [...pages, route(contract.changePasswordPage, async () => ({ status: 303, headers }))];
}

/** Depends only on the configuration and the language, not on the request. */
function pageOf(name: LinkPage, language: contract.Language, options: LinkPageOptions): string {
  const texts = linkPageTexts[language];
  const { title, code, noCode, renewal } = texts.pages[name];
  const { code: codeForm, noCode: noCodeForm } = forms[name];
  return page.template({
    language,
    title,
    operator: options.operator,
    texts: JSON.stringify({ ...scriptTexts(texts, options), renewal }),
    forms: [
      formOf('code', codeForm, code, texts, options),
      ...(noCode && noCodeForm ? [formOf('no code', noCodeForm, noCode, texts, options)] : []),
    ],
    withoutScript: texts.withoutScript,
  }).text;
}

function scriptTexts(texts: LinkPageTexts, { operator, signInUrl }: LinkPageOptions) {
  const { sending, incomplete, unreachable, noKeys, liveKeys, errors } = texts;
  const { liveFactors, authenticator, passkey, recoveryCodes, removeFactors } = texts;
  const factors = { liveFactors, authenticator, passkey, recoveryCodes, removeFactors };
  const signIn = signInUrl === undefined ? {} : { signInUrl, signIn: texts.signIn(operator) };
  return { sending, incomplete, unreachable, noKeys, liveKeys, ...factors, errors, aboutInput, ...signIn };
}

function formOf(
  when: 'code' | 'no code',
  { to, fields }: Form,
  { intro, button, done }: FormTexts,
  { labels, passwordRule }: LinkPageTexts,
  { passwordLengthMin, basePath }: LinkPageOptions,
): Html {
  const rule = passwordRule(passwordLengthMin);
  const inputs = fields.map((field) => templates[field]({ label: labels[field], rule }));
  return templates.form({ when, to: basePath.with(to.path), done, intro, fields: inputs, button });
}
