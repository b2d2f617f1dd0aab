import { expect, test } from '@jest/globals'
import { lex } from '../../src/dialect/lexer.js'
import { nameText, sentAsIs, unescapeText, keywords } from '../../src/dialect/strings.js'
import { dollarText, quotedStatements } from '../../src/dialect/tokens.js'
import { duck } from '../support/connections/answers.js'
import { seeded } from '../support/random.js'

/** The same by an expression: what each text means, said in another way. */
const meant = (inner: string, quote: "'" | '"'): string => {
  const escapes: Record<string, string> = { '0': '\0', b: '\b', n: '\n', r: '\r', t: '\t', Z: '\x1a', '\\': '\\', "'": "'", '"': '"' }
  const json: Record<string, string> = quote === '"' ? { '/': '/', f: '\f' } : {}
  return inner.replace(/\\u([0-9a-fA-F]{4})|\\([\s\S])|''|""/g, (whole: string, hex?: string, after?: string) => {
    if (hex !== undefined) return quote === '"' ? String.fromCharCode(Number.parseInt(hex, 16)) : whole
    if (after !== undefined) return escapes[after] ?? json[after] ?? whole
    return whole === quote + quote ? quote : whole
  })
}

test.each(["'", '"'] as const)('texts in %s mean the same, whatever stands in them', (quote) => {
  const random = seeded(7)
  const below = (count: number) => Math.floor(random() * count)
  const pieces = ['\\', "'", '"', 'u', '00e9', '\\u00e9', 'n', '\\n', '0', 'Z', 'f', '/', 'é', '😀', 'a b', '\\d', '\n', quote + quote]
  for (let n = 0; n < 5_000; n++) {
    const text = Array.from({ length: below(12) }, () => pieces[below(pieces.length)]).join('')
    expect([text, unescapeText(text, quote)]).toEqual([text, meant(text, quote)])
  }
})

test('every word that DuckDB takes as a name only in quotes gets them', async () => {
  const db = await duck()
  const found = await db.runAndReadAll("SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category <> 'unreserved'")
  const words = found.getRows().map(([word]) => String(word))
  expect([...words, 'predict', 'set'].sort()).toEqual([...keywords].sort())
  expect(words.filter((word) => nameText(word) === word)).toEqual([])
  expect(['shop_db', 'Order', 'a b', 'we"ird'].map(nameText)).toEqual(['shop_db', '"Order"', '"a b"', '"we""ird"'])
  db.disconnectSync()
})

test('a statement for a database comes out of its dollar quotes as it went in', () => {
  const random = seeded(11)
  const below = (count: number) => Math.floor(random() * count)
  const pieces = ['$', '$$', 'x', 'xx', '$x$', '$xx$', "'", '"', '`', '\\', '#', '--', '/*', '(', ')', '?', ':a', ' ', '\n', 'é']
  for (let n = 0; n < 5_000; n++) {
    const text = Array.from({ length: below(12) }, () => pieces[below(pieces.length)]).join('')
    const tokens = lex(sentAsIs('pg', text))
    expect([text, tokens.length, dollarText(tokens.slice(5, 6))]).toEqual([text, 7, text])
  }
})

test.each<[string, string[]]>([
  ['$$SELECT 1$$', ['SELECT 1']],
  ['SELECT * FROM pg /* all */ (/* of */ $q$SELECT 1$q$ -- it\n) JOIN "p g" ($$SELECT 2$$) ON true', ['SELECT 1', 'SELECT 2']],
  ['SELECT lower($$a$$), (SELECT $$b$$) FROM t WHERE c IN ($$d$$)', []],
  ['SELECT * FROM pg ($$a$$, 1)', []],
])('the statements in dollar quotes of %s', (sql, texts) => {
  expect(quotedStatements(lex(sql)).map(({ text }) => text)).toEqual(texts)
  for (const { text, start } of quotedStatements(lex(sql))) expect(sql.slice(start, start + text.length)).toBe(text)
})
