/** Words that mean "secret" at the end of a name: `db_password`, `openai_api_key`, `botToken`. */
const telling =
  /(password|passwd|passphrase|passwort|kennwort|contrase[nñ]a|pwd|secret|credential|token|passcode|passkey|wachtwoord|senha|mnemonic|(api|access|private|secret|auth|account|signing|encryption|decryption|master)_?key)s?$/
/** Words that mean it after a separator, or alone. */
const alone =
  /(^|_)([a-z]+_key|[a-z]*pass|pw|pin|pin_code|otp|totp|secret_string|mot_de_passe|access_code|recovery_code|seed_phrase|service_account(_json)?|credentials_json|authorization|basic_auth|bearer|connection_string|dsn|cookie)s?$/
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

/**
 * Whether the words before a value tell that it is a secret. More words do so than for the service: a text is kept without its secrets, and
 * what is missing is typed again.
 */
const tellSecret = (words: string): boolean => {
  const last = words.split(' ').at(-1) ?? ''
  const isSecret = (form: string, among: readonly RegExp[]) => among.some((one) => one.test(form)) && !plain.test(form)
  return (
    last === '$seal' ||
    formsOf(last).some((form) => isSecret(form, [telling, alone])) ||
    formsOf(words).some((form) => isSecret(form, [telling]))
  )
}

const mask = '******'
/** A sign between a name and its value; `::` is a cast. */
const sign = /(?<!:):(?!:)=?|=>?/g
/** The name before a sign, of up to three words. */
const nameBefore = /((?:[\p{L}\p{N}\p{Pc}-]+ ){0,2}\$?[\p{L}\p{N}\p{Pc}\u200b-]+)\s*["'\x60]?\s*$/u
const nameMaxChars = 80
/** A value in quotes up to its end, if it has one, or in brackets, or up to the next blank or comma. */
const value = /[=\s]*(?:(["'\x60])(?:\\[^]|\1\1|(?!\1)[^\\])*\1?|[[{][^\]}]*[\]}]?|[^\s,;)\]}]+)/y

/**
 * A text without the values of secrets, which browsers must not keep: those after a name, in addresses with a password, and after `Bearer`.
 *
 * @example withoutSecrets(`USING model = 'gpt', api_key = 'sk-1'`) // `USING model = 'gpt', api_key = '******'`
 */
export const withoutSecrets = (given: string): string => {
  const text = given
    .replace(/(:\/\/[^\s/:@'"]{0,200}:)[^\s'"@]{1,500}@/g, `$1${mask}@`)
    .replace(/\b(bearer\s{1,20})[^\s'",}]+/gi, `$1${mask}`)
  let kept = ''
  let from = 0
  for (const { index, 0: found } of text.matchAll(sign)) {
    const end = index + found.length
    const [, name = ''] = nameBefore.exec(text.slice(Math.max(0, index - nameMaxChars), index)) ?? []
    if (index < from || !tellSecret(name)) continue
    value.lastIndex = end
    const [whole, quote] = value.exec(text) ?? []
    if (whole === undefined) continue
    const blanks = /^[=\s]*/.exec(whole)?.[0] ?? ''
    const around = quote ?? (/^[[{]/.test(whole.slice(blanks.length)) ? '"' : '')
    kept += `${text.slice(from, end)}${blanks}${around}${mask}${around}`
    from = end + whole.length
  }
  return kept + text.slice(from)
}
