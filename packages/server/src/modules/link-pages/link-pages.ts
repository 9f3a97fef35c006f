/**
 * The pages that links in mail open. A GET changes nothing, so a mail scanner may visit them. The one-time code is in the
 * URL's fragment, which browsers do not send; the page's script sends it when the user submits the form.
 */
import * as contract from '@keyreeve/contract';
import { linkPageTexts, type ExplainedError, type FormTexts, type LinkPage, type LinkPageTexts } from './texts.ts';
import type { BasePath } from '../../http/base-path.ts';
import { FixedContent } from '../../http/fixed-content.ts';
import { readTemplates, type Html, type Page } from '../../http/html.ts';
import { route, type Call, type Route } from '../../http/route.ts';
import type { Look } from '../look/look.ts';
import { readLookPage } from '../look/page.ts';
import { ownFile } from '../../foundation/own-files.ts';

export interface LinkPageOptions {
  readonly look: Look;
  /** URL of the sign-in page; undefined if there is none. */
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
  removeKeyPage: { code: { to: contract.removeMailedKey, fields: ['email'] } },
  acceptEmailPage: { code: { to: contract.acceptEmail, fields: ['email'] } },
  acceptInvitationPage: {
    code: { to: contract.acceptInvitation, fields: ['username', 'newPassword'] },
    noCode: { to: contract.resendVerification, fields: ['email'] },
  },
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

const templates = readTemplates(ownFile('modules/link-pages/link-page-form.html'), [
  'form',
  'code',
  'email',
  'username',
  'password',
  'newPassword',
  'revokeKeys',
]);

const routes: Readonly<Record<LinkPage, contract.RouteContract>> = contract;

export function linkPages(options: LinkPageOptions): readonly Route[] {
  const page = readLookPage('modules/link-pages/link-page.html', options.look, options.basePath);
  const pages = (Object.keys(forms) as LinkPage[]).flatMap((name) => {
    const bodies = Object.fromEntries(
      contract.languages.map((language) => [
        language,
        new FixedContent('text/html; charset=utf-8', pageOf(page, name, language, options)),
      ]),
    ) as Record<contract.Language, FixedContent>;
    const answer = ({ language = options.defaultLanguage, contentRequest }: Call) =>
      bodies[language].respond(contentRequest, {
        headers: ['Content-Language', language, 'Vary', 'Accept-Language'],
        policy: page.policy,
      });
    const { id, path } = routes[name];
    const rewritten = { ...routes[name], id: `${id}Rewritten`, path: '/account/*' };
    return [route(routes[name], answer), { ...route(rewritten, answer), covers: isRewritten(path) }];
  });
  const headers = ['Location', options.changePasswordUrl];
  return [...pages, route(contract.changePasswordPage, async () => ({ status: 303, headers }))];
}

/** Mail gateways encode the `#` of a link, also twice, or append a slash. The page's script finds the code in the path. */
const isRewritten =
  (pagePath: string) =>
  (path: string): boolean =>
    path.startsWith(pagePath) && /^\/?(?:%(?:25){0,4}23[\w%]*)?$/.test(path.slice(pagePath.length));

/** Depends only on the configuration and the language, not on the request. */
function pageOf(page: Page, name: LinkPage, language: contract.Language, options: LinkPageOptions): string {
  const texts = linkPageTexts[language];
  const { title, code, noCode, renewal } = texts.pages[name];
  const { code: codeForm, noCode: noCodeForm } = forms[name];
  return page.template({
    language,
    title,
    texts: JSON.stringify({ ...scriptTexts(texts, options), renewal }),
    forms: [
      ...(noCode && noCodeForm ? [formOf('no code', { ...noCodeForm, ...noCode }, texts, options)] : []),
      formOf('code', { ...codeForm, ...code }, texts, options),
    ],
    withoutScript: texts.withoutScript,
  }).text;
}

function scriptTexts(texts: LinkPageTexts, { look: { operator }, signInUrl }: LinkPageOptions) {
  const { sending, incomplete, unreachable, noKeys, liveKeys, errors } = texts;
  const { liveFactors, authenticator, passkey, recoveryCodes, removeFactors } = texts;
  const factors = { liveFactors, authenticator, passkey, recoveryCodes, removeFactors };
  const signIn = signInUrl === undefined ? {} : { signInUrl, signIn: texts.signIn(operator) };
  return { sending, incomplete, unreachable, noKeys, liveKeys, ...factors, errors, aboutInput, ...signIn };
}

function formOf(
  when: 'code' | 'no code',
  { to, fields, intro, button, done }: Form & FormTexts,
  { labels, passwordRule }: LinkPageTexts,
  { passwordLengthMin, basePath }: LinkPageOptions,
): Html {
  const rule = passwordRule(passwordLengthMin);
  const inputs = fields.map((field) => templates[field]({ label: labels[field], rule }));
  const code = when === 'code' ? [templates.code({ label: labels.code })] : [];
  return templates.form({ when, to: basePath.with(to.path), done, intro, code, fields: inputs, button });
}
