/** Words that mean "secret" at the end of a name: `db_password`, `openai_api_key`, `botToken`. */
const telling =
  /(identified_by|password|passwd|passphrase|passwort|kennwort|contrase[nñ]a|pwd|secret|credential|token|passcode|passkey|wachtwoord|senha|mnemonic|(api|access|private|secret|auth|account|signing|encryption|decryption|master)_?key)s?$/
/** Words that mean it after a separator, or alone. */
const alone =
  /(^|_)([a-z]*pass|pw|pin|pin_code|otp|totp|secret_string|mot_de_passe|access_code|recovery_code|seed_phrase|service_account(_json)?|credentials_json|authorization|basic_auth|bearer|connection_string|dsn|cookie)s?$/
/** Names that mean it often, and may also be those of columns: `consumer_key`, `customer_key`. */
const doubtful = /(^|_)[a-z]+_keys?$/
/** Each of these names has one of these parts. Most words have none, and need no further test. */
const roots =
  /pass|pwd|pw|kennwort|contrase|secret|credential|token|key|ｋｅｙ|wachtwoord|senha|mnemonic|pin|otp|phrase|code|account|auth|bearer|connection|dsn|cookie|identified|seal/i
/** Names that end in the same way, and tell no secret: `max_tokens`, `primary_key`, `low_pass`. */
const plain =
  /^tokens$|(^|_)((max|min|input|output|prompt|completion|total|new|context|cache|used|stop)_tokens?|(primary|foreign|cache|memory|partition|sort|group|order|unique|join|row|column|index|public|idempotency)_keys?|(by|com|encom|low|high|band|all|first|second|single|multi|one|two)_?pass)$/
/** What may follow without another meaning: `token_value`, `password_2`. */
const ending = /(_(value|pem|plain|plaintext|raw|b64|base64|hex|json|hash|encrypted|encoded|old|new|current|previous))?[_\d]*$/

/** A name in small letters with `_` between its words, with and without an ending. */
const formsOf = (name: string): string[] => {
  const words = name
    .normalize('NFKC')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .replace(/^_+|_+$/g, '')
  return [words.replace(/[_\d]+$/, ''), words.replace(ending, '')]
}

/** How sure it is that a name, perhaps with words before it, is that of a secret. */
const surenessOf = (name: string): 'sure' | 'doubtful' | undefined => {
  if (!roots.test(name)) return undefined
  const last = name.split(' ').at(-1) ?? ''
  const isAmong = (words: string, among: readonly RegExp[]) =>
    formsOf(words).some((form) => among.some((one) => one.test(form)) && !plain.test(form))
  if (last === '$seal' || isAmong(last, [telling, alone]) || isAmong(name, [telling])) return 'sure'
  return isAmong(last, [doubtful]) ? 'doubtful' : undefined
}

/** Whether a name tells that its value is a secret. @example isSecretName('db_password') // true */
export const isSecretName = (name: string): boolean => surenessOf(name.trim()) !== undefined

/** What is kept in the place of a secret. */
export const mask = '******'
/** The beginnings of vendors' keys, the same as in `src/vault/looks-secret.ts`. */
export const keyBeginnings: readonly string[] = [
  ...['sk-', '[rs]k_(?:live|test)_', 'gh[opsur]_', 'github_pat_', 'glpat-', 'hf_', 'npm_', 'gsk_', 'r8_', 'xai-', 'pplx-', 'nvapi-'],
  ...['tvly-', 'xox[a-z]-', 'xapp-\\d-', 'AIza', 'ya29\\.', 'SG\\.', 'eyJ', 'whsec_', 'shp(?:at|ca|pa|ss)_', 'do[opr]_v1_', 'sbp_'],
  ...['lin_api_', 'dapi(?=[a-f0-9]{32})', '\\d{8,10}:AA', '[MNO][\\w-]{23,27}\\.(?=[\\w-]{6}\\.)'],
]
/** Secrets that need no name: passwords in addresses, credentials of headers, and keys in well-known forms. */
const knownForms: readonly (readonly [RegExp, string])[] = [
  [/(:\/\/[^\s/:@'"]{0,200}:)[^\s'"@]{1,500}@/g, `$1${mask}@`],
  [/\b(bearer\s{1,20})[^\s'",}\\]+/gi, `$1${mask}`],
  [new RegExp(`\\b(?:${keyBeginnings.join('|')})[\\w.+/=%-]{16,}`, 'g'), mask],
  [/(\bhooks\.slack\.com\/\w+\/|\bdiscord(?:app)?\.com\/api\/webhooks\/|\bapi\.telegram\.org\/bot)[\w/:-]+/g, `$1${mask}`],
  [/-----BEGIN [A-Z ]{0,30}PRIVATE KEY[^]*?(?:-----END [A-Z ]{0,30}-----|$)/g, mask],
]

const names = /identified\s+by\b|\$?[\p{L}\p{N}\p{Pc}\u200b-]+/giu
const wordsBefore = /(?:[\p{L}\p{N}\p{Pc}-]+ ){0,2}$/u
const nameMaxChars = 80

/**
 * A sign between a name and its value; a name may be in quotes, in a function, or cast by `::`. Blanks have a limit: to try all ways to
 * divide them would take the square of their number.
 */
const signed =
  /\s{0,400}(?<close>\\*["'\x60])?\)?\s{0,400}(?:::\s{0,400}\w+\s{0,400})?(?<sign>:(?!:)=?|=[>=]?|[!<>~]=|<>)\s{0,400}(?:\w+\s{0,400}(?=\())?/y
/** No sign: `PASSWORD 'x'`, `password IN ('x', 'y')`. */
const unsigned = /(?=[\s(])(?<link>(?:\s+(?:is|not|like|ilike|in)\b)*)\s*/iy
/** The rest of a pair: `"Authorization", "value": "x"`. */
const paired = /\\*["']\s*,\s*\\*["']val(?:ue)?\\*["']\s*:\s*/iy
/** The comma in a list of two: `["Authorization", "Basic x"]`. */
const listed = /\\*["']\s*,\s*(?=\\*["'][^"']*[\s\d])/y
const beginsList = /[[(]\s*\\*["']$/
/** A value in quotes up to its end, if it has one, which a text in a text escapes; or in brackets; or up to the next blank or comma. */
const value =
  /(?<escaped>\\+["']|''(?=[^\s,;)]))(?:(?!\k<escaped>)[^])*(?:\k<escaped>)?|(?<quote>["'\x60])(?:\\[^]|\k<quote>{2}|(?!\k<quote>)[^\\])*\k<quote>?|(?<brackets>(?:[[{]|\((?!\s*(?:select|with)\b))[^\]})]*[\]})]?)|(?:(?:basic|bearer|digest|bot)\s+)?[^\s,;()\]}&"'\x60\\]+/iy
/** A text without its texts in quotes and its numbers. */
const withoutConstants = (text: string): string =>
  text.replace(/(["'])(?:(?!\1)[^])*\1?|\b\d[\d.]*/g, (_, quote: string = '"') => `${quote}${mask}${quote}`)

/** A word of some length with letters and digits, as generated secrets are. */
const looksSecret = (text: string): boolean => /^[^\s.:]{6,}$/.test(text) && /\p{L}/u.test(text) && /\d/.test(text)

const matchAt = (pattern: RegExp, text: string, at: number): RegExpExecArray | null => {
  pattern.lastIndex = at
  return pattern.exec(text)
}

/** What stands between a name and its value, if it may have one. */
const betweenAt = (text: string, from: number, end: number): RegExpExecArray | null =>
  matchAt(signed, text, end) ??
  matchAt(paired, text, end) ??
  (beginsList.test(text.slice(Math.max(0, from - 20), from)) ? matchAt(listed, text, end) : null) ??
  matchAt(unsigned, text, end)

/**
 * A value without its secret; undefined if it is none. Without quotes it may be a column, a number or a parameter of a statement: there only
 * a generated word is a secret, and what stands behind a colon or close to its sign, as in JSON and in `host=h password=x`.
 */
const maskedValue = (found: RegExpExecArray, between: RegExpExecArray, name: string, isSure: boolean): string | undefined => {
  const [whole] = found
  const { escaped, quote = escaped, brackets } = found.groups ?? {}
  const { close, sign, link } = between.groups ?? {}
  const isMember = sign === ':' || (sign === undefined && link === undefined)
  if (quote !== undefined) {
    const text = whole.slice(quote.length, whole.endsWith(quote) && whole.length > quote.length ? -quote.length : undefined)
    const isColumn = quote !== "'" && !isMember && found.input[found.index + whole.length] === '.'
    return text === '' || isColumn || !(isSure || isMember || looksSecret(text)) ? undefined : quote + mask + quote
  }
  if (brackets !== undefined) return isSure || isMember ? withoutConstants(brackets) : undefined
  if (link === '' || /^(?:[:@?$]|(?:true|false|null)$)/i.test(whole) || whole.endsWith(`.${name}`)) return undefined
  if (isMember && close !== undefined) return /^-?\d/.test(whole) || looksSecret(whole) ? close + mask + close : undefined
  return isMember || looksSecret(whole) || (isSure && between[0] === '=') ? mask : undefined
}

/** The values of new rows, some of whose columns have secret names. */
const withoutRows = (text: string): string => {
  const [head, columns = ''] = /\b(?:insert|replace)\s+into\b[^()]{0,500}\(([^()]*)\)\s*values\b/i.exec(text) ?? []
  if (head === undefined || columns.split(',').every((name) => surenessOf(name.trim()) !== 'sure')) return text
  const at = text.indexOf(head) + head.length
  return text.slice(0, at) + withoutConstants(text.slice(at))
}

/**
 * A text without the values of secrets, which browsers must not keep: those of secret names, and those with the form of a secret.
 *
 * @example withoutSecrets(`USING model = 'gpt', api_key = 'sk-1'`) // `USING model = 'gpt', api_key = '******'`
 */
export const withoutSecrets = (given: string): string => {
  const text = withoutRows(knownForms.reduce((before, [form, instead]) => before.replace(form, instead), given))
  let kept = ''
  let from = 0
  for (const { index, 0: found } of text.matchAll(names)) {
    const end = index + found.length
    if (index < from || !roots.test(found)) continue
    const [before = ''] = wordsBefore.exec(text.slice(Math.max(0, index - nameMaxChars), index)) ?? []
    const sureness = surenessOf(before + found)
    const between = sureness && betweenAt(text, index, end)
    const at = between && matchAt(value, text, end + between[0].length)
    const masked = at && maskedValue(at, between, found, sureness === 'sure')
    if (!at || masked === undefined || masked === null) continue
    kept += text.slice(from, at.index) + masked
    from = at.index + at[0].length
  }
  return kept + text.slice(from)
}
