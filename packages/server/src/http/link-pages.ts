/**
 * The small pages that links in mail open. They are the same for everybody and asking for them changes nothing, so a
 * mail scanner may visit them: the code stands in the fragment, which no browser sends, and goes out when the user asks
 * for it. They work without the console, load nothing, and run one script, which is named by its hash.
 */
import { createHash } from 'node:crypto';
import * as contract from '@keyreeve/contract';
import { style as pageStyle } from './pages.ts';
import { route, type Route } from './route.ts';

interface Field {
  readonly name: string;
  readonly label: string;
  readonly type: 'password' | 'email' | 'checkbox';
  readonly autocomplete?: string;
}

interface Form {
  /** Which of two forms is shown: the one that has a code to send, or the one for who came without. */
  readonly when: 'code' | 'no code';
  readonly text: string;
  readonly to: contract.RouteContract;
  readonly fields: readonly Field[];
  readonly button: string;
}

const email: Field = { name: 'email', label: 'Email', type: 'email', autocomplete: 'username' };
const password: Field = { name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' };
const newPassword: Field = {
  name: 'password',
  label: 'New password',
  type: 'password',
  autocomplete: 'new-password',
};

const pages: readonly { readonly at: contract.RouteContract; readonly title: string; readonly forms: Form[] }[] = [
  {
    at: contract.verifyEmailPage,
    title: 'Complete your sign-up',
    forms: [
      {
        when: 'code',
        text: 'Enter the password that you chose when you signed up. If you didn’t sign up, close this page: nothing happens.',
        to: contract.verifyAccount,
        fields: [password],
        button: 'Verify my email',
      },
      {
        when: 'no code',
        text: 'Enter your email to get the mail of your sign-up again.',
        to: contract.resendVerification,
        fields: [email],
        button: 'Send the mail again',
      },
    ],
  },
  {
    at: contract.resetPasswordPage,
    title: 'Set a new password',
    forms: [
      {
        when: 'code',
        text: 'The new password takes effect at once, and you are signed out everywhere. Your API keys go on working unless you say otherwise. A phrase of several unrelated words is a good password.',
        to: contract.confirmPasswordReset,
        fields: [newPassword, { name: 'revokeKeys', label: 'Also delete all my API keys', type: 'checkbox' }],
        button: 'Set the password',
      },
      {
        when: 'no code',
        text: 'Enter your email to get a link with which you can set a new password.',
        to: contract.requestPasswordReset,
        fields: [email],
        button: 'Send the mail',
      },
    ],
  },
  {
    at: contract.changeEmailPage,
    title: 'Confirm your new email',
    forms: [
      {
        when: 'code',
        text: 'Enter your account’s password. If you didn’t ask for this change, close this page: nothing happens.',
        to: contract.confirmEmailChange,
        fields: [password],
        button: 'Use this email',
      },
    ],
  },
  {
    at: contract.acceptInvitationPage,
    title: 'Accept your invitation',
    forms: [
      {
        when: 'code',
        text: 'Choose a password. A phrase of several unrelated words is a good one.',
        to: contract.acceptInvitation,
        fields: [newPassword],
        button: 'Set the password',
      },
    ],
  },
];

const style = `${pageStyle}
body { max-width: 30rem; } label { display: block; margin: 1rem 0; }
input:not([type=checkbox]) { display: block; width: 100%; box-sizing: border-box; font: inherit; padding: .5rem; margin-top: .3rem; }
input { border: 1px solid GrayText; border-radius: 6px; }
button { font: inherit; font-weight: 600; padding: .5rem 1.2rem; border: 0; border-radius: 6px; background: CanvasText; color: Canvas; }
button:disabled { opacity: .5; } [hidden] { display: none; }
[role=status]:not(:empty) { margin: 1rem 0; padding: .5rem .8rem; border-left: 4px solid #2a7; background: var(--soft); overflow-wrap: break-word; }
[role=status].failed { border-color: #d33; }
`;

/** What a server says is shown as text, never as markup. */
const script = `
'use strict';
let code = location.hash.slice(1);
history.replaceState(null, '', location.pathname);
const status = document.querySelector('[role=status]');
const forms = [...document.forms];
const withoutCode = forms.find((form) => form.dataset.when === 'no code');
const shown = code === '' ? withoutCode : forms.find((form) => form !== withoutCode);
if (shown) shown.hidden = false;
else fail('The link is not complete. Open it from the mail once more.');
for (const form of forms) form.addEventListener('submit', (event) => {
  event.preventDefault();
  void send(form);
});
async function send(form) {
  const button = form.querySelector('button');
  const body = code === '' ? {} : { code };
  for (const { name, type, checked, value } of form.querySelectorAll('input')) {
    if (type !== 'checkbox') body[name] = value;
    else if (checked) body[name] = true;
  }
  button.disabled = true;
  say('One moment …');
  try {
    const response = await fetch(form.dataset.to, {
      method: 'POST',
      credentials: 'omit',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const answer = await response.json();
    if (!response.ok) return refused(form, answer);
    form.remove();
    say(answer.message);
    if (answer.apiKeys) list(answer.apiKeys);
  } catch {
    fail('The service can’t be reached. Try again.');
  } finally {
    button.disabled = false;
  }
}
function refused(form, { code: reason, title, detail, errors = [] }) {
  if (reason === 'code_invalid') {
    // No password makes it good: what helps is another mail, so that is what the page offers.
    form.remove();
    code = '';
    if (withoutCode) withoutCode.hidden = false;
    return fail('This link is not good any more: it was used, has expired, or a newer one took its place.');
  }
  if (reason === 'invalid_credentials') return fail('The password is wrong.');
  fail([title + '.', detail, ...errors.map((error) => error.detail)].join(' '));
}
function say(text) {
  status.className = '';
  status.textContent = text;
}
function fail(text) {
  say(text);
  status.className = 'failed';
}
function list(keys) {
  const line = document.createElement('p');
  line.textContent = keys.length === 0 ? 'The account has no API keys.' : 'These API keys go on working:';
  const items = document.createElement('ul');
  for (const { nickname } of keys) items.appendChild(document.createElement('li')).textContent = nickname;
  status.append(line, items);
}
`;

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

export function linkPages(): readonly Route[] {
  return pages.map(({ at, title, forms }) => {
    const body = pageOf(title, forms);
    return route(at, async () => ({ status: 200, contentType: 'text/html; charset=utf-8', policy, body }));
  });
}

/** All of it is constant: nothing of a request is in it. */
function pageOf(title: string, forms: readonly Form[]): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title><style>${style}</style></head><body><main><h1>${title}</h1>
<div role="status" aria-live="polite"></div>
${forms.map(formOf).join('\n')}
<noscript><p>This page needs JavaScript: it sends what you enter when you ask for it, and does nothing else.</p></noscript></main><script>${script}</script></body></html>`;
}

function formOf({ when, text, to, fields, button }: Form): string {
  const labels = fields.map(({ name, label, type, autocomplete }) =>
    type === 'checkbox'
      ? `<label><input type="checkbox" name="${name}"> ${label}</label>`
      : `<label>${label} <input type="${type}" name="${name}" autocomplete="${autocomplete}" required></label>`,
  );
  return `<form data-when="${when}" data-to="${to.path}" hidden><p>${text}</p>${labels.join('')}<button>${button}</button></form>`;
}
