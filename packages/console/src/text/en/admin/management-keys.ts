/** English texts of the keys that administrators create. */
export const managementKeys = {
  create: 'Create management key',
  intro:
    'With a management key, your backend creates service accounts and API keys for your customers. A thief of the key can do the same, so it works only from the IP addresses of your backend, and for a limited time.',
  name: 'Name of the backend',
  nameHint: 'The new service account and its key get this name, for example “shop”.',
  nicknameHint: 'For example “shop, from March”. Delete the earlier key when your backend uses this one.',
  addressesHint: 'The IP addresses and CIDR ranges of your backend, one on each line.',
  mailed: 'Administrators receive a mail about the key, with your email address and IP address.',
  needsFactor: 'Only an administrator with a second factor creates management keys. Set up yours first.',
  setUpFactor: 'Set up a second factor',
  created: 'The new management key',
  tryHint: 'Run it on the machine of your backend. It lists the service accounts of the backend.',
  waiting: 'Waiting for the first use…',
  used: 'The key has been used.',
  ofPerson:
    'The person receives a mail with your email address, and can delete the key. Only you see its secret, once. Give it to the person in a secure way.',
};
