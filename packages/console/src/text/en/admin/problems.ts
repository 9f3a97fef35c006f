/** English sentences for error codes that mean something else on the pages about other accounts. */
export const problems = {
  account_not_found: 'The account does not exist. It may have been deleted.',
  account_exists: 'Another account has this email address.',
  account_has_password: 'The account has a password already. Send a password reset instead.',
  account_unverified: 'The email address of the account is not verified.',
  administrator_protected: 'The email address of an administrator cannot be set. Take the role away first.',
  email_changed_recently: 'The email address was changed recently. Choose where the link is sent.',
  email_unconfirmed: 'The new email address of the account is not confirmed yet, so no link can be sent to it.',
  email_unverified: 'The email address of the account is not verified.',
  key_leaked: 'The secret has leaked. Only its owner can rotate it to use the key again.',
  last_administrator: 'This is the last administrator. Give another account the role first.',
  own_account: 'An administrator cannot do this to the own account.',
  scope_not_entitled: 'The account cannot have one of these scopes.',
  second_factor_not_enrolled: 'This needs a second factor that is not enrolled.',
  service_account: 'This is not possible for a service account.',
};
