/*
 * The script of the pages that links in mail open. It takes the one-time code out of the URL, sends it when the person
 * submits the form, and shows the result as text. The texts are in the page, in its language.
 */
'use strict';

const texts = JSON.parse(document.querySelector('main').dataset.texts);
const status = document.querySelector('[role=status]');
const forms = [...document.forms];
const withoutCode = forms.find((form) => form.dataset.when === 'no code');

let code = location.hash.slice(1);
// The browser's history and the address bar no longer hold the code.
history.replaceState(null, '', location.pathname);

const shown = code === '' ? withoutCode : forms.find((form) => form !== withoutCode);
if (shown) shown.hidden = false;
else fail(texts.incomplete);

for (const form of forms) {
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void send(form);
  });
}

async function send(form) {
  const button = form.querySelector('button');
  // Not `disabled`, which would take the focus away from the button.
  if (button.getAttribute('aria-disabled') === 'true') return;
  button.setAttribute('aria-disabled', 'true');
  for (const input of form.querySelectorAll('input')) input.removeAttribute('aria-invalid');
  say(texts.sending);
  try {
    const response = await fetch(form.dataset.to, {
      method: 'POST',
      credentials: 'omit',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(bodyOf(form)),
    });
    const answer = await response.json();
    if (response.ok) succeed(form, answer);
    else refuse(form, answer);
  } catch {
    fail(texts.unreachable);
  } finally {
    button.removeAttribute('aria-disabled');
  }
}

function bodyOf(form) {
  const body = code === '' ? {} : { code };
  for (const { name, type, checked, value } of form.querySelectorAll('input')) {
    if (type !== 'checkbox') body[name] = value;
    else if (checked) body[name] = true;
  }
  return body;
}

function succeed(form, { apiKeys }) {
  form.remove();
  say(form.dataset.done);
  if (apiKeys) list(apiKeys);
  if (form.dataset.when === 'code') next();
  status.focus();
}

function refuse(form, { code: reason, title, detail }) {
  if (reason === 'code_invalid') {
    // No input makes the code valid: the page offers another mail instead, or states how to get one.
    form.remove();
    code = '';
    if (withoutCode) withoutCode.hidden = false;
    fail([texts.errors.code_invalid, texts.renewal].filter(Boolean).join(' '));
    if (!withoutCode) next();
    return;
  }
  const text = texts.errors[reason];
  fail(text ?? `${title}. ${detail}`);
  const input = form.querySelector('input');
  if (!text || !texts.aboutInput.includes(reason)) return;
  input.setAttribute('aria-invalid', 'true');
  input.focus();
}

function say(text) {
  status.className = '';
  status.textContent = text;
}

/** The focus moves to the error, so that a screen reader reads it (WCAG 2.2, 3.3.1). */
function fail(text) {
  say(text);
  status.className = 'failed';
  status.focus();
}

function list(keys) {
  const line = document.createElement('p');
  line.textContent = keys.length === 0 ? texts.noKeys : texts.liveKeys;
  const items = document.createElement('ul');
  for (const { nickname } of keys) items.appendChild(document.createElement('li')).textContent = nickname;
  status.append(line, items);
}

/** Where to go from here, if the operator has configured it. */
function next() {
  if (!texts.signInUrl) return;
  const link = document.createElement('a');
  link.href = texts.signInUrl;
  link.textContent = texts.signIn;
  const line = document.createElement('p');
  line.append(link);
  status.append(line);
}
