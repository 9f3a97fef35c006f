/** Pages that links in mail open. */
import type { RouteContract } from './route.ts';

const tag = 'Pages for links in mail';

/** A page that a link in a mail opens. Requesting it changes nothing. */
const linkPage = <Id extends string, Path extends string>(id: Id, path: Path, summary: string) =>
  ({
    id,
    method: 'GET',
    path,
    tag,
    summary,
    auth: 'none',
    success: {
      status: 200,
      description: 'A page that sends the code when the user presses the button',
      contentType: 'text/html; charset=utf-8',
      isFixed: true,
    },
    errors: [],
  }) as const satisfies RouteContract;

export const verifyEmailPage = linkPage('verifyEmailPage', '/account/verify-email', 'Page that completes a sign-up');
export const resetPasswordPage = linkPage(
  'resetPasswordPage',
  '/account/reset-password',
  'Page that sets a new password',
);
export const changeEmailPage = linkPage('changeEmailPage', '/account/change-email', 'Page that confirms a new email');
export const undoEmailChangePage = linkPage(
  'undoEmailChangePage',
  '/account/undo-email-change',
  'Page that undoes a change of the email',
);
export const acceptEmailPage = linkPage(
  'acceptEmailPage',
  '/account/accept-email',
  'Page that accepts an email set by an administrator',
);
export const removeKeyPage = linkPage('removeKeyPage', '/account/remove-key', 'Page that deletes the key of a program');
export const acceptInvitationPage = linkPage(
  'acceptInvitationPage',
  '/account/accept-invitation',
  'Page that accepts an invitation',
);

/** W3C, A Well-Known URL for Changing Passwords. */
export const changePasswordPage = {
  id: 'changePasswordPage',
  method: 'GET',
  path: '/.well-known/change-password',
  tag,
  summary: 'Find the page that changes the password',
  description:
    'For password managers. The page is that of the account in the console; without the console, the page that sends a link to set a new password.',
  auth: 'none',
  success: {
    status: 303,
    description: 'The page',
    headers: { Location: 'URL of the page' },
  },
  errors: [],
} as const satisfies RouteContract;
