/** English texts of the page about mail and other jobs of the outbox. */
export const mail = {
  intro: 'Mail and webhooks that are not delivered yet. The server retries failed deliveries.',
  test: 'Send a test mail',
  testIntro: 'The server sends a mail to your own email address and shows the response of the mail server.',
  testSubmit: 'Send',
  sent: (to: string) => `The mail server accepted a mail to ${to}:`,
  notSent: (to: string) => `The mail to ${to} could not be sent:`,
  kinds: {
    mail: 'Mail',
    decoy: 'Decoy without mail',
    sign_up: 'Sign-up',
    password_reset: 'Password reset',
    webhook: 'Webhook',
  },
  states: { waiting: 'Waiting', failing: 'Failing' },
  count: 'Jobs',
  oldest: 'Oldest',
  jobs: 'Waiting and failing jobs',
  nextAttempt: 'Next attempt',
  failure: 'Reason',
  none: 'No waiting jobs',
};
