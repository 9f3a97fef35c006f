/** English texts of the pages about sign-in, sign-up and the first administrator. */
export const signIn = {
  title: 'Sign in',
  email: 'Email address',
  submit: 'Sign in',
  back: 'Back',
  toSignUp: 'Create an account',
};
