/**
 * The pages that links in mail open. A GET changes nothing, so a mail scanner may visit them: the code is in the fragment,
 * which no browser sends, and the script sends it when the person submits the form. The pages load nothing; their script
 * and style are named by their hashes.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as contract from '@keyreeve/contract';
import { linkPageTexts, type ExplainedError, type FormTexts, type LinkPage, type LinkPageTexts } from './texts.ts';
import { route, type Route } from '../../http/route.ts';

export interface LinkPageOptions {
  /** The operator's name. */
  readonly operator: string;
  /** Where a person signs in; undefined where the operator has configured no page. */
  readonly signInUrl: string | undefined;
  /** For a browser that prefers none of ours. */
  readonly defaultLanguage: contract.Language;
  /** Characters of a new password. */
  readonly passwordLengthMin: number;
}

type FieldName = 'email' | 'password' | 'newPassword' | 'revokeKeys';

interface Form {
  readonly to: contract.RouteContract;
  readonly fields: readonly FieldName[];
}

const forms: Readonly<Record<LinkPage, { readonly code: Form; readonly noCode?: Form }>> = {
  verifyEmailPage: {
    code: { to: contract.verifyAccount, fields: ['password'] },
    noCode: { to: contract.resendVerification, fields: ['email'] },
  },
  resetPasswordPage: {
    code: { to: contract.confirmPasswordReset, fields: ['newPassword', 'revokeKeys'] },
    noCode: { to: contract.requestPasswordReset, fields: ['email'] },
  },
  changeEmailPage: { code: { to: contract.confirmEmailChange, fields: ['password'] } },
  undoEmailChangePage: { code: { to: contract.undoEmailChange, fields: ['revokeKeys'] } },
  acceptEmailPage: { code: { to: contract.acceptEmail, fields: [] } },
  acceptInvitationPage: { code: { to: contract.acceptInvitation, fields: ['newPassword'] } },
};

/** Errors that the person corrects in the form's first field. */
const aboutInput: readonly ExplainedError[] = [
  'invalid_credentials',
  'password_too_short',
  'password_too_long',
  'password_invalid',
  'password_context',
  'password_common',
  'email_invalid',
];

const read = (file: string): string => readFileSync(new URL(file, import.meta.url), 'utf8');
const style = read('./link-page.css');
const script = read('./link-page.js');
const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

const policy = [
  "default-src 'none'",
  `style-src ${hashOf(style)}`,
  `script-src ${hashOf(script)}`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const routes: Readonly<Record<LinkPage, contract.RouteContract>> = contract;

export function linkPages(options: LinkPageOptions): readonly Route[] {
  return (Object.keys(forms) as LinkPage[]).map((page) => {
    const bodies = Object.fromEntries(
      contract.languages.map((language) => [language, pageOf(page, language, options)]),
    ) as Record<contract.Language, string>;
    return route(routes[page], async ({ language = options.defaultLanguage }) => ({
      status: 200,
      contentType: 'text/html; charset=utf-8',
      headers: ['Content-Language', language, 'Vary', 'Accept-Language'],
      policy,
      body: bodies[language],
    }));
  });
}

/** Constant for each language: nothing of a request is in it. */
function pageOf(page: LinkPage, language: contract.Language, options: LinkPageOptions): string {
  const texts = linkPageTexts[language];
  const { title, code, noCode, renewal } = texts.pages[page];
  const { code: codeForm, noCode: noCodeForm } = forms[page];
  const operator = escapeHtml(options.operator);
  return `<!doctype html><html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)} – ${operator}</title><style>${style}</style></head><body><main data-texts="${escapeHtml(JSON.stringify({ ...scriptTexts(texts, options), renewal }))}"><p class="operator">${operator}</p><h1>${escapeHtml(title)}</h1>
<div role="status" aria-live="polite" tabindex="-1"></div>
${formOf('code', codeForm, code, texts, options)}
${noCode && noCodeForm ? formOf('no code', noCodeForm, noCode, texts, options) : ''}
<noscript><p>${escapeHtml(texts.withoutScript)}</p></noscript></main><script>${script}</script></body></html>`;
}

function scriptTexts(texts: LinkPageTexts, { operator, signInUrl }: LinkPageOptions) {
  const { sending, incomplete, unreachable, noKeys, liveKeys, errors } = texts;
  const signIn = signInUrl === undefined ? {} : { signInUrl, signIn: texts.signIn(operator) };
  return { sending, incomplete, unreachable, noKeys, liveKeys, errors, aboutInput, ...signIn };
}

function formOf(
  when: 'code' | 'no code',
  { to, fields }: Form,
  { intro, button, done }: FormTexts,
  texts: LinkPageTexts,
  options: LinkPageOptions,
): string {
  const inputs = fields.map((field) => inputOf(field, texts, options));
  return `<form data-when="${when}" data-to="${to.path}" data-done="${escapeHtml(done)}" hidden><p>${escapeHtml(intro)}</p>${inputs.join('')}<button>${escapeHtml(button)}</button></form>`;
}

function inputOf(field: FieldName, { labels, passwordRule }: LinkPageTexts, options: LinkPageOptions): string {
  const label = escapeHtml(labels[field]);
  switch (field) {
    case 'email':
      return `<label>${label} <input type="email" name="email" autocomplete="username" required></label>`;
    case 'password':
      return `<label>${label} <input type="password" name="password" autocomplete="current-password" required></label>`;
    case 'newPassword':
      return `<label>${label} <input type="password" name="password" autocomplete="new-password" aria-describedby="rule" required></label><p class="rule" id="rule">${escapeHtml(passwordRule(options.passwordLengthMin))}</p>`;
    case 'revokeKeys':
      return `<label><input type="checkbox" name="revokeKeys"> ${label}</label>`;
  }
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeHtml = (text: string): string => text.replaceAll(/[&<>"]/g, (character) => entities[character] ?? '');
