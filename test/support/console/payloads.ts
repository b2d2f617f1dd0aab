/**
 * Texts that become code if they are treated as markup, an address, a style or a piece of a script. Each one marks the page when it runs.
 */
const ways: readonly ((n: number) => string)[] = [
  (n) => `<img src=x onerror="window.ran=${n}">`,
  (n) => `<script>window.ran=${n}</script>`,
  (n) => `"><svg onload="window.ran=${n}">`,
  (n) => `'><iframe srcdoc="<script>parent.ran=${n}</script>"></iframe>`,
  (n) => `javascript:window.ran=${n}`,
  (n) => `</textarea><script>window.ran=${n}</script>`,
  (n) => `<a href="javascript:window.ran=${n}">x</a>`,
  (n) => `\${window.ran=${n}}`,
  (n) => `{{constructor.constructor('window.ran=${n}')()}}`,
  (n) => `<style>@import 'http://elsewhere.example/${n}.css'</style>`,
  (n) => `<link rel=stylesheet href=http://elsewhere.example/${n}>`,
  (n) => `<math><mi xlink:href="javascript:window.ran=${n}">`,
  (n) => `<details open ontoggle="window.ran=${n}">`,
  (n) => `<input autofocus onfocus="window.ran=${n}">`,
  (n) => `</title><script>window.ran=${n}</script>`,
  (n) => `<object data="javascript:window.ran=${n}">`,
  (n) => `<form action="javascript:window.ran=${n}"><button>x</button></form>`,
  (n) => `<meta http-equiv=refresh content="0;url=javascript:window.ran=${n}">`,
  (n) => `--><script>window.ran=${n}</script><!--`,
  (n) => `\u2028<img src=x onerror=window.ran=${n}>`,
  (n) => `[x](javascript:window.ran=${n})`,
  (n) => `![x](http://elsewhere.example/${n}.png)`,
  (n) => `<base href=http://elsewhere.example/${n}>`,
  (n) => `<svg><animate onbegin=window.ran=${n} attributeName=x dur=1s>`,
  (n) => `<video src=http://elsewhere.example/${n} onerror=window.ran=${n}>`,
]

/**
 * A payload in the forms that decoding, case folding or repairing code would see: unchanged, in unusual letters, encoded twice, and after
 * the end of a script.
 */
const dresses: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) =>
    text.replace(/(?<=<\/?)[a-z]+|javascript/g, (word) =>
      word.replace(/(.)(.?)/g, (_, odd: string, even: string) => `${odd.toUpperCase()}${even}`),
    ),
  (text) => text.replace(/<(?=[a-z/!])/g, '<<').replace('javascript:', 'java&#115;cript:'),
  (text) => `'";}]]></script>${text}`,
]

/** A hundred different texts: each payload in each form, with its own number. */
export const payloads: readonly string[] = dresses.flatMap((dress, i) => ways.map((way, j) => dress(way(i * ways.length + j))))

/** The text as the browser shows it: line ends and tabs become one space. */
export const asShown = (text: string): string => text.replace(/\s+/g, ' ').trim()
