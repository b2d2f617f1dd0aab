/** Ways in which a text becomes code where it is taken for markup, an address, a style or a piece of a script. Each marks the page. */
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

/** The same way as readers that decode, fold or repair would see it: as it is, in odd letters, twice as deep, and after the end of a script. */
const dresses: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) =>
    text.replace(/(?<=<\/?)[a-z]+|javascript/g, (word) =>
      word.replace(/(.)(.?)/g, (_, odd: string, even: string) => `${odd.toUpperCase()}${even}`),
    ),
  (text) => text.replace(/<(?=[a-z/!])/g, '<<').replace('javascript:', 'java&#115;cript:'),
  (text) => `'";}]]></script>${text}`,
]

/** A hundred texts, all different: each way in each dress, with its own number. */
export const payloads: readonly string[] = dresses.flatMap((dress, i) => ways.map((way, j) => dress(way(i * ways.length + j))))

/** What a text of the page is where the browser makes one space of line ends and tabs. */
export const asShown = (text: string): string => text.replace(/\s+/g, ' ').trim()
