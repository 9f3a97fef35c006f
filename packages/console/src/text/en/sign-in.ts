/** English texts of the pages about sign-in, sign-up and the first administrator. */
export const signIn = {
  title: 'Sign in',
  back: 'Back',
  or: 'or',
  withPasskey: 'Use a passkey',
  withProvider: (name: string) => `Sign in with ${name}`,
  toReset: 'Forgot your password?',
  noAccount: 'No account yet?',
  otherOrigin: 'Sign-in is not possible at this address. Open the console at:',
  endReasons: {
    unused: 'Your session has ended because it was not used. Sign in again to continue.',
    ended: 'Your session has ended. Sign in again to continue.',
    otherTab: 'You signed out in another tab. Sign in again to continue.',
    hasAdministrator: 'This installation has an administrator now. Sign in with its account.',
  },
  steps: {
    code: { title: 'Second factor', intro: 'Enter the six digits that your authenticator app shows for this account.' },
    recovery: {
      title: 'Recovery code',
      intro: 'You received recovery codes when you set up the second factor. Each code works once.',
    },
    passkey: { title: 'Second factor', intro: 'Your account has a passkey. Use it to sign in.' },
  },
  code: 'One-time code',
  codeRule: 'Six digits',
  codeWrong: 'The one-time code is wrong, has expired, or was used before. Enter the next code.',
  toRecovery: 'Use a recovery code',
  recoveryCode: 'Recovery code',
  recoveryCodeWrong: 'The recovery code is wrong or was used before.',
  toCode: 'Use a one-time code',
  signUpTitle: 'Create an account',
  signUpSubmit: 'Create account',
  hasAccount: 'Do you already have an account?',
  passwordRule: (length: number) =>
    `At least ${length} characters. A phrase of several unrelated words is a good password.`,
  mailTitle: 'Check your mail',
  mailSent: (email: string) =>
    `A mail is on its way to ${email}. Open its link to complete the sign-up. If an account with this email address exists, the mail explains how to sign in.`,
  sendAgain: 'Send the mail again',
  firstTitle: 'Create the first administrator',
  firstIntro: 'This installation has no administrator yet.',
  firstCode: 'Setup code',
  firstSubmit: 'Create administrator',
  whereTitle: 'Where is the setup code?',
  whereFile:
    'With SQLite, Keyreeve shows a link with the code in the terminal in which it was started, and writes the code to a file beside the database, for example keyreeve.db.first-administrator.',
  whereCommand:
    'The code works once, within an hour. With PostgreSQL, or to replace the code, write one to a new file:',
  whereCommandLabel: 'Command',
};
