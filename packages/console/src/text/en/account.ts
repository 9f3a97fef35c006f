/** English texts of the page about the account. */
export const account = {
  signIn: 'Sign-in',
  verified: 'verified',
  unverified: 'not verified',
  noMail: 'This service sends no mail. An administrator can change your email address.',
  changeEmail: 'Change email address',
  newEmail: 'New email address',
  emailIntro: 'The new email address receives a link. Until you open it, you sign in with your current email address.',
  sendLink: 'Send the link',
  emailSent: (email: string) =>
    `A mail to ${email} has been sent. Open its link within one hour. Then all your sessions end, and you sign in with the new email address.`,

  changePassword: 'Change password',
  newPassword: 'New password',
  passwordIntro: 'Your other sessions end when you change the password.',
  passwordHint: (min: number) => `At least ${min} characters. Several words are easy to remember.`,
  revokeKeys: 'Also delete all my API keys',
  revokeKeysHint: 'If another person may have a copy of them. Programs that use them stop working.',
  passwordChanged: 'The password has been changed. Your other sessions have ended.',
  keysContinueOne: 'Your API key continues to work.',
  keysContinue: (count: number) => `Your ${count} API keys continue to work.`,

  language: 'Language of mail',
  languageDefault: 'Default of the service',
  idHint: 'A colleague needs it to make you a manager of a service account.',
  role: 'Role',
  administrator: 'Administrator',

  display: 'Display',
  displayIntro: 'Theme and language of the console, in this browser only.',

  export: 'Export your data',
  exportDescription:
    'One JSON file with your account, sessions, keys without their secrets, service accounts and activity.',
  exportButton: 'Export',
  exportFile: 'your-data.json',
  exported: 'The file is ready.',

  deleteAccount: 'Delete account',
  deleteDescription: 'Deletes your account, your API keys and your sessions. This cannot be undone.',
  deleteTitle: 'Delete your account?',
  deleteIntro: 'This cannot be undone. Your email address can be used again.',
  deletesKeys: 'Your API keys are deleted and rejected at once.',
  deletesSessions: 'Your sessions end on all devices.',
  keepsServiceAccounts: 'Service accounts that you manage and their keys continue to exist.',
  typeEmail: (email: string) => `Type ${email} to confirm`,
  deletedTitle: 'Account deleted',
  deleted: 'Your account has been deleted with its API keys and sessions.',
};
