/** The Python guards answer as the table of all client libraries says. */
import { testGuards } from '../../conformance/check-library.ts';
import { pythonLibrary } from './mutants.ts';

testGuards(pythonLibrary, [
  'core check',
  'wsgi',
  'asgi',
  'fastapi',
  'flask',
  'flask-all',
  'django',
  'django-async',
  'django-middleware',
  'django-middleware-async',
]);
