/** English sentences for error codes that mean something else on the pages about other accounts. */
export const problems = {
  account_not_found: 'The account does not exist. It may have been deleted.',
  account_exists: 'Another account has this email address.',
  account_has_password: 'The account already has a password. Send a password reset instead.',
  account_unverified: 'The email address of the account is not verified.',
  administrator_protected: 'The email address of an administrator cannot be set. Remove the role first.',
  email_changed_recently: 'The email address was changed recently. Choose where the link is sent.',
  email_unconfirmed: 'The new email address of the account is not confirmed yet, so no link can be sent to it.',
  email_unverified: 'The email address of the account is not verified.',
  key_limit_reached: 'The account has the maximum number of keys. Delete one that is no longer used.',
  reserved_scope: 'A key of another account cannot get a scope that begins with “keyreeve:”.',
  key_leaked: 'The secret has leaked. Only its owner can rotate it to use the key again.',
  last_administrator: 'This is the last administrator. Give another account the role first.',
  own_account: 'You cannot do this to your own account.',
  scope_not_entitled: 'The account cannot have one of these scopes.',
  second_factor_not_enrolled: 'This requires a second factor, and none is set up.',
  signing_key_waiting:
    'The next key does not sign yet. Rotate again when it signs, or replace all keys now if one has leaked.',
  service_account: 'This is not possible for a service account.',
  webhook_url_refused:
    'Keyreeve cannot send to this URL. It must begin with https:// and its host must have a public IP address.',
  webhook_limit_reached: 'The installation has as many webhooks as it permits. Delete one first.',
  webhook_not_found: 'The webhook does not exist. It may have been deleted.',
  catalogue_full: 'The catalogue has as many scopes as the installation permits.',
  scope_not_found: 'The scope does not exist.',
  scope_invalid: 'The name has characters that are not allowed, is too long, or is reserved.',
};
