/** English texts of the page about the keys of all accounts. */
export const keys = {
  title: 'API keys of all accounts',
  none: 'No API keys',
  search: 'Nickname, ID or …x7Qa',
  owner: 'Owner',
  scope: 'Scope',
  unusedSince: 'Unused since',
  expiresBefore: 'Expires before',
  findTitle: 'Find by secret',
  findIntro:
    'Enter a complete secret, for example one that you found in a log, to find its key and owner. The server neither stores nor logs the secret. The owner can see that an administrator identified the key.',
  find: 'Find key',
  secrets: {
    current: 'the current secret of the key',
    previous: 'a previous secret of the key',
    short_lived: 'a short-lived secret of the key',
    leaked: 'a leaked secret of the key, which a report has ended',
  },
};
