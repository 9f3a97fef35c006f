/** English sentences for error codes of the API. Codes without an entry show the detail of the response. */
export const problems = {
  unreachable: 'Keyreeve cannot be reached. Check your network connection and try again.',
  unavailable: 'Keyreeve cannot reach its database. Nothing was changed.',
  overloaded: 'The server is busy. Try again in a few seconds.',
  internal_error: 'An internal error occurred. Tell your administrator the request id.',
  invalid_credentials: 'The email address or the password is wrong.',
  second_factor_invalid: 'The one-time code is wrong.',
  second_factor_wrong: 'The one-time code is wrong.',
  password_wrong: 'The password is wrong.',
  too_many_attempts: 'Too many attempts.',
  administrator_required: 'Your account no longer has the role of an administrator.',
};
