/** A person without a mouse: from the sign-up to a passkey, and from the sign-in over the life of a key to the sign-out. */
import assert from 'node:assert/strict';
import { goodPassword } from '../../server/test-kit/new-app.ts';
import { linkIn } from '../../server/test-kit/mailbox.ts';
import { addAuthenticator } from '../../server/test-kit/virtual-authenticator.ts';
import { consoleTests } from './kit/console-site.ts';
import { Keyboard } from './kit/keyboard.ts';

const test = consoleTests();

test('the keyboard alone is enough to sign in, create, copy, rotate and delete a key, and sign out', async (site) => {
  const { email } = await site.app.createAccount();
  const visitor = await site.open({ hasClock: true });
  visitor.expect(/^info: Clear-Site-Data header/);
  const { page } = visitor;
  const keyboard = new Keyboard(page);
  const dialog = page.getByRole('dialog');
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const inDialog = (name: string) => dialog.getByRole('button', { name, exact: true });
  const h1 = page.locator('h1');

  await visitor.goto('/console');
  await keyboard.assertFocused(page.getByLabel('Email address'), 'the first field');
  await keyboard.type(page.getByLabel('Email address'), email);
  await keyboard.type(page.getByLabel('Password', { exact: true }), goodPassword);
  await keyboard.key('Enter');
  await page.getByRole('heading', { name: 'API keys', exact: true }).waitFor();
  await keyboard.assertFocused(h1, 'the heading');
  await visitor.settle();

  await keyboard.press(button('Create key').first());
  await keyboard.assertFocused(page.getByLabel('Nickname'), 'the first field of the dialog');
  await keyboard.type(page.getByLabel('Nickname'), 'billing worker');
  await keyboard.press(inDialog('Create key'));
  const secret = dialog.getByLabel('Secret', { exact: true });
  const shown = await secret.inputValue();
  // The page shows for 3 s that it has copied the secret.
  await page.clock.pauseAt(Number(await page.evaluate('Date.now()')) + 600_000);
  await keyboard.press(dialog.getByRole('button', { name: 'Copy Secret' }));
  await dialog.getByRole('button', { name: 'Copied Secret' }).waitFor();
  await page.clock.resume();
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), shown);
  await keyboard.press(page.getByLabel('I have stored it'), 'Space');
  await keyboard.press(inDialog('Close'));
  await dialog.waitFor({ state: 'detached' });
  await keyboard.assertFocusVisible();

  await keyboard.press(page.getByRole('link', { name: 'billing worker' }));
  await page.getByRole('heading', { level: 1, name: 'billing worker' }).waitFor();
  await visitor.settle();
  await keyboard.press(button('Rotate secret'));
  await dialog.waitFor();
  await keyboard.press(inDialog('Rotate secret'));
  await page.getByRole('heading', { name: 'The new secret' }).waitFor();
  await keyboard.press(page.getByLabel('I have stored it'), 'Space');
  await keyboard.press(inDialog('Close'));
  await dialog.waitFor({ state: 'detached' });
  await keyboard.assertFocused(button('Rotate secret'), 'the button that opened the dialog');

  await keyboard.press(button('Delete key'));
  await dialog.waitFor();
  await keyboard.press(inDialog('Cancel'));
  await dialog.waitFor({ state: 'detached' });
  await keyboard.assertFocused(button('Delete key'), 'the button that opened the dialog');
  await keyboard.key('Enter');
  await dialog.waitFor();
  // A request for the usage of the key that arrives after its deletion would get 404, which the browser logs.
  await visitor.settle();
  await keyboard.press(inDialog('Delete key'));
  await page
    .getByText(/Rejected since/)
    .first()
    .waitFor();
  await page.getByRole('heading', { name: 'API keys', exact: true }).waitFor();
  assert.notEqual(await keyboard.assertFocusVisible(), 'nothing', 'the focus is in the page');

  // A request for the list that arrives after the sign-out would get 401.
  await visitor.settle();
  await keyboard.press(page.getByRole('button', { name: 'Account menu' }));
  await keyboard.press(button('Sign out'));
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await keyboard.assertFocused(page.getByLabel('Email address'), 'the first field');
});

test('the keyboard alone is enough to sign up, verify the email address, and add a passkey', async (site) => {
  const visitor = await site.open();
  // The page of the link in the mail is not part of the console.
  visitor.expect(/^verbose: \[DOM\] Password forms should have .*\/account\/verify-email/);
  const { page } = visitor;
  const keyboard = new Keyboard(page);
  const dialog = page.getByRole('dialog');
  const email = `keyboard.${crypto.randomUUID()}@example.com`;
  await addAuthenticator(await visitor.openProtocol());
  await visitor.goto('/console');
  await keyboard.press(page.getByRole('link', { name: 'Create an account' }));
  await page.getByRole('heading', { name: 'Create an account' }).waitFor();
  await keyboard.type(page.getByLabel('Email address'), email);
  await keyboard.type(page.getByLabel('Password', { exact: true }), goodPassword);
  await keyboard.key('Enter');
  await page.getByRole('heading', { name: 'Check your mail' }).waitFor();
  await page.goto(linkIn(await site.mailbox.next({ to: email })));
  await keyboard.type(page.getByLabel('Password'), goodPassword);
  await keyboard.key('Enter');
  await page
    .getByRole('status')
    .filter({ hasText: /verified/ })
    .waitFor();
  await visitor.goto('/console');
  await keyboard.type(page.getByLabel('Email address'), email);
  await keyboard.type(page.getByLabel('Password', { exact: true }), goodPassword);
  await keyboard.key('Enter');
  await page.getByRole('heading', { name: 'API keys', exact: true }).waitFor();
  await visitor.settle();
  await keyboard.press(page.getByRole('link', { name: 'Security', exact: true }));
  await page.getByRole('heading', { level: 1, name: 'Security' }).waitFor();
  await visitor.settle();
  await keyboard.press(page.getByRole('button', { name: 'Add passkey' }));
  await keyboard.type(dialog.getByLabel('Name'), 'laptop');
  await keyboard.press(dialog.getByRole('button', { name: 'Continue' }));
  await keyboard.press(page.getByLabel('I have stored them'), 'Space');
  await keyboard.press(dialog.getByRole('button', { name: 'Close', exact: true }));
  await page.getByRole('rowheader', { name: 'laptop' }).waitFor();
});
