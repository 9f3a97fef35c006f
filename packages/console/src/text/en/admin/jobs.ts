/** English texts of the page about jobs of the outbox. */
export const jobs = {
  intro: 'Mail, webhooks and other work that is not finished yet. The server retries failed jobs.',
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
  list: 'Waiting and failing jobs',
  none: 'No waiting jobs',
};
