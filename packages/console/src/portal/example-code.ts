/** The code of the examples. */

/** Of the environment. */
export const variable = 'API_KEY';

export const exampleLanguages = ['curl', 'Node.js', 'Python', 'Go'] as const;
export type ExampleLanguage = (typeof exampleLanguages)[number];

interface ExampleRequest {
  readonly method: string;
  readonly url: string;
}

/** Between single quotes of a POSIX shell, only the single quote is special. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Node.js, Python and Go accept the strings of JSON. */
const json = (text: string): string => JSON.stringify(text);

export function exampleOf(language: ExampleLanguage, { method, url }: ExampleRequest): string {
  switch (language) {
    case 'curl':
      return `curl -i${method === 'GET' ? '' : ` -X ${method}`} ${quoted(url)} \\
  -H "Authorization: Bearer $${variable}"`;
    case 'Node.js':
      return `const response = await fetch(${json(url)}, {
  method: ${json(method)},
  headers: { Authorization: \`Bearer \${process.env.${variable}}\` },
});
console.log(response.status, await response.text());`;
    case 'Python':
      return `import os, urllib.request

request = urllib.request.Request(
    ${json(url)},
    method=${json(method)},
    headers={"Authorization": "Bearer " + os.environ["${variable}"]},
)
with urllib.request.urlopen(request) as response:
    print(response.status, response.read().decode())`;
    case 'Go':
      return `package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
)

func main() {
	request, err := http.NewRequest(${json(method)}, ${json(url)}, nil)
	if err != nil {
		panic(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("${variable}"))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	fmt.Println(response.StatusCode, string(body))
}`;
  }
}
