/*
 * The script of the pages that links in mail open. It takes the one-time code out of the URL, sends it when the user
 * submits the form, and shows the result as text. The texts are in the page, in its language.
 */
'use strict';

/**
 * @typedef {object} Texts
 * @property {string} sending
 * @property {string} unreachable
 * @property {string} incomplete
 * @property {string} noKeys
 * @property {string} liveKeys
 * @property {string} liveFactors
 * @property {string} authenticator
 * @property {string} passkey
 * @property {string} recoveryCodes
 * @property {string} removeFactors
 * @property {string} signIn
 * @property {string} [signInUrl]
 * @property {string} [renewal]
 * @property {Readonly<Record<string, string>>} errors by problem code
 * @property {readonly string[]} aboutInput problem codes
 *
 * @typedef {readonly { nickname: string }[]} Keys
 * @typedef {{ authenticator: boolean, passkeys: readonly { name: string }[], recoveryCodes: number }} Factors
 */

/** @type {Texts} */
const texts = JSON.parse(String(document.querySelector('main')?.dataset.texts));
const statusElement = /** @type {HTMLElement} */ (document.querySelector('[role=status]'));
const forms = [...document.forms];
const formWithoutCode = forms.find((form) => form.dataset.when === 'no code');

const formWithCode = /** @type {HTMLFormElement} */ (forms.find((form) => form !== formWithoutCode));
const codePattern = /krvc_[0-9A-Za-z]{49}/;

// Mail gateways encode the number sign, so the code is in the path, or remove the fragment: then the user enters the code.
let code =
  location.hash.slice(1) || codePattern.exec(location.pathname)?.[0] || codePattern.exec(location.search)?.[0] || '';
// Removes the code from the address bar and from the browser's history.
const [path = ''] = location.pathname.split('%', 1);
history.replaceState(null, '', path.replace(/\/$/, ''));
// A link that is pasted into the tab of an earlier one changes only the fragment.
addEventListener('hashchange', () => {
  if (location.hash !== '') location.reload();
});

formWithCode.hidden = false;
if (code === '') {
  /** @type {HTMLElement} */ (formWithCode.querySelector('.code')).hidden = false;
  if (formWithoutCode) formWithoutCode.hidden = false;
  else showError(texts.incomplete);
}

for (const form of forms) {
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void send(form);
  });
}

/** @param {HTMLFormElement} form */
async function send(form) {
  const button = /** @type {HTMLButtonElement} */ (form.querySelector('button'));
  // `disabled` would remove the focus from the button.
  if (button.getAttribute('aria-disabled') === 'true') return;
  button.setAttribute('aria-disabled', 'true');
  for (const input of form.querySelectorAll('input')) input.removeAttribute('aria-invalid');
  showStatus(texts.sending);
  try {
    const response = await fetch(String(form.dataset.to), {
      method: 'POST',
      credentials: 'omit',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(bodyOf(form)),
    });
    const body = await response.json();
    if (response.ok) showSuccess(form, body);
    else showProblem(form, body);
  } catch {
    showError(texts.unreachable);
  } finally {
    button.removeAttribute('aria-disabled');
  }
}

/** @param {HTMLFormElement} form */
function bodyOf(form) {
  /** @type {Record<string, string | boolean>} */
  const body = {};
  for (const { name, type, checked, value } of form.querySelectorAll('input')) {
    if (name === '') continue;
    if (name === 'code') body[name] = code || codeIn(value);
    else if (type !== 'checkbox') body[name] = value;
    else if (checked) body[name] = true;
  }
  return body;
}

/** The user may enter the code or the whole link. @param {string} text */
const codeIn = (text) => codePattern.exec(text)?.[0] ?? text.trim();

/** @param {HTMLFormElement} form @param {{ apiKeys?: Keys, secondFactors?: Factors }} body */
function showSuccess(form, { apiKeys, secondFactors }) {
  form.remove();
  if (form === formWithCode && formWithoutCode) formWithoutCode.hidden = true;
  showStatus(form.dataset.done ?? '');
  if (apiKeys) appendKeys(apiKeys);
  if (secondFactors) appendFactors(secondFactors);
  if (form.dataset.when === 'code') appendSignInLink();
  statusElement.focus();
}

/** @param {HTMLFormElement} form @param {{ code: string, title: string, detail: string }} body */
function showProblem(form, { code: problem, title, detail }) {
  if (problem === 'code_invalid' && code === '') {
    // The user has entered it, and can correct it.
    showError(texts.errors.code_invalid ?? title);
    focusOn(form.querySelector('input[name=code]'));
    return;
  }
  if (problem === 'code_invalid') {
    // No input makes the code valid: the page offers another mail, or states how to get one.
    form.remove();
    code = '';
    if (formWithoutCode) formWithoutCode.hidden = false;
    showError([texts.errors.code_invalid, texts.renewal].filter(Boolean).join(' '));
    if (!formWithoutCode) appendSignInLink();
    return;
  }
  const text = texts.errors[problem];
  showError(text ?? `${title}. ${detail}`);
  if (text && texts.aboutInput.includes(problem)) focusOn(form.querySelector('input[name]:not([name=code])'));
}

/** @param {HTMLInputElement | null} input that the user corrects */
function focusOn(input) {
  input?.setAttribute('aria-invalid', 'true');
  input?.focus();
}

/** @param {string} text */
function showStatus(text) {
  statusElement.className = '';
  statusElement.textContent = text;
}

/** The focus moves to the error, so that a screen reader reads it (WCAG 2.2, 3.3.1). @param {string} text */
function showError(text) {
  showStatus(text);
  statusElement.className = 'failed';
  statusElement.focus();
}

/** @param {Keys} keys */
function appendKeys(keys) {
  const names = keys.map(({ nickname }) => nickname);
  appendList(names.length === 0 ? texts.noKeys : texts.liveKeys, names);
}

/** Appends nothing if the account has no second factor. @param {Factors} factors */
function appendFactors({ authenticator, passkeys, recoveryCodes }) {
  const names = [
    ...(authenticator ? [texts.authenticator] : []),
    ...passkeys.map(({ name }) => `${texts.passkey} “${name}”`),
    ...(recoveryCodes > 0 ? [`${texts.recoveryCodes}: ${recoveryCodes}`] : []),
  ];
  if (names.length === 0) return;
  appendList(texts.liveFactors, names);
  appendLine(texts.removeFactors);
}

/** @param {string} title @param {readonly string[]} names */
function appendList(title, names) {
  appendLine(title);
  const items = document.createElement('ul');
  for (const name of names) items.appendChild(document.createElement('li')).textContent = name;
  statusElement.append(items);
}

/** @param {string} text */
function appendLine(text) {
  const line = document.createElement('p');
  line.textContent = text;
  statusElement.append(line);
}

/** Appends nothing without a sign-in page: the console can be off. */
function appendSignInLink() {
  if (!texts.signInUrl) return;
  const link = document.createElement('a');
  link.className = 'button';
  link.href = texts.signInUrl;
  link.textContent = texts.signIn;
  const line = document.createElement('p');
  line.append(link);
  statusElement.append(line);
}
