/** Texts that several errors share. */

export const signInAgain =
  'Refresh the token with `POST /auth/token/refresh`, or sign in again with `POST /auth/token`.';
export const waitAndRetry = 'Wait for the seconds in the `Retry-After` header, then send the request again.';
export const checkId = 'Copy the complete id from the list.';
